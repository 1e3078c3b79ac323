"""Plots that are curves, each described by a spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bioeval.base.errors import counted
from bioeval.results.zoo import lorenz as lorenz_curve
from bioeval.views.plots import style as look
from bioeval.views.plots.direct_labels import Labelled
from bioeval.views.plots.display import Curve, CurvesDisplay, CurveSpec, curve_of, up_to_highest
from bioeval.views.plots.systems import System, agreed, convention, of_each, pick, scalar


class PrecisionRecallDisplay(CurvesDisplay):
    """Interpolated precision; ``x`` of a curve is the recall level and ``y`` the precision."""

    spec = CurveSpec(
        "precision_recall", "Precision and recall", "recall_level", {"interpolated_precision": ""},
        "Recall", "Interpolated precision", details=lambda systems: [convention(systems)],
        by_itself="recall level", marked=True, at=0.3,
    )  # fmt: skip


def precision_recall(data: Any, ax: Axes | None = None, **style: Any) -> PrecisionRecallDisplay:
    """Draw interpolated precision against recall, the mean over the queries.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.reid`, :func:`bioeval.top_k` or :func:`bioeval.evaluate`, or
        several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    PrecisionRecallDisplay
        With ``curves`` (the arrays), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    The precision at a recall level is the largest at this recall or beyond (Manning, Raghavan and
    Schuetze, Introduction to Information Retrieval, 2008, section 8.4); the lines between the
    eleven levels only join them. Bands are the intervals at each level by itself, where the result
    has them.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.precision_recall(be.reid(be.simulate(20, 4), "viper"))
    >>> len(display.curves[""].x)
    11
    """
    return PrecisionRecallDisplay.from_results(data).plot(ax, **style)


class EpcDisplay(CurvesDisplay):
    """Expected performance curves; ``x`` of a curve is alpha and ``y`` is HTER."""

    spec = CurveSpec(
        "epc", "EPC", "alpha", {"hter": ""}, "Weight of FAR, alpha (that of FRR: 1 - alpha)",
        "Half total error rate on the test set, HTER", terms=(("far", "frr"), ""), marked=False,
        limits=up_to_highest, details=lambda _: [
            "each threshold minimises alpha FAR + (1 - alpha) FRR on the development set"
        ],
    )  # fmt: skip


def epc(data: Any, ax: Axes | None = None, **style: Any) -> EpcDisplay:
    """Draw the expected performance curve: HTER on a test set against the weight of FAR.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.epc`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

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


def _criterion(systems: Sequence[System]) -> list[str]:
    """Return what the thresholds minimise if all curves agree."""
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


def _discard_limits(display: CurvesDisplay) -> dict[str, Any]:
    last = max(float(curve.x[-1]) for curve in display.curves.values())
    return {**up_to_highest(display), "xlim": (-0.015 * last, 1.015 * last)}


def _of_samples(systems: Sequence[System]) -> list[str]:
    """Return the samples and the threshold common to all curves."""
    samples = {int(system.dataset["samples"]) for system in systems}
    rule = agreed(systems, "threshold_rule_in_words")
    given = agreed(systems, "chosen_on") == "given"
    said = [counted(samples.pop(), "samples")] if len(samples) == 1 else []
    said.append(f"at {rule}{'' if given else ' of all attempts'}" if rule else "")
    return ["; ".join(filter(None, said))]


def _discard_curve(system: System, x: str, y: str, name: str) -> Curve:
    values = system.dataset[y].values
    why = "no genuine attempt: FRR is not defined" if np.isnan(values).all() else ""
    return Curve(name, system.dataset[x].values, values, system, why)


def _with_area(curve: Curve, _: bool) -> str:
    area = float(curve.system.dataset["pauc"])
    return f"{curve.name}\npAUC {area:.3f}".lstrip() if area == area else curve.name


class ErrorDiscardDisplay(CurvesDisplay):
    """Curves of quality measures; ``x`` of a curve is the discarded fraction and ``y`` is FRR."""

    spec = CurveSpec(
        "error_discard", "Error against discard", "fraction", {"frr": ""},
        "Discarded fraction of the samples, those of lowest quality",
        "FRR of the remaining samples", terms=("", ("frr",)), marked=False,
        limits=_discard_limits, over=_of_samples, curve=_discard_curve, text=_with_area,
        details=lambda _: [
            "pAUC: area from 0 to 0.2, relative to a constant FRR"
        ],
    )  # fmt: skip


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


def _templates_curve(system: System, x: str, y: str, name: str) -> Curve:
    if y != "frr_at_far":
        return curve_of(system, x, y, name)
    targets = system.dataset["far_target"].values
    target = float(targets[np.argmin(np.abs(np.log10(np.maximum(targets, 1e-9)) + 2))])
    one = replace(system, dataset=system.dataset.sel(far_target=target))
    made = curve_of(one, x, y, f"{name} {look.percent(target)}")
    return replace(made, system=system)


