"""Files at an address: ``https://...``, or a store known to fsspec, such as ``s3://...``.

A zarr store is read where it is, block by block. Other files are copied into the folder of
temporary files first, and removed when the process ends.
"""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
import urllib.error
import urllib.request
from contextlib import AbstractContextManager, closing
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from bioeval.base.errors import DataError
from bioeval.base.progress import stage
from bioeval.scores.formats.files import optional

_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+(::|://)")


def is_address(path: Any) -> bool:
    """Whether a path is the address of a file, with a protocol.

    Examples
    --------
    >>> is_address("s3://bucket/scores.zarr"), is_address("folder/scores.zarr")
    (True, False)
    """
    return isinstance(path, str) and _ADDRESS.match(path) is not None


def without_secrets(address: str) -> str:
    """Return an address without user, password and query, for display.

    Examples
    --------
    >>> without_secrets("https://ann:secret@host/x.npz?token=1")
    'https://host/x.npz'
    """
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"


def is_store(address: str) -> bool:
    """Whether an address is that of a zarr store (a folder)."""
    return without_secrets(address).rstrip("/").endswith(".zarr")


def copied(address: str) -> Path:
    """Return a copy of the file at an address, under its own name, in a temporary folder."""
    shown = without_secrets(address)
    name = PurePosixPath(shown).name
    if not name:
        raise DataError(f"{shown}: names no file")
    folder = Path(tempfile.mkdtemp(prefix="bioeval-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    try:
        with stage(f"copying {shown}"), _opened(address) as source:
            size = _size(source)
            if size is not None and size > shutil.disk_usage(folder).free:
                raise DataError(
                    f"{shown}: has {size / 2**30:,.1f} GiB, more than there is room for in "
                    f"{folder.parent}; name a folder with room in TMPDIR"
                )
            with open(folder / name, "wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
                got = out.tell()
        if size is not None and got != size:
            raise DataError(f"{shown}: ended after {got:,} of {size:,} bytes; try again")
    except (DataError, KeyboardInterrupt):
        shutil.rmtree(folder, ignore_errors=True)
        raise
    except Exception as error:  # stores raise errors of any class
        shutil.rmtree(folder, ignore_errors=True)
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        raise DataError(f"{shown}: cannot be read ({reason.replace(address, shown)})") from error
    return folder / name


def _opened(address: str) -> AbstractContextManager[Any]:
    scheme = urlsplit(address).scheme.lower()
    if scheme in ("http", "https"):
        return closing(urllib.request.urlopen(address, timeout=60))
    return library(address).open(address, "rb")


def library(address: str) -> Any:
    """Import fsspec."""
    return optional("fsspec", Path(without_secrets(address)), "an address", "remote")


def _size(source: Any) -> int | None:
    headers = getattr(source, "headers", None)
    if headers is not None:
        length = headers.get("Content-Length")
        return int(length) if length and length.isdecimal() else None
    size = getattr(source, "size", None)
    return size if isinstance(size, int) else None
