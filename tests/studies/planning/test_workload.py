"""The errors of a day, against sums of the binomial distribution and a simulated year."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from json_rows import rows

import bioeval as be
from bioeval.cli import main


def middle(trials, rate, confidence):
    """Return the middle of a binomial distribution, by its sum."""
    below, ends = 0.0, []
    for count in range(trials + 1):
        below += math.comb(trials, count) * rate**count * (1 - rate) ** (trials - count)
        for level in ((1 - confidence) / 2, (1 + confidence) / 2)[len(ends) :]:
            if below >= level - 1e-12:
                ends.append(count)
    return tuple(ends) if len(ends) == 2 else (ends[0], trials)


@given(
    st.integers(1, 60),
    st.sampled_from([0.0, 0.01, 0.2, 0.5, 1.0]),
    st.sampled_from([0.0, 0.001, 0.1, 1.0]),
    st.sampled_from([0.0, 0.05, 0.5, 1.0]),
)
def test_counts_are_binomial(people, share, far, frr):
    ds = be.workload({"far": far, "frr": frr}, people_per_day=people, impostor_share=share, days=2)
    for i, (part, rate) in enumerate(((share, far), (1 - share, frr))):
        assert float(ds.people_per_day[i]) == pytest.approx(people * part)
        assert float(ds.per_day[i]) == pytest.approx(people * part * rate)
        assert float(ds.expected[i, 0]) == pytest.approx(2 * people * part * rate)
        low, high = middle(2 * people, part * rate, 0.95)
        assert (float(ds.expected_low[i, 0]), float(ds.expected_high[i, 0])) == (low, high)
        assert float(ds.none_at_all[i, 0]) == pytest.approx((1 - part * rate) ** (2 * people))
    assert np.isnan(ds.predicted_low).all() and np.isnan(ds.rate_high).all()


@pytest.mark.parametrize(("rate", "low", "high"), [(0.02, 0.01, 0.05), (1e-4, 1e-6, 4e-4)])
def test_of_very_many_people_the_errors_have_the_limits_of_the_rate(rate, low, high):
    limits = {"far": rate, "far_low": low, "far_high": high, "frr": 0.1}
    ds = be.workload(limits, people_per_day=10**11, impostor_share=1, days=1)
    ends = [ds[f"predicted_{end}"][0, 0].item() / 1e11 for end in ("low", "high")]
    assert ends == pytest.approx([low, high], rel=0.05)


def test_without_an_error_the_bound_has_its_confidence():
    zero = {"far": 0.0, "far_low": 0.0, "far_high": 0.001, "frr": 0.1}
    ds = be.workload(zero, people_per_day=10_000, impostor_share=0.5, days=30)
    assert (float(ds.predicted_low[0, 0]), float(ds.expected_high[0, 0])) == (0, 0)
    # At 95 % the FAR is at most 0.001 of 150,000 impostors.
    assert 150 <= float(ds.predicted_high[0, 0]) < 250
    # The other way round, where nobody is genuine.
    result = {"far": 1.0, "far_low": 0.999, "far_high": 1.0, "frr": 0.1}
    all_day = {"people_per_day": 1000, "impostor_share": 1, "days": 150}
    highest = be.workload(zero, **all_day).predicted_high[0, 0]
    assert be.workload(result, **all_day).predicted_low[0, 0] == 150_000 - highest


USE = {"people_per_day": 1000, "impostor_share": 0.1}


def test_a_result_gives_its_rates():
    scores = be.simulate(40, 4, random_state=1)
    ds = be.verification(scores, thresholds=[3.0, 4.0], interval="subject-bootstrap")
    for result, place in (
        (be.workload(ds, **USE, threshold=4.0), 1),
        (be.workload(be.verification(scores, thresholds=[3.0], interval="wilson"), **USE), 0),
    ):
        rates = [[float(ds[x][place]) for x in ("far", "frr")], result.rate.values.tolist()]
        assert rates[0] == rates[1]
    assert float(result.rate_low[1]) > 0 and (result.predicted_high >= result.expected_high).all()
    assert result.attrs["confidence"] == 0.95
    target = be.workload(ds, **USE, threshold="far=0.01")
    assert target.rate.values.tolist() == [0.01, float(ds.frr_at_far[1])]
    assert np.isnan(target.rate_high[0]) and target.rate_high[1] == ds.frr_at_far_high[1]
    failing = be.workload(be.with_failures(ds, fta=0.1), **USE, threshold=4.0)
    assert float(failing.rate[1]) == pytest.approx(0.1 + 0.9 * float(ds.frr[1]))
    open_set = be.open_set(scores, thresholds=[3.0])
    result = be.workload(open_set, **USE)
    assert (result.attrs["rates"], result.attrs["rank_unit"]) == ("fpir fnir", "template")
    assert result.rate.values.tolist() == [float(open_set.far[0]), float(open_set.frr[0])]
    result = be.workload(open_set, **USE, threshold="far=0.1")
    assert float(result.rate[1]) == pytest.approx(1 - float(open_set.dir_at_far.values[0, 0]))


def test_what_is_refused():
    door = {"far": 0.1, "frr": 0.1}
    ds = be.verification(be.simulate(10, 3, random_state=1), interval="wilson")
    for rates, options, message in (
        ({"far": 0.1}, {}, "no 'frr'"),
        ({**door, "fmr": 1}, {}, "names 'fmr'.*Did you mean 'far'"),
        ({**door, "far_low": 0.0}, {}, "one of far_low and far_high"),
        ({**door, "far_low": 0.2, "far_high": 0.3}, {}, r"`far_low` is 0.2; expected .*\[0, 0.1\]"),
        ({"far": 2, "frr": 0}, {}, "`far` is 2; expected"),
        (door, {"people_per_day": 0}, "`people_per_day` is 0"),
        (door, {"impostor_share": 1.1}, "`impostor_share` is 1.1"),
        (door, {"days": []}, r"`days` is \[\]"),
        (door, {"days": [1, 1]}, "different numbers of days"),
        (door, {"threshold": 1.0}, "of one point already"),
        ([0.1, 0.1], {}, "rates is list"),
        (ds, {}, "`threshold` is not given"),
        (ds, {"threshold": 1.234}, "expected one of the"),
        (ds, {"threshold": "far=0.5"}, r"nearest is far=0.1; evaluate with `far_targets=\[0.5\]"),
        (be.closed_set(be.simulate(10, 3)), {}, "not a result of be.verification or be.open_set"),
        (be.verification(be.Scores([[0, 1], [1, 0]], ["a", "a"]), thresholds=[1.0]), {},
         "the FAR at threshold 1 is not defined"),
    ):  # fmt: skip
        with pytest.raises(be.DataError, match=message):
            be.workload(rates, **{**USE, **options})


def test_the_far_of_a_number_of_alarms(capsys, tmp_path):
    day = {"people_per_day": 2000, "impostor_share": 0.1, "days": 1}
    ds = be.workload(alarms_per_day=3, **day)  # 3 of 200 impostors
    assert ds.attrs["far"] == pytest.approx(0.015)
    assert float(ds.per_day[0]) == pytest.approx(3) and np.isnan(ds.per_day[1])
    workload = be.workload({"frr": 0.1}, alarms_per_day=3, **day)
    assert workload.per_day.values.tolist() == [pytest.approx(3), pytest.approx(180)]
    # Impostor distances 1 to 10: at most 4 of 10 are accepted where 85 of 200 may be.
    scores = be.Scores.from_pairs(np.arange(12.0), [1, *[0] * 10, 1], kind="distance")
    result = be.workload(be.verification(scores), alarms_per_day=85, **day)
    assert float(result.rate[0]) == pytest.approx(0.4)
    be.save(scores, tmp_path / "s.npz")
    arguments = ["--people", "2000", "--impostors", "0.1", "--alarms-per-day"]
    assert main(["workload", str(tmp_path / "s.npz"), *arguments, "85", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert rows(document, "rate")[0]["value"] == pytest.approx(0.4)
    expected = rows(document, "expected")
    periods = [(row["event"], row["days"]) for row in expected]
    assert periods == [("false-alarm", 1), ("false-alarm", 30), ("false-alarm", 365),
                       ("rejected", 1), ("rejected", 30), ("rejected", 365)]  # fmt: skip
    assert expected[1]["value"] == pytest.approx(30 * 200 * 0.4)
    assert main(["workload", *arguments, "0.7"]) == 0
    text = capsys.readouterr().out
    assert "Expected errors per day among 2,000 people: 0.7 impostors accepted." in text
    assert "0.7 a day, expected at a FAR of 0.35 %" in text and "nan" not in text
    assert main(["workload", *arguments, "1000"]) == 2
    assert "200 people a day can cause a false alarm" in capsys.readouterr().err
    assert main(["workload", *arguments, "3", "--far", "0.1"]) == 2
    assert "give it alone" in capsys.readouterr().err
