"""``bioeval vulnerability`` and ``bioeval pad``: presentation attacks and their detection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.base.errors import DataError
from bioeval.base.variables import INTERVALS
from bioeval.cli.calls import options_of
from bioeval.cli.command import Command, option
from bioeval.cli.options import shared_options
from bioeval.cli.outputs import rows_over
from bioeval.cli.study_command import StudyCommand, study


@study(
    "vulnerability",
    options_of("vulnerability", "attack", "templates", "fusion", "threshold", "far_targets"),
    options_of("vulnerability", "interval", interval={"type": INTERVALS[:3]}),
    interval=True,
    plots=True,
    second="attacks",
)
def vulnerability_command(run: StudyCommand) -> None:
    """Evaluate how often presentation attacks are accepted, by species.

    bioeval vulnerability attacked.npz
    bioeval vulnerability scores.npz attacks.npz --threshold far=0.001

    Rows of DATA with a value in the metadata column `attack` are attacks, labelled with the subject
    that they target. ATTACKS may hold the attacks instead, against the same gallery. A list of
    pairs may have class words: target, nontarget and spoof. Thresholds are chosen on bona fide
    presentations.
    """
    from bioeval.studies.attacks.vulnerability import vulnerability

    presented = run.options.pop("attacks", None)
    attacks = run.read(presented, mates=False) if presented else None
    dataset = run.count(vulnerability, run.read(), attacks, **run.options)
    run.finish(
        dataset,
        csv={"curves.csv": rows_over(dataset, "threshold", "species")},
        files=list(filter(None, (run.data, presented))),
    )


@click.command("pad", cls=Command)
@click.argument("data", metavar="LIST")
@option("--dev LIST", "Development set for the rule of --threshold.")
@options_of("pad", "kind", kind={"default": None})
@option("--scores KEY", "Name of the column of scores.", name="scores_key")
@options_of("pad", "threshold", "apcer_targets", threshold={"type": str})
@options_of("pad", "non_response", "interval")
@shared_options(interval=True, plots=True, reading=False)
def pad_command(
    data: str,
    dev: str | None,
    kind: Any,
    scores_key: str | None,
    name: str | None,
    **options: Any,
) -> None:
    """Evaluate presentation attack detection: APCER by species, and BPCER.

    bioeval pad pad.csv --threshold d-eer
    bioeval pad test.csv --dev dev.csv --threshold apcer=0.05

    Each line of LIST has a detection score, larger for bona fide, and the attack instrument species
    in a column `attack`, empty for bona fide. Instead of the column, it may have the class words of
    ASVspoof: bonafide and spoof, or target, nontarget and spoof. A line without a score is a
    non-response. APCER is the largest over the species (ISO/IEC 30107-3); APCER pooled over all
    attacks is given beside it.
    """
    with StudyCommand(data, options, reads=False) as run:
        from bioeval.studies.attacks.pad import pad
        from bioeval.studies.attacks.presentation_lists import read_presentations

        listed = read_presentations(data, scores_key)
        kinds, dev_set = {kind, listed.kind}, None
        if dev is not None:
            other = read_presentations(dev, scores_key)
            dev_set = other.values, other.attack
            kinds.add(other.kind)
        kinds -= {None, ""}
        if len(kinds) > 1:
            raise DataError(
                f"{data}: scores are declared {' and '.join(sorted(kinds | {str(kind)}))}; "
                "expected one kind"
            )
        kind = next(iter(kinds), "similarity")
        run.name = name or Path(data).stem
        run.stages("counting")
        dataset = pad(
            listed.values,
            listed.attack,
            kind=kind,
            dev=dev_set,
            subjects=listed.subjects,
            instrument=listed.instruments,
            name=run.name,
            **run.options,
        )
        curve = rows_over(dataset, "threshold")
        for i, name in enumerate(dataset["species"].values):
            rates = dataset["apcer_of_species"].values[:, i].tolist()
            for row, rate in zip(curve, rates, strict=True):
                row[f"apcer {name}"] = rate
        run.finish(dataset, csv={"curve.csv": curve}, files=list(filter(None, (data, dev))))
