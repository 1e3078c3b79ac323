"""Assured thresholds and claims against slow twins, and what cannot be promised."""

import math

import naive_promise as twin
import numpy as np
import pytest
from named_arguments import raises_about

import bioeval as be

STUDY = {"interval": "people", "folds": 3, "repeats": 1}


def unequal(seed: int = 0, people: int = 12, kind: str = "distance", dtype: str = "float64"):
    """All against all, with ties, unequal numbers of templates and a person with one."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([f"p{k}" for k in range(people)], rng.integers(1, 4, people))
    points = rng.normal(size=(people, 3))[[int(x[1:]) for x in labels]]
    points = points + 0.5 * rng.normal(size=points.shape)
    d = np.round(((points[:, None] - points[None]) ** 2).sum(axis=2), 1)
    d += np.round(0.1 * rng.random(d.shape), 1)  # the two directions differ
    values = (d if kind == "distance" else -d).astype(dtype)
    return be.Scores(values, labels, kind=kind)


def seen(scores: be.Scores) -> np.ndarray:
    """The distances, and NaN where a template meets itself."""
    d = (scores.values if scores.kind == "distance" else -scores.values).astype(np.float64)
    d = d.copy()
    if scores.layout == "all-against-all":
        np.fill_diagonal(d, np.nan)
    return d


def refused(study):
    """The message by which a promise is refused, or None."""
    codes = {
        *("too-few-people-to-promise", "too-few-people-to-resample"),
        "strictest-threshold-above-target",
    }
    return next((x for x in be.messages(study) if x.code in codes), None)


RNG = np.random.default_rng(0)
SIDES = np.repeat(np.arange(7), 2), np.repeat([0, 1, 2, 7, 8], 2)
PAIRS = [(a, b) for a in range(12) for b in range(a + 1, 12) if (a + b) % 3]
OWN = [(a, a) for a in range(12)]
DEGREE = np.bincount(np.ravel(PAIRS)).max()
#: Scores, how many pairs of people without a person in common there are, and people on a pair's
#: sides who are left out.
LAYOUTS = {
    "all against all": (unequal(0), 6, 2),
    "similarities": (unequal(1, kind="similarity", dtype="float32"), 6, 2),
    "people of the gallery are others": (
        be.Scores(RNG.random((40, 30)) + 1, np.repeat(range(20), 2), np.repeat(range(100, 115), 2)),
        20, 1,
    ),
    # 3 pairs among those on both sides, 4 x 5 of the probes alone, 3 x 2 of the gallery alone; each
    # of the 3 meets 2 + 4 + 2 others.
    "some on one side": (be.Scores(RNG.random((14, 10)) + 1, *SIDES), 29 // 9, 2),
    "list": (
        be.Scores.from_pairs(
            RNG.random(len(PAIRS + OWN)) + 1, [a == b for a, b in PAIRS + OWN], subjects=PAIRS + OWN
        ),
        len(PAIRS) // (DEGREE + 1), 2,
    ),
}  # fmt: skip


FEW_ON_ONE_SIDE = LAYOUTS["some on one side"][0].select(gallery=np.arange(4))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_the_far_of_a_promise_and_its_limit_are_those_of_the_twin(layout, rate):
    """Means over pairs of people, without each person, and with two counted twice."""
    scores, independent, sides = LAYOUTS[layout]
    if layout == "list":
        d = np.full((12, 12), np.nan)
        d[tuple(np.transpose(PAIRS))] = scores.values[: len(PAIRS)]
        probes = gallery = list(range(12))
    else:
        d, probes = seen(scores), scores.probe_labels.tolist()
        gallery = scores.gallery_labels.tolist()
    at = float(np.nanquantile(d, rate))
    h = twin.shares(d, probes, gallery, at)
    names = list(dict.fromkeys(probes if sides == 1 else [*probes, *gallery]))
    left_out = [twin.without(h, name) for name in names]
    mean, twice = twin.mean(h), twin.doubled(h, names)
    upper = twin.estimated(mean, twice, left_out, len(h), independent, 0.05, sides)
    threshold = at if scores.kind == "distance" else -at
    found = be.check_promise(scores, threshold, "far=0.1")
    assert found.far == pytest.approx(mean, rel=1e-12)
    assert found.far_high == pytest.approx(upper, rel=1e-6)
    this_gallery = layout == "people of the gallery are others"
    assert found.interval_for.item() == ("this gallery" if this_gallery else "new people")


@pytest.mark.parametrize(
    ("scores", "promise", "says"),
    [
        (FEW_ON_ONE_SIDE, "far=0.1", "FAR cannot be assured.* 2 .*3"),
        (be.Scores(np.eye(4) + 1, [0, 0, 1, 1]), "frr=0.5", "1.5 accepts all attempts"),
        (be.Scores(np.arange(16.0).reshape(4, 4), [0, 0, 1, 1]), "frr=0.5", "only 2 people with"),
        (unequal(), "far=1", "`promise` is far=1; expected a rate above 0"),
        (unequal(), ["far=0.1", "frr=0"], "`promise` is frr=0; expected a rate above 0"),
        (unequal(), ["far=0.1", "eer"], "`promise` is eer; expected far=X or frr=X"),
        (unequal(), [], "`promise` is empty"),
        (be.Scores.from_pairs([0.1, 0.2], [1, 0]), "far=0.1", "rests on the number of people"),
    ],
)  # fmt: skip
def test_what_cannot_be_promised_is_refused(scores, promise, says):
    with pytest.raises(be.BioevalError, match=says):
        be.check_promise(scores, 1.5, promise)


def test_each_of_several_promises_is_tested():
    scores = unequal()
    alone = [be.check_promise(scores, 1.0, rule) for rule in ("far=0.3", "frr=0.01", "far=0.001")]
    both = be.check_promise(scores, 1.0, ["far=0.3", "frr=0.01", "far=0.001", "far=0.3"])
    assert both.promise.values.tolist() == ["far=0.3", "frr=0.01", "far=0.001"]
    for name in ("verdict", "promised", "people", "people_to_settle"):
        of_each = [found[name].item() for found in alone]
        np.testing.assert_array_equal(both[name].values, of_each)
    for name in ("far", "far_low", "far_high"):
        assert both[name] == alone[0][name] == alone[2][name]
    assert both.frr_high == alone[1].frr_high


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.cases(2)
def test_the_threshold_is_that_of_the_definition(seed):
    """Every attainable threshold is looked at in turn, from the strictest on."""
    scores, target = unequal(seed, people=16), 0.3
    result = be.study_threshold(scores, f"far={target}", assure=0.9, **STUDY)
    d, labels = seen(scores), scores.probe_labels.tolist()
    n, names = result.assured_people.item(), np.unique(labels)
    points = twin.attainable(d, labels, labels)
    best, limit = None, None
    rates = {t: twin.mean(twin.shares(d, labels, labels, t)) for t in points}
    first = max([t for t in points if rates[t] <= target / 10])
    if rates[first] == 0:
        first = max(t for t in points if rates[t] == min(r for r in rates.values() if r > 0))
    for t in points:
        if rates[t] > target and t > first:
            break
        if t < first:
            continue
        h = twin.shares(d, labels, labels, t)
        left_out = [twin.without(h, name) for name in names]
        upper = twin.estimated(rates[t], twin.doubled(h), left_out, len(h), n // 2, 0.1, 2)
        if upper > target:
            break
        best, limit = t, max(upper, limit or 0.0)  # at least that of stricter thresholds
    if best is None:
        assert math.isnan(result.assured_threshold)
        assert refused(result).code == "too-few-people-to-promise"
        return
    levels = {round(r, 12) for t, r in rates.items() if rates[first] <= r <= target}
    if len(levels) > 64:
        assert result.assured_threshold <= best  # of 64 points
        assert result.assured_far_high <= target
        return
    assert result.assured_threshold == best
    assert result.assured_far == pytest.approx(rates[best], rel=1e-12)
    assert result.assured_far_high == pytest.approx(limit, rel=1e-6)


def by_hand() -> be.Scores:
    """Sixty people with one template each on either side of a line: genuine 1, impostors 2 or 9."""
    d = np.full((60, 60), 9.0)
    d[0, 1] = d[2, 3] = 2.0
    np.fill_diagonal(d, 1.0)
    return be.Scores(d, range(60), range(60))


@pytest.mark.parametrize("seed", range(3))
def test_the_frr_of_a_claim_weighs_people_alike(seed):
    scores = unequal(seed, people=20)
    result = be.check_promise(scores, 1.0, "frr=0.5")
    d, labels = seen(scores), scores.probe_labels
    rates = []
    for name in np.unique(labels):
        own = d[np.ix_(labels == name, labels == name)]
        own = own[~np.isnan(own)]
        if len(own):
            rates.append((own > 1.0).mean())
    assert result.frr == pytest.approx(np.mean(rates), rel=1e-12)
    assert result.frr_low <= result.frr <= result.frr_high


@pytest.mark.parametrize("assure", [0, 1, 1.5, -0.1, math.nan, "0.95", True, [0.95]])
def test_a_confidence_is_between_0_and_1(assure):
    with raises_about(be.DataError, "assure") as result:
        be.study_threshold(unequal(), "far=0.1", assure=assure, **STUDY)
    assert "\n" not in str(result.value)


def test_lists_without_people_have_no_assured_threshold():
    listed = be.Scores.from_pairs([0.1, 0.2, 0.3, 0.4], [1, 0, 1, 0])
    with pytest.raises(be.DataError, match="rests on the number of people"):
        be.study_threshold(listed, "far=0.1", assure=0.95, folds=2)


@pytest.mark.parametrize("target", ["far=1", "far=0", "far=1.0", "far=100%", "frr=0.1", 2.5])
def test_a_target_is_a_far_above_0_and_below_1(target):
    with pytest.raises(be.DataError, match="what can be assured is a FAR above 0 and below 1"):
        be.study_threshold(unequal(), target, assure=0.95, **STUDY)


def test_too_few_people_are_told_how_many_are_needed():
    result = be.study_threshold(unequal(), "far=0.01", assure=0.95, **STUDY)
    assert math.isnan(result.assured_threshold)
    assert refused(result).code == "too-few-people-to-promise"
    assert refused(result).arguments["people"] == result.assured_people == 12
    assert math.isnan(result.frr_price)
    said = " ".join(be.to_markdown(result).split())
    assert "No threshold can be promised: " in said
    assert f"About {result.people_estimated.item():,.0f} people are needed" in said


def test_two_people_are_too_few_for_anything():
    scores = be.Scores(np.random.default_rng(0).random((4, 4)), [0, 0, 1, 1])
    result = be.study_threshold(scores, "far=0.5", assure=0.9, folds=2, repeats=1)
    assert refused(result).code == "too-few-people-to-resample"
    assert refused(result).arguments["people"] == 2


def test_a_threshold_between_ties_is_not_attainable():
    """All pairs of people but a few have one of two distances: 2 % are at 1.0, the others at 2.0.

    A target of 30 % would allow some of those at 2.0, but there is no threshold that does.
    """
    n = 80
    d = np.full((n, n), 2.0)
    for k in range(0, n, 5):
        d[k, (k + 7) % n] = d[(k + 7) % n, k] = 1.0
    scores = be.Scores(np.kron(d, np.ones((2, 2))), np.repeat(range(n), 2))
    scores.values[np.kron(np.eye(n), np.ones((2, 2))) > 0] = 1.5
    result = be.study_threshold(scores, "far=0.3", assure=0.9, **STUDY)
    assert result.assured_threshold == 1.5  # the loosest score before 2.0, of genuine attempts
    assert result.threshold == 1.5
    assert result.assured_far == pytest.approx(16 / 3160)
    assert result.assured_frr == 0.0
    assert result.frr_price == 0.0
    tied = be.study_threshold(by_hand(), "far=0.2", assure=0.9, **STUDY)
    assert tied.assured_threshold == 2.0


def test_no_number_of_people_helps_above_the_target():
    scores = be.simulate(80, 2, random_state=1)
    two = (scores.values > np.quantile(scores.values, 0.3)).astype(float)
    result = be.study_threshold(
        be.Scores(two, scores.probe_labels), "far=0.1", folds=2, repeats=1, assure=0.95
    )
    assert np.isnan(result.people_estimated)
    assert refused(result).code == "strictest-threshold-above-target"


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_impostors_that_nothing_accepts(confidence):
    """FAR is 0 at every threshold: whether that is promised depends on the people alone."""
    scores = be.simulate(14, 3, random_state=1)
    values = np.where(scores.probe_labels[:, None] == scores.probe_labels, scores.values, np.inf)
    result = be.study_threshold(
        be.Scores(values, scores.probe_labels), "far=0.1", folds=2, repeats=1, assure=confidence
    )
    if confidence == 0.5:
        genuine = values[~np.eye(len(values), dtype=bool) & np.isfinite(values)]
        assert result.assured_threshold == genuine.max()
        assert result.assured_far == 0 and 0 < result.assured_far_high < 0.1
    else:
        assert refused(result).arguments["far"] == 0


def wolves(seed: int, people: int) -> be.Scores:
    """A few people are near the common centre, and so to all others."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(people, 8))
    points[rng.random(people) < 0.02] *= 0.5
    labels = np.repeat(np.arange(people), 3)
    e = points[labels] + 0.35 * rng.normal(size=(people * 3, 8))
    return be.Scores(np.linalg.norm(e[:, None] - e[None], axis=2), labels)


