"""``bioeval report``: one HTML page with the answer, curves, and a threshold to move."""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.variables import INTERVALS
from bioeval.cli.calls import options_of
from bioeval.cli.command import Command, option, option_group
from bioeval.cli.commands.check import ReportedCheck
from bioeval.cli.commands.compare import compared_systems, differences_of
from bioeval.cli.commands.explain import ExplainedRows
from bioeval.cli.commands.threshold import RatesOnNewPeople
from bioeval.cli.commands.workload import ReportedWorkload
from bioeval.cli.commands.worst_pairs import ReportedPairs
from bioeval.cli.commands.zoo import ReportedZoo
from bioeval.cli.images import ImageOptions
from bioeval.cli.options import shared_options, take_interval
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.scores.matrix import Scores

# What is read again to be shown.
_RESULTS = "results of a command of bioeval"


#: What a page can also have, in this order.
_FURTHER = (
    ReportedCheck,
    ExplainedRows,
    ReportedWorkload,
    RatesOnNewPeople,
    ReportedPairs,
    ReportedZoo,
)


@click.command("report", cls=Command)
@click.argument("data", nargs=-1, required=True)
@option("--out HTML", "Page to write.", required=True, name="report")
@option("--force", "Replace HTML if it exists.", bool)
@option("--title TEXT", "Title of the page.  [names of the systems]", str, "")
@options_of("evaluate", "protocol", "thresholds", "far_targets", "frr_targets")
@option_group(*(option for more in _FURTHER for option in more.add_options))
@options_of("evaluate", "interval", interval={"type": [*INTERVALS, "none"]})
@option(
    "--name NAME",
    "Name of a system; repeatable.  [the files' names]",
    multiple=True,
    name="names",
)
@shared_options(use=True, interval=True, files=False, page=False, name=False)
@ImageOptions.add
def command(data: tuple[str, ...], names: tuple[str, ...], **options: Any) -> None:
    """Evaluate DATA and write one HTML page that needs no network or other file.

    bioeval report scores.npz --out report.html --check --zoo
    bioeval report old.npz new.npz --out both.html

    DATA are files as `bioeval run` reads them, one per system, or what commands wrote with --out:
    their folders, or the results.nc in these.
    The page has the answer, the rates at a threshold that can be moved, the DET and the worst
    pairs; folded, the tables of all results, plots, and the origin of the page.
    """
    if len(names) > len(data):
        raise click.UsageError(f"{len(names)} names for {len(data)} files")
    title, images = options.pop("title"), ImageOptions(options)
    extras = [add(options) for add in _FURTHER]
    saved = list(filter(_is_saved, data))  # a check or the worst pairs among them have images
    if images.requested and not saved and not any(map(attrgetter("has_images"), extras)):
        words = sorted(filter(None, map(attrgetter("with_images"), extras)), reverse=True)
        raise click.UsageError(f"--images needs {' or '.join(words)}")
    folder = images.folder(data[0])
    words = sorted(filter(None, map(attrgetter("of_scores"), extras)))
    if words and saved:
        raise click.UsageError(f"{words[0]} needs scores; {saved[0]} holds results")
    interval = options.pop("interval")  # the others hold without a method, too
    with StudyCommand(data[0], options) as run:
        from bioeval.page.items import NOT_SHARED, doubts_of_systems, items_of
        from bioeval.page.threshold import opening_rule
        from bioeval.results.saved import read_results
        from bioeval.views.writers.lines import written

        called_by = _names(data, names)
        readings = list(map(run.reading_of, data))
        read: dict[str, Scores] = {}
        under_card: dict[str, Scores] = {}  # the comparisons that the card evaluates
        kept: list[Any] = []
        for extra in extras:
            extra.stages, extra.as_read = run.stages, run.as_read
        for i, (file, called, reading) in enumerate(zip(data, called_by, readings, strict=True)):
            if _is_saved(file):
                tree = read_results(file, _RESULTS)
                for extra in extras:
                    tree = _with(tree, extra.of_results(tree, opening_rule(tree)))
                said = run.in_terms(tree)
                # Without a name of the user, it says whose results it has.
                kept.append({called: said} if i < len(names) else said)
            else:
                read[called] = run.read(file, called, reading=reading)
                images.require(run.as_read[run.name])
                under_card[called] = _compared(read[called], options["protocol"])
        shown: list[Any] = []
        evaluated: dict[str, Any] = {}
        for called, scores in read.items():
            # All tasks of a system share their thresholds.
            given = {**options, "interval": interval, "extra_thresholds": []}
            results = _evaluated(scores, given, run)
            target = opening_rule(results) if "verification" in results.children else None
            further: dict[str, xr.Dataset] = {}
            for extra in extras:
                further |= extra.of_system(under_card[called], target)
                further |= extra.of_results(results, target)
                shown.append(extra.rows(scores, target))
            evaluated[called] = run.in_terms(_with(results, further))
        if len(read) > 1:
            for called, text in differences_of(read).items():
                for node in evaluated[called].leaves:
                    node.attrs[NOT_SHARED] = text
            if not kept:
                evaluated |= compared_systems(under_card, options, run.stages)
        shown = [evaluated, *kept, *shown]
        doubts = list(map(written, doubts_of_systems(items_of(shown))))
        run.output.write_page(
            shown, data, run.stages, title=title, images=images.column, image_folder=folder
        )
        remarks = run.output.remarks
        remarks[:] = [f"bioeval: warning: {line}" for line in (*doubts, *remarks)]


def _names(data: tuple[str, ...], given: tuple[str, ...]) -> list[str]:
    """Return the name of each system: the one given, else that of its file, or its path."""
    stems = [Path(file).stem for file in data]
    names = list(given)
    for file, stem in zip(data[len(given) :], stems[len(given) :], strict=True):
        if stems.count(stem) == 1:
            names.append(stem)
        else:
            names.append(file)
    return names


def _is_saved(file: str) -> bool:
    """Whether a file, or the folder of a command, has saved results, and no scores."""
    path = Path(file)
    return path.suffix.lower() == ".nc" or (path / "results.nc").is_file()


def _with(results: xr.DataTree, further: dict[str, xr.Dataset]) -> xr.DataTree:
    """Return results with further ones beside them."""
    return results.assign({name: type(results)(node) for name, node in further.items()})


def _compared(scores: Scores, protocol: Any) -> Scores:
    """Return the scores without the comparisons that the card leaves out."""
    from bioeval.tasks.plan import compared

    return scores if scores.layout == "top-k" else compared(scores, protocol)


def _evaluated(scores: Scores, options: dict[str, Any], run: StudyCommand) -> xr.DataTree:
    """Return the results of the tasks of the card."""
    from bioeval.evaluation import evaluate
    from bioeval.tasks.plan import resolve_card

    protocol = options.pop("protocol")
    run.stages("counting")
    if options["interval"] == "none":
        options["interval"] = None
    elif options["interval"] is not None or not resolve_card(scores, protocol).has_folds:
        options["interval"] = run.interval_for(scores, options["interval"])
    take_interval(options, options["interval"])
    tree = evaluate(scores, protocol, **options)
    return run.checked(tree, scores, protocol, options["thresholds"] is not None)
