"""Commands of attacks that a recognition system accepts, and of attack detection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.arguments import NUMBERS, THRESHOLD
from bioeval.cli.command import option
from bioeval.cli.shared import fusion, rates, shared

if TYPE_CHECKING:
    from bioeval.cli.running import Run


@click.argument("data")
@click.argument("attacks", required=False, metavar="[ATTACKS]")
@option(
    "--templates",
    "Whether each presentation is one decision, or each comparison with a template.",
    ["single", "multi"],
    "multi",
)
@fusion("best")
@option(
    "--threshold T|RULE",
    "Also evaluate at a threshold: a number, or a rule applied to bona fide presentations.",
    THRESHOLD,
)
@rates("--far X", "FAR at which to report FRR.", "far_targets")
@option("--interval METHOD", "Add confidence intervals by subject.", ["people"])
@shared(interval=True, plots=True, fails=("iapar_at_eer@species=largest > 10%",))
def vulnerability_command(
    run: Run, data: str, attacks: str | None = None, interval: str | None = None, **options: Any
) -> None:
    """Evaluate how often presentation attacks are accepted, by species.

    bioeval vulnerability attacked.npz
    bioeval vulnerability scores.npz attacks.npz --threshold far=0.001

    Rows of DATA with a value in the metadata column `attack` are attacks, labelled with the subject
    that they target. ATTACKS may hold the attacks instead, against the same gallery. A list of
    pairs may have class words: target, nontarget and spoof. Thresholds are chosen on bona fide
    presentations.
    """
    from bioeval.cli.running import Extras
    from bioeval.studies.attacks.vulnerability import vulnerability

    limits, scores = run.interval(interval), run.read(data)
    presented = run.read(attacks) if attacks else None
    dataset = vulnerability(scores, presented, interval=limits, **options)
    run.finish(dataset, Extras(name=str(scores.name)))


@click.argument("data", metavar="LIST")
@option("--train LIST", "Training set (development set) for the rule of --threshold.")
@option("--key LIST", "Classes of the presentations of both sets, by their names, in any order.")
@option(
    "--kind",
    "Kind of the scores: larger similarities mean bona fide.",
    ["distance", "similarity"],
)
@option("--threshold T|RULE", "Threshold: a number, or the rule apcer=X, bpcer=X or d-eer.")
@option(
    "--apcer X,X",
    "APCER at which to report BPCER. 0.1, 0.05 and 0.01 are BPCER10, BPCER20 and BPCER100.",
    NUMBERS,
    name="apcer_targets",
)
@option(
    "--non-response",
    "Exclude presentations without a score, or count them as rejected.",
    ["exclude", "reject"],
    "exclude",
)
@option(
    "--interval METHOD",
    "Add confidence intervals, for which each person and each instrument is left out in turn.",
    ["people"],
)
@shared(interval=True, plots=True, reading=False, fails=("d_eer > 10%",))
def pad_command(
    run: Run,
    data: str,
    train: str | None = None,
    key: str | None = None,
    kind: Any = None,
    interval: str | None = None,
    **options: Any,
) -> None:
    """Evaluate presentation attack detection: APCER by species, and BPCER.

    bioeval pad pad.csv --threshold d-eer
    bioeval pad test.csv --train train.csv --threshold apcer=0.05

    Each line of LIST has a detection score, larger for bona fide, and the attack instrument species
    in a column `attack`, empty for bona fide. Instead of the column, it may have the class words of
    ASVspoof: bonafide and spoof, or target, nontarget and spoof. A line without a score is a
    non-response. The classes may be in another list, the --key. APCER is
    the largest over the species (ISO/IEC 30107-3); APCER pooled over all attacks is given beside
    it.
    """
    from bioeval.cli.running import Extras
    from bioeval.studies.attacks.pad import pad
    from bioeval.studies.attacks.presentation_lists import read_presentations

    limits, listed = run.interval(interval), read_presentations(data, key)
    kinds, train_set = {kind, listed.kind}, None
    if train is not None:
        training = read_presentations(train, key)
        train_set = training.values, training.attack
        kinds.add(training.kind)
    kinds -= {None, ""}
    if len(kinds) > 1:
        raise DataError(
            f"{data}: scores are declared {' and '.join(sorted(kinds))}; expected one kind"
        )
    run.files += filter(None, (data, train, key))
    name = run.name_option or Path(data).stem
    run.stages("counting")
    dataset = pad(
        listed.values,
        listed.attack,
        kind=next(iter(kinds), "similarity"),
        train=train_set,
        subjects=listed.subjects,
        instrument=listed.instruments,
        name=name,
        interval=limits,
        **options,
    )
    run.finish(dataset, Extras(name=name))
