"""``bioeval convert``: write what a file holds in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.cli.options import Command, json_option, naming, reading_options, take_reading
from bioeval.scores.formats.registry import format_to_write, listing, written_formats

_WRITTEN = listing([f"{form.suffixes[0]} ({form.written})" for form in written_formats()])

HELP = f"""Read DATA, any file that bioeval run reads, and write it to OUT.

OUT is named {_WRITTEN}. What OUT cannot hold is listed.

Examples:
  bioeval convert features.mat scores.npz
  bioeval convert faces.npz pairs.csv --embeddings dlib128 --labels subject --pairs view2
  bioeval convert matrix.npy scores.npz --kind similarity --labels people.csv --force
"""


@click.command("convert", cls=Command, help=HELP)
@click.argument("data")
@click.argument("out")
@click.option("--force", is_flag=True, help="Replace OUT where it exists.")
@json_option("Describe what was written as JSON.")
@reading_options
def command(data: str, out: str, force: bool, as_json: bool, **options: Any) -> None:
    """Read a file and write another."""
    reading = take_reading(data, options)
    from bioeval.base.errors import DataError, renamed
    from bioeval.cli.console import note, put, show_json
    from bioeval.cli.progress import Stages
    from bioeval.scores.formats import load, losses, save
    from bioeval.scores.formats.files import check_target

    place = Path(out)
    form = format_to_write(place)
    check_target(place)
    existing = [path for path in form.files(place) if path.exists()]
    if existing and not force:
        names = " and ".join(str(path) for path in existing)
        raise DataError(f"{names} would be replaced; say --force, or another name")
    with Stages() as stages:
        stages(f"reading {data}")
        scores = load(data, **reading)
        stages(f"writing {out}")
        save(scores, place)
    lost = [renamed(text, naming()) for text in losses(scores, place)]
    if as_json:
        about = {"layout": scores.layout, "shape": scores.shape, "kind": scores.kind}
        show_json({"file": data, "out": out, **about, "not_kept": lost})
        return
    put(f"wrote {out}: {scores!r}\n")
    for text in lost:
        note(f"bioeval: note: {text}")
