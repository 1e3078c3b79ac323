"""What a comparison declares: exact replicates, discordant subjects, support, Holm."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import scipy
from named_arguments import raises_about

import bioeval as be
from bioeval.attempts.by_subject import SubjectAttempts
from bioeval.attempts.points import VerificationPoints
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.random import Stream, seed_sequence
from bioeval.scores.blocks import BlockReader
from bioeval.stats.error_curves import MEASURES
from bioeval.studies.compare.compare import holm
from bioeval.studies.compare.counts import PairedAttempts


def by_subject(scores):
    reader = BlockReader(scores)
    return SubjectAttempts(VerificationCounter(reader))


def pair_up(a, b):
    return PairedAttempts.of(by_subject(a), by_subject(b))


def altered(scores, people, seed, worse=0.4):
    """Return the scores with those of some people shifted at random."""
    rng = np.random.default_rng(seed)
    values, labels = scores.values.copy(), scores.probe_labels
    noise = np.abs(rng.normal(0, worse, values.shape))
    noise = np.where(labels[:, None] == labels, noise, -noise)
    touched = np.isin(labels, np.unique(labels)[:people])
    cells = touched[:, None] | touched
    values[cells] = np.maximum(values + (noise + noise.T) / 2, 0)[cells]
    return be.Scores(values, labels)


def points_of(genuine, impostor, targets):
    """EER, FRR and FAR at each target and AUC of lists of distances, from the definitions."""
    f, r = [0.0], [1.0]
    for t in np.unique(np.concatenate([genuine, impostor])):
        f.append((impostor <= t).mean())
        r.append((genuine > t).mean())
    at = next(k for k in range(len(f)) if f[k] >= r[k])
    share = (r[at - 1] - f[at - 1]) / ((f[at] - f[at - 1]) - (r[at] - r[at - 1]))
    eer = f[at - 1] + share * (f[at] - f[at - 1])
    frr = [min(b for a, b in zip(f, r, strict=True) if a <= x) for x in targets]
    far = [min(a for a, b in zip(f, r, strict=True) if b <= x) for x in targets]
    auc = (np.sign(impostor[None] - genuine[:, None]) / 2 + 0.5).mean()
    return eer, frr, far, auc


def test_replicates_are_exact():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(7), 3)
    scores = be.Scores(np.round(rng.random((21, 21)) + (labels[:, None] != labels) / 2, 2), labels)
    weights = Stream(seed_sequence(3), 0).resampled(7, 25)
    targets = np.array([0.2, 0.03, 0.0])
    paired = pair_up(scores, scores)
    asked = VerificationPoints(
        far_target=targets, frr_target=targets, costs=np.array([[0.1, 1, 2], [0.5, 1, 1]])
    )
    result = paired.points(0, weights, asked, MEASURES)
    others = ~np.eye(21, dtype=bool)
    same = labels[:, None] == labels
    for c in range(25):
        w = weights[paired.numbers[labels], c].astype(int)
        genuine = np.repeat(scores.values[same & others], np.broadcast_to(w[:, None], (21, 21))[
            same & others
        ])  # fmt: skip
        impostor = np.repeat(scores.values[~same], np.outer(w, w)[~same])
        eer, frr, far, auc = points_of(genuine, impostor, targets)
        assert result["eer"][c] == pytest.approx(eer, abs=1e-12)
        np.testing.assert_allclose(result["frr_at_far"][:, c], frr, atol=1e-12)
        np.testing.assert_allclose(result["far_at_frr"][:, c], far, atol=1e-12)
        assert result["auc"][c] == pytest.approx(auc, abs=1e-12)
        lists = genuine.tolist(), impostor.tolist(), "distance"
        assert result["eer_hull"][c] == pytest.approx(float(naive.eer_hull(*lists)), abs=1e-12)
        for row, (prior, miss, accept) in zip(result["min_dcf"], asked.costs, strict=True):
            least = min(
                prior * miss * (genuine > t).mean() + (1 - prior) * accept * (impostor <= t).mean()
                for t in [-np.inf, *genuine, *impostor]
            )
            least /= min(prior * miss, (1 - prior) * accept)
            assert row[c] == pytest.approx(least, abs=1e-12)


def test_replicates_without_the_altered_people_differ_by_exactly_0():
    crowd = be.simulate_embeddings(40, 4, within=0.8, random_state=3)
    a = crowd.scores("l2")
    b = altered(a, 3, 0)
    transformed = be.Scores(-np.exp(b.values), b.probe_labels, kind="similarity")
    paired = pair_up(a, transformed)
    weights = Stream(seed_sequence(0), 0).resampled(40, 600)
    asked = VerificationPoints(far_target=np.array([0.1, 0.01]))
    measures = [x for x in MEASURES if x.is_defined(asked)]
    first = paired.points(0, weights, asked, measures)
    second = paired.points(1, weights, asked, measures)
    spared = ~weights[paired.numbers[:3]].any(axis=0)
    assert 10 < spared.sum() < 60
    for name in first:
        assert (first[name][..., spared] == second[name][..., spared]).all()
        assert (first[name] != second[name]).any()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.cases(2)
def test_three_people_are_no_evidence(seed):
    a = be.simulate_embeddings(40, 4, within=0.8, random_state=seed).scores("l2")
    result = be.compare(
        a,
        altered(a, 3, seed),
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=300),
    )
    assert result.difference.sel(measure="AUC") > 0.001
    assert 0 < result.discordant_subjects.sel(measure="AUC") <= 3
    assert result.discordant_subjects.sel(measure="EER") > 6  # the threshold moved
    assert not result.better[:6].any()  # of verification
    assert "independent subjects, and 6 are needed" in result.attrs["conclusions"]


@pytest.mark.slow
def test_one_altered_pair_of_templates_is_no_evidence():
    a = be.simulate_embeddings(40, 4, within=0.8, random_state=1).scores("l2")
    values = a.values.copy()
    values[0, 1] = values[1, 0] = values.max()
    result = be.compare(
        a,
        be.Scores(values, a.probe_labels),
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=300),
    )
    row = result.sel(measure="AUC")
    assert row.difference > 0 and row.difference_low < 0 and row.better == 0
    assert row.discordant_subjects == 1 and np.isnan(row.discordant_at_most)


@pytest.mark.slow
def test_an_end_within_rounding_of_0_is_not_beyond_it():
    """Half of the people change by the least there is: no interval ends beyond half an attempt."""
    a = be.simulate_embeddings(30, 4, within=0.8, random_state=1).scores("l2")
    result = be.compare(
        a,
        altered(a, 20, 1, worse=0.02),
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=300),
    )
    for low, high, half, better in zip(
        result.difference_low.values, result.difference_high.values, result.tolerance.values,
        result.better.values, strict=True,
    ):  # fmt: skip
        assert not better or low > half or high < -half
    row = result.sel(measure="FRR at FAR <= 1 %")
    assert row.tolerance == 0.5 / 360
    assert result.sel(measure="AUC").tolerance == 0.5 / (360 * (120 * 120 - 30 * 16))


def test_unsupported_targets_declare_no_winner():
    crowd = be.simulate_embeddings(30, 4, random_state=1, within=0.3)
    a = crowd.scores("l2")
    b = be.Scores(np.random.default_rng(0).random((120, 120)), crowd.labels)
    result = be.compare(a, b, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=200))
    weak = result.supported == 0
    assert weak.sum() == 4
    assert (result.difference_low.values > result.tolerance.values)[weak].any()
    assert not result.better.where(weak, 0).any() and result.p_adjusted.isnull().equals(weak)
    for sentence, bad in zip(result.attrs["conclusions"].splitlines(), weak.values, strict=True):
        assert ("no conclusion" in sentence) == bad


def test_subjects_decided_differently():
    """Genuine decisions by subject; impostor ones in disjoint pairs of the others."""
    labels = np.repeat(np.arange(8), 2)
    a = np.where(labels[:, None] == labels, 0.2, 0.8)
    b = a.copy()
    b[0, 1] = 0.9  # subject 0, a genuine attempt
    for i, j in ((0, 4), (4, 6), (6, 8), (8, 10)):  # 0-2 shares 0; 2-3-4-5 are a path of 3 pairs
        b[i, j] = 0.1
    paired = pair_up(be.Scores(a, labels), be.Scores(b, labels))
    assert paired.discordant((0.5, 0.5), False) == 1
    assert paired.discordant((0.5, 0.5), True) == 1 + 2
    assert paired.discordant((0.5, np.nan), False) == 8
    assert paired.discordant((np.nan, np.nan), True) == 0


def units_of(a, b, labels):
    """Every set of subjects of a genuine and an impostor attempt in another order, by trying."""
    genuine = [(i, j) for i, j in np.argwhere(labels[:, None] == labels) if i != j]
    impostor = np.argwhere(labels[:, None] != labels)
    i, j = impostor.T
    result = set()
    for g in genuine:
        other = np.sign(a[g] - a[i, j]) != np.sign(b[g] - b[i, j])
        result |= {frozenset([labels[g[0]], *x]) for x in labels[impostor[other]].tolist()}
    return result


def most_disjoint(units, people):
    """The largest number of disjoint sets, by integer programming."""
    if not units:
        return 0
    inside = np.array([[p in unit for unit in units] for p in range(people)], dtype=float)
    limits = scipy.optimize.LinearConstraint(inside, -np.inf, 1)
    ones = np.ones(len(units))
    result = scipy.optimize.milp(-ones, constraints=limits, integrality=ones, bounds=(0, 1))
    return round(-result.fun)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.cases(1)
def test_there_are_as_many_disjoint_units_as_people_who_changed(seed):
    """Of 24 people one to eight are worse, by much or by little; as in a largest family."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(24), 2)
    centre = rng.normal(size=(24, 1, 4)) + 0.4 * rng.normal(size=(24, 2, 4))
    flat = centre.reshape(48, 4)
    a = np.linalg.norm(flat[:, None] - flat, axis=-1)
    b, who = a.copy(), rng.permutation(24)[: seed + 1]
    for p in who:
        i, j = 2 * p, 2 * p + 1
        b[i, j] = b[j, i] = a[i, j] + rng.choice([0.3, 1, 5])
    result = pair_up(be.Scores(a, labels), be.Scores(b, labels)).discordant_order()
    units = units_of(a, b, labels)
    assert result == most_disjoint(units, 24)
    changed = {p for p in who.tolist() if any(p in unit for unit in units)}
    assert result <= len(changed) <= seed + 1


