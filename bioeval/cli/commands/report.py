"""``bioeval report``: one HTML page with the answer, curves, and a threshold to move."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import BioevalError, DataError
from bioeval.cli.arguments import PROPORTION, Value, at_least
from bioeval.cli.command import in_options, option, option_group
from bioeval.cli.commands.threshold import fail_if_refuted
from bioeval.cli.commands.workload import TASKS
from bioeval.cli.images import IMAGES, image_folder, require_images
from bioeval.cli.shared import ASSURE, EVALUATED, TERMS, rates, shared
from bioeval.cli.undefined import require_rates

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Run
    from bioeval.page.threshold import Opens
    from bioeval.scores.matrix import Scores

# The kind of file that `read_results` asks for.
_RESULTS = "results of a command of bioeval"

#: Options of what a page has besides the evaluation; some need scores, some show images.
_FURTHER = ("check", "probe", "workload", "folds", "assure", "worst", "zoo", "promise")
_OF_SCORES = ("check", "probe", "zoo", "promise")
_WITH_IMAGES = ("worst", "probe", "check")


def _use(text: str) -> dict[str, float]:
    """Read the use of a system: ``people=2000,impostors=0.01``."""
    use = dict(part.partition("=")[::2] for part in text.replace(" ", "").split(","))
    if use.keys() != {"people", "impostors"}:
        raise ValueError
    share = PROPORTION.read(use["impostors"])
    return {"people_per_day": int(use["people"]), "impostor_share": share}


@click.argument("data", nargs=-1, required=True)
@option("--out HTML", "Page to write.", required=True, name="report")
@EVALUATED
@option("--threshold T", "Threshold at which the page opens.", float)
@option("--promise RATE", "Promise to be shown: far=X or frr=X; repeatable.", multiple=True)
@rates("--far X", "FAR at which to report FRR and DIR.", "far_targets")
@rates("--frr X", "FRR at which to report FAR of verification.", "frr_targets")
@option("--check", "Add a check of the data, and who is confused with whom.", bool)
@option(
    "--explain N|NAME",
    "Add this row (position or name), explained; repeatable.",
    multiple=True,
    name="probe",
)
@option(
    "--workload USE",
    "Add errors per day: people=2000,impostors=0.01.",
    Value("people=N,impostors=P", _use, "people=2000,impostors=0.01"),
)
@option("--folds N", "Folds for the rates of new subjects; 0: none.", at_least(0), 10)
@ASSURE
@option("--worst N", "List the N worst impostor and genuine pairs.", at_least(1))
@option("--zoo", "Add whose errors they are.", bool)
@option(
    "--interval METHOD",
    "Add confidence intervals.",
    ["people", "subject-bootstrap", "wilson", "clopper-pearson", "none"],
)
@option(
    "--name NAME", "Name of a system; repeatable.  [the files' names]", multiple=True, name="names"
)
@option_group(
    option("--force", "Replace HTML if it exists.", bool),
    option("--title TEXT", "Title of the page.  [names of the systems]", str, ""),
    TERMS,
    IMAGES,
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
) -> None:
    """Evaluate DATA and write one HTML page that needs no network or other file.

    bioeval report scores.npz --out report.html --check --zoo
    bioeval report old.npz new.npz --out both.html
    bioeval report scores.npz --threshold 3.61 --promise far=1% --out door.html

    DATA are files as `bioeval run` reads them, one per system, or what commands wrote with --out:
    their folders, or the results.nc in these.
    The page has the answer, the rates at a threshold that can be moved, the DET and the worst
    pairs; folded, the tables of all results, plots, and the origin of the page.
    """
    from bioeval.page.results import NOT_SHARED, PageResults, doubts_of_systems
    from bioeval.page.threshold import Opens
    from bioeval.results.saved import read_results
    from bioeval.scores.alignment import differences
    from bioeval.showing.writers.lines import written

    if len(names) > len(data):
        raise click.UsageError(f"{len(names)} names for {len(data)} files")
    requested = {name: options.pop(name, None) for name in _FURTHER}
    if threshold is None and requested["promise"]:
        raise DataError("--promise needs the threshold that it is about: --threshold T")
    if threshold is not None and requested["assure"] is not None:
        raise click.UsageError("--assure chooses a threshold: leave it out, or --threshold")
    saved = list(filter(_is_saved, data))  # the worst pairs among them have images
    if (images or images_root) and not saved and not any(map(requested.get, _WITH_IMAGES)):
        raise click.UsageError("--images needs --worst N or --explain or --check")
    folder = image_folder(images_root, data[0])
    for name in filter(requested.get, _OF_SCORES if saved else ()):
        raise click.UsageError(in_options(f"`{name}` needs scores; {saved[0]} holds results"))
    read: dict[str, Scores] = {}
    as_read: dict[str, Scores] = {}  # before they were in use
    saved_results: list[Any] = []
    for i, (file, name) in enumerate(zip(data, _names(data, names), strict=True)):
        if _is_saved(file):
            run.files.append(file)
            tree = read_results(file, _RESULTS)
            tree = _with(
                tree, _workload(tree, Opens.from_results(tree, threshold), requested["workload"])
            )
            # Without a name of the user, it says whose results it has.
            saved_results.append({name: tree} if i < len(names) else tree)
        else:
            of_file, in_use, _ = run.read_system(file, name=name)
            require_images(of_file, images)
            as_read[str(of_file.name)], read[str(of_file.name)] = of_file, in_use
    # The comparisons that the card evaluates.
    under_card = {name: _compared(scores, options["protocol"]) for name, scores in read.items()}
    rows: list[Any] = []
    evaluated: dict[str, Any] = {}
    for name, scores in read.items():
        extra_thresholds = [] if threshold is None else [threshold]
        results = _evaluated(scores, options, extra_thresholds, run)
        opens = None
        if extra_thresholds or "verification" in results.children:
            opens = Opens.from_results(results, threshold)
        if threshold is None:
            further = _study(under_card[name], opens, requested, run)
        else:
            further = _promise(under_card[name], threshold, requested["promise"], run)
        for study in further.values():
            promised = float(study.get("assured_threshold", math.nan))
            if math.isfinite(promised):  # the answer of the page, whose rates are counted
                results = _evaluated(scores, options, [promised], run)
                opens = Opens(promised, repr(promised))
        rule = None if opens is None else opens.rule
        further |= _studies(under_card[name], rule, requested, run)
        further |= _workload(results, opens, requested["workload"])
        rows += _rows(scores, as_read[name], rule, requested, options, run)
        evaluated[name] = _with(results, further)
    if len(read) > 1:
        not_shared = differences(read)
        for name, text in not_shared.items():
            for node in evaluated[name].leaves:
                node.attrs[NOT_SHARED] = text
        if not saved_results:
            evaluated |= _comparison(under_card, options, run)
    contents = [evaluated, *saved_results, *rows]
    doubts = list(map(written, doubts_of_systems(PageResults.collected(contents).nodes)))
    page_options = {
        "threshold": threshold,
        "title": title,
        "images": images,
        "image_folder": folder,
    }
    run.remark(*(f"bioeval: warning: {line}" for line in doubts))
    run.write_page(contents, **page_options)


def _promise(
    scores: Scores, threshold: float, promises: tuple[str, ...] | None, run: Run
) -> dict[str, Any]:
    if not promises:
        return {}
    from bioeval.studies.assurance.promise import check_promise

    run.stages("checking the promise")
    checked = check_promise(scores, threshold, promises, confidence=run.settings["confidence"])
    fail_if_refuted(run, checked)
    return {"promise": checked}


def _study(
    scores: Scores, opens: Opens | None, requested: dict[str, Any], run: Run
) -> dict[str, Any]:
    """Return the study of the rule of the threshold that the page opens with, by its name."""
    if requested["folds"] <= 1 or opens is None:
        return {}
    from bioeval.studies.thresholds.threshold_study import study_threshold

    run.stages("trying the threshold on other people")
    study_options: dict[str, Any] = {
        "folds": None if scores.layout == "pairs" else requested["folds"]
    }
    study_options |= {"random_state": run.settings["random_state"], "assure": requested["assure"]}
    try:
        return {"threshold_study": study_threshold(scores, opens.rule, **study_options)}
    except BioevalError:
        if requested["assure"] is not None:  # else the page says that it was not estimated
            raise
    return {}


def _studies(
    scores: Scores, target: str | None, requested: dict[str, Any], run: Run
) -> dict[str, xr.Dataset]:
    """Return further results of a system by name, at the threshold that the page opens with."""
    results: dict[str, xr.Dataset] = {}
    if requested["worst"] is not None:
        from bioeval.studies.worst_pairs.worst_pairs import worst_pairs

        run.stages("listing the worst pairs")
        results["worst_pairs"] = worst_pairs(scores, requested["worst"])
    if requested["zoo"]:
        from bioeval.studies.zoo.zoo import zoo

        run.stages("evaluating each subject")
        seed = run.settings["random_state"]
        results["zoo"] = zoo(scores, threshold=target or "eer", random_state=seed)
    return results


def _workload(results: xr.DataTree, opens: Opens | None, use: Any) -> dict[str, xr.Dataset]:
    """Return the errors of a day at the threshold; empty if `use` is None."""
    if use is None:
        return {}
    from bioeval.studies.planning.workload import workload

    task = next((name for name in TASKS if f"/{name}" in results.groups), None)
    if task is None or opens is None:
        raise DataError(
            "--workload needs FAR and FRR at a threshold: verification or open-set identification"
        )
    return {"workload": workload(results[task].to_dataset(), **use, threshold=opens.threshold)}


def _rows(
    scores: Scores,
    as_read: Scores,
    target: str | None,
    requested: dict[str, Any],
    options: dict[str, Any],
    run: Run,
) -> Iterator[dict[str, Any]]:
    """Yield the check of the data and the explained rows, by name."""
    if requested["check"]:
        from bioeval.studies.check.check_data import check_data

        run.stages("checking the data")
        claims = scores if scores.claims else None
        check_options: dict[str, Any] = {"threshold": target or "far=0.001"}
        check_options["far_targets"] = options.get("far_targets")
        yield {"": check_data(as_read, options["protocol"], claims=claims, **check_options)}
    for probe in requested["probe"] or ():
        from bioeval.studies.explain.explain import explain

        run.stages(f"explaining {probe}")
        row = explain(scores, probe, threshold=target, protocol=options["protocol"])
        yield {f"{scores.name}, probe {probe}": row}


def _comparison(
    systems: Mapping[str, Scores], evaluation_options: Mapping[str, Any], run: Run
) -> dict[str, xr.Dataset]:
    """Return the comparison of the systems by its name.

    Empty where the systems cannot be compared, for example because their attempts differ; the
    page says so.
    """
    from bioeval.studies.compare.compare import compare
    from bioeval.tasks.plan import resolve_card

    options = {
        name: evaluation_options[name]
        for name in ("far_targets", "frr_targets")
        if name in evaluation_options
    }
    card = resolve_card(next(iter(systems.values())), evaluation_options["protocol"])
    if {*card.tasks} == {"gom"}:
        return {}
    protocol = card if card.reid is not None else None
    try:
        run.stages("comparing the systems")
        limits = run.interval("people")
        compared = compare(systems, protocol=protocol, interval=limits, **options)
        return {f"{len(systems)} systems": compared}
    except BioevalError:
        return {}


def _names(data: tuple[str, ...], given: tuple[str, ...]) -> list[str]:
    """Return the names of the systems: `given`, then the names or paths of the other files."""
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


def _with(results: xr.DataTree, further: Mapping[str, Any]) -> xr.DataTree:
    """Return results with further datasets or trees as children."""
    tree = type(results)
    nodes = {name: x if isinstance(x, tree) else tree(x) for name, x in further.items()}
    return results.assign(nodes)


def _compared(scores: Scores, protocol: Any) -> Scores:
    from bioeval.tasks.plan import compared

    return scores if scores.layout == "top-k" else compared(scores, protocol)


def _evaluated(
    scores: Scores, evaluation_options: Mapping[str, Any], extra_thresholds: list[float], run: Run
) -> xr.DataTree:
    """Return the results of the tasks of the card, also at `extra_thresholds`.

    All tasks of a system share their thresholds.
    """
    from bioeval.evaluation import evaluate
    from bioeval.tasks.plan import resolve_card

    options = {"interval": None, **evaluation_options}
    protocol, method = options.pop("protocol"), options.pop("interval")
    run.stages("counting")
    limits = None
    if method != "none" and (method or not resolve_card(scores, protocol).has_folds):
        limits = run.interval_for(scores, method)
    tree = evaluate(scores, protocol, interval=limits, extra_thresholds=extra_thresholds, **options)
    require_rates(tree, scores, protocol, "thresholds" in options)
    return tree
