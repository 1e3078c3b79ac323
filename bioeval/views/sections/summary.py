"""The figures among the numbers of :func:`bioeval.summary`: their labels and cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from bioeval.base.registry import scalar_registry
from bioeval.base.scalars import CMC, MIN_DCF, QUERY_MEANS, Scalar
from bioeval.document.cells import Quantity
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.text import Text, say


def task_of_rates(node: str) -> str:
    """Return what the rates of a node of an evaluation are of."""
    is_search = node.rpartition("/")[2] in ("open_set", "closed_set")
    return "identification" if is_search else "verification"


class Figure(NamedTuple):
    """One number of a summary, or its values over partitions."""

    label: Text
    value: Any
    scalar: Scalar
    at: Mapping[str, Any]

    def cell(self, value: float, **more: Any) -> Quantity:
        """Return one of its values as a cell."""
        return cell_of_scalar(self.scalar, value, at=self.at, **more)


def figure_scalars() -> dict[str, Scalar]:
    """Return what is a figure of a summary, by name: scalars with a label."""
    known = {**scalar_registry().averaged, "min_dcf": MIN_DCF, "cmc": CMC, **QUERY_MEANS}
    return {k: x for k, x in known.items() if x.label and k != "recognition_rate"}


def figures(numbers: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield each figure of a summary that has a label."""
    known = figure_scalars()
    for name, value in numbers.items():
        scalar = known.get(name)
        if scalar is None:
            continue
        each = value if isinstance(value, Mapping) else {None: value}
        for place, number in each.items():
            label, at = _at_place(scalar, place)
            yield Figure(label, number, scalar, at)


def _at_place(scalar: Scalar, place: Any) -> tuple[Text, dict[str, Any]]:
    """Return the label of a scalar at a target, a prior or a rank, and its coordinates."""
    if scalar.name.endswith(("_at_far", "_at_frr")):
        dim = f"{scalar.name.rpartition('_')[2]}_target"
        return label_of(scalar, target=float(place)), {dim: float(place)}
    if scalar.places == ("prior",):
        return label_of(scalar, prior=place), {"prior": place}
    if scalar.places == ("rank",):
        rank = "K" if place is None else place
        return label_of(scalar, rank=rank), {} if place is None else {"rank": place}
    if place is None:
        return label_of(scalar), {}
    label = say("{label}, rank {rank:count}", label=label_of(scalar), rank=place)
    return label, {"rank": place}
