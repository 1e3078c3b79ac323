"""Results that a command has saved, read again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bioeval.base.unchanged import unchanged
from bioeval.scores.formats.files import existing_file, guarded

if TYPE_CHECKING:
    import xarray as xr


def read_results(path: str | os.PathLike[str], expected: str) -> xr.DataTree:
    """Return the results of a file, or of the folder of a command, as a tree in memory.

    `expected` says what the file should be, as ``"results of bioeval run"``.
    """
    import xarray as xr

    path = Path(path)
    if path.is_dir():
        path /= "results.nc"
    # A number of days, or of seconds, is a number: some versions of xarray make it a timedelta.
    options: dict[str, Any] = {"engine": "h5netcdf", "decode_timedelta": False}
    with unchanged():
        existing_file(path, expected)
        with guarded(path, expected=expected), xr.open_datatree(path, **options) as tree:
            return tree.load()
