"""``bioeval gallery-size``: identification against the number of subjects in the gallery."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import Numbers, Whole, labels, metadata, thresholds

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr

HELP = """Evaluate identification of DATA against the number of subjects in the gallery.

Up to the subjects there are, rates are exact means over all smaller galleries. Beyond, they are
extrapolated by a model, marked so, and the model's error on the data themselves is told.

\b
Examples:
  bioeval gallery-size scores.npz
  bioeval gallery-size scores.npz --sizes 10,100,1000 --max-rank 10
  bioeval gallery-size faces.npz --embeddings dlib128 --labels subject --out sizes --plots
"""

RANKS = (1, 5, 10)


class Sizes(click.ParamType):
    """Whole numbers, parted by commas."""

    name = "n,n"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[int]:
        """Return the numbers."""
        try:
            return [int(word) for word in str(value).split(",")]
        except ValueError:
            self.fail(f"{value!r} is not whole numbers parted by commas (10,100)", param, ctx)


@click.command(
    "gallery-size", help=HELP, short_help="Evaluate identification against the gallery size."
)
@click.argument("data")
@click.option("--sizes", type=Sizes(), help="Subjects in the gallery.  [a dozen, up to all]")
@click.option(
    "--thresholds",
    "given_thresholds",
    metavar="N|FILE|T,T",
    help="How many, a file with one a line, or the thresholds.  [100]",
)
@click.option("--max-rank", type=Whole(1), metavar="K", help="Number of ranks.")
@click.option(
    "--ties",
    type=click.Choice(["pessimistic", "optimistic", "stable", "expected"]),
    default="pessimistic",
    show_default=True,
    help="Where a mate stands among subjects exactly as close.",
)
@click.option(
    "--impostors",
    type=click.Choice(["auto", "unenrolled", "leave-subject-out", "both"]),
    default="auto",
    show_default=True,
    help="Who plays the impostor.",
)
@click.option(
    "--sampling", type=Whole(1), metavar="R", help="Also draw R galleries of each size, to plot."
)
@click.option("--seed", type=Whole(0), help="Seed of the sampling.")
@click.option("--unenrolled", type=Numbers(), help="Shares of unenrolled probes, as 0.1,0.5.")
@click.option("--out", metavar="DIR", help="Write results.nc, summary.json, table.txt and curves.")
@click.option("--plots", is_flag=True, help="With --out: also draw the plots.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, not a table.")
@click.option("--kind", type=click.Choice(["distance", "similarity"]), help="What the scores are.")
@click.option(
    "--nan",
    type=click.Choice(["raise", "reject", "exclude"]),
    help="What a failed comparison (NaN) means.  [what the file says, else raise]",
)
@click.option("--scores", metavar="KEY", help="Array of scores.")
@click.option("--embeddings", metavar="KEY", help="Array of embeddings, one a row.")
@click.option("--gallery-embeddings", metavar="KEY", help="Array of the gallery's embeddings.")
@click.option("--metric", metavar="M", help="How to compare embeddings.  [cosine]")
@click.option(
    "--labels", "both_labels", metavar="KEY|CSV", help="Subjects of both sides' templates."
)
@click.option("--probe-labels", metavar="KEY|CSV", help="Subjects of the rows.")
@click.option("--gallery-labels", metavar="KEY|CSV", help="Subjects of the columns.")
@click.option("--mask", metavar="KEY", help="Array of 0 ignore, 1 impostor, 2 genuine.")
@click.option("--meta", multiple=True, metavar="NAME=KEY", help="Metadata; repeatable.")
@click.option(
    "--exclude",
    multiple=True,
    metavar="NAME",
    help="Leave out pairs of one subject that share this metadata, as session; repeatable.",
)
def command(
    data: str,
    sizes: list[int] | None,
    given_thresholds: str | None,
    max_rank: int | None,
    ties: str,
    impostors: str,
    unenrolled: tuple[float, ...] | None,
    sampling: int | None,
    seed: int | None,
    out: str | None,
    plots: bool,
    as_json: bool,
    both_labels: str | None,
    probe_labels: str | None,
    gallery_labels: str | None,
    meta: tuple[str, ...],
    exclude: tuple[str, ...],
    **options: Any,
) -> None:
    """Evaluate a file over gallery sizes, and show or write the rates."""
    if plots and out is None:
        raise click.UsageError("--plots needs --out DIR, the folder to draw them into")
    reading = {
        **{name: options[name] for name in ("kind", "nan", "metric")},
        **{f"{n}_key": options[n] for n in ("scores", "embeddings", "gallery_embeddings", "mask")},
        **labels("labels", both_labels, data),
        **labels("probe_labels", probe_labels, data),
        **labels("gallery_labels", gallery_labels, data),
        "meta": metadata(meta),
        "exclude": exclude,
    }
    asked: dict[str, Any] = {"thresholds": thresholds(given_thresholds), "max_rank": max_rank}
    asked |= {"ties": ties, "impostors": impostors, "sampling": sampling, "random_state": seed}
    if unenrolled is not None:
        asked["unenrolled_shares"] = unenrolled

    from bioeval.cli.console import Stages, note, put, show_json
    from bioeval.cli.outputs import check_folder, write_folder

    folder = None if out is None else check_folder(out)
    from bioeval.evaluation.gallery_size import gallery_size
    from bioeval.scores.formats import load

    with Stages() as tell:
        tell(f"reading {data}")
        scores = load(data, **reading)
        ds = gallery_size(scores, sizes, **asked, progress=tell.counting)
        document = _document(ds, data)
        if folder is not None:
            tell(f"writing results to {folder}")
            names = write_folder(folder, document, lambda part: _fill(ds, part, plots))
    if as_json:
        show_json(document)
    else:
        put(_text(ds))
    if folder is not None:
        note(f"wrote {len(names)} files to {folder}")


def _shown_ranks(ds: xr.Dataset) -> list[int]:
    there = set(ds["rank"].values.tolist())
    return [rank for rank in RANKS if rank in there]


def _document(ds: xr.Dataset, file: str) -> dict[str, Any]:
    """Return everything but the long curves as plain values; rates are fractions."""
    rows = []
    for i, size in enumerate(ds["gallery_size"].values.tolist()):
        one = ds.isel(gallery_size=i)
        rows.append(
            {
                "gallery_size": size,
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
        )
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
    found["warnings"] = [line for line in str(ds.attrs["warnings"]).split("\n") if line]
    return found


def _percent(rate: float, sign: str = "") -> str:
    return "n/a" if rate != rate else f"{100 * rate:{sign}.3f} %"


def _text(ds: xr.Dataset) -> str:
    """Return the tables: CMS of a few ranks, and the least error of open set, a line a size."""
    import functools
    import textwrap

    ranks = _shown_ranks(ds)
    subjects = int(ds.attrs["exact_up_to"])
    lines = [
        "Identification against gallery size: CMS, means over all galleries of that many subjects",
        f"{int(ds['genuine_attempts']):,} probes, {subjects:,} subject{'s' * (subjects != 1)}, "
        f"{ds.attrs['ties']} ties",
        "",
        "subjects" + "".join(f"rank {rank}".rjust(12) for rank in ranks),
    ]
    for i, size in enumerate(ds["gallery_size"].values.tolist()):
        cells = [_percent(float(ds["cms"][i].sel(rank=rank))) for rank in ranks]
        mark = "  extrapolated" if ds["extrapolated"][i] else ""
        lines.append(f"{size:>8,}" + "".join(cell.rjust(12) for cell in cells) + mark)
    shares = ds["unenrolled_share"].values.tolist()
    lines += [
        "",
        "Share of searches that end in a miss (rank 1) or a false accept, by the share of probes",
        "that are not enrolled, each at its best threshold (chosen on these data: optimistic)",
        "",
        "subjects" + "".join(f"{100 * share:g} %".rjust(12) for share in shares),
    ]
    for i, size in enumerate(ds["gallery_size"].values.tolist()):
        cells = [_percent(x) for x in ds["least_error_share"][:, i].values.tolist()]
        beyond = ds["extrapolated"][i] or ds["far_extrapolated"][i]
        mark = "  extrapolated" if beyond else ""
        lines.append(f"{size:>8,}" + "".join(cell.rjust(12) for cell in cells) + mark)
    if ds.sizes.get("validation_size", 0):
        lines += [
            "",
            "Error of the same model, predicting all subjects from parts of them (predicted less",
            "true, where it is largest over ranks and over thresholds):",
        ]
        for i, size in enumerate(ds["validation_size"].values.tolist()):
            cms, far = (float(ds[f"validation_{x}_error"][i]) for x in ("cms", "far"))
            lines.append(f"  from {size:,}: CMS {_percent(cms, '+')}, FAR {_percent(far, '+')}")
    warnings = [line for line in str(ds.attrs["warnings"]).split("\n") if line]
    if warnings:
        wrap = functools.partial(
            textwrap.wrap, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False
        )
        lines += ["", "Warnings", *(part for line in warnings for part in wrap(line, 100))]
    return "\n".join(lines) + "\n"


def _fill(ds: xr.Dataset, part: Path, plots: bool) -> None:
    """Write the dataset, the table and the curves into a folder."""
    import csv

    ds.to_netcdf(part / "results.nc", engine="h5netcdf")
    (part / "table.txt").write_text(_text(ds), encoding="utf-8")
    sizes = ds["gallery_size"].values.tolist()
    for name, over in (("cms", "rank"), ("far", "threshold"), ("frr", "threshold")):
        with open(part / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([over, *(f"gallery_size_{size}" for size in sizes)])
            columns = ds[name].transpose(over, "gallery_size").values.tolist()
            for at, row in zip(ds[over].values.tolist(), columns, strict=True):
                writer.writerow([at, *row])
    if plots:
        from bioeval.views.plots.save_all import save_all

        save_all(ds, (), part)
