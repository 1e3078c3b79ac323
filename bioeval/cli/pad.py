"""``bioeval pad``: presentation attack detection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.cli.arguments import LEVELS, NUMBERS
from bioeval.cli.documents import as_columns, attributes, rows_over
from bioeval.cli.options import Command, interval_options, output_options, require_method
from bioeval.cli.study_command import StudyCommand


@click.command("pad", cls=Command)
@click.argument("data", metavar="LIST")
@click.option(
    "--dev",
    metavar="LIST",
    help="Development set for the rule of --threshold.",
)
@click.option(
    "--kind",
    type=click.Choice(["similarity", "distance", "llr"]),
    help="Kind of the scores; larger similarities mean bona fide.  [from the name of the column, "
    "else similarity]",
)
@click.option("--scores", "scores_key", metavar="KEY", help="Name of the column of scores.")
@click.option(
    "--threshold",
    metavar="T|RULE",
    help="Add the errors at a threshold: a number, or the rule apcer=X, bpcer=X or d-eer.",
)
@click.option(
    "--apcer",
    "apcer_targets",
    type=NUMBERS,
    metavar="X,X",
    help="APCER at which to report BPCER.  [0.1,0.05,0.01]",
)
@click.option(
    "--potential",
    type=LEVELS,
    metavar="SPECIES=N,...",
    help="Attack potential of each species; with --most, APCER is over those up to that level.",
)
@click.option("--most", type=float, metavar="N", help="With --potential: the largest level.")
@click.option(
    "--non-response",
    type=click.Choice(["exclude", "reject"]),
    default="exclude",
    help="Exclude presentations without a score from the rates, or count them as rejected.",
)
@click.option(
    "--interval",
    type=click.Choice(["subject-bootstrap", "subject-bootstrap-logit"]),
    help="Add confidence intervals over the columns subject and instrument of LIST.  [none]",
)
@interval_options
@click.option("--name", metavar="NAME", help="Name of the detector.  [the file's name]")
@output_options(
    "results.nc, summary.json, table.txt, curve.csv and species.csv", "draw the plots", report=True
)
def command(
    data: str, dev: str | None, kind: str | None, scores_key: str | None, name: str | None,
    interval: str | None, potential: dict[str, float] | None, most: float | None, **options: Any,
) -> None:  # fmt: skip
    """Evaluate presentation attack detection: APCER by species, and BPCER.

    Each line of LIST has a detection score, larger for bona fide, and the attack instrument species
    in a column `attack`, empty for bona fide. Instead of the column, it may have the class words of
    ASVspoof: bonafide and spoof, or target, nontarget and spoof. A line without a score is a
    non-response. APCER is the largest over the species (ISO/IEC 30107-3); APCER pooled over all
    attacks is given beside it.
    """
    require_method(interval)
    if (potential is None) != (most is None):
        raise click.UsageError(
            "give --potential and --most together, such as --potential print=1,mask=3 --most 2"
        )
    levels = None if potential is None else (potential, most)
    with StudyCommand(data, options, reads=False) as run:
        from bioeval.base.errors import DataError
        from bioeval.evaluation.pad import blocks, pad
        from bioeval.scores.formats.presentation_lists import read_presentations

        listed = read_presentations(data, scores_key)
        other = None if dev is None else read_presentations(dev, scores_key)
        declared = {x.kind for x in (listed, other) if x is not None and x.kind}
        if len(declared | ({kind} if kind else set())) > 1:
            raise DataError(
                f"{data}: scores are declared {' and '.join(sorted(declared | {str(kind)}))}; "
                "expected one kind"
            )
        run.name = name or Path(data).stem
        run.stages("counting")
        found = pad(
            listed.values, listed.attack, kind=kind or next(iter(declared), "similarity"),
            dev=None if other is None else (other.values, other.attack),
            potential=levels,
            subjects=listed.subjects, instrument=listed.instruments, interval=interval,
            name=run.name, **run.options,
        )  # fmt: skip
        species, curve = rows_over(found, "species"), rows_over(found, "threshold")
        for i, row in enumerate(curve):
            rates = found["apcer_of_species"].values[i].tolist()
            row |= {f"apcer {x}": y for x, y in zip(found["species"].values, rates, strict=True)}
        document = {
            **attributes(found, data),
            "apcer_targets": rows_over(found, "apcer_target"),
            "species": species,
        }
        csv = {"curve.csv": as_columns(curve), "species.csv": as_columns(species)}
        run.finish(found, blocks, document, csv)
