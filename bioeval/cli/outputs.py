"""What a command writes and prints: a folder with all its files or none, a page, a table."""

from __future__ import annotations

import contextlib
import csv
import itertools
import os
import shlex
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from bioeval.base.csv_cells import as_cell
from bioeval.base.errors import BioevalWarning, DataError, escaped
from bioeval.cli.console import as_json, note, show_json
from bioeval.views.show import WIDTH, as_text, print_table

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.views.writers.terminal import Form


#: What is written as CSV: rows with the same keys, or columns of the same length.
Table: TypeAlias = list[dict[str, Any]] | Mapping[str, Iterable[Any]]

SUMMARY = "summary.json"

# A folder that holds one of these holds the results of an earlier run.
_RESULTS = (SUMMARY, "results.nc", "table.txt")


def check_folder(out: str, force: bool) -> Path:
    """Return `out` if results can be written there; refuse a folder with results unless `force`."""
    from bioeval.base.replacing import no_folder, no_loop

    folder = no_loop(Path(out))
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: is a file; --out expects a folder for the results")
    place = folder if folder.exists() else folder.absolute().parent
    if not place.is_dir():
        raise DataError(f"{folder}: {no_folder(place)}")
    if not os.access(place, os.W_OK | os.X_OK):
        raise DataError(f"{folder}: {place} may not be written to")
    places = [*map(folder.joinpath, _RESULTS)]
    refuse_inputs(places, out)
    refuse_to_replace(places, force)
    return folder


def take_out(out: str, force: bool) -> Path:
    """Return the path of a file to write, checked before anything is computed."""
    from bioeval.base.replacing import check_target

    place = check_target(out)
    refuse_inputs([place], out)
    refuse_to_replace([place], force)
    return place


def take_scores(out: str, force: bool) -> Path:
    """Do the same for a file of scores."""
    from bioeval.scores.formats.writing import form_of

    form_of(Path(out))
    return take_out(out, force)


def refuse_inputs(places: Iterable[Path], out: str) -> None:
    """Raise :class:`FileInUseError` where the command that runs reads a file that it would write.

    `places` are the files that it would write for the word `out` of its command line. It reads all
    other files that the command line names, and the labels beside a .npy file. A link is the file
    to which it leads.
    """
    from bioeval.base.replacing import FileInUseError

    there = list(filter(Path.exists, places))
    if not there:  # what is not there is not read
        return
    for word, file in _files_to_read(out):
        for place in there:
            if os.path.exists(file) and place.samefile(file):
                role = "one of the files to read" if word == str(place) else f"read for {word!r}"
                raise FileInUseError(f"{place}: is {role}; name another file to write")


def _files_to_read(out: str) -> Iterator[tuple[str, Path]]:
    """Yield the files that the command line names, but once the word `out`, each with its word."""
    from bioeval.cli.lazy_group import COMMAND_LINE
    from bioeval.scores.formats.labels import SIBLINGS, sibling

    context = click.get_current_context(silent=True)
    if context is None:
        return
    words = list(context.meta.get(COMMAND_LINE, ()))
    words += [word.partition("=")[2] for word in words]  # of --labels=FILE
    if out in words:
        words.remove(out)
    for word in filter(None, words):
        path = Path(word)
        yield word, path
        if path.suffix.lower() == ".npy":
            for ending in SIBLINGS:
                yield word, sibling(path, ending)


def refuse_to_replace(places: Iterable[Path], force: bool) -> None:
    """Raise :class:`DataError` if files exist, unless `force` and the system allow it."""
    from bioeval.base.replacing import require_unused

    there = list(filter(Path.exists, places))
    names = list(map(str, there))
    if names and not force:
        listed = ", ".join(names[:6])
        if len(names) > 6:
            listed += f" and {len(names) - 6} more"
        raise DataError(f"{listed} would be replaced; give --force or another name")
    for place in there:
        require_unused(place)


