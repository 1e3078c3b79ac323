"""Rules that fuse the templates of a subject, in the words of the user, against plain loops."""

import itertools
import statistics

import numpy as np
import pytest
from result_messages import codes

import bioeval as be
from bioeval import protocol

KINDS = ("distance", "similarity")
PEOPLE = ["ann"] * 2 + ["bob"] * 3 + ["cy"] * 4 + ["dan"] * 4 + ["eve"] * 7


def world(kind: str, seed: int = 0, **options) -> be.Scores:
    values = np.round(np.random.default_rng(seed).normal(size=(20, 20)), 1)
    return be.Scores(values, PEOPLE, kind=kind, **options)


def fused(values: list[float], rule: str, kind: str) -> float | None:
    """One score of several; None where there are too few."""
    closest_first = sorted(values, reverse=kind != "distance")
    if rule.startswith("kth:"):
        k = int(rule[4:])
        return closest_first[k - 1] if len(values) >= k else None
    if not values:
        return None
    by_order = {"best": closest_first[0], "worst": closest_first[-1]}
    return by_order.get(rule, {"min": min, "max": max}.get(rule, statistics.median)(values))


def claims(scores: be.Scores, rule: str) -> tuple[dict, int, int]:
    """The score of each claim, and how many genuine and impostor claims have too few scores."""
    fused_claims, lost = {}, [0, 0]
    for i, subject in itertools.product(range(len(PEOPLE)), sorted(set(PEOPLE))):
        columns = [j for j in range(len(PEOPLE)) if PEOPLE[j] == subject and j != i]
        values = [
            scores.values[i, j] for j in columns if scores.values[i, j] == scores.values[i, j]
        ]
        score = fused(values, rule, scores.kind)
        if score is not None:
            fused_claims[i, subject] = score
        elif values:
            lost[subject != PEOPLE[i]] += 1
    return fused_claims, *lost


def card(rule: str, unit: str = "template") -> protocol.Protocol:
    text = protocol.load("course-all-vs-all").to_toml()
    text = text.replace('fusion = "best"', f'fusion = "{rule}"')
    return protocol.parse(text.replace('rank_unit = "template"', f'rank_unit = "{unit}"'))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", ["best", "worst", "median", "kth:2", "min", "max"])
def test_a_rule_means_the_same_in_every_call(rule, kind):
    scores = world(kind)
    expected, *_ = claims(scores, rule)
    by_claim = be.claim_scores(scores, fusion=rule)
    results = {
        (i, subject): by_claim.values[i, j]
        for i in range(20)
        for j, subject in enumerate(by_claim.gallery_labels.tolist())
        if by_claim.values[i, j] == by_claim.values[i, j]
    }
    assert results == pytest.approx(expected)
    genuine = sorted(x for (i, subject), x in expected.items() if PEOPLE[i] == subject)
    ds = be.verification(scores, templates="multi", fusion=rule, thresholds=[-0.5, 0.0, 0.5])
    for threshold in (-0.5, 0.0, 0.5):
        accepted = [x <= threshold if kind == "distance" else x >= threshold for x in genuine]
        assert int(ds.ga.sel(threshold=threshold)) == sum(accepted)
    assert int(ds.genuine_attempts) == len(genuine)
    assert int(ds.impostor_attempts) == len(expected) - len(genuine)
    mates = be.ranks(scores, rank_unit="subject", fusion=rule).mate_distance.values
    own = [expected.get((i, PEOPLE[i]), np.nan) for i in range(20)]
    np.testing.assert_allclose(mates, own)
    counts = be.stats.people_counts(scores, [0.0], templates="multi", fusion=rule)
    within = [x <= 0 if kind == "distance" else x >= 0 for x in genuine]
    assert int(counts.genuine_accepted.sum()) == sum(within)
    run = be.evaluate(scores, card(rule))["verification/multi"]
    assert [run.attrs["fusion"], float(run.eer)] == [ds.attrs["fusion"], float(ds.eer)]


