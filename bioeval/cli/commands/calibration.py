"""``bioeval calibration``: scores as log-likelihood ratios."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import NUMBERS
from bioeval.cli.command import option
from bioeval.cli.shared import DATA, shared
from bioeval.cli.undefined import require_defined

if TYPE_CHECKING:
    from bioeval.cli.running import Run


@DATA
@option("--calibrate METHOD", "Turn scores into log-likelihood ratios.", ["logistic", "pav"])
@option(
    "--train FILE",
    "Scores of other subjects to learn from, in place of DATA; repeated: their trials.",
    multiple=True,
)
@option("--prior X", "Prior for which logistic calibration is best.", float, 0.5)
@option("--priors P,P", "Priors of a genuine attempt, for the decision costs.", NUMBERS)
@option("--costs MISS,FALSE", "Costs of a miss and of a false accept.", NUMBERS, "1,1")
@option(
    "--interval METHOD",
    "Add intervals of Cllr and of the actual costs.",
    ["people", "subject-bootstrap"],
)
@option("--save FILE", "Write the calibrated scores (.npz, .txt, .csv).", name="save_to")
@shared(use=True, interval=True, plots=True, fails=("min_cllr > 0.5",))
def calibration_command(
    run: Run,
    data: str,
    prior: float,
    second: str | None = None,
    calibrate: Any = None,
    interval: str | None = None,
    train: tuple[str, ...] = (),
    **options: Any,
) -> None:
    """Evaluate DATA as log-likelihood ratios: Cllr, and decision costs by prior.

    bioeval calibration ratios.npz --kind llr
    bioeval calibration scores.npz --calibrate logistic --train others.npz

    Cllr is the cost of the ratios in bits; its minimum is the cost of the same scores after ideal
    calibration. For scores of another kind, only minima are given unless --calibrate turns them
    into ratios.

    FILE holds the trials of DATA, as of `bioeval run`; options for reading apply to all files.
    """
    from bioeval.studies.calibration.calibration import calibration
    from bioeval.studies.calibration.calibrator import Calibrator

    if calibrate is None and (train or run.save_to):
        word = "--train" if train else "--save"
        raise click.UsageError(f"{word} needs --calibrate METHOD, such as logistic")
    limits, files = run.interval(interval), [data, *filter(None, [second])]
    evaluated = run.read_set(files, run.given_name)
    read = {}
    if calibrate is None or evaluated.kind == "llr":
        read[str(evaluated.name)] = evaluated
    if calibrate is not None:
        train_set = run.read_set(train, Path(train[0]).stem) if train else evaluated
        run.stages("calibrating")
        calibrated = Calibrator(calibrate, prior).fit(train_set).transform(evaluated)
        read[f"{evaluated.name}, calibrated"] = calibrated
        run.save_scores(calibrated)
    datasets = {}
    for name, scores in read.items():
        # Beside ratios made of them, scores have minima alone.
        minima = scores.kind != "llr" and len(read) > 1
        datasets[name] = calibration(scores, interval=None if minima else limits, **options)
    require_defined([ds["min_cllr"] for ds in datasets.values()], read.values())
    run.finish(datasets)
