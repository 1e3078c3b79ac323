"""``bioeval gallery-size`` and ``gallery-templates``: rates against the size of the gallery."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli import (
    Command,
    StudyCommand,
    Value,
    option,
    option_group,
    output_options,
    shared_options,
)

if TYPE_CHECKING:
    import xarray as xr


def _gallery_options(sampling: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the options of searches in galleries that may be drawn, as `sampling` says."""
    return option_group(
        shared_options(
            thresholds="Number of thresholds, the thresholds, or a file with one threshold per "
            "line.  [100]",
            max_rank=True,
        ),
        option(
            "--ties",
            "Rank of a mate among subjects with exactly the same score.",
            ["pessimistic", "optimistic", "stable", "expected"],
            "pessimistic",
        ),
        option(
            "--impostors",
            "Probes of non-mated searches.",
            ["auto", "unenrolled", "leave-subject-out", "both"],
            "auto",
        ),
        option("--sampling R", sampling, click.IntRange(1)),
        option("--seed N", "Random seed of the galleries.", click.IntRange(0), name="random_state"),
    )


@click.command("gallery-size", cls=Command)
@click.argument("data")
@option("--sizes", "Numbers of subjects in the gallery.  [a dozen, up to all]", Value.WHOLE_NUMBERS)
@_gallery_options("Also draw R random galleries of each size, for the plots.")
@option(
    "--unenrolled",
    "Proportions of unenrolled probes, such as 0.1,0.5.",
    Value.NUMBERS,
    name="unenrolled_shares",
)
@output_options("results.nc, summary.json, table.txt and curves", "draw the plots")
@shared_options(reading=True)
def gallery_size_command(data: str, **options: Any) -> None:
    """Evaluate identification of DATA by number of enrolled subjects.

    Up to the number of enrolled subjects, rates are exact means over all smaller galleries. Beyond
    it, they are extrapolated by a model and marked as extrapolated; the table gives the error of
    the model on these data.
    """
    with StudyCommand(data, options) as run:
        from bioeval.studies.galleries.gallery_size import gallery_size

        scores = run.read()
        dataset = run.count(gallery_size, scores, **run.options)
        run.require_defined([dataset["cms"]], [scores])
        csv = _curve_files(
            dataset,
            "gallery_size",
            "gallery_size",
            {"cms": "rank", "far": "threshold", "frr": "threshold"},
        )
        run.finish(dataset, csv=csv)


def _curve_files(
    ds: xr.Dataset, sizes: str, head: str, curves: dict[str, str]
) -> dict[str, dict[str, list[Any]]]:
    """Return the columns of each curve over its dimension: one for each size of the gallery."""
    files = {}
    for name, over in curves.items():
        values = ds[name].transpose(sizes, over).values.tolist()
        columns = {f"{head}_{n}": x for n, x in zip(ds[sizes].values.tolist(), values, strict=True)}
        files[f"{name}.csv"] = {over: ds[over].values.tolist(), **columns}
    return files


@click.command("gallery-templates", cls=Command)
@click.argument("data")
@option(
    "--templates",
    "Numbers of gallery templates per subject.  [six, up to that of most subjects]",
    Value.WHOLE_NUMBERS,
    name="sizes",
)
@option(
    "--threshold",
    "Threshold for the comparison: a number, or eer or far=X at the smallest number of templates.",
    Value.THRESHOLD,
    "eer",
)
@shared_options(far=True)
@shared_options(fusion=True)
@_gallery_options("Draw R galleries for each probe, instead of exact means over all galleries.")
@output_options("results.nc, summary.json, table.txt and curves", "draw the plots")
@shared_options(name=True, reading=True)
def gallery_templates_command(data: str, **options: Any) -> None:
    """Evaluate DATA by number of gallery templates per subject.

    With more templates, FRR falls and FAR rises at the same threshold; at equal FAR the table shows
    what more templates gain. Rates are exact means over all choices of templates.
    """
    with StudyCommand(data, options) as run:
        from bioeval.studies.galleries.gallery_templates import gallery_templates

        scores = run.read()
        dataset = run.count(gallery_templates, scores, **run.options)
        run.require_defined([dataset["frr"], dataset["far"]], [scores])
        over = dict.fromkeys(("far", "frr", "open_set_far"), "threshold")
        csv = _curve_files(dataset, "gallery_templates", "templates", {"cms": "rank", **over})
        run.finish(dataset, csv=csv)
