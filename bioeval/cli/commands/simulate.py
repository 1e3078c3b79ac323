"""``bioeval simulate``: make scores of a population with known truth."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from bioeval.base.errors import DataError
from bioeval.cli.arguments import COUNTS, NUMBERS, SIZE, at_least
from bioeval.cli.command import option, option_group
from bioeval.cli.console import put, show_json
from bioeval.cli.outputs import take_scores

#: Numbers that the people of a seed have to themselves, and seeds whose people differ.
PEOPLE_OF_A_SEED = 1_000_000
MOST_SEEDS = 1_000_000_000


_OF_ANIMALS = (
    "Standard deviations of normal offsets of each person, 0 unless given: all genuine "
    "scores of a goat are farther, all scores of a wolf's probes against others nearer,"
    " and all scores of others' probes against a lamb nearer."
)


@option("--subjects N", "Enrolled subjects.", int, 100, name="n_subjects")
@option(
    "--templates N",
    "Templates of each subject: 5, a range to draw from, or a list.",
    COUNTS,
    "10",
    name="n_templates",
)
@option("--out FILE", "File to write: .npz.", required=True)
@option("--force", "Replace FILE if it exists.", bool)
@option(
    "--model",
    "Draw embeddings and compare them, or draw each score.",
    ["gaussian-embeddings", "gaussian-scores"],
    "gaussian-embeddings",
)
@option(
    "--layout",
    "Layout of the scores.",
    ["all-against-all", "probe-against-gallery"],
    "all-against-all",
)
@option("--probes N", "Probes of each person, for probe-against-gallery; 5 by default.", COUNTS)
@option(
    "--unenrolled N", "People who only probe: their number, or a fraction of the subjects.", SIZE, 0
)
@option("--kind", "Kind of the scores.", ["distance", "similarity"], "distance")
@option("--seed N", "Seed of the draws.", at_least(0), 0, name="random_state")
@option_group(
    option("--dimensions N", "Dimensions of the embeddings; 16 by default.", int),
    option(
        "--between X",
        "Standard deviation of the persons' centres, in each dimension; 1 unless given.",
        float,
    ),
    option(
        "--within SD",
        "Standard deviation of a person's templates around the centre, in each dimension; 0.6 "
        "unless given.",
        NUMBERS,
    ),
    option(
        "--metric M",
        "Distances: cosine is 1 - cos; l2, l1 and linf may be called euclidean, manhattan (or "
        "cityblock) and chebyshev; bhattacharyya is -ln sum sqrt(p q) of the normalised "
        "non-negative features.",
    ),
    option(
        "--sessions N",
        "Number of days on which everyone was seen; adds the metadata column session, from 1.",
        int,
    ),
    option(
        "--session-sd X",
        "Standard deviation of the person's offset of the day, in each dimension; 0.3 unless "
        "given. gaussian-embeddings only.",
        float,
    ),
    option("--cameras N", "Number of cameras; adds the metadata column camera, from 1.", int),
    option(
        "--camera-sd X",
        "Standard deviation of a camera's offset, the same for all its pictures, in each "
        "dimension; 0.3 unless given. gaussian-embeddings only.",
        float,
    ),
    heading="Embeddings",
)
@option_group(
    option(
        "--d-prime X",
        "Decidability: the distance of genuine and impostor mean, over the root of the mean "
        "variance; 2 unless given.",
        float,
    ),
    option(
        "--genuine-sd X",
        "Standard deviation of genuine scores, where impostor scores are N(0, 1); 1 unless given.",
        float,
    ),
    *(option(f"--{animal}-sd X", _OF_ANIMALS, float) for animal in ("goat", "wolf", "lamb")),
    heading="Gaussian scores",
)
@option(
    "--first-subject N", "Number of the first subject, the same for files of the same people.", int
)
@option("--json", "Describe the written file as JSON.", bool, name="as_json")
def simulate_command(out: str, force: bool, as_json: bool, within: Any, **options: Any) -> None:
    """Simulate a population, and write the scores of its templates with labels.

    bioeval simulate --subjects 100 --templates 5 --out scores.npz
    bioeval simulate --model gaussian-scores --d-prime 3 --out gauss.npz

    Files of two seeds are of other people; those of two systems have the same --first-subject.

    Subjects whose embeddings lie near the common centre are near to all others, and `bioeval zoo`
    finds them as wolves and lambs. With --model gaussian-scores all subjects are alike, unless
    --goat-sd, --wolf-sd or --lamb-sd makes them differ.
    """
    from bioeval.scores.formats import save
    from bioeval.scores.simulation import simulate

    take_scores(out, force)
    if within is not None:
        if len(within) == 1:
            options["within"] = within[0]
        else:
            options["within"] = list(within)
    if options["first_subject"] is None:
        options["first_subject"] = 1 + PEOPLE_OF_A_SEED * (options["random_state"] % MOST_SEEDS)
    scores = simulate(**options)
    probes, templates = scores.shape
    needed, free = (
        probes * templates * scores.dtype.itemsize,
        shutil.disk_usage(Path(out).parent).free,
    )
    if needed > free:
        raise DataError(
            f"{out}: {probes:,} x {templates:,} scores would take {needed / 2**30:,.2f} GiB, and "
            f"{free / 2**30:,.2f} GiB are free; expected fewer subjects or templates"
        )
    save(scores, out)
    if as_json:
        about = {"layout": scores.layout, "shape": scores.shape, "subjects": len(scores.subjects)}
        show_json({"file": out, **about, "kind": scores.kind, "fingerprint": scores.fingerprint})
    else:
        put(f"wrote {out}: {scores!r}\n")
