"""Searches among any of the templates of each subject: means over all choices, by enumeration."""

from __future__ import annotations

import itertools
import math

import naive_promise as twin
import numpy as np
import pytest
from named_arguments import raises_about

import bioeval as be
from bioeval.cli import main
from bioeval.scores import BlockReader
from bioeval.stats import IntervalOptions, limits_of_searches
from bioeval.studies.assurance.pairs_of_people import SearchShares
from bioeval.tallies import ListedSearches, list_searches, parse_use

SHORT = {"task": "open_set", "folds": 3, "repeats": 1, "replicates": 200}


def small(seed=0, *, sizes=(2, 3, 1, 4), digits=1, kind="distance", holes=0.0, dtype=np.float64):
    """Four people enrolled, six not, with unequal numbers of templates and searches, and ties."""
    rng = np.random.default_rng(seed)
    names = np.array([f"p{i}" for i in range(len(sizes) + 6)])
    gallery = np.repeat(np.arange(len(sizes)), sizes)
    gallery = rng.permutation(gallery)
    probes = np.repeat(np.arange(len(names)), rng.integers(1, 4, len(names)))
    points = rng.normal(size=(len(names), 3))
    sides = [points[x] + 0.5 * rng.normal(size=(len(x), 3)) for x in (probes, gallery)]
    d = np.linalg.norm(sides[0][:, None] - sides[1][None], axis=2).round(digits).astype(dtype)
    d[rng.random(d.shape) < holes] = np.nan
    sign = 1 if kind == "distance" else -1
    return be.Scores(sign * d, names[probes], names[gallery], kind=kind, nan="exclude")


def listed(scores, enrol, *, rank_unit="template", fusion="min"):
    use = parse_use(None, "multi", fusion, enrol)
    return list_searches(BlockReader(scores), use, rank_unit)


def choices_of(labels, number):
    """Every choice of templates, each as one list of columns."""
    own = [np.flatnonzero(labels == name).tolist() for name in dict.fromkeys(labels.tolist())]
    each = [itertools.combinations(x, min(number, len(x))) for x in own]
    return [sorted(itertools.chain(*some)) for some in itertools.product(*each)]


def searches_by_loops(scores, number, fusion="min"):
    """Of each probe the pairs of distance and chance; infinite where its mate is not found.

    A choice is of the templates that are usable for the probe.
    """
    sign = 1 if scores.kind == "distance" else -1
    labels, fuse = scores.gallery_labels, {"min": min, "max": max}[fusion]
    found = []
    for row, name in zip(sign * scores.values.astype(float), scores.probe_labels, strict=True):
        usable = np.flatnonzero(~np.isnan(row))
        enrolled = name in labels
        if not len(usable) or (enrolled and name not in labels[usable]):
            found.append((enrolled, []))
            continue
        distances = []
        choices = choices_of(labels[usable], number)
        for choice in choices:
            of_subject = {}
            for column in usable[choice]:
                of_subject.setdefault(labels[column], []).append(row[column])
            fused = {label: fuse(x) for label, x in of_subject.items()}
            mate = fused.pop(name, None)
            if not enrolled:
                distances.append(min(fused.values()))
            else:  # with ties the mate is last
                distances.append(mate if mate < min(fused.values(), default=np.inf) else np.inf)
        found.append((enrolled, [(x, 1 / len(choices)) for x in distances]))
    return found


def rates_by_loops(found, t):
    alarms = [sum(c for x, c in of_probe if x <= t) for enrolled, of_probe in found if not enrolled]
    identified = [
        sum(c for x, c in some if x <= t) for enrolled, some in found if enrolled and some
    ]
    return sum(alarms) / len(alarms), 1 - sum(identified) / len(identified)


