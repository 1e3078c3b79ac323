"""The zoo: every variable against loops, the halves of templates, and the tests of existence."""

import itertools
import math

import naive_zoo
import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st
from named_arguments import raises_about
from result_messages import arguments, codes
from scipy import stats

import bioeval as be
from bioeval.base.random import Stream, seed_sequence
from bioeval.scores.codes import Codes
from bioeval.studies.zoo import (
    GROUPS,
    _deviations,
    attempts_by_subject,
    draw_halves,
    goat_test,
    opponents_test,
)

NAMES = ("genuine_mean", "impostor_mean", "impostor_mean_as_probe", "impostor_mean_as_claimed")


def stream(key: int = 0) -> Stream:
    return Stream(seed_sequence(0), key)


def people_of(scores: be.Scores) -> Codes:
    return Codes(scores.probe_labels, scores.gallery_labels)


@given(st.data())
def test_every_variable_is_that_of_the_loops(data):
    case = data.draw(strategies.matrices(masks=("none", "labelled")))
    threshold = float(data.draw(strategies.thresholds(case, max_size=1))[0])
    quantile = data.draw(st.sampled_from((0.01, 0.25, 0.4, 0.5)))
    arguments = case.naive()
    people = naive_zoo.subjects(**arguments)
    options = {"threshold": threshold, "quantile": quantile, "permutations": 1}
    scores = be.Scores(**case.scores())
    if len(people) < 2:
        with pytest.raises(be.DataError, match="only one subject"):
            be.zoo(scores, **options)
        return
    sign = -1 if case.kind == "similarity" else 1
    attempts = naive_zoo.attempts(**arguments)
    expected = naive_zoo.statistics(attempts, people, sign * threshold)
    animals = naive_zoo.animals(expected["genuine_mean"], expected["impostor_mean"], str(quantile))
    if animals is None:
        with pytest.raises(be.DataError, match="more than there are"):
            be.zoo(scores, **options)
        return
    ds = be.zoo(scores, **options)
    assert ds.subject.values.tolist() == people
    assert ds.threshold.item() == threshold
    for name, values in expected.items():
        variable = ds[name] if isinstance(name, str) else ds[name[0]].sel(error=name[1])
        if variable.dtype == np.int64:
            assert variable.values.tolist() == values, name
        elif name in NAMES:
            np.testing.assert_allclose(
                variable, np.multiply(sign, values), 1e-9, 1e-12, err_msg=str(name)
            )
        else:
            np.testing.assert_allclose(variable, values, rtol=1e-12, err_msg=str(name))
    # By the means as they were summed: those of loops are rounded once.
    means = (sign * ds[name].values for name in ("genuine_mean", "impostor_mean"))
    animals = naive_zoo.animals(*map(np.ndarray.tolist, means), str(quantile))
    assert ds.animal_of_subject.values.tolist() == animals
    assert ds.animal_count.values.tolist() == [animals.count(x) for x in ds.animal.values]


@given(st.data())
def test_halves_are_those_of_the_loops(data):
    case = data.draw(strategies.matrices(masks=("none", "labelled")))
    scores, arguments = be.Scores(**case.scores()), case.naive()
    people = naive_zoo.subjects(**arguments)
    person = people_of(scores)
    assert person.values.tolist() == people
    halves = draw_halves(scores, person, stream())
    drawn = tuple(x.tolist() for x in halves)
    expected = naive_zoo.half_means(people, *drawn, GROUPS, **arguments)
    for name, attempts in zip(
        expected, attempts_by_subject(scores, person, halves, 0.0), strict=True
    ):
        expected_means = np.reshape(expected[name], attempts.half_means.shape)
        np.testing.assert_allclose(attempts.half_means, expected_means, 1e-9, 1e-12, err_msg=name)


def faces(**given) -> be.Scores:
    given = {"n_subjects": 12, "n_templates": (2, 6), "random_state": 3, **given}
    return be.simulate(**given)


@pytest.mark.parametrize("rule", ["eer", "far=0.01", "hter", "accuracy", "cost=0.1,1,2"])
def test_a_rule_chooses_on_the_same_attempts(rule):
    scores = faces()
    ds = be.zoo(scores, threshold=rule, permutations=1)
    study = be.study_threshold(scores, rule, folds=2, repeats=1)
    assert ds.threshold.item() == study.threshold.item()
    result = be.verification(scores, thresholds=[ds.threshold.item()])
    number = float(result.fr[0]), float(result.fa[0]), float(result.fa[0])
    assert tuple(ds.errors.sum("subject").values) == tuple(ds.all_errors.values) == number
    assert ds.attempts.sel(error="fr").sum() == result.genuine_attempts
    rates = float(result.frr[0]), float(result.far[0]), float(result.far[0])
    assert ds.all_rate.values.tolist() == pytest.approx(rates)
    assert ds.attrs["chosen_on"].startswith("the same data")


