"""Checks raise no alarm in sound data of ten kinds."""

from collections import Counter

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
def test_no_check_raises_alarm_in_more_than_2_percent():
    result = alarms(range(2000, 2012))
    assert all(number <= 0.02 * 120 for number in result.values()), result
