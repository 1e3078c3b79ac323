"""``bioeval tally``, ``best-mates`` and ``merge``: count at one site, merge at another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bioeval.base.errors import Argument, DataError, MergeError, renamed, wrapped
from bioeval.base.version import __version__
from bioeval.cli.arguments import NUMBERS, ThresholdsOption, card
from bioeval.cli.cluster_options import cluster_options, executor_from_options
from bioeval.cli.command import Command, flag, naming, option, option_group, progress_shown
from bioeval.cli.console import note, put, show_json, terminal_width
from bioeval.cli.options import (
    far_option,
    json_option,
    markup_options,
    ranks_option,
    read_scores,
    reading_options,
    report_option,
    take_reading,
    terms_option,
)
from bioeval.cli.outputs import take_form, take_out, write_page
from bioeval.views import print_table

if TYPE_CHECKING:
    from bioeval.studies.sites.gallery_parts import BestMates
    from bioeval.studies.sites.protocol_tally import Tally

#: Options of a site: what is counted, where it goes, and under which key.
site_options = option_group(
    option(
        "--protocol CARD",
        "Name of a protocol, or path of a card (.toml); the same at all sites.",
        str,
        "auto",
    ),
    option("--out FILE", "File to write.", required=True),
    flag("--force", "Replace FILE if it exists."),
    option("--site NAME", "Name of the site.", str, ""),
    option(
        "--key-file FILE",
        "File with a secret that all sites share, for digests of subjects and probes.  [a "
        "public key]",
        name="key",
    ),
    ranks_option,
    json_option("Print one JSON document."),
    reading_options,
)


def secret(path: str | None) -> bytes | None:
    """Return the secret in a file, without white space around it."""
    if path is None:
        return None
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
    if as_json:
        show_json({"file": str(place), **about, "discloses": found.disclosed()})
        return
    width = min(terminal_width(), 100)
    text = wrapped(f"wrote {place}: {repr(found).strip('<>')}", width, hang=2)
    text += ["", "It holds no template and no name. It discloses:"]
    listed = [x for line in found.disclosed() for x in wrapped(f"  - {line}", width, hang=4)]
    put("\n".join([*text, *listed]))
    put("\n")


@click.command("best-mates", cls=Command)
@click.argument("data")
@site_options
@cluster_options()
def best_mates_command(
    data: str, out: str, force: bool, site: str, key: str | None, as_json: bool, **options: Any
) -> None:
    """Find the nearest mate of each probe in DATA, one part of a gallery.

    This is the first of two rounds: each site compares the same probes with its own templates.
    `bioeval merge` merges the files of all sites, and `bioeval tally --mates` takes the merged file
    at each site.
    """
    place = take_out(out, force, (data,))
    reading = take_reading(data, options)
    options["protocol"] = card(options["protocol"])
    with progress_shown() as stages:
        from bioeval.scores.formats import load
        from bioeval.studies.sites.gallery_parts import best_mates

        stages(f"reading {data}")
        scores = load(data, **reading)
        stages("finding mates")
        given = {**options, "site": site, "key": secret(key)}
        with executor_from_options(given, stages) as where:
            found = best_mates(scores, **given, **where, progress=stages.counting)
        stages(f"writing {place}")
        found.save(place)
    show_written(found, place, as_json, protocol=found.protocol)


_OF_SHARING = ("salt", "min_count")


@click.command("tally", cls=Command)
@click.argument("data")
@site_options
@option("--name NAME", "Name of the system; tallies of the same name merge.  [the file's name]")
@option(
    "--thresholds",
    "Thresholds, or a file with one threshold per line; the same at all sites.  [the card's]",
    ThresholdsOption(),
)
@far_option
@option("--normalize LOW,HIGH", "GOM: distances that are scaled to 0 and 1.", NUMBERS)
@flag(
    "--points",
    "Keep impostor scores around operating points, so that a merged tally has exact "
    "operating points.",
)
@option("--mates FILE", "Merged file of bioeval best-mates, if DATA is one part of a gallery.")
@flag("--fold", "Write counts by threshold and rank instead of facts per probe: a small file.")
@flag("--share", "Write counts only, to share: no score, no name, no small count.")
@option(
    "--salt-file FILE",
    "With --share: hash the digests of subjects and probes with this secret.  [omit them]",
    name="salt",
)
@option(
    "--min-count N",
    "With --share: leave out thresholds and ranks until no count is between 1 and N - 1; 0 leaves "
    "out none.  [5]",
    click.IntRange(0),
)
@cluster_options()
def tally_command(
    data: str,
    protocol: str,
    out: str,
    force: bool,
    mates: str | None,
    fold: bool,
    share: bool,
    as_json: bool,
    name: str | None,
    **options: Any,
) -> None:
    """Count DATA under a protocol, and write counts that other sites can add to.

    `bioeval merge` adds the counts of several sites, and prints the rates of all their data. The
    command prints what the file discloses about people.
    """
    place = take_out(out, force, (data,))
    sharing = {x: value for x in _OF_SHARING if (value := options.pop(x)) is not None}
    if sharing and not share:
        raise click.UsageError("--salt-file and --min-count belong to --share")
    sharing["salt"] = secret(sharing.get("salt"))
    max_rank, thresholds = options["max_rank"], options["thresholds"]
    reading = take_reading(data, options)
    protocol = card(protocol)
    options["key"] = secret(options["key"])
    if isinstance(thresholds, int) and (share or fold):
        raise DataError(f"{Argument('thresholds')} is a number; a fixed grid is a list or a file")
    with progress_shown() as stages:
        from bioeval.studies.sites.gallery_parts import BestMates
        from bioeval.studies.sites.tally import tally

        if mates is not None:
            options["mates"] = BestMates.load(mates)
        scores = read_scores(data, reading, stages)
        scores.name = name or scores.name
        stages("counting")
        with executor_from_options(options, stages, scores) as where:
            found = tally(scores, protocol, **options, **where, progress=stages.counting)
        grid = {} if max_rank is None else {"max_rank": max_rank}
        if share:
            found = found.share(thresholds, **grid, **sharing)
        elif fold:
            found = found.folded(thresholds, **grid)
        stages(f"writing {place}")
        found.save(place)
    show_written(found, place, as_json, protocol=found.protocol, tasks=list(found.parts))


T = TypeVar("T")


@click.command("merge", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="A [B ...]")
@flag(
    "--union-of-galleries", "The tallies have the same probes, each against one part of a gallery."
)
@flag("--same-system", "The tallies belong to one system, although its names differ.")
@option("--out FILE", "Also write the merged file.")
@report_option
@flag("--force", "Replace FILE and HTML if they exist.")
@terms_option
@json_option("Print one JSON document instead of a table.")
@markup_options
def merge_command(
    files: tuple[str, ...],
    union_of_galleries: bool,
    same_system: bool,
    out: str | None,
    report: str | None,
    force: bool,
    terms: str,
    **options: Any,
) -> None:
    """Merge tallies or best mates A, B ..., and print the rates of all probes.

    A single tally is printed as it is. Tallies are refused if their systems have different names,
    if they share a probe, or if they were counted in different ways.
    """
    as_json, markup = take_form(options)
    place = None if out is None else take_out(out, force, files)
    page = None if report is None else take_out(report, force)
    with progress_shown():
        from bioeval.studies.sites.gallery_parts import BestMates

        found = _merged(files, union_of_galleries, same_system)
        if page is not None:
            if isinstance(found, BestMates):
                raise click.UsageError("--report is of tallies; these are mates")
            write_page(page, found.tree(), files)
        if place is not None:
            found.save(place)
    if isinstance(found, BestMates):
        if place is None:
            raise click.UsageError("mates are merged into a file; give --out FILE")
        show_written(found, place, as_json)
        return
    if found.part is not None and found.part.missing:
        if place is None:
            found.part.require_complete()
        show_written(found, place, as_json)
        return
    if as_json:
        show_json(_document(found, files))
    else:
        from bioeval.views import in_terms
        from bioeval.views.tables import table_of

        named, shown = naming(), in_terms(found.tree(), terms)
        print_table(table_of(shown, lambda text: renamed(text, named)), markup)
    for written in filter(None, (place, page)):
        note(f"wrote {written}")


def _merged(files: tuple[str, ...], union: bool, same_system: bool) -> Tally | BestMates:
    """Read files of one kind, and merge their contents."""
    from bioeval.studies.sites.gallery_parts import BestMates
    from bioeval.studies.sites.protocol_tally import Tally
    from bioeval.studies.sites.tally_file import holds_mates

    mates = [holds_mates(file) for file in files]
    if all(mates):
        if union or same_system:
            option = "--union-of-galleries" if union else "--same-system"
            raise click.UsageError(f"{option} is of tallies; these are mates")
        return _sum(files, BestMates.load)
    if any(mates):
        odd = files[mates.index(True)]
        raise DataError(f"{odd}: holds mates, and another file a tally; merge files of one kind")
    return _sum(files, Tally.load, union_of_galleries=union, same_system=same_system)


def _sum(files: tuple[str, ...], load: Callable[[str], T], **options: Any) -> T:
    """Merge the contents of files; an error names the first file that does not fit."""
    found: Any = load(files[0])
    for file in files[1:]:
        other = load(file)
        try:
            found = found.merge(other, **options)
        except MergeError as error:
            raise error.preceded_by(f"{file}: ") from error
    return found


def _document(found: Tally, files: tuple[str, ...]) -> dict[str, Any]:
    """Return the results of a tally as a document."""
    from bioeval.cli.run_outputs import task_document
    from bioeval.views.tables import warnings

    tasks, named = {node: found.dataset(node) for node in found.parts}, naming()
    return {
        "bioeval": __version__,
        "files": list(files),
        "protocol": found.protocol,
        "tasks": {node: task_document(dataset) for node, dataset in tasks.items()},
        "warnings": [
            {"message": renamed(text, named), "tasks": paths}
            for text, paths in warnings(tasks).items()
        ],
        "discloses": found.disclosed(),
    }
