"""``bioeval threshold``: which threshold to install, and what to expect of it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.arguments import RATE, TARGET
from bioeval.cli.command import option
from bioeval.cli.shared import ASSURE, DATA, TRIES, rule_of, shared
from bioeval.cli.undefined import require_defined

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Run
    from bioeval.scores.matrix import Scores


@DATA
@option(
    "--on FILE",
    "Choose the threshold on DATA, and count its errors on this set; repeated: on its trials.",
    multiple=True,
)
@option("--far X", "The smallest FRR with FAR at most X: the same as --target far=X.", RATE)
@option(
    "--target T|RULE",
    "Rule that chooses the threshold: eer, far=X, frr=X, hter, accuracy, min-dcf=P, cost=P,M,A.",
    TARGET,
    "far=0.001",
)
@option(
    "--task",
    "Verification, or searches of a gallery (open_set).",
    ["verification", "open_set"],
    "verification",
)
@option(
    "--folds N",
    "Folds of subjects; by default those of the pairs, or else 10, or as many as have two "
    "subjects each.",
    int,
)
@option("--repeats N", "Number of random divisions into folds; 20 by default.", int)
@ASSURE
@option("--threshold T", "The threshold of --promise and of --tries.", float)
@option("--promise RATE", "Promise to be shown: far=X or frr=X; repeatable.", multiple=True)
@option(
    "--rank-unit",
    "Whether to rank templates, or subjects by their fused score.",
    ["template", "subject"],
    "template",
)
@TRIES
@shared(use=True, interval=True, plots=True, fails=("far@part=test > 2%", "open"))
def threshold_command(
    run: Run,
    data: str,
    target: str,
    on: tuple[str, ...] = (),
    second: str | None = None,
    far: float | None = None,
    **options: Any,
) -> None:
    """Choose a threshold for DATA, and estimate FAR and FRR for new subjects.

    bioeval threshold scores.npz --far 0.1% --assure 0.95
    bioeval threshold train.npz --far 1% --on test.npz
    bioeval threshold others.npz --threshold 3.61 --promise far=1%

    The threshold is chosen on all data. FAR and FRR are estimated in repeated folds: a threshold is
    chosen on some of the subjects and evaluated on the others.

    A promise that the data refute ends with exit code 1, as what --fail-if says does; with
    --fail-if open a promise that they leave open does, too.

    With --threshold T --tries K, FAR and FRR of claims with 1 to K tries are estimated, from the
    pooled tries of all visits; with --promise, those of K tries are tested.

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
    target = rule_of(far, "target", target)
    if on:
        _refuse_with("on", options, "folds", "repeats", "assure", "threshold", "promise", "tries")
        _judge(run, data, second, on, target)
    elif "promise" in options:
        _refuse_with("promise", options, "folds", "repeats", "assure")
        _check_promise(run, run.read(data, second), options)
    elif "tries" in options:
        _refuse_with("tries", options, "folds", "repeats", "assure")
        _show_tries(run, run.read(data, second), options)
    elif "threshold" in options:
        raise click.UsageError(
            "--threshold is for a promise or tries: give --promise far=X or --tries K too"
        )
    else:
        _choose(run, data, second, target, options)


def _refuse_with(chosen: str, options: dict[str, Any], *others: str) -> None:
    """Refuse other options, and another task than verification, beside --on or --promise."""
    for name in others:
        if name in options:
            raise click.UsageError(f"--{name} does not go with --{chosen}")
    if options["task"] != "verification":
        raise click.UsageError(f"--{chosen} is of verification; leave out --task open_set")


def _choose(run: Run, data: str, second: str | None, target: str, options: dict[str, Any]) -> None:
    from bioeval.cli.running import Extras
    from bioeval.studies.thresholds.threshold_study import study_threshold

    if options["task"] == "open_set":  # whose subjects are ranked
        options["fusion"] = run.use.pop("fusion", "best")
    limits, seed = run.interval("people"), run.settings["random_state"]
    scores = run.read(data, second)
    study = study_threshold(scores, target, interval=limits, random_state=seed, **options)
    on_all = study["rates"].to_dataset().sel(part="all")
    require_defined([on_all["far"], on_all["frr"]], [scores], results=[study.to_dataset()])
    page: Any = None
    if run.page is not None:
        page = {scores.name: _with_curves(study, scores, options)}
    run.finish(study, Extras(page=page))


def _judge(run: Run, data: str, second: str | None, on: tuple[str, ...], target: str) -> None:
    from bioeval.studies.thresholds.judged_threshold import judge_threshold

    train, test = run.read(data, second), run.read_set(on)
    judged = judge_threshold(train, test, target, interval=run.interval_for(test, None))
    of_test = judged.sel(part="test")
    require_defined([of_test["far"], of_test["frr"]], [test])
    run.finish(judged)


def _check_promise(run: Run, scores: Scores, options: dict[str, Any]) -> None:
    from bioeval.cli.running import Extras
    from bioeval.studies.assurance.promise import check_promise

    threshold = _threshold_of("promise", options)
    settings = {"tries": options.get("tries"), "confidence": run.settings["confidence"]}
    checked = check_promise(scores, threshold, options["promise"], **settings)
    page: Any = None
    if run.page is not None and "tries" not in options:  # the curves are of single attempts
        page = {scores.name: _with_curves(checked, scores, options)}
    run.finish(checked, Extras(page=page))
    fail_if_refuted(run, checked)


def fail_if_refuted(run: Run, checked: xr.Dataset) -> None:
    """Fail by each promise that the data refute."""
    for promise, verdict in zip(checked["promise"].values, checked["verdict"].values, strict=True):
        if verdict == "refuted":
            run.fail(f"the data refute the promise {promise}")


def _show_tries(run: Run, scores: Scores, options: dict[str, Any]) -> None:
    from bioeval.studies.tries.tries import tries

    numbers = range(1, options["tries"] + 1)
    confidence = run.settings["confidence"]
    run.finish(tries(scores, _threshold_of("tries", options), numbers, confidence=confidence))


def _threshold_of(chosen: str, options: dict[str, Any]) -> float:
    if "threshold" not in options:
        raise DataError(f"--{chosen} needs the threshold that it is about: --threshold T")
    threshold: float = options["threshold"]
    return threshold


def _with_curves(
    study: xr.Dataset | xr.DataTree, scores: Scores, options: dict[str, Any]
) -> xr.DataTree:
    """Return a study, or promises, and the task whose curves a page shows at its thresholds."""
    import numpy as np
    import xarray as xr

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
    name = str(study.attrs["result_type"]).replace("-", "_")
    return xr.DataTree.from_dict({task: curves, name: study})
