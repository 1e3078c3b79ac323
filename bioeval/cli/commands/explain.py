"""``bioeval explain``: one row, comparison by comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import output_options, shared_options
from bioeval.cli.outputs import MoreResults
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores
    from bioeval.studies.explain.explain import Explanation, Steps


class ExplainedRows(MoreResults):
    """Rows of each system of a page, explained at the operating point that it opens with."""

    add_options = (
        option(
            "--explain N|NAME",
            "Explain this row as bioeval explain does: its position, from 0, or the name of its "
            "template; repeatable.",
            multiple=True,
            name="probes",
        ),
    )
    with_images = "--explain"

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._probes: tuple[str, ...] = options.pop("probes")
        self.has_images = bool(self._probes)
        self.of_scores = "--explain" if self._probes else ""

    def rows(self, scores: Scores, target: str | None) -> dict[str, Explanation]:
        """Return the rows by name."""
        from bioeval.studies.explain.explain import explain

        rows = {}
        for probe in self._probes:
            self.stages(f"explaining {probe}")
            row = explain(scores, probe, threshold=target, protocol=self.options["protocol"])
            rows[f"{scores.name}, probe {probe}"] = row
        return rows


@click.command("explain", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@option(
    "--probe N|NAME",
    "Row to explain: the name of its template (metadata column template, name, image or "
    "file), or its position, from 0.",
)
@click.option(
    "--step-by-step",
    "--all",
    "steps",
    is_flag=True,
    default=False,
    help="Explain every row of a small matrix, with running totals of each counter.",
)
@option(
    "--threshold",
    "Threshold: a number, or a rule applied to these data, such as eer or far=0.01.  [eer]",
    Value.THRESHOLD,
)
@shared_options(protocol=True, use=True)
@output_options("summary.json, table.txt, templates.csv, subjects.csv and adds.csv")
@shared_options(name=True, reading=True)
def command(
    data: str,
    probe: str | None,
    steps: bool,
    protocol: str,
    threshold: Any,
    **options: Any,
) -> None:
    """Explain a row of DATA: its sorted list, and what it adds to the rates.

    The table lists the comparisons of one probe in order of score, with their roles (genuine,
    impostor) and what is accepted at the threshold; below it stands what the row adds to the
    counters of every task, and why. With --step-by-step, the running totals end in the rates of
    `bioeval run`.
    """
    if steps == (probe is not None):
        raise click.UsageError("give --probe N, or --step-by-step for every row of a small matrix")
    with StudyCommand(data, options) as run:
        from bioeval.studies.explain.explain import explain, step_by_step

        scores = run.read(mates=False)
        run.stages("explaining")
        explained: Explanation | Steps
        if probe is None:
            explained = step_by_step(scores, threshold=threshold, protocol=protocol)
        else:
            explained = explain(scores, probe, threshold=threshold, protocol=protocol)
        run.finish(explained, files=filter(None, (data, run.reading.get("labels"))))
