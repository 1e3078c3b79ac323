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
    help="The row: the name of its template (metadata column template, name, image or file), or "
    "its position, from 0.",
)
@click.option(
    "--step-by-step",
    "--all",
    "steps",
    is_flag=True,
    help="Every row of a small matrix, with the running totals of each counter.",
)
@click.option(
    "--threshold",
    type=THRESHOLD,
    metavar="T|RULE",
    help="A number, or a rule such as eer or far=0.01, chosen on these data.  [eer]",
)
@protocol_option
@click.option("--claim", metavar="SUBJECT", help="The probe claims this subject alone.")
@click.option(
    "--plot", "picture", metavar="FILE", help="Draw the row into a .png, .pdf or .svg file."
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
    """Explain a row of DATA: which counter each comparison adds to, and why others are left out.

    The ordered list of one probe with roles (genuine, impostor, left out) and, at the threshold,
    what each entry adds under every task of the protocol. Step by step, the running totals end in
    the rates that bioeval run shows.

    Examples
    --------
      bioeval explain scores.npz --probe 17
      bioeval explain scores.npz --probe 17 --threshold 0.4 --plot row.png
      bioeval explain tiny.npy --labels people.csv --step-by-step
      bioeval explain reid.npz --probe 3 --protocol market1501
      bioeval explain scores.npz --probe 17 --claim s4 --json
      bioeval explain scores.npz --probe 17 --report row.html
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
