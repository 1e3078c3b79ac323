"""``bioeval tracking``: evaluate tracks against a ground truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.cli.arguments import ENTRIES, WHOLE_NUMBERS, joined_entries
from bioeval.cli.command import in_options, option
from bioeval.cli.shared import shared

if TYPE_CHECKING:
    from bioeval.cli.running import Run


@click.argument("truth")
@click.argument("results", nargs=-1, required=True, metavar="RESULT...")
@option("--iou X", "Smallest overlap (IoU) of a match.", float, 0.5)
@option(
    "--frames N|NAME=N",
    "Number of frames (of a sequence NAME).  [of seqinfo.ini]",
    ENTRIES,
    multiple=True,
    callback=joined_entries,
)
@option(
    "--pairing",
    "Earlier pairings that are kept: each target's last, or the last frame's.",
    ["last-known", "previous-frame"],
    "last-known",
)
@option(
    "--mostly-tracked",
    "Count a target tracked in exactly 80 % of its frames as mostly tracked, or not.",
    ["at-least", "more-than"],
    "at-least",
)
@option(
    "--ignored",
    "Result boxes on ignored ground truth: removed on distractors alone, all removed, or all "
    "counted.",
    ["motchallenge", "mot20", "remove", "count"],
    "motchallenge",
)
@option("--columns", "Columns of the rows.", ["motchallenge", "cityflow"], "motchallenge")
@option(
    "--classes",
    "Classes of the ground truth to evaluate, by their numbers in column 8.",
    WHOLE_NUMBERS,
)
@option(
    "--interval METHOD",
    "Add confidence intervals over sequences, from 12 sequences on.",
    ["sequence-jackknife"],
)
@option(
    "--measure M",
    "Measures by which trackers are compared, such as hota, assa, idf1.",
    name="measures",
    multiple=True,
)
@shared(interval=True, plots=True, names=True, reading=False, fails=("hota < 50%",))
def tracking_command(
    run: Run,
    truth: str,
    results: tuple[str, ...],
    frames: dict[str, str],
    interval: str | None = None,
    **options: Any,
) -> None:
    """Evaluate tracks against the ground truth, or compare several trackers.

    bioeval tracking gt.txt tracker.txt --frames 1050
    bioeval tracking dancetrack/val trackers/SORT trackers/ByteTrack

    All are files in the format of MOTChallenge, with rows frame,id,left,top,width,height,...
    separated by commas or blanks, plain or gzip. Or all are folders: the ground truth has
    <sequence>/gt/gt.txt with <sequence>/seqinfo.ini, or <sequence>.txt; the results of a tracker
    have <sequence>.txt, or data/<sequence>.txt. Counts are added over sequences. Several trackers
    are ranked, with intervals of their differences over the sequences that all of them have.
    """
    from bioeval.cli.running import Extras
    from bioeval.studies.tracking.tracking import tracking

    options["frames"] = _lengths(frames)
    source = click.get_current_context().get_parameter_source
    several = len(results) > 1
    for name in () if several else ("measures", "name", "random_state"):
        if source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(in_options(f"`{name}` is of several trackers; 1 given"))
    run.files += (truth, *results)
    name = Path(truth).stem
    if several:
        trackers = dict(zip(run.names(results), results, strict=True))
        limits = run.interval("sequence-jackknife")
        dataset = tracking(truth, trackers, interval=limits, **options)
        run.finish(dataset, Extras(name=name))
        return
    del run.settings["random_state"]  # a jackknife has none
    dataset = tracking(truth, results[0], interval=run.interval(interval), **options)
    run.finish(dataset, Extras(name=name))


def _lengths(frames: dict[str, str]) -> int | dict[str, int] | None:
    """Return one number of frames for all sequences, or those given by name."""
    try:
        if len(frames) == 1 and [*frames] == [*frames.values()]:
            return int(next(iter(frames)))
        return {name: int(number) for name, number in frames.items()} or None
    except ValueError:
        text = "expected a whole number, or NAME=N for each sequence"
        raise click.BadParameter(text, param_hint="'--frames'") from None
