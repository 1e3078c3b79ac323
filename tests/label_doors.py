"""Every door through which scores come with the labels of their templates, from one matrix."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from limits import streaming

import bioeval as be


class Labelled(NamedTuple):
    """Scores and labels, as lists of any objects or as arrays; of one set, `gallery` is None."""

    values: np.ndarray  # (m, n)
    probes: Any
    gallery: Any = None
    kind: str = "distance"
    #: Embeddings of all templates, the probes first; their distances by "l1" are `values`.
    points: np.ndarray | None = None

    @property
    def sides(self) -> list[Any]:
        return [x for x in (self.probes, self.gallery) if x is not None]

    def columns(self) -> list[pd.Series]:
        return [pd.Series(x, dtype=getattr(x, "dtype", object)) for x in self.sides]

    def cells(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows and columns of all comparisons, of one set without the diagonal."""
        return np.nonzero(np.eye(*self.values.shape) < (2 if self.gallery is not None else 1))

    def frame(self, *, as_text: bool = False) -> pd.DataFrame:
        """All pairs as lines; labels in an array keep its type."""
        is_square, people = self.gallery is None, self.columns()
        if as_text and people[0].dtype == object:
            people = [x.where(x.notna(), "").astype(str) for x in people]
        sides = {}
        for side, places, x in zip(("probe", "gallery"), self.cells(), people[:1] + people[-1:],
                                   strict=True):  # fmt: skip
            sides[side] = [f"{'t' if is_square else side}{i}" for i in places]
            sides[f"{side}_subject"] = x.iloc[places].to_numpy()
        return pd.DataFrame({**sides, self.kind: self.values[self.cells()]})

    def given_to(self, make: Callable[..., be.Scores]) -> be.Scores:
        """Give embeddings and labels, side by side, to a call."""
        sides = zip(np.split(self.points, [len(self.probes)]), self.sides, strict=False)
        return make(*(x for side in sides for x in side), metric="l1")


def of_pairs(given: Labelled, folder: Path) -> be.Scores:
    frame = given.frame()
    subjects = frame[["gallery_subject", "probe_subject"]].to_numpy()
    genuine = [a == b for a, b in subjects.tolist()]
    return be.Scores.from_pairs(frame[given.kind], genuine, subjects=subjects, kind=given.kind)


def arrays(given: Labelled, folder: Path) -> be.Scores:
    labels = [np.array(x.where(x.notna(), "").tolist(), dtype=str) if x.dtype == object else x
              for x in given.columns()]  # fmt: skip
    names = ["labels"] if given.gallery is None else ["probe_labels", "gallery_labels"]
    np.savez(folder / "x.npz", scores=given.values, **dict(zip(names, labels, strict=True)))
    return be.load(folder / "x.npz", kind=given.kind)


def tables(given: Labelled, folder: Path) -> be.Scores:
    np.save(folder / "x.npy", given.values)
    files = {"labels": folder / "labels.csv", "gallery": folder / "gallery.csv"}
    for file, labels in zip(files.values(), given.columns(), strict=False):
        pd.DataFrame({"subject": labels, "day": 1}).to_csv(file, index=False)
    options = files if given.gallery is not None else {"labels": files["labels"]}
    return be.load(folder / "x.npy", kind=given.kind, **options)


def file(given: Labelled, folder: Path, form: str) -> be.Scores:
    frame, path = given.frame(as_text=form == "parquet"), folder / f"list.{form}"
    frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
    return be.load(path)


DOORS: dict[str, Callable[[Labelled, Path], be.Scores]] = {
    "matrix": lambda x, _: be.Scores(x.values, *x.sides, kind=x.kind),
    "objects": lambda x, _: be.Scores(x.values, *map(list, x.sides), kind=x.kind),
    "series": lambda x, _: be.Scores(x.values, *x.columns(), kind=x.kind),
    "embeddings": lambda x, _: x.given_to(be.Scores.from_embeddings),
    "tiles": lambda x, _: x.given_to(streaming),
    "arrays": arrays,
    "tables": tables,
    "cells": lambda x, _: be.Scores(x.values, *x.sides, kind=x.kind).at_pairs(*x.cells()),
    "pairs": of_pairs,
    "frame": lambda x, _: be.load(x.frame()),
    "csv": lambda x, folder: file(x, folder, "csv"),
    "parquet": lambda x, folder: file(x, folder, "parquet"),
}
