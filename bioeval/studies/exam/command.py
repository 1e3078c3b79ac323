"""``bioeval exam``: an exam to be solved by hand, with solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval import __version__
from bioeval.cli import Command, StudyCommand, option, shared_options


@click.command("exam", cls=Command)
@option("--questions N", "Number of questions.", click.IntRange(1, 1000), 5)
@option(
    "--topics T,...",
    "Topics to draw from: rates, verification, multi-template, threshold, open-set, closed-set, "
    "ties, reid.  [all]",
)
@option(
    "--variant N",
    "Variant of the exam: the same topics as in the others of this seed, and other numbers.",
    click.IntRange(1, 1000),
    1,
)
@shared_options(seed="Random seed; the same seed gives the same exam.")
@option("--out FILE", "Write the questions to a .md, .tex or .txt file.", name="sheet")
@option("--solutions FILE", "Write the solutions to a .md, .tex or .txt file.")
@option("--force", "Replace files that exist.", bool)
@option("--json", "Print the arrays and the answers as JSON.", bool, name="as_json")
def command(sheet: str | None, solutions: str | None, topics: str | None, **options: Any) -> None:
    """Write an exam: questions with small arrays, to be solved by hand, and their solutions.

    Without --out the questions are printed.
    """
    with StudyCommand("", options, reads=False) as run:
        from bioeval.studies.exam.exam import exam, require_ending

        for name, file in (("sheet", sheet), ("solutions", solutions)):
            if file is not None:
                require_ending(file, name)
                run.file_to_write(file)
        if sheet is not None and solutions is not None and Path(sheet) == Path(solutions):
            raise click.UsageError(
                f"--out and --solutions are both {sheet}: the solutions would replace the "
                "questions; give two files"
            )
        listed = [] if topics is None else [name.strip() for name in topics.split(",")]
        run.stages("drawing questions")
        made = exam(topics=listed, **run.options)
        if sheet is not None:
            made.save(sheet)
        if solutions is not None:
            made.solutions.save(solutions)
        document = {"bioeval": __version__, **made.document()}
        run.save(document, None, run.table(made) if sheet is None else None)
