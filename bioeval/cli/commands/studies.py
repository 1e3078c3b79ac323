"""Commands of one study: what it reads, its options, and the call whose result is shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.cli.arguments import (
    ENTRIES,
    NUMBERS,
    THRESHOLD,
    WHOLE_NUMBERS,
    at_least,
    joined_entries,
)
from bioeval.cli.command import F, in_options, option
from bioeval.cli.defined import require_defined
from bioeval.cli.shared import DATA, shared
from bioeval.cli.signatures import option_of

if TYPE_CHECKING:
    from bioeval.cli.running import Output, Run


@DATA
@option_of("explain", "--probe N|NAME", str, required=True)
@option_of("explain", "--threshold T|RULE", THRESHOLD)
@option_of("explain", "--protocol CARD", str)
@shared(use=True)
def explain_command(
    run: Run, data: str, probe: str, second: str | None = None, **options: Any
) -> Output:
    """Explain a row of DATA: its sorted list, and what each comparison adds to.

    bioeval explain scores.npz --probe 17 --threshold 0.4

    The table lists the comparisons of one probe in order of score, with their roles (genuine,
    impostor), what is accepted at the threshold, and the counter of each task that a comparison
    adds to. Below it stands what the row adds to each task.
    """
    from bioeval.studies.explain import explain

    scores = run.read(data, second)
    return run.write(explain(scores, probe, **options), name=str(scores.name))


@DATA
@option_of("zoo", "--threshold T|RULE", THRESHOLD)
@option_of("zoo", "--quantile X")
@option_of("zoo", "--permutations N")
@option_of("zoo", "--seed N", at_least(0), name="random_state")
@shared(use=True, plots=True, fails=("all_rate@error=fr > 5%",))
def zoo_command(run: Run, data: str, second: str | None = None, **options: Any) -> Output:
    """Evaluate DATA by subject, and test for goats, wolves and lambs.

    bioeval zoo scores.npz --threshold far=0.001

    The table gives the mean scores of each subject, its false rejects, the false accepts by its
    probes (many for a wolf) and by claims of its identity (many for a lamb), and the rates without
    the subject. The tests compare two halves of each subject's templates. Embeddings usually have
    wolves and lambs, also those of `bioeval simulate`: subjects near the common centre are near to
    all others.
    """
    from bioeval.studies.zoo import zoo

    return run.write(zoo(run.read(data, second), **options))


@DATA
@option_of("by_group", "--by COLUMN", name="group", required=True)
@option_of("by_group", "--threshold T|RULE", THRESHOLD)
@option_of(
    "by_group",
    "--interval METHOD",
    ["people", "none"],
    default=None,
    more="; by default for 20 to 1,000 people.",
)
@shared(use=True, interval=True, plots=True, fails=("frr@group=all > 10%",))
def groups_command(
    run: Run,
    data: str,
    group: str,
    second: str | None = None,
    interval: str | None = None,
    **options: Any,
) -> Output:
    """Evaluate verification of DATA by group of people, or by a condition such as light.

    bioeval groups scores.npz --by sex

    For groups of people, the table gives the FRR of each group, and the FAR of each pair of groups.
    Where a person has several values, it gives FRR and FAR by the value of the probe. With
    intervals, it says which groups differ. Groups with fewer than 30 subjects or expected errors
    are flagged.
    """
    from bioeval.studies.groups import by_group

    limits: Any = run.interval(None if interval == "none" else interval) if interval else "auto"
    return run.write(by_group(run.read(data, second), group, interval=limits, **options))


def _refuse(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise click.UsageError(
            f"{param.opts[0]} makes claims, for verification; a gallery is searched for its "
            "templates. Leave it out"
        )


def _refused(name: str) -> Callable[[F], F]:
    """Return an option that says why the command does not have it."""
    settings: dict[str, Any] = {"hidden": True, "expose_value": False, "callback": _refuse}
    return click.option(name, help="Refused: it is of claims.", **settings)


@DATA
@option_of("gallery_size", "--sizes N,N", WHOLE_NUMBERS)
@option_of("gallery_size", "--thresholds T,T", NUMBERS)
@option_of("gallery_size", "--n-thresholds N")
@option_of("gallery_size", "--max-rank N")
@option_of("gallery_size", "--ties")
@option_of("gallery_size", "--impostors")
@option_of("gallery_size", "--fusion RULE", str)
@_refused("--attempts")
@_refused("--enrol")
@_refused("--templates")
@shared(plots=True, name=False, fails=("cms=1 < 90%",))
def gallery_size_command(run: Run, data: str, second: str | None = None, **options: Any) -> Output:
    """Evaluate identification of DATA by number of enrolled subjects.

    bioeval gallery-size scores.npz --sizes 5,10 --max-rank 3

    Rates are exact means over all galleries of as many subjects.
    """
    from bioeval.studies.gallery_size import gallery_size

    scores = run.read(data, second)
    dataset = gallery_size(scores, **options)
    require_defined([dataset["cms"]], [scores])
    return run.write(dataset)


@DATA
@option_of("conventions", "--card CARD", name="cards", multiple=True)
@shared()
def conventions_command(run: Run, data: str, second: str | None = None, **options: Any) -> Output:
    """Evaluate DATA by every protocol card that fits, one row each.

    bioeval conventions reid.npz --card market1501 --card cuhk03

    The same distances have other rates by other conventions: which entries are removed, how ranks,
    ties and average precision are counted.
    """
    from bioeval.studies.conventions import conventions

    return run.write(conventions(run.read(data, second), **options))


@click.argument("systems", nargs=-1, required=True, metavar="A [B ...]")
@option_of("gom", "--protocol CARD", str, default="gom-market1501", name="convention")
@option(
    "--as-given",
    "Distances stay as they are, and are not scaled to 0 ... 1 over all finite ones.",
    bool,
)
@option_of("gom", "--budget N")
@option_of("gom", "--variant")
@option_of("gom", "--thresholds T,T", NUMBERS)
@option_of("gom", "--max-rank N")
@option_of("gom", "--interval METHOD")
@shared(interval=True, plots=True, names=True, fails=("mean_ap < 50%",))
def gom_command(
    run: Run,
    systems: tuple[str, ...],
    as_given: bool,
    interval: str | None = None,
    **options: Any,
) -> Output:
    """Evaluate systems A, B ... by GOM: retrieval and verification at a threshold.

    bioeval gom osnet.npz agw.npz

    Each system is a file as `bioeval run` reads it, with queries against a gallery; options apply
    to all files. The table has the measures of the paper (arXiv:2011.11506): CMC(1), mAP, largest
    mVP, largest mReP with its threshold (tau_max), first threshold with false alarms (tau_nz), and
    the areas under mReP and mFR.
    """
    from bioeval.tasks.reid.gom import gom

    results = {}
    limits = run.interval(interval)
    for file, name in zip(systems, run.names(systems), strict=True):
        scores = run.read(file, name=name)
        dataset = gom(scores, scaled=not as_given, interval=limits, **options)
        require_defined([dataset["mean_ap"]], [scores], options["convention"], [dataset])
        results[name] = dataset
    return run.write(results)


@click.argument("truth")
@click.argument("results", nargs=-1, required=True, metavar="RESULT...")
@option_of("tracking", "--iou X")
@option_of(
    "tracking",
    "--frames N|NAME=N",
    ENTRIES,
    more=": N, or NAME=N; by default that of seqinfo.ini.",
    multiple=True,
    callback=joined_entries,
)
@option_of("tracking", "--pairing")
@option_of("tracking", "--mostly-tracked")
@option_of("tracking", "--ignored")
@option_of("tracking", "--classes", WHOLE_NUMBERS)
@option_of("tracking", "--interval METHOD", ["sequence-jackknife"])
@option_of("tracking", "--measure M", name="measures", multiple=True)
@shared(interval=True, plots=True, names=True, reading=False, fails=("hota < 50%",))
def tracking_command(
    run: Run,
    truth: str,
    results: tuple[str, ...],
    frames: dict[str, str],
    interval: str | None = None,
    **options: Any,
) -> Output:
    """Evaluate tracks against the ground truth, or compare several trackers.

    bioeval tracking gt.txt tracker.txt --frames 1050
    bioeval tracking dancetrack/val trackers/SORT trackers/ByteTrack

    All are files in the format of MOTChallenge, with rows frame,id,left,top,width,height,...
    separated by commas or blanks, plain or gzip. Or all are folders: the ground truth has
    <sequence>/gt/gt.txt with <sequence>/seqinfo.ini, or <sequence>.txt; the results of a tracker
    have <sequence>.txt, or data/<sequence>.txt. Counts are added over sequences. Several trackers
    are ranked, with intervals of their differences over the sequences that all of them have.
    """
    from bioeval.studies.tracking import tracking

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
    else:
        dataset = tracking(truth, results[0], interval=run.interval(interval), **options)
    return run.write(dataset, name=name)


def _lengths(frames: dict[str, str]) -> int | dict[str, int] | None:
    """Return the frames of all sequences, or of each by name; None if there is no ``--frames``."""
    if not frames:
        return None
    try:
        name, number = next(iter(frames.items()))
        if len(frames) == 1 and name == number:  # `--frames 1050` is read as `1050=1050`
            return int(number)
        return {name: int(number) for name, number in frames.items()}
    except ValueError:
        text = "expected a whole number, or NAME=N for each sequence"
        raise click.BadParameter(text, param_hint="'--frames'") from None
