"""The options that say how a file is read, for each command that reads one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from bioeval.cli.arguments import labels, metadata

_OPTIONS = (
    click.option(
        "--kind",
        type=click.Choice(["distance", "similarity", "order"]),
        help="What the scores are.  [what the file says, else distance]",
    ),
    click.option(
        "--nan",
        type=click.Choice(["raise", "reject", "exclude"]),
        help="What a failed comparison (NaN) means.  [what the file says, else raise]",
    ),
    click.option("--scores", metavar="KEY", help="Array of scores."),
    click.option("--genuine", metavar="KEY", help="Array of 0 and 1 beside a list of scores."),
    click.option("--embeddings", metavar="KEY", help="Array of embeddings, one a row."),
    click.option(
        "--gallery-embeddings",
        metavar="KEY|NPY",
        help="Array, or beside a .npy file another one, of the gallery's embeddings.",
    ),
    click.option("--indices", metavar="KEY", help="Array of top-K lists: gallery entries a query."),
    click.option(
        "--first-index",
        type=click.IntRange(0, 1),
        help="How top-K lists number the first gallery entry.",
    ),
    click.option(
        "--metric",
        metavar="M",
        help="How to compare embeddings: cosine, l2, l1, linf, bhattacharyya.  [cosine]",
    ),
    click.option(
        "--labels",
        "both_labels",
        metavar="KEY|FILE",
        help="Subjects of the templates that stand on both sides.",
    ),
    click.option("--probe-labels", metavar="KEY|FILE", help="Subjects of the rows."),
    click.option("--gallery-labels", metavar="KEY|FILE", help="Subjects of the columns."),
    click.option(
        "--names-of",
        metavar="DATASET",
        help="The labels are names of images: market1501, dukemtmc-reid, msmt17, veri776, "
        "vehicleid; or label-xml lists.",
    ),
    click.option("--mask", metavar="KEY", help="Array of 0 ignore, 1 impostor, 2 genuine."),
    click.option(
        "--meta",
        multiple=True,
        metavar="NAME=KEY",
        help="Metadata, as camera=KEY, or probe_camera=KEY and gallery_camera=KEY; repeatable.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="NAME",
        help="Leave out pairs of one subject that agree in this metadata column, as session; "
        "repeatable.",
    ),
    click.option(
        "--pairs",
        metavar="KEY|TXT",
        help="Array of pairs to evaluate: index a, index b, (fold,) same; or a list in LFW's form, "
        "by the labels and the metadata image_number.",
    ),
    click.option(
        "--missing-pairs",
        type=click.Choice(["raise", "skip"]),
        help="What to do with pairs of a list of which an image is missing.  [raise]",
    ),
)

_WORDS = ("kind", "nan", "metric", "names_of", "first_index", "missing_pairs")
_KEYS = ("scores", "genuine", "embeddings", "indices", "mask")


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how its file is read."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def reading(data: str, options: dict[str, Any]) -> dict[str, Any]:
    """Take these options out of a command's, as arguments of :func:`bioeval.load`."""
    return {
        **{name: options.pop(name) for name in _WORDS},
        **{f"{name}_key": options.pop(name) for name in _KEYS},
        **labels("gallery_embeddings", options.pop("gallery_embeddings"), data),
        **labels("pairs", options.pop("pairs"), data),
        **labels("labels", options.pop("both_labels"), data),
        **labels("probe_labels", options.pop("probe_labels"), data),
        **labels("gallery_labels", options.pop("gallery_labels"), data),
        "meta": metadata(options.pop("meta")),
        "exclude": options.pop("exclude"),
    }
