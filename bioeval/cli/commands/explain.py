"""``bioeval explain``: one row, comparison by comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.calls import options_of
from bioeval.cli.command import option
from bioeval.cli.outputs import MoreResults
from bioeval.cli.study_command import StudyCommand, study

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores
    from bioeval.studies.explain.explain import Explanation, Steps


class ExplainedRows(MoreResults):
    """Rows of each system of a page, explained at the operating point that it opens with."""

    add_options = (
        option(
            "--explain N|NAME",
            "Add this row (position or name), explained; repeatable.",
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


@study(
    "explain",
    options_of("explain", "probe", probe={"required": False}),
    option(
        "--step-by-step",
        "Explain every row of a small matrix, with running totals of each counter.",
        bool,
        name="steps",
    ),
    options_of("explain", "threshold", "protocol"),
    use=True,
)
def command(run: StudyCommand) -> None:
    """Explain a row of DATA: its sorted list, and what it adds to the rates.

    bioeval explain scores.npz --probe 17 --threshold 0.4

    The table lists the comparisons of one probe in order of score, with their roles (genuine,
    impostor) and what is accepted at the threshold; below it stands what the row adds to the
    counters of every task, and why. With --step-by-step, the running totals end in the rates of
    `bioeval run`.
    """
    probe = run.options.pop("probe", None)
    if run.options.pop("steps") == (probe is not None):
        raise click.UsageError("give --probe N, or --step-by-step for every row of a small matrix")
    from bioeval.studies.explain.explain import explain, step_by_step

    scores = run.read()
    run.stages("explaining")
    explained: Explanation | Steps
    if probe is None:
        explained = step_by_step(scores, **run.options)
    else:
        explained = explain(scores, probe, **run.options)
    run.finish(explained, files=filter(None, (run.data, run.reading.get("labels"))))
