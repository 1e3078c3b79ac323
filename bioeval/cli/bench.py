"""``bioeval bench``: how fast it is, as ratios from one run."""

from __future__ import annotations

import sys
from typing import Any

import click

HELP = """Measure speed and memory as ratios, each against a plain read of the same scores.

What each row means is in docs/benchmarks.md. Other programs are measured where they are installed.

\b
Examples:
  bioeval bench --quick
  bioeval bench --only tally --only evaluate --threads 2
  bioeval bench --json figures.jsonl
"""


@click.command("bench", help=HELP, short_help="Measure speed and memory.")
@click.option("--size", type=int, help="Templates on each side of the matrix.  [8000]")
@click.option(
    "--templates", type=int, default=10, show_default=True, help="Templates of each subject."
)
@click.option("--repeat", type=int, help="Rounds, of which medians are taken.  [5]")
@click.option("--threads", type=int, default=1, show_default=True)
@click.option("--quick", is_flag=True, help="Smaller sizes and 3 rounds.")
@click.option("--only", multiple=True, metavar="NAME", help="Run this part; may be repeated.")
@click.option("--list", "listing", is_flag=True, help="List the parts and stop.")
@click.option("--json", "out", metavar="FILE", help="Write JSON lines; - for standard output.")
def command(
    size: int | None,
    repeat: int | None,
    quick: bool,
    listing: bool,
    out: str | None,
    **given: Any,
) -> None:
    """Run the benchmarks."""
    from bioeval.bench.options import PARTS, QUICK, Options

    if listing:
        width = max(map(len, PARTS))
        for name, what in PARTS.items():
            click.echo(f"{name:<{width}}  {what}")
        return
    asked = {
        name: value for name, value in (("size", size), ("repeat", repeat)) if value is not None
    }
    options = Options(**{**(QUICK if quick else {}), **asked, **given})

    from bioeval.formats.files import check_target, replacing

    if out not in (None, "-"):
        check_target(str(out))
    from bioeval.bench.suite import run
    from bioeval.bench.table import BenchTable, json_lines
    from bioeval.cli.console import show

    with _Teller() as tell:
        report = run(options, tell)
    lines = json_lines(report)
    if out == "-":
        click.echo(lines, nl=False)
        return
    show(BenchTable(report))
    if out is not None:
        with replacing(out) as part:
            part.write_text(lines, encoding="utf-8")
        click.echo(f"wrote {out}", err=True)


class _Teller:
    """Says on a terminal what is being measured, on one line; silent in a pipe."""

    def __init__(self) -> None:
        self.enabled = sys.stderr.isatty()

    def __enter__(self) -> _Teller:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.enabled:
            click.echo("\r\x1b[K", nl=False, err=True)

    def __call__(self, what: str) -> None:
        if self.enabled:
            click.echo(f"\r\x1b[K{what[:70]}", nl=False, err=True)
