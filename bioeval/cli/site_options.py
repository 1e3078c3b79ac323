"""Options of the commands that count at one site and merge at another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bioeval.cli.options import (
    json_option,
    option_group,
    ranks_option,
    reading_options,
)

#: Options of a site: what is counted, where it goes, and under which key.
site_options = option_group(
    click.option(
        "--protocol",
        default="auto",
        metavar="CARD",
        help="Name of a protocol, or path of a card (.toml); the same at all sites.",
    ),
    click.option("--out", required=True, metavar="FILE", help="File to write."),
    click.option("--force", is_flag=True, help="Replace FILE if it exists."),
    click.option("--site", default="", metavar="NAME", help="Name of the site."),
    click.option(
        "--key-file",
        "key",
        metavar="FILE",
        help="File with a secret that all sites share, for digests of subjects and probes.  [a "
        "public key]",
    ),
    ranks_option,
    json_option("Print one JSON document."),
    reading_options,
)


def take_out(out: str, force: bool, inputs: tuple[str, ...] = ()) -> Path:
    """Return the path to write, checked before anything is computed."""
    from bioeval.base.errors import DataError
    from bioeval.scores.formats.files import check_target

    place = Path(out)
    check_target(place)
    if any(place.resolve() == Path(x).resolve() for x in inputs):
        raise DataError(f"{place}: is one of the files to read; name another")
    if place.exists() and not force:
        raise DataError(f"{place} would be replaced; give --force or another name")
    return place


def secret(path: str | None) -> bytes | None:
    """Return the secret in a file, without white space around it."""
    if path is None:
        return None
    from bioeval.base.errors import DataError
    from bioeval.scores.formats.files import MOST_SETTINGS, existing_file

    file = existing_file(path, "a file with a secret")
    with open(file, "rb") as opened:
        found = opened.read(MOST_SETTINGS + 1)
    if len(found) > MOST_SETTINGS:
        raise DataError(f"{file}: is larger than a secret; expected one line")
    if not found.strip():
        raise DataError(f"{file}: is blank; expected a secret")
    return found.strip()


def show_written(found: Any, place: Path | None, as_json: bool, **about: Any) -> None:
    """Print what a file holds and discloses about people; `about` is in the document alone."""
    from bioeval.base.errors import wrapped
    from bioeval.cli.console import put, show_json, terminal_width

    if as_json:
        show_json({"file": str(place), **about, "discloses": found.disclosed()})
        return
    width = min(terminal_width(), 100)
    text = wrapped(f"wrote {place}: {repr(found).strip('<>')}", width, hang=2)
    text += ["", "It holds no template and no name. It discloses:"]
    listed = [x for line in found.disclosed() for x in wrapped(f"  - {line}", width, hang=4)]
    put("\n".join([*text, *listed]))
    put("\n")