def lossy(nan: str) -> be.Scores:
    """Scores of people with 2 to 7 templates, of which some comparisons failed."""
    scores = world("distance", nan=nan)
    values = scores.values.copy()
    if nan != "raise":
        values[np.random.default_rng(5).random(values.shape) < 0.2] = np.nan
    return scores.with_values(values, kind="distance")


CALLS = {
    "verification": lambda s, f: be.verification(s, templates="multi", fusion=f),
    "claims": lambda s, f: be.verification(
        s,
        templates="multi",
        fusion=f,
        claims=(np.repeat(np.arange(20), 5), sorted(set(PEOPLE)) * 20),
    ),
    "claim scores": lambda s, f: be.verification(be.claim_scores(s, fusion=f)),
    "zoo": lambda s, f: be.zoo(be.claim_scores(s, fusion=f)),
    "open set": lambda s, f: be.open_set(s, rank_unit="subject", fusion=f),
    "closed set": lambda s, f: be.closed_set(s, rank_unit="subject", fusion=f, unmated="skip"),
    "ranks": lambda s, f: be.ranks(s, rank_unit="subject", fusion=f),
    "gallery size": lambda s, f: be.gallery_size(s, fusion=f),
    "a card": lambda s, f: be.evaluate(s, card(f, "subject"))["verification/multi"].to_dataset(),
    "open set of a card": lambda s, f: be.evaluate(s, card(f, "subject"))["open_set"].to_dataset(),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("nan", ["raise", "exclude"])
def test_claims_of_too_few_templates_are_counted_and_said(call, nan):
    scores = lossy(nan)
    if call == "gallery size" and nan == "exclude":
        return  # a probe that was compared with a part of the gallery is refused
    _, genuine, impostor = claims(scores, "kth:3")
    assert genuine
    assert impostor
    result = CALLS[call](scores, "kth:3")
    assert (result.attrs["too_few_genuine"], result.attrs["too_few_impostor"]) == (
        genuine,
        impostor,
    )
    (said,) = (x for x in be.messages(result) if x.code == "too-few-templates")
    assert f"{genuine} genuine and {impostor} impostor attempts" in said.sentence
    for rule in ("best", "worst", "mean", "median", "kth:1"):
        result = CALLS[call](scores, rule)
        assert "too-few-templates" not in codes(result)
        assert "too_few_genuine" not in result.attrs


def test_folds_a_study_and_a_comparison_say_so_too():
    scores = lossy("raise")
    _, genuine, impostor = claims(scores, "kth:3")
    about = f"{genuine} genuine and {impostor} impostor attempts"
    splitter = be.partition.SubjectKFold(2)
    of_subjects = {"rank_unit": "subject", "fusion": "kth:3"}
    folds = be.cross_evaluate(scores, splitter, task="open_set", threshold="eer", **of_subjects)
    (said,) = (x for x in be.messages(folds) if x.code == "too-few-templates")
    assert said.sentence.startswith(f"{about} of all data")
    two = be.compare(scores, world("distance", 1), measures=["recognition_rate"], **of_subjects)
    said = [x.sentence for x in be.messages(two) if x.code == "too-few-templates"]
    assert len(said) == 1
    assert about in said[0]


@pytest.mark.parametrize(
    ("call", "need"),
    [
        (be.verification, 'templates="multi"'),
        (be.open_set, 'rank_unit="subject"'),
        (be.closed_set, 'rank_unit="subject"'),
        (be.ranks, 'rank_unit="subject"'),
        (lambda scores, fusion: be.compare(scores, scores, fusion=fusion), 'rank_unit="subject"'),
    ],
)
def test_a_rule_of_fusion_is_refused_where_nothing_is_fused(call, need):
    scores = be.simulate(6, 3, random_state=1)
    with pytest.raises(be.ProtocolError, match="`fusion` has no effect in be") as caught:
        call(scores, fusion="mean")
    assert need in str(caught.value)
