"""``bioeval calibration``: scores as log-likelihood ratios."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import Value
from bioeval.cli.calls import options_of
from bioeval.cli.command import Command, option
from bioeval.cli.options import shared_options
from bioeval.cli.study_command import StudyCommand

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


@click.command("calibration", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@option(
    "--calibrate METHOD",
    "Turn scores into log-likelihood ratios.  [logistic, with --apply]",
    ["logistic", "pav"],
)
@option(
    "--train FILE [TRIALS]",
    "Scores of other subjects to learn from.",
    Value.FILES,
)
@option(
    "--apply SCORES [TRIALS]",
    "Learn from DATA, and evaluate the scores of this set.",
    Value.FILES,
)
@options_of("Calibrator", "prior")
@options_of("calibration", "priors", "costs", "interval")
@option(
    "--save FILE",
    "Write the calibrated scores (.npz, .txt, .csv).",
    name="save_to",
)
@shared_options(use=True, interval=True, plots=True)
def command(data: str, **options: Any) -> None:
    """Evaluate DATA as log-likelihood ratios: Cllr, and decision costs by prior.

    Cllr is the cost of the ratios in bits; its minimum is the cost of the same scores after ideal
    calibration. For scores of another kind, only minima are given unless --calibrate turns them
    into ratios.

    FILE holds the trials of DATA, as of `bioeval run`. With --apply the calibration is learnt from
    DATA, and the calibrated scores of another set are evaluated; options for reading apply to both.
    """
    how: dict[str, Any] = {key: options.pop(key) for key in ("calibrate", "prior", "save_to")}
    train, apply = options.pop("train"), options.pop("apply")
    _require_options_together(how, train, apply, options)
    name, second = options.get("name"), options.pop("second")
    evaluated_files = (data,) if second is None else (data, second)
    if apply is not None:
        evaluated_files, train = apply, evaluated_files
    with StudyCommand(evaluated_files[0], options) as run:
        if how["save_to"] is not None:
            run.file_to_write(how["save_to"])
        from bioeval.studies.calibration.calibration import calibration

        read: dict[str, Scores] = {}
        evaluated = run.read_set(evaluated_files, name)
        called = str(evaluated.name)
        if how["calibrate"] is None or evaluated.kind == "llr":
            read[called] = evaluated
        if how["calibrate"] is not None:
            train_set = evaluated
            if train is not None:
                train_set = run.read_set(train, Path(train[0]).stem)
            run.stages("calibrating")
            made = read[f"{called}, calibrated"] = _calibrated(how, train_set, evaluated)
            if how["save_to"] is not None:
                from bioeval.scores.formats import save

                save(made, how["save_to"])
                run.output.remarks.append(f"wrote {how['save_to']}: {made!r}")
        datasets, costs = {}, []
        for called, scores in read.items():
            wanted = dict(run.options)
            if scores.kind != "llr" and any(x.kind == "llr" for x in read.values()):
                # Beside the ratios that are made of them, scores have minima alone.
                wanted.pop("interval", None)
            datasets[called] = run.count(calibration, scores, **wanted)
            costs.append(datasets[called]["min_cllr"])
        run.require_defined(costs, read.values())
        run.finish(
            datasets,
            more={**how, "train": train and train[0]},
            overlaid=True,
            nodes=lambda called: called.replace("/", "-"),
            files=list(dict.fromkeys((*evaluated_files, *(train or ())))),
        )


def _require_options_together(
    how: dict[str, Any], train: Any, apply: Any, options: dict[str, Any]
) -> None:
    """Raise unless the options go together; a set to apply to has the logistic calibration."""
    if train is not None and apply is not None:
        raise click.UsageError(
            "give --train or --apply, not both: the calibration of DATA is learnt from --train, "
            "that of --apply from DATA"
        )
    if apply is not None:
        how["calibrate"] = how["calibrate"] or "logistic"
    if how["calibrate"] is None:
        for word, value in (("--train", train), ("--save", how["save_to"])):
            if value is not None:
                raise click.UsageError(f"{word} needs --calibrate METHOD, such as logistic")
    if len(options["costs"]) != 2:
        raise click.BadParameter("expected two costs, such as 10,1", param_hint="'--costs'")


def _calibrated(how: dict[str, Any], train: Any, scores: Any) -> Any:
    """Return calibrated scores, with a remark if they were learnt from the same scores."""
    from bioeval.base.messages import Message
    from bioeval.scores.shared_people import people_of_both_sets
    from bioeval.studies.calibration.calibrator import Calibrator

    calibrator = Calibrator(how["calibrate"], how["prior"])
    made = calibrator.fit(train).transform(scores)
    if train is scores or train.fingerprint == scores.fingerprint:
        message = Message("trained-on-same-scores", model="calibration")
        return made._with(_remarks=(*made._remarks, message))
    return made._with(_remarks=(*made._remarks, *people_of_both_sets(train, scores, "evaluation")))
