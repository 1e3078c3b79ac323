"""Thresholds on another scale than the scores are said by every study, failures or not."""

import numpy as np
import pytest

import bioeval as be

SOUND = be.simulate(12, 4, random_state=3)
COLUMNS = {"camera": np.arange(48) % 4, "sex": np.where(SOUND.probe_labels % 2, "f", "m")}


def scores(share_failed: float) -> be.Scores:
    values = np.asarray(SOUND.values).copy()
    values[np.random.default_rng(0).random(values.shape) < share_failed] = np.nan
    return be.Scores(values, SOUND.probe_labels, nan="reject", probe_meta=COLUMNS)


FOLDS = be.partition.SubjectKFold(3)
GALLERIES = be.partition.ProbeGallerySplit(2, n_repeats=3, random_state=0)

#: A study of scores at a threshold.
STUDIES = {
    "verification": lambda x, t: be.verification(x, thresholds=[t]),
    "open_set": lambda x, t: be.open_set(x, thresholds=[t]),
    "study": lambda x, t: be.study_threshold(x, t, folds=3, repeats=1),
    "zoo": lambda x, t: be.zoo(x, threshold=t, permutations=20),
    "folds": lambda x, t: be.cross_evaluate(x, FOLDS, threshold=t),
    "folds of searches": lambda x, t: be.cross_evaluate(x, FOLDS, threshold=t, task="open_set"),
    "repeat": lambda x, t: be.repeat(x, GALLERIES, thresholds=[t], curves=True),
    "groups": lambda x, t: be.by_group(x, "sex", threshold=t),
    "judge": lambda x, t: be.judge_threshold(x, x, t),
    "gallery_size": lambda x, t: be.gallery_size(x, thresholds=[t]),
    "reid": lambda x, t: be.reid(x, "market1501", thresholds=[t]),
    "gom": lambda x, t: be.gom(x, thresholds=[t]),
}


def codes(result) -> set[str]:
    return {x.code for x in be.messages(result) if "beyond-scores" in x.code}


@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.cases(9)
def test_failures_do_not_hide_a_threshold_beyond_all_scores(study):
    """At 612 all distances are accepted, at -3 none; at 4.5 some, and GOM has scores of its own."""
    thresholds = [(612.0, True), (-3.0, True), (4.5, False)]
    for failed in (0, 0.05):
        for threshold, expected in thresholds[: 2 if study == "gom" else 3]:
            found = codes(STUDIES[study](scores(failed), threshold))
            assert bool(found) == expected, (failed, threshold)


@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
def test_animals_that_were_not_tested_are_not_found_absent():
    """Two genuine comparisons of a subject have no second half: goats are not tested."""
    zoo = be.zoo(be.simulate(12, 2, random_state=1), permutations=50)
    answer, not_tested = be.messages(zoo)
    assert (answer.code, not_tested.code) == ("animals-tested", "animals-not-tested")
    assert answer.arguments["untested"] == [not_tested.arguments["animals"]] == ["goats"]
    call = "be.zoo (bioeval zoo) with at least 8 subjects who have 4 templates each"
    assert f"Not tested: goats; to test them, call {call}." in answer.sentence
