"""``bioeval tracking``: evaluate tracks against a ground truth."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.cli.arguments import Value
from bioeval.cli.calls import options_of
from bioeval.cli.command import Command, naming, option
from bioeval.cli.options import shared_options, take_interval
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr


#: Options of several trackers.
_OF_SEVERAL = ("measures", "name", "random_state", "invalid")


def _frames(text: str) -> tuple[str, int]:
    """Return the name of a sequence, empty for all sequences, and its number of frames."""
    name, _, number = text.rpartition("=")
    if not (number.isascii() and number.isdecimal() and len(number) <= 18 and int(number)):
        raise ValueError
    return name, int(number)


@click.command("tracking", cls=Command)
@click.argument("truth")
@click.argument("results", nargs=-1, required=True, metavar="RESULT...")
@options_of("tracking", "iou")
@option(
    "--frames N|NAME=N",
    "Number of frames (of a sequence or camera NAME).  [of seqinfo.ini]",
    Value("n", _frames, "a whole number from 1 up, or NAME=N"),
    multiple=True,
)
@options_of("tracking", "pairing", "mostly_tracked", "ignored", "columns")
@option("--targets", "Of one tracker: list every target.", bool)
@options_of("tracking", "interval", "measures", interval={"type": ["sequence-jackknife"]})
@shared_options(interval=True, plots=True, names=True, reading=False)
def command(truth: str, results: tuple[str, ...], **options: Any) -> None:
    """Evaluate tracks against the ground truth, or compare several trackers.

    All are files in the format of MOTChallenge, with rows frame,id,left,top,width,height,...
    separated by commas or blanks, plain or gzip. Or all are folders: the ground truth has
    <sequence>/gt/gt.txt with <sequence>/seqinfo.ini, or <sequence>.txt; the results of a tracker
    have <sequence>.txt, or data/<sequence>.txt. Counts are added over sequences. Several trackers
    are ranked, with intervals of their differences over the sequences that all of them have.
    """
    options["frames"] = _lengths(options["frames"])
    given, targets = options.pop("name"), options.pop("targets")
    if len(results) > 1:
        _refuse_given(("targets",), "shows one tracker, and several are given")
        options["measures"] = options["measures"] or None
        take_interval(options, "sequence-jackknife")
        _compare(truth, dict(zip(_names(results, given), results, strict=True)), options)
        return
    _refuse_given(_OF_SEVERAL, "compares trackers; give two or more")
    del options["measures"], options["random_state"]
    _evaluate(truth, results[0], targets, options)


def _refuse_given(names: tuple[str, ...], why: str) -> None:
    """Refuse options that are given."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{naming()(name, None)} {why}")


def _evaluate(truth: str, result: str, targets: bool, options: dict[str, Any]) -> None:
    """Evaluate one tracker."""
    from bioeval.studies.tracking.section import with_targets
    from bioeval.studies.tracking.tracking import tracking

    with StudyCommand(truth, options, reads=False) as run:
        dataset = tracking(
            truth,
            result,
            **run.options,
            timeline=run.output.plots,
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


def _compare(truth: str, trackers: dict[str, str], options: dict[str, Any]) -> None:
    """Compare several trackers."""
    from bioeval.studies.tracking.tracking import tracking

    with StudyCommand(truth, options, reads=False) as run:
        dataset = tracking(truth, trackers, **run.options)
        inputs = {"truth": truth, "results": trackers}
        run.finish(dataset, more=inputs, files=[truth, *trackers.values()])


def _names(results: tuple[str, ...], given: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of trackers: those given, or those of their files and folders."""
    if given and len(given) != len(results):
        raise click.UsageError(f"--name is given {len(given)} times for {len(results)} trackers")
    names = given or tuple(map(_name_of, results))
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(
                f"{names.count(name)} trackers are called {name!r}; name each with --name"
            )
    return names


def _name_of(result: str) -> str:
    """Return the name of a tracker: of its file, or of its folder, whose files may be in data."""
    path = Path(result)
    if path.name == "data":
        path = path.absolute().parent
    return path.absolute().name.removesuffix(".gz").removesuffix(".txt")


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

    from bioeval.plot.files import save
    from bioeval.plot.tracking_plots import cameras_of, hota, timeline

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
