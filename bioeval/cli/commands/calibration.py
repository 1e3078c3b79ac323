"""``bioeval calibration``: scores as log-likelihood ratios."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import shared_options
from bioeval.cli.study_command import StudyCommand


@click.command("calibration", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@option(
    "--calibrate METHOD",
    "Turn scores into log-likelihood ratios.",
    ["logistic", "pav"],
)
@option(
    "--train FILE",
    "Scores of other subjects to learn from, in place of DATA; repeated: their trials.",
    multiple=True,
)
@option("--prior X", "Prior for which logistic calibration is best.", float, 0.5)
@option("--priors P,P", "Priors of a genuine attempt, for the decision costs.", Value.NUMBERS)
@option("--costs MISS,FALSE", "Costs of a miss and of a false accept.", Value.NUMBERS, "1,1")
@option(
    "--interval METHOD",
    "Add intervals of Cllr and of the actual costs.",
    ["people", "subject-bootstrap"],
)
@option("--save FILE", "Write the calibrated scores (.npz, .txt, .csv).", name="save_to")
@shared_options(use=True, interval=True, plots=True)
def calibration_command(data: str, **options: Any) -> None:
    """Evaluate DATA as log-likelihood ratios: Cllr, and decision costs by prior.

    bioeval calibration ratios.npz --kind llr
    bioeval calibration scores.npz --calibrate logistic --train others.npz

    Cllr is the cost of the ratios in bits; its minimum is the cost of the same scores after ideal
    calibration. For scores of another kind, only minima are given unless --calibrate turns them
    into ratios.

    FILE holds the trials of DATA, as of `bioeval run`; options for reading apply to all files.
    """
    how = {key: options.pop(key) for key in ("calibrate", "prior", "save_to")}
    train = options.pop("train")
    if how["calibrate"] is None and (train or how["save_to"]):
        word = "--train" if train else "--save"
        raise click.UsageError(f"{word} needs --calibrate METHOD, such as logistic")
    files = [data, *filter(None, [options.pop("second")])]
    with StudyCommand(data, options) as run:
        run.file_to_write(how["save_to"])
        from bioeval.studies.calibration.calibration import calibration

        evaluated = run.read_set(files, options.get("name"))
        read = {}
        if how["calibrate"] is None or evaluated.kind == "llr":
            read[str(evaluated.name)] = evaluated
        if how["calibrate"] is not None:
            train_set = run.read_set(train, Path(train[0]).stem) if train else evaluated
            run.stages("calibrating")
            made = read[f"{evaluated.name}, calibrated"] = _calibrated(how, train_set, evaluated)
            run.save_scores(made, how["save_to"])
        datasets = {}
        for called, scores in read.items():
            wanted = dict(run.options)
            if scores.kind != "llr" and len(read) > 1:
                wanted.pop("interval", None)  # beside ratios made of them, scores have minima alone
            datasets[called] = run.count(calibration, scores, **wanted)
        run.require_defined([ds["min_cllr"] for ds in datasets.values()], read.values())
        run.finish(
            datasets,
            more={**how, "train": train[0] if train else None},
            overlaid=True,
            slash="-",
            files=[*files, *train],
        )


def _calibrated(how: dict[str, Any], train: Any, scores: Any) -> Any:
    """Return calibrated scores, with a remark if they were learnt from the same scores."""
    from bioeval.base.messages import Message
    from bioeval.scores.people import people_of_both_sets
    from bioeval.studies.calibration.calibrator import Calibrator

    calibrator = Calibrator(how["calibrate"], how["prior"])
    made = calibrator.fit(train).transform(scores)
    if train is scores or train.fingerprint == scores.fingerprint:
        return made.with_remarks(Message("trained-on-same-scores", model="calibration"))
    return made.with_remarks(*people_of_both_sets(train, scores, "evaluation"))
