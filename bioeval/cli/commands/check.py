"""``bioeval check``: look at data before they are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.calls import options_of
from bioeval.cli.command import Command, naming, option
from bioeval.cli.images import ImageOptions
from bioeval.cli.options import shared_options
from bioeval.cli.outputs import MoreOutputs, MoreResults
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    from pathlib import Path

    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores
    from bioeval.studies.check.findings import DataCheck


class Findings(MoreOutputs):
    """What the check of labels and metadata finds, among the outputs of ``bioeval run``."""

    _check: DataCheck | None = None

    def make(self, scores: Scores, protocol: str | Protocol, card: str | Protocol) -> None:
        """Check the data under the card, without its options."""
        from bioeval.studies.check.check_data import check_data

        if scores.layout != "top-k":
            self._check = check_data(scores, protocol, read_scores=False)

    def lines(self) -> list[str]:
        """Return one line on the findings of the check, and doubtful labels themselves."""
        if self._check is None:
            return []
        from bioeval.studies.check.findings import TASK
        from bioeval.views.writers.lines import written

        # The tables show what the people do not support.
        named = [x.check for x in self._check.of("error", "warning", "note") if x.check != "people"]
        lines = []
        for x in self._check.of("warning"):
            if x.check == "labels":
                found, where = (written(text, TASK, naming()) for text in (x.found, x.places))
                lines.append(f"Labels: {found} ({where})")
        if named:
            lines.append(f"Findings in labels and metadata ({', '.join(named)}): run bioeval check")
        return lines

    def document(self, in_folds: bool) -> dict[str, Any]:
        """Return the findings, but for an evaluation in folds."""
        if in_folds:
            return {}
        findings = []
        if self._check is not None:
            from bioeval.studies.check.findings import TASK
            from bioeval.views.writers.lines import written

            for x in self._check.of("error", "warning", "note"):
                message = written(x.found, TASK, naming())
                about = {"check": x.check, "severity": x.severity, "code": x.code}
                findings.append({**about, "message": message})
        return {"check": findings}


class ReportedCheck(MoreResults):
    """The check of the data of each system of a page."""

    add_options = (
        option(
            "--check",
            "Add a check of the data, and who is confused with whom.",
            bool,
        ),
    )
    with_images = "--check"

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._is_wanted: bool = options.pop("check")
        self.has_images = self._is_wanted
        self.of_scores = "--check" if self._is_wanted else ""

    def rows(self, scores: Scores, target: str | None) -> dict[str, Any]:
        """Return the check of the data under the card of the page."""
        if not self._is_wanted:
            return {}
        from bioeval.studies.check.check_data import check_data

        self.stages("checking the data")
        as_read = self.as_read[str(scores.name)]
        card, targets = self.options["protocol"], self.options["far_targets"]
        at = "far=0.001" if target is None else target
        how = {"far_targets": targets, "threshold": at}
        claims = scores if scores._claims else None
        return {"": check_data(as_read, card, claims=claims, **how)}


@click.command("check", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@options_of("check_data", "protocol", "far_targets", "threshold", "worst")
@shared_options(use=True, name=False)
@ImageOptions.add
def command(
    data: str,
    protocol: str,
    far_targets: list[float] | None,
    threshold: Any,
    worst: int,
    **options: Any,
) -> None:
    """Check DATA before an evaluation; each finding says what to do.

    Checked are labels and copies, wrong labels, failed comparisons, the kind of scores and the
    number of subjects. Below the findings are the templates whose label is likely wrong, with the
    person that each looks like, and the pairs of people that are confused with each other most, by
    name; a page has their pictures.

    The exit code is 1 if an error is found that makes results misleading, 0 otherwise.
    """
    images = ImageOptions(options)
    options["threshold"] = threshold
    folder = images.folder(data)
    column = images.column
    with StudyCommand(data, options) as run:
        from bioeval.studies.check.check_data import check_data
        from bioeval.studies.check.saved import dataset_of

        claims = run.read()
        scores = run.as_read[run.name]
        images.require(scores)
        if run.output.page is not None and not column:
            column = _column_of_images(scores, folder)
        run.stages("looking")
        checked = check_data(
            scores,
            protocol,
            far_targets=far_targets,
            threshold=run.options["threshold"],
            worst=worst,
            claims=None if claims is scores else claims,
        )
        run.finish(
            checked,
            more={"misleads": checked.misleads},
            as_dataset=dataset_of(checked),
            images=column,
            image_folder=folder,
        )
    if checked.misleads:
        click.get_current_context().exit(1)


def _column_of_images(scores: Scores, folder: Path) -> str:
    """Return the column whose names are image files below a folder; empty for none."""
    from bioeval.scores.labels import NAME_COLUMNS
    from bioeval.scores.matrix import are_pairs
    from bioeval.views.images import Images

    if are_pairs(scores):
        return ""
    for column in NAME_COLUMNS:
        files, sides = Images(column, folder), (scores.probe_meta, scores.gallery_meta)
        named = all(column in meta and len(meta[column]) for meta in sides)
        if named and all(files.find(str(meta[column][0])) is not None for meta in sides):
            return column
    return ""
