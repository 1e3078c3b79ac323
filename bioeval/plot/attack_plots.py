"""Plots of attacks: vulnerability, and their detection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.document.results import threshold_of
from bioeval.document.text import Term, Text, say
from bioeval.plot.display import Curve, CurvesDisplay
from bioeval.plot.plot_style import ATTACK, IMPOSTOR, Style
from bioeval.plot.rate_plots import DetDisplay
from bioeval.plot.score_plots import ScoreDistributionsDisplay
from bioeval.plot.systems import System, as_plot_text
from bioeval.results.histogram import ScoreHistograms
from bioeval.views.writers.lines import written


def _as_species(curve: Curve, number: int) -> Curve:
    """Return the curve of a species: in a shade of the colour of attacks, with its own dashes."""
    return replace(curve, hue=ATTACK, shade=number, dash=ATTACK + number)


def _of_classes(system: System) -> str:
    ds = system.dataset
    return (
        f"{int(ds['genuine_attempts']):,} genuine, {int(ds['impostor_attempts']):,} impostor and "
        f"{counted(int(ds['attack_attempts']), 'attack attempts')}"
    )


def _presentations(system: System) -> str:
    ds = system.dataset
    attacks = counted(int(ds["presentations_of_species"].sum()), "attack presentations")
    return f"{int(ds['bona_fide']):,} bona fide and {attacks}"


class AttackDetDisplay(DetDisplay):
    """DET curves; ``x`` is FAR or the IAPAR of a species and ``y`` is FRR, one per threshold."""

    _plot, _title = "attack_det", "DET of attacks"
    _x_label = say("{far} of impostors, IAPAR of attacks (%)")
    _single = True
    _solid = False  # the line styles of FAR and of the species, as in other plots
    _points: ClassVar = (*DetDisplay._points, ("iapar_max_at_far", "frr_at_far"))

    @classmethod
    def _curves_of(cls, systems: Sequence[System]) -> list[Curve]:
        """Return the curves of zero-effort impostors and of each species."""
        (system,) = systems
        far = Curve.of(replace(system, name="zero-effort impostors"), "far", "frr")
        curves = [replace(far, hue=IMPOSTOR, dash=IMPOSTOR)]
        for i, one in enumerate(_species(system)):
            curves.append(_as_species(Curve.of(one, "far", "frr"), i))
        return curves

    def _caption(self) -> Sequence[Text]:
        return [_of_classes(self.systems[0])]


def _species(system: System) -> list[System]:
    """Return a dataset for each species with attempts, with its IAPAR in place of FAR."""
    ds = system.dataset
    near = np.abs(ds["threshold"].values - float(ds["eer_threshold"]))
    near[np.isnan(near)] = np.inf
    by_species = []
    for i, name in enumerate(ds["species"].values.tolist()):
        iapar = ds["iapar_of_species"].isel(species=i, drop=True)
        of_species = ds.assign(
            far=iapar,
            far_at_eer=iapar.isel(threshold=int(np.argmin(near)), drop=True),
            impostor_attempts=ds["attack_attempts_of_species"].isel(species=i, drop=True),
        ).drop_vars("eer")
        if int(of_species["impostor_attempts"]):
            by_species.append(replace(system, name=as_plot_text(name), dataset=of_species))
    return by_species


def attack_det(data: Any, ax: Axes | None = None, **style: Any) -> AttackDetDisplay:
    """Draw the DET of zero-effort impostors, and FRR against the IAPAR of each species.

    Both axes are normal deviates. The points on all curves are at one threshold, that of the equal
    error rate of zero-effort impostors: how far a species lies to their right is what its attacks
    gain.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.vulnerability`.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return AttackDetDisplay.from_results(data).plot(ax, **style)


# --------------------------------------------------------------------- species by threshold


def _chosen(ds: xr.Dataset) -> tuple[float, str]:
    """Return the threshold to mark, and what it is: the one used, else that of the EER."""
    if "threshold_used" in ds:
        return float(ds["threshold_used"]), f"threshold {_printed(ds, 'threshold_used')}"
    at = float(ds.get("eer_threshold", np.nan))
    return at, "" if np.isnan(at) else f"EER at {_printed(ds, 'eer_threshold')}"


def _printed(ds: xr.Dataset, name: str) -> str:
    return written(threshold_of(ds, name))


class SpeciesDisplay(CurvesDisplay):
    """Error rates by threshold, with a curve for each attack instrument species."""

    _x, _y_label = "threshold", "Error rate"
    _rate: ClassVar[str]  # of the species
    _lacking: ClassVar[str]  # why a species has none
    _marked = False

    @classmethod
    def _curves_of(cls, systems: Sequence[System]) -> list[Curve]:
        """Return the rates of both classes, or of bona fide presentations, and of each species."""
        curves = [replace(c, dash=Style.hues[c.variable]) for c in super()._curves_of(systems)]
        for number, system in enumerate(systems):
            for i, species in enumerate(system.dataset["species"].values.tolist()):
                alone = replace(system, dataset=system.dataset.isel(species=i, drop=True))
                curve = Curve.of(alone, "threshold", cls._rate, as_plot_text(species))
                why = cls._lacking if curve.why_not else ""
                curve = _as_species(replace(curve, system=system, why_not=why), i)
                if len(systems) > 1:
                    curve = replace(curve, hue=number, shade=0)
                curves.append(curve)
        return curves

    def plot(self, ax: Axes | None = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves, and the threshold of a single result."""
        label = self._over_thresholds(ax, name, style)
        at, text = _chosen(self.systems[0].dataset)
        if len(self.systems) == 1 and np.isfinite(at):
            self._threshold_line(at, text)
        return self._end(label)


class IaparDisplay(SpeciesDisplay):
    """Errors by threshold; ``x`` is the threshold and ``y`` FRR, FAR, or IAPAR of a species."""

    _plot, _title = "iapar", "IAPAR by species"
    _y: ClassVar = {"far": Term("far"), "frr": Term("frr")}
    _rates = (), ("far", "frr")
    _rate, _lacking = "iapar_of_species", "no attempt"
    _over = staticmethod(_of_classes)


def iapar(data: Any, ax: Axes | None = None, **style: Any) -> IaparDisplay:
    """Draw IAPAR of each attack instrument species, FAR and FRR against the threshold.

    The upper edge of the species' lines is the largest IAPAR. The vertical line is the threshold
    used, where the result has one, else that of the equal error rate of zero-effort impostors.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.vulnerability`, or several by name, all of one kind of score.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return IaparDisplay.from_results(data).plot(ax, **style)