@pytest.mark.parametrize("quantile", [0, 0.51, -1, float("nan"), "half"])
def test_quantiles_that_cannot_be(quantile):
    with raises_about(be.DataError, "quantile"):
        be.zoo(faces(), quantile=quantile)


def test_a_quantile_is_a_decimal_number():
    """0.1 of 30 is 3, though 0.1 * 30 is more in binary."""
    ds = be.zoo(faces(n_subjects=30, n_templates=2), quantile=0.1, threshold=4.0, permutations=1)
    assert ds.animal_expected.values.tolist() == [9 / 30] * 4


@pytest.mark.parametrize("score", [0.0, 0.3])
def test_identical_subjects_are_no_animals(score):
    ds = be.zoo(be.Scores(np.full((34, 34), score), np.repeat(np.arange(10), [3] * 6 + [4] * 4)))
    assert ds.animal_count.values.tolist() == ds.animal_expected.values.tolist() == [0] * 4
    assert set(ds.animal_of_subject.values) == {"none"}


def test_subjects_that_tie_at_the_limit_are_no_animals():
    """Of 8 people, 1 is best by the genuine mean, and 2 who tie would be the second best."""
    distance = np.full((16, 16), 5.0)
    for person, near in enumerate([1, 2, 2, 3, 3, 3, 4, 4]):
        distance[2 * person, 2 * person + 1] = distance[2 * person + 1, 2 * person] = near
    ds = be.zoo(be.Scores(distance, np.repeat(np.arange(8), 2)), threshold=4.5)
    assert set(ds.animal_of_subject.values) == {"none"}  # impostor means are equal
    distance[[0, 1], 2:] = distance[2:, [0, 1]] = 9.0  # the first is far from all others
    distance[[14, 15], 2:14] = distance[2:14, [14, 15]] = 4.0  # and the last is near
    ds = be.zoo(be.Scores(distance, np.repeat(np.arange(8), 2)), threshold=4.5)
    assert ds.animal_of_subject.values.tolist() == ["dove", *["none"] * 6, "worm"]
    assert ds.animal_expected.values.tolist() == [1 / 8, 2 / 8, 1 / 8, 2 / 8]


@given(st.integers(0, 1000), st.booleans(), st.booleans())
def test_halves_of_templates_and_of_sessions(seed, square, sessions):
    rng = np.random.default_rng(seed)
    probes, templates = 12, 15
    gallery = rng.integers(0, 4, templates)
    probe = gallery if square else rng.integers(0, 5, probes)
    meta = [{"session": rng.integers(0, 3, len(x))} if sessions else None for x in (probe, gallery)]
    scores = be.Scores(
        np.zeros((len(probe), templates)), probe, None if square else gallery,
        probe_meta=meta[0], gallery_meta=None if square else meta[1],
    )  # fmt: skip
    of_probe, of_gallery, group = draw_halves(scores, people_of(scores), stream(seed))
    if square:
        assert (of_probe == of_gallery).all()
    sizes = np.bincount(group)
    assert sizes.max() - sizes.min() <= 1 and len(sizes) == min(GROUPS, len(group))
    columns = scores.probe_meta.get("session"), scores.gallery_meta.get("session")
    for person in range(5):
        sides = [(of_probe, probe, columns[0]), (of_gallery, gallery, columns[1])]
        parts = [
            {(h, x) for h, who, x in zip(half, subject, itertools.count() if unit is None else unit,
                                         strict=False) if who == person}
            for half, subject, unit in sides
        ]  # fmt: skip
        share_sessions = bool(sessions and {x for _, x in parts[0]} & {x for _, x in parts[1]})
        for part in [parts[0] | parts[1]] if share_sessions else parts:
            count = [sum(h == k for h, _ in part) for k in (0, 1)]
            assert len({x for _, x in part}) == sum(count)  # a session is in one half alone
            assert count[0] - count[1] in (0, 1)


