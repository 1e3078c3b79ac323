"""``bioeval explain``: one row, comparison by comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import THRESHOLD, card
from bioeval.cli.options import (
    Command,
    Output,
    name_option,
    output_options,
    protocol_option,
    reading_options,
    system_name,
    take_reading,
)

if TYPE_CHECKING:
    from bioeval.evaluation.explanation.calls import Explanation, Steps


@click.command("explain", cls=Command)
@click.argument("data")
@click.option(
    "--probe",
    metavar="N|NAME",
    help="Row to explain: the name of its template (metadata column template, name, image or "
    "file), or its position, from 0.",
)
@click.option(
    "--step-by-step",
    "--all",
    "steps",
    is_flag=True,
    help="Explain every row of a small matrix, with running totals of each counter.",
)
@click.option(
    "--threshold",
    type=THRESHOLD,
    metavar="T|RULE",
    help="Threshold: a number, or a rule applied to these data, such as eer or far=0.01.  [eer]",
)
@protocol_option
@click.option("--claim", metavar="SUBJECT", help="Let the probe claim this subject only.")
@click.option(
    "--plot", "picture", metavar="FILE", help="Draw the row to a .png, .pdf or .svg file."
)
@name_option
@output_options("summary.json, table.txt and list.csv", report=True)
@reading_options
def command(
    data: str,
    probe: str | None,
    steps: bool,
    protocol: str,
    picture: str | None,
    name: str | None,
    claim: str | None,
    threshold: Any,
    **options: Any,
) -> None:
    """Explain a row of DATA: which counters each comparison adds to, and why.

    The table lists the comparisons of one probe in order of score, with their roles (genuine,
    impostor, left out) and what each adds to the counters of every task at the threshold. With
    --step-by-step, the running totals end in the rates of `bioeval run`.
    """
    if steps == (probe is not None):
        raise click.UsageError("give --probe N, or --step-by-step for every row of a small matrix")
    if steps and (picture or claim):
        raise click.UsageError(f"--{'plot' if picture else 'claim'} is of one row: give --probe N")
    output = Output.take(options)
    if steps and output.page is not None:
        raise click.UsageError("--report is of one row: give --probe N")
    reading = take_reading(data, options)
    protocol = card(protocol)
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.base.version import __version__
        from bioeval.evaluation.explanation.calls import explain, step_by_step
        from bioeval.scores.formats import load
        from bioeval.views.tables.explanation import ExplanationTable, StepsTable

        stages(f"reading {data}")
        scores = load(data, **reading)
        scores.name = system_name(data, name, reading)
        stages("explaining")
        found: Explanation | Steps
        table: Any
        if probe is None:
            found = step_by_step(scores, threshold=threshold, protocol=protocol)
            table = StepsTable(found)
        else:
            row = explain(scores, probe, threshold=threshold, protocol=protocol, claim=claim)
            found, table = row, ExplanationTable(row)
            if picture is not None:
                stages(f"drawing {picture}")
                _draw(row, picture)
            output.write_page(row, [data, reading.get("labels")], stages)
        document, csv = {}, {}
        if output.documented:  # entries of a long row take longer than the row
            document = {"bioeval": __version__, "file": data, **found.document()}
            csv = {"list.csv": found.columns()}
        files = output.save(document, None, table, stages, csv=csv)
    output.show(table, document, files)


def _draw(found: Explanation, file: str) -> None:
    """Draw a row into a file."""
    from matplotlib.figure import Figure

    from bioeval.views.plots.row_walk import RowWalkDisplay
    from bioeval.views.plots.save import save

    save(RowWalkDisplay.from_results(found).plot(Figure(layout="constrained")), file)