# -------------------------------------------------------------------- scores of three classes


class AttackScoresDisplay(ScoreDistributionsDisplay):
    """Histograms of genuine, zero-effort impostor and attack scores.

    Attributes
    ----------
    attack : dict of str to Histogram
        By the name of the system, as are ``genuine`` and ``impostor``.
    """

    _plot, _title = "attack_scores", "Genuine, impostor and attack scores"
    _over = staticmethod(_of_classes)
    _class_words: ClassVar = {
        "genuine": "Genuine",
        "impostor": "Zero-effort impostor",
        "attack": "Attack",
    }

    def __init__(self, system: System):
        histograms = ScoreHistograms.between_thresholds(system.dataset)
        super().__init__({system.name: histograms})
        self.attack = {system.name: histograms.attack}

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the counts of one result between its thresholds."""
        return cls(*System.pick(data, cls._plot, single=True))

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, log: bool = False, **style: Any
    ) -> Self:
        """Draw the histograms and the threshold. See :func:`attack_scores`."""
        at, text = _chosen(self.systems[0].dataset)
        return super().plot(ax, name=name, thresholds={text: at}, log=log, **style)


def attack_scores(
    data: Any, ax: Axes | None = None, *, log: bool = False, **style: Any
) -> AttackScoresDisplay:
    """Draw how genuine, zero-effort impostor and attack scores are distributed.

    Scores are those of the attempts of the result, fused where it is multi-template; attacks of all
    species are pooled. The edges of the bins are thresholds of the result, so that counts are
    exact. Each density is over the attempts of its own class. The vertical line is the threshold
    used, where the result has one, else that of the equal error rate of zero-effort impostors.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        One result of :func:`bioeval.vulnerability`.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    log : bool
        Whether the axis of the density is logarithmic, which shows the tails.
    """
    return AttackScoresDisplay.from_results(data).plot(ax, log=log, **style)


# ---------------------------------------------------------------------------- detection


class PadDetDisplay(DetDisplay):
    """DET curves of detection; ``x`` of a curve is APCER and ``y`` is BPCER."""

    _plot, _x, _y = "pad_det", "apcer", {"bpcer": ""}
    _x_label, _y_label = "APCER, the largest over the species (%)", "BPCER (%)"
    _rates = (), ()
    _over = staticmethod(_presentations)
    _eer: ClassVar = ("d_eer", "D-EER")
    _points: ClassVar = (("apcer_target", "bpcer_at_apcer"),)

    def _floors(self, system: System) -> tuple[float, float]:
        """Return the smallest rates above 0 of both axes."""
        ds = system.dataset
        return 1 / int(ds["presentations_of_species"].max()), 1 / int(ds["bona_fide"])


def pad_det(data: Any, ax: Axes | None = None, **style: Any) -> PadDetDisplay:
    """Draw the DET of presentation attack detection: BPCER against APCER, in per cent.

    APCER is the largest over the species at each threshold, as ISO/IEC 30107-3 has it. Axes are
    those of :func:`bioeval.plot.det`: normal deviates, without rates of 0 and 1. The D-EER is where
    a curve meets the dotted line.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.pad`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return PadDetDisplay.from_results(data).plot(ax, **style)


class ApcerDisplay(SpeciesDisplay):
    """Errors by threshold; ``x`` is the threshold and ``y`` APCER of a species, or BPCER."""

    _plot, _title, _y = "apcer", "APCER by species", {"bpcer": "BPCER"}
    _rate, _lacking = "apcer_of_species", "no response"
    _over = staticmethod(_presentations)


def apcer(data: Any, ax: Axes | None = None, **style: Any) -> ApcerDisplay:
    """Draw APCER of each attack instrument species, and BPCER, against the threshold.

    The upper edge of the species' lines is APCER of the detector. The vertical line is the
    threshold used, where the result has one.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.pad`, or several by name, all of one kind of score.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    return ApcerDisplay.from_results(data).plot(ax, **style)
