"""``bioeval simulate``: make scores of a population with known truth."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.arguments import AMOUNT, COUNTS, NUMBERS
from bioeval.cli.options import Command, json_option, seed_option

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


def _require_room(out: str, scores: Scores) -> None:
    """Raise where the scores would not fit on the disk."""
    m, n = scores.shape
    needed, free = m * n * scores.dtype.itemsize, shutil.disk_usage(Path(out).parent).free
    if needed > free:
        raise DataError(
            f"{out}: {m:,} x {n:,} scores would take {needed / 2**30:,.2f} GiB, and "
            f"{free / 2**30:,.2f} GiB are free; expected fewer subjects or templates"
        )


@click.command("simulate", cls=Command)
@click.option("--subjects", type=int, default=100, help="Enrolled subjects.")
@click.option(
    "--templates",
    type=COUNTS,
    default="10",
    help="Templates per subject: 5, a range to draw from (2-8), or a list (3,5,4).",
)
@click.option("--out", required=True, metavar="FILE", help="File to write: .npz, or .npy.")
@click.option(
    "--model",
    type=click.Choice(["gaussian-embeddings", "gaussian-scores"]),
    default="gaussian-embeddings",
    help="Draw embeddings and compare them, or draw each score.",
)
@click.option(
    "--layout",
    type=click.Choice(["all-against-all", "probe-against-gallery"]),
    default="all-against-all",
)
@click.option("--probes", type=COUNTS, help="Probes of each subject (probe-against-gallery).")
@click.option(
    "--unenrolled",
    type=AMOUNT,
    default=0,
    help="Unenrolled subjects, with probes only: their number, or a fraction of the subjects.",
)
@click.option("--kind", type=click.Choice(["distance", "similarity"]), default="distance")
@click.option("--dimensions", type=int, help="Dimensions of the embeddings.  [16]")
@click.option("--between", type=float, help="SD of the subjects' centres.  [1]")
@click.option("--within", type=NUMBERS, help="SD of a subject's templates.  [0.6]")
@click.option("--metric", metavar="M", help="cosine, l2, l1, linf or bhattacharyya.  [l2]")
@click.option("--sessions", type=int, help="Number of sessions, each with every subject.")
@click.option("--session-sd", type=float, help="SD of the offsets of sessions.  [0.3]")
@click.option("--cameras", type=int, help="Number of cameras.")
@click.option("--camera-sd", type=float, help="SD of the offsets of cameras.  [0.3]")
@click.option("--d-prime", type=float, help="Decidability of gaussian-scores.  [2]")
@click.option("--genuine-sd", type=float, help="SD of genuine gaussian-scores.  [1]")
@click.option("--goat-sd", type=float, help="SD over subjects of genuine gaussian-scores.  [0]")
@click.option("--wolf-sd", type=float, help="SD over probe subjects of impostor scores.  [0]")
@click.option("--lamb-sd", type=float, help="SD over claimed subjects of impostor scores.  [0]")
@click.option(
    "--attacks",
    metavar="SPECIES=S,...",
    help="Attack presentations of each species, by strength from 0 (like an impostor) to 1 (like "
    "the target).",
)
@click.option(
    "--presentations", type=int, help="Attack presentations of each species per subject.  [5]"
)
@seed_option("Random seed; the same seed gives the same scores.")
@json_option("Describe the written file as JSON.")
def command(out: str, as_json: bool, within: Any, **options: Any) -> None:
    """Simulate a population, and write the scores of its templates with labels.

    Subjects whose embeddings lie near the common centre are near to all others, and `bioeval zoo`
    finds them as wolves and lambs. With --model gaussian-scores all subjects are alike, unless
    --goat-sd, --wolf-sd or --lamb-sd makes them differ.
    """
    from bioeval.cli.console import put, show_json
    from bioeval.scores.formats import save
    from bioeval.scores.formats.files import check_target
    from bioeval.scores.simulation.scores_of_people import simulate

    check_target(out)
    if within is not None:
        options["within"] = within[0] if len(within) == 1 else list(within)
    scores = simulate(**options)
    _require_room(out, scores)
    save(scores, out)
    if as_json:
        about = {"layout": scores.layout, "shape": scores.shape, "subjects": len(scores.subjects)}
        show_json({"file": out, **about, "kind": scores.kind, "fingerprint": scores.fingerprint})
    else:
        put(f"wrote {out}: {scores!r}\n")
