"""Plots of attacks: APCER against BPCER, APCER by species, and the potential of morphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

from bioeval.base.errors import counted
from bioeval.views.plots import style as look
from bioeval.views.plots.attacks import SpeciesDisplay
from bioeval.views.plots.captions import of_each
from bioeval.views.plots.curves import CurveSpec
from bioeval.views.plots.display import OneResultDisplay
from bioeval.views.plots.rates import DetDisplay
from bioeval.views.plots.select_datasets import System


def _over(systems: Sequence[System]) -> list[str]:
    """Return the presentations behind the rates, one line for each system that differs."""
    return of_each(
        systems,
        lambda ds: (
            f"{counted(int(ds['bona_fide']), 'bona fide presentations')}, "
            f"{counted(int(ds['presentations_of_species'].sum()), 'attack presentations')} of "
            f"{ds.sizes['species']} species"
        ),
    )


class PadDetDisplay(DetDisplay):
    """DET curves of detection; ``x`` of a curve is APCER and ``y`` is BPCER."""

    spec = CurveSpec(
        "pad_det", "DET", "apcer", {"bpcer": ""}, "APCER, the largest over the species (%)",
        "BPCER (%)", size=look.SQUARE, at=0.5, over=_over, by_itself="threshold",
    )  # fmt: skip
    _eer: ClassVar = ("d_eer", "D-EER")

    def _floors(self, system: System) -> tuple[float, float]:
        """Return the smallest rates above 0 of both axes."""
        ds = system.dataset
        return 1 / int(ds["presentations_of_species"].max()), 1 / int(ds["bona_fide"])


def pad_det(data: Any, ax: Axes | None = None, **style: Any) -> PadDetDisplay:
    """Draw the DET of presentation attack detection: BPCER against APCER, in per cent.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.pad`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single detector.

    Returns
    -------
    PadDetDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    APCER is the largest over the species at each threshold, as ISO/IEC 30107-3 has it. Axes are
    those of :func:`bioeval.plot.det`: normal deviates, without rates of 0 and 1. The D-EER is where
    a curve meets the dotted line.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.pad([0.9, 0.3, 0.6, 0.7, 0.2, 0.4], ["", "", "", "mask", "mask", "print"])
    >>> be.plot.pad_det(ds).ax_.get_ylabel()
    'BPCER (%)'
    """
    return PadDetDisplay.from_results(data).plot(ax, **style)


class ApcerDisplay(SpeciesDisplay):
    """Errors by threshold; ``x`` is the threshold and ``y`` APCER of a species, or BPCER."""

    spec = CurveSpec(
        "apcer", "APCER by species", "threshold", {"bpcer": "BPCER"}, y_label="Error rate",
        over=_over, marked=False, by_itself="threshold",
    )  # fmt: skip
    _rate, _lacking = "apcer_of_species", "no response"


def apcer(data: Any, ax: Axes | None = None, **style: Any) -> ApcerDisplay:
    """Draw APCER of each attack instrument species, and BPCER, against the threshold.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.pad`, or several by name, all of one kind of score.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single detector.

    Returns
    -------
    ApcerDisplay
        With ``curves`` (``"BPCER"``, then the species), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    The upper edge of the species' lines is APCER of the detector. The vertical line is the
    threshold used, where the result has one.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.pad([0.9, 0.3, 0.6, 0.7, 0.2, 0.4], ["", "", "", "mask", "mask", "print"])
    >>> list(be.plot.apcer(ds).curves)
    ['BPCER', 'mask', 'print']
    """
    return ApcerDisplay.from_results(data).plot(ax, **style)


class AttackPotentialDisplay(OneResultDisplay):
    """Morphing attack potential as a heat map.

    Attributes
    ----------
    potential : ndarray, shape (attempts, systems)
    image_ : AxesImage
    """

    image_: AxesImage
    _plot = "attack_potential"

    def __init__(self, dataset: xr.Dataset):
        super().__init__(dataset)
        self.potential = dataset["map"].values

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the heat map. See :func:`attack_potential`."""
        rows, columns = self.potential.shape
        ax = self._axes(ax, (2.4 + 0.9 * max(columns, 3), 2.0 + 0.45 * max(rows, 3)))
        ax.grid(False)
        given = {"cmap": "cividis", "vmin": 0.0, "vmax": 1.0, "aspect": "auto", **style}
        self.image_ = ax.imshow(self.potential, **given)
        if rows * columns <= look.FEW_POINTS**2:
            for (i, j), rate in np.ndenumerate(self.potential):
                ground = self.image_.cmap(self.image_.norm(rate))
                look.in_cell(ax, (j, i), look.measured(rate) if rate else "0", ground)
        for axis, dim in ((ax.xaxis, "systems"), (ax.yaxis, "attempts")):
            labels = self._dataset[dim].values
            places = np.arange(0, len(labels), -(-len(labels) // 20))
            axis.set_ticks(places, [str(labels[i]) for i in places])
        over = f"proportion of {counted(int(self._dataset['morphs']), 'morphs')}"
        self._titled("Morphing attack potential", name, [over])
        look.labelled(
            ax, "Systems that accept, at least", "Attempts of every contributor, at least"
        )
        return self


def attack_potential(data: Any, ax: Axes | None = None, **style: Any) -> AttackPotentialDisplay:
    """Draw the morphing attack potential as a heat map of attempts and systems.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.morphing` with a threshold.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of the image; ``name`` names the systems in the title.

    Returns
    -------
    AttackPotentialDisplay
        With ``potential``, ``ax_``, ``figure_`` and ``image_``.

    Notes
    -----
    The cell of `a` attempts and `s` systems is the proportion of morphs for which at least `s`
    systems each accept at least `a` attempts of every contributor (ISO/IEC 20059).

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.Scores([[1], [2], [4], [2]], ["ann", "ann", "bob", "bob"], ["m1"])
    >>> be.plot.attack_potential(be.morphing(scores, [("ann", "bob")], threshold=3)).potential
    array([[1.],
           [0.]])
    """
    return AttackPotentialDisplay.from_results(data).plot(ax, **style)
