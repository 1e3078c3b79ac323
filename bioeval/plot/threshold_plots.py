"""Assured thresholds, and errors at thresholds of another set over a weight."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.document.results import threshold_of, threshold_rule
from bioeval.document.text import say
from bioeval.plot import plot_style
from bioeval.plot.display import Curves, Display, curves_of, threshold_label
from bioeval.plot.plot_style import Style
from bioeval.plot.systems import pick
from bioeval.studies.thresholds.section import refusal_of
from bioeval.views.messages import sentence_about
from bioeval.views.writers.lines import written


def assured(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Display:
    """Draw what an assured threshold costs: FAR, its upper limit and FRR over the threshold.

    Parameters
    ----------
    data : Dataset
        A result of :func:`bioeval.study_threshold` with `assure`.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    plot = Display(pick(data, "assured", single=True), ax, style)
    ax, ds = plot.ax_, plot.systems[0].dataset
    threshold = ds["point_threshold"].values
    if len(threshold) < 2:
        refusal = refusal_of(ds)
        alone = "only one threshold was evaluated"
        plot.empty(alone if refusal is None else sentence_about(refusal))
    target = threshold_rule(ds.attrs).values[0]
    level, over = float(ds.attrs["assure"]), ds.attrs.get("assured_over", "pairs of people")
    drawn = [np.array([target])]
    for name, dash, label in (
        ("far_high", ":", say("{far}, upper limit at {level:rate}", level=level)),
        ("far", "", say("{far}, mean over {over}", over=over)),
        ("frr", "", say("{frr}")),
    ):
        rates, hue = ds[f"point_{name}"].values, Style.hues[name[:3]]
        drawn.append(rates)
        if np.isfinite(rates).any():
            how: dict[str, Any] = {"color": Style.colour(hue), "linestyle": dash or Style.dash(hue)}
            ax.plot(threshold, rates, label=plot.write(label), **{**how, "linewidth": 1.8, **style})
    ax.axhline(target, color=Style.rule, linewidth=1.0, zorder=1)
    end, away, side = (1, -4, "right") if ds.attrs["kind"] in LARGER_IS_CLOSER else (0, 4, "left")
    place: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "ha": side}
    plot_style.note(ax, f"target {100 * target:g} %", (end, target), (away, 3), **place)
    for role, variable, line in (
        ("assured", "assured_threshold", "-"),
        ("these data alone", "threshold", ":"),
    ):
        at = float(ds[variable])
        if np.isfinite(at):
            text = f"{role}: {written(threshold_of(ds, variable))}"
            ax.axvline(at, color=Style.text, linewidth=1.2, linestyle=line, label=text)
    every = np.concatenate(drawn)
    seen = every[np.isfinite(every) & (every > 0)]
    plot_style.log_axis(ax, "y", float(seen.min()) / 1.3, min(1.0, 1.3 * float(seen.max())))
    labels = threshold_label(ds.attrs["kind"]), say("Error rate: {far}, {frr}")
    caption = [f"estimated, for {ds.attrs['assured_for']}"]
    plot.finish(plot.of_system("Assured threshold"), caption, *labels)
    return plot


def epc(data: Any, ax: Axes | Figure | None = None, **style: Any) -> Curves:
    """Draw the expected performance curve: HTER on a test set against the weight of FAR.

    Thresholds are chosen on the development set, one for each weight, so that systems are compared
    as they would be used. Bengio and Mariethoz 2004.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.epc`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.
    """
    plot = Curves("epc", curves_of(data, "epc", "alpha", {"hter": ""}), ax, style, marked=False)
    plot.draw(**plot.up_to_highest())
    x = say("Weight of {far}, alpha (that of {frr}: 1 - alpha)")
    y = "Half total error rate on the test set, HTER"
    return plot.end("EPC", x, y, rates=(["far", "frr"], []))