def test_a_part_of_a_square_matrix_shares_no_template_between_halves():
    scores = faces(n_templates=6).select(probes=range(0, 60), gallery=range(10, 70))
    of_probe, of_gallery, _ = draw_halves(scores, people_of(scores), stream())
    place = dict(zip(scores.probe_ids, of_probe, strict=True))
    assert all(place.get(x, h) == h for x, h in zip(scores.gallery_ids, of_gallery, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[2, 2, 2, 2, 5, 5, 5, 5], [2, 2, 3, 3, 5, 6, 6, 7]])
def test_the_test_of_halves_against_all_permutations(sizes):
    """Sizes of fewer than four subjects are permuted together with the next."""
    rng = np.random.default_rng(2)
    first_half, second_half = rng.integers(0, 5, (2, 8)).astype(float)  # with ties
    sizes = np.array(sizes)
    exact = [
        stats.spearmanr(
            first_half, np.concatenate([second_half[list(x)], second_half[list(y)]])
        ).statistic
        for x in itertools.permutations(range(4)) for y in itertools.permutations(range(4, 8))
    ]  # fmt: skip
    observed = stats.spearmanr(first_half, second_half).statistic
    correlation, found, _ = goat_test(np.c_[first_half, second_half], sizes, 20_000, stream())
    assert correlation == pytest.approx(observed)
    p = np.mean(np.array(exact) >= observed - 1e-12)
    assert found == pytest.approx(p, abs=4 * math.sqrt(p * (1 - p) / 20_000))


def test_the_test_of_opponents_against_loops():
    """The statistic, and replicates of signs and of permutations, for some sizes and holes."""
    rng = np.random.default_rng(4)
    first, second = rng.normal(size=(2, 9, 5))
    first[2, 1] = second[5, 3] = np.nan
    sizes = np.array([2, 2, 2, 2, 3, 3, 3, 3, 3])
    first_deviations, second_deviations = (_deviations(x) for x in (first, second))
    assert max(np.abs(first_deviations).max(), np.abs(second_deviations).max()) == 2**18 and (
        first_deviations[2, 1],
        second_deviations[5, 3],
    ) == (0, 0)
    means = first - np.nanmean(first, axis=0)
    np.testing.assert_allclose(
        first_deviations / 2**18, np.nan_to_num(means / np.nanmax(abs(means))), atol=1e-5
    )
    observed = naive_zoo.products_of_opponents(first_deviations, second_deviations, [1] * 5)
    first_sums, second_sums = (
        first_deviations.sum(axis=1).tolist(),
        second_deviations.sum(axis=1).tolist(),
    )
    correlation, found, _ = opponents_test(
        np.stack([first, second], axis=1), sizes, 20_000, stream()
    )
    spread = math.sqrt(sum(u * u for u in first_sums) * sum(u * u for u in second_sums))
    assert correlation == pytest.approx(5 / 4 * observed / spread)
    flips = [
        naive_zoo.products_of_opponents(first_deviations, second_deviations, signs)
        for signs in itertools.product([-1, 1], repeat=5)
    ]
    permuted = []
    for _ in range(2000):
        order = [*rng.permutation(4), *(4 + rng.permutation(5))]
        permuted.append(sum(u * second_sums[k] for u, k in zip(first_sums, order, strict=True)))
    p = np.mean(np.add.outer(permuted, flips) >= observed)
    assert found == pytest.approx(p, abs=0.03)


def test_the_least_p_value_and_subjects_left_out():
    means = np.arange(9.0)
    size = np.full(9, 4)
    p_value = goat_test(np.c_[means, 2 * means], size, 99, stream())[1]
    assert p_value == pytest.approx(0.01, abs=0.011)
    means[0] = np.nan
    assert goat_test(np.c_[means, means], size, 99, stream())[2] == 8
    means[1] = np.nan
    halves = np.c_[means, means]
    for too_few in (
        goat_test(halves, size, 99, stream()),
        opponents_test(np.stack([halves] * 2, axis=1), size, 99, stream()),
    ):
        np.testing.assert_equal(too_few, (math.nan, math.nan, 7))
    for equal_scores in (
        opponents_test(np.ones((9, 2, 3)), size, 99, stream()),
        goat_test(np.c_[np.ones(9), np.arange(9.0)], size, 99, stream()),
    ):
        np.testing.assert_equal(equal_scores[:2], (math.nan, 1))


