"""``bioeval tracking``: evaluate tracks against a ground truth."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.version import __version__
from bioeval.cli.arguments import FRAMES
from bioeval.cli.command import Command, flag, option, progress_shown
from bioeval.cli.options import output_options
from bioeval.cli.outputs import Output, write_csv, write_results
from bioeval.cli.study_command import columns_over, rows_of, scalars

if TYPE_CHECKING:
    import xarray as xr


@click.command("tracking", cls=Command)
@click.argument("truth")
@click.argument("result")
@option("--iou", "Smallest overlap (IoU) of a match.", float, 0.5)
@option(
    "--frames N|NAME=N",
    "Number of frames of the sequence, or of the sequence or camera NAME; repeatable.  "
    "[from seqinfo.ini, else the frames with rows]",
    FRAMES,
    multiple=True,
)
@option(
    "--pairing",
    "Pairings to keep: the last one of each target (py-motmetrics), or those of the "
    "previous frame (TrackEval).",
    ["last-known", "previous-frame"],
    "last-known",
)
@option(
    "--mostly-tracked",
    "Count a target tracked in exactly 80 % of its frames as mostly tracked (at-least) or "
    "not (more-than).",
    ["at-least", "more-than"],
    "at-least",
)
@option(
    "--ignored",
    "Result boxes on ignored ground truth: remove those on distractors (motchallenge, "
    "mot20), remove all, or count all.",
    ["motchallenge", "mot20", "remove", "count"],
    "motchallenge",
)
@option(
    "--duplicates",
    "How to treat an id that occurs twice in a frame of the result: as an error, or as two boxes.",
    ["raise", "accept"],
    "raise",
)
@option("--parts", "Meaning of the files of a folder.", ["sequences", "cameras"], "sequences")
@option(
    "--columns NAMES",
    "Columns: motchallenge, cityflow (camera,id,frame,left,top,width,height), or their "
    "names in order.",
    str,
    "motchallenge",
)
@flag("--targets", "List every target.")
@output_options(
    "results.nc, summary.json, table.txt, hota.csv and targets.csv",
    "write segments.csv, and draw a timeline of the targets and HOTA by threshold",
    ": rates are fractions",
)
def command(truth: str, result: str, targets: bool, **options: Any) -> None:
    """Evaluate the tracks of RESULT against the ground truth TRUTH.

    Both are files in the format of MOTChallenge, with rows frame,id,left,top,width,height,...
    separated by commas or blanks, plain or gzip. Or both are folders: the ground truth has
    <sequence>/gt/gt.txt with <sequence>/seqinfo.ini, or <sequence>.txt; the results have
    <sequence>.txt. Counts are added over sequences.
    """
    output = Output.take(options)
    options["frames"] = _lengths(options["frames"])
    from bioeval.studies.tracking.tables import TrackingTable
    from bioeval.studies.tracking.tracking import tracking

    with progress_shown() as stages:
        dataset = tracking(
            truth,
            result,
            **options,
            timeline=output.plots,
            progress=lambda name: stages(f"matching {name or truth}"),
        )
        document = _document(dataset, truth, result)
        files = output.write(document, lambda folder: _write(dataset, folder), stages)
    output.show(TrackingTable(dataset, targets), document, files)


def _lengths(given: tuple[tuple[str, int], ...]) -> int | dict[str, int] | None:
    """Return one number of frames for all sequences, or those given by name."""
    if not given:
        return None
    names = [name for name, _ in given]
    if names == [""]:
        return given[0][1]
    if "" in names or len(set(names)) < len(names):
        raise click.BadParameter(
            "give one number for all, or NAME=N once for each", param_hint="'--frames'"
        )
    return dict(given)


def _document(dataset: xr.Dataset, truth: str, result: str) -> dict[str, Any]:
    """Return all results as one document."""
    attrs = {str(name): value for name, value in dataset.attrs.items()}
    warnings = str(attrs.pop("warnings")).splitlines()
    attrs.pop("bioeval_version")
    document: dict[str, Any] = {"bioeval": __version__, "truth": truth, "result": result, **attrs}
    document |= scalars(dataset)
    if "sequence" in dataset:
        document["sequences"] = rows_of(_columns(dataset, "sequence"))
    document["hota_table"] = rows_of(_columns(dataset, "localisation_threshold"))
    document["targets_table"] = rows_of(_columns(dataset, "target"))
    document["warnings"] = warnings
    return document


def _columns(dataset: xr.Dataset, dim: str) -> dict[str, list]:
    """Return the variables along a dimension, by the short names of their rates."""
    return {
        name.removeprefix("sequence_").removesuffix("_by_threshold"): values
        for name, values in columns_over(dataset, dim).items()
    }


def _write(dataset: xr.Dataset, folder: Path) -> None:
    """Write the dataset, the table with all targets, and each target's row, into a folder."""
    from bioeval.studies.tracking.tables import TrackingTable

    write_results(folder, dataset, TrackingTable(dataset, True))
    files = {
        "localisation_threshold": "hota.csv",
        "target": "targets.csv",
        "sequence": "sequences.csv",
        "spell": "segments.csv",
    }
    for dim in (dim for dim in files if dim in dataset.dims):
        write_csv(folder / files[dim], _columns(dataset, dim))
    if "spell" in dataset.dims:
        _draw(dataset, folder)


def _draw(dataset: xr.Dataset, folder: Path) -> None:
    """Draw HOTA by threshold, and the timeline of each sequence and of each camera."""
    import matplotlib.pyplot as plt

    from bioeval.studies.tracking.plots import cameras_of, hota, timeline
    from bioeval.views.plots import save

    display = hota(dataset)
    save(display, folder / "hota.png")
    plt.close(display.figure_)
    drawn: set[str] = set()
    sequences = dataset["sequence"].values.tolist() if "sequence" in dataset else [None]
    for sequence in sequences:
        cameras: list[str | None] = [*cameras_of(dataset, sequence)]
        for camera in cameras or [None]:
            parts = [part for part in (sequence, camera) if part is not None]
            stem = "_".join(["timeline", *(re.sub(r"[^\w.-]", "_", part) for part in parts)])
            name, number = stem, 1
            while name in drawn:  # a name may differ in what a file's cannot have
                number += 1
                name = f"{stem}_{number}"
            drawn.add(name)
            bars = timeline(dataset, sequence=sequence, camera=camera)
            save(bars, folder / f"{name}.png")
            plt.close(bars.figure_)
