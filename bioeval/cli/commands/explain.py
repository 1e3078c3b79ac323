"""``bioeval explain``: one row, comparison by comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.base.version import __version__
from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import output_options, shared_options
from bioeval.cli.outputs import MoreResults
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores
    from bioeval.studies.explain.results import Explanation, Steps


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
@option("--claim SUBJECT", "Let the probe claim this subject only.")
@output_options("summary.json, table.txt and list.csv")
@shared_options(name=True, reading=True)
def command(
    data: str,
    probe: str | None,
    steps: bool,
    protocol: str,
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
    if steps and claim:
        raise click.UsageError("--claim is of one row: give --probe N")
    with StudyCommand(data, options) as run:
        from bioeval.studies.explain.explain import explain, step_by_step

        scores = run.read(mates=False)
        run.stages("explaining")
        explained: Explanation | Steps
        if probe is None:
            explained = step_by_step(scores, threshold=threshold, protocol=protocol)
        else:
            explained = explain(scores, probe, threshold=threshold, protocol=protocol, claim=claim)
        document, csv = {}, {}
        if run.output.documented:  # entries of a long row take longer than the row
            document = {
                "bioeval": __version__,
                "file": data,
                **explained.document(),
                "messages": run.messages_of(explained),
            }
            csv = {"list.csv": explained.columns()}
        run.save(document, None, run.table(explained), csv=csv)
        run.write_page(explained, *filter(None, (data, run.reading.get("labels"))))
