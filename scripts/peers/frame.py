"""The tables of all programs, the data that they share, and what a call costs."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from bench import idle, kilobytes, medians

import bioeval as be


@dataclass(frozen=True)
class Figure:
    """One number of both programs; `why` explains a difference."""

    name: str
    theirs: float
    ours: float
    why: str = ""


def print_figures(package: str, figures: Iterable[Figure]) -> None:
    """Print the names of figures that agree to 1e-6, and a table of those that differ.

    Raises
    ------
    AssertionError
        Where figures differ and no reason is given, or one is given and they are equal.
    """
    equal, rows = [], []
    for figure in figures:
        difference = float(figure.ours) - float(figure.theirs)
        same = abs(difference) <= 1e-6
        assert same != bool(figure.why), f"{figure}: the difference is {difference}"
        if same:
            equal.append(figure.name)
            continue
        shown = f"{difference:+.4f}" if abs(difference) >= 5e-5 else f"{difference:+.0e}"
        numbers = f"{_shown(figure.theirs)} | {_shown(figure.ours)} | {shown}"
        rows.append(f"| {figure.name} | {numbers} | {figure.why} |")
    if equal:
        print(f"Equal: {'; '.join(equal)}.\n")
    if rows:
        print(f"| figure | {package} | bioeval | difference | why |\n|---|---:|---:|---:|---|")
        print("\n".join(rows), end="\n\n")


def _shown(value: float) -> str:
    counted = float(value) > 1 and float(value).is_integer()
    return f"{float(value):,.0f}" if counted else f"{float(value):.4f}"


def print_costs(title: str, theirs: Callable[[], object], ours: Callable[[], object]) -> None:
    """Print processor time and peak memory of two calls as ratios of ours, measured in turn.

    Each call is first made once, which loads libraries and compiles kernels.
    """
    seconds = medians({"theirs": theirs, "ours": ours})
    times = seconds["theirs"] / seconds["ours"]
    peaks = [peak_bytes(call) / 2**20 for call in (theirs, ours)]
    held = [f"{peak:,.0f} MiB" if peak >= 1 else "less than 1 MiB" for peak in peaks]
    memory = f", and {held[0]} against {held[1]}" if max(peaks) >= 1 else ""
    if peaks[0] >= 1.5 * peaks[1] >= 1.5:
        memory += f" ({two_digits(peaks[0] / peaks[1])} times)"
    print(f"Cost of {title}: {two_digits(times)} times our time{memory}.\n")


def two_digits(ratio: float) -> str:
    return f"{float(f'{ratio:.2g}'):g}"


def peak_bytes(call: Callable[[], object]) -> int:
    """Return what a call holds at most, above what the process held before (Linux)."""
    before = idle()
    held = call()
    peak = 1024 * (kilobytes("VmHWM") - before)
    del held
    return max(0, peak)


def print_title(name: str, *packages: str, commit: str = "") -> None:
    """Print a heading with the versions that were run."""
    versions = ", ".join([commit] * bool(commit) + [f"{x} {version(x)}" for x in packages])
    print(f"## {name} ({versions})\n")


@dataclass(frozen=True)
class Gallery:
    """Embeddings of queries and of a gallery; the first identities are not in the gallery."""

    query: np.ndarray
    query_ids: np.ndarray
    gallery: np.ndarray
    gallery_ids: np.ndarray

    @property
    def cosines(self) -> np.ndarray:
        return self.query @ self.gallery.T

    @property
    def scores(self) -> be.Scores:
        return be.Scores(self.cosines, self.query_ids, self.gallery_ids, kind="similarity")


def gallery(
    identities: int = 40, templates: int = 6, dimension: int = 16, absent: int = 2
) -> Gallery:
    """Return drawn embeddings of length 1, float32; about half of the cosines are negative."""
    rng = np.random.default_rng(1)
    who = np.repeat(np.arange(identities), templates)
    x = rng.normal(size=(identities, dimension))[who]
    x = (x + 1.2 * rng.normal(size=x.shape)).astype(np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    first = np.arange(len(who)) % templates == 0
    enrolled = ~first & (who >= absent)
    return Gallery(x[first], who[first], x[enrolled], who[enrolled])


def trials(ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return similarities of trials, and which are genuine; with ties, to one decimal."""
    rng = np.random.default_rng(2)
    genuine = np.repeat([True, False], [397, 6000])
    values = rng.normal(size=6397) + 2.2 * genuine
    order = rng.permutation(6397)
    values, genuine = values[order], genuine[order]
    return (np.round(values, 1) if ties else values), genuine


def checkout(name: str, *packages: str) -> str:
    """Make packages of a clone importable without what their `__init__` load; name its commit.

    Raises
    ------
    SystemExit
        If the variable `BIOEVAL_PEER_SOURCES` names no folder with the clone.
    """
    folder = Path(os.environ.get("BIOEVAL_PEER_SOURCES", "none")) / name
    if not folder.is_dir():
        raise SystemExit(f"{name} was not run: BIOEVAL_PEER_SOURCES names no folder with a clone")
    for package in packages:
        module = types.ModuleType(package)
        module.__path__ = [str(folder.joinpath(*package.split(".")))]
        sys.modules[package] = module
    done = subprocess.run(
        ["git", "-C", folder, "rev-parse", "--short=9", "HEAD"], capture_output=True, text=True
    )
    return f"{name} at commit {done.stdout.strip() or 'unknown'}"
