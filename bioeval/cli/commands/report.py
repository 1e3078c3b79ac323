"""``bioeval report``: one HTML page with the answer, the rates at a threshold, and curves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import BioevalError, DataError, counted
from bioeval.cli.arguments import SCORE, at_least
from bioeval.cli.command import in_options, option, option_group
from bioeval.cli.commands.threshold import fail_if_refuted
from bioeval.cli.shared import (
    ASSURE,
    EVALUATED,
    rates,
    shared,
)
from bioeval.cli.signatures import option_of
from bioeval.cli.undefined import require_rates

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Run
    from bioeval.page.threshold import PageThreshold
    from bioeval.scores.matrix import Scores

# The kind of file that results are read from.
_RESULTS = "results of a command of bioeval"

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
    option("--title TEXT", "Title of the page.  [names of the systems]", str, ""),
    option(
        "--images NAME",
        "Metadata column of the image files; the page shows pictures of the worst pairs and of "
        "explained rows. The faces of `bioeval example faces` are shown without it.",
    ),
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
) -> None:
    """Evaluate DATA and write one HTML page that needs no network or other file.

    bioeval report scores.npz --out report.html --check --zoo
    bioeval report old.npz new.npz --out both.html
    bioeval report scores.npz --threshold 3.61 --promise far=1% --out door.html

    DATA are files as `bioeval run` reads them, one per system, or what commands wrote with --out:
    their folders, or the results.nc in these.
    The page has the answer, the rates at a threshold, the DET and the worst pairs; folded, the
    tables of all results, plots, and the origin of the page.
    """
    import xarray as xr

    from bioeval.base.files import unchanged
    from bioeval.page.threshold import NOT_SHARED, PageResults, doubts_of_systems
    from bioeval.scores.alignment import differences
    from bioeval.scores.formats.tables import existing_file, guarded
    from bioeval.showing.numbers import written
    from bioeval.showing.rows import with_asked_thresholds

    if len(names) > len(data):
        raise click.UsageError(f"{counted(len(names), 'names')} for {counted(len(data), 'files')}")
    requested = {name: options.pop(name, None) for name in _FURTHER}
    _require_consistent(data, threshold, requested, gives_images=bool(images or images_root))
    if images_root is not None and not Path(images_root).is_dir():
        raise DataError(
            f"{images_root}: no such folder; --images-root expects the folder of the images"
        )
    systems: dict[str, _SystemOfPage] = {}
    saved_results: list[Any] = []
    for i, (file, name) in enumerate(zip(data, _names(data, names), strict=True)):
        if _is_saved(file):
            run.files.append(file)
            path = Path(file)
            path = path / "results.nc" if path.is_dir() else path
            with unchanged():
                existing_file(path, _RESULTS)
                # Numbers of days or seconds stay numbers: some versions of xarray convert them.
                with (
                    guarded(path, expected=_RESULTS),
                    xr.open_datatree(path, engine="h5netcdf", decode_timedelta=False) as opened,
                ):
                    tree = opened.load()
            # Without a name of the user, the results themselves name their system.
            saved_results.append({name: tree} if i < len(names) else tree)
        else:
            as_read, in_use = run.read_system(file, name=name)
            if images and as_read.layout != "pairs":
                columns = [*dict.fromkeys([*as_read.probe_meta, *as_read.gallery_meta])]
                if images not in columns:
                    have = f"it has {', '.join(columns)}" if columns else "it has none"
                    raise DataError(
                        f"{as_read.name}: no metadata column {images!r} of images; {have}"
                    )
            systems[str(as_read.name)] = _SystemOfPage(run, as_read, in_use, options, requested)
    rows: list[Any] = []
    evaluated: dict[str, Any] = {}
    for name, system in systems.items():
        evaluated[name], rows_of_system = system.results(threshold)
        rows += rows_of_system
    if threshold is not None:
        run.refuse_outside(with_asked_thresholds(x, [threshold]) for x in evaluated.values())
    if len(systems) > 1:
        not_shared = differences({name: system.in_use for name, system in systems.items()})
        for name, text in not_shared.items():
            for node in evaluated[name].leaves:
                node.attrs[NOT_SHARED] = text
        if not saved_results:
            under_card = {name: system.under_card for name, system in systems.items()}
            evaluated |= _comparison(under_card, options, run)
    contents = [evaluated, *saved_results, *rows]
    doubts = map(written, doubts_of_systems(PageResults.collected(contents).nodes))
    run.remark(*(f"bioeval: warning: {line}" for line in doubts))
    folder = Path(data[0]).parent if images_root is None else Path(images_root)
    of_images: dict[str, Any] = {"images": images, "image_folder": folder}
    run.write_page(contents, threshold=threshold, title=title, **of_images)


def _require_consistent(
    data: tuple[str, ...],
    threshold: float | None,
    requested: Mapping[str, Any],
    *,
    gives_images: bool,
) -> None:
    """Raise the error of an option that lacks another option, or the data that it needs."""
    if threshold is None and requested["promise"]:
        raise DataError("--promise needs the threshold that it is about: --threshold T")
    if threshold is not None and requested["assure"] is not None:
        raise click.UsageError("--assure chooses a threshold: leave it out, or --threshold")
    saved = list(filter(_is_saved, data))  # their worst pairs may have images
    if gives_images and not saved and not any(map(requested.get, _WITH_IMAGES)):
        raise click.UsageError("--images needs --worst N or --explain")
    needing_scores = list(filter(requested.get, _OF_SCORES))
    if saved and needing_scores:
        text = f"`{needing_scores[0]}` needs scores; {saved[0]} holds results"
        raise click.UsageError(in_options(text))


@dataclass(frozen=True)
class _SystemOfPage:
    """A system whose scores are evaluated for a page."""

    run: Run
    as_read: Scores
    in_use: Scores  # the scores of its claims
    options: Mapping[str, Any]  # options of the evaluation
    requested: Mapping[str, Any]  # the values of `_FURTHER`

    @cached_property
    def under_card(self) -> Scores:
        from bioeval.tasks.card_scores import compared

        scores = self.in_use
        return scores if scores.layout == "top-k" else compared(scores, self.options["protocol"])

    def results(self, threshold: float | None) -> tuple[xr.DataTree, list[dict[str, Any]]]:
        """Return the results for a page at a threshold, and rows and checks by name."""
        from bioeval.page.threshold import PageThreshold
        from bioeval.showing.numbers import written
        from bioeval.showing.text import threshold_of

        tree = self._evaluated([] if threshold is None else [threshold])
        opens = None
        if threshold is not None or "verification" in tree.children:
            opens = PageThreshold.from_results(tree, threshold)
        if threshold is not None:
            further = self._checked_promise(threshold)
        else:
            further = self._threshold_study(opens)
            assured = math.nan
            if "threshold_study" in further:
                assured = float(further["threshold_study"].get("assured_threshold", math.nan))
            if math.isfinite(assured):
                # The assured threshold is the answer of the page: its rates are counted, too. The
                # further results are at the number that is printed, which decides alike.
                tree = self._evaluated([assured])
                exact = threshold_of(further["threshold_study"].to_dataset(), "assured_threshold")
                opens = PageThreshold(exact, written(exact))
        rule = None if opens is None else opens.rule
        results: dict[str, xr.Dataset] = {}
        if self.requested["worst"] is not None:
            from bioeval.studies.worst_pairs import worst_pairs

            self.run.stages("listing the worst pairs")
            results["worst_pairs"] = worst_pairs(self.under_card, self.requested["worst"])
        if self.requested["zoo"]:
            from bioeval.studies.zoo import zoo

            self.run.stages("evaluating each subject")
            seed = self.run.settings["random_state"]
            results["zoo"] = zoo(self.under_card, threshold=rule or "eer", random_state=seed)
        further |= results
        return _with(tree, further), list(self._check_and_explanations(rule))

    def _evaluated(self, extra_thresholds: list[float]) -> xr.DataTree:
        from bioeval.evaluation import evaluate
        from bioeval.tasks.card_scores import resolve_card

        options = {"interval": None, **self.options}
        protocol = options.pop("protocol")
        method = options.pop("interval")
        self.run.stages("counting")
        limits = None
        if method != "none" and (method or not resolve_card(self.in_use, protocol).has_folds):
            limits = self.run.interval_for(self.in_use, method)
        options |= {"interval": limits, "extra_thresholds": extra_thresholds}
        tree = evaluate(self.in_use, protocol, **options)
        require_rates(tree, self.in_use, protocol, "thresholds" in options)
        return tree

    def _checked_promise(self, threshold: float) -> dict[str, Any]:
        if not self.requested["promise"]:
            return {}
        from bioeval.studies.assurance import check_promise

        self.run.stages("checking the promise")
        settings = {name: self.run.settings[name] for name in ("confidence", "unit")}
        checked = check_promise(self.under_card, threshold, self.requested["promise"], **settings)
        fail_if_refuted(self.run, checked)
        return {"promise": checked}

    def _threshold_study(self, opens: PageThreshold | None) -> dict[str, Any]:
        """Return the study of the rule behind the threshold of the page, by its name.

        Empty without folds, without such a threshold, or if the study fails and no threshold is
        to be assured; the page says then that the rates of new people were not estimated.
        """
        scores = self.under_card
        folds = self.requested["folds"]
        assure = self.requested["assure"]
        if folds <= 1 or opens is None:
            return {}
        from bioeval.studies.threshold_study import study_threshold

        self.run.stages("trying the threshold on other people")
        folds = None if scores.layout == "pairs" else folds
        settings: dict[str, Any] = {"folds": folds, "assure": assure}
        settings["random_state"] = self.run.settings["random_state"]
        try:
            return {"threshold_study": study_threshold(scores, opens.rule, **settings)}
        except BioevalError:
            if assure is not None:
                raise
        return {}

    def _check_and_explanations(self, rule: str | None) -> Iterator[dict[str, Any]]:
        protocol = self.options["protocol"]
        if self.requested["check"]:
            from bioeval.studies.check import check_data

            self.run.stages("checking the data")
            far_targets = self.options.get("far_targets")
            claims = self.in_use if self.in_use.claims else None
            checked = check_data(self.as_read, protocol, far_targets=far_targets, claims=claims)
            yield {"": checked}
        for probe in self.requested["probe"] or ():
            from bioeval.studies.explain import explain

            self.run.stages(f"explaining {probe}")
            row = explain(self.in_use, probe, threshold=rule, protocol=protocol)
            yield {f"{self.in_use.name}, probe {probe}": row}


def _comparison(
    systems: Mapping[str, Scores], options: Mapping[str, Any], run: Run
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
    protocol = card if card.reid is not None else None
    try:
        run.stages("comparing the systems")
        limits = run.interval("people")
        compared = compare(systems, protocol=protocol, interval=limits, **targets)
        return {f"{len(systems)} systems": compared}
    except BioevalError:
        return {}


def _names(data: tuple[str, ...], given: tuple[str, ...]) -> list[str]:
    stems = [Path(file).stem for file in data]
    names = [y if stems.count(y) == 1 else x for x, y in zip(data, stems, strict=True)]
    return [*given, *names[len(given) :]]


def _is_saved(file: str) -> bool:
    """Whether a file, or the folder of a command, has saved results, and no scores."""
    path = Path(file)
    return path.suffix.lower() == ".nc" or (path / "results.nc").is_file()


def _with(results: xr.DataTree, further: Mapping[str, Any]) -> xr.DataTree:
    tree = type(results)
    nodes = {name: x if isinstance(x, tree) else tree(x) for name, x in further.items()}
    return results.assign(nodes)
