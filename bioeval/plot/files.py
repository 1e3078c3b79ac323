"""Plots written to files: one, or every plot that a result supports."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, starmap
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

import bioeval.plot as plots
from bioeval.base.arguments import require_choice, require_list, require_number, require_path
from bioeval.base.errors import DataError, bad_choice
from bioeval.base.files import replacing
from bioeval.base.progress import stage
from bioeval.plot.display import Display
from bioeval.plot.systems import PLOTS, System, drawable, pick

ImageFormat = Literal["png", "pdf", "svg"]
FORMATS: tuple[ImageFormat, ...] = get_args(ImageFormat)

# Metadata that are left out, so that the same figure gives the same file.
_UNDATED: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "ModDate": None},
    "svg": {"Date": None},
}


class PlotFile(NamedTuple):
    """A file of a plot."""

    plot: str  # public name of the plot
    system: str  # name of the only system; empty for plots of all systems
    data: Any  # what the plot draws
    log: bool = False  # whether an axis is logarithmic

    @property
    def stem(self) -> str:
        return self.plot.replace("_", "-") + "-log" * self.log

    def draw(self, ax: Figure) -> Display:
        display: Display = getattr(plots, self.plot)(
            self.data, ax, **{"log": True} if self.log else {}
        )
        return display


def plot_files(data: Any, without: Container[str] = ()) -> Iterator[PlotFile]:
    """Yield the files of each plot that `data` supports, except for plots in `without`."""
    for plot in PLOTS.values():
        if plot.name in without or (drawn_data := drawable(data, plot)) is None:
            continue
        parts = pick(drawn_data, plot.name) if plot.one_system else [drawn_data]
        for log in (False, True)[: 1 + plot.log]:
            for part in parts:
                name = part.name if isinstance(part, System) else ""
                yield PlotFile(plot.name, name, part, log)


def save(display: Any, path: str | os.PathLike[str], *, dpi: float = 150) -> Path:
    """Write a plot to a PNG, PDF or SVG file, by the suffix of the path.

    Parameters
    ----------
    display : a display of ``be.plot``, a matplotlib Figure or Axes
    path : path
        Its suffix gives the format: ``.png``, ``.pdf`` or ``.svg``.
    dpi : float
        Pixels per inch, 10 to 10,000, for PNG and for pictures inside PDF and SVG.

    Returns
    -------
    Path
        The file written, completely or not at all, of the size of the figure; text in SVG and PDF
        stays text.

    Raises
    ------
    DataError
        If the suffix is another, `display` has no figure, or the folder does not exist.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.roc(be.verification(be.simulate(20, 4)))
    >>> be.plot.save(display, "roc.svg")  # doctest: +SKIP
    """
    path = require_path("path", path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise DataError(f"{path}: {bad_choice('the suffix', kind, FORMATS)}")
    dpi = require_number("dpi", dpi, low=10, high=10_000)
    figure = getattr(display, "figure_", display)
    for _ in range(2):  # axes and subfigures have a figure
        figure = getattr(figure, "figure", figure)
    if not hasattr(figure, "savefig"):
        raise DataError(
            f"{type(display).__name__} has no figure; expected the result of a function of "
            "be.plot, or a matplotlib Figure"
        )
    # A figure as the bytes of a file; the same figure gives the same bytes.
    drawn = io.BytesIO()  # matplotlib does not close a file if a disk is full
    with _settings():
        figure.savefig(drawn, format=kind, dpi=dpi, metadata=_UNDATED[kind])
    raw = drawn.getvalue()
    with replacing(path) as part:
        part.write_bytes(raw)
    return path


def svg_text(figure: Figure) -> str:
    """Return a figure as SVG, drawn once (savefig draws twice); its dpi becomes 72."""
    drawn = io.StringIO()
    with _settings():
        FigureCanvasSVG(figure).print_svg(drawn, metadata=_UNDATED["svg"])
    return drawn.getvalue()


@contextmanager
def _settings() -> Iterator[None]:
    settings: Any = {"savefig.bbox": None, "svg.fonttype": "none", "svg.hashsalt": "bioeval"}
    with matplotlib.rc_context({**settings, "pdf.fonttype": 42}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # drawn as a box
        yield


def save_all(
    tree: Any,
    scores: Any,
    directory: str | os.PathLike[str],
    formats: Sequence[ImageFormat] = ("png",),
) -> list[Path]:
    """Write every plot that a result supports to a folder.

    Parameters
    ----------
    tree : DataTree, Dataset, or mapping of str to either
        A result of :func:`bioeval.evaluate` or of a single task.
    scores : Scores, mapping of str to Scores, or None
        Scores for the plots of the scores themselves; None leaves these plots out.
    directory : path
        Created if it does not exist.
    formats : sequence of {"png", "pdf", "svg"}

    Returns
    -------
    list of Path
        The files written, each named after its plot, such as ``roc`` and ``roc-log``: one for
        every plot whose result is given. A plot in which no rate is defined is left out. The name
        of a plot of one system ends in the system's.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 4)
    >>> be.plot.save_all(be.evaluate(scores), scores, "plots")  # doctest: +SKIP
    """
    from bioeval.tasks.plotted_scores import plotted

    return save_plots(tree, plotted(scores), directory, formats)


def save_plots(
    results: Any,
    of_scores: Iterable[tuple[str, str, Any]],
    directory: str | os.PathLike[str],
    formats: Sequence[str] = ("png",),
    overlaid: bool = False,
    tell: Callable[[str], object] | None = None,
) -> list[Path]:
    """Write every plot that a result supports to a folder; see :func:`save_all`.

    Parameters
    ----------
    of_scores
        Plots of scores: the plot, the system, and its scores.
    overlaid
        Whether plots of a single system are left out.
    tell
        Called with the reason if a plot in which nothing would be seen is left out.
    """
    formats = require_list("formats", formats)
    for name in formats:
        require_choice("the format", name, FORMATS)
    folder = require_path("directory", directory)
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: is a file; expected a folder, or a new name")
    folder.mkdir(parents=True, exist_ok=True)
    left_out = [name for name, plot in PLOTS.items() if overlaid and plot.one_system]
    written = []
    for file in chain(plot_files(results, left_out), starmap(PlotFile, of_scores)):
        tail = re.sub(r"[^\w.]+", "-", file.system).strip("-.")
        name = f"{file.stem}-{tail}" if tail else file.stem
        # Created directly, so that pyplot does not track it.
        figure = Figure(layout="constrained")
        with stage(f"drawing {name}"):
            display = file.draw(figure)
            if not display.why_empty:
                written += [save(figure, folder / f"{name}.{kind}") for kind in formats]
            elif tell is not None:
                tell(f"{name} is not drawn: {display.why_empty}")
    return written
