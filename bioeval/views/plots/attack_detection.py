"""Plots of presentation attack detection: APCER against BPCER, and APCER by species."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer
from bioeval.views.plots import style as look
from bioeval.views.plots.captions import kind_of, threshold_label
from bioeval.views.plots.curves import Curve, CurvesDisplay, CurveSpec, thinned
from bioeval.views.plots.rates import DetDisplay
from bioeval.views.plots.select_datasets import System, as_plot_text, joined


def _over(systems: Sequence[System]) -> list[str]:
    """Return the presentations behind the rates, one line for each system that differs."""
    said = []
    for system in systems:
        ds = system.dataset
        attacks = int(ds["presentations_of_species"].sum())
        text = f"{counted(int(ds['bona_fide']), 'bona fide presentations')}, "
        text += f"{counted(attacks, 'attack presentations')} of {ds.sizes['species']} species"
        said.append(f"{system.name}: {text}" if len(systems) > 1 else text)
    return said if len(said) < 4 else []


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


class ApcerDisplay(CurvesDisplay):
    """Errors by threshold; ``x`` is the threshold and ``y`` APCER of a species, or BPCER."""

    spec = CurveSpec(
        "apcer", "APCER by species", "threshold", {"bpcer": "BPCER"}, y_label="Error rate",
        over=_over, marked=False, by_itself="threshold",
    )  # fmt: skip

    @classmethod
    def from_results(cls, data: Any) -> ApcerDisplay:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        bona_fide = super().from_results(data)
        curves: list[Curve] = []
        for curve in bona_fide.curves.values():
            ds = curve.system.dataset
            name = joined(curve.system.name, "BPCER")
            curves.append(replace(curve, name=name, hue=len(curves), dash=1))
            for species in ds["species"].values.tolist():
                one = ds.sel(species=species)
                why = "no response" if bool(one["apcer_of_species"].isnull().all()) else ""
                limits = [
                    one[f"apcer_of_species_{x}"].values if f"apcer_of_species_{x}" in one else None
                    for x in ("low", "high")
                ]
                curves.append(
                    Curve(
                        joined(curve.system.name, as_plot_text(species)),
                        ds["threshold"].values, one["apcer_of_species"].values, curve.system, why,
                        hue=len(curves), low=limits[0], high=limits[1],
                    )
                )  # fmt: skip
        return cls(curves)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Any:
        """Draw the curves. See :func:`apcer`."""
        kind = kind_of(self.systems, "apcer")
        ax = self._start(ax, name)
        # Counts change at a threshold: just past it for distances, just before for similarities.
        steps = "steps-pre" if larger_is_closer(kind) else "steps-post"
        for curve in self.defined:
            self._line(curve, *thinned(curve.x, curve.y), {"drawstyle": steps, **style}, False)
            self._band(curve)
        for system in self.systems[:1] if len(self.systems) == 1 else []:
            if "threshold_used" in system.dataset:
                at = float(system.dataset["threshold_used"])
                ax.axvline(at, color=look.RULE, linewidth=0.9, zorder=1)
        ax.set_ylim(-0.015, 1.015)
        return self._finish(x_label=threshold_label(kind))


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
    The upper edge of the species' lines is APCER of the detector. A grey line is the threshold
    used, where the result has one.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.pad([0.9, 0.3, 0.6, 0.7, 0.2, 0.4], ["", "", "", "mask", "mask", "print"])
    >>> list(be.plot.apcer(ds).curves)
    ['BPCER', 'mask', 'print']
    """
    return ApcerDisplay.from_results(data).plot(ax, **style)
