"""Options of the commands that count at one site and merge at another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import card
from bioeval.cli.options import (
    json_option,
    option_group,
    ranks_option,
    read_scores,
    reading_options,
    take_reading,
)

if TYPE_CHECKING:
    from bioeval.evaluation.protocol_tally import Tally
    from bioeval.scores.matrix import Scores

# Where counts go, and under which key.
_WRITTEN = option_group(
    click.option("--out", required=True, metavar="FILE", help="File to write."),
    click.option("--force", is_flag=True, help="Replace FILE where it exists."),
    click.option(
        "--site", default="", metavar="NAME", help="Name of the site, where several have data."
    ),
    click.option(
        "--key-file",
        "key",
        metavar="FILE",
        help="Secret that all sites share, for digests of subjects and probes.  [a public one]",
    ),
)

_SHOWN = option_group(json_option("Print one JSON document."), reading_options)

#: Options of a site: what is counted, where it goes, and under which key.
site_options = option_group(
    click.option(
        "--protocol",
        default="auto",
        metavar="CARD",
        help="Name of a protocol, or path of a card (.toml); all sites give the same one.",
    ),
    _WRITTEN,
    ranks_option,
    _SHOWN,
)

#: Arguments and options of a tally that follows its data.
change_options = option_group(
    click.argument("old"),
    click.argument("data"),
    click.option(
        "--protocol",
        metavar="CARD",
        help="Path of the card of OLD, if it is none of those shipped.",
    ),
    click.option(
        "--points",
        is_flag=True,
        help="Find the operating points of verification, too, by a look at all scores.",
    ),
    _WRITTEN,
    _SHOWN,
)


def take_out(out: str, force: bool, inputs: tuple[str, ...] = ()) -> Path:
    """Return the path to write, before anything is computed."""
    from bioeval.base.errors import DataError
    from bioeval.scores.formats.files import check_target

    place = Path(out)
    check_target(place)
    if any(place.resolve() == Path(x).resolve() for x in inputs):
        raise DataError(f"{place}: is one of the files to read; name another")
    if place.exists() and not force:
        raise DataError(f"{place} would be replaced; say --force, or another name")
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
        raise DataError(f"{file}: holds nothing but white space; expected a secret")
    return found.strip()


def show_tally(found: Tally, place: Path, as_json: bool, **more: Any) -> None:
    """Print which tally was written, and what it says of people."""
    if not as_json:
        what = repr(found).strip("<>") + "".join(f", {n:,} {x} compared" for x, n in more.items())
        show_disclosed(place, what, found.disclosed())
        return
    from bioeval.cli.console import show_json

    about = {"protocol": found.protocol, "tasks": list(found.parts)}
    show_json({"file": str(place), **about, **more, "discloses": found.disclosed()})


def change_tally(
    change: str,
    old: str,
    data: str,
    options: dict[str, Any],
    chosen: Callable[[Scores], dict[str, Any]] = lambda scores: {},
) -> None:
    """Extend the tally OLD by DATA, or withdraw from it, and write the result.

    `chosen` are its arguments that depend on the scores.
    """
    place = take_out(options.pop("out"), options.pop("force"), (old, data))
    as_json = options.pop("as_json")
    reading = take_reading(data, options)
    options["key"] = secret(options["key"])
    if options["protocol"] is not None:
        options["protocol"] = card(options["protocol"])
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.incremental.extension import extend_tally
        from bioeval.evaluation.incremental.withdrawal import withdraw
        from bioeval.evaluation.protocol_tally import Tally

        changed = {"extend": extend_tally, "withdraw": withdraw}[change]
        counted = Tally.load(old)
        scores = read_scores(data, reading, stages)
        stages("counting what changed")
        found = changed(counted, scores, **options, **chosen(scores))
        stages(f"writing {place}")
        found.save(place)
    show_tally(found, place, as_json, cells=found.cells)


def show_disclosed(place: Path, what: str, lines: list[str]) -> None:
    """Print what a file says of people."""
    import textwrap

    from bioeval.cli.console import pipe_width, put

    wrapper = textwrap.TextWrapper(
        min(pipe_width(), 100), initial_indent="  - ", subsequent_indent="    "
    )
    text = [f"wrote {place}: {what}", "", "It holds no template and no name. It discloses:"]
    put("\n".join([*text, *(row for line in lines for row in wrapper.wrap(line))]) + "\n")
