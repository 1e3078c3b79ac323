"""``bioeval check``: look at data before they are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import card
from bioeval.cli.documents import as_columns
from bioeval.cli.options import (
    Command,
    Output,
    far_targets_option,
    output_options,
    read_scores,
    reading_options,
    reword,
    take_reading,
)

if TYPE_CHECKING:
    from bioeval.cli.progress import Stages
    from bioeval.results.findings import DataCheck


@click.command("check", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@click.option(
    "--protocol",
    default="auto",
    metavar="CARD",
    help="Name of a protocol, or path of a card (.toml), for the later evaluation.",
)
@far_targets_option("FAR for which to check the number of subjects")
@click.option(
    "--columns",
    metavar="NAMES",
    help="Columns of tracks: motchallenge, cityflow, or their names in order.  [motchallenge]",
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
    output = Output.take(options)
    second = options["second"]
    if columns is not None or (second is not None and _are_tracks(data, second)):
        _check_tracks(output, data, second, columns or "motchallenge")
        return
    reading = take_reading(data, options)
    protocol = card(protocol)
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.data_check import check_data

        scores = read_scores(data, reading, stages)
        stages("looking")
        found = check_data(scores, protocol, far_targets=far_targets, progress=stages.counting)
        document = _document(found, data)
        files = _save(output, found, document, stages)
    _show(output, found, document, files)


def _are_tracks(data: str, second: str) -> bool:
    """Whether both files, or folders, look like boxes of tracks."""
    from pathlib import Path

    from bioeval.mot.inputs import lists_boxes

    return all(Path(x).exists() and lists_boxes(Path(x)) for x in (data, second))


def _check_tracks(output: Output, truth: str, result: str | None, columns: str) -> None:
    """Check tracks against their ground truth."""
    if result is None:
        raise click.UsageError("--columns is of tracks: give a ground truth and a result")
    from bioeval.cli.progress import Stages
    from bioeval.mot.check import check_tracks

    with Stages() as stages:
        stages("looking")
        found = check_tracks(truth, result, columns=columns)
        document = {**_document(found, truth), "result": result}
        files = _save(output, found, document, stages)
    _show(output, found, document, files)


def _save(output: Output, found: DataCheck, document: dict[str, Any], stages: Stages) -> list[str]:
    """Write the findings, where files are wanted."""
    from bioeval.views.tables.findings import FindingsTable

    csv = {"findings.csv": as_columns(document["findings"])}
    return output.save(document, None, FindingsTable(found, reword), stages, csv=csv)


def _show(output: Output, found: DataCheck, document: dict[str, Any], files: Any) -> None:
    """Print the findings; the exit code is 1 where a result would mislead."""
    from bioeval.views.tables.findings import FindingsTable

    output.show(FindingsTable(found, reword), document, files)
    if found.misleads:
        click.get_current_context().exit(1)


def _document(found: DataCheck, file: str) -> dict[str, Any]:
    """Return the findings as plain values."""
    from bioeval.base.version import __version__

    rows = [
        {k: reword(v) if isinstance(v, str) else v for k, v in row.items()}
        for row in found.records()
    ]
    return {
        "bioeval": __version__,
        "file": file,
        "data": found.data,
        "protocol": found.protocol,
        "misleads": found.misleads,
        "findings": rows,
    }
