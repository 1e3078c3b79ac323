"""``bioeval threshold``: which threshold to install, and what to expect of it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import BioevalError, DataError
from bioeval.cli.arguments import Value, at_least
from bioeval.cli.calls import options_of
from bioeval.cli.command import Command, option
from bioeval.cli.options import shared_options, take_interval
from bioeval.cli.outputs import MoreResults
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.scores.matrix import Scores


#: Options that a threshold judged on another set does not take.
_NOT_WITH_ON = {
    "folds": "--folds",
    "repeats": "--repeats",
    "assure": "--assure",
    "threshold": "--threshold",
    "claim": "--claim",
}


class RatesOnNewPeople(MoreResults):
    """The rates of the threshold that a page opens with on new people, from folds of subjects."""

    add_options = (
        option(
            "--folds N",
            "Folds for the rates of new subjects; 0: none.",
            at_least(0),
            10,
        ),
    )

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self._folds: int = options.pop("folds")

    def of_system(self, scores: Scores, target: str | None) -> dict[str, xr.Dataset]:
        """Return the study of the threshold; nothing where there are too few people."""
        if self._folds <= 1 or target is None:
            return {}
        from bioeval.studies.thresholds.threshold_study import study_threshold

        self.stages("trying the threshold on other people")
        try:
            study = study_threshold(
                scores,
                target,
                folds=None if scores.layout == "pairs" else self._folds,
                random_state=self.options["random_state"],
            )
        except BioevalError:
            return {}  # the page says that it was not estimated
        return {"threshold_study": study}


@click.command("threshold", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@option(
    "--on SCORES [TRIALS]",
    "Choose the threshold on DATA, and count its errors on this set.",
    Value.FILES,
)
@options_of("study_threshold", "target", "task", "folds", "repeats", "assure")
@option(
    "--threshold T",
    "With --claim: the threshold that it is about.",
    float,
)
@option("--claim RATE", "Test whether the data show far=X or frr=X at --threshold.")
@options_of("study_threshold", "rank_unit")
@shared_options(use=True, interval=True, plots=True)
def command(data: str, **options: Any) -> None:
    """Choose a threshold for DATA, and estimate FAR and FRR for new subjects.

    The threshold is chosen on all data. FAR and FRR are estimated in repeated folds: a threshold is
    chosen on some of the subjects and evaluated on the others.

    With --on, the threshold is chosen on DATA alone, and its errors are counted on another set,
    with their intervals. Both are read as by `bioeval run`; options for reading apply to both.

    TARGET is a number, the threshold itself, or one of
      far=0.001        the smallest FRR with FAR at most 0.001
      eer              the equal error rate
      frr=X            the smallest FAR with FRR at most X
      hter, accuracy   the smallest (FAR + FRR) / 2, the largest accuracy
      min-dcf=P        the least cost at prior P: the threshold of minDCF
      cost=P,M,A       the least cost: P prior of a genuine attempt, M of a miss,
                       A of a false accept
    """
    target = options["target"]
    if options["on"] is not None:
        _judge(data, options)
        return
    del options["on"]
    if options["claim"] is not None:
        _check_claim(data, options)
        return
    if options["threshold"] is not None:
        raise click.UsageError("--threshold is for a claim: give --claim far=X too")
    for name in ("threshold", "claim", "target"):
        del options[name]
    files_read = [data, options.get("second")]
    seed = options["random_state"]
    take_interval(options, "subject-bootstrap")
    options["random_state"] = seed  # of the folds, too
    with StudyCommand(data, options) as run:
        from bioeval.studies.thresholds.threshold_study import study_threshold

        if run.options["task"] == "open_set":  # whose subjects are ranked
            run.options["fusion"] = run.use.pop("fusion", "min")
        scores = run.read()
        run.stages("counting")
        study = run.count(study_threshold, scores, target, **run.options)
        run.require_defined([study["optimistic_far"], study["optimistic_frr"]], [scores])
        document, csv = run.data_of(study)
        shown = run.in_terms(study)
        run.save(document, study, run.table(shown), csv=csv, drawn=[shown])
        if run.output.page is not None:
            results = _with_curves(study, scores, run)
            run.output.write_page({scores.name: run.in_terms(results)}, files_read, run.stages)


def _judge(data: str, options: dict[str, Any]) -> None:
    """Choose a threshold on the data, and print its errors on another set."""
    files, target = options.pop("on"), options.pop("target")
    if options.pop("task") != "verification":
        raise click.UsageError("--on is of verification; leave out --task open_set")
    for name, word in _NOT_WITH_ON.items():
        if options.pop(name):
            raise click.UsageError(f"{word} is not for a threshold that is judged --on other data")
    options.pop("rank_unit")
    second = options.get("second")
    with StudyCommand(data, options) as run:
        from bioeval.studies.thresholds.judged_threshold import judge_threshold

        development = run.read()
        test = run.read_set(files)
        take_interval(run.options, run.interval_for(test, None))
        judged = run.count(judge_threshold, development, test, target, **run.options)
        run.require_defined([judged["far"], judged["frr"]], [test])
        run.finish(
            judged,
            more={"file": files[0], "dev": data},
            files=list(filter(None, [data, second, *files])),
        )


def _check_claim(data: str, options: dict[str, Any]) -> None:
    """Say whether the data show, refute or leave open a claim."""
    at, claim = options.pop("threshold"), options.pop("claim")
    if at is None:
        raise DataError("--claim needs the threshold that it is about: --threshold T")
    if options.pop("task") != "verification":
        raise DataError("--claim is of comparisons; leave out --task open_set")
    for name in ("folds", "repeats", "assure", "target", "rank_unit"):
        options.pop(name, None)
    for name in ("replicates", "random_state"):
        options.pop(name, None)  # nothing is drawn
    with StudyCommand(data, options) as run:
        from bioeval.attempts.threshold_rules import Rule
        from bioeval.studies.assurance.claim import check_claim

        rule = Rule.parse(claim, "claim")
        if rule.name not in ("far", "frr"):
            raise DataError(f"--claim is {claim}; expected far=X or frr=X")
        dataset = run.count(
            check_claim, run.read(), at, **{rule.name: rule.values[0]}, **run.options
        )
        run.finish(dataset)


def _with_curves(study: xr.Dataset, scores: Scores, run: StudyCommand) -> xr.DataTree:
    """Return a study and the task whose curves a page shows beside it, at its thresholds too."""
    import numpy as np
    import xarray as xr

    options = run.options
    if options["task"] == "open_set":
        from bioeval.tasks.identification import open_set

        task = "open_set"
        counted = functools.partial(
            open_set,
            scores,
            rank_unit=options["rank_unit"],
            fusion=options["fusion"],
            impostors="unenrolled",
        )
    else:
        from bioeval.tasks.verification_task import verification

        task = "verification/single"
        counted = functools.partial(verification, scores)
    names = {"threshold", "assured_threshold"} & set(study.data_vars)
    chosen = np.array([float(study[name]) for name in names])
    chosen = chosen[np.isfinite(chosen)]
    curves = counted()
    if not np.isin(chosen, curves["threshold"].values).all():
        curves = counted(thresholds=np.union1d(curves["threshold"].values, chosen))
    return xr.DataTree.from_dict({task: curves, "threshold_study": study})
