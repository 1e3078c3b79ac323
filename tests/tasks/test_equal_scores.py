"""Where equal scores decide a number, every task states its pessimistic and optimistic value."""

from typing import Any

import naive
import numpy as np
import pytest

import bioeval as be

LABELS = np.repeat(np.arange(8), 4)


def rounded_distances() -> np.ndarray:
    rng = np.random.default_rng(1)
    distances = rng.random((32, 32)) + 0.4 * (LABELS[:, None] != LABELS)
    return np.round(3 * np.minimum(distances, distances.T))


def tied_scores() -> be.Scores:
    return be.Scores(rounded_distances(), LABELS)


def stated_ends(result: Any) -> dict[str, tuple[float, float]]:
    """Return (pessimistic, optimistic) in the messages of a result, by name of the number."""
    arguments = (x.arguments for x in be.messages(result) if x.code == "ties-decide")
    return {x["number"]: (x["pessimistic"], x["optimistic"]) for x in arguments}


def test_a_collapsed_model_is_not_at_100_per_cent_without_a_word():
    scores = be.Scores(np.ones((3, 4)), [0, 0, 0], [0, 0, 1, 1])
    ends = {"mean_ap": (pytest.approx((1 / 3 + 2 / 4) / 2), 1.0), "cmc": (0.0, 1.0)}
    assert stated_ends(be.reid(scores, "vehicleid")) == ends
    assert stated_ends(be.gom(scores, convention="vehicleid", scaled=False)) == ends
    assert stated_ends(be.verification(scores)) == {"eer": (1.0, 0.0)}
    assert stated_ends(be.closed_set(scores)) == {"cms": (0.0, 1.0)}


@pytest.mark.parametrize("convention", ["market1501", "cuhk03", "identity-dedup", "open-reid"])
def test_ends_of_re_identification_are_those_of_the_policies(convention):
    meta = {"probe_meta": {"camera": [1] * 8}, "gallery_meta": {"camera": [2, 1] * 8}}
    scores = be.Scores(rounded_distances()[::4, ::2], LABELS[::4], LABELS[::2], **meta)
    pessimistic, optimistic = (
        be.reid(scores, convention, ties=ties) for ties in ("pessimistic", "optimistic")
    )
    ends = {"mean_ap": (float(pessimistic.mean_ap), float(optimistic.mean_ap))}
    if convention == "open-reid":  # ranks no equal scores: they share a threshold, mAP has no ends
        ends = {}
    ends["cmc"] = float(pessimistic.cmc[0]), float(optimistic.cmc[0])
    assert stated_ends(be.reid(scores, convention)) == ends
    tree = be.evaluate(scores, convention)
    assert stated_ends(tree) == ends


@pytest.mark.parametrize("gallery", ["all", "single"])
def test_ends_of_the_closed_set_are_those_of_the_policies(gallery):
    ends = []
    for ties in ("pessimistic", "optimistic"):
        ends.append(
            be.closed_set(tied_scores(), gallery=gallery, ties=ties).recognition_rate.item()
        )
    for ties in ("pessimistic", "optimistic", "expected", "stable"):
        assert stated_ends(be.closed_set(tied_scores(), gallery=gallery, ties=ties)) == {
            "cms": tuple(ends)
        }


def test_ends_of_the_eer_are_those_of_scores_moved_apart():
    values, is_genuine = rounded_distances(), LABELS[:, None] == LABELS
    moved = (be.Scores(values + step * is_genuine, LABELS) for step in (0.1, -0.1))
    eers = tuple(float(be.verification(scores).eer) for scores in moved)
    assert stated_ends(be.verification(tied_scores())) == {"eer": pytest.approx(eers)}


def test_ends_of_the_open_set_contain_the_rates_of_the_policies():
    coarse = be.Scores(rounded_distances(), LABELS)
    pessimistic, optimistic = (
        be.open_set(coarse, ties=ties) for ties in ("pessimistic", "optimistic")
    )
    highest, lowest = stated_ends(pessimistic)["eer"]
    assert lowest <= optimistic.eer < pessimistic.eer <= highest
    values = np.where(LABELS[:, None] == LABELS, 0.0, 1.0)
    values[::2] = 0.0  # every second probe has equal scores with all templates
    result = be.open_set(be.Scores(values, LABELS), impostors="leave-subject-out")
    assert stated_ends(result)["eer"][1] < float(result.eer)


def test_folds_say_how_many_ranks_equal_scores_decide():
    scores, folds = tied_scores(), be.partition.SubjectKFold(2)
    tied = 0
    for _, test in folds.split(scores):
        part = np.ix_(test, test)
        tied += naive.closed_set(scores.values[part], LABELS[test]).tied
    result = be.cross_evaluate(scores, folds, task="closed_set")
    (stated,) = (x.arguments for x in be.messages(result) if x.code == "ties-in-partitions")
    probes = int(result.attempts.sel(part="test").sum())
    assert stated == {"tied": tied, "probes": probes, "number": 2}
    assert tied


def test_distinct_scores_have_no_such_message():
    scores = be.simulate(10, 4, random_state=1)
    assert not stated_ends(be.evaluate(scores))
    assert not stated_ends(be.closed_set(scores, gallery="single"))
