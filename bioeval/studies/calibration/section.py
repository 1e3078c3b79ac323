"""What is said of calibration: Cllr of each system, and decision costs by prior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import xarray as xr

from bioeval.base.kinds import noun_of
from bioeval.document.blocks import (
    Block,
    Column,
    Fact,
    Facts,
    Paragraph,
    ResultsBySystem,
    Section,
    Table,
    Vocabulary,
)
from bioeval.document.cells import Cost, Count, Label, Number, Quantity, Rate, Score
from bioeval.document.results import interval_note, result_messages
from bioeval.document.text import Term, Text, say
from bioeval.results.words import excluded

_DECIMALS = 4

#: Costs of a system, with their headings, and whether a narrow table goes without them.
_COSTS = (
    ("cllr", "Cllr, bits", 0),
    ("min_cllr", "minimum Cllr, bits", 0),
    ("calibration_loss", "calibration loss, bits", 1),
    ("c_primary", "Cprimary", 0),
    ("min_c_primary", "minimum Cprimary", 0),
)

#: What there is at each prior.
_BY_PRIOR = (
    Column("bayes_threshold", "threshold", priority=1),
    Column("far_at_bayes", Term("far"), priority=2),
    Column("frr_at_bayes", Term("frr"), priority=2),
    Column("act_dcf", "actual"),
    Column("min_dcf", "minimum"),
)

_ATTEMPTS = {"far_at_bayes": "impostor_attempts", "frr_at_bayes": "genuine_attempts"}


def section(results: ResultsBySystem) -> Section:
    """Return Cllr of each system, and decision costs by prior."""
    left_out = excluded({name: ds.attrs for name, ds in results.items()})
    facts = Facts((Fact("Excluded", left_out), Fact("Terms", Vocabulary())), indented=True)
    blocks: list[Block] = [facts, _systems(results), _costs(results), _by_prior(results)]
    blocks += interval_note(results)
    blocks += _notes(results)
    blocks.append(result_messages(results))
    return Section("calibration", "Calibration", blocks, task="verification")


def _systems(results: ResultsBySystem) -> Table:
    """Return what the scores of each system are, and how many attempts there are."""
    rows = []
    for system, ds in results.items():
        scores: Text = noun_of(str(ds.attrs["kind"]), plural=True)
        if ds.attrs["origin"]:
            origin = Label(str(ds.attrs["origin"]))
            scores = say("{scores}: {origin}", scores=scores, origin=origin)
        row: list[Text | None] = [Label(system), scores]
        for name in ("genuine_attempts", "impostor_attempts"):
            row.append(Count(int(ds[name]), variable=name))
        rows.append(row)
    return Table(
        "systems",
        (
            Column("system", "system"),
            Column("scores", "scores"),
            Column("genuine_attempts", "genuine"),
            Column("impostor_attempts", "impostor"),
        ),
        rows,
    )


def _costs(results: ResultsBySystem) -> Table:
    """Return Cllr and Cprimary of each system, with their minima."""
    rows = []
    for system, ds in results.items():
        row: list[Text | None] = [Label(system)]
        for name, _, _ in _COSTS:
            value = None
            if name in ds:
                value = Number(
                    float(ds[name]), _limits(ds, name), decimals=_DECIMALS, variable=name
                )
            row.append(value)
        rows.append(row)
    columns = [Column(name, heading, priority) for name, heading, priority in _COSTS]
    return Table("costs", [Column("system", "system"), *columns], rows)


def _by_prior(results: ResultsBySystem) -> Table:
    """Return the decision costs of each system by the prior."""
    there = [x for x in _BY_PRIOR if any(x.name in ds for ds in results.values())]
    rows = []
    for system, ds in results.items():
        for i, prior in enumerate(ds["prior"].values.tolist()):
            cells = [_at_prior(ds, column.name, i) for column in there]
            rows.append([Label(system), Number(prior, digits=6, variable="prior"), *cells])
    return Table(
        "priors",
        (
            Column("system", "system", grouped=True, only="" if len(results) > 1 else "data"),
            Column("prior", "prior"),
            *there,
        ),
        rows,
        title="Normalised decision cost",
        details=list(_costs_of_errors(results)),
    )


def _at_prior(ds: xr.Dataset, name: str, i: int) -> Quantity | None:
    """Return a value at a prior; None where the result has none."""
    if name not in ds:
        return None
    value, at = float(ds[name][i]), {"prior": float(ds["prior"][i])}
    if name == "bayes_threshold":
        return Score(value, variable=name, at=at)
    if name in _ATTEMPTS:
        return Rate(value, variable=name, at=at, attempts=int(ds[_ATTEMPTS[name]]))
    return Cost(value, _limits(ds, name, i), variable=name, at=at, decimals=_DECIMALS)


def _limits(ds: xr.Dataset, name: str, *place: int) -> tuple[float, float] | None:
    """Return the interval of a value, if it is known."""
    if f"{name}_low" not in ds:
        return None
    low, high = (float(ds[f"{name}_{end}"].values[place]) for end in ("low", "high"))
    return (low, high) if low == low and high == high else None


def _costs_of_errors(results: ResultsBySystem) -> Iterator[Text]:
    """Yield what errors cost, with the names of the systems where that differs."""
    systems: dict[tuple[float, float], list[Text]] = {}
    for system, ds in results.items():
        costs = float(ds.attrs["cost_miss"]), float(ds.attrs["cost_false_accept"])
        systems.setdefault(costs, []).append(Label(system))
    for (miss, accept), names in systems.items():
        template = "a miss costs {miss} and a {false accept} {accept}"
        arguments: Mapping[str, Any] = {
            "miss": Number(miss, digits=6),
            "accept": Number(accept, digits=6),
        }
        if len(systems) > 1:
            yield say(f"{{names:names}}: {template}", names=names, **arguments)
        else:
            yield say(template, **arguments)


def _notes(results: ResultsBySystem) -> Iterator[Paragraph]:
    """Yield what the costs mean."""
    actual = ""
    if any("cllr" in ds for ds in results.values()):
        actual = "Actual: at the Bayes threshold. "
    text = (
        "Minimum: after the best monotone map, or at the best threshold, on these data "
        f"(optimistic). {actual}Cost 1 is that of decisions by the prior alone. Cprimary is a mean "
        "over the priors."
    )
    yield Paragraph(text, "note")
