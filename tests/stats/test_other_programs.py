"""The same limits elsewhere: which public numbers SciPy, statsmodels and a paper give, too."""

import numpy as np
import pytest
import scipy
from compared import by_measure
from optional import optional_import

import bioeval as be

PEOPLE, EACH, Z = 40, 4, scipy.stats.norm.ppf(0.975)
COUNTS = [(0, 30), (1, 30), (3, 100), (29, 30), (30, 30), (17, 12_345)]


@pytest.fixture(scope="module")
def scores():
    return be.simulate(PEOPLE, EACH, within=0.9, random_state=3)


@pytest.fixture(scope="module")
def threshold(scores):
    return be.verification(scores, far_targets=[0.05]).threshold_at_far.item()


@pytest.fixture(scope="module")
def genuine(scores, threshold):
    """False rejects and genuine attempts of each person, each pair of templates once."""
    errors, attempts = _counts(scores, scores.values > threshold)
    return errors.diagonal(), attempts.diagonal()


@pytest.fixture(scope="module")
def impostor(scores, threshold):
    """False accepts and impostor attempts of each two people, in both orders."""
    errors, attempts = _counts(scores, scores.values <= threshold)
    for table in (errors, attempts):
        np.fill_diagonal(table, 0)
    return errors + errors.T, attempts + attempts.T


def _counts(scores, wrong):
    is_counted = np.triu(np.ones(wrong.shape, dtype=int), 1)
    shape = PEOPLE, EACH, PEOPLE, EACH
    return tuple(x.reshape(shape).sum(axis=(1, 3)) for x in (is_counted * wrong, is_counted))


# ------------------------------------------------------------------------- independent attempts


@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize(("errors", "attempts"), COUNTS)
def test_binomial_limits_are_those_of_scipy(errors, attempts, confidence):
    test = scipy.stats.binomtest(errors, attempts)
    for limits_of, method in ((be.stats.wilson, "wilson"), (be.stats.clopper_pearson, "exact")):
        scipy_limits = test.proportion_ci(confidence, method)
        np.testing.assert_allclose(
            limits_of(errors, attempts, confidence), scipy_limits, atol=1e-12
        )
    for side, alternative in (("lower", "greater"), ("upper", "less")):
        test = scipy.stats.binomtest(errors, attempts, alternative=alternative)
        limits = be.stats.clopper_pearson(errors, attempts, confidence, side)
        np.testing.assert_allclose(limits, test.proportion_ci(confidence), atol=1e-12)
    if not errors:
        bound = be.stats.zero_error_bound(attempts, confidence)
        np.testing.assert_allclose(bound, test.proportion_ci(confidence).high, atol=1e-12)


# ------------------------------------------------------------------------- people


@pytest.mark.parametrize("rate", ["frr", "far"])
def test_other_draws_of_scipy_give_nearly_the_same_percentiles(rate, scores, threshold, request):
    errors, attempts = request.getfixturevalue("genuine" if rate == "frr" else "impostor")
    method = be.stats.IntervalMethod("subject-bootstrap", replicates=5000)
    ds = be.verification(scores, thresholds=[threshold], interval=method)

    def rate_of(people, axis):
        people = people.astype(int)
        if errors.ndim == 1:
            return errors[people].sum(axis=axis) / attempts[people].sum(axis=axis)
        pairs = people[..., :, None], people[..., None, :]  # a person and its copy have none
        return errors[pairs].sum(axis=(-2, -1)) / attempts[pairs].sum(axis=(-2, -1))

    scipy_result = scipy.stats.bootstrap(
        (np.arange(PEOPLE),), rate_of, n_resamples=5000, method="percentile", batch=500,
        rng=np.random.default_rng(1),
    ).confidence_interval  # fmt: skip
    limits = ds[f"{rate}_low"].item(), ds[f"{rate}_high"].item()
    np.testing.assert_allclose(limits, scipy_result, rtol=0.05)


