"""``bioeval simulate``: make scores of a population with known truth."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.console import put, show_json
from bioeval.cli.options import shared_options
from bioeval.cli.outputs import take_scores

#: Numbers that the people of a seed have to themselves, and seeds whose people differ.
PEOPLE_OF_A_SEED = 1_000_000
MOST_SEEDS = 1_000_000_000


@click.command("simulate", cls=Command)
@option("--subjects", "Enrolled subjects.", int, 100)
@option(
    "--templates",
    "Templates per subject: 5, a range to draw from (2-8), or a list (3,5,4).",
    Value.COUNTS,
    "10",
)
@option("--out FILE", "File to write: .npz, or .npy.", required=True)
@option("--force", "Replace FILE if it exists.", bool)
@option(
    "--model",
    "Draw embeddings and compare them, or draw each score.",
    ["gaussian-embeddings", "gaussian-scores"],
    "gaussian-embeddings",
)
@option("--layout", None, ["all-against-all", "probe-against-gallery"], "all-against-all")
@option("--probes", "Probes of each subject (probe-against-gallery).", Value.COUNTS)
@option(
    "--unenrolled",
    "Unenrolled subjects, with probes only: their number, or a fraction of the subjects.",
    Value.AMOUNT,
    0,
)
@option("--kind", None, ["distance", "similarity"], "distance")
@option("--dimensions", "Dimensions of the embeddings.  [16]", int)
@option("--between", "SD of the subjects' centres.  [1]", float)
@option("--within", "SD of a subject's templates.  [0.6]", Value.NUMBERS)
@option("--metric M", "cosine, l2, l1, linf or bhattacharyya.  [l2]")
@option("--sessions", "Number of sessions, each with every subject.", int)
@option("--session-sd", "SD of the offsets of sessions.  [0.3]", float)
@option("--cameras", "Number of cameras.", int)
@option("--camera-sd", "SD of the offsets of cameras.  [0.3]", float)
@option("--d-prime", "Decidability of gaussian-scores.  [2]", float)
@option("--genuine-sd", "SD of genuine gaussian-scores.  [1]", float)
@option("--goat-sd", "SD over subjects of genuine gaussian-scores.  [0]", float)
@option("--wolf-sd", "SD over probe subjects of impostor scores.  [0]", float)
@option("--lamb-sd", "SD over claimed subjects of impostor scores.  [0]", float)
@option(
    "--first-subject N",
    "Number of the first subject, the same for files of the same people.  [of each seed another]",
    click.IntRange(1),
)
@shared_options(seed="Random seed; the same seed gives the same scores.")
@option("--json", "Describe the written file as JSON.", bool, name="as_json")
def command(out: str, force: bool, as_json: bool, within: Any, **options: Any) -> None:
    """Simulate a population, and write the scores of its templates with labels.

    Files of two seeds are of other people; those of two systems have the same --first-subject.

    Subjects whose embeddings lie near the common centre are near to all others, and `bioeval zoo`
    finds them as wolves and lambs. With --model gaussian-scores all subjects are alike, unless
    --goat-sd, --wolf-sd or --lamb-sd makes them differ.
    """
    from bioeval.scores.formats import save
    from bioeval.scores.simulation.scores_of_people import simulate

    take_scores(out, force)
    if within is not None:
        if len(within) == 1:
            options["within"] = within[0]
        else:
            options["within"] = list(within)
    if options["first_subject"] is None:
        options["first_subject"] = 1 + PEOPLE_OF_A_SEED * (options["random_state"] % MOST_SEEDS)
    scores = simulate(**options)
    m, n = scores.shape
    needed, free = m * n * scores.dtype.itemsize, shutil.disk_usage(Path(out).parent).free
    if needed > free:
        raise DataError(
            f"{out}: {m:,} x {n:,} scores would take {needed / 2**30:,.2f} GiB, and "
            f"{free / 2**30:,.2f} GiB are free; expected fewer subjects or templates"
        )
    save(scores, out)
    if as_json:
        about = {"layout": scores.layout, "shape": scores.shape, "subjects": len(scores.subjects)}
        show_json({"file": out, **about, "kind": scores.kind, "fingerprint": scores.fingerprint})
    else:
        put(f"wrote {out}: {scores!r}\n")
