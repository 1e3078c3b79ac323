"""Flat names of the numbers of all tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flat_numbers(by_task: Mapping[str, Mapping[str, Any]]) -> dict[str, float | int]:
    """Return all numbers by one name each, such as ``"closed_set/cms_rank_5"``."""
    flat: dict[str, float | int] = {}
    for task, numbers in by_task.items():
        for name, value in numbers.items():
            if not isinstance(value, Mapping):
                flat[f"{task}/{name}"] = value
                continue
            for at, number in value.items():
                word = f"rank_{at}" if isinstance(at, int) else str(at)
                flat[f"{task}/{name}_{word}"] = number
    return flat
