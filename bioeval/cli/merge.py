"""``bioeval merge``: the counts of several sites as one result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bioeval.base.errors import DataError, MergeError
from bioeval.cli.options import Command, json_option, naming, report_option, terms_option
from bioeval.cli.site_options import show_written, take_out

if TYPE_CHECKING:
    from bioeval.evaluation.gallery_parts import BestMates
    from bioeval.evaluation.protocol_tally import Tally

T = TypeVar("T")


@click.command("merge", cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="A [B ...]")
@click.option(
    "--union-of-galleries",
    is_flag=True,
    help="The tallies have the same probes, each against one part of a gallery.",
)
@click.option(
    "--same-system",
    is_flag=True,
    help="The tallies belong to one system, although its names differ.",
)
@click.option("--out", metavar="FILE", help="Also write the merged file.")
@report_option
@click.option("--force", is_flag=True, help="Replace FILE and HTML if they exist.")
@terms_option
@json_option("Print one JSON document instead of a table.")
def command(
    files: tuple[str, ...],
    union_of_galleries: bool,
    same_system: bool,
    out: str | None,
    report: str | None,
    force: bool,
    terms: str,
    as_json: bool,
) -> None:
    """Merge tallies or best mates A, B ..., and print the rates of all probes.

    A single tally is printed as it is. Tallies are refused if their systems have different names,
    if they share a probe, or if they were counted in different ways.
    """
    place = None if out is None else take_out(out, force, files)
    from bioeval.cli.outputs import check_page, write_page
    from bioeval.cli.progress import Stages

    page = None if report is None else check_page(report, force)
    with Stages():
        from bioeval.evaluation.gallery_parts import BestMates

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
    _show_rates(found, files, terms, as_json)
    from bioeval.cli.console import note

    for written in filter(None, (place, page)):
        note(f"wrote {written}")


def _merged(files: tuple[str, ...], union: bool, same_system: bool) -> Tally | BestMates:
    """Read files of one kind, and merge their contents."""
    from bioeval.evaluation.gallery_parts import BestMates
    from bioeval.evaluation.protocol_tally import Tally
    from bioeval.evaluation.tally_file import holds_mates

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