@pytest.mark.parametrize(("seed", "people"), [(0, 40), (1, 80), (3, 80)])
@pytest.mark.cases(1)
def test_the_limit_never_rises_towards_stricter_thresholds(seed, people):
    scores = wolves(seed, people)
    study = be.study_threshold(scores, "far=0.002", assure=0.95, folds=2, repeats=1)
    high = study.point_far_high.values
    assert (np.diff(study.point_threshold) > 0).all()
    assert (np.diff(high) >= 0).all()
    if refused(study) is None:
        at = study.point_threshold.values.searchsorted(study.assured_threshold.item(), "right") - 1
        assert high[at] == study.assured_far_high


def test_the_people_that_settle_a_claim_stand_beside_those_of_the_rule_of_3():
    """3 / 0.0001 = 30,000 pairs are those of 246 people, without an error."""
    assert 245 * 244 // 2 < 30_000 <= 246 * 245 // 2
    found = be.check_promise(be.simulate(60, 4, random_state=2), 2.2, "far=0.0001")
    text = " ".join(be.to_markdown(found).split())
    # Without an error two people are one trial: 1 - 0.05^(2 / n) <= 0.0001 from n = 59,914 on.
    assert 59_900 <= found.people_to_settle.item() <= 60_100
    assert "would show it" in text
    assert "The rule of 3 asks for 246 people: it takes each of their pairs" in text
    assert "Without an error, two people are one trial" in text
    text = be.to_markdown(be.check_promise(be.simulate(60, 4, random_state=2), 2.2, "frr=0.9"))
    assert "rule of 3 asks" not in text


def test_fewer_people_may_refute_a_promise_than_the_rule_of_3_asks_for():
    """A rate above the promise: more people refute it, and show nothing."""
    found = be.check_promise(be.simulate(60, 4, random_state=2), 3.4, "far=0.0003")
    text = " ".join(be.to_markdown(found).split())
    assert found.verdict == "open" and found.far >= 3 * found.promised
    pairs_of_rule = 3 / 0.0003
    settling = found.people_to_settle.item()
    assert settling * (settling - 1) / 2 < pairs_of_rule
    assert "would refute it" in text and "rule of 3 asks" not in text


def test_a_false_reject_is_of_one_person():
    scores = be.simulate(30, 4, random_state=2)
    same = scores.probe_labels[:, None] == scores.probe_labels
    found = be.check_promise(scores, float(scores.values[same].max()), "frr=0.01")
    assert found.verdict == "open" and found.frr == 0
    assert "Without an error, each person is one trial" in " ".join(be.to_markdown(found).split())
