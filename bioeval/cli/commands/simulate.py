"""``bioeval simulate``: make scores of a population with known truth."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.calls import options_of
from bioeval.cli.command import Command, option
from bioeval.cli.console import put, show_json
from bioeval.cli.outputs import take_scores

#: Numbers that the people of a seed have to themselves, and seeds whose people differ.
PEOPLE_OF_A_SEED = 1_000_000
MOST_SEEDS = 1_000_000_000


@click.command("simulate", cls=Command)
@options_of("simulate", "n_subjects", "n_templates", n_templates={"default": "10"})
@option("--out FILE", "File to write: .npz.", required=True)
@option("--force", "Replace FILE if it exists.", bool)
@options_of("simulate", "model", "layout", "probes", "unenrolled", "kind", "random_state")
@options_of(
    "simulate",
    *("dimensions", "between", "within", "metric", "sessions", "session_sd", "cameras"),
    "camera_sd",
    heading="Embeddings",
)
@options_of(
    "simulate",
    *("d_prime", "genuine_sd", "goat_sd", "wolf_sd", "lamb_sd"),
    heading="Gaussian scores",
)
@options_of("simulate", "first_subject", first_subject={"default": None})
@option("--json", "Describe the written file as JSON.", bool, name="as_json")
def command(out: str, force: bool, as_json: bool, within: Any, **options: Any) -> None:
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
