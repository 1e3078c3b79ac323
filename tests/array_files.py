"""Files of named arrays, in each form in which they are read."""

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.io


def write(path: Path, arrays: dict[str, Any]) -> Path:
    """Write arrays by name to a .npz, MATLAB or HDF5 file, and return its path."""
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    elif path.suffix == ".mat":
        scipy.io.savemat(path, arrays)
    else:
        with h5py.File(path, "w") as file:
            for name, array in arrays.items():
                values = np.asarray(array)
                file[name] = values.astype("S") if values.dtype.kind == "U" else values
    return path
