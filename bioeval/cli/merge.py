"""``bioeval merge``: the counts of several sites as one result."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.options import Command, naming, terms_option
from bioeval.cli.site_options import show_disclosed, take_out

if TYPE_CHECKING:
    from bioeval.evaluation.gallery_parts import BestMates
    from bioeval.evaluation.protocol_tally import Tally


@click.command("merge", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="A [B ...]")
@click.option(
    "--union-of-galleries",
    is_flag=True,
    help="The tallies are of the same probes, each against one part of a gallery.",
)
@click.option("--out", metavar="FILE", help="Write what was merged, too.")
@click.option("--force", is_flag=True, help="Replace FILE where it exists.")
@terms_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, not a table.")
def command(
    files: tuple[str, ...],
    union_of_galleries: bool,
    out: str | None,
    force: bool,
    terms: str,
    as_json: bool,
) -> None:
    """Merge tallies A, B ... and print the rates of all their probes; or merge best mates.

    A single tally is printed as it is. Tallies that share a probe, or that were counted in
    different ways, are refused.

    Examples
    --------
      bioeval merge north.tally south.tally
      bioeval merge north.tally south.tally --out both.tally --json
      bioeval merge north.mates south.mates --out all.mates
      bioeval merge north.tally south.tally --union-of-galleries
    """
    place = None if out is None else take_out(out, force, files)
    from bioeval.cli.progress import Stages

    with Stages():
        found = _merged(files, union_of_galleries)
        if place is not None:
            found.save(place)
    from bioeval.evaluation.gallery_parts import BestMates

    if isinstance(found, BestMates):
        if place is None:
            raise click.UsageError("mates are merged into a file; give --out FILE")
        _show_file(found, str(place), as_json)
        return
    if found.part is not None and found.part.missing:
        if place is None:
            found.part.require_complete()
        _show_file(found, str(place), as_json)
        return
    _show_rates(found, files, terms, as_json)
    if place is not None:
        from bioeval.cli.console import note

        note(f"wrote {place}")


def _merged(files: tuple[str, ...], union: bool) -> Tally | BestMates:
    """Read files of one kind, and merge what they hold."""
    from bioeval.evaluation.gallery_parts import BestMates
    from bioeval.evaluation.protocol_tally import Tally
    from bioeval.evaluation.tally_file import holds_mates

    mates = [holds_mates(file) for file in files]
    if all(mates):
        if union:
            raise click.UsageError("--union-of-galleries is of tallies; these are mates")
        return reduce(lambda a, b: a.merge(b), map(BestMates.load, files))
    if any(mates):
        odd = files[mates.index(True)]
        raise DataError(f"{odd}: holds mates, and another file a tally; merge files of one kind")
    tallies = map(Tally.load, files)
    return reduce(lambda a, b: a.merge(b, union_of_galleries=union), tallies)


def _show_file(found: Any, place: str, as_json: bool) -> None:
    """Say what was written, and what it discloses."""
    from pathlib import Path

    if as_json:
        from bioeval.cli.console import show_json

        show_json({"file": place, "discloses": found.disclosed()})
        return
    show_disclosed(Path(place), repr(found).strip("<>"), found.disclosed())


def _show_rates(found: Tally, files: tuple[str, ...], terms: str, as_json: bool) -> None:
    """Print the results of a tally as a table or as a document."""
    from bioeval.base.errors import renamed
    from bioeval.base.version import __version__
    from bioeval.cli.console import show, show_json
    from bioeval.cli.run_outputs import task_document
    from bioeval.views.tables import ResultTable, warnings
    from bioeval.views.terms import in_terms

    tree, named = found.tree(), naming()
    if as_json:
        tasks = {node: found.dataset(node) for node in found.parts}
        show_json(
            {
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
        )
        return
    show(ResultTable(in_terms(tree, terms), lambda text: renamed(text, named)))
