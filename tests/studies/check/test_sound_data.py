"""Checks raise no alarm in sound data of ten kinds, and find planted errors of labels."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from studies.check import sound_data


def alarms(seeds: range) -> Counter:
    """Return in how many sets of data each check warns or is an error."""
    assert len(sound_data.SOUND) == 10
    result = {
        (kind, seed, check)
        for kind in sound_data.SOUND
        for seed, check, severity in sound_data.alarms(kind, seeds)
        if severity != "note"
    }
    return Counter(check for _, _, check in result)


@pytest.mark.slow
def test_one_set_of_each_kind():
    assert alarms(range(1000, 1001)) == {}


@pytest.mark.slow
def test_no_check_raises_alarm_in_more_than_2_percent():
    result = alarms(range(2000, 2012))
    assert all(number <= 0.02 * 120 for number in result.values()), result


@pytest.mark.slow
@pytest.mark.parametrize("place", range(3))
def test_planted_errors_as_documented(place):
    people, each, within, kind = sound_data.PLANTED[place]
    runs = [
        sound_data.label_errors(
            np.random.default_rng([7, i]), people, each, within, kind, people * each // 50
        )
        for i in range(20)
    ]
    planted, named, hits = (sum(x[name] for x in runs) for name in ("planted", "named", "hits"))
    assert hits >= 0.9 * planted and named - hits <= 0.1 * named
    assert all(x["warned"] for x in runs)
