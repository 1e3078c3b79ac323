"""``bioeval threshold``: which threshold to install, and what to expect of it."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from bioeval import BioevalError, DataError
from bioeval.base import Argument
from bioeval.cli import (
    Command,
    MoreResults,
    StudyCommand,
    Value,
    option,
    output_options,
    require_assure,
    shared_options,
)

if TYPE_CHECKING:
    import xarray as xr

    from bioeval import Scores
    from bioeval.cli import Target


class RatesOnNewPeople(MoreResults):
    """The threshold to install, and its rates on new people, from folds of subjects.

    Without --threshold-study the threshold is the one that a page opens with.
    """

    add_options = (
        option(
            "--threshold-study RULE",
            "Answer with the threshold to install by this rule, as bioeval threshold does: eer, "
            "far=X, frr=X, hter, accuracy, cost=P,M,A or fixed=T. All figures are given there.",
            Value.TARGET,
        ),
        shared_options(assure="With --threshold-study far=X: choose a threshold"),
        option(
            "--folds N",
            "Folds of subjects, for the rates to expect for new subjects; 0 leaves them out.",
            click.IntRange(0),
            10,
        ),
    )

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._folds: int = options.pop("folds")
        self._rule = options.pop("threshold_study")
        require_assure(options)
        self._promise = {name: options.pop(name) for name in ("assure", "assurance")}
        self.of_scores = "--threshold-study" if self._rule is not None else ""
        self._studies: dict[str, xr.Dataset] = {}

    def require(self, files: Sequence[str]) -> None:
        """Raise unless the options go together."""
        if self._rule is None and self._promise["assure"] is not None:
            raise click.UsageError("--assure needs --threshold-study far=X")
        if self._rule is not None and self._folds <= 1:
            raise click.UsageError("--threshold-study needs --folds 2 or more")

    def threshold(self, scores: Scores) -> float | None:
        """Return the threshold to install by the rule that was given, assured if it can be."""
        if self._rule is None:
            return None
        study = self._study(scores, self._rule, **self._promise)
        self._studies[str(scores.name)] = study
        for name in ("assured_threshold", "threshold"):
            if name in study and math.isfinite(study[name].item()):
                return float(study[name].item())
        return None

    def of_system(self, scores: Scores, target: Target) -> dict[str, xr.Dataset]:
        """Return the study of the threshold; nothing where there are too few people."""
        if str(scores.name) in self._studies:
            return {"threshold_study": self._studies[str(scores.name)]}
        if self._folds <= 1 or target is None:
            return {}
        try:
            return {"threshold_study": self._study(scores, target)}
        except BioevalError:
            return {}  # the page says that it was not estimated

    def _study(self, scores: Scores, target: Any, **promise: Any) -> xr.Dataset:
        """Return the study of a rule."""
        from bioeval.studies.thresholds.threshold_study import study_threshold

        self.stages("trying the threshold on other people")
        return study_threshold(
            scores,
            target,
            folds=None if scores.layout == "pairs" else self._folds,
            random_state=self.options["random_state"],
            progress=self.stages.counting,
            **promise,
            **self.place,
        )


@click.command("threshold", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@option(
    "--target TARGET", "Rule for choosing the threshold; see Details.", Value.TARGET, "far=0.001"
)
@option(
    "--task",
    "Verification, or searches of a gallery by enrolled and unenrolled subjects (open_set).",
    ["verification", "open_set"],
    "verification",
)
@option(
    "--folds N", "Number of folds of subjects.  [10, or the folds of the pairs]", click.IntRange(2)
)
@option("--repeats N", "Number of random divisions into folds.  [20]", click.IntRange(1))
@shared_options(assure="Choose a threshold")
@option("--new-gallery", "With --assure: hold for other galleries too.", bool)
@option("--at T", "With --claim: threshold that was fixed beforehand.", float, name="threshold")
@option("--claim RATE", "Test whether the data show far=X or frr=X at the threshold --at.")
@option(
    "--looks K",
    "With --claim: how often it will be looked at as data grow, at most; planned before.  [1]",
    click.IntRange(1),
)
@option(
    "--previous RESULT",
    "With --claim: folder or results.nc of an earlier look; may be repeated.",
    multiple=True,
)
@option(
    "--extrapolate",
    "Also estimate by a model the threshold of a FAR too small for the number of subjects.",
    bool,
)
@shared_options(templates=True, fusion=True, use=True)
@option(
    "--rank-unit",
    "With --task open_set: rank templates, or subjects by their fused score.",
    ["template", "subject"],
    "template",
)
@output_options("results.nc, summary.json, table.txt, CSV files and a plot")
@shared_options(interval=True, name=True, reading=True, workers=True, checkpoint=True)
def command(data: str, target: str, **options: Any) -> None:
    """Choose a threshold for DATA, and estimate FAR and FRR for new subjects.

    The threshold is chosen on all data. FAR and FRR are estimated in repeated folds: a threshold is
    chosen on some of the subjects and evaluated on the others.

    TARGET is one of
      far=0.001        the smallest FRR with FAR at most 0.001
      eer              the equal error rate
      frr=X            the smallest FAR with FRR at most X
      hter, accuracy   the smallest (FAR + FRR) / 2, the largest accuracy
      cost=P,M,A       the least cost: P prior of a genuine attempt, M of a miss,
                       A of a false accept
      fixed=T          the threshold T itself
    """
    if options["threshold"] is not None or options["claim"] is not None:
        _check_claim(data, options)
        return
    for name in ("threshold", "claim", "looks", "previous"):
        if options.pop(name):
            raise click.UsageError(f"--{name} is for a claim: give --at T and --claim far=X too")
    extrapolate, files_read = options.pop("extrapolate"), [data, options.get("second")]
    with StudyCommand(data, options) as run:
        if extrapolate:
            _require_far(target, run.options["task"])
        import xarray as xr

        from bioeval.studies.thresholds.threshold_study import study_threshold

        scores = run.read()
        run.stages("counting")
        run.place(scores)
        study = run.count(study_threshold, scores, target, **run.options)
        study = run.with_doubts(study, scores)
        run.require_defined([study["optimistic_far"], study["optimistic_frr"]], [scores])
        document, csv = run.data_of(study)
        shown = {"": run.in_terms(study)}
        results: Any = study
        if extrapolate:
            model = _extrapolated(scores, target, run)
            document["extrapolated"], tables = run.data_of(model)
            csv |= tables
            shown["extrapolated_far"] = run.in_terms(model)
            results = xr.DataTree(study, children={"extrapolated_far": xr.DataTree(model)})
        run.save(document, results, run.table(shown), csv=csv, drawn=[*shown.values()])
        if run.output.page is not None:
            results = _with_curves(results, scores, run)
            run.output.write_page({scores.name: run.in_terms(results)}, files_read, run.stages)


def _check_claim(data: str, options: dict[str, Any]) -> None:
    """Say whether the data show, refute or leave open a claim."""
    at, claim = options.pop("threshold"), options.pop("claim")
    if at is None or claim is None:
        raise DataError(
            "--at T and --claim far=X must be given together: a threshold and its claim"
        )
    if options.pop("task") != "verification":
        raise DataError("--claim is of comparisons; leave out --task open_set")
    for name in ("folds", "repeats", "assure", "target", "extrapolate", "rank_unit"):
        options.pop(name, None)
    for name in ("replicates", "random_state"):
        options.pop(name, None)  # nothing is drawn
    with StudyCommand(data, options) as run:
        from bioeval.studies.assurance.assured import check_claim
        from bioeval.tallies import Rule

        rule = Rule.parse(claim, "claim")
        if rule.name not in ("far", "frr"):
            raise DataError(f"--claim is {claim}; expected far=X or frr=X")
        dataset = run.count(
            check_claim, run.read(), at, **{rule.name: rule.values[0]}, **run.options
        )
        run.finish(dataset)


def _with_curves(study: xr.Dataset | xr.DataTree, scores: Scores, run: StudyCommand) -> xr.DataTree:
    """Return a study and the task whose curves a page shows beside it, at its thresholds too."""
    import numpy as np
    import xarray as xr

    options = run.options
    if options["task"] == "open_set":
        from bioeval import open_set
        from bioeval.scores import Enrolment

        scores = Enrolment.parse(options.get("enrol")).applied(scores)
        task = "open_set"
        counted = functools.partial(
            open_set,
            scores,
            rank_unit=options["rank_unit"],
            fusion=options["fusion"],
            impostors="unenrolled",
            progress=run.stages.counting,
        )
    else:
        from bioeval import verification

        task = f"verification/{options['templates']}"
        counted = functools.partial(
            verification,
            scores,
            templates=options["templates"],
            fusion=options["fusion"],
            attempts=options.get("attempts"),
            enrol=options.get("enrol"),
            progress=run.stages.counting,
        )
    extrapolated = {}
    if isinstance(study, xr.DataTree):
        extrapolated["extrapolated_far"] = study["extrapolated_far"].to_dataset()
        study = study.to_dataset()
    names = {"threshold", "assured_threshold"} & set(study.data_vars)
    chosen = np.array([float(study[name]) for name in names])
    chosen = chosen[np.isfinite(chosen)]
    curves = counted()
    if not np.isin(chosen, curves["threshold"].values).all():
        curves = counted(thresholds=np.union1d(curves["threshold"].values, chosen))
    return xr.DataTree.from_dict({task: curves, **extrapolated, "threshold_study": study})


def _require_far(target: str, task: str) -> None:
    """Raise :class:`DataError` unless a target is a FAR to extrapolate to."""
    from bioeval.tallies import Rule

    if task != "verification":
        raise DataError(Argument("extrapolate"), f" is for the FAR of verification, not {task}")
    rule = Rule.parse(target, "target")
    if rule.name != "far" or not rule.values[0]:
        raise DataError(
            Argument("target"),
            f" is {rule}; ",
            Argument("extrapolate"),
            " is for a FAR, such as far=1e-4",
        )


def _extrapolated(scores: Scores, target: str, run: StudyCommand) -> xr.Dataset:
    """Return the threshold of a model, and its FAR."""
    from bioeval.studies.thresholds.extrapolated_far import extrapolate_far

    passed = {k: run.options[k] for k in ("confidence", "templates", "fusion") if k in run.options}
    return extrapolate_far(scores, target, **passed, progress=run.stages.counting)
