"""Errors and accepted attacks at thresholds of another set, over a weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from bioeval.document import Text, say
from bioeval.views.plots import CurvesDisplay, CurveSpec, System


class EpcDisplay(CurvesDisplay):
    """Expected performance curves; ``x`` of a curve is alpha and ``y`` is HTER."""

    spec = CurveSpec(
        "epc",
        "EPC",
        "alpha",
        {"hter": ""},
        say("Weight of {far}, alpha (that of {frr}: 1 - alpha)"),
        "Half total error rate on the test set, HTER",
        terms=(("far", "frr"), ""),
        marked=False,
        limits=CurvesDisplay.up_to_highest,
        details=lambda _: [
            say("each threshold minimises alpha {far} + (1 - alpha) {frr} on the development set")
        ],
    )


def epc(data: Any, ax: Axes | None = None, **style: Any) -> EpcDisplay:
    """Draw the expected performance curve: HTER on a test set against the weight of FAR.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.epc`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    EpcDisplay
        With ``curves``, ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Thresholds are chosen on the development set, one for each weight, so that systems are compared
    as they would be used. Bengio and Mariethoz 2004.

    Examples
    --------
    >>> import bioeval as be
    >>> dev, test = be.simulate(40, 4, random_state=1), be.simulate(40, 4, random_state=2)
    >>> display = be.plot.epc({"ours": be.epc(dev, test)})
    >>> len(display.curves["ours"].x)
    101
    """
    return EpcDisplay.from_results(data).plot(ax, **style)


def _criterion(systems: Sequence[System]) -> list[Text]:
    """Return what the thresholds minimise if all curves agree."""
    attacks = sorted({int(x.dataset["attack_attempts"]) for x in systems})
    number = f"{attacks[0]:,}"
    if len(attacks) > 1:
        number += f" to {attacks[-1]:,}"
    attempts = f"{number} attack attempts"
    chosen: Text = "each threshold is chosen on the development set"
    criteria = set()
    for system in systems:
        attrs = system.dataset.attrs
        criteria.add((str(attrs["criterion"]), float(attrs["beta"])))
    if len(criteria) == 1:
        ((criterion, beta),) = criteria
        minimised = {"eer": "difference of", "wer": "sum of"}[criterion]
        chosen = say(
            "{chosen}: smallest {minimised} {beta} {far}_w and {other} {frr}; "
            "{far}_w = (1 - omega) {far} + omega IAPAR",
            chosen=chosen,
            minimised=minimised,
            beta=f"{beta:g}",
            other=f"{1 - beta:.12g}",
        )
    return [attempts, chosen]


class EpscDisplay(CurvesDisplay):
    """Errors on the test set; ``x`` of a curve is omega and ``y`` HTER_w or IAPAR."""

    spec = CurveSpec(
        "epsc",
        "EPSC",
        "omega",
        {"hter_w": "HTER_w", "iapar_pooled": "IAPAR"},
        "Weight of attacks among the negatives, omega",
        "Error rate on the test set",
        marked=False,
        limits=CurvesDisplay.up_to_highest,
        pointwise_over="omega",
        details=_criterion,
    )


def epsc(data: Any, ax: Axes | None = None, **style: Any) -> EpscDisplay:
    """Draw expected performance and spoofability: HTER_w and IAPAR against the weight of attacks.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.epsc`, or several by name.
    ax, **style
        As for :func:`bioeval.plot.roc`.

    Returns
    -------
    EpscDisplay
        With ``curves`` (``"HTER_w"`` and ``"IAPAR"``), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    HTER_w is the mean of FRR and of ``(1 - omega) FAR + omega IAPAR``. Thresholds are chosen on the
    development set, one for each weight, so that IAPAR falls where attacks weigh more. Chingovska,
    Anjos and Marcel 2014.

    Examples
    --------
    >>> import bioeval as be
    >>> dev, test = (be.simulate(40, 4, attacks="print=0.6", random_state=i) for i in (1, 2))
    >>> list(be.plot.epsc(be.epsc(dev, test)).curves)
    ['HTER_w', 'IAPAR']
    """
    return EpscDisplay.from_results(data).plot(ax, **style)
