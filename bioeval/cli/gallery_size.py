"""``bioeval gallery-size``: identification against the number of subjects in the gallery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import counted
from bioeval.cli.arguments import NUMBERS, WHOLE_NUMBERS, Thresholds
from bioeval.cli.options import (
    Command,
    Output,
    output_options,
    ranks_option,
    read_scores,
    reading_options,
    seed_option,
    take_reading,
    terms_option,
    warning_lines,
    warnings_of,
)

if TYPE_CHECKING:
    import xarray as xr

RANKS = (1, 5, 10)

# Columns of the table, and of a rate.
_WIDTH, _CELL = 80, 9


@click.command("gallery-size", cls=Command)
@click.argument("data")
@click.option("--sizes", type=WHOLE_NUMBERS, help="Subjects in the gallery.  [a dozen, up to all]")
@click.option(
    "--thresholds",
    type=Thresholds(),
    help="Number of thresholds, a file with one a line, or the thresholds.  [100]",
)
@ranks_option
@click.option(
    "--ties",
    type=click.Choice(["pessimistic", "optimistic", "stable", "expected"]),
    default="pessimistic",
    help="Rank of a mate among subjects at exactly its distance.",
)
@click.option(
    "--impostors",
    type=click.Choice(["auto", "unenrolled", "leave-subject-out", "both"]),
    default="auto",
    help="Which probes make non-mated searches.",
)
@click.option(
    "--sampling",
    type=click.IntRange(1),
    metavar="R",
    help="Also draw R galleries of each size, to plot.",
)
@seed_option("Seed of the sampling.", default=None)
@click.option(
    "--unenrolled",
    "unenrolled_shares",
    type=NUMBERS,
    help="Proportions of unenrolled probes, as 0.1,0.5.",
)
@output_options("results.nc, summary.json, table.txt and curves", "draw the plots")
@terms_option
@reading_options
def command(data: str, sizes: list[int] | None, terms: str, **options: Any) -> None:
    """Evaluate identification of DATA against the number of subjects in the gallery.

    Up to the number of enrolled subjects, rates are exact means over all smaller galleries. Beyond
    it, they are extrapolated by a model and marked so; the model's error on these data is reported.

    Examples
    --------
      bioeval gallery-size scores.npz
      bioeval gallery-size scores.npz --sizes 10,100,1000 --max-rank 10
      bioeval gallery-size faces.npz --embeddings dlib128 --labels subject --out sizes --plots
    """
    output = Output.take(options)
    reading = take_reading(data, options)
    if options["unenrolled_shares"] is None:
        del options["unenrolled_shares"]
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.gallery_size import gallery_size
        from bioeval.views.terms import in_terms

        scores = read_scores(data, reading, stages)
        stages("counting")
        ds = gallery_size(scores, sizes, **options, progress=stages.counting)
        document = _document(ds, data)
        shown = in_terms(ds, terms)
        text = _text(shown)
        files = output.save(document, ds, text, stages, csv=_csv(ds), drawn=shown)
    output.show(text, document, files)


def _shown_ranks(ds: xr.Dataset) -> list[int]:
    there = set(ds["rank"].values.tolist())
    return [rank for rank in RANKS if rank in there]


def _document(ds: xr.Dataset, file: str) -> dict[str, Any]:
    """Return everything but the long curves as plain values; rates are fractions."""
    rows = [
        {
            "gallery_size": int(one["gallery_size"]),
            "extrapolated": bool(one["extrapolated"]),
            "far_extrapolated": bool(one["far_extrapolated"]),
            "cms": {str(k): float(one["cms"].sel(rank=k)) for k in _shown_ranks(ds)},
            "least_error": [
                {
                    "unenrolled_share": float(share),
                    "error_share": float(one["least_error_share"][u]),
                    "threshold": float(one["least_error_threshold"][u]),
                }
                for u, share in enumerate(ds["unenrolled_share"].values)
            ],
        }
        for one in (ds.isel(gallery_size=i) for i in range(ds.sizes["gallery_size"]))
    ]
    found: dict[str, Any] = {"file": file}
    found |= {str(k): v for k, v in ds.attrs.items() if k != "warnings"}
    found |= {name: int(ds[name]) for name in ("genuine_attempts", "impostor_attempts")}
    found["gallery_sizes"] = rows
    if "validation_size" in ds.dims:
        found["validation"] = [
            {
                "predicted_from": int(size),
                "cms_error": float(ds["validation_cms_error"][i]),
                "far_error": float(ds["validation_far_error"][i]),
            }
            for i, size in enumerate(ds["validation_size"].values)
        ]
    found["warnings"] = warnings_of(ds)
    return found


def _percent(rate: float) -> str:
    return "n/a" if rate != rate else f"{100 * rate:.2f} %"


def _difference(rate: float) -> str:
    return "n/a" if rate != rate else f"{100 * rate:+.2f} pp"


def _text(ds: xr.Dataset) -> str:
    """Return the tables: CMS of a few ranks, and the least error of open set, a line a size."""
    import textwrap

    from bioeval.results.words import excluded
    from bioeval.views.terms import dictionary, speaker

    say = speaker(ds)
    ranks = _shown_ranks(ds)
    made = [counted(int(ds["genuine_attempts"]), "probes")]
    made.append(counted(int(ds.attrs["exact_up_to"]), "subjects"))
    lines = [
        "Identification against gallery size: means over all galleries of that size",
        f"{', '.join(made)}, {ds.attrs['ties']} ties",
        *(f"excluded: {text}" for text in [excluded(ds.attrs)] if text),
        *textwrap.wrap(dictionary([ds]), _WIDTH),
        "",
        say("CMS"),
        "subjects" + "".join(f"rank {rank}".rjust(_CELL) for rank in ranks),
    ]
    lines += _lines(ds, ds["cms"].sel(rank=ranks), ds["extrapolated"].values)
    shares = ds["unenrolled_share"].values.tolist()
    text = say(
        "Proportion of searches that end in a miss (rank 1) or a false accept, by the proportion "
        "of unenrolled probes, each at its best threshold (chosen on these data: optimistic)"
    )
    lines += [
        "",
        *textwrap.wrap(text, _WIDTH),
        "",
        "subjects" + "".join(f"{100 * share:g} %".rjust(_CELL) for share in shares),
    ]
    beyond = ds["extrapolated"].values | ds["far_extrapolated"].values
    lines += _lines(ds, ds["least_error_share"].transpose("gallery_size", ...), beyond)
    if ds.sizes.get("validation_size", 0):
        lines += [
            "",
            "Error of the same model in predicting all subjects from parts of them (predicted",
            "minus true, the largest over ranks and over thresholds):",
        ]
        for i, size in enumerate(ds["validation_size"].values.tolist()):
            cms, far = (float(ds[f"validation_{x}_error"][i]) for x in ("cms", "far"))
            errors = f"CMS {_difference(cms)}, FAR {_difference(far)}"
            lines.append(f"  from {size:,}: {say(errors)}")
    lines += warning_lines(ds, _WIDTH, say)
    return "\n".join(lines) + "\n"


def _lines(ds: xr.Dataset, rates: xr.DataArray, beyond: Iterable[int]) -> Iterator[str]:
    """Return a line for each gallery size, marked where it is extrapolated by the model."""
    rows = zip(ds["gallery_size"].values.tolist(), rates.values.tolist(), beyond, strict=True)
    for size, row, mark in rows:
        cells = "".join(_percent(rate).rjust(_CELL) for rate in row)
        yield f"{size:>8,}{cells}{' modelled' if mark else ''}"


def _csv(ds: xr.Dataset) -> dict[str, dict[str, list[float]]]:
    """Return the columns of the curves: one for each gallery size."""
    files = {}
    sizes = ds["gallery_size"].values.tolist()
    for name, over in (("cms", "rank"), ("far", "threshold"), ("frr", "threshold")):
        curves = ds[name].transpose("gallery_size", over).values.tolist()
        columns = {f"gallery_size_{size}": curve for size, curve in zip(sizes, curves, strict=True)}
        files[f"{name}.csv"] = {over: ds[over].values.tolist(), **columns}
    return files
