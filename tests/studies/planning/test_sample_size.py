"""The size of a test, against the definition of the components and simulated tests."""

import itertools
import statistics

import numpy as np
import pytest
from hypothesis import given, strategies as st
from result_messages import arguments, codes

import bioeval as be
from bioeval.studies.planning import sample_size as planning, variance_components


def by_pairs(tables, symmetric):
    """Return rate, between, template and total, pair of pairs by pair of pairs."""
    subjects = []
    for table in tables:
        cells = [
            (i, j, table[i][j])
            for i in range(len(table))
            for j in range(len(table[0]))
            if table[i][j] == table[i][j] and (i < j or not symmetric)
        ]
        subjects.append(cells)
    all_errors = [y for cells in subjects for *_, y in cells]
    rate = sum(all_errors) / len(all_errors)
    across = [
        x[2] * y[2]
        for a, b in itertools.permutations(range(len(subjects)), 2)
        for x in subjects[a]
        for y in subjects[b]
    ]
    squared = sum(across) / len(across) if across else rate**2
    shared, products_apart = [], []
    for cells in subjects:
        for (i, j, x), (k, m, y) in itertools.permutations(cells, 2):
            share = {i, j} & {k, m} if symmetric else (i == k) or (j == m)
            (shared if share else products_apart).append(x * y)
    total = max(0, sum(y * y for y in all_errors) / len(all_errors) - squared)
    joint = sum(shared) / len(shared) - squared if shared else None
    own = sum(products_apart) / len(products_apart) - squared if products_apart else joint
    between = 0 if own is None else min(max(0, own), total)
    template = 0
    if joint is not None and products_apart:
        template = min(max(0, joint - between), (total - between) / 2)
    return rate, between, template, total


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_components_are_means_over_pairs_of_pairs(seed, symmetric):
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(rng.integers(1, 5)):
        shape = rng.integers(1, 5, 2)
        if symmetric:
            shape = np.array([shape[0] + 1] * 2)
        table = (rng.random(shape) < 0.4).astype(float)
        table[rng.random(shape) < 0.1] = np.nan
        if symmetric:
            table = np.triu(table, 1) + np.triu(table, 1).T
            np.fill_diagonal(table, np.nan)
        tables.append(table)
    if not any((~np.isnan(x)).any() for x in tables):
        return
    result = variance_components.components_of(tables, symmetric=symmetric)
    expected = by_pairs([x.tolist() for x in tables], symmetric)
    np.testing.assert_allclose(
        (result.rate, result.between, result.template, result.total), expected, atol=1e-12
    )


@pytest.mark.slow
def test_the_variance_of_a_subject_is_that_of_its_effects():
    rng = np.random.default_rng(1)
    templates, n = 4, 20_000
    subject, own = rng.normal(size=(n, 1, 1)), 0.7 * rng.normal(size=(n, templates, 1))
    residual = np.triu(0.5 * rng.normal(size=(n, templates, templates)), 1)
    total = subject + own + own.swapaxes(1, 2) + residual + residual.swapaxes(1, 2)
    total[:, np.eye(templates, dtype=bool)] = np.nan
    parts = variance_components.Components(0, 1.0, 0.49, 1 + 2 * 0.49 + 0.25)
    means = np.nanmean(total, axis=(1, 2))
    assert means.var() == pytest.approx(parts.subject_variance(templates, 6), rel=0.05)
    result = variance_components.components_of(total[:3000], symmetric=True)
    assert result.between == pytest.approx(1.0, rel=0.1)
    assert result.template == pytest.approx(0.49, rel=0.1)


def test_the_smallest_plan_is_found():
    options = (0.01, 8.0, 0.02, 0.95)
    people = variance_components.subjects_for_width(*options)
    wider = variance_components.subjects_for_width(0.01, 8.0, 0.02 * 1.0005, 0.95)
    assert wider <= people <= variance_components.subjects_for_width(0.01, 8.0, 0.02 * 0.9995, 0.95)
    assert (
        variance_components.subjects_for_width(0.01, 8.0, 1e-9, 0.95)
        == variance_components.MOST_SUBJECTS
    )


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_jackknife_of_a_pilot_leaves_out_each_subject(symmetric):
    rng = np.random.default_rng(5)
    tables = [(rng.random((3, 3)) < 0.3).astype(float) for _ in range(8)]
    if symmetric:
        tables = [np.triu(x, 1) + np.triu(x, 1).T for x in tables]
        for table in tables:
            np.fill_diagonal(table, np.nan)
    pilots = variance_components.components_without_each(tables, symmetric=symmetric)
    variances = []
    for k, pilot in enumerate(pilots):
        remaining = tables[:k] + tables[k + 1 :]
        rate, _, _, total = by_pairs([x.tolist() for x in remaining], symmetric)
        assert (pilot.rate, pilot.total) == pytest.approx((rate, total), abs=1e-12)
        components = variance_components.components_of(remaining, symmetric=symmetric)
        if pilot.between >= 0 and pilot.template >= 0:
            assert pilot.between == pytest.approx(components.between, abs=1e-12)
        variances.append(pilot.subject_variance(5, 10))
    complete = variance_components.components_of(tables, symmetric=symmetric)
    errors = planning.GenuineErrors(complete, np.array([5]), pilots)
    middle = sum(variances) / 8
    spread = (7 / 8 * sum((x - middle) ** 2 for x in variances)) ** 0.5
    z = statistics.NormalDist().inv_cdf(variance_components.ASSURANCE)
    variance = complete.subject_variance(5, 10) + planning.OF_PILOT * z * spread
    tails = variance_components.beta_kurtosis(complete.rate, variance)
    expected = variance_components.subjects_for_width(variance, tails, 0.01, 0.95)
    assert errors.people(5, 0.01, 0.95) == expected


