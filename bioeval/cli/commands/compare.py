"""``bioeval compare``: systems over the same data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from bioeval.base.errors import BioevalError
from bioeval.base.kinds import Kind
from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import output_options, shared_options, take_interval
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.progress import Stages
    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores


# Options that may differ between the systems.
_OF_B = ("kind", "scores", "embeddings", "gallery_embeddings", "metric")

# Options of the array of A without meaning for that of B, where B has the other kind of array.
_APART = {"scores": ("embeddings", "gallery_embeddings", "metric"), "embeddings": ("scores",)}


def differences_of(systems: Mapping[str, Scores]) -> dict[str, str]:
    """Return what a system lacks of the first one with names, and what it adds."""
    from bioeval.studies.compare.paired_systems import Named, differences

    return differences({name: Named.of(scores) for name, scores in systems.items()})


def compared_systems(
    systems: Mapping[str, Scores], given: Mapping[str, Any], stages: Stages
) -> dict[str, xr.Dataset]:
    """Return the comparison of two systems, or the ranking of more.

    Nothing where the systems cannot be compared, as those that have different attempts: the
    page says so.
    """
    from bioeval.studies.compare.compare import compare
    from bioeval.tasks.plan import resolve_card

    options = {name: given[name] for name in ("confidence", "replicates", "random_state")}
    take_interval(options, "subject-bootstrap")
    for name in ("far_targets", "frr_targets"):
        if given[name] is not None:
            options[name] = given[name]
    card = resolve_card(next(iter(systems.values())), given["protocol"])
    options["protocol"] = card if card.reid is not None else None
    try:
        if len(systems) > 2:
            stages("ranking the systems")
            return {f"{len(systems)} systems": compare(systems, **options)}
        name = " and ".join(systems)
        stages(f"comparing {name}")
        return {name: compare(*systems.values(), **options)}
    except BioevalError:
        return {}


@click.command("compare", cls=Command)
@click.argument("data", nargs=-1, required=True)
@output_options(
    "comparison.nc and comparison.csv, or of three systems or more ranking.nc, ranking.csv and "
    "differences.csv, and summary.json and table.txt",
    "draw each curve of both systems, or the ranking",
)
@option(
    "--name NAME", "Name of a system; once for each, in order.  [the file's name]", multiple=True
)
@option(
    "--measure M",
    "Measure to compare: eer, frr_at_far=0.001, far_at_frr=0.01, auc, eer_hull, min_dcf=0.01, "
    "frr_at_threshold=0.4, far_at_threshold=0.4, recognition_rate, cms=5, dir_at_far=0.01, cllr, "
    "min_cllr, act_dcf=0.01; with --protocol cmc=1, mean_ap, mean_inp, ...; repeatable.  "
    "[EER, FRR at each FAR, AUC, recognition rate, DIR]",
    name="measures",
    multiple=True,
)
@option("--differences", "Show the differences of all pairs of systems.", bool)
@option("--kind-b", "Kind of the scores of the second system.  [as for the first]", get_args(Kind))
@option("--scores-b KEY", "Array of scores of the second system.  [as for the first]")
@option("--embeddings-b KEY", "Array of embeddings of the second system.  [as for the first]")
@option(
    "--gallery-embeddings-b KEY|NPY",
    "Array or .npy file of the gallery's embeddings of the second system.  [as for the first]",
)
@option("--metric-b M", "Metric between embeddings of the second system.  [as for the first]")
@option(
    "--protocol CARD",
    "Compare mAP, CMC and the other measures of re-identification under this convention (name or "
    "path of a card).",
    Value.CARD,
)
@shared_options(
    far=True,
    frr=True,
    interval=True,
    reading=True,
)
@option(
    "--gallery",
    "Intervals of identification are for new people, enrolled and searched for (new), or for other "
    "probes in this gallery (fixed).",
    ["new", "fixed"],
    "new",
)
@option(
    "--adjust",
    "Adjust the tests for the number of measures, by Holm's method.",
    ["none", "holm"],
    "none",
)
def command(data: tuple[str, ...], **options: Any) -> None:
    """Compare systems on the same templates in the same order.

    DATA are two files or more as `bioeval run` reads them. The people are resampled together for
    all systems. Of two systems, each line of the table says whether they differ; they may be the
    same file if --scores and --scores-b name different arrays in it. Of more, systems are ranked by
    each measure: the table says which ranks each may have, and systems that share a letter cannot
    be told apart. Options apply to all systems, unless the option of the second is given. A system
    that was chosen because it is the best on these data, such as the best of several epochs, looks
    better than it is: choose it on other people. Where the last of DATA is a list of trials without
    scores, it has the trials of all systems.
    """
    from bioeval.scores.formats.trials import lists_trials

    if len(data) > 1 and lists_trials(data[-1]):
        *systems, options["second"] = data
        data = tuple(systems)
    options["measures"] = list(options["measures"]) or None
    shows_differences = options.pop("differences")
    of_second = {name: options.pop(f"{name}_b") for name in _OF_B}
    of_second = {name: value for name, value in of_second.items() if value is not None}
    if len(data) == 1:
        raise click.UsageError(f"one system is given, {data[0]}; expected two or more")
    if len(data) > 2 and of_second:
        raise click.UsageError(
            f"--{next(iter(of_second)).replace('_', '-')}-b is of the second of two systems; here "
            f"are {len(data)}"
        )
    take_interval(options, "subject-bootstrap")
    with StudyCommand(data[0], options) as run:
        if len(data) == 2:
            _compare_two(run, data, of_second)
        else:
            _rank(run, data, shows_differences)


def _compare_two(run: StudyCommand, files: Sequence[str], of_second: Mapping[str, Any]) -> None:
    """Compare two systems, and write the comparison."""
    from bioeval.attempts.points import FAR_TARGETS
    from bioeval.studies.compare.compare import compare

    a, b = files
    not_of_second: dict[str, Any] = {}
    for name in of_second:
        not_of_second |= dict.fromkeys(_APART.get(name, ()))
    readings = run.reading, run.reading_of(b, **(not_of_second | dict(of_second)))
    options = {"far_targets": FAR_TARGETS, "frr_targets": (), "protocol": None} | run.options
    given = run.given_names(files)
    read = []
    for file, given_name, reading in zip((a, b), given, readings, strict=True):
        key = reading["scores_key"] or reading["embeddings_key"] if a == b else None
        read.append(run.read(file, given_name or key or Path(file).stem, reading=reading))
    comparison = run.count(compare, *read, **options)
    values = [comparison["value_a"], comparison["value_b"]]
    run.require_defined(values, read, options["protocol"] or "auto")
    curves = {}
    if run.output.plots or run.output.page is not None:
        names = str(comparison.attrs["system_a"]), str(comparison.attrs["system_b"])
        trees = _curves(
            dict(zip(names, read, strict=True)),
            options["protocol"],
            options["far_targets"],
            options["frr_targets"],
            extra_thresholds=None if run.output.page is None else (),
        )
        for name, tree in trees.children.items():
            curves[name] = run.in_terms(tree.copy())
    shown = run.in_terms(comparison)
    document, _ = run.data_of(comparison)
    for name in ("file", "conclusions", "verdicts"):  # the last two are in the rows
        del document[name]
    document = {"file_a": a, "file_b": b, **document}
    run.save(
        document,
        comparison,
        run.table(shown),
        name="comparison.nc",
        csv={"comparison.csv": document["measures"]},
        drawn=curves or None,
        overlaid=True,
    )
    run.output.write_page({" and ".join(curves): shown, **curves}, [a, b], run.stages)


def _rank(run: StudyCommand, files: Sequence[str], shows_differences: bool) -> None:
    """Rank systems that are read one after another, and write the ranking."""
    from bioeval.studies.compare.compare import compare
    from bioeval.studies.compare.ranking_section import SHOWS_DIFFERENCES

    names = [
        given or Path(file).stem for file, given in zip(files, run.given_names(files), strict=True)
    ]
    if len(set(names)) < len(names):
        names = [
            given or str(file) for file, given in zip(files, run.given_names(files), strict=True)
        ]
    for given, what in ((names, "name"), (files, "file")):
        twice = [x for x, number in Counter(map(str, given)).items() if number > 1]
        if twice:
            raise click.UsageError(f"the {what} {twice[0]} is given twice; expected each once")
    systems = {}
    for name, file in zip(names, files, strict=True):
        reading = run.reading if file == files[0] else run.reading_of(file)
        systems[name] = partial(run.read, file, name, reading=reading)
    ranking = run.count(compare, systems, **run.options)
    if shows_differences:
        ranking.attrs[SHOWS_DIFFERENCES] = 1
    shown = run.in_terms(ranking)
    document, csv = run.data_of(ranking)
    del document["file"]
    run.save(
        {"files": dict(zip(names, files, strict=True)), **document},
        ranking,
        run.table(shown),
        name="ranking.nc",
        csv=csv,
        drawn=shown,
    )
    name = f"{ranking.sizes['system']} systems"
    run.output.write_page({name: shown}, list(files), run.stages)


def _curves(
    systems: dict[str, Scores],
    protocol: str | Protocol | None,
    far_targets: Sequence[float],
    frr_targets: Sequence[float],
    **options: Any,
) -> xr.DataTree:
    """Return the results of systems whose curves are drawn: those of the compared tasks."""
    from bioeval.evaluation import evaluate
    from bioeval.protocol.loading import for_layout

    if protocol is not None:
        return evaluate(systems, protocol, **options)
    scores = next(iter(systems.values()))
    card = for_layout(scores.layout, "auto")
    assert card.verification is not None
    verification = replace(card.verification, templates=("single",))
    card = replace(card, name="", verification=verification)  # no longer the card of that name
    if scores.kind == "order":
        return evaluate(systems, replace(card, verification=None, open_set=None), **options)
    options |= {"far_targets": far_targets, "frr_targets": frr_targets}
    return evaluate(systems, card, auc=False, **options)
