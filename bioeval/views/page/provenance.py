"""PageSources of a page: versions, files with their digests, and the command."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import xxhash

from bioeval.base.errors import printable

_PACKAGES = ("numpy", "numba", "scipy", "xarray")
_PIECE = 1 << 22  # bytes of a file that are read at a time


@dataclass(frozen=True)
class PageSources:
    """PageSources of a page."""

    files: Sequence[tuple[str, str]] = ()  # the name of each file, and its digest
    command: str = ""
    date: str = ""

    @classmethod
    def of(cls, files: Iterable[str | os.PathLike[str]], command: str = "") -> PageSources:
        """Read files to compute their digests."""
        found = [
            (printable(Path(os.fspath(file)).name), digest(file)) for file in dict.fromkeys(files)
        ]
        moment = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
        return cls(found, command, datetime.fromtimestamp(moment, tz=UTC).strftime("%Y-%m-%d"))

    @property
    def versions(self) -> str:
        """The versions of Python and of the packages that compute."""
        listed = [f"{name} {importlib.metadata.version(name)}" for name in _PACKAGES]
        return ", ".join([f"Python {platform.python_version()}", *listed])


def digest(file: str | os.PathLike[str]) -> str:
    """Return the xxh3_128 digest of a file; of a folder, of the names and bytes of its files."""
    found = xxhash.xxh3_128()
    path = Path(file)
    inner = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    for one in inner:
        if path.is_dir():
            found.update(one.relative_to(path).as_posix().encode())
        with open(one, "rb") as stream:
            while piece := stream.read(_PIECE):
                found.update(piece)
    return found.hexdigest()