def test_failed_comparisons_are_no_infinite_scores():
    values = np.array(faces().values)
    values[0, 1] = values[1, 0] = np.nan
    for score, expected in ((values[0, 2], False), (np.inf, True)):
        values[0, 2] = values[2, 0] = score
        ds = be.zoo(be.Scores(values, faces().probe_labels, nan="reject"), permutations=9)
        assert ("infinite-scores-left-out" in codes(ds)) is expected
        assert int(ds.non_finite) == 2 + 2 * expected


def test_too_few_templates_are_said():
    ds = be.zoo(faces(n_templates=3))
    assert np.isnan(ds.p).values.tolist() == [True, False, False]
    untested = arguments(ds, "animals-not-tested")
    assert untested["animals"] == "goats" and "4 templates" in untested["why"]
    single_templates = be.simulate(10, 1, layout="probe-against-gallery", probes=2, random_state=1)
    ds = be.zoo(single_templates)
    assert np.isnan(ds.p).values.tolist() == [True, False, True]
    assert any("2 probes and 2 gallery templates" in x.sentence for x in be.messages(ds))


def test_what_cannot_be_a_zoo():
    pairs = be.Scores.from_pairs([1.0, 2.0], [1, 0], subjects=[["a", "a"], ["a", "b"]])
    with pytest.raises(be.ProtocolError, match="a zoo needs a matrix"):
        be.zoo(pairs)
    with pytest.raises(be.ProtocolError, match="only an order|order"):
        be.zoo(be.Scores(np.ones((4, 4)), [1, 1, 2, 2], kind="order"))
    with pytest.raises(be.DataError, match="only one subject"):
        be.zoo(be.Scores(np.ones((2, 2)), ["a", "a"]), threshold=1.0)
    with pytest.raises(be.ProtocolError, match="there is no genuine attempt"):
        be.zoo(be.Scores(np.ones((3, 3)), list("abc")))
    with raises_about(be.DataError, "threshold"):
        be.zoo(faces(), threshold="best")
    with pytest.raises(be.DataError, match="too large to be averaged"):
        be.zoo(be.Scores(np.full((6, 6), 1.5e308), [1, 1, 2, 2, 3, 3]), threshold=1.0)
    with pytest.raises(be.DataError, match="2 best and 2 worst"):
        be.zoo(be.Scores(np.ones((6, 6)), [1, 1, 2, 2, 3, 3]), threshold=1.0, quantile=0.5)


def test_singletons_alone_have_no_animals():
    ds = be.zoo(be.Scores(np.arange(9.0).reshape(3, 3), list("abc")), threshold=4.0)
    rejects = ds.sel(error="fr")
    assert rejects.errors.values.tolist() == [0, 0, 0]
    assert np.isnan(rejects.rate).all() and not rejects.half_of_errors
    assert set(ds.animal_of_subject.values) == {"none"} and np.isnan(ds.animal_expected).all()
    assert ds.errors.sel(error="fa_as_probe").values.tolist() == [2, 1, 0]


def test_who_fails_most_is_by_rate_and_not_by_count():
    """Ann fails in all of her 2 attempts, bob in 4 of 6: more errors, and the lower rate.

    Distances of mates, both ways: ann's pair is far, of bob's three pairs and cy's one some.
    """
    distances = np.full((9, 9), 9.0)
    mates = {(0, 1): 8.0, (2, 3): 8.0, (2, 4): 8.0, (3, 4): 1.0, (5, 6): 1.0, (7, 8): 1.0}
    for (i, j), distance in mates.items():
        distances[i, j] = distances[j, i] = distance
    labels = ["ann"] * 2 + ["bob"] * 3 + ["cy"] * 2 + ["dee"] * 2
    ds = be.zoo(be.Scores(distances, labels), threshold=2.0)
    rejects = ds.sel(error="fr")
    counts_of = {
        x: (int(rejects.errors.sel(subject=x)), int(rejects.attempts.sel(subject=x)))
        for x in labels
    }
    assert counts_of == {"ann": (2, 2), "bob": (4, 6), "cy": (0, 2), "dee": (0, 2)}
    frame = be.to_frame(ds).query("measure == 'rate' and error == 'fr'").set_index("subject")
    assert frame.loc[["ann", "bob"], "value"].tolist() == pytest.approx([1, 4 / 6])
    answer = arguments(ds, "most-errors")
    assert answer.items() >= {"subjects": ["ann"], "rate": 1.0, "errors": 2, "attempts": 2}.items()
    assert answer["share"] == 2 / 6 and be.messages(ds)[0].sentence in be.to_markdown(ds)
