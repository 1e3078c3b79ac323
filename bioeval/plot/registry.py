"""The plots: which variables each draws, and which files ``save_all`` writes.

``save_all``, the page, and messages that name the plot for a result use this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: The variables that a plot needs, and their dimensions.
Needs = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Plot:
    """One plot, ``be.plot.<name>``."""

    name: str
    result: str  # the public function whose result it draws
    needs: tuple[Needs, ...]  # drawn are the first of these variables that the data have
    one_system: bool = False  # whether each file shows one system
    log: bool = False  # whether there is a second file, with a logarithmic axis
    #: A variable of preferred results: other results of a tree are drawn only if no result has the
    #: variable, and never by ``save_all``.
    prefer: str = ""


def _along(dim: str, *names: str) -> Needs:
    return dict.fromkeys(names, (dim,))


def _plot(name: str, result: str, *needs: Needs, **more: Any) -> Plot:
    return Plot(name, f"be.{result}", needs, **more)


def _plot_of_one_system(name: str, result: str, *needs: Needs, **more: Any) -> Plot:
    return Plot(name, f"be.{result}", needs, one_system=True, **more)


_DIR: Needs = {"far": ("threshold",), "dir": ("threshold", "rank")}
_FOLD = ("repeat", "fold")
_PART = (*_FOLD, "part")
_RATES = _along("threshold", "far", "frr")
_MEANS: tuple[Needs, ...] = (
    *({"cms": (*over, "rank")} for over in (("partition",), _FOLD, _PART)),
    *({"far": (*over, "threshold")} for over in (("partition",), _FOLD)),
    {"dir": (*_PART, "rank")},
)
_FOLDS: Needs = {"far": _PART, "frr": _PART}
_PARTS_OF_FOLDS: Needs = {"subjects": _PART}
_PARTS: tuple[Needs, ...] = (
    *({"genuine_attempts": over} for over in (("partition",), _FOLD)),
    *({"attempts": over} for over in (("partition",), _FOLD)),
)
_GROUPS: Needs = {"frr": ("group",), "far": ("group", "claimed_group")}
_CONDITIONS = _along("group", "frr", "far")
_COMPARED: Needs = {**_along("other_system", "other_system"), **_along("system", "system")}
_ZOO: Needs = {
    **_along("subject", "genuine_mean", "animal_of_subject"),
    **{"animal_count": ("animal",), "errors": ("error", "subject")},
}
_STUDY: Needs = {**dict.fromkeys(("folds/far", "folds/frr"), _FOLD), **_along("part", "far", "frr")}

_ALL = (
    _plot("roc", "verification", _along("threshold", "far", "gar"), log=True),
    _plot("det", "verification", _RATES, prefer="gar"),
    _plot_of_one_system("error_rates", "verification", _RATES, prefer="gar"),
    _plot("dir_far", "open_set", _DIR, log=True),
    _plot("cmc", "closed_set", _along("rank", "cms"), _along("rank", "cmc")),
    _plot("score_distributions", "Scores"),
    _plot("matrix", "Scores"),
    _plot_of_one_system("ranking", "compare", _COMPARED),
    _plot("repeated", "repeat", *_MEANS),
    _plot_of_one_system("folds", "cross_evaluate", _FOLDS),
    _plot_of_one_system("spread", "cross_evaluate", _PARTS_OF_FOLDS, *_PARTS),
    _plot("gallery_size", "gallery_size", {"cms": ("gallery_size", "rank")}),
    _plot_of_one_system("groups", "by_group", _GROUPS, _CONDITIONS),
    _plot("ranked_lists", "Scores"),
    _plot("gom", "gom", {**_along("threshold", "mrep", "mfr"), "tau_max": (), "max_mrep": ()}),
    _plot("precision_recall", "reid", _along("recall_level", "interpolated_precision")),
    _plot_of_one_system("threshold_study", "study_threshold", _STUDY),
    _plot_of_one_system(
        "assured", "study_threshold", {**_along("point", "point_far"), "assured_threshold": ()}
    ),
    _plot("hota", "tracking", _along("localisation_threshold", "hota_at_alpha")),
    _plot("worst_pairs", "worst_pairs", _along("pair", "comparison", "score")),
    _plot_of_one_system("zoo", "zoo", _ZOO),
)

PLOTS = {plot.name: plot for plot in _ALL}
