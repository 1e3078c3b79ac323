"""A naive search for errors of labels, written from the definition alone."""

import math
import statistics
from typing import Any

import naive


def suspects(**given: Any) -> tuple[dict[int, Any], list[int], set[int]]:
    """Return the nearest label of each suspect row, the rows that were judged, and who match.

    Those match one label who are nearer to it than to all further ones, by half of what is usual
    between the own label and the nearest other.
    """
    data = naive.read(**given)
    assert data.probe_labels is not None
    order = {label: i for i, label in enumerate(sorted(data.gallery_subjects or ()))}
    pairs, all_scores = {}, []
    for i, row in enumerate(data.rows):
        by_label = medians_of(row)
        own = by_label.pop(data.probe_labels[i], None)
        if own is not None:
            all_scores.append(own)
        if by_label:
            nearest = min(by_label, key=lambda label: (by_label[label], order[label]))
            all_scores.append(by_label[nearest])
            if own is not None:
                pairs[i] = own, by_label[nearest], nearest
    zero = given.get("kind", "distance") == "distance" and all(x >= 0 for x in all_scores)
    contrasts = {i: contrast(own, near, zero) for i, (own, near, _) in pairs.items()}
    if not contrasts or not statistics.median(contrasts.values()) < 0:
        return {}, [*contrasts], set()
    usual = statistics.median(contrasts.values())
    wrong = [i for i in outlying(contrasts, 0.001) if contrasts[i] >= -usual / 2]
    matching = set()
    for i in wrong:
        by_label = medians_of(data.rows[i])
        further = [
            x for label, x in by_label.items() if label not in (data.probe_labels[i], pairs[i][2])
        ]
        if not further or contrast(pairs[i][1], min(further), zero) <= usual / 2:
            matching.add(i)
    return {i: pairs[i][2] for i in wrong}, [*contrasts], matching


def on_both_sides(**given: Any) -> set[tuple[str, int, Any]]:
    """Return side, place and nearest label of each suspect that is named."""
    rows, judged_rows, matching_rows = suspects(**given)
    if given["gallery_labels"] is None:
        return {("both", i, label) for i, label in rows.items() if i in matching_rows}
    mask = given["mask"]
    turned = {
        **given,
        "values": given["values"].T,
        "probe_labels": given["gallery_labels"],
        "gallery_labels": given["probe_labels"],
        "mask": None if mask is None else mask.T,
    }
    columns, judged_columns, matching_columns = suspects(**turned)
    named = set()
    of_probes = given["probe_labels"], rows, judged_rows
    of_gallery = given["gallery_labels"], columns, judged_columns
    for side, own_side, other_side, matching in (
        ("probe", of_probes, of_gallery, matching_rows),
        ("gallery", of_gallery, of_probes, matching_columns),
    ):
        for i, nearest in own_side[1].items():
            label = own_side[0][i]
            number_here, number_there = (
                sum(x[0][j] == label for j in x[1]) for x in (own_side, other_side)
            )
            all_here, all_there = (
                n == sum(x[0][j] == label for j in x[2])
                for n, x in ((number_here, own_side), (number_there, other_side))
            )
            explained = (
                number_there > 0 and all_here and (not all_there or number_there < number_here)
            )
            if not explained and i in matching:
                named.add((side, i, nearest))
    return named


def medians_of(row: list[naive.Cell]) -> dict[Any, Any]:
    """Return the lower median of the finite distances of a row to each label."""
    by_label: dict[Any, list[Any]] = {}
    for cell in row:
        if math.isfinite(cell.distance):
            by_label.setdefault(cell.subject, []).append(cell.distance)
    return {label: sorted(x)[(len(x) - 1) // 2] for label, x in by_label.items()}


def contrast(own: Any, near: Any, natural_zero: bool) -> float:
    """Return the logarithm of the ratio, or the difference of scores without a natural zero."""
    if not natural_zero:
        return float(own - near)
    if own == 0 or near == 0:
        return 0.0 if own == near else -math.inf if own == 0 else math.inf
    return math.log(own / near)


def outlying(values: dict[Any, float], rate: float) -> list[Any]:
    """Return the values that are too large: robust scores, Benjamini and Hochberg."""
    middle = statistics.median(values.values())
    if not math.isfinite(middle):
        return []
    spread = 1.4826 * statistics.median(abs(x - middle) for x in values.values())
    if not 0 < spread < math.inf:
        return []
    p_values = {i: math.erfc((x - middle) / spread / math.sqrt(2)) / 2 for i, x in values.items()}
    limit = -1.0
    for k, value in enumerate(sorted(p_values.values()), 1):
        if value <= rate * k / len(p_values):
            limit = value
    return [i for i in p_values if p_values[i] <= limit]
