"""What a page was made from: the command, the files with their digests, and the software."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import xxhash

from bioeval.base.environment import source_date
from bioeval.base.errors import printable
from bioeval.base.version import __version__

_PACKAGES = ("numpy", "numba", "scipy", "xarray")
_PIECE = 1 << 22  # bytes of a file that are read at a time


def origin_of(files: Iterable[str | os.PathLike[str]], command: str) -> Iterator[tuple[str, str]]:
    """Yield the origin of a page as names and texts: command, files, software, date."""
    if command:
        yield "Command", command
    for file in dict.fromkeys(files):
        yield "File", f"{printable(Path(os.fspath(file)).name)} xxh3_128:{digest_of_file(file)}"
    versions = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
    python = f"Python {platform.python_version()}"
    yield "Software", ", ".join([f"bioeval {__version__}", python, *versions])
    moment = source_date()
    date = datetime.fromtimestamp(int(time.time()) if moment is None else moment, tz=UTC)
    yield "Date", date.strftime("%Y-%m-%d")


def digest_of_file(file: str | os.PathLike[str]) -> str:
    """Return the xxh3_128 digest of a file; of a folder, of the names and bytes of its files."""
    hashed = xxhash.xxh3_128()
    path = Path(file)
    inner = sorted(filter(Path.is_file, path.rglob("*"))) if path.is_dir() else [path]
    for inner_file in inner:
        if path.is_dir():
            hashed.update(inner_file.relative_to(path).as_posix().encode())
        with open(inner_file, "rb") as stream:
            while piece := stream.read(_PIECE):
                hashed.update(piece)
    return hashed.hexdigest()
