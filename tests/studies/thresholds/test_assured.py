"""Assured thresholds and promises beside intervals, and what cannot be promised."""

import itertools
import math

import numpy as np
import pytest
from named_arguments import raises_about
from result_messages import arguments

import bioeval as be
from bioeval.studies.assurance import kinds_of_people_absent

STUDY = {"interval": "people", "folds": 3, "repeats": 1}


def unequal(seed: int = 0, people: int = 12, kind: str = "distance", dtype: str = "float64"):
    """All against all, with ties and unequal numbers of templates, down to a single template."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([f"p{k}" for k in range(people)], rng.integers(1, 4, people))
    points = rng.normal(size=(people, 3))[[int(x[1:]) for x in labels]]
    points = points + 0.5 * rng.normal(size=points.shape)
    distances = np.round(((points[:, None] - points[None]) ** 2).sum(axis=2), 1)
    distances += np.round(0.1 * rng.random(distances.shape), 1)  # the two directions differ
    values = (distances if kind == "distance" else -distances).astype(dtype)
    return be.Scores(values, labels, kind=kind)


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
LAYOUTS = {
    "all against all": unequal(0),
    "similarities": unequal(1, kind="similarity", dtype="float32"),
    "people of the gallery are others": be.Scores(
        RNG.random((40, 30)) + 1, np.repeat(range(20), 2), np.repeat(range(100, 115), 2)
    ),
    "some on one side": be.Scores(RNG.random((14, 10)) + 1, *SIDES),
    "list": be.Scores.from_pairs(
        RNG.random(len(PAIRS + OWN)) + 1, [a == b for a, b in PAIRS + OWN], subjects=PAIRS + OWN
    ),
}


FEW_ON_ONE_SIDE = LAYOUTS["some on one side"].select(gallery=np.arange(4))


@pytest.mark.parametrize(
    "layout",
    [
        pytest.param(x, marks=[pytest.mark.slow] if x.startswith("people of") else [])
        for x in LAYOUTS
    ],
)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_a_promise_has_the_limits_of_an_interval(layout, confidence):
    """An interval misses at each end half as often as at both ends."""
    scores = LAYOUTS[layout]
    interval = be.stats.IntervalMethod("people", confidence=2 * confidence - 1)
    for threshold in np.quantile(scores.values, [0.02, 0.1, 0.3, 0.6]).tolist():
        ds = be.verification(scores, thresholds=[threshold], interval=interval).isel(threshold=0)
        if {float(ds.far), float(ds.frr)} == {0.0, 1.0}:
            continue  # outside all scores
        rates = ["far=0.1"] + ["frr=0.1"] * (layout in ("all against all", "similarities", "list"))
        promises = be.check_promise(scores, threshold, rates, confidence=confidence)
        for rate in (x[:3] for x in rates):
            assert promises[rate] == ds[rate]
            if 0 < ds[rate] < 1:
                for end in ("low", "high"):
                    limit = ds[f"{rate}_{end}"].item()
                    assert promises[f"{rate}_{end}"].item() == pytest.approx(limit, rel=1e-9), end


def world(seed):
    """Draw scores of people with few templates, of whom some are wolves, of either kind."""
    rng = np.random.default_rng(seed)
    people, templates = int(rng.integers(8, 45)), int(rng.integers(1, 5))
    labels = np.repeat(
        np.arange(people), rng.integers(1, templates + 2, people) + (np.arange(people) < 4)
    )
    wolf = rng.normal(size=people) * 0.5 - 1.5 * (rng.random(people) < 0.05)
    goat = rng.normal(size=people) * 0.5 + 1.5 * (rng.random(people) < 0.1)
    same = labels[:, None] == labels
    values = np.where(same, goat[labels][:, None], 4 + wolf[labels][:, None] + wolf[labels])
    values = values + rng.normal(size=values.shape)
    if rng.random() < 0.3:
        values = np.round(values, 1)
    kind = "similarity" if rng.random() < 0.5 else "distance"
    return be.Scores(values if kind == "distance" else -values, labels, kind=kind)


def never_contradict(seed):
    """Limits of intervals and of promises, each asked for alone, along some thresholds."""
    scores = world(seed)
    thresholds = np.quantile(scores.values, np.random.default_rng(seed).random(8) ** 2)
    thresholds = np.append(thresholds, np.quantile(scores.values, [0.001, 0.01, 0.05, 0.3, 0.9]))
    thresholds = np.unique(thresholds)
    interval = be.stats.IntervalMethod("people", confidence=0.9)
    rates = be.verification(scores, thresholds=thresholds, interval=interval).sortby("threshold")
    rates = rates.isel(threshold=np.abs(rates.far - rates.frr).values < 1)
    thresholds = rates.threshold.values
    of_single_thresholds = [
        be.verification(scores, thresholds=[x], interval=interval) for x in thresholds.tolist()
    ]
    promised = [be.check_promise(scores, x, ["far=0.1", "frr=0.1"]) for x in thresholds.tolist()]
    stricter_first = slice(None) if scores.kind == "distance" else slice(None, None, -1)
    for rate, sign in (("far", 1), ("frr", -1)):
        for end in ("low", "high"):
            name = f"{rate}_{end}"
            rows = [
                rates[name].values,
                np.array([x[name].item() for x in of_single_thresholds]),
                np.array([x[name].item() for x in promised]),
            ]
            np.testing.assert_array_equal(rows[0], rows[1])  # of the data and the threshold alone
            for row in rows:
                assert (sign * np.diff(row[stricter_first]) >= -1e-12).all(), (seed, name)


@pytest.mark.parametrize(
    "seeds",
    [
        range(1),
        pytest.param(range(1, 5), marks=pytest.mark.slow),
        *(pytest.param(range(k, k + 50), marks=pytest.mark.slow) for k in range(0, 500, 50)),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_stricter_threshold_never_has_a_higher_limit_of_far(seeds):
    """A looser threshold never has a higher limit of FRR."""
    for seed in seeds:
        never_contradict(seed)


@pytest.mark.parametrize(
    ("scores", "promise", "says"),
    [
        (FEW_ON_ONE_SIDE, "far=0.1", "FAR cannot be assured.* 2 .*3"),
        (be.Scores(np.eye(4) + 1, [0, 0, 1, 1]), "frr=0.5", "1.5 accepts all attempts"),
        (be.Scores(np.arange(16.0).reshape(4, 4), [0, 0, 1, 1]), "frr=0.5", "only 2 people with"),
        (unequal(), "far=1", "`promise` is 'far=1'; expected a rate above 0"),
        (unequal(), ["far=0.1", "frr=0"], "`promise` is 'frr=0'; expected a rate above 0"),
        (unequal(), ["far=0.1", "eer"], "`promise` is 'eer'; expected far=X or frr=X"),
        (unequal(), "far", "`promise` is 'far'; expected far=X or frr=X$"),
        (unequal(), ["far=0.1", ["a", "b"]], r"is \['a', 'b'\]; expected far=X or frr=X$"),
        (unequal(), "far=0.1,frr=0.1", "0.1,frr=0.1'; expected far=X or frr=X$"),
        (unequal(), 0.1, "`promise` is 0.1; expected far=X or frr=X$"),
        (unequal(), [], "`promise` is empty"),
        (be.Scores.from_pairs([0.1, 0.2], [1, 0]), "far=0.1", "^a promise needs the subjects"),
    ],
)  # fmt: skip
def test_what_cannot_be_promised_is_refused(scores, promise, says):
    with pytest.raises(be.BioevalError, match=says):
        be.check_promise(scores, 1.5, promise)


def test_each_of_several_promises_is_tested():
    scores = unequal()
    single_checks = [
        be.check_promise(scores, 1.0, rule) for rule in ("far=0.3", "frr=0.01", "far=0.001")
    ]
    three_promises = be.check_promise(scores, 1.0, ["far=0.3", "frr=0.01", "far=0.001", "far=0.3"])
    assert three_promises.promise.values.tolist() == ["far=0.3", "frr=0.01", "far=0.001"]
    for name in ("verdict", "promised", "people", "people_to_settle"):
        of_each = [found[name].item() for found in single_checks]
        np.testing.assert_array_equal(three_promises[name].values, of_each)
    for name in ("far", "far_low", "far_high"):
        assert three_promises[name] == single_checks[0][name] == single_checks[2][name]
    assert three_promises.frr_high == single_checks[1].frr_high


@pytest.mark.slow
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_threshold_is_the_loosest_at_which_the_promise_is_shown(layout):
    """Every attainable threshold is looked at in turn."""
    scores, target = LAYOUTS[layout], 0.5
    study = be.study_threshold(scores, f"far={target}", assure=0.8, folds=2, repeats=1)
    shown_results = {}
    for threshold in np.unique(scores.values).tolist():
        try:
            promise = be.check_promise(scores, threshold, f"far={target}", confidence=0.8)
        except be.BioevalError:  # outside all scores
            continue
        if promise.verdict == "shown":
            shown_results[threshold] = promise
    best = (max if scores.kind == "distance" else min)(shown_results)
    assert study.assured_threshold == best
    assert study.assured_far == shown_results[best].far == study.assured_far_attempts
    assert study.assured_far_high == pytest.approx(shown_results[best].far_high.item(), rel=1e-9)


def by_hand() -> be.Scores:
    """Sixty people with a template on either side of a line: genuine 1, impostors 2 or 9."""
    distances = np.full((60, 60), 9.0)
    distances[0, 1] = distances[2, 3] = 2.0
    np.fill_diagonal(distances, 1.0)
    return be.Scores(distances, range(60), range(60))


def test_what_cannot_be_assured_is_refused():
    scores = unequal()
    for assure in (0, 1, 1.5, -0.1, math.nan, "0.95", True, [0.95]):
        with raises_about(be.DataError, "assure") as result:
            be.study_threshold(scores, "far=0.1", assure=assure, **STUDY)
        assert "\n" not in str(result.value)
    for target in ("far=1", "far=0", "far=1.0", "far=100%", "frr=0.1", 2.5):
        says = f"^`target` is {target!r}; what can be assured is a FAR above 0 and below 1"
        with pytest.raises(be.DataError, match=says):
            be.study_threshold(scores, target, assure=0.95, **STUDY)
    list_of_pairs = be.Scores.from_pairs([0.1, 0.2, 0.3, 0.4], [1, 0, 1, 0])
    with pytest.raises(be.ProtocolError, match="^an assured threshold needs the subjects of both"):
        be.study_threshold(list_of_pairs, "far=0.1", assure=0.95, folds=2)


def test_too_few_people_are_told_how_many_are_needed():
    result = be.study_threshold(unequal(), "far=0.01", assure=0.95, **STUDY)
    assert math.isnan(result.assured_threshold)
    assert refused(result).code == "too-few-people-to-promise"
    assert refused(result).arguments["people"] == result.assured_people == 12
    assert math.isnan(result.frr_price)
    answer = arguments(result, "no-threshold-promised")
    assert answer["why"].code == refused(result).code
    assert answer["people"] == result.people_estimated and answer["people_far"] == result.people_far
    two = be.Scores(np.random.default_rng(0).random((4, 4)), [0, 0, 1, 1])
    result = be.study_threshold(two, "far=0.5", assure=0.9, folds=2, repeats=1)
    assert refused(result).code == "too-few-people-to-resample"
    assert refused(result).arguments["people"] == 2


def test_a_threshold_between_ties_is_not_attainable():
    """Two distances occur between people: 1.0 in 16 of the 3160 pairs, and 2.0 in all other pairs.

    A target of 30 % would allow some of those at 2.0, but there is no threshold that does.
    """
    people = 80
    distances = np.full((people, people), 2.0)
    for k in range(0, people, 5):
        distances[k, (k + 7) % people] = distances[(k + 7) % people, k] = 1.0
    scores = be.Scores(np.kron(distances, np.ones((2, 2))), np.repeat(range(people), 2))
    scores.values[np.kron(np.eye(people), np.ones((2, 2))) > 0] = 1.5
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
    """FAR is 0 at every threshold: the number of people alone decides about the promise."""
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


def strong_wolves():
    """Sixty people of whom ten are near to everybody: no errors at 0.5, many from 1 on."""
    rng = np.random.default_rng(1)
    people = np.repeat(np.arange(60), 3)
    wolf = np.where(people < 10, 2.0, 0.0)
    same = people[:, None] == people
    values = np.where(same, 0.4, 5 - wolf[:, None] - wolf + rng.uniform(-0.1, 0.1, same.shape))
    return be.Scores(np.maximum(values, 0.4), people)


def test_promise_is_settled_by_more_people_of_whom_one_errs_in_many_pairs():
    """3 / 0.0001 = 30,000 pairs without an error are the pairs of 246 people."""
    assert 245 * 244 // 2 < 30_000 <= 246 * 245 // 2
    promise = be.check_promise(be.simulate(60, 4, random_state=2), 2.2, "far=0.0001")
    # Nobody errs: no pair of people is more than one trial, whatever other thresholds show.
    assert 246 <= promise.people_to_settle.item() < 250
    assert arguments(promise, "promise-open")["people_to_settle"] == promise.people_to_settle
    wolves = be.check_promise(strong_wolves(), 0.5, "far=0.0001")
    assert wolves.far == 0 and wolves.people_to_settle.item() > 246


def test_fewer_people_may_refute_a_promise_than_the_rule_of_3_asks_for():
    """A rate above the promise: more people refute it, and show nothing."""
    promise = be.check_promise(be.simulate(60, 4, random_state=2), 3.4, "far=0.00035")
    assert promise.verdict == "open" and promise.far > promise.promised
    pairs_of_rule = 3 / 0.00035
    settling = promise.people_to_settle.item()
    assert settling * (settling - 1) / 2 < pairs_of_rule


def test_of_more_than_three_people_some_kinds_may_be_absent():
    assert kinds_of_people_absent(3).arguments == {}
    assert kinds_of_people_absent(4).arguments == {"share": 0.75, "people": 4}


@pytest.mark.parametrize("people", [8, 12, 20, 28, 29])
def test_a_promise_is_shown_only_where_the_people_are_enough(people):
    """No statement says "shown" where another says "too few people", and 12 people have 66 pairs.

    Without an error, their exact limit is 4.44 %, and 3 / 66 is 4.55 %: 4.5 % is between the two,
    as an FRR of 10 % is of 29 people.
    """
    assert 1 - 0.05 ** (1 / 66) < 0.045 < 3 / 66 and 1 - 0.05 ** (1 / 29) < 0.1 < 3 / 29
    labels = np.repeat(np.arange(people), 2)
    noise = np.random.default_rng(0).normal(0, 0.1, size=(len(labels), len(labels)))
    scores = be.Scores(3 + noise + noise.T - 2.9 * (labels[:, None] == labels), labels)
    for rate, target in itertools.product(("far", "frr"), (0.1, 0.045, 0.02, 0.01, 0.008)):
        rule = f"{rate}={target}"
        promise = be.check_promise(scores, 1.5, rule)
        assure = {"assure": 0.95} if rate == "far" else {}
        study = be.study_threshold(scores, rule, folds=2, repeats=1, **assure)
        enough = (people * (people - 1) / 2 if rate == "far" else people) >= 3 / target
        too_few = "target-not-shown" in [x.code for x in be.messages(study)]
        needed = study["needs"].subjects_needed.sel(rule=3).item()
        assert too_few == (people < needed) == (not enough)
        high = promise[f"{rate}_high"].item()
        assert (promise.verdict.item() == "shown") == (enough and high <= target)
        if not enough:
            open_promise = arguments(promise, "promise-open")
            assert open_promise["people_to_settle"] >= needed
            assert open_promise["high"] > target
            assert "assured_threshold" not in study or np.isnan(study.assured_threshold)