def _templates_limits(display: Any) -> dict[str, Any]:
    highest = max((np.nanmax(curve.y) for curve in display.defined), default=1.0)
    sizes = np.concatenate([curve.x for curve in display.curves.values()])
    look.rank_axis(display.ax_, "x", int(sizes.max()), False)
    look.percent_axis(display.ax_.yaxis)
    return {"ylim": (0.0, 1.08 * max(highest, 1e-9))}


class GalleryTemplatesDisplay(CurvesDisplay):
    """Curves of rates; ``x`` of a curve is the number of templates of each subject."""

    spec = CurveSpec(
        "gallery_templates", "FRR and FAR", "gallery_templates",
        {"frr_at_threshold": "FRR, one threshold", "far_at_threshold": "FAR, one threshold",
         "frr_at_far": "FRR at FAR"},
        "Templates of each subject in the gallery", "Error rate",
        terms=("", ("frr", "far")), marked=True, curve=_templates_curve,
        limits=_templates_limits,
        details=lambda systems: [
            "one threshold for all numbers of templates: " + ", ".join(
                f"{float(system.dataset['threshold_used']):.6g}" for system in systems
            ),
            "means over all choices of templates"
            if all("frr_se" not in system.dataset for system in systems)
            else "means over drawn galleries",
        ],
    )  # fmt: skip

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of one result, or of several by name; rates are of verification."""
        found = [
            replace(system, dataset=system.dataset.drop_vars(["dir", "cms"], errors="ignore"))
            for system in pick(data, cls.spec.plot)
        ]
        return cls(cls.spec.curves_of(found))


def gallery_templates(data: Any, ax: Axes | None = None, **style: Any) -> GalleryTemplatesDisplay:
    """Draw FRR and FAR against the number of templates that each subject has in the gallery.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.gallery_templates`, or several by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    GalleryTemplatesDisplay
        With ``curves``, ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    At one threshold FRR falls and FAR rises. At equal FAR, that of the result which is nearest to
    1 %, each number of templates has its own threshold: there is what the templates are worth.

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.gallery_templates(be.gallery_templates(be.simulate(20, 4), [1, 2, 4]))
    >>> list(display.curves)
    ['FRR, one threshold', 'FAR, one threshold', 'FRR at FAR 1 %']
    """
    return GalleryTemplatesDisplay.from_results(data).plot(ax, **style)


#: Of each kind of error: its words, the attempts and the Gini coefficient.
_ERRORS = {
    "fr": ("false rejects", "genuine_attempts", "fr_gini"),
    "fa_as_probe": ("false accepts by probe", "impostor_attempts_as_probe", "fa_gini_as_probe"),
    "fa_as_claimed": (
        "false accepts by claim", "impostor_attempts_as_claimed", "fa_gini_as_claimed",
    ),
}  # fmt: skip


def _lorenz_curve(system: System, _: str, y: str, name: str) -> Curve:
    errors = system.dataset[y].values[system.dataset[_ERRORS[y][1]].values > 0]
    if not errors.sum():
        return Curve(name, np.empty(0), np.empty(0), system, "no errors")
    return Curve(name, *lorenz_curve(errors), system)


def _with_gini(curve: Curve, _: bool) -> str:
    gini = next(gini for words, _, gini in _ERRORS.values() if curve.name.endswith(words))
    return f"{curve.name}, Gini {float(curve.system.dataset[gini]):.2f}"


def _of_errors(systems: Sequence[System]) -> list[str]:
    return of_each(
        systems,
        lambda ds: (
            f"{counted(ds.sizes['subject'], 'subjects')}; {int(ds['fr'].sum()):,} false "
            f"rejects, {counted(int(ds['fa_as_probe'].sum()), 'false accepts')} at threshold "
            f"{float(ds['threshold']):.6g}"
        ),
    )


def _equality(display: CurvesDisplay) -> Labelled:
    ends = np.array([0.0, 1.0])
    return display._reference(ends, ends, linewidth=0.9, linestyle="-")


class LorenzDisplay(CurvesDisplay):
    """Lorenz curves; ``x`` is the proportion of subjects, ``y`` that of errors."""

    spec = CurveSpec(
        "lorenz", "Lorenz curves of errors", "", {k: words for k, (words, *_) in _ERRORS.items()},
        "Proportion of subjects, those with fewest errors first", "Proportion of errors",
        details=lambda _: ["grey: equal errors for all subjects"], over=_of_errors,
        curve=_lorenz_curve, text=_with_gini, marked=False, size=look.SQUARE,
        limits=lambda _: {"xlim": (-0.01, 1.01), "ylim": (-0.01, 1.01)}, reference=_equality,
        at=0.7,
    )  # fmt: skip


def lorenz(data: Any, ax: Axes | None = None, **style: Any) -> LorenzDisplay:
    """Draw Lorenz curves of errors: how few subjects cause most of the errors.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.zoo`, or those of several systems by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    LorenzDisplay
        With ``curves`` (of false rejects, and of false accepts by the subject of the probe and by
        the claimed subject), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    Of subjects with attempts, in order of their errors. The Gini coefficient is twice the area
    between a curve and the diagonal (Lorenz 1905; Gini 1912).

    Examples
    --------
    >>> import bioeval as be
    >>> display = be.plot.lorenz(be.zoo(be.simulate(20, 4)))
    >>> list(display.curves)
    ['false rejects', 'false accepts by probe', 'false accepts by claim']
    """
    return LorenzDisplay.from_results(data).plot(ax, **style)


_MEASURES = {"HOTA": "hota", "DetA": "deta", "AssA": "assa"}


def _matched(system: System, x: str, y: str, name: str) -> Curve:
    curve = curve_of(system, x, y, name)
    return replace(curve, why_not="nothing is matched") if curve.why_not else curve


def _with_mean(curve: Curve, _: bool = False) -> str:
    measure = curve.name.rpartition(", ")[2]
    return f"{curve.name} {100 * float(curve.system.dataset[_MEASURES[measure]]):.1f} %"


def _of_boxes(systems: Sequence[System]) -> list[str]:
    """Return the boxes compared; for several systems the ground truth, if it is the same."""
    said = []
    for system in systems:
        truth, result = (
            f"{counted(int(system.dataset[who]), who)} in "
            f"{counted(int(system.dataset[boxes]), 'boxes')}"
            for who, boxes in (("targets", "truth_boxes"), ("identities", "result_boxes"))
        )
        said.append(f"{truth} against {result}" if len(systems) == 1 else truth)
    return said[:1] if len(set(said)) == 1 else []


class HotaDisplay(CurvesDisplay):
    """HOTA curves; ``x`` is the localisation threshold and ``y`` is HOTA, DetA or AssA."""

    spec = CurveSpec(
        "hota", "HOTA", "localisation_threshold",
        {f"{name}_by_threshold": measure for measure, name in _MEASURES.items()},
        "Localisation threshold α: smallest overlap of a match", "HOTA, DetA, AssA",
        details=lambda _: ["per cent: means over the thresholds"],
        over=_of_boxes, curve=_matched, text=_with_mean, once=_with_mean,
        limits=lambda _: {"xlim": (0, 1), "ylim": (-0.015, 1.015)}, at=0.3,
    )  # fmt: skip


def hota(data: Any, ax: Axes | None = None, **style: Any) -> HotaDisplay:
    """Draw HOTA, detection and association accuracy against the localisation threshold.

    Parameters
    ----------
    data : Dataset, or mapping of str to Dataset
        A result of :func:`bioeval.tracking`, or those of several trackers by name.
    ax : matplotlib Axes, optional
        Where to draw; the axes of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    HotaDisplay
        With ``curves`` (the arrays; named ``"HOTA"``, ``"DetA"`` and ``"AssA"``, after the
        tracker's name where there are several), ``ax_``, ``figure_`` and ``lines_``.

    Notes
    -----
    At each threshold HOTA is the geometric mean of DetA and AssA (Luiten et al., 2021). Of several
    sequences, the curves are of the whole.

    Examples
    --------
    >>> import bioeval as be
    >>> truth = [(f, 1, 0, 0, 10, 10) for f in range(1, 9)]
    >>> result = [(f, 1 if f < 5 else 2, 1, 0, 10, 10) for f in range(1, 9)]
    >>> display = be.plot.hota(be.tracking(truth, result))
    >>> display.curves["AssA"].y[[0, -1]].tolist()
    [0.5, 0.0]
    """
    return HotaDisplay.from_results(data).plot(ax, **style)


#: Width and height of a figure of its own.
_SIZE = (6.4, 6.8)


class _Panel(CurvesDisplay):
    """Curves of mFR over the thresholds, on the lower pair of axes."""

    spec = CurveSpec("gom", "", "threshold", {"mfr": ""}, y_label="Mean false rate, mFR", at=0.5)


class GomDisplay(CurvesDisplay):
    """Curves of GOM; ``x`` of a curve is the threshold and ``y`` is mReP.

    Attributes
    ----------
    false_rate : a display
        The curves of mFR, with axes of its own below those of mReP.
    """

    false_rate: _Panel
    spec = CurveSpec(
        "gom", "", "threshold", {"mrep": ""}, y_label="Mean re-ID precision, mReP", at=0.9
    )

    @classmethod
    def from_results(cls, data: Any) -> Self:
        """Take the curves of a result, a tree, or a mapping of name to either."""
        systems = pick(data, "gom")
        display = cls(cls.spec.curves_of(systems))
        display.false_rate = _Panel(_Panel.spec.curves_of(systems))
        return display

    @property
    def why_empty(self) -> str:
        """Why there is neither mReP nor mFR; empty where one of them is drawn."""
        return "" if self.false_rate.defined else super().why_empty

    def plot(
        self, ax: Axes | Figure | None = None, *, name: str | None = None, **style: Any
    ) -> Self:
        """Draw the curves. See :func:`gom`."""
        panels: dict[str, CurvesDisplay] = {"mReP": self, "mFR": self.false_rate}
        shown = [word for word, panel in panels.items() if panel.defined] or ["mReP"]
        first = look.axes_for(ax, _SIZE if len(shown) > 1 else look.SIZE)
        self._axes(first)
        normalized = agreed(self.systems, "normalised_span") != "1.0"
        x = "Threshold τ" + (", distances scaled to 0 ... 1" if normalized else "")
        details = _details(self, [super().why_empty, self.false_rate.why_empty])
        for place, word in zip(look.stacked(first, len(shown)), shown, strict=True):
            panel, lowest = panels[word], word == shown[-1]
            panel._start(place, name)
            panel._lines(style)
            place.set_ylim(-0.015, 1.015)
            if panel is self:
                self._mark_largest()
            panel._finish(
                title=" and ".join(shown) if word == shown[0] else "",
                x_label=x if lowest else "",
                details=lambda _: details,
            )
            place.tick_params(labelbottom=lowest)
        if len(shown) > 1:
            self.labels_.heir = self.false_rate.labels_
        return self

    def _mark_largest(self) -> None:
        """Draw a dot at the largest mReP of each system."""
        for curve in self.defined:
            dataset, colour = curve.system.dataset, self.lines_[curve.name].get_color()
            top = scalar(dataset, "tau_max"), scalar(dataset, "max_mrep")
            self.ax_.plot(*top, "o", markersize=4, color=colour, zorder=4)


def _details(display: GomDisplay, lacking: list[str]) -> list[str]:
    """Return the convention and the numbers of queries, so far as all systems agree."""
    said = [
        agreed(display.systems, "convention"),
        agreed(display.systems, "budget", "B = {}"),
        "" if agreed(display.systems, "variant") != "reference" else "as the authors' program",
    ]
    queries = {
        (int(s.dataset["queries"]), int(s.dataset["open_queries"]))
        for s in display.systems
        if "open_queries" in s.dataset
    }
    if len(queries) == 1:
        ranked, absent = queries.pop()
        said.append(f"mReP over {counted(ranked, 'queries')}, mFR over {absent:,}")
    dots = "dots: largest mReP, at tau_max" if display.defined else ""
    return ["; ".join(filter(None, said)), dots, *lacking]


def gom(data: Any, ax: Axes | Figure | None = None, **style: Any) -> GomDisplay:
    """Draw mReP and mFR against the threshold: the figure of GOM.

    Parameters
    ----------
    data : Dataset, DataTree, or mapping of str to either
        A result of :func:`bioeval.gom`, ``bioeval.results.reid.gom_from_curves``, or
        :func:`bioeval.evaluate` under a card with ``[gom]``; or several by name.
    ax : matplotlib Axes, optional
        Whose place is divided into two; that of a new figure unless given.
    **style
        Properties of all lines; ``name`` labels a single system.

    Returns
    -------
    GomDisplay
        With ``curves`` (of mReP) and ``false_rate.curves`` (of mFR), ``ax_`` and
        ``false_rate.ax_``, ``figure_`` and ``lines_``. A panel in which no system has values is
        left out, and the lines below the title say why.

    Notes
    -----
    A good system has a high mReP over a wide range of thresholds, at which mFR is still low. The
    dot is the largest mReP, at ``tau_max``. Bands are the intervals at each threshold by itself,
    where the result has them. Figure 3 of Wang and others (arXiv:2011.11506, 2020).

    Examples
    --------
    >>> import bioeval as be
    >>> from bioeval.results.reid import gom_from_curves
    >>> a = gom_from_curves([0, 0.5, 1], mrep=[0, 0.6, 0.4], mfr=[0, 0.2, 1])
    >>> b = gom_from_curves([0, 0.5, 1], mrep=[0, 0.7, 0.5], mfr=[0, 0.1, 1])
    >>> list(be.plot.gom({"old": a, "new": b}).curves)
    ['old', 'new']
    """
    return GomDisplay.from_results(data).plot(ax, **style)
