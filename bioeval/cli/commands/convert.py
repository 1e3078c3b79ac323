"""``bioeval convert``: write the data of a file in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bioeval.base.errors import wrapped
from bioeval.cli.command import in_options, option
from bioeval.cli.console import terminal_width
from bioeval.cli.outputs import take_scores
from bioeval.cli.shared import shared

if TYPE_CHECKING:
    from bioeval.cli.running import Run


@click.argument("files", nargs=-1, metavar="DATA [FILE] OUT")
@option("--list", "List the formats that are read and written.", bool, name="listed")
@option("--dry-run", "Print what would be written and what lost; write nothing.", bool)
@option("--force", "Replace OUT if it exists.", bool)
@option("--json", "Describe the written file as JSON.", bool, name="as_json")
@shared(files=False, page=False, printed=False, name=False)
def convert_command(run: Run, listed: bool, dry_run: bool, files: tuple[str, ...] = ()) -> None:
    """Read DATA, any file that `bioeval run` reads, and write it to OUT.

    bioeval convert features.mat scores.npz
    bioeval convert --list

    The ending of OUT chooses the format: .npz (everything in one file), .parquet (a list of pairs)
    or .csv (a list of pairs, also as .tsv, .txt or .csv.gz). The command lists what OUT cannot
    hold.
    """
    from bioeval.scores.formats import losses, save

    if listed:
        run.keep(_formats(), None)
        return
    if len(files) not in (2, 3):
        raise click.UsageError(
            f"{len(files)} files are given; expected DATA, perhaps its second file, and OUT; or "
            "--list"
        )
    data, *second, out = files
    take_scores(out, run.force or dry_run)
    scores = run.read(data, *second)
    if not dry_run:
        run.stages(f"writing {out}")
        save(scores, out)
    lost = losses(scores, Path(out))
    about = {"layout": scores.layout, "shape": scores.shape, "kind": scores.kind}
    document = {"file": data, "out": out, **about, "not_kept": lost, "written": not dry_run}
    text = f"{'would write' if dry_run else 'wrote'} {out}: {scores!r}\n"
    run.keep(text, document)
    if not run.as_json:
        run.remark(*(f"bioeval: note: {in_options(line)}" for line in lost))


def _formats() -> str:
    from bioeval.scores.formats.reading import FORMATS
    from bioeval.scores.formats.writing import WRITTEN

    width = max(map(len, FORMATS)) + 2
    lines = []
    for name, (_, _, ends, holds) in FORMATS.items():
        written = next((form.what for form in WRITTEN if form.endings[0] in ends), "")
        also = f"; written: {written}" if written else ""
        lines += wrapped(f"{name:<{width}}{holds}{also}", terminal_width(), hang=width)
    return "\n".join(lines) + "\n"
