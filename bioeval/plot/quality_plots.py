"""Errors against the proportion of samples that are discarded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from bioeval.base.errors import counted
from bioeval.document.results import rule_of
from bioeval.document.text import Enumeration, Text, say
from bioeval.plot.display import Curve, CurvesDisplay, CurveSpec
from bioeval.plot.systems import System


def _discard_limits(display: CurvesDisplay) -> dict[str, Any]:
    last = max(float(curve.x[-1]) for curve in display.curves.values())
    return {**display.up_to_highest(), "xlim": (-0.015 * last, 1.015 * last)}


def _of_samples(systems: Sequence[System]) -> list[Text]:
    """Return the samples and the threshold common to all curves."""
    samples = {int(system.dataset["samples"]) for system in systems}
    details: list[Text] = []
    if len(samples) == 1:
        details.append(counted(samples.pop(), "samples"))
    if System.agreed(systems, "threshold_rule"):
        whole = " of all attempts"
        if System.agreed(systems, "chosen_on") == "given":
            whole = ""
        rule = rule_of(systems[0].dataset.attrs)
        details.append(say("at {rule}{whole}", rule=rule, whole=whole))
    return [Enumeration(details, ";")]


def _discard_curve(system: System, x: str, y: str, name: str) -> Curve:
    values = system.dataset[y].values
    why: Text = ""
    if np.isnan(values).all():
        why = say("no genuine attempt: {frr} is not defined")
    return Curve(name, system.dataset[x].values, values, system, why)


def _with_area(curve: Curve, _: bool) -> str:
    area = float(curve.system.dataset["pauc"])
    if area == area:
        return f"{curve.name}, pAUC {area:.3f}" if curve.name else f"pAUC {area:.3f}"
    return curve.name


class ErrorDiscardDisplay(CurvesDisplay):
    """Curves of quality measures; ``x`` of a curve is the discarded fraction and ``y`` is FRR."""

    spec = CurveSpec(
        "error_discard",
        "Error against discard",
        "fraction",
        {"frr": ""},
        "Discarded fraction of the samples, those of lowest quality",
        say("{frr} of the remaining samples"),
        terms=("", ("frr",)),
        marked=False,
        limits=_discard_limits,
        over=_of_samples,
        curve=_discard_curve,
        text=_with_area,
        details=lambda _: [say("pAUC: area from 0 to 0.2, relative to a constant {frr}")],
    )


def error_discard(data: Any, ax: Axes | None = None, **style: Any) -> ErrorDiscardDisplay:
    """Draw error against discard: FRR against the fraction of samples that are discarded.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.error_discard`, or several by name: quality measures of one
        system, or systems.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single curve.

    Returns
    -------
    ErrorDiscardDisplay
        With ``curves``, ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    A useful measure of quality makes FRR fall from the left end on; one that knows nothing of
    errors leaves it level. The label has the partial area from 0 to 0.2, relative to a level curve.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 4)
    >>> display = be.plot.error_discard(be.error_discard(scores, range(80), threshold="eer"))
    >>> len(display.curves[""].x)
    51
    """
    return ErrorDiscardDisplay.from_results(data).plot(ax, **style)
