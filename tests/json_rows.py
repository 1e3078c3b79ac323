"""Rows of the JSON of commands."""

from collections.abc import Mapping
from typing import Any


def rows(document: Mapping[str, Any], measure: str, **places: Any) -> list[dict[str, Any]]:
    """The rows of a measure at places, such as its task, without statistics unless named."""
    places = {"statistic": "", **places}
    return [
        row
        for row in document["rows"]
        if row["measure"] == measure
        and all(row.get(name, "") == label for name, label in places.items())
    ]


def row(document: Mapping[str, Any], measure: str, **places: Any) -> dict[str, Any]:
    """The only row of a measure at places."""
    (matching_row,) = rows(document, measure, **places)
    return matching_row


def value(document: Mapping[str, Any], measure: str, **places: Any) -> Any:
    """The value of the only row of a measure at places."""
    return row(document, measure, **places)["value"]
