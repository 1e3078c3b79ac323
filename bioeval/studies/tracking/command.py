"""``bioeval tracking``: evaluate tracks against a ground truth."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli import Command, StudyCommand, Value, option, output_options

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.studies.check.findings import DataCheck


class CheckedTracks:
    """The check of tracks in ``bioeval check``: of a ground truth and a result."""

    add_options = (
        option(
            "--columns NAMES",
            "Columns of tracks: motchallenge, cityflow, or their names in order.  [motchallenge]",
        ),
    )

    def __init__(self, options: dict[str, Any], data: str) -> None:
        self._columns: str | None = options.pop("columns")
        self._data, self._result = data, options["second"]

    @property
    def fits(self) -> bool:
        """Whether the data are tracks: both files list boxes, or their columns are named."""
        if self._columns is not None or self._result is None:
            return self._columns is not None
        from bioeval.studies.tracking.inputs import lists_boxes

        return all(Path(x).exists() and lists_boxes(Path(x)) for x in (self._data, self._result))

    def check(self) -> DataCheck:
        """Check the result against the ground truth."""
        if self._result is None:
            raise click.UsageError("--columns is of tracks: give a ground truth and a result")
        from bioeval.studies.tracking.check import check_tracks

        return check_tracks(self._data, self._result, columns=self._columns or "motchallenge")


def _frames(text: str) -> tuple[str, int]:
    """Return the name of a sequence, empty for all sequences, and its number of frames."""
    name, _, number = text.rpartition("=")
    if not (number.isascii() and number.isdecimal() and len(number) <= 18 and int(number)):
        raise ValueError
    return name, int(number)


@click.command("tracking", cls=Command)
@click.argument("truth")
@click.argument("result")
@option("--iou", "Smallest overlap (IoU) of a match.", float, 0.5)
@option(
    "--frames N|NAME=N",
    "Number of frames of the sequence, or of the sequence or camera NAME; repeatable.  "
    "[from seqinfo.ini, else the frames with rows]",
    Value("n", _frames, "a whole number from 1 up, or NAME=N"),
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
@option("--targets", "List every target.", bool)
@output_options(
    "results.nc, summary.json, table.txt, hota_table.csv and targets_table.csv",
    "write segments.csv, and draw a timeline of the targets and HOTA by threshold",
    " instead of a table: rates are fractions",
)
def command(truth: str, result: str, targets: bool, **options: Any) -> None:
    """Evaluate the tracks of RESULT against the ground truth TRUTH.

    Both are files in the format of MOTChallenge, with rows frame,id,left,top,width,height,...
    separated by commas or blanks, plain or gzip. Or both are folders: the ground truth has
    <sequence>/gt/gt.txt with <sequence>/seqinfo.ini, or <sequence>.txt; the results have
    <sequence>.txt. Counts are added over sequences.
    """
    options["frames"] = _lengths(options["frames"])
    from bioeval.studies.tracking.section import with_targets
    from bioeval.studies.tracking.tracking import tracking

    with StudyCommand(truth, options, reads=False) as run:
        dataset = tracking(
            truth,
            result,
            **run.options,
            timeline=run.output.plots,
            progress=lambda name: run.stages(f"matching {name or truth}"),
        )
        drawn = functools.partial(_draw, dataset) if "spell" in dataset.dims else None
        document, csv = run.data_of(dataset)
        run.save(
            {**document, "truth": truth, "result": result},
            dataset,
            run.table(with_targets(dataset)),
            shown=None if targets else run.table(dataset),
            csv=csv,
            drawn=drawn,
        )
        run.write_page({run.name: run.in_terms(dataset)}, truth, result)


def _lengths(lengths: tuple[tuple[str, int], ...]) -> int | dict[str, int] | None:
    """Return one number of frames for all sequences, or those given by name."""
    if not lengths:
        return None
    names = [name for name, _ in lengths]
    if names == [""]:
        return lengths[0][1]
    if "" in names or len(set(names)) < len(names):
        raise click.BadParameter(
            "give one number for all, or NAME=N once for each", param_hint="'--frames'"
        )
    return dict(lengths)


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
            stem = "_".join(filter(None, ("timeline", sequence, camera)))
            stem = re.sub(r"[^\w.-]", "_", stem)
            name, number = stem, 1
            while name in drawn:  # a name may differ in what a file's cannot have
                number += 1
                name = f"{stem}_{number}"
            drawn.add(name)
            bars = timeline(dataset, sequence=sequence, camera=camera)
            save(bars, folder / f"{name}.png")
            plt.close(bars.figure_)
