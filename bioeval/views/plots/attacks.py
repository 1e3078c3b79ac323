"""DET with attack curves: the false reject rate against the rates of impostors and of attacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes

from bioeval.views.plots.curves import curve_of, numbered
from bioeval.views.plots.rates import DetDisplay
from bioeval.views.plots.select_datasets import System, pick_one


class AttackDetDisplay(DetDisplay):
    """DET curves; ``x`` is FAR or the IAPAR of a species and ``y`` is FRR, one per threshold."""

    spec = replace(
        DetDisplay.spec, plot="attack_det", title="DET of impostors and attacks",
        x_label="False accept rate, FAR, or attack accept rate, IAPAR (%)",
        terms=(("far",), ("frr",)),
        over=lambda systems: [_attempts(systems)],
        details=lambda _: ["points: at the threshold of the equal error rate of impostors"],
    )  # fmt: skip

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result: of zero-effort impostors and of each species."""
        system = pick_one(data, cls.spec.plot)
        return cls(
            numbered([
                curve_of(one, "far", "frr", one.name)
                for one in (_zero_effort(system), *_species(system))
            ])
        )  # fmt: skip


def _attempts(systems: Sequence[System]) -> str:
    """Return the numbers of attempts of each curve."""
    numbers = (int(one.dataset["impostor_attempts"]) for one in systems)
    said = (f"{one.name} {n:,}" for one, n in zip(systems, numbers, strict=True))
    return f"genuine {int(systems[0].dataset['genuine_attempts']):,}, {', '.join(said)} attempts"


def _zero_effort(system: System) -> System:
    return replace(system, name="zero-effort impostors")


def _species(system: System) -> list[System]:
    """Return a dataset for each species with attempts, with its IAPAR in place of FAR."""
    ds = system.dataset
    near = np.abs(ds["threshold"].values - float(ds["eer_threshold"]))
    near[np.isnan(near)] = np.inf
    found = []
    for i, name in enumerate(ds["species"].values.tolist()):
        iapar = ds["iapar_of_species"].isel(species=i, drop=True)
        own = ds.assign(
            far=iapar,
            far_at_eer=iapar.isel(threshold=int(np.argmin(near)), drop=True),
            impostor_attempts=ds["attack_attempts_of_species"].isel(species=i, drop=True),
        ).drop_vars("eer")
        if int(own["impostor_attempts"]):
            found.append(replace(system, name=name, dataset=own))
    return found


def attack_det(data: Any, ax: Axes | None = None, **style: Any) -> AttackDetDisplay:
    """Draw the DET of zero-effort impostors, and FRR against the IAPAR of each species.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.vulnerability`.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels the system.

    Returns
    -------
    AttackDetDisplay
        With ``curves``, ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Both axes are normal deviates. The points on all curves are at one threshold, that of the equal
    error rate of zero-effort impostors: how far a species lies to their right is what its attacks
    gain.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(40, 4, attacks="print=0.6,mask=0.9")
    >>> display = be.plot.attack_det(be.vulnerability(scores))
    >>> list(display.curves)
    ['zero-effort impostors', 'mask', 'print']
    """
    return AttackDetDisplay.from_results(data).plot(ax, **style)
