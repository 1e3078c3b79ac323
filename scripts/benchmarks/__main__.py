"""``scripts/bench``: speed and memory, as ratios from one run."""

from __future__ import annotations

import sys
from typing import Any

import click

from bioeval.cli.program import main

HELP = """Measure speed and memory as ratios, each against a plain read of the same scores.

Other programs are measured where they are installed.

\b
Examples:
  scripts/bench --quick
  scripts/bench --only counts --only evaluate --threads 2
  scripts/bench --json figures.jsonl
"""


@click.command("scripts/bench", help=HELP)
@click.option(
    "--size", type=click.IntRange(4), help="Templates on each side of the matrix.  [8000]"
)
@click.option(
    "--templates",
    type=click.IntRange(2),
    default=10,
    show_default=True,
    help="Templates of each subject.",
)
@click.option("--repeat", type=click.IntRange(1), help="Rounds, of which medians are taken.  [5]")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option("--quick", is_flag=True, help="Smaller sizes and 3 rounds.")
@click.option("--large", is_flag=True, help="Embeddings of 50,000 and 100,000 templates as well.")
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
    from benchmarks.options import PARTS, QUICK, Options
    from bioeval.cli.console import note, put
    from bioeval.cli.progress import Stages
    from bioeval.views.show import print_table

    if listing:
        width = max(map(len, PARTS))
        put("".join(f"{name:<{width}}  {what}\n" for name, what in PARTS.items()))
        return
    chosen = {
        name: value for name, value in (("size", size), ("repeat", repeat)) if value is not None
    }
    options = Options(**{**(QUICK if quick else {}), **chosen, **given})

    from bioeval.scores.formats.files import check_target, replacing

    if out not in (None, "-"):
        check_target(str(out))
    from benchmarks.suite import run
    from benchmarks.table import BenchTable, json_lines

    with Stages() as stages:
        report = run(options, stages)
    lines = json_lines(report)
    if out == "-":
        put(lines)
        return
    print_table(BenchTable(report))
    if out is not None:
        with replacing(out) as part:
            part.write_text(lines, encoding="utf-8")
        note(f"wrote {out}")


if __name__ == "__main__":
    sys.exit(main(command=command))
