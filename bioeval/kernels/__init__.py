"""Numba loops: arrays in, arrays out.

A kernel knows no labels, files or protocols: it gets blocks of distances (C-contiguous rows, NaN
where there is no attempt, subjects of the gallery side by side) and integer positions. A kernel
file calls no kernel of another file, because numba's cache would not notice an edit there.
"""

import atexit
import os
import shutil
import sys
import tempfile
from pathlib import Path

from numba.core import config


def _writable(folder: Path) -> bool:
    """Whether a file can be written into the folder, or into it once it is made."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)


def _ensure_cache() -> None:
    """Let compiled kernels go to a temporary folder where numba finds no other.

    Numba writes them beside the source or below the user's home, and fails where neither can be
    written to: installed read-only, for a user without a home.
    """
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~")
    places = (Path(__file__).parent / "__pycache__", Path(home))
    if os.environ.get("NUMBA_CACHE_DIR") or any(map(_writable, places)):
        return
    folder = tempfile.mkdtemp(prefix="bioeval-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = folder  # for worker processes, and a numba not yet imported
    config.CACHE_DIR = folder  # type: ignore[attr-defined]
    if sys.stderr is not None:
        sys.stderr.write(
            "bioeval: no folder for compiled kernels can be written to, so they are compiled anew "
            "each time; set NUMBA_CACHE_DIR to one that can\n"
        )


_ensure_cache()
