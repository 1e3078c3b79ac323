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
    The page has the answer in a few sentences, rates that follow the threshold and the rank,
    curves, all figures with their intervals, and the provenance of the data.
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
        from bioeval.page.parts import NOT_SHARED, doubts_of_systems, parts_of
        from bioeval.page.together import one_tree_each
        from bioeval.results.saved import read_results
        from bioeval.studies.check.saved import restored
        from bioeval.views.writers.lines import written

        results_of: dict[str, Any] = {}
        rows: list[dict[str, Any]] = []
        called_by = _names(data, names)
        read = {}
        under_card = {}  # the comparisons that the card evaluates
        readings = list(map(run.reading_of, data))
        for file, called, reading in zip(data, called_by, readings, strict=True):
            if _is_saved(file):
                tree = read_results(file, _RESULTS)
                found = restored(tree.to_dataset())  # the check of data that it is, if any
                if found is None:
                    results_of[called] = tree
                else:
                    rows.append({"": found})
            else:
                scores = run.read(file, called, reading=reading)
                read[called] = results_of[called] = scores
                images.require(run.as_read[run.name])
                under_card[called] = _compared(read[called], options["protocol"])
        for extra in extras:
            extra.stages, extra.as_read = run.stages, run.as_read
        for called in called_by:
            if called in read:
                # All tasks of a system share their thresholds.
                given = {**options, "interval": interval, "extra_thresholds": []}
                results = _evaluated(read[called], given, run)
                target = _target(results) if "verification" in results.children else None
                further: dict[str, xr.Dataset] = {}
                for extra in extras:
                    further |= extra.of_system(under_card[called], target)
                    further |= extra.of_results(results, target)
                    rows.append(extra.rows(read[called], target))
            elif called not in results_of:
                continue
            else:
                results, further = results_of[called], {}
                for extra in extras:
                    further |= extra.of_results(results, _target(results))
            nodes = {name: type(results)(node) for name, node in further.items()}
            results_of[called] = run.in_terms(results.assign(nodes))
        results_of = one_tree_each(results_of, names)
        compared: dict[str, xr.Dataset] = {}
        if len(read) == len(data) > 1:
            compared = compared_systems(under_card, options, run.stages)
        said: dict[str, None] = {}
        if len(results_of) > 1:
            for called, text in differences_of(read).items():
                for node in results_of[called].leaves:
                    node.attrs[NOT_SHARED] = text
            said = dict.fromkeys(
                written(text) for _, text in doubts_of_systems(parts_of(results_of))
            )
        shown = list(filter(None, [{**results_of, **compared}, *rows]))
        run.output.write_page(
            shown, data, run.stages, title=title, images=images.column, image_folder=folder
        )
        remarks = run.output.remarks
        remarks[:] = [f"bioeval: warning: {line}" for line in (*said, *remarks)]


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


def _target(results: Any) -> str | None:
    """Return the rule of the threshold that the page opens with; None where it has none."""
    from bioeval.page.parts import LiveState, parts_of

    chosen = LiveState(parts_of(results)).chosen
    if chosen is None:
        return None
    if chosen.target is None:
        return "eer"
    return f"far={chosen.target!r}"
