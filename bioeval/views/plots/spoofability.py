"""Expected performance and spoofability curves: errors against the weight of attacks."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from bioeval.views.plots.curves import CurvesDisplay, CurveSpec, up_to_highest


def _criterion(systems: Any) -> list[str]:
    """Return what the thresholds minimise, where all curves agree."""
    attacks = sorted({int(x.dataset["attack_attempts"]) for x in systems})
    number = " to ".join(f"{n:,}" for n in dict.fromkeys([attacks[0], attacks[-1]]))
    found = {(str(x.dataset.attrs["criterion"]), float(x.dataset.attrs["beta"])) for x in systems}
    attempts, chosen = (
        f"{number} attack attempts",
        "each threshold is chosen on the development set",
    )
    if len(found) > 1:
        return [attempts, chosen]
    ((criterion, beta),) = found
    minimised = {"eer": "difference of", "wer": "sum of"}[criterion]
    return [
        attempts,
        f"{chosen}: smallest {minimised} {beta:g} far_w and {1 - beta:.12g} FRR",
    ]


class EpscDisplay(CurvesDisplay):
    """Errors on the test set; ``x`` of a curve is omega and ``y`` HTER_w or IAPAR."""

    spec = CurveSpec(
        "epsc", "EPSC", "omega",
        {"hter_w": "HTER_w", "iapar_pooled": "IAPAR"},
        "Weight of attacks among the negatives, omega", "Error rate on the test set",
        marked=False, limits=up_to_highest, by_itself="omega", details=_criterion,
    )  # fmt: skip


def epsc(data: Any, ax: Axes | None = None, **style: Any) -> EpscDisplay:
    """Draw expected performance and spoofability: HTER_w and IAPAR against the weight of attacks.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.epsc`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

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