@pytest.mark.slow
def test_limits_of_frr_are_nearly_those_of_a_model_clustered_by_person(scores, threshold, genuine):
    optional_import("statsmodels")
    api = optional_import("statsmodels.api")
    errors, attempts = genuine
    person = np.repeat(np.arange(PEOPLE), attempts)
    wrong = np.concatenate([np.arange(n) < x for x, n in zip(errors, attempts, strict=True)])
    # On the logit scale: the jackknife takes t, and logits themselves in place of their slope.
    logistic = api.GLM(wrong.astype(float), np.ones((len(wrong), 1)), api.families.Binomial())
    ends = logistic.fit(cov_type="cluster", cov_kwds={"groups": person}).conf_int()[0]
    ds = be.verification(scores, thresholds=[threshold], interval="people")
    low, high = scipy.special.logit([ds.frr_low.item(), ds.frr_high.item()])
    # The model counts nobody twice: our upper limit is around the rate that does.
    middle, raised = scipy.special.logit([ds.frr.item(), raised_by_two(errors, attempts)])
    half = np.ptp(ends) / 2
    assert 1 < (middle - low) / half < 1.15 and 1 < (high - raised) / half < 1.15


def raised_by_two(errors, attempts):
    """The rate with the two people counted twice without whom it is smallest."""
    twice = np.argsort((errors.sum() - errors) / (attempts.sum() - attempts))[:2]
    return (errors.sum() + errors[twice].sum()) / (attempts.sum() + attempts[twice].sum())


def pseudo_values(value, without):
    """Tukey's pseudo-values: their standard error is the standard error of the jackknife."""
    n = len(without)
    return n * value - (n - 1) * np.asarray(without)


def effective(value, without):
    """Effective attempts, from standard errors of pseudo-values, of rates and of logits."""

    def trials(scaled, slope):
        quantile = scipy.stats.t.ppf(0.975, freedom_of(scaled[1:]))
        variance = (scipy.stats.sem(pseudo_values(scaled[0], scaled[1:])) * slope) ** 2
        return value * (1 - value) / variance * (Z / quantile) ** 2

    columns = np.append(value, without)
    return min(trials(columns, 1), trials(scipy.special.logit(columns), value * (1 - value)))


def freedom_of(without):
    """Satterthwaite's degrees of freedom."""
    squares = (np.asarray(without) - np.mean(without)) ** 2
    freedom = 2 * squares.sum() ** 2 / ((squares**2).sum() - squares.sum() ** 2 / len(without))
    return min(freedom, len(without) - 1)


def test_limits_of_rates_are_exact_limits_of_effective_attempts(scores, threshold, genuine):
    """As statsmodels has the limits of Clopper and Pearson, and SciPy the standard error."""
    optional_import("statsmodels")
    proportion = optional_import("statsmodels.stats.proportion")
    ds = be.verification(scores, thresholds=[threshold], interval="people")
    errors, attempts = genuine
    rates_without = (errors.sum() - errors) / (attempts.sum() - attempts)
    raised = raised_by_two(errors, attempts)  # the upper limit is around it
    cases = [(ds.frr.item(), rates_without, (ds.frr_low.item(), ds.frr_high.item()), raised)]
    first = be.closed_set(scores, interval="people").sel(rank=1)
    labels, rates_without = np.asarray(scores.probe_labels), []
    for person in np.unique(labels):
        remaining = np.flatnonzero(labels != person)
        rates_without.append(
            be.closed_set(scores.select(remaining, remaining)).cms.sel(rank=1).item()
        )
    cms = first.cms.item()
    cases.append((cms, rates_without, (first.cms_low.item(), first.cms_high.item()), cms))
    for rate, rates_of_others, limits, upper in cases:
        trials = effective(rate, rates_of_others)
        scipy_limits = [
            proportion.proportion_confint(x * trials, trials, 0.05, "beta") for x in (rate, upper)
        ]
        np.testing.assert_allclose(limits, (scipy_limits[0][0], scipy_limits[1][1]), rtol=1e-9)


