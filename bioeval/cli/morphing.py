"""``bioeval morphing``: morphing attacks."""

from __future__ import annotations

from typing import Any

import click

from bioeval.base.errors import counted
from bioeval.cli.arguments import THRESHOLD
from bioeval.cli.documents import as_columns, attributes, rows_over
from bioeval.cli.options import (
    Command,
    far_option,
    interval_options,
    names_option,
    output_options,
    reading_options,
    require_method,
    system_names,
)
from bioeval.cli.study_command import StudyCommand


@click.command("morphing", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="DATA...")
@click.option(
    "--bona-fide",
    "bona_fide",
    multiple=True,
    metavar="FILE",
    help="Genuine and impostor attempts of a system; once per system.",
)
@click.option(
    "--threshold",
    type=THRESHOLD,
    help="Threshold of the attack potential: a number, or far=X on --bona-fide.",
)
@far_option
@click.option(
    "--interval",
    type=click.Choice(["subject-bootstrap", "subject-bootstrap-logit"]),
    help="Add confidence intervals over subjects.  [none]",
)
@interval_options
@names_option
@output_options(
    "results.nc, summary.json, table.txt, curve.csv and map.csv", "draw the plots", report=True
)
@reading_options
def command(
    files: tuple[str, ...], bona_fide: tuple[str, ...], name: tuple[str, ...],
    interval: str | None, **options: Any,
) -> None:  # fmt: skip
    """Evaluate how many morphs are accepted for all of their contributors.

    Each DATA is the matrix of one system, of probes against morphed images. The gallery's metadata
    columns contributor_1, contributor_2 ... name the subjects of a morph; source_1, source_2 ...
    name the probes from which it was made, which are left out. The table states the number of
    attempts per contributor, since MMPMR grows with it.
    """
    require_method(interval)
    if bona_fide and len(bona_fide) != len(files):
        raise click.UsageError(
            f"--bona-fide is given {counted(len(bona_fide), 'times')} for "
            f"{counted(len(files), 'systems')}; expected once for each"
        )
    with StudyCommand(files[0], options) as run:
        names = system_names(files, name, run.reading)
        if len(set(names)) < len(names):
            raise click.UsageError("two systems have one name; name each with --name")
        from bioeval.evaluation.morphing import blocks, morphing

        systems = {x: run.read(file, x) for x, file in zip(names, files, strict=True)}
        run.reading = run.reading | {"meta": {}}
        others = {x: run.read(file, x) for x, file in zip(names, bona_fide, strict=bool(bona_fide))}
        given: Any = (systems, others or None)
        if len(names) == 1:
            given = systems[names[0]], others.get(names[0])
        run.name = ", ".join(names)
        found = run.count(morphing, given[0], bona_fide=given[1], interval=interval, **run.options)
        over = ("system",) if len(names) > 1 else ()
        curve = rows_over(found, *over, "threshold")
        document = {**attributes(found, files[0])}
        if over:
            document["systems"] = rows_over(found, *over)
        if bona_fide:
            document["far_targets"] = rows_over(found, *over, "far_target")
        csv = {"curve.csv": as_columns(curve)}
        if "map" in found:
            document["map"] = rows_over(found, "attempts", "systems")
            csv["map.csv"] = as_columns(document["map"])
        run.finish(found, blocks, document, csv)
