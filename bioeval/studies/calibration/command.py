"""``bioeval calibration``: scores as log-likelihood ratios."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.cli import Command, StudyCommand, Value, option, output_options, shared_options


@click.command("calibration", cls=Command)
@click.argument("data")
@option(
    "--calibrate",
    "Turn scores into log-likelihood ratios, by logistic or isotonic regression (pav).",
    ["logistic", "pav"],
)
@option("--train FILE", "Scores of other subjects, to learn the calibration from.")
@option("--prior P", "Prior for which --calibrate is optimal.", float, 0.5)
@option(
    "--ends",
    "With --calibrate pav: finite extreme ratios by Laplace's rule of succession (one more "
    "attempt of each class), or raw ones.  [laplace]",
    ["laplace", "raw"],
)
@option(
    "--priors P,P",
    "Priors of a genuine attempt, for the decision costs.  [0.5,0.1,0.01,0.001]",
    Value.NUMBERS,
)
@option("--costs MISS,FALSE", "Costs of a miss and of a false accept.", Value.NUMBERS, "1,1")
@option(
    "--equalise COLUMN", "Metadata column of the probes whose values get equal weight in Cprimary."
)
@option("--save FILE", "Write the calibrated scores, as .npz.", name="save_to")
@output_options(
    "results.nc, summary.json, table.txt and a CSV file of each table",
    "draw Bayes error and three others",
)
@shared_options(templates=True, fusion=True, name=True, reading=True)
def command(data: str, **options: Any) -> None:
    """Evaluate DATA as log-likelihood ratios: Cllr, and decision costs by prior.

    Cllr is the cost of the ratios in bits; its minimum is the cost of the same scores after ideal
    calibration. For scores of another kind, only minima are given unless --calibrate turns them
    into ratios.
    """
    how = {key: options.pop(key) for key in ("calibrate", "train", "prior", "ends", "save_to")}
    if how["calibrate"] is None:
        for key, option in (("train", "--train"), ("save_to", "--save")):
            if how[key] is not None:
                raise click.UsageError(f"{option} needs --calibrate METHOD, such as logistic")
    if how["ends"] is not None and how["calibrate"] != "pav":
        raise click.UsageError("--ends needs --calibrate pav")
    how["ends"] = how["ends"] or "laplace"
    if len(options["costs"]) != 2:
        raise click.BadParameter("expected two costs, such as 10,1", param_hint="'--costs'")
    with StudyCommand(data, options) as run:
        if how["save_to"] is not None:
            run.file_to_write(how["save_to"])
        from bioeval.studies.calibration.calibration import calibration

        scores = run.read()
        system = str(scores.name)
        systems = {system: scores}
        if how["calibrate"] is not None:
            train = scores
            if how["train"] is not None:
                train = run.read(how["train"], Path(how["train"]).stem)
            run.stages("calibrating")
            made = _calibrated(how, train, scores)
            if scores.kind != "llr":
                systems = {}
            systems[f"{system}, calibrated"] = made
            if how["save_to"] is not None:
                from bioeval import save

                save(made, how["save_to"])
        datasets, costs = {}, []
        for called, evaluated in systems.items():
            datasets[called] = run.count(calibration, evaluated, **run.options)
            costs.append(datasets[called]["min_cllr"])
        run.require_defined(costs, systems.values())
        run.finish(
            datasets,
            more=how,
            overlaid=True,
            nodes=lambda called: called.replace("/", "-"),
        )


def _calibrated(how: dict[str, Any], train: Any, scores: Any) -> Any:
    """Return calibrated scores, with a remark if they were learnt from the same scores."""
    from bioeval.document import Message
    from bioeval.studies.calibration.calibrator import Calibrator

    calibrator = Calibrator(how["calibrate"], how["prior"], how["ends"])
    made = calibrator.fit(train).transform(scores)
    if train is scores:
        return made._with(_remarks=(*made._remarks, Message("calibrated-on-same-scores")))
    return made
