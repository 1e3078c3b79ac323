"""Numbers that the order of equal scores decides: every task says between which ends."""

from typing import Any

import naive
import numpy as np
import pytest

import bioeval as be

_LABELS = np.repeat(np.arange(8), 4)


def _values() -> np.ndarray:
    rng = np.random.default_rng(1)
    far = rng.random((32, 32)) + 0.4 * (_LABELS[:, None] != _LABELS)
    return np.round(3 * np.minimum(far, far.T))


def _scores() -> be.Scores:
    return be.Scores(_values(), _LABELS)


def _ends(result: Any) -> dict[str, tuple[float, float]]:
    """Return the ends in the messages of a result, by the name of the number."""
    arguments = (x.arguments for x in be.messages(result) if x.code == "ties-decide")
    return {x["number"]: (x["pessimistic"], x["optimistic"]) for x in arguments}


def test_a_collapsed_model_is_not_at_100_per_cent_without_a_word():
    scores = be.Scores(np.ones((3, 4)), [0, 0, 0], [0, 0, 1, 1])
    ends = {"mean_ap": (pytest.approx((1 / 3 + 2 / 4) / 2), 1.0), "cmc": (0.0, 1.0)}
    assert _ends(be.reid(scores, "vehicleid")) == ends
    assert _ends(be.gom(scores, convention="vehicleid", scaled=False)) == ends
    assert _ends(be.verification(scores)) == {"eer": (1.0, 0.0)}
    assert _ends(be.closed_set(scores)) == {"cms": (0.0, 1.0)}


@pytest.mark.parametrize("convention", ["market1501", "cuhk03", "identity-dedup", "open-reid"])
def test_ends_of_re_identification_are_those_of_the_policies(convention):
    meta = {"probe_meta": {"camera": [1] * 8}, "gallery_meta": {"camera": [2, 1] * 8}}
    scores = be.Scores(_values()[::4, ::2], _LABELS[::4], _LABELS[::2], **meta)
    last, first = (be.reid(scores, convention, ties=ties) for ties in ("pessimistic", "optimistic"))
    ends = {"mean_ap": (float(last.mean_ap), float(first.mean_ap))}
    if convention == "open-reid":  # of which equal scores are one threshold
        ends = {}
    ends["cmc"] = float(last.cmc[0]), float(first.cmc[0])
    assert _ends(be.reid(scores, convention)) == ends
    tree = be.evaluate(scores, convention)
    assert _ends(tree) == ends


@pytest.mark.parametrize("gallery", ["all", "single"])
def test_ends_of_the_closed_set_are_those_of_the_policies(gallery):
    ends = []
    for ties in ("pessimistic", "optimistic"):
        ends.append(be.closed_set(_scores(), gallery=gallery, ties=ties).recognition_rate.item())
    for ties in ("pessimistic", "optimistic", "expected", "stable"):
        assert _ends(be.closed_set(_scores(), gallery=gallery, ties=ties)) == {"cms": tuple(ends)}


def test_ends_of_the_eer_are_those_of_scores_moved_apart():
    values, same = _values(), _LABELS[:, None] == _LABELS
    moved = (be.verification(be.Scores(values + x * same, _LABELS)).eer for x in (0.1, -0.1))
    assert _ends(be.verification(_scores())) == {"eer": pytest.approx(tuple(map(float, moved)))}


def test_ends_of_the_open_set_contain_the_rates_of_the_policies():
    coarse = be.Scores(_values(), _LABELS)
    far = [be.open_set(coarse, ties=ties) for ties in ("pessimistic", "optimistic")]
    last, first = _ends(far[0])["eer"]
    assert first <= far[1].eer < far[0].eer <= last
    mates = np.where(_LABELS[:, None] == _LABELS, 0.0, 1.0)
    mates[::2][mates[::2] == 1] = 0.0  # of every second probe the whole row is equal
    result = be.open_set(be.Scores(mates, _LABELS), impostors="leave-subject-out")
    assert _ends(result)["eer"][1] < float(result.eer)


def test_folds_say_how_many_ranks_equal_scores_decide():
    scores, folds = _scores(), be.partition.SubjectKFold(2)
    tied = 0
    for _, test in folds.split(scores):
        part = np.ix_(test, test)
        tied += naive.closed_set(scores.values[part], _LABELS[test]).tied
    result = be.cross_evaluate(scores, folds, task="closed_set")
    (said,) = (x.arguments for x in be.messages(result) if x.code == "ties-in-partitions")
    probes = int(result.attempts.sel(part="test").sum())
    assert said == {"tied": tied, "probes": probes, "number": 2}
    assert tied


def test_distinct_scores_have_no_such_message():
    scores = be.simulate(10, 4, random_state=1)
    assert not _ends(be.evaluate(scores))
    assert not _ends(be.closed_set(scores, gallery="single"))
