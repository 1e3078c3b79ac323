"""``bioeval calibration``: scores as log-likelihood ratios."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli import Command, StudyCommand, Value, option, output_options, shared_options

if TYPE_CHECKING:
    from bioeval import Scores


@click.command("calibration", cls=Command)
@click.argument("data", required=False)
@click.argument("second", required=False, metavar="[FILE]")
@option(
    "--calibrate",
    "Turn scores into log-likelihood ratios, by logistic or isotonic regression (pav).  "
    "[logistic, with --apply or --system]",
    ["logistic", "pav"],
)
@option(
    "--train FILE [TRIALS]",
    "Scores of other subjects, to learn the calibration from.",
    Value.FILES,
)
@option(
    "--apply SCORES [TRIALS]",
    "Learn the calibration from DATA, and evaluate the calibrated scores of this set.",
    Value.FILES,
)
@option(
    "--system NAME=DEV:EVAL",
    "Instead of DATA: a system with its development and its evaluation set; repeatable. --trials "
    "DEV:EVAL are the trials of all.",
    Value.METADATA,
    multiple=True,
)
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
@option(
    "--interval",
    "Add intervals of Cllr and of the actual costs, for other subjects.  [none]",
    ["subject-bootstrap", "subject-bootstrap-bca"],
)
@option(
    "--save FILE",
    "Write the calibrated scores, as .npz or as a list of pairs (.txt, .csv); of several systems "
    "with the name of each before the suffix (llr.txt: llr-A.txt, llr-B.txt).",
    name="save_to",
)
@output_options(
    "results.nc, summary.json, table.txt and a CSV file of each table",
    "draw Bayes error and three others",
)
@shared_options(
    use=True,
    interval=True,
    name=True,
    reading=True,
)
def command(data: str | None, **options: Any) -> None:
    """Evaluate DATA as log-likelihood ratios: Cllr, and decision costs by prior.

    Cllr is the cost of the ratios in bits; its minimum is the cost of the same scores after ideal
    calibration. For scores of another kind, only minima are given unless --calibrate turns them
    into ratios.

    FILE holds the trials of DATA, as of `bioeval run`. With --apply the calibration is learnt from
    DATA, and the calibrated scores of another set are evaluated; options for reading apply to both.
    """
    how: dict[str, Any] = {
        key: options.pop(key) for key in ("calibrate", "prior", "ends", "save_to")
    }
    sets: dict[str, Any] = {key: options.pop(key) for key in ("train", "apply", "system")}
    _require_options_together(data, how, sets, options)
    how["ends"] = how["ends"] or "laplace"
    systems = _systems(data, sets, options)
    with StudyCommand(systems[0].evaluated[0], options) as run:
        saved_to = _files_to_save(how["save_to"], systems)
        for file in saved_to:
            run.file_to_write(file)
        from bioeval.studies.calibration.calibration import calibration

        read: dict[str, Scores] = {}
        calibrated = []
        for system in systems:
            evaluated = run.read_set(system.evaluated, system.name)
            called = str(evaluated.name)
            if how["calibrate"] is None or evaluated.kind == "llr":
                read[called] = evaluated
            if how["calibrate"] is not None:
                train = evaluated
                if system.train is not None:
                    train = run.read_set(system.train, Path(system.train[0]).stem)
                run.stages("calibrating")
                made = _calibrated(how, train, evaluated)
                read[f"{called}, calibrated"] = made
                calibrated.append(made)
        if saved_to:
            from bioeval import save

            for made, file in zip(calibrated, saved_to, strict=True):
                save(made, file)
                run.output.remarks.append(f"wrote {file}: {made!r}")
        datasets, costs = {}, []
        of_interval = ("interval", "confidence", "replicates", "random_state")
        for called, scores in read.items():
            wanted = dict(run.options)
            if scores.kind != "llr" and any(x.kind == "llr" for x in read.values()):
                # Beside the ratios that are made of them, scores have minima alone.
                for key in of_interval:
                    wanted.pop(key, None)
            datasets[called] = run.count(calibration, scores, **wanted)
            costs.append(datasets[called]["min_cllr"])
        run.require_defined(costs, read.values())
        learned: dict[str, Any] = {"train": systems[0].train and systems[0].train[0]}
        if len(systems) > 1:
            learned = {"train": {str(x.name): x.train and x.train[0] for x in systems}}
        run.finish(
            datasets,
            more={**how, **learned},
            overlaid=True,
            nodes=lambda called: called.replace("/", "-"),
            files=list(dict.fromkeys(itertools.chain.from_iterable(x.files for x in systems))),
        )


@dataclass(frozen=True)
class _System:
    """The files of a system: those that are evaluated, and those that the calibration learns from.

    Each set is a file, and perhaps the list of its trials.
    """

    name: str | None
    evaluated: tuple[str, ...]
    train: tuple[str, ...] | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """All files."""
        return (*self.evaluated, *(self.train or ()))


def _files_to_save(save_to: str | None, systems: Sequence[_System]) -> list[str]:
    """Return the file of the calibrated scores of each system; none without the option."""
    if save_to is None:
        return []
    if len(systems) == 1:
        return [save_to]
    path, files = Path(save_to), []
    for system in systems:
        # A name such as x.csv.gz has two suffixes.
        stem = path.name.removesuffix("".join(path.suffixes))
        name = str(system.name).replace("/", "-")
        files.append(str(path.with_name(f"{stem}-{name}{''.join(path.suffixes)}")))
    return files


def _require_options_together(
    data: str | None, how: dict[str, Any], sets: dict[str, Any], options: dict[str, Any]
) -> None:
    """Raise unless the options go together; sets that need a calibration have the logistic one."""
    several = bool(sets["system"])
    if data is None and not several:
        raise click.UsageError("Missing argument 'DATA'.")
    if several:
        refused = {"DATA": data, "--train": sets["train"], "--apply": sets["apply"]}
        refused |= {"--name": options["name"]}
        for word, value in refused.items():
            if value is not None:
                raise click.UsageError(f"{word} is for one system, without --system; leave it out")
    if sets["train"] is not None and sets["apply"] is not None:
        raise click.UsageError(
            "give --train or --apply, not both: the calibration of DATA is learnt from --train, "
            "that of --apply from DATA"
        )
    if several or sets["apply"] is not None:
        how["calibrate"] = how["calibrate"] or "logistic"
    if how["calibrate"] is None:
        for word, value in (("--train", sets["train"]), ("--save", how["save_to"])):
            if value is not None:
                raise click.UsageError(f"{word} needs --calibrate METHOD, such as logistic")
    if how["ends"] is not None and how["calibrate"] != "pav":
        raise click.UsageError("--ends needs --calibrate pav")
    if len(options["costs"]) != 2:
        raise click.BadParameter("expected two costs, such as 10,1", param_hint="'--costs'")


def _systems(data: str | None, sets: dict[str, Any], options: dict[str, Any]) -> list[_System]:
    """Return the systems; what names their files is taken from the options."""
    if not sets["system"]:
        assert data is not None
        second = options.pop("second")
        given = (data,) if second is None else (data, second)
        if sets["apply"] is None:
            return [_System(options.get("name"), given, sets["train"])]
        return [_System(options.get("name"), sets["apply"], given)]
    trials: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
    if options["trials"] is not None:
        dev_trials, trials_ = _two(options["trials"], "--trials", "DEV:EVAL")
        trials = (dev_trials,), (trials_,)
        options["trials"] = None
    systems = []
    for name, files in sets["system"]:
        dev, evaluated = _two(files, "--system", "NAME=DEV:EVAL")
        systems.append(_System(name, (evaluated, *trials[1]), (dev, *trials[0])))
    names = [system.name for system in systems]
    for name in names:
        if names.count(name) > 1:
            raise click.UsageError(f"two systems are called {name!r}; give each its own name")
    return systems


#: Two paths with a colon between them; that of a drive belongs to its path.
_TWO_PATHS = re.compile(r"((?:[A-Za-z]:[\\/])?[^:]+):((?:[A-Za-z]:[\\/])?[^:]+)")


def _two(text: str, option_name: str, form: str) -> tuple[str, str]:
    """Return the development and the evaluation file of an option."""
    match = _TWO_PATHS.fullmatch(text)
    if match is None:
        raise click.UsageError(
            f"{option_name} is {text!r}; expected {form}, a development and an evaluation file"
        )
    return match[1], match[2]


def _calibrated(how: dict[str, Any], train: Any, scores: Any) -> Any:
    """Return calibrated scores, with a remark if they were learnt from the same scores."""
    from bioeval.document import Message
    from bioeval.scores import people_of_both_sets
    from bioeval.studies.calibration.calibrator import Calibrator

    calibrator = Calibrator(how["calibrate"], how["prior"], how["ends"])
    made = calibrator.fit(train).transform(scores)
    if train is scores or train.fingerprint == scores.fingerprint:
        return made._with(_remarks=(*made._remarks, Message("calibrated-on-same-scores")))
    return made._with(_remarks=(*made._remarks, *people_of_both_sets(train, scores, "evaluation")))
