"""``bioeval tracking``: evaluate tracks against a ground truth."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, in_options, option
from bioeval.cli.options import shared_options, take_interval
from bioeval.cli.study_command import StudyCommand


@click.command("tracking", cls=Command)
@click.argument("truth")
@click.argument("results", nargs=-1, required=True, metavar="RESULT...")
@option("--iou X", "Smallest overlap (IoU) of a match.", float, 0.5)
@option(
    "--frames N|NAME=N",
    "Number of frames (of a sequence NAME).  [of seqinfo.ini]",
    Value.ENTRIES,
    multiple=True,
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
    "Result boxes on ignored ground truth: removed on distractors alone, all removed, "
    "or all counted.",
    ["motchallenge", "mot20", "remove", "count"],
    "motchallenge",
)
@option("--columns", "Columns of the rows.", ["motchallenge", "cityflow"], "motchallenge")
@option(
    "--classes",
    "Classes of the ground truth to evaluate, by their numbers in column 8.",
    Value.WHOLE_NUMBERS,
)
@option("--targets", "Of one tracker: list every target.", bool)
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
@shared_options(interval=True, plots=True, names=True, reading=False)
def tracking_command(truth: str, results: tuple[str, ...], **options: Any) -> None:
    """Evaluate tracks against the ground truth, or compare several trackers.

    bioeval tracking gt.txt tracker.txt --frames 1050
    bioeval tracking dancetrack/val trackers/SORT trackers/ByteTrack

    All are files in the format of MOTChallenge, with rows frame,id,left,top,width,height,...
    separated by commas or blanks, plain or gzip. Or all are folders: the ground truth has
    <sequence>/gt/gt.txt with <sequence>/seqinfo.ini, or <sequence>.txt; the results of a tracker
    have <sequence>.txt, or data/<sequence>.txt. Counts are added over sequences. Several trackers
    are ranked, with intervals of their differences over the sequences that all of them have.
    """
    options["frames"] = _lengths(options["frames"])
    targets = options.pop("targets")
    source = click.get_current_context().get_parameter_source
    several = len(results) > 1
    for name in ("targets",) if several else ("measures", "name", "random_state"):
        if source(name) is ParameterSource.COMMANDLINE:
            number = "one tracker" if several else "several trackers"
            raise click.UsageError(in_options(f"`{name}` is of {number}; {len(results)} given"))
    if several:
        options["measures"] = options["measures"] or None
        take_interval(options, "sequence-jackknife")
    else:
        del options["measures"], options["random_state"], options["name"]
    with StudyCommand(truth, options, reads=False) as run:
        from bioeval.studies.tracking.section import tracking_section
        from bioeval.studies.tracking.tracking import tracking

        if several:
            trackers = dict(zip(run.names(results), results, strict=True))
            dataset = tracking(truth, trackers, **run.options)
            more = {"truth": truth, "results": trackers}
            run.finish(dataset, more=more, files=[truth, *results])
            return
        dataset = tracking(truth, results[0], **run.options)
        run.finish(
            dataset,
            more={"truth": truth, "result": results[0]},
            shown=run.table(tracking_section({"": dataset}, targets=True)) if targets else None,
            files=[truth, results[0]],
        )


def _lengths(options: tuple[tuple[tuple[str, str], ...], ...]) -> int | dict[str, int] | None:
    """Return one number of frames for all sequences, or those given by name."""
    entries = [entry for entries in options for entry in entries]
    try:
        if len(entries) == 1 and entries[0][0] == entries[0][1]:
            return int(entries[0][0])
        return {name: int(number) for name, number in entries} or None
    except ValueError:
        text = "expected a whole number, or NAME=N for each sequence"
        raise click.BadParameter(text, param_hint="'--frames'") from None
