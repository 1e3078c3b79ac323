"""What is said of morphing attacks: MMPMR of each system, and the morphing attack potential."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import xarray as xr

from bioeval.document import (
    Column,
    Count,
    Enumeration,
    Fact,
    Facts,
    Label,
    Rate,
    ResultsBySystem,
    Score,
    Section,
    Table,
    Text,
    interval_note,
    rate_of,
    result_messages,
    say,
    table_of_variables,
)

#: Thresholds of a curve that are shown where no threshold is chosen.
_SHOWN = 6


def section(results: ResultsBySystem) -> Section:
    """Return what is said of morphing attacks."""
    ds = results[""]
    each = {str(ds.attrs["system"]): ds}
    over: list[str] = []
    if "system" in ds.dims:
        each = {str(name): ds.isel(system=i) for i, name in enumerate(ds["system"].values)}
        over = ["system"]
    data = [table_of_variables(ds, *over, id="systems")] if over else []
    if "far_target" in ds:
        data.append(table_of_variables(ds, *over, "far_target", id="far_targets"))
    if "map" in ds:
        data.append(table_of_variables(ds, "attempts", "systems", id="map"))
    chosen = "threshold_used" in ds or "far_target" in ds
    return Section(
        "morphing",
        "Morphing attacks",
        (
            _about(ds, each),
            _at_thresholds(ds, each) if chosen else _curve(ds, each),
            *([_potential(ds)] if "map" in ds else []),
            *interval_note(results),
            *data,
            result_messages(results),
        ),
        task="verification",
    )


def _about(ds: xr.Dataset, each: ResultsBySystem) -> Facts:
    """Return the facts about systems and attempts."""
    least, most = int(ds["attempts_min"].min()), int(ds["attempts_max"].max())
    number: Text = Count(least)
    if most > least:
        number = say("{least:count} to {most:count}", least=least, most=most)
    return Facts(
        (
            Fact(
                "Systems" if len(each) > 1 else "System",
                Enumeration([Label(name) for name in each], ""),
                "system",
            ),
            Fact("Over", Count(int(ds["morphs"]), noun="morphs"), "morphs"),
            Fact(
                "Attempts",
                say("{number} per contributor (MMPMR grows with this number)", number=number),
            ),
        ),
        indented=True,
    )


def _at_thresholds(ds: xr.Dataset, each: ResultsBySystem) -> Table:
    """Return MMPMR of each system at the threshold used, and at FAR targets."""
    rows: list[tuple[Text | None, ...]] = []
    for name, one in each.items():
        rows += [(_system(name, each), *cells) for cells in _points(one)]
    notes: list[Text] = []
    if "rmmr_at_far" in ds:
        notes.append(say("RMMR = MMPMR + {frr}, and may exceed 100 %"))
    return Table(
        "points",
        (
            Column("system", "system", grouped=True),
            Column("chosen_by", "chosen by"),
            Column("threshold", "threshold"),
            Column("mmpmr", "MMPMR"),
            Column("rmmr", "RMMR"),
        ),
        rows,
        notes=notes,
    )


def _points(one: xr.Dataset) -> Iterator[tuple[Text | None, ...]]:
    """Yield the cells of a system at its thresholds."""
    morphs = int(one["morphs"])
    if "threshold_used" in one:
        choice = str(one.attrs["chosen_on"])
        if choice != "given":
            choice = f"chosen on {choice}"
        yield (
            f"threshold used, {choice}",
            Score(float(one["threshold_used"]), variable="threshold_used"),
            rate_of(one, "mmpmr_at_threshold", attempts=morphs),
            None,
        )
    if "far_target" not in one:
        return
    for i, target in enumerate(one["far_target"].values.tolist()):
        at = float(one["threshold_at_far"][i])
        yield (
            say("{far} at most {target:rate}", target=target),
            Score(at, variable="threshold_at_far", at={"far_target": target}),
            rate_of(one, "mmpmr_at_far", {"far_target": i}, attempts=morphs),
            rate_of(one, "rmmr_at_far", {"far_target": i}, attempts=morphs),
        )


def _curve(ds: xr.Dataset, each: ResultsBySystem) -> Table:
    """Return both rates of each system at some thresholds of the curve."""
    morphs, last = int(ds["morphs"]), ds.sizes["threshold"] - 1
    places = np.unique(np.linspace(0, last, _SHOWN).round().astype(int)).tolist()
    rows = []
    for name, one in each.items():
        for i in places:
            rates: list[Rate] = []
            for rate in ("mmpmr", "mmpmr_prod"):
                rates.append(rate_of(one, rate, {"threshold": i}, attempts=morphs))
            rows.append((_system(name, each), Score(float(one["threshold"][i])), *rates))
    return Table(
        "some_thresholds",
        (
            Column("system", "system", grouped=True),
            Column("threshold", "threshold"),
            Column("mmpmr", "MMPMR"),
            Column("mmpmr_prod", "ProdAvg"),
        ),
        rows,
        title="MMPMR at some thresholds",
        notes=(say("With bona fide scores, a threshold is chosen at each {far} target."),),
    )


def _system(name: str, each: ResultsBySystem) -> Label | None:
    """Return the name of a system among several."""
    return Label(name) if len(each) > 1 else None


def _potential(ds: xr.Dataset) -> Table:
    """Return the morphing attack potential, by attempts and by systems."""
    morphs = int(ds["morphs"])
    systems = ds["systems"].values.tolist()
    rows = []
    for i, attempts in enumerate(ds["attempts"].values.tolist()):
        cells = []
        for j in range(len(systems)):
            cells.append(rate_of(ds, "map", {"attempts": i, "systems": j}, attempts=morphs))
        rows.append((Count(attempts, noun="attempts"), *cells))
    return Table(
        "potential",
        (
            Column("attempts", "at least"),
            *(Column(f"systems_{n}", Count(n, noun="systems")) for n in systems),
        ),
        rows,
        title="Morphing attack potential",
    )
