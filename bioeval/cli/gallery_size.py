"""``bioeval gallery-size``: identification against the number of subjects in the gallery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import NUMBERS, WHOLE_NUMBERS
from bioeval.cli.documents import described, rows_over
from bioeval.cli.options import (
    Command,
    gallery_options,
    output_options,
    reading_options,
    terms_option,
)
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr


@click.command("gallery-size", cls=Command)
@click.argument("data")
@click.option(
    "--sizes", type=WHOLE_NUMBERS, help="Numbers of subjects in the gallery.  [a dozen, up to all]"
)
@gallery_options("Also draw R random galleries of each size, for the plots.")
@click.option(
    "--unenrolled",
    "unenrolled_shares",
    type=NUMBERS,
    help="Proportions of unenrolled probes, such as 0.1,0.5.",
)
@output_options("results.nc, summary.json, table.txt and curves", "draw the plots")
@terms_option
@reading_options
def command(data: str, **options: Any) -> None:
    """Evaluate identification of DATA by number of enrolled subjects.

    Up to the number of enrolled subjects, rates are exact means over all smaller galleries. Beyond
    it, they are extrapolated by a model and marked as extrapolated; the table gives the error of
    the model on these data.
    """
    with StudyCommand(data, options) as run:
        from bioeval.cli.result_checks import require_values
        from bioeval.evaluation.gallery_size import blocks, gallery_size

        scores = run.read()
        found = run.count(gallery_size, scores, **run.options)
        require_values([found["cms"]], [scores])
        document = {"file": data, **_document(found)}
        run.finish(found, blocks, document, _csv(found), lines=True, task="identification")


def _document(ds: xr.Dataset) -> dict[str, Any]:
    """Return everything but the long curves as plain values; rates are fractions."""
    from bioeval.results.dataset import shown_ranks

    ranks = shown_ranks((), ds["rank"].values.tolist())
    shares = ds["unenrolled_share"].values.tolist()
    rows = [
        {
            "gallery_size": int(one["gallery_size"]),
            "extrapolated": bool(one["extrapolated"]),
            "far_extrapolated": bool(one["far_extrapolated"]),
            "cms": {str(k): float(one["cms"].sel(rank=k)) for k in ranks},
            "least_error": [
                {
                    "unenrolled_share": share,
                    "error_share": float(one["least_error_share"][u]),
                    "threshold": float(one["least_error_threshold"][u]),
                }
                for u, share in enumerate(shares)
            ],
        }
        for one in (ds.isel(gallery_size=i) for i in range(ds.sizes["gallery_size"]))
    ]
    attempts = {name: int(ds[name]) for name in ("genuine_attempts", "impostor_attempts")}
    parts: dict[str, Any] = {**attempts, "gallery_sizes": rows}
    if "validation_size" in ds.dims:
        names = {"validation_size": "predicted_from"}
        parts["validation"] = [
            {names.get(x, x.removeprefix("validation_")): value for x, value in row.items()}
            for row in rows_over(ds, "validation_size")
        ]
    return described(ds, **parts)


def _csv(ds: xr.Dataset) -> dict[str, dict[str, list[float]]]:
    """Return the columns of the curves: one for each gallery size."""
    files = {}
    sizes = ds["gallery_size"].values.tolist()
    for name, over in (("cms", "rank"), ("far", "threshold"), ("frr", "threshold")):
        curves = ds[name].transpose("gallery_size", over).values.tolist()
        columns = {f"gallery_size_{size}": curve for size, curve in zip(sizes, curves, strict=True)}
        files[f"{name}.csv"] = {over: ds[over].values.tolist(), **columns}
    return files