def test_the_assumptions_that_a_pilot_shows_make_its_plan():
    scores = be.simulate(80, 4, random_state=2)
    plan = be.sample_size(scores, far=0.01, frr_width=0.05, n_templates=4)
    ds = be.verification(scores, far_targets=[0.01])
    assert plan.attrs["threshold"] == float(ds.threshold_at_far[0])
    assert float(plan.frr) == pytest.approx(float(ds.frr_at_far[0]))
    assert int(plan.pilot_subjects) == 80
    wrong = np.asarray(scores.values) > plan.attrs["threshold"]
    tables = []
    for k in range(80):
        table = wrong[4 * k : 4 * k + 4, 4 * k : 4 * k + 4].astype(float)
        np.fill_diagonal(table, np.nan)
        tables.append(table)
    _, between, template, total = by_pairs([x.tolist() for x in tables], True)
    assert float(plan.icc) == pytest.approx(between / total)
    assert float(plan.template_icc) == pytest.approx(template / total)
    plan_of_assumptions = be.sample_size(
        far=0.01, frr_width=0.05, n_templates=4, frr=float(plan.frr), icc=float(plan.icc)
    )
    assert plan_of_assumptions.subjects < plan.subjects < 2 * plan_of_assumptions.subjects


def test_a_pilot_of_probes_and_gallery_in_any_order():
    scores = be.simulate(40, 5, random_state=5)
    values, labels = np.asarray(scores.values), np.asarray(scores.probe_labels)
    order = np.random.default_rng(0).permutation(len(labels))
    options = {"threshold": 3.0, "frr_width": 0.05, "n_templates": 5}
    square = be.sample_size(scores, **options)
    mixed = be.sample_size(be.Scores(values[np.ix_(order, order)], labels[order]), **options)
    assert square.subjects.equals(mixed.subjects)
    probe, gallery = np.arange(200) % 5 < 2, np.arange(200) % 5 >= 2
    part = be.Scores(values[np.ix_(probe, gallery)], labels[probe], labels[gallery])
    plan = be.sample_size(part, **options)
    similar = be.Scores(
        -values[np.ix_(probe, gallery)], labels[probe], labels[gallery], kind="similarity"
    )
    assert plan.subjects.equals(be.sample_size(similar, **{**options, "threshold": -3.0}).subjects)
    assert 0.5 < float(plan.subject_sd[0] / square.subject_sd[0]) < 2


def test_more_of_anything_takes_more_people():
    base = {"far": 1e-3, "frr": 0.02, "icc": 0.2, "frr_width": 0.01, "n_templates": 5}
    people = int(be.sample_size(**base).subjects[0])
    for changed in ({"icc": 0.3}, {"frr": 0.03}, {"frr_width": 0.008}, {"confidence": 0.99},
                 {"n_templates": 4}):  # fmt: skip
        assert int(be.sample_size(**{**base, **changed}).subjects[0]) > people
    rules = be.sample_size(**base)
    assert rules.pairs_for_far.to_series().to_dict() == {3: 3000, 30: 30_000}
    assert rules.subjects_for_far.to_series().to_dict() == {3: 78, 30: 246}
    assert rules.subjects_for_frr.to_series().to_dict() == {3: 150, 30: 1500}


def test_what_is_refused():
    scores = be.simulate(20, 3, random_state=1)
    assumptions = {"frr": 0.02, "icc": 0.2}
    for pilot, options, message in (
        (None, {}, "`frr` is missing"),
        (None, {"frr": 0.1}, "`icc` is missing"),
        (None, {**assumptions, "icc": 2}, "`icc` is 2"),
        (None, {**assumptions, "far": 0}, "`far` is 0"),
        (None, {**assumptions, "frr_width": 0}, "`frr_width` is 0"),
        (None, {**assumptions, "frr_width": 1e-9}, "takes more than 10,000,000,000 subjects"),
        (None, {**assumptions, "n_templates": [3, 2]}, "expected increasing numbers"),
        (None, {**assumptions, "n_templates": 1}, "`n_templates` is 1"),
        (None, {**assumptions, "threshold": 1.0}, "`threshold` needs a pilot"),
        (scores, assumptions, "assumed instead of a pilot"),
        (scores, {"threshold": 1e9}, "no genuine error at the threshold"),
        (scores, {"threshold": -1.0}, "nothing but genuine errors"),
        (be.Scores(np.ones((3, 3)), ["a", "a", "b"]), {"threshold": 0.5}, "has 1 subject with"),
    ):
        with pytest.raises(be.DataError, match=message):
            be.sample_size(pilot, **options)
    with pytest.raises(be.ProtocolError, match="fixed pairs"):
        be.sample_size(be.Scores.from_pairs([0.1, 0.2], [1, 0]))


def test_doubts_are_said():
    few_people = be.sample_size(be.simulate(15, 3, random_state=1), far=0.01, frr_width=0.2)
    assert codes(few_people).count("plan-uncertain") == 2
    wide_plan = be.sample_size(frr=0.02, icc=0.2, frr_width=0.05)
    answers = ["people-for-interval", "people-needed"]
    assert codes(wide_plan) == [*answers, "plan-uncertain"]
    plan = be.sample_size(frr=0.02, icc=0.2)
    assert codes(plan) == answers
    assert arguments(plan, "people-for-interval")["people"] == plan.subjects[0]
    by_rule = arguments(plan, "people-needed")
    assert [by_rule["rule_of_3"], by_rule["rule_of_30"]] == plan.subjects_for_far.values.tolist()