@pytest.mark.slow
def test_limits_of_a_difference_are_t_limits_of_pseudo_values():
    crowd = be.simulate_embeddings(30, 4, within=0.8, random_state=1)
    # Of few values, which are all thresholds.
    pair = [be.Scores(crowd.scores(x).values.round(1), crowd.labels) for x in ("l2", "l1")]
    row = be.compare(*pair, measures=["auc"]).isel(system=0, other_system=1)
    labels = np.asarray(crowd.labels)

    def difference(kept):
        first_auc, second_auc = (be.verification(x.select(kept, kept)).auc.item() for x in pair)
        return first_auc - second_auc

    differences_without = [difference(np.flatnonzero(labels != x)) for x in np.unique(labels)]
    pseudo = pseudo_values(row.auc_difference.item(), differences_without)
    spread = scipy.stats.sem(pseudo)
    freedom = freedom_of(differences_without)
    scipy_limits = scipy.stats.t.interval(0.95, freedom, row.auc_difference.item(), spread)
    limits = row.auc_difference_low.item(), row.auc_difference_high.item()
    np.testing.assert_allclose(limits, scipy_limits, rtol=1e-6)
    p_value = 2 * scipy.stats.t.sf(abs(row.auc_difference.item()) / spread, freedom)
    assert row.auc_p_value.item() == pytest.approx(p_value, rel=1e-5)


def test_p_values_of_several_measures_are_adjusted_as_by_statsmodels():
    optional_import("statsmodels")
    multitest = optional_import("statsmodels.stats.multitest")
    crowd = be.simulate_embeddings(30, 4, within=0.8, random_state=1)
    ranking = be.compare(crowd.scores("l2"), crowd.scores("l1"), far_targets=[0.2, 0.1])
    rows = [x.isel(system=0, other_system=1) for x in by_measure(ranking).values()]
    tested = [x for x in rows if not np.isnan(x.p_value)]
    assert len(tested) >= 4
    statsmodels_p_values = multitest.multipletests([x.p_value for x in tested], method="holm")[1]
    np.testing.assert_allclose([x.p_adjusted for x in tested], statsmodels_p_values, rtol=1e-12)


def test_limits_over_folds_are_t_limits_with_the_corrected_variance():
    values, test, train = [0.02, 0.04, 0.03, 0.035, 0.05], 10, 40
    limits = be.stats.nadeau_bengio(values, test_size=test, train_size=train)
    spread = np.std(values, ddof=1) * np.sqrt(1 / len(values) + test / train)
    scipy_limits = scipy.stats.t.interval(0.95, len(values) - 1, np.mean(values), spread)
    np.testing.assert_allclose([limits.low, limits.high], scipy_limits, rtol=1e-9)


# ------------------------------------------------------------------------- a paper


def plug_in(errors, attempts):
    """The variance of a rate, as Fogliato, Patil and Perona (2024) estimate it.

    Of genuine attempts from the people's deviations; of impostor attempts from those of pairs of
    people, and from the products of those that share a person.
    """
    rate = errors.sum() / attempts.sum()
    away = errors - rate * attempts
    if errors.ndim == 1:
        return (away**2).sum() / attempts.sum() ** 2
    sharing = 0.0
    for first_person in range(len(away)):
        for second_person in range(len(away)):
            sharing += sum(
                away[first_person, second_person] * away[first_person, c]
                for c in range(len(away))
                if c != second_person
            )
    return (2 * (away**2).sum() + 4 * max(sharing, 0.0)) / attempts.sum() ** 2


@pytest.mark.parametrize("kind", ["genuine", "impostor"])
def test_the_wilson_interval_of_fogliato_patil_and_perona(kind, request, scores, threshold):
    errors, attempts = request.getfixturevalue(kind)
    rate, variance = errors.sum() / attempts.sum(), plug_in(errors, attempts)
    effective = rate * (1 - rate) / variance
    half = Z * np.sqrt((rate * (1 - rate) + Z**2 / (4 * effective)) / effective)
    ends = rate + Z**2 / (2 * effective) + half * np.array([-1, 1])
    low, high = ends / (1 + Z**2 / effective)
    np.testing.assert_allclose(be.stats.wilson(rate * effective, effective), (low, high))
    # The default is a little wider: Student's distribution, and exact limits.
    ds = be.verification(scores, thresholds=[threshold], interval="people")
    name = "frr" if kind == "genuine" else "far"
    ends = ds[f"{name}_low"].item(), ds[f"{name}_high"].item()
    # Two people count twice in the upper limit.
    assert 0.85 * low < ends[0] < low and high < ends[1] < 1.25 * high
