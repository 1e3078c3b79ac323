"""``bioeval extend``: a tally of data to which probes and templates were added."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.options import Command
from bioeval.cli.site_options import change_options, change_tally


@click.command("extend", cls=Command)
@change_options
def command(old: str, data: str, **options: Any) -> None:
    """Add the new probes and templates of DATA to the tally OLD, by comparing only what is new.

    DATA has those of OLD first, and the new ones behind them. The counts written are those of
    `bioeval tally DATA`; site and key are given as they were.

    Examples
    --------
      bioeval extend monday.tally tuesday.npz --out tuesday.tally
    """
    change_tally("extend", old, data, options)
