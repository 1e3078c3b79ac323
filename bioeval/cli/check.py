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
    from bioeval.results.findings import DataCheck


@click.command("check", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@click.option(
    "--protocol",
    default="auto",
    metavar="CARD",
    help="Name of a protocol, or path of a card (.toml), under which the data will be evaluated.",
)
@far_targets_option("FAR for which there should be people enough")
@output_options("summary.json, table.txt and findings.csv")
@reading_options
def command(data: str, protocol: str, far_targets: list[float] | None, **options: Any) -> None:
    """Check DATA before any evaluation, and say what to do about each finding.

    Templates of each subject, layout, labels, copies, sessions, enough people for a FAR; failed
    comparisons, sentinels, distances of 0, symmetry, the kind, ties, errors of labels.

    The exit code is 1 where a result would mislead (an error is found), 0 otherwise.

    Examples
    --------
      bioeval check scores.npz
      bioeval check faces.npz --embeddings dlib128 --labels subject --metric l2
      bioeval check scores.npz --far 0.0001 --json
      bioeval check reid.npz --protocol market1501
    """
    output = Output.take(options)
    reading = take_reading(data, options)
    protocol = card(protocol)
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.data_check import check_data
        from bioeval.views.tables.findings import FindingsTable

        scores = read_scores(data, reading, stages)
        stages("looking")
        found = check_data(scores, protocol, far_targets=far_targets, progress=stages.counting)
        table = FindingsTable(found, reword)
        document = _document(found, data)
        csv = {"findings.csv": as_columns(document["findings"])}
        files = output.save(document, None, table, stages, csv=csv)
    output.show(table, document, files)
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
