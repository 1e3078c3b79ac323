"""``bioeval vulnerability`` and ``bioeval pad``: presentation attacks and their detection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.arguments import Value
from bioeval.cli.command import Command, option
from bioeval.cli.options import output_options, shared_options
from bioeval.cli.outputs import rows_over
from bioeval.cli.study_command import StudyCommand


@click.command("vulnerability", cls=Command)
@click.argument("data")
@click.argument("presented", metavar="[ATTACKS]", required=False)
@option(
    "--attack COLUMN",
    "Metadata column of the attack instrument species; empty or `bona fide` for other rows.",
    str,
    "attack",
)
@option(
    "--templates",
    "Decisions: one per presentation (multi), or one per comparison with a template (single).",
    ["multi", "single"],
    "multi",
)
@shared_options(fusion=True)
@option(
    "--threshold",
    "Also evaluate at a threshold: a number, or a rule applied to bona fide presentations: "
    "eer, far=X, hter, accuracy, cost=P,M,A.",
    Value.THRESHOLD,
)
@shared_options(far=True)
@output_options(
    "results.nc, summary.json, table.txt, curves.csv and a CSV file of each table",
    "draw DET curves, IAPAR by species, and the scores of the three classes",
)
@shared_options(interval="Add confidence intervals by subject.  [none]", name=True, reading=True)
def vulnerability_command(data: str, presented: str | None, **options: Any) -> None:
    """Evaluate how often presentation attacks are accepted, by species.

    Rows of DATA with a value in the metadata column `attack` are attacks, labelled with the subject
    that they target. ATTACKS may hold the attacks instead, against the same gallery. A list of
    pairs may have class words: target, nontarget and spoof. Thresholds are chosen on bona fide
    presentations.
    """
    with StudyCommand(data, options) as run:
        from bioeval.studies.attacks.vulnerability import vulnerability

        attacks = run.read(presented, mates=False) if presented else None
        scores = run.read()
        dataset = run.count(vulnerability, scores, attacks, **run.options)
        run.finish(
            dataset,
            csv={"curves.csv": rows_over(dataset, "threshold", "species")},
            files=list(filter(None, (data, presented))),
        )


def _levels(text: str) -> dict[str, float]:
    """Return the level of each species from ``name=level,name=level``."""
    levels = {}
    for part in text.split(","):
        name, _, level = part.rpartition("=")
        if not name or name in levels:
            raise ValueError
        (levels[name.strip()],) = Value.NUMBERS.read(level)
    return levels


@click.command("pad", cls=Command)
@click.argument("data", metavar="LIST")
@option("--dev LIST", "Development set for the rule of --threshold.")
@option(
    "--kind",
    "Kind of the scores; larger similarities mean bona fide.  [from the name of the column, "
    "else similarity]",
    ["similarity", "distance", "llr"],
)
@option("--scores KEY", "Name of the column of scores.", name="scores_key")
@option(
    "--threshold T|RULE",
    "Add the errors at a threshold: a number, or the rule apcer=X, bpcer=X or d-eer.",
)
@option(
    "--apcer X,X",
    "APCER at which to report BPCER.  [0.1,0.05,0.01]",
    Value.NUMBERS,
    name="apcer_targets",
)
@option(
    "--potential SPECIES=N,...",
    "Attack potential of each species; with --most, APCER is over those up to that level.",
    Value("name=level", _levels, "levels of species (print=1,mask=3)"),
)
@option("--most N", "With --potential: the largest level.", float)
@option(
    "--non-response",
    "Exclude presentations without a score from the rates, or count them as rejected.",
    ["exclude", "reject"],
    "exclude",
)
@option(
    "--interval",
    "Add confidence intervals over the columns subject and instrument of LIST.  [none]",
    ["subject-bootstrap", "subject-bootstrap-logit"],
)
@shared_options(interval=True)
@option("--name NAME", "Name of the detector.  [the file's name]")
@output_options(
    "results.nc, summary.json, table.txt, curve.csv and a CSV file of each table",
    "draw the plots",
)
def pad_command(
    data: str,
    dev: str | None,
    kind: Any,
    scores_key: str | None,
    name: str | None,
    potential: dict[str, float] | None,
    most: float | None,
    **options: Any,
) -> None:
    """Evaluate presentation attack detection: APCER by species, and BPCER.

    Each line of LIST has a detection score, larger for bona fide, and the attack instrument species
    in a column `attack`, empty for bona fide. Instead of the column, it may have the class words of
    ASVspoof: bonafide and spoof, or target, nontarget and spoof. A line without a score is a
    non-response. APCER is the largest over the species (ISO/IEC 30107-3); APCER pooled over all
    attacks is given beside it.
    """
    if (potential is None) != (most is None):
        raise click.UsageError(
            "give --potential and --most together, such as --potential print=1,mask=3 --most 2"
        )
    levels = (potential, most) if potential is not None else None
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
            potential=levels,
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
