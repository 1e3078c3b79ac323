"""What a command writes: a folder with all its files or none of them, a page, a file of scores.

A name is checked before anything is computed (:func:`check_folder`, :func:`take_out`): the command
may neither write to a file that it reads, nor replace results without ``--force``. After that,
:func:`write_folder` fills a hidden folder and puts it in place in one step if it can, so that a run
that is killed leaves the results of the run before.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError
from bioeval.cli.console import as_json
from bioeval.showing.printing import WIDTH

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SUMMARY = "summary.json"

# A folder that holds one of these holds the results of an earlier run.
_RESULTS = (SUMMARY, "results.nc", "table.txt")


def check_folder(out: str, force: bool) -> Path:
    """Return `out` if results can be written there; refuse a folder with results unless `force`."""
    from bioeval.base.files import require_no_loop, why_no_folder

    folder = Path(out)
    require_no_loop(folder)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: is a file; --out expects a folder for the results")
    place = folder if folder.exists() else folder.absolute().parent
    if not place.is_dir():
        raise DataError(f"{folder}: {why_no_folder(place)}")
    if not os.access(place, os.W_OK | os.X_OK):
        raise DataError(f"{folder}: {place} may not be written to")
    results = [folder / name for name in _RESULTS]
    refuse_inputs(results, out)
    refuse_to_replace(results, force)
    return folder


@contextlib.contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Be the only run that writes to a folder; what killed runs have left is removed."""
    from bioeval.base.files import locked, remove_parts_of

    place = folder.resolve()
    # The lock is beside the folder, which may not exist yet, or in it if only it may be written to.
    lock = place / ".lock"
    if place.name and os.access(place.parent, os.W_OK | os.X_OK):
        lock = place.with_name(f".{place.name}.lock")
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locked(lock, shlex.join(["bioeval", *command_words()])))
        except DataError as error:
            raise DataError(f"{folder}: is written to by {error}") from None
        remove_parts_of(place)
        for name in (*_RESULTS, "results"):
            remove_parts_of(place / name)
        yield


def take_out(out: str, force: bool) -> Path:
    """Return the path of a file to write, checked before anything is computed."""
    from bioeval.base.files import check_target

    place = check_target(out)
    refuse_inputs([place], out)
    refuse_to_replace([place], force)
    return place


def take_scores(out: str, force: bool) -> Path:
    """Return the path of a file of scores to write, checked with its format before computing."""
    from bioeval.scores.formats.writing import ending_of

    ending_of(Path(out))
    return take_out(out, force)


def refuse_inputs(places: Iterable[Path], out: str) -> None:
    """Raise :class:`FileInUseError` where the command that runs reads a file that it would write.

    `places` are the files that it would write for the word `out` of its command line. It reads all
    other files that the command line names, and the labels beside a .npy file. A link is the file
    to which it leads.
    """
    from bioeval.base.files import FileInUseError

    existing = [place for place in places if place.exists()]
    if not existing:  # what is not there is not read
        return
    from bioeval.scores.formats.labels import SIBLINGS, sibling

    words = command_words()
    words += [word.partition("=")[2] for word in words]  # FILE in --labels=FILE
    if out in words:
        words.remove(out)
    inputs: list[tuple[str, Path]] = []  # with the word that names the file
    for word in words:
        if word:
            inputs.append((word, Path(word)))
    for word, path in list(inputs):
        if path.suffix.lower() == ".npy":
            inputs += [(word, sibling(path, ending)) for ending in SIBLINGS]
    for word, file in inputs:
        if not os.path.exists(file):
            continue
        for place in existing:
            if place.samefile(file):
                role = "one of the files to read" if word == str(place) else f"read for {word!r}"
                raise FileInUseError(f"{place}: is {role}; name another file to write")


def command_words() -> list[str]:
    """Return the words of the command line that runs."""
    from bioeval.cli.lazy_group import COMMAND_LINE

    context = click.get_current_context(silent=True)
    return [] if context is None else [*context.meta.get(COMMAND_LINE, ())]


def refuse_to_replace(places: Iterable[Path], force: bool) -> None:
    """Raise :class:`DataError` if files exist, unless `force` and the system allow it."""
    from bioeval.base.files import require_unused

    existing = [place for place in places if place.exists()]
    if existing and not force:
        listed = ", ".join(str(place) for place in existing[:6])
        if len(existing) > 6:
            listed += f" and {len(existing) - 6} more"
        raise DataError(f"{listed} would be replaced; give --force or another name")
    for place in existing:
        require_unused(place)


