"""Plots of attacks: vulnerability to attacks, and their detection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.errors import counted
from bioeval.plot.det_plots import DET_LABELS, POINTS, draw_det, with_eer
from bioeval.plot.display import Curve, Curves, Display, curves_of, numbered
from bioeval.plot.plot_style import ATTACK, IMPOSTOR, SQUARE, Style, styled
from bioeval.plot.rate_plots import smallest_rates
from bioeval.plot.score_plots import draw_histograms
from bioeval.plot.systems import System, agreed, as_plot_text, pick
from bioeval.results.histogram import ScoreHistograms
from bioeval.showing.cells import threshold_of
from bioeval.showing.text import Term, Text, say
from bioeval.showing.writers.lines import written
from bioeval.studies.attacks.scores import LARGEST, POOLED

#: Classes of attempts, and their names.
_CLASSES = (
    ("genuine", "Genuine"),
    ("impostor", "Zero-effort impostor"),
    ("attack", "Attack"),
)


def _attempts_in_words(system: System) -> str:
    ds = system.dataset
    attacks = int(ds["attack_attempts"].sel(species=POOLED))
    return (
        f"{int(ds['genuine_attempts']):,} genuine, {int(ds['impostor_attempts']):,} impostor and "
        f"{counted(attacks, 'attack attempts')}"
    )


def _presentations_in_words(system: System) -> str:
    ds = system.dataset
    attacks = counted(int(ds["presentations"].sel(species=POOLED)), "attack presentations")
    return f"{int(ds['bona_fide']):,} bona fide and {attacks}"


@styled
def attack_det(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
    """Draw the DET of zero-effort impostors, and FRR against the IAPAR of each species.

    Both axes are normal deviates. The points on all curves are at one threshold, the threshold of
    the equal error rate of zero-effort impostors: the farther to the right the point of a species
    lies, the more its attacks gain.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.vulnerability`.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    (system,) = pick(data, "attack_det", single=True)
    far = Curve.from_variables(replace(system, name="zero-effort impostors"), "far", "frr")
    curves = [replace(far, hue=IMPOSTOR, dash=IMPOSTOR)]
    for species in _attacked_species(system):
        curves.append(_as_species(Curve.from_variables(species, "far", "frr"), len(curves) - 1))
    # FAR and the species have the line styles that they have in other plots: no line is solid.
    plot = Curves("attack_det", curves, ax, style, SQUARE, label=with_eer)
    words = draw_det(plot, smallest_rates, (*POINTS, ("iapar_at_far", "frr_at_far")))
    x_label = say("{far} of impostors, IAPAR of attacks (%)")
    caption = [_attempts_in_words(system)]
    return plot.end("DET of attacks", x_label, DET_LABELS[1], caption=caption, **words._asdict())


def _species(dataset: xr.Dataset) -> list[str]:
    species: list[str] = dataset["species"].values.tolist()[:-2]
    return species


def _as_species(curve: Curve, number: int) -> Curve:
    return replace(curve, hue=ATTACK, shade=number, dash=ATTACK + number)


def _attacked_species(system: System) -> list[System]:
    """Return a system for each species with attempts, with IAPAR of the species in place of FAR."""
    by_species = []
    for name in _species(system.dataset):
        ds = system.dataset.sel(species=name, drop=True)
        if ds["attack_attempts"] > 0:
            of_species = ds.assign(
                far=ds["iapar"],
                far_at_eer=ds["iapar_at_eer"],
                impostor_attempts=ds["attack_attempts"],
            ).drop_vars("eer")
            by_species.append(replace(system, name=as_plot_text(name), dataset=of_species))
    return by_species


# --------------------------------------------------------------------- species by threshold


def _threshold_to_mark(ds: xr.Dataset) -> dict[str, float]:
    """Return the threshold used, else the EER threshold, by its name; empty if it is not finite."""
    variable, word = "eer_threshold", "EER at"
    if "threshold_used" in ds:
        variable, word = "threshold_used", "threshold"
    if variable not in ds or not np.isfinite(ds[variable]):
        return {}
    return {f"{word} {written(threshold_of(ds, variable))}": float(ds[variable])}


def _by_species(
    name: str,
    data: Any,
    ax: Axes | Figure | None,
    style: dict[str, Any],
    rates: Mapping[str, Text],
    lacking: str,
) -> tuple[Curves, str]:
    """Draw rates, and the rates of each species, against the threshold.

    The threshold of a single result is marked. A species without a defined rate is named with the
    reason `lacking`. Return the plot, and the label of the threshold axis.
    """
    curves = curves_of(data, name, "threshold", rates)
    curves = [replace(curve, dash=Style.hues[curve.variable]) for curve in curves]
    systems = list({id(curve.system): curve.system for curve in curves}.values())
    for number, system in enumerate(systems):
        for i, species in enumerate(_species(system.dataset)):
            alone = replace(system, dataset=system.dataset.isel(species=i, drop=True))
            curve = Curve.from_variables(alone, "threshold", name, as_plot_text(species))
            why_not = lacking if curve.why_not else ""
            curve = _as_species(replace(curve, system=system, why_not=why_not), i)
            curves.append(replace(curve, hue=number, shade=0) if len(systems) > 1 else curve)
    plot = Curves(name, curves, ax, style, marked=False)
    label = plot.over_thresholds()
    if len(systems) == 1:
        for text, threshold in _threshold_to_mark(systems[0].dataset).items():
            plot.threshold_line(threshold, text)
    return plot, label


@styled
def iapar(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
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
    words = {"far": Term("far"), "frr": Term("frr")}
    plot, x_label = _by_species("iapar", data, ax, style, words, "no attempt")
    caption = [agreed(plot.systems, _attempts_in_words)]
    y_label = plot.named("Error rate", "far", "frr")
    return plot.end("IAPAR by species", x_label, y_label, caption=caption)


@styled
def attack_scores(
    data: Any, ax: Axes | Figure | None = None, *, log: bool = False, **style: Any
) -> Display:
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
    (system,) = pick(data, "attack_scores", single=True)
    pooled = system.dataset.sel(species=POOLED)
    histograms = {system.name: ScoreHistograms.between_thresholds(pooled)}
    return draw_histograms(
        histograms,
        ax,
        style,
        title="Genuine, impostor and attack scores",
        classes=_CLASSES,
        about=lambda _: _attempts_in_words(system),
        thresholds=_threshold_to_mark(system.dataset),
        log=log,
    )


# ---------------------------------------------------------------------------- detection


@styled
def pad_det(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
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
    systems = []
    for system in pick(data, "pad_det"):
        largest = system.dataset["apcer"].sel(species=LARGEST, drop=True)
        systems.append(replace(system, dataset=system.dataset.assign(apcer=largest)))
    curves = numbered([Curve.from_variables(system, "apcer", "bpcer") for system in systems])
    label = partial(with_eer, variable="d_eer", called="D-EER")
    plot = Curves("pad_det", curves, ax, style, SQUARE, solid=True, label=label)
    words = draw_det(plot, _least_rates, [("apcer_target", "bpcer_at_apcer")])
    caption = [agreed(plot.systems, _presentations_in_words)]
    x_label = "APCER, the largest over the species (%)"
    return plot.end("DET", x_label, "BPCER (%)", caption=caption, **words._asdict())


def _least_rates(system: System) -> tuple[float, float]:
    ds = system.dataset
    return 1 / int(ds["presentations"].values[:-2].max()), 1 / int(ds["bona_fide"])


@styled
def apcer(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
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
    plot, x_label = _by_species("apcer", data, ax, style, {"bpcer": "BPCER"}, "no response")
    caption = [agreed(plot.systems, _presentations_in_words)]
    return plot.end("APCER by species", x_label, "Error rate", caption=caption)
