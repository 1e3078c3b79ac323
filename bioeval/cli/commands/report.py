"""``bioeval report``: one HTML page with the answer, the rates at a threshold, and curves.

The command reads each file, evaluates each system (`_evaluated`), compares several (`_comparison`),
and hands the contents of the page to `run.write_page`: results by name, the systems first::

    [{"old": tree, "new": tree, "2 systems": comparison}, {"": check}, {"old, probe 17": row}]

A file may also be the saved results of a command, which the page shows as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import BioevalError, DataError, counted
from bioeval.cli.arguments import SCORE, at_least
from bioeval.cli.command import in_options, option, option_group
from bioeval.cli.commands.threshold import refuted_promises
from bioeval.cli.defined import require_rates
from bioeval.cli.shared import ASSURE, EVALUATED, rates, shared
from bioeval.cli.signatures import option_of

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Output, Run
    from bioeval.scores.matrix import Scores

#: Options of what a page has besides the evaluation; some need scores, some show images.
_FURTHER = ("check", "probe", "folds", "assure", "worst", "zoo", "promise")
_OF_SCORES = ("check", "probe", "zoo", "promise")
_WITH_IMAGES = ("worst", "probe")


@click.argument("data", nargs=-1, required=True)
@option("--out HTML", "Page to write.", required=True, name="report")
@EVALUATED
@option_of("report", "--threshold T", SCORE)
@option_of("check_promise", "--promise RATE", more="; repeatable.", multiple=True)
@rates("evaluate", "far_targets", "frr_targets")
@option("--check", "Add a check of the data.", bool)
@option(
    "--explain N|NAME",
    "Add this row (position or name), explained; repeatable.",
    multiple=True,
    name="probe",
)
@option("--folds N", "Folds for the rates of new subjects; 0: none.", at_least(0), 10)
@ASSURE
@option("--worst N", "List the N worst impostor and genuine pairs.", at_least(1))
@option("--zoo", "Add whose errors they are.", bool)
@option_of(
    "evaluate",
    "--interval METHOD",
    ["people", "subject-bootstrap", "wilson", "clopper-pearson", "none"],
)
@option(
    "--name NAME", "Name of a system; repeatable.  [the files' names]", multiple=True, name="names"
)
@option_group(
    option("--force", "Replace HTML if it exists.", bool),
    option_of("report", "--title TEXT", more=".  [names of the systems]"),
    option_of("report", "--images NAME"),
    option(
        "--images-root DIR",
        "Folder of the image files; files outside of it are not read.  [the folder of DATA]",
    ),
    heading="Output",
)
@shared(use=True, interval=True, files=False, page=False, printed=False, name=False)
def report_command(
    run: Run,
    data: tuple[str, ...],
    title: str,
    threshold: float | None = None,
    names: tuple[str, ...] = (),
    images: str = "",
    images_root: str | None = None,
    **options: Any,
) -> Output:
    """Evaluate DATA and write one HTML page that needs no network or other file.

    bioeval report scores.npz --out report.html --check --zoo
    bioeval report old.npz new.npz --out both.html
    bioeval report scores.npz --threshold 3.61 --promise far=1% --out door.html

    DATA are files as `bioeval run` reads them, one per system, or what commands wrote with --out:
    their folders, or the results.nc in these.
    The page has the answer, the rates at a threshold, the DET and the worst pairs; folded, the
    tables of all results, plots, and the origin of the page.
    """
    from bioeval.cli.running import Output, outside_all_scores
    from bioeval.page.threshold import NOT_SHARED, PageResults, doubts_of_systems
    from bioeval.scores.alignment import differences
    from bioeval.showing.nodes import with_asked_thresholds
    from bioeval.showing.numbers import written

    further = {name: options.pop(name, None) for name in _FURTHER}
    saved = [
        x for x in data if Path(x).suffix.lower() == ".nc" or (Path(x) / "results.nc").is_file()
    ]
    if len(names) > len(data):
        raise click.UsageError(f"{counted(len(names), 'names')} for {counted(len(data), 'files')}")
    _check_threshold(threshold, further)
    _check_needs(saved, further, images, images_root)

    # All files are read before anything is counted.
    stems = [Path(file).stem for file in data]
    defaults = [y if stems.count(y) == 1 else x for x, y in zip(data, stems, strict=True)]
    systems: dict[str, tuple[Scores, Scores]] = {}  # as they were read, and in use
    contents: list[Any] = []  # of the page, besides the evaluated systems
    for i, file in enumerate(data):
        is_named = i < len(names)
        name = names[i] if is_named else defaults[i]
        if file in saved:
            run.files.append(file)
            results = _saved_results(Path(file))
            # Without a name of the user, the results themselves name their system.
            contents.append({name: results} if is_named else results)
            continue
        as_read, in_use = run.read_system(file, name=name)
        if images:
            _require_column(as_read, images)
        systems[str(as_read.name)] = as_read, in_use

    evaluated: dict[str, Any] = {}
    under_card: dict[str, Scores] = {}
    verdicts: list[str] = []
    for name, (as_read, in_use) in systems.items():
        tree, under_card[name], rows = _evaluated(run, as_read, in_use, threshold, options, further)
        evaluated[name] = tree
        if "promise" in tree.children:
            verdicts += refuted_promises(tree["promise"].dataset)
        contents += rows
    errors: list[str] = []
    if threshold is not None:
        at_threshold = [with_asked_thresholds(tree, [threshold]) for tree in evaluated.values()]
        errors = outside_all_scores(at_threshold)
    if len(systems) > 1:
        # What a system does not share with the others is said beside its numbers.
        not_shared = differences({name: in_use for name, (_, in_use) in systems.items()})
        for name, text in not_shared.items():
            for node in evaluated[name].leaves:
                node.attrs[NOT_SHARED] = text
        if not saved:
            evaluated |= _comparison(run, under_card, options)
    contents.insert(0, evaluated)

    doubts = doubts_of_systems(PageResults.collected(contents).nodes)
    remarks = [f"bioeval: warning: {written(doubt)}" for doubt in doubts]
    folder = Path(data[0]).parent if images_root is None else Path(images_root)
    of_images: dict[str, Any] = {"images": images, "image_folder": folder}
    remarks += run.write_page(contents, threshold=threshold, title=title, **of_images)
    return Output(remarks=remarks, errors=errors, failures=verdicts)


def _check_threshold(threshold: float | None, further: Mapping[str, Any]) -> None:
    """Check the options that need a threshold of the user, or none."""
    if threshold is None and further["promise"]:
        raise DataError("--promise needs the threshold that it is about: --threshold T")
    if threshold is not None and further["assure"] is not None:
        raise click.UsageError("--assure chooses a threshold: leave it out, or --threshold")


def _check_needs(
    saved: Sequence[str], further: Mapping[str, Any], images: str, images_root: str | None
) -> None:
    """Check that there are scores, and a part of the page with images, where options need them."""
    # The worst pairs of saved results may have images.
    shows_images = saved or any(further[name] for name in _WITH_IMAGES)
    if (images or images_root) and not shows_images:
        raise click.UsageError("--images needs --worst N or --explain")
    needing_scores = [name for name in _OF_SCORES if further[name]]
    if saved and needing_scores:
        text = f"`{needing_scores[0]}` needs scores; {saved[0]} holds results"
        raise click.UsageError(in_options(text))
    if images_root is not None and not Path(images_root).is_dir():
        raise DataError(
            f"{images_root}: no such folder; --images-root expects the folder of the images"
        )


def _require_column(scores: Scores, images: str) -> None:
    """Require a metadata column of image files; a list of pairs shows no images."""
    if scores.layout == "pairs":
        return
    columns = [*dict.fromkeys([*scores.probe_meta, *scores.gallery_meta])]
    if images not in columns:
        have = f"it has {', '.join(columns)}" if columns else "it has none"
        raise DataError(f"{scores.name}: no metadata column {images!r} of images; {have}")


def _saved_results(path: Path) -> xr.DataTree:
    """Return the results that a command wrote into a folder, or into a file."""
    import xarray as xr

    from bioeval.base.files import unchanged
    from bioeval.scores.formats.texts import existing_file, guarded

    expected = "results of a command of bioeval"
    path = path / "results.nc" if path.is_dir() else path
    with unchanged():
        existing_file(path, expected)
        # Numbers of days or seconds stay numbers: some versions of xarray convert them.
        with (
            guarded(path, expected=expected),
            xr.open_datatree(path, engine="h5netcdf", decode_timedelta=False) as opened,
        ):
            return opened.load()


def _evaluated(
    run: Run,
    as_read: Scores,
    scores: Scores,
    threshold: float | None,
    options: Mapping[str, Any],
    further: Mapping[str, Any],
) -> tuple[xr.DataTree, Scores, list[dict[str, Any]]]:
    """Return the results of a system for a page, its scores under the card, and checks and rows.

    `scores` are those of its claims; `options` are of the evaluation, `further` of what the page
    has besides. The threshold of the page is that of the user, or else one that is chosen on these
    scores, with an assurance if one was asked for.
    """
    import xarray as xr

    from bioeval.evaluation import evaluate
    from bioeval.page.threshold import PageThreshold
    from bioeval.showing.numbers import written
    from bioeval.showing.text import threshold_of
    from bioeval.tasks.card_scores import compared, resolve_card

    protocol, seed = options["protocol"], run.settings["random_state"]
    run.stages("counting")
    card = resolve_card(scores, protocol)
    method = options.get("interval")
    limits = None
    if method != "none" and (method or not card.has_folds):
        limits = run.interval_for(scores, method)

    def evaluated(extra_thresholds: list[float]) -> xr.DataTree:
        run.stages("counting")
        settings = {**options, "interval": limits, "extra_thresholds": extra_thresholds}
        tree = evaluate(scores, **settings)
        require_rates(tree, scores, protocol, "thresholds" in options)
        return tree

    tree = evaluated([] if threshold is None else [threshold])
    under_card = scores if scores.layout == "top-k" else compared(scores, card)
    opens = None  # the threshold of the page; None without one of the user and without verification
    if threshold is not None or "verification" in tree.children:
        opens = PageThreshold.from_results(tree, threshold)

    # Studies, which become nodes of the tree.
    studies: dict[str, Any] = {}
    if threshold is not None and further["promise"]:
        from bioeval.studies.assurance import check_promise

        run.stages("checking the promise")
        settings = {name: run.settings[name] for name in ("confidence", "unit")}
        studies["promise"] = check_promise(under_card, threshold, further["promise"], **settings)
    elif threshold is None and opens is not None and further["folds"] > 1:
        run.stages("trying the threshold on other people")
        study = _threshold_study(under_card, opens.rule, further, seed)
        if study is not None:
            studies["threshold_study"] = study
            assured = study.to_dataset().get("assured_threshold")
            if assured is not None and math.isfinite(assured):
                # The assured threshold is the answer of the page: its rates are counted, too. The
                # further results are at the number that is printed, which decides alike.
                tree = evaluated([float(assured)])
                exact = threshold_of(study.to_dataset(), "assured_threshold")
                opens = PageThreshold(exact, written(exact))
    rule = None if opens is None else opens.rule
    if further["worst"] is not None:
        from bioeval.studies.worst_pairs import worst_pairs

        run.stages("listing the worst pairs")
        studies["worst_pairs"] = worst_pairs(under_card, further["worst"])
    if further["zoo"]:
        from bioeval.studies.zoo import zoo

        run.stages("evaluating each subject")
        studies["zoo"] = zoo(under_card, threshold=rule or "eer", random_state=seed)
    nodes = {
        name: study if isinstance(study, xr.DataTree) else xr.DataTree(study)
        for name, study in studies.items()
    }

    # Checks and explained rows, which stand by themselves.
    rows: list[dict[str, Any]] = []
    if further["check"]:
        from bioeval.studies.check import check_data

        run.stages("checking the data")
        far_targets = options.get("far_targets")
        claims = scores if scores.claims else None
        rows.append({"": check_data(as_read, protocol, far_targets=far_targets, claims=claims)})
    for probe in further["probe"] or ():
        from bioeval.studies.explain import explain

        run.stages(f"explaining {probe}")
        row = explain(scores, probe, threshold=rule, protocol=protocol)
        rows.append({f"{scores.name}, probe {probe}": row})
    return tree.assign(nodes), under_card, rows


def _threshold_study(
    scores: Scores, rule: Any, further: Mapping[str, Any], seed: int
) -> xr.DataTree | None:
    """Return the rates of new people at the threshold of a rule, or None if they have none.

    The page then says that they were not estimated. An assurance that was asked for is an error.
    """
    from bioeval.studies.threshold_study import study_threshold

    assure = further["assure"]
    folds = None if scores.layout == "pairs" else further["folds"]
    try:
        return study_threshold(scores, rule, folds=folds, assure=assure, random_state=seed)
    except BioevalError:
        if assure is not None:
            raise
        return None


def _comparison(
    run: Run, systems: Mapping[str, Scores], options: Mapping[str, Any]
) -> dict[str, xr.Dataset]:
    """Return the comparison of the systems by its name.

    Empty if the systems cannot be compared, for example because their attempts differ; the page
    says then how they differ.
    """
    from bioeval.studies.compare import compare
    from bioeval.tasks.card_scores import resolve_card

    targets = {x: options[x] for x in ("far_targets", "frr_targets") if x in options}
    card = resolve_card(next(iter(systems.values())), options["protocol"])
    if {*card.tasks} == {"gom"}:
        return {}
    try:
        run.stages("comparing the systems")
        protocol = card if card.reid is not None else None
        limits = run.interval("people")
        compared = compare(systems, protocol=protocol, interval=limits, **targets)
    except BioevalError:
        return {}
    return {f"{len(systems)} systems": compared}