def write_folder(
    folder: Path, document: dict[str, Any], write: Callable[[Path], None], force: bool
) -> list[str]:
    """Write everything beside or into `folder` first, then put it in place; return the names.

    `write` writes into the folder that it is given; the document, with the names of all files, is
    added. With `force`, the files of an earlier run go, and so do others of the same names, which
    are an error without; no other file is touched. A folder that holds nothing else is exchanged as
    a whole. Where a file is in use, the results get a folder of their own.
    """
    from bioeval.base.files import (
        FileInUseError,
        exchange,
        naming_writes,
        part_of,
        put_in_place,
    )

    is_new = not folder.exists()
    place = folder.resolve()
    is_whole = not is_new and _may_be_exchanged(place)
    # The hidden folder is beside one that it is going to be or to replace, else inside it.
    part = part_of(place if is_new or is_whole else folder / "results")
    try:
        with naming_writes(folder, part):
            part.mkdir()
            write(part)
            names = sorted([*os.listdir(part), SUMMARY])
            text = as_json({**document, "files": names})
            (part / SUMMARY).write_text(text + "\n", encoding="utf-8", newline="\n")
        if is_new:
            with contextlib.suppress(OSError):  # another program may have taken the name
                os.rename(part, place)
                return names

        obsolete = []  # files of the earlier run that this one does not write
        if force:
            obsolete = sorted(_files_of_run(folder) - {*names})
        # Another program may have written there in the meantime.
        with naming_writes(folder / SUMMARY, part):
            replaced = [folder / name for name in (*names, *obsolete)]
            refuse_inputs(replaced, str(folder))
            refuse_to_replace(replaced, force)
            if is_whole and _may_be_exchanged(place):
                shutil.copymode(place, part)
                exchange(part, place)
            else:
                # The summary is the first, as the main file, which lists the others.
                in_order = [SUMMARY, *(name for name in names if name != SUMMARY)]
                put_in_place(
                    [part / name for name in in_order],
                    [folder / name for name in in_order],
                    [folder / name for name in obsolete],
                )
    except FileInUseError as error:
        number = 2
        while (own_folder := folder / f"results-{number}").exists():
            number += 1
        os.rename(part, own_folder)
        raise FileInUseError(f"{error}. The results are in {own_folder}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return names


def _files_of_run(folder: Path) -> set[str]:
    """Return the names of the files in a folder that an earlier run has written."""
    names = {*_RESULTS}
    # A summary may lack, or be of another program.
    with contextlib.suppress(OSError, ValueError, AttributeError, TypeError):
        names.update(json.loads((folder / SUMMARY).read_text(encoding="utf-8")).get("files"))
    return names.intersection(os.listdir(folder))


def _may_be_exchanged(folder: Path) -> bool:
    """Whether a folder holds nothing but an earlier run, and can be exchanged for another one."""
    return (
        {*os.listdir(folder)} == _files_of_run(folder)
        and os.access(folder.parent, os.W_OK | os.X_OK)
        and not os.path.ismount(folder)
        and folder != Path.cwd()
        and (not hasattr(os, "getuid") or os.stat(folder).st_uid == os.getuid())
    )


def write_files(
    folder: Path,
    results: xr.Dataset | xr.DataTree | None,
    table: Any,
    tables: Iterable[tuple[str, pd.DataFrame]],
    records: Mapping[str, list[dict[str, Any]]],
) -> None:
    """Write results, if any, as netCDF 4, the `table` as text, and `tables` and `records` as CSV.

    The names of tables and of lists of records become names of files.
    """
    import pandas as pd

    from bioeval.showing.data import csv_of

    if results is not None:  # made in memory: HDF5 ends the process where a disk is full
        # Python 3.12.1 crashes on a view that is collected with what it shows, after a full disk:
        # both are closed here, and `Path.write_bytes` would make another.
        with (
            results.to_netcdf(engine="h5netcdf") as netcdf,
            open(folder / "results.nc", "wb") as file,
        ):
            file.write(netcdf)
    text = table.text(WIDTH)
    (folder / "table.txt").write_text(text, encoding="utf-8", newline="\n")
    tables_of_records = [(name, pd.DataFrame(rows)) for name, rows in records.items() if rows]
    stems = set[str]()
    for name, frame in itertools.chain(tables, tables_of_records):
        stem = re.sub(r"[^\w.-]+", "-", name).strip("-.")
        while stem in stems:  # "a b" and "a-b" are both "a-b"
            stem = f"{stem}-{len(stems)}"
        stems.add(stem)
        (folder / f"{stem}.csv").write_text(csv_of(frame), encoding="utf-8", newline="\n")
