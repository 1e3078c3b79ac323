"""``bioeval convert``: write what a file holds in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.cli.reading_options import reading, reading_options
from bioeval.scores.formats.registry import format_to_write, listing, written_formats

_WRITTEN = listing([f"{form.suffixes[0]} ({form.written})" for form in written_formats()])

HELP = f"""Read DATA, any file that bioeval run reads, and write it to OUT.

OUT is a file {_WRITTEN}. What OUT cannot hold is listed.

\b
Examples:
  bioeval convert features.mat scores.npz
  bioeval convert faces.npz pairs.csv --embeddings dlib128 --labels subject --pairs view2
  bioeval convert matrix.npy scores.npz --kind similarity --labels people.csv --force
"""


@click.command("convert", help=HELP, short_help="Write what a file holds in another format.")
@click.argument("data")
@click.argument("out")
@click.option("--force", is_flag=True, help="Replace OUT where it is there.")
@click.option("--json", "as_json", is_flag=True, help="Say what was written as JSON.")
@reading_options
def command(data: str, out: str, force: bool, as_json: bool, **options: Any) -> None:
    """Read a file and write another."""
    given = reading(data, options)
    from bioeval.base.errors import DataError
    from bioeval.cli.console import Stages, note, put, show_json
    from bioeval.cli.reword_errors import rewording
    from bioeval.scores.formats import load, losses, save
    from bioeval.scores.formats.files import check_target

    place = Path(out)
    form = format_to_write(place)
    check_target(place)
    there = [path for path in form.files(place) if path.exists()]
    if there and not force:
        names = " and ".join(str(path) for path in there)
        raise DataError(f"{names} would be replaced; say --force, or another name")
    with Stages() as tell:
        tell(f"reading {data}")
        scores = load(data, **given)
        tell(f"writing {out}")
        save(scores, place)
    lost = [rewording("convert")(text) for text in losses(scores, place)]
    if as_json:
        about = {"layout": scores.layout, "shape": scores.shape, "kind": scores.kind}
        show_json({"file": data, "out": out, **about, "not_kept": lost})
        return
    put(f"wrote {out}: {scores!r}\n")
    for text in lost:
        note(f"bioeval: note: {text}")
