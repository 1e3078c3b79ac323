"""The slow twin of the search for errors of labels, written from the definition alone."""

import math
import statistics
from typing import Any, NamedTuple

import naive


class Suspect(NamedTuple):
    """A template that is taken out: its row, and the label that it is nearest to."""

    row: int
    nearest: Any


def suspects(**given: Any) -> tuple[list[Suspect], int]:
    """Return the suspect templates in order, and how many are certain; `given` as in `naive`."""
    data = naive.read(**given)
    assert data.probe_labels is not None
    order = {label: i for i, label in enumerate(data.gallery_subjects or ())}
    out: list[Suspect] = []
    certain = 0
    while True:
        gone = {x.row for x in out}
        left = [i for i in range(len(data.rows)) if i not in gone]
        columns = gone if data.all_against_all else set()
        medians = {i: medians_of(data.rows[i], columns) for i in left}
        pairs = {}
        for i, by_label in medians.items():
            own = by_label.pop(data.probe_labels[i], None)
            if own is not None and by_label:
                nearest = min(by_label, key=lambda label: (by_label[label], order[label]))
                pairs[i] = own, by_label[nearest], nearest
        if not out:
            zero = given.get("kind", "distance") == "distance" and all(
                x >= 0 for i in left for x in medians_of(data.rows[i], columns).values()
            )
        r = {i: contrast(own, near, zero) for i, (own, near, _) in pairs.items()}
        if not r:
            return out, certain
        middle = statistics.median(r.values())
        if not math.isfinite(middle):
            return out, certain
        spread = 1.4826 * statistics.median(abs(x - middle) for x in r.values())
        if not (middle < 0 < spread < math.inf):
            return out, certain
        z = {i: (x - middle) / spread for i, x in r.items()}
        rejected = benjamini_hochberg(z, 0.1)
        rejected = [i for i in rejected if r[i] > 0]
        if not rejected:
            return out, certain
        worst = max(rejected, key=lambda i: (z[i], -i))
        if certain == len(out) and worst in benjamini_hochberg(z, 0.001):
            certain += r[worst] >= -middle / 2
        out.append(Suspect(worst, pairs[worst][2]))


def on_both_sides(**given: Any) -> set[tuple[str, int, Any, bool]]:
    """Return side, place, nearest label and certainty of each suspect that is named."""
    if given["gallery_labels"] is None:
        rows, certain = suspects(**given)
        return {("both", x.row, x.nearest, k < certain) for k, x in enumerate(rows)}
    rows, certain = suspects(**given)
    mask = given["mask"]
    turned = {
        **given,
        "values": given["values"].T,
        "probe_labels": given["gallery_labels"],
        "gallery_labels": given["probe_labels"],
        "mask": None if mask is None else mask.T,
    }
    columns, certain_columns = suspects(**turned)
    named = set()
    for side, own, number, data, other, other_data in (
        ("probe", rows, certain, given, columns, turned),
        ("gallery", columns, certain_columns, turned, rows, given),
    ):
        for k, x in enumerate(own):
            label = data["probe_labels"][x.row]
            here = sum(data["probe_labels"][y.row] == label for y in own)
            there = sum(other_data["probe_labels"][y.row] == label for y in other)
            other_explains = there > 0 and here == judged(data, label)
            this_explains = here > 0 and there == judged(other_data, label)
            if not other_explains or (this_explains and here <= there):
                named.add((side, x.row, x.nearest, k < number))
    return named


def judged(given: dict[str, Any], label: Any) -> int:
    """Return how many probes of a label have distances to it, and to another label."""
    data = naive.read(**given)
    number = 0
    for i, row in enumerate(data.rows):
        labels = medians_of(row, set())
        number += data.probe_labels[i] == label and label in labels and len(labels) > 1
    return number


def medians_of(row: list[naive.Cell], gone: set[int]) -> dict[Any, Any]:
    """Return the lower median of the finite distances of a row to each label."""
    by_label: dict[Any, list[Any]] = {}
    for cell in row:
        if cell.column not in gone and math.isfinite(cell.distance):
            by_label.setdefault(cell.subject, []).append(cell.distance)
    return {label: sorted(x)[(len(x) - 1) // 2] for label, x in by_label.items()}


def contrast(own: Any, near: Any, natural_zero: bool) -> float:
    """Return the logarithm of the ratio, or the difference of scores without a natural zero."""
    if not natural_zero:
        return float(own - near)
    if own == 0 or near == 0:
        return 0.0 if own == near else -math.inf if own == 0 else math.inf
    return math.log(own / near)


def benjamini_hochberg(z: dict[int, float], rate: float) -> list[int]:
    """Return those that are rejected at a rate of false discoveries."""
    p = {i: math.erfc(x / math.sqrt(2)) / 2 for i, x in z.items()}
    ordered = sorted(p.values())
    limit = -1.0
    for k, value in enumerate(ordered, 1):
        if value <= rate * k / len(ordered):
            limit = value
    return [i for i in p if p[i] <= limit]