@pytest.mark.parametrize("seed", range(6))
def test_disjoint_units_of_another_order(seed):
    """Few people, most of whom changed: at most one unit less than in a largest family."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(9), 2)
    a = np.round(rng.random((18, 18)) + (labels[:, None] != labels), 1)
    b = a.copy()
    cells = rng.integers(0, 18, (9, 2))
    b[cells[:, 0], cells[:, 1]] = np.round(2 * rng.random(9), 1)
    result = pair_up(be.Scores(a, labels), be.Scores(b, labels)).discordant_order()
    most = most_disjoint(units_of(a, b, labels), 9)
    assert max(most - 1, 1) <= result <= most


def test_holm(capsys):
    """The example: 4 tests, of which one is undefined."""
    p = np.array([0.01, np.nan, 0.04, 0.03])
    np.testing.assert_allclose(holm(p), [0.03, np.nan, 0.06, 0.06])
    crowd = be.simulate_embeddings(30, 4, random_state=1, within=0.8)
    systems = crowd.scores("l2"), crowd.scores("linf")
    result = be.compare(
        *systems,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=300),
        adjust="holm",
    )
    assert result.attrs["adjust"] == "holm"
    assert ((result.better == 0) | (result.p_adjusted <= 0.05)).all()
    np.testing.assert_array_less(result.p_value - 1e-15, result.p_adjusted.fillna(1))
    plain = be.compare(
        *systems, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=300)
    )
    lost = (plain.better != 0) & (result.better == 0)
    assert lost.any()
    be.show(plain)
    shown = capsys.readouterr().out
    assert "Holm" in str(result.attrs) and "tested measures)" in result.attrs["answer"]
    assert "Holm" not in str(plain.attrs) and "Holm" not in shown
    for label in plain.measure.values[lost]:  # the sentence and the verdicts are those of `better`
        assert str(label).partition(" at ")[0] in plain.attrs["answer"]
    with raises_about(be.DataError, "adjust"):
        be.compare(*systems, adjust="bonferroni")


@pytest.mark.slow
def test_many_attempts_are_compared_on_a_grid(monkeypatch):
    """Beyond the limit: the same values; subjects counted among some of them."""
    crowd = be.simulate_embeddings(30, 4, random_state=1, within=0.8)
    systems = crowd.scores("l2"), crowd.scores("linf")
    exact = be.compare(
        *systems, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=300)
    )
    for module in ("studies.compare.counts", "studies.compare.measures"):
        monkeypatch.setattr(f"bioeval.{module}.EXACT_ATTEMPTS", 10_000)
    result = be.compare(
        *systems, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=300)
    )
    np.testing.assert_array_equal(result.value_a, exact.value_a)
    # The draws are others; what the impostor attempts do not support is too uncertain to compare.
    known = exact.supported.values == 1
    np.testing.assert_allclose(result.difference_low[known], exact.difference_low[known], atol=0.02)
    assert (result.discordant_subjects <= exact.discordant_subjects).all()
    assert result.discordant_subjects.sel(measure="EER") > 3


@pytest.mark.parametrize("subjects", [1, 2, 8])
def test_few_subjects_of_many_templates(monkeypatch, subjects):
    """Their attempts are too many to list even of one subject: some templates of each are."""
    for module in ("studies.compare.counts", "studies.compare.measures"):
        monkeypatch.setattr(f"bioeval.{module}.EXACT_ATTEMPTS", 300)
    a, b = (be.simulate(subjects, 20, within=w, random_state=3) for w in (0.5, 1.0))
    result = be.compare(a, b, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100))
    assert (result.discordant_subjects <= subjects).all()
    if subjects == 8:
        assert result.discordant_subjects.sel(measure="EER") >= 2
