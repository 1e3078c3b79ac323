"""Other programs at the same job, as far as they are installed; nothing is ever installed here."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[], object]


class NotRun(Exception):
    """Why something is not measured, in a few words."""


def roc_curve(distances: np.ndarray, genuine: np.ndarray) -> Call:
    """Return a call of scikit-learn's roc_curve."""
    from sklearn.metrics import roc_curve

    similarities = -distances
    return lambda: roc_curve(genuine, similarities)


def pyeer(distances: np.ndarray, genuine: np.ndarray) -> Call:
    """Return a call of pyeer's statistics."""
    found = imported("pyeer.eer_info")
    own, other = distances[genuine], distances[~genuine]
    return lambda: found.get_eer_stats(own, other, ds_scores=True)


def feerci(distances: np.ndarray, genuine: np.ndarray) -> Call:
    """Return a call of feerci for the EER alone, without its interval."""
    found = imported("feerci")
    similarities = -distances.astype(np.float64)
    own, other = similarities[genuine], similarities[~genuine]
    return lambda: found.feerci(other, own, is_sorted=False, m=-1)


def bob_measure(distances: np.ndarray, genuine: np.ndarray) -> Call:
    """Return a call of bob.measure's EER."""
    found = imported("bob.measure")
    similarities = -distances.astype(np.float64)
    own, other = similarities[genuine], similarities[~genuine]
    return lambda: found.eer(other, own)


def evalify(embeddings: np.ndarray, labels: np.ndarray) -> Call:
    """Return a call of evalify on all pairs of embeddings, each pair once."""
    found = imported("evalify")

    def call() -> object:
        experiment = found.Experiment("euclidean_distance", "full", ("full", "full"))
        experiment.run(embeddings, labels)
        return experiment.eer()

    return call


def faiss_flat(x: np.ndarray, threads: int) -> Call:
    """Return a call of FAISS's flat index that finds the nearest of all vectors to each."""
    found = imported("faiss")

    def call() -> object:
        found.omp_set_num_threads(threads)
        index = found.IndexFlatIP(x.shape[1])
        index.add(x)
        return index.search(x, 1)

    return call


def imported(name: str) -> Any:
    """Import another program's module, or say why that is not possible.

    Raises
    ------
    NotRun
    """
    package = name if name.startswith("bob.") else name.partition(".")[0]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (package + ".").startswith(error.name + "."):
            raise NotRun("skipped: not installed") from None
        raise NotRun(f"skipped: it lacks {error.name}") from None
    except Exception as error:  # it is installed, and whatever it does is not ours
        raise NotRun(f"skipped: import failed: {type(error).__name__}: {error}") from None
