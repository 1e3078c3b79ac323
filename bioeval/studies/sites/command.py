"""``bioeval tally``, ``best-mates`` and ``merge``: count at one site, merge at another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bioeval import DataError, MergeError, __version__
from bioeval.base import Argument
from bioeval.cli import (
    Command,
    StudyCommand,
    Value,
    option,
    option_group,
    output_options,
    shared_options,
)

if TYPE_CHECKING:
    from bioeval.studies.sites.gallery_parts import BestMates
    from bioeval.studies.sites.protocol_tally import Tally


#: Options of a site: what is counted, where it goes, and under which key.
site_options = option_group(
    option(
        "--protocol CARD",
        "Name of a protocol, or path of a card (.toml); the same at all sites.",
        Value.CARD,
        "auto",
    ),
    option("--out FILE", "File to write.", required=True),
    option("--force", "Replace FILE if it exists.", bool),
    option("--site NAME", "Name of the site.", str, ""),
    option(
        "--key-file FILE",
        "File with a secret that all sites share, for digests of subjects and probes.  [a "
        "public key]",
        name="key",
    ),
    option("--json", "Print one JSON document.", bool, name="as_json"),
    shared_options(max_rank=True, reading=True, workers=True, checkpoint=True),
)


_MOST_SECRET = 1 << 20  # bytes


def secret(path: str | None) -> bytes | None:
    """Return the secret in a file, without white space around it."""
    if path is None:
        return None
    from bioeval.scores import existing_file

    file = existing_file(path, "a file with a secret")
    with open(file, "rb") as opened:
        content = opened.read(_MOST_SECRET + 1)
    if len(content) > _MOST_SECRET:
        raise DataError(f"{file}: is larger than a secret; expected one line")
    if not content.strip():
        raise DataError(f"{file}: is blank; expected a secret")
    return content.strip()


def finish(
    run: StudyCommand, place: Path | None, contents: Tally | BestMates, **about: Any
) -> None:
    """Keep for printing what a file holds and discloses about people."""
    from bioeval.studies.sites.section import SiteFile

    run.finish(SiteFile(place, contents), more={"file": str(place), **about})


@click.command("best-mates", cls=Command)
@click.argument("data")
@site_options
def best_mates_command(data: str, out: str, site: str, key: str | None, **options: Any) -> None:
    """Find the nearest mate of each probe in DATA, one part of a gallery.

    This is the first of two rounds: each site compares the same probes with its own templates.
    `bioeval merge` merges the files of all sites, and `bioeval tally --mates` takes the merged file
    at each site.
    """
    with StudyCommand(data, options) as run:
        place = run.file_to_write(out)
        from bioeval import load
        from bioeval.studies.sites.gallery_parts import best_mates

        run.stages(f"reading {data}")
        scores = load(data, **run.reading)
        run.stages("finding mates")
        where = run.place()
        arguments = {**run.options, "site": site, "key": secret(key)}
        mates = best_mates(scores, **arguments, **where, progress=run.stages.counting)
        run.stages(f"writing {place}")
        mates.save(place)
        finish(run, place, mates, protocol=mates.protocol)


@click.command("tally", cls=Command)
@click.argument("data")
@site_options
@option("--name NAME", "Name of the system; tallies of the same name merge.  [the file's name]")
@shared_options(
    thresholds="Thresholds, or a file with one threshold per line; the same at all sites.  "
    "[the card's]",
    far=True,
)
@option("--normalize LOW,HIGH", "GOM: distances that are scaled to 0 and 1.", Value.NUMBERS)
@option(
    "--points",
    "Keep impostor scores around operating points, so that a merged tally has exact "
    "operating points.",
    bool,
)
@option("--mates FILE", "Merged file of bioeval best-mates, if DATA is one part of a gallery.")
@option(
    "--fold", "Write counts by threshold and rank instead of facts per probe: a small file.", bool
)
@option("--share", "Write counts only, to share: no score, no name, no small count.", bool)
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
def tally_command(
    data: str,
    protocol: str,
    out: str,
    mates: str | None,
    fold: bool,
    share: bool,
    name: str | None,
    **options: Any,
) -> None:
    """Count DATA under a protocol, and write counts that other sites can add to.

    `bioeval merge` adds the counts of several sites, and prints the rates of all their data. The
    command prints what the file discloses about people.
    """
    salt, min_count = options.pop("salt"), options.pop("min_count")
    if not share and (salt is not None or min_count is not None):
        raise click.UsageError("--salt-file and --min-count belong to --share")
    sharing: dict[str, Any] = {"salt": secret(salt)}
    if min_count is not None:
        sharing["min_count"] = min_count
    max_rank, thresholds = options["max_rank"], options["thresholds"]
    with StudyCommand(data, options) as run:
        place = run.file_to_write(out)
        run.options["key"] = secret(options["key"])
        if isinstance(thresholds, int) and (share or fold):
            raise DataError(
                Argument("thresholds"), " is a number; a fixed grid is a list or a file"
            )
        from bioeval.studies.sites.gallery_parts import BestMates
        from bioeval.studies.sites.tally import tally

        if mates is not None:
            run.options["mates"] = BestMates.load(mates)
        scores = run.read(name=name or None)
        run.place(scores)
        counts = run.count(tally, scores, protocol, **run.options)
        grid = {} if max_rank is None else {"max_rank": max_rank}
        if share:
            counts = counts.share(thresholds, **grid, **sharing)
        elif fold:
            counts = counts.folded(thresholds, **grid)
        run.stages(f"writing {place}")
        counts.save(place)
        finish(run, place, counts, protocol=counts.protocol, tasks=list(counts.parts))


T = TypeVar("T")


@click.command("merge", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="A [B ...]")
@option(
    "--union-of-galleries",
    "The tallies have the same probes, each against one part of a gallery.",
    bool,
)
@option("--same-system", "The tallies belong to one system, although its names differ.", bool)
@option("--out FILE", "Also write the merged file.")
@option("--force", "Replace FILE and HTML if they exist.", bool)
@output_options()
def merge_command(
    files: tuple[str, ...],
    union_of_galleries: bool,
    same_system: bool,
    out: str | None,
    **options: Any,
) -> None:
    """Merge tallies or best mates A, B ..., and print the rates of all probes.

    A single tally is printed as it is. Tallies are refused if their systems have different names,
    if they share a probe, or if they were counted in different ways.
    """
    with StudyCommand(files[0], options, reads=False) as run:
        place = run.file_to_write(out) if out is not None else None
        from bioeval.studies.sites.gallery_parts import BestMates

        merged = _merged(files, union_of_galleries, same_system)
        if run.output.page is not None:
            if isinstance(merged, BestMates):
                raise click.UsageError("--report is of tallies; these are mates")
            run.output.write_page(merged.tree(), files, run.stages)
        if place is not None:
            merged.save(place)
        elif isinstance(merged, BestMates):
            raise click.UsageError("mates are merged into a file; give --out FILE")
        elif merged.part is not None and merged.part.missing:
            merged.part.require_complete()
        if isinstance(merged, BestMates) or (merged.part is not None and merged.part.missing):
            finish(run, place, merged)
            return
        document = _document(merged, files, run) if run.output.documented else {}
        run.save(document, None, run.table(run.in_terms(merged.tree())))
        if place is not None:
            run.output.remarks.append(f"wrote {place}")


def _merged(files: tuple[str, ...], union: bool, same_system: bool) -> Tally | BestMates:
    """Read files of one kind, and merge their contents."""
    from bioeval.studies.sites.gallery_parts import BestMates
    from bioeval.studies.sites.protocol_tally import Tally
    from bioeval.studies.sites.tally_file import holds_mates

    mates = list(map(holds_mates, files))
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
    total: Any = load(files[0])
    for file in files[1:]:
        other = load(file)
        try:
            total = total.merge(other, **options)
        except MergeError as error:
            raise error.preceded_by(f"{file}: ") from error
    return total


def _document(tally: Tally, files: tuple[str, ...], run: StudyCommand) -> dict[str, Any]:
    """Return the results of a tally as a document."""
    from bioeval.studies.sites.section import SiteFile, section
    from bioeval.views import as_data, sections_of

    datasets = {node: tally.dataset(node) for node in tally.parts}
    rates: dict[str, Any] = {}
    for shown in sections_of(tally.tree()):
        rates |= as_data(shown)
    tasks = {}
    for node, dataset in datasets.items():
        tasks[node] = {**run.task(dataset), "rates": rates.get(node.replace("/", "_"), [])}
    return {
        "bioeval": __version__,
        "files": list(files),
        "protocol": tally.protocol,
        "tasks": tasks,
        "messages": run.messages_by_task(datasets),
        **as_data(section(SiteFile(None, tally))),
    }
