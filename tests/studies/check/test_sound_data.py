"""Checks raise no alarm in sound data of ten kinds, and find planted errors of labels."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

STUDY = Path(__file__).parents[3] / "scripts" / "coverage_checks.py"


@pytest.fixture(scope="module")
def study() -> Any:
    spec = importlib.util.spec_from_file_location("coverage_checks", STUDY)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def alarms(study: Any, seeds: range) -> Counter:
    """Return in how many sets of data each check warns or is an error."""
    assert len(study.SOUND) == 10
    result = {
        (kind, seed, check)
        for kind in study.SOUND
        for seed, check, severity in study.alarms(kind, seeds)
        if severity != "note"
    }
    return Counter(check for _, _, check in result)


@pytest.mark.slow
def test_one_set_of_each_kind(study):
    assert alarms(study, range(1000, 1001)) == {}


@pytest.mark.slow
def test_no_check_raises_alarm_in_more_than_2_percent(study):
    result = alarms(study, range(2000, 2012))
    assert all(number <= 0.02 * 120 for number in result.values()), result


@pytest.mark.slow
@pytest.mark.parametrize("place", range(3))
def test_planted_errors_as_documented(study, place):
    people, each, within, kind = study.PLANTED[place]
    runs = [
        study.label_errors(
            np.random.default_rng([7, i]), people, each, within, kind, people * each // 50
        )
        for i in range(20)
    ]
    planted, named, hits = (sum(x[name] for x in runs) for name in ("planted", "named", "hits"))
    assert hits >= 0.9 * planted and named - hits <= 0.1 * named
    assert all(x["warned"] for x in runs)