@pytest.mark.parametrize("enrol", [1, 2, 3])
@pytest.mark.parametrize(
    "case",
    [
        {},
        {"seed": 1, "digits": 0},
        {"seed": 2, "sizes": (5, 2, 3)},
        {"seed": 3, "kind": "similarity"},
        {"seed": 4, "dtype": np.float32},
        {"seed": 5, "dtype": np.float16},
        {"seed": 6, "sizes": (4, 3)},
        {"seed": 7, "sizes": (4,)},
    ],
)
@pytest.mark.parametrize(("unit", "fusion"), [("template", "min"), ("subject", "max")])
@pytest.mark.cases(4)
def test_rates_are_means_of_open_set_over_all_choices(case, enrol, unit, fusion):
    scores = small(**case)
    grid = np.unique(scores.values)
    far, frr = [], []
    for choice in choices_of(scores.gallery_labels, enrol):
        part = scores.select(gallery=np.array(choice))
        there = be.open_set(
            part, thresholds=grid, rank_unit=unit, fusion=fusion, impostors="unenrolled", max_rank=1
        )
        far.append(there.far.values)
        frr.append(there.frr.values)
    searches, _ = listed(scores, enrol, rank_unit=unit, fusion=fusion)
    at = grid if scores.kind == "distance" else -grid
    errors = np.array([searches.errors_at(t) for t in at.astype(float)])
    found = errors / [searches.impostor_attempts, searches.genuine_attempts]
    np.testing.assert_allclose(found[:, 0], np.mean(far, axis=0), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[:, 1], np.mean(frr, axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize("fusion", ["min", "max"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.cases(1)
def test_failed_comparisons_leave_the_choices_of_what_is_usable(seed, fusion):
    scores = small(seed, sizes=(3, 4, 2), holes=0.3)
    searches, messages = listed(scores, 2, rank_unit="subject", fusion=fusion)
    found = searches_by_loops(scores, 2, fusion)
    for row, (enrolled, pairs) in enumerate(found):
        mine = searches.where(searches.probe == row)
        assert (mine.mated == enrolled).all()
        assert mine.chance.sum() == (1 if pairs else 0)
        for t in {x for x, _ in pairs}:
            expected = sum(c for x, c in pairs if x <= t and x < np.inf)
            assert mine.chance[mine.value <= t].sum() == pytest.approx(expected, abs=1e-12)
    usable = {
        (row, name): np.count_nonzero(~np.isnan(scores.values[row, scores.gallery_labels == name]))
        for row in range(scores.shape[0])
        for name in set(scores.gallery_labels.tolist())
    }
    fewer = {name for (_, name), number in usable.items() if 0 < number < 2}
    assert [m.arguments["subjects"] for m in messages] == ([len(fewer)] if fewer else [])


def test_the_order_of_templates_and_probes_changes_nothing():
    scores, rng = small(2, sizes=(5, 3, 4, 2)), np.random.default_rng(0)
    rows, columns = rng.permutation(scores.shape[0]), rng.permutation(scores.shape[1])
    other = scores.select(rows, columns)
    for enrol in (1, 2, 3):
        one, two = listed(scores, enrol)[0], listed(other, enrol)[0]
        for t in np.unique(scores.values):
            np.testing.assert_allclose(one.errors_at(t), two.errors_at(t), rtol=0, atol=1e-12)


def test_infinite_distances_are_found_by_an_infinite_threshold_alone():
    values = np.array([[np.inf, 1.0, np.inf, 2.0], [np.inf, np.inf, np.inf, np.inf]])
    scores = be.Scores(values, [0, 9], [0, 0, 1, 1])
    searches, _ = listed(scores, 1)
    assert searches.errors_at(3.0) == (0, 0.5)
    assert searches.errors_at(np.inf) == (1, 0.5)  # at infinity, the other is as near


@pytest.mark.parametrize("target", ["far=0.2", "far=0", "far=1", "eer", "frr=0.3", "hter", "2"])
@pytest.mark.cases(2)
def test_all_templates_enrolled_are_those_of_no_enrolment(target):
    """Of every number of a study, with its folds and intervals, and of its promise."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(32, 3))
    gallery, probes = np.repeat(np.arange(12), 2), np.repeat(np.arange(32), rng.integers(1, 5, 32))
    sides = [points[x] + 0.3 * rng.normal(size=(len(x), 3)) for x in (probes, gallery)]
    d = np.round(np.linalg.norm(sides[0][:, None] - sides[1][None], axis=2), 1)
    scores = be.Scores(d, probes, gallery)
    how = SHORT | ({"assure": 0.9} if target == "far=0.2" else {})
    for unit, fusion in (("template", "min"), ("subject", "max")):
        of_all, of_two = (
            be.study_threshold(scores, target, enrol=enrol, rank_unit=unit, fusion=fusion, **how)
            for enrol in (None, 2)
        )
        assert set(of_all.variables) == set(of_two.variables)
        for name, values in of_all.data_vars.items():
            if values.dtype.kind == "f":
                np.testing.assert_allclose(of_two[name], values, rtol=1e-12, atol=1e-15)
            else:
                assert of_two[name].equals(values), name
        assert be.messages(of_two) == be.messages(of_all)


def test_one_template_each_is_no_enrolment():
    scores = small(1, sizes=(1, 1, 1, 1), digits=3)
    of_all, of_one = (
        be.study_threshold(scores, "far=0.3", enrol=enrol, **SHORT) for enrol in (None, 1)
    )
    assert of_one.threshold == of_all.threshold
    assert of_one.fold_far.equals(of_all.fold_far)
    assert of_one.optimistic_frr == of_all.optimistic_frr


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("seed", range(2))
def test_thresholds_and_rates_of_folds_are_those_of_the_definition(seed, kind):
    scores = small(seed, sizes=(3, 4, 2, 1), kind=kind)
    sign, target = (1 if kind == "distance" else -1), 0.4
    study = be.study_threshold(scores, ("far", target), enrol=2, **SHORT)
    found = searches_by_loops(scores, 2)

    def loosest(some):
        points = [-math.inf, *sorted({x for _, s in some for x, _ in s if math.isfinite(x)})]
        return max(t for t in points if rates_by_loops(some, t)[0] <= target + 1e-12)

    best = loosest(found)
    assert study.threshold == sign * best
    far, frr = rates_by_loops(found, best)
    assert study.optimistic_far.item() == pytest.approx(far, abs=1e-12)
    assert study.optimistic_frr.item() == pytest.approx(frr, abs=1e-12)
    assert study.impostor_attempts == sum(not enrolled for enrolled, _ in found)

    people = scores.probe_labels
    roles = np.where(np.isin(people, scores.gallery_labels), "yes", "no")
    splitter = be.partition.RepeatedSubjectKFold(
        3, n_repeats=1, random_state=0, stratify="enrolled"
    )
    parts = splitter.split(range(len(people)), people.tolist(), meta={"enrolled": roles})
    for fold, (train, test) in enumerate(parts):
        at = loosest([found[i] for i in train])
        assert study.fold_threshold[0, fold] == sign * at
        far, frr = rates_by_loops([found[i] for i in test], at)
        assert study.fold_far[0, fold].item() == pytest.approx(far, abs=1e-12)
        assert study.fold_frr[0, fold].item() == pytest.approx(frr, abs=1e-12)


@pytest.mark.parametrize("assurance", ["estimated", "guaranteed"])
def test_the_promise_is_of_the_mean_over_people_of_expected_alarms(assurance):
    rng, target = np.random.default_rng(5), 0.5
    probes = np.repeat(np.arange(44), rng.integers(1, 4, 44))
    gallery = np.repeat(np.arange(4), (2, 3, 1, 4))
    points = rng.normal(size=(44, 3))
    sides = [points[x] + 0.4 * rng.normal(size=(len(x), 3)) for x in (probes, gallery)]
    d = np.linalg.norm(sides[0][:, None] - sides[1][None], axis=2).round(2)
    scores = be.Scores(d, probes, gallery)
    study = be.study_threshold(
        scores, ("far", target), enrol=2, assure=0.9, assurance=assurance, **SHORT
    )
    found = searches_by_loops(scores, 2)
    people = sorted(set(probes[probes >= 4].tolist()))
    n = len(people)

    def own(t):
        rates = {p: [] for p in people}
        for person, (enrolled, some) in zip(probes.tolist(), found, strict=True):
            if not enrolled:
                rates[person].append(sum(c for x, c in some if x <= t))
        return {p: sum(x) / len(x) for p, x in rates.items()}

    at = float(study.assured_threshold)
    means = own(at)
    mean = sum(means.values()) / n
    assert study.assured_far.item() == pytest.approx(mean, abs=1e-12)
    assert study.assured_far_attempts.item() == pytest.approx(rates_by_loops(found, at)[0])
    assert study.assured_frr.item() == pytest.approx(rates_by_loops(found, at)[1])

    def upper(t):
        of_each = own(t)
        mean = sum(of_each.values()) / n
        if assurance == "guaranteed":
            return twin.guaranteed(mean, n, 0.1)
        worst = sorted(of_each.values())[-2:]
        doubled = (sum(of_each.values()) + sum(worst)) / (n + 2)
        without = [sum(of_each[q] for q in people if q != p) / (n - 1) for p in people]
        return twin.estimated(mean, doubled, without, n, n, 0.1)

    points = sorted({x for _, some in found for x, _ in some if math.isfinite(x)})
    assert upper(at) <= target
    assert study.assured_far_high.item() >= upper(at) - 1e-6
    later = [t for t in points if t > at]
    assert any(upper(t) > target for t in later[:2])


def test_shares_of_chances_are_those_of_repeated_searches():
    """Two of four equally likely distances are two searches of four."""
    rng = np.random.default_rng(0)
    other = rng.integers(0, 9, (30, 4)).astype(float)
    person, mates = np.repeat(np.arange(15), 2), rng.integers(0, 9, 12).astype(float)
    entries = other.ravel(), np.repeat(person, 4)
    repeated = SearchShares(*entries, np.repeat(mates, 4))
    quarters = np.full(120, 0.25), np.full(48, 0.25)
    chanced = SearchShares(*entries, np.repeat(mates, 4), chances=quarters)
    assert (repeated.impostors, chanced.impostors) == (120, 30)
    np.testing.assert_allclose(chanced.mean, repeated.mean, rtol=1e-12)
    np.testing.assert_allclose(chanced.accepted, repeated.accepted, rtol=1e-12)
    assert chanced.frr(4.0) == pytest.approx(repeated.frr(4.0))
    layers = np.arange(3)
    one, two = repeated.means(layers), chanced.means(layers)
    for name in ("mean", "without", "doubled"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), rtol=1e-12)


def test_limits_resample_the_expected_alarms_of_each_person():
    """Where many people err, they are quantiles of the replicates."""
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(60), 3)
    probe = np.repeat(np.arange(180), 2)
    share = rng.random(180)
    chance = np.stack([share, 1 - share], axis=1).ravel()
    value = np.tile([1.0, 2.0], 180)
    order = np.argsort(value, kind="stable")
    mated = person[probe] < 20
    searches = ListedSearches(probe[order], mated[order], value[order], chance[order])
    options = IntervalOptions.parse("subject-bootstrap", 0.9, 500, 0)
    assert options is not None
    ends = limits_of_searches(searches, person, 1.5, options)
    weights = options.weights(60)
    alarms = np.bincount(person[20 * 3 :], share[60:], 60)
    rates = (alarms @ weights) / (3 * (weights[20:].sum(axis=0)))
    assert ends["far"][0] == pytest.approx(rates[0])
    low, high = options.limits(rates[None], 40)
    assert ends["far"][1:] == pytest.approx((float(low[0]), float(high[0])))
    assert ends["frr"][0] == pytest.approx(1 - share[:60].mean())
    assert ends["frr"][1] < ends["frr"][0] < ends["frr"][2]


def test_what_has_no_mean_over_choices_is_refused():
    scores = small()
    with pytest.raises(be.ProtocolError, match="known for min and max") as raised:
        be.study_threshold(scores, "far=0.3", enrol=2, rank_unit="subject", fusion="mean", **SHORT)
    assert "first:2" in str(raised.value)
    with pytest.raises(be.ProtocolError, match="a search claims nobody"):
        be.study_threshold(scores, "far=0.3", enrol=2, attempts="visit", **SHORT)
    with raises_about(be.DataError, "enrol"):
        be.study_threshold(scores, "far=0.3", enrol=5, **SHORT)


def test_a_list_that_is_too_long_is_refused(monkeypatch):
    monkeypatch.setattr("bioeval.tallies.listed_searches.MOST_LISTED", 20)
    with pytest.raises(be.DataError, match="more than 20 distances") as raised:
        be.study_threshold(small(), "far=0.3", enrol=2, **SHORT)
    assert "first:2" in str(raised.value)


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    be.save(small(sizes=(3, 3, 4, 3)), "a.npz")
    study = ["threshold", "a.npz", "--task", "open_set", "--target", "far=40%", "--repeats", "1"]
    study += ["--folds", "3", "--enrol", "2"]
    assert main([*study, "--report", "page.html", "--out", "study"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "searches among any 2 templates of each enrolled subject" in shown
    assert "the rates are means over all choices" in shown
    assert (tmp_path / "page.html").exists()
