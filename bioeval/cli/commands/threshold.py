"""``bioeval threshold``: which threshold to install, and what to expect of it.

The command is one of three studies, by its options:

- ``--on FILE``: a threshold that is chosen on DATA, and judged on FILE (`_judge`)
- ``--threshold T --promise RATE``: a promise about a threshold, checked on DATA (`_check`)
- neither: a threshold that is chosen on DATA, and tried on other people in folds (`_study`)
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.base.errors import DataError
from bioeval.cli.arguments import RATE, SCORE, TARGET
from bioeval.cli.command import option
from bioeval.cli.defined import require_defined
from bioeval.cli.shared import ASSURE, DATA, shared
from bioeval.cli.signatures import option_of

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Output, Run
    from bioeval.scores.matrix import Scores


@DATA
@option(
    "--on FILE",
    "Choose the threshold on DATA, and count its errors on this set; repeated: on its trials.",
    multiple=True,
)
@option("--far X", "The smallest FRR with FAR at most X: the same as --target far=X.", RATE)
@option_of("study_threshold", "--target T|RULE", TARGET)
@option_of("study_threshold", "--task")
@option_of("study_threshold", "--folds N")
@option_of("study_threshold", "--repeats N")
@ASSURE
@option_of("check_promise", "--threshold T", SCORE)
@option_of("check_promise", "--promise RATE", more="; repeatable.", multiple=True)
@option_of("study_threshold", "--rank-unit")
@shared(use=True, interval=True, plots=True, fails=("far@part=test > 2%", "open"))
def threshold_command(
    run: Run,
    data: str,
    target: str,
    on: tuple[str, ...] = (),
    second: str | None = None,
    far: float | None = None,
    **options: Any,
) -> Output:
    """Choose a threshold for DATA, and estimate FAR and FRR for new subjects.

    bioeval threshold scores.npz --far 0.1% --assure 0.95
    bioeval threshold train.npz --far 1% --on test.npz
    bioeval threshold others.npz --threshold 3.61 --promise far=1%

    The threshold is chosen on all data. FAR and FRR are estimated in repeated folds: a threshold is
    chosen on some of the subjects and evaluated on the others.

    A promise that the data refute ends with exit code 1, as what --fail-if says does; with
    --fail-if open a promise that they leave open does, too.

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
    if far is not None:
        source = click.get_current_context().get_parameter_source("target")
        if source is ParameterSource.COMMANDLINE:
            raise click.UsageError("give --far or --target, one of the two")
        target = f"far={far!r}"
    if on:
        _refuse_with("on", options, "threshold", "promise")
        return _judge(run, data, second, target, on)
    if "promise" in options:
        _refuse_with("promise", options)
        return _check(run, data, second, options)
    if "threshold" in options:
        raise click.UsageError("--threshold is for a promise: give --promise far=X too")
    return _study(run, data, second, target, options)


def _judge(run: Run, data: str, second: str | None, target: str, on: tuple[str, ...]) -> Output:
    """Choose a threshold on DATA, and count its errors on the file in `on`."""
    from bioeval.studies.judged_threshold import judge_threshold

    file, *trials = on  # a file, and perhaps the list of its trials
    if len(trials) > 1:
        raise click.UsageError(f"{trials[1]} is a third file; expected scores and their trials")
    train = run.read(data, second)
    if trials:
        _, test = run.read_system(file, trials[0], trials=None)  # --trials are those of DATA
    else:
        test = run.read(file)
    judged = judge_threshold(train, test, target, interval=run.interval_for(test, None))
    of_test = judged.sel(part="test")
    require_defined([of_test["far"], of_test["frr"]], [test])
    return run.write(judged)


def _check(run: Run, data: str, second: str | None, options: dict[str, Any]) -> Output:
    """Check promises about the threshold of ``--threshold``."""
    from bioeval.studies.assurance import check_promise

    scores = run.read(data, second)
    if "threshold" not in options:
        raise DataError("--promise needs the threshold that it is about: --threshold T")
    settings = {name: run.settings[name] for name in ("confidence", "unit")}
    checked = check_promise(scores, options["threshold"], options["promise"], **settings)
    curves = _with_curves(run, checked, scores, options)
    return run.write(checked, page=curves, failures=refuted_promises(checked))


def _study(run: Run, data: str, second: str | None, target: str, options: dict[str, Any]) -> Output:
    """Choose a threshold on all of DATA, and estimate its errors for new people."""
    from bioeval.studies.threshold_study import study_threshold

    use = dict(run.use)
    if options["task"] == "open_set":
        # Open-set identification fuses the templates of subjects: --fusion is not of claims here.
        options["fusion"] = use.pop("fusion", "best")
    limits, seed = run.interval("people"), run.settings["random_state"]
    scores = run.read(data, second, use=use)
    study = study_threshold(scores, target, interval=limits, random_state=seed, **options)
    on_all = study["rates"].to_dataset().sel(part="all")
    require_defined([on_all["far"], on_all["frr"]], [scores], results=[study.to_dataset()])
    return run.write(study, page=_with_curves(run, study, scores, options))


def _refuse_with(chosen: str, options: dict[str, Any], *others: str) -> None:
    """Refuse options of folds and `others`, and another task than verification."""
    for name in ("folds", "repeats", "assure", *others):
        if name in options:
            raise click.UsageError(f"--{name} does not go with --{chosen}")
    if options["task"] != "verification":
        raise click.UsageError(f"--{chosen} is of verification; leave out --task open_set")


def refuted_promises(checked: xr.Dataset) -> list[str]:
    """Return a verdict on each promise that the data refute."""
    refuted = checked["promise"].values[checked["verdict"].values == "refuted"]
    return [f"the data refute the promise {promise}" for promise in refuted]


def _with_curves(
    run: Run, study: xr.Dataset | xr.DataTree, scores: Scores, options: dict[str, Any]
) -> dict[Any, xr.DataTree] | None:
    """Return a study, or promises, with the curves at their thresholds for a page, if any."""
    import numpy as np
    import xarray as xr

    from bioeval.tasks.identification import open_set
    from bioeval.tasks.verification_task import verification

    if run.page is None:
        return None
    task = f"verification/{scores.claim_attempts.name or 'single'}"
    evaluate = functools.partial(verification, scores)
    if options["task"] == "open_set":
        task = "open_set"
        ranking = {name: options[name] for name in ("rank_unit", "fusion")}
        evaluate = functools.partial(open_set, scores, **ranking, impostors="unenrolled")
    names = {"threshold", "assured_threshold"} & set(study.data_vars)
    chosen = np.array([float(study[name]) for name in names])
    curves = evaluate()
    # Another count only if a chosen threshold is not on the curves.
    thresholds = np.union1d(curves["threshold"].values, chosen[np.isfinite(chosen)])
    if len(thresholds) > curves.sizes["threshold"]:
        curves = evaluate(thresholds=thresholds)
    name = str(study.attrs["result_type"]).replace("-", "_")
    tree = xr.DataTree.from_dict({task: curves, name: study})
    return {scores.name: tree}