def write_folder(
    folder: Path, document: dict[str, Any], write: Callable[[Path], None], force: bool
) -> list[str]:
    """Write everything beside or into `folder` first, then put it in place; return the names.

    `write` writes into the folder that it is given; the document, with the names of all files, is
    added. Files of the same names are replaced with `force`, and are an error without; no other
    file of the folder is touched. Where one is in use, the results get a folder of their own.
    """
    from bioeval.base.replacing import (
        FileInUseError,
        naming_writes,
        part_of,
        put_in_place,
    )

    new = not folder.exists()
    part = part_of(folder.absolute() if new else folder / "results")
    try:
        with naming_writes(folder, part):
            part.mkdir()
            write(part)
            names = sorted([*os.listdir(part), SUMMARY])
            text = as_json({**document, "files": names})
            (part / SUMMARY).write_text(text + "\n", encoding="utf-8", newline="\n")
        if new:
            with contextlib.suppress(OSError):  # another run may have taken the name
                os.rename(part, folder)
                return names
        ordered = sorted(names, key=SUMMARY.__ne__)  # the summary lists the others
        # Another run may have written there in the meantime.
        with naming_writes(folder / SUMMARY):
            refuse_inputs(map(folder.joinpath, names), str(folder))
            refuse_to_replace(map(folder.joinpath, names), force)
            put_in_place([*map(part.joinpath, ordered)], [*map(folder.joinpath, ordered)])
    except FileInUseError as error:
        number = 2
        while (kept := folder / f"results-{number}").exists():
            number += 1
        os.rename(part, kept)
        raise FileInUseError(f"{error}. The results are in {kept}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return names


def write_results(folder: Path, results: xr.Dataset | xr.DataTree | None, table: Any) -> None:
    """Write results, if any, as netCDF 4, and the table as text."""
    if results is not None:  # made in memory: HDF5 ends the process where a disk is full
        # Python 3.12.1 crashes on a view that is collected with what it shows, after a full disk:
        # both are closed here, and `Path.write_bytes` would make another.
        with (
            results.to_netcdf(engine="h5netcdf") as made,
            open(folder / "results.nc", "wb") as file,
        ):
            file.write(made)
    text = as_text(table, WIDTH)
    (folder / "table.txt").write_text(text, encoding="utf-8", newline="\n")


def attributes_but(ds: xr.Dataset, *names: str) -> dict[str, Any]:
    """Return the attributes of a result without `names`, and without the schema of its file."""
    left_out = {"schema", *names}
    return {str(name): value for name, value in ds.attrs.items() if name not in left_out}


def rows_over(ds: xr.Dataset, *dims: str) -> list[dict[str, Any]]:
    """Return the variables over exactly these dimensions as rows of plain values, labels first."""
    places = itertools.product(*(ds[dim].values.tolist() for dim in dims))
    columns: dict[str, Any] = {}
    for dim, labels in zip(dims, zip(*places, strict=True), strict=False):
        if dim in ds.coords:
            columns[dim] = labels
    for name, values in ds.data_vars.items():
        if values.dims == dims:
            columns[str(name)] = values.values.reshape(-1).tolist()
    return rows_of(columns)


def rows_of(columns: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Return columns of one length as rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def write_csv(target: Path, table: Table) -> None:
    """Write rows with the same keys, or columns of one length, as CSV without formulas."""
    columns = {}
    if not isinstance(table, list):
        columns = dict(table)
    elif table:
        for key in table[0]:
            columns[key] = [row[key] for row in table]
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(_cell, columns))
        for row in zip(*columns.values(), strict=True):
            writer.writerow(map(_cell, row))


def _cell(value: Any) -> Any:
    return as_cell(escaped(value)) if isinstance(value, str) else value


@dataclass(frozen=True)
class Output:
    """Destinations of the results of a command."""

    folder: Path | None  # of the files; it can be written to
    force: bool  # whether files of the same names are replaced
    as_json: bool  # whether a document is printed, in place of a table
    markup: Form | None  # of the printed table, where it is not text
    page: Path | None  # the page to write; it can be written
    formats: tuple[str, ...]  # of the plots among the files; none: there are none
    verbose: bool  # whether the printed table has all rows and messages
    remarks: list[str] = field(default_factory=list)  # on plots and images that are left out

    @classmethod
    def take(cls, options: dict[str, Any]) -> Output:
        """Remove the output options from a command's, and check them before any computation."""
        out, force = options.pop("out", None), options.pop("force", False)
        plots = options.pop("plots", False)
        formats = tuple(options.pop("plot_formats", ()))
        if (plots or formats) and out is None:
            raise click.UsageError("--plots needs --out DIR, the folder to draw them into")
        if plots and not formats:
            formats = ("png",)
        page = options.pop("report", None)
        folder = None if out is None else check_folder(out, force)
        if page is not None:
            page = take_out(page, force)
        as_json = options.pop("as_json", False)
        forms: list[Form] = ["latex", "markdown"]
        markup = [form for form in forms if options.pop(form, False)]
        if as_json + len(markup) > 1:
            raise click.UsageError("give one of --json, --latex and --markdown")
        verbose = options.pop("verbose", False)
        form = markup[0] if markup else None
        return cls(folder, force, as_json, form, page, formats, verbose)

    def write(
        self, document: dict[str, Any], fill: Callable[[Path], None], stages: Callable[[str], None]
    ) -> list[str]:
        """Write the files that `fill` makes in a folder, and return their names."""
        if self.folder is None:
            return []
        stages(f"writing to {self.folder}")
        return write_folder(self.folder, document, fill, self.force)

    def write_page(
        self,
        results: Any,
        files: Iterable[str | None],
        stages: Callable[[str], None],
        **options: Any,
    ) -> None:
        """Write the page of the results of `files` if --report names it.

        It has the command that it was made from; what it could not show becomes a remark.
        """
        if self.page is None:
            return
        from bioeval.cli.lazy_group import COMMAND_LINE
        from bioeval.page.page import report

        stages(f"writing {self.page}")
        words = []
        for word in click.get_current_context().meta.get(COMMAND_LINE, []):
            # Names of files, without the folders of this machine.
            words.append(Path(word).name if os.path.isabs(word) else word)
        command = shlex.join(["bioeval", *words]) if words else ""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BioevalWarning)
            report(results, self.page, files=list(filter(None, files)), command=command, **options)
        self.remarks.extend(str(warning.message) for warning in caught)

    def show(self, table: Any, document: dict[str, Any], files: list[str]) -> None:
        """Print the document or the table, if there is one, then the number of files."""
        if self.as_json:
            show_json(document)
        elif table is not None:
            if not self.verbose:
                table = table.in_brief() if self.markup is None else table.supported()
            print_table(table, self.markup)
        lines = [*self.remarks]
        if self.folder is not None:
            lines.append(f"wrote {len(files)} files to {self.folder}")
        if self.page is not None:
            lines.append(f"wrote {self.page}")
        if lines:
            note("\n".join(lines))
