"""``bioeval example``: write scores of the real data that come with bioeval."""

from __future__ import annotations

from typing import Any

import click

from bioeval.base.errors import wrapped
from bioeval.cli.command import option
from bioeval.cli.console import put, show_json, terminal_width
from bioeval.cli.outputs import take_scores


@click.argument("name", required=False, type=click.Choice(["faces"]))
@option(
    "--system",
    "Face recognition system; without --out they are listed.",
    ["eigenfaces", "fisherfaces", "pixels", "deep"],
)
@option("--out FILE", "File to write: .npz, or another that bioeval convert writes.")
@option("--force", "Replace FILE if it exists.", bool)
@option(
    "--metric M",
    "Distances: cosine is 1 - cos; l2, l1 and linf may be called euclidean, manhattan (or "
    "cityblock) and chebyshev; bhattacharyya is -ln sum sqrt(p q) of the normalised non-negative "
    "features.",
    str,
    "euclidean",
)
@option(
    "--people",
    "People compared: 21 to 40, 1 to 20 (those of the training), or all.",
    ["unseen", "seen", "all"],
    "unseen",
)
@option("--components N", "Number of principal components of eigenfaces and fisherfaces.", int, 64)
@option("--json", "Describe the written file as JSON.", bool, name="as_json")
def example_command(
    name: str | None, system: Any, out: str | None, force: bool, as_json: bool, **options: Any
) -> None:
    """Write scores of real faces: 400 images of 40 people, compared by one of four systems.

    bioeval example faces --system eigenfaces --out faces-1991.npz
    bioeval example faces --system deep --out faces-2017.npz

    Without --out, list the data and the systems. The images are the Database of Faces (AT&T
    Laboratories Cambridge; F. Samaria and A. Harter, 1994). Each template keeps the name of its
    image, so that `bioeval report --worst` and `bioeval explain` show faces.
    """
    if out is None:
        if system is not None or as_json:
            raise click.UsageError("--out FILE is missing: the file to write")
        put(_listing())
        return
    if name is None or system is None:
        raise click.UsageError(
            "expected the data and --system, as in: "
            "bioeval example faces --system eigenfaces --out faces-1991.npz"
        )
    from bioeval.datasets import faces
    from bioeval.scores.formats import save

    take_scores(out, force)
    scores = faces(system, **options)
    save(scores, out)
    if as_json:
        about = {"layout": scores.layout, "shape": scores.shape, "subjects": len(scores.subjects)}
        show_json({"file": out, "system": system, **about, "kind": scores.kind, **options})
    else:
        put(f"wrote {out}: {scores!r}\n")


def _listing() -> str:
    from bioeval.datasets.face_images import SYSTEMS

    width = max(map(len, SYSTEMS)) + 2
    lines = ["faces  400 images of 40 people, 64 x 64 grey (Database of Faces, 1992 to 1994)", ""]
    for system, words in SYSTEMS.items():
        lines += wrapped(f"  {system:<{width}}{words}", terminal_width(), hang=width + 2)
    lines += ["", "bioeval example faces --system eigenfaces --out faces-1991.npz"]
    lines += ["bioeval example faces --system deep --out faces-2017.npz"]
    return "\n".join(lines) + "\n"
