"""``bioeval check``: look at data before they are evaluated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.version import __version__
from bioeval.cli.arguments import card
from bioeval.cli.command import Command, option, reword
from bioeval.cli.options import far_targets_option, output_options, reading_options
from bioeval.cli.outputs import MoreOutputs
from bioeval.cli.study_command import StudyCommand, as_columns

if TYPE_CHECKING:
    from bioeval.cli.progress import Stages
    from bioeval.protocol.card import Protocol
    from bioeval.results.findings import DataCheck
    from bioeval.scores.matrix import Scores


class Findings(MoreOutputs):
    """What the check of labels and metadata finds, among the outputs of ``bioeval run``."""

    _check: DataCheck | None = None

    def make(
        self, scores: Scores, protocol: str | Protocol, card: str | Protocol, stages: Stages
    ) -> None:
        """Check the data under the card, without its options."""
        from bioeval.studies.check.check_data import check_data

        if scores.layout != "top-k":
            self._check = check_data(scores, protocol, read_scores=False)

    def lines(self) -> list[Any]:
        """Return one line on the findings of the check, and doubtful labels themselves."""
        if self._check is None:
            return []
        from rich.text import Text

        named = ", ".join(x.check for x in self._check.of("error", "warning", "note"))
        of = f" ({named})" if named else ""
        said = f"Labels and metadata: {self._check.in_words()}{of}; run bioeval check for details"
        doubtful = [x for x in self._check.of("warning") if x.check == "labels"]
        spelled = [Text(f"Labels: {x.message} ({x.where}); {x.remedy}") for x in doubtful]
        return [Text(""), *spelled, Text(said, "bold red" if self._check.misleads else "dim")]

    def document(self, in_folds: bool, reword: Callable[[str], str]) -> dict[str, Any]:
        """Return the findings, but for an evaluation in folds."""
        if in_folds:
            return {}
        findings = [] if self._check is None else self._check.of("error", "warning", "note")
        return {
            "check": [
                {"check": x.check, "severity": x.severity, "message": reword(x.message)}
                for x in findings
            ]
        }


@click.command("check", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@option(
    "--protocol CARD",
    "Name of a protocol, or path of a card (.toml), for the later evaluation.",
    str,
    "auto",
)
@far_targets_option("FAR for which to check the number of subjects")
@option(
    "--columns NAMES",
    "Columns of tracks: motchallenge, cityflow, or their names in order.  [motchallenge]",
)
@output_options("summary.json, table.txt and findings.csv")
@reading_options
def command(
    data: str,
    protocol: str,
    far_targets: list[float] | None,
    columns: str | None,
    **options: Any,
) -> None:
    """Check DATA before an evaluation; each finding comes with a remedy.

    Checked are the templates of each subject, the layout, labels, copies, sessions, the number of
    subjects for a FAR, failed comparisons, sentinels, distances of 0, symmetry, the kind of scores,
    ties and errors of labels. Of tracks (DATA is the ground truth, FILE the result), the scale and
    form of boxes, the frames and the identities are checked.

    The exit code is 1 if an error is found that makes results misleading, 0 otherwise.
    """
    second = options["second"]
    tracks = columns is not None
    if second is not None and not tracks:
        from bioeval.studies.tracking.inputs import lists_boxes

        tracks = all(Path(x).exists() and lists_boxes(Path(x)) for x in (data, second))
    with StudyCommand(data, options, reads=not tracks) as run:
        if tracks and second is None:
            raise click.UsageError("--columns is of tracks: give a ground truth and a result")
        from bioeval.views.tables import table_of

        if tracks:
            from bioeval.studies.tracking.check import check_tracks

            run.stages("looking")
            found = check_tracks(data, second, columns=columns or "motchallenge")
        else:
            from bioeval.studies.check.check_data import check_data

            protocol = card(protocol)
            scores = run.read()
            run.stages("looking")
            found = check_data(
                scores, protocol, far_targets=far_targets, progress=run.stages.counting
            )
        rows = [
            {k: reword(v) if isinstance(v, str) else v for k, v in row.items()}
            for row in found.records()
        ]
        document = {
            "bioeval": __version__,
            "file": data,
            "data": found.data,
            "protocol": found.protocol,
            "misleads": found.misleads,
            "findings": rows,
            **({"result": second} if tracks else {}),
        }
        csv = {"findings.csv": as_columns(rows)}
        run.save(document, None, table_of(found, reword), csv=csv)
    if found.misleads:
        click.get_current_context().exit(1)
