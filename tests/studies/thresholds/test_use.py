"""Thresholds of a system in use: tries of a visit, and some of the templates enrolled."""

from __future__ import annotations

import json
import math

import naive_promise
import naive_use as twin
import numpy as np
import pytest
from named_arguments import raises_about

import bioeval as be
from bioeval.cli import main
from bioeval.document import messages_of
from bioeval.studies.assurance.assured import assured_threshold
from bioeval.studies.assurance.pairs_of_people import ClaimShares
from bioeval.tallies import list_claims, parse_use, scores_in_use

FAST = {"folds": 3, "repeats": 2, "replicates": 100}


def codes(result):
    return [message.code for message in be.messages(result)]


def data(layout, *, seed=0, ties=False, holes=0.0, people=9, kind="distance", dtype=np.float64):
    """Unequal numbers of templates, two or three tries a visit, text labels."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, people)
    labels = np.repeat([f"p{i}" for i in range(people)], sizes)
    n = len(labels)
    visit = np.array([f"v{x}" for x in rng.integers(0, 2, n)])
    places = rng.normal(size=(people, 3))
    here = np.repeat(places, sizes, axis=0) + 0.7 * rng.normal(size=(n, 3))
    if layout == "square":
        other, other_labels, own = here, labels, {}
    else:
        counts = rng.integers(1, 5, people - 2)  # two people only probe
        other_labels = np.repeat([f"p{i}" for i in range(people - 2)], counts)
        other = np.repeat(places[:-2], counts, axis=0)
        other = other + 0.7 * rng.normal(size=other.shape)
        own = {"gallery_labels": other_labels}
    values = np.linalg.norm(here[:, None] - other[None], axis=2)
    if ties:
        values = np.round(values * 2) / 2
    values = values.astype(dtype)
    values[rng.random(values.shape) < holes] = np.nan
    sign = -1 if kind == "similarity" else 1
    scores = be.Scores(
        sign * values, labels, **own, probe_meta={"visit": visit}, nan="exclude", kind=kind
    )
    return scores, values, visit, other_labels


CASES = [
    ("square", {"enrol": 2}),
    ("square", {"enrol": 1, "attempts": "visit"}),
    ("square", {"enrol": 2, "attempts": "visit", "fusion": "mean"}),
    ("apart", {"attempts": "visit"}),
    ("apart", {"enrol": 3, "attempts": "visit"}),
    ("apart", {"enrol": 2, "fusion": "median"}),
    ("apart", {"enrol": 3, "fusion": "kth:2", "attempts": "visit"}),
    ("apart", {"enrol": 2, "fusion": "max", "attempts": "visit"}),
]


def listed_by_loops(layout, values, scores, visit, gallery, options):
    return twin.claims(
        values,
        scores.probe_labels.tolist(),
        list(gallery),
        visits=visit if "attempts" in options else None,
        square=layout == "square",
        enrol=options.get("enrol", 0),
        fusion=options.get("fusion", "min"),
    )


@pytest.mark.parametrize("holes", [0.0, 0.1])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("layout", "options"), CASES)
def test_rates_are_means_over_all_choices_of_templates(layout, options, ties, holes):
    scores, values, visit, gallery = data(layout, ties=ties, holes=holes, seed=3)
    listed = listed_by_loops(layout, values, scores, visit, gallery, options)
    genuine = sum(claim.person == claim.claimed for claim in listed)
    at = np.unique(np.quantile(values[np.isfinite(values)], [0.05, 0.1, 0.3, 0.7]))
    ds = be.verification(scores, templates="multi", thresholds=at, auc=False, **options)
    assert ds.genuine_attempts == genuine
    assert ds.impostor_attempts == len(listed) - genuine
    for t in at:
        far, frr = twin.rates(listed, t)
        assert ds.far.sel(threshold=t).item() == pytest.approx(far, abs=1e-12)
        assert ds.frr.sel(threshold=t).item() == pytest.approx(frr, abs=1e-12)
    target = 0.1
    ds = be.study_threshold(scores, ("far", target), templates="multi", **FAST, **options)
    every = [(x, twin.rates(listed, x)[0]) for x in twin.points(listed)]
    loosest = max(x for x, far in every if far <= target + 1e-12)
    assert ds.threshold == loosest
    far, frr = twin.rates(listed, loosest)
    assert ds.optimistic_far.item() == pytest.approx(far, abs=1e-12)
    assert ds.optimistic_frr.item() == pytest.approx(frr, abs=1e-12)
    assert ds.optimistic_far_low <= far <= ds.optimistic_far_high
    assert ds.optimistic_frr_low <= frr <= ds.optimistic_frr_high


@pytest.mark.parametrize(("layout", "options"), CASES)
def test_the_promise_rests_on_pairs_of_people(layout, options):
    scores, values, visit, gallery = data(layout, seed=5)
    listed = listed_by_loops(layout, values, scores, visit, gallery, options)
    use = parse_use(
        options.get("attempts"), "multi", options.get("fusion", "min"), options.get("enrol")
    )
    in_use = scores_in_use(scores, use)
    claims, _, _ = list_claims(in_use, use)
    shares = ClaimShares(in_use, claims, new_gallery=False)
    layers = np.unique(np.linspace(0, len(shares.thresholds) - 1, 5).astype(int))
    means = shares.means(layers)
    people = np.unique(np.append(scores.probe_labels, gallery))
    for k, layer in enumerate(layers):
        h = twin.shares(listed, shares.thresholds[layer])
        assert means.mean[k] == pytest.approx(naive_promise.mean(h), abs=1e-12)
        assert shares.mean[layer] == pytest.approx(naive_promise.mean(h), abs=1e-12)
        assert means.doubled[k] == pytest.approx(naive_promise.doubled(h), abs=1e-12)
        left = [naive_promise.without(h, name) for name in people]
        np.testing.assert_allclose(means.without[k], left, atol=1e-12)
        at = float(shares.thresholds[layer])
        assert shares.frr(at) == pytest.approx(twin.rates(listed, at)[1], abs=1e-12)


def visits(rng, people, probing, enrolled):
    """Visits of three tries against five templates, in 6 dimensions; one in twenty is a wolf."""
    places = rng.normal(size=(people, 6))
    places[rng.random(people) < 0.05] *= 0.45
    near = np.repeat(places[enrolled], 5, axis=0)
    near = near + 0.45 * rng.normal(size=near.shape)
    tried = places[probing] + 0.3 * rng.normal(size=(len(probing), 6))
    tried = np.repeat(tried, 3, axis=0)
    tried = tried + 0.4 * rng.normal(size=tried.shape)
    values = np.linalg.norm(tried[:, None] - near[None], axis=2)
    meta = {"visit": np.zeros(len(tried), dtype=int)}
    return be.Scores(values, np.repeat(probing, 3), np.repeat(enrolled, 5), probe_meta=meta)


@pytest.mark.slow
def test_a_promise_is_kept_in_use():
    """At most 5 % of promises are broken, also by people who are on one side only."""
    use = parse_use("visit", "multi", "min", 3)

    def shares_of(seed, people, probing, enrolled):
        scores = visits(np.random.default_rng(seed), people, probing, enrolled)
        claims, _, _ = list_claims(scores_in_use(scores, use), use)
        return scores, ClaimShares(scores, claims, new_gallery=True)

    everyone = np.arange(400)
    _, truth = shares_of(99, 400, everyone, everyone)
    broken, sets = 0, 60
    for seed in range(sets):
        scores, shares = shares_of(seed, 40, np.arange(10, 40), np.arange(30))
        promise = assured_threshold(scores, 0.1, 0.95, "estimated", shares=shares)
        assert promise.refusal is None
        at = np.searchsorted(truth.thresholds, promise.threshold, side="right") - 1
        broken += truth.mean[at] > 0.1
    assert broken <= 7  # of 60, with a probability of 99.7 % if 5 % are


def variables(study):
    return {name: x.values for name, x in study.data_vars.items()}


@pytest.mark.parametrize("assurance", ["estimated", "guaranteed"])
@pytest.mark.parametrize("layout", ["square", "apart", "overlapping"])
def test_trivial_uses_change_nothing(layout, assurance):
    """One try a visit, and all templates enrolled: every number is that of the plain study."""
    if layout == "square":
        scores, most = be.simulate(60, 4, random_state=1), 4
    else:
        how = {"layout": "probe-against-gallery", "probes": 2}
        scores = be.simulate(50, 3, unenrolled=10, random_state=3, **how)
        most = 3
        if layout == "apart":
            person = scores.probe_labels.astype(int)
            keep = np.flatnonzero(person >= np.median(person))
            scores = scores.select(probes=keep)
    own = {} if layout == "square" else {"gallery_labels": scores.gallery_labels}
    meta = {"visit": np.arange(scores.shape[0])}
    scores = be.Scores(scores.values, scores.probe_labels, **own, probe_meta=meta)
    promise = {"assure": 0.8, "assurance": assurance}
    target = ("far", 0.1)
    plain = be.study_threshold(scores, target, templates="multi", **FAST, **promise)
    for use in ({"attempts": "visit"}, {"enrol": most}):
        study = be.study_threshold(scores, target, templates="multi", **FAST, **promise, **use)
        np.testing.assert_equal(variables(study), variables(plain))
    alone = be.study_threshold(scores, target, **FAST, **promise)
    study = be.study_threshold(scores, target, attempts="visit", **FAST, **promise)
    apart = set()
    if layout == "square":  # a pair of templates is no longer known to be compared twice
        apart = {"impostor_pairs", "independent_impostors", "optimistic_frr_low",
                 "optimistic_frr_high"}  # fmt: skip
    for name, expected in variables(alone).items():
        if name not in apart:
            np.testing.assert_equal(variables(study)[name], expected)


def test_one_enrolled_template_is_a_single_template():
    """With equal numbers of templates the rates are those of all pairs of templates."""
    scores = be.simulate(20, 4, random_state=2)
    single = be.verification(scores, thresholds=[1.0, 2.0, 3.0], auc=False)
    one = be.verification(scores, templates="multi", enrol=1, thresholds=[1.0, 2.0, 3.0])
    np.testing.assert_allclose(one.far, single.far, rtol=1e-12)
    np.testing.assert_allclose(one.frr, single.frr, rtol=1e-12)
    assert one.genuine_attempts == 80  # a probe claims each subject once


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_similarities_are_the_mirror_image(dtype):
    near, *_ = data("apart", seed=6, dtype=dtype)
    far, *_ = data("apart", seed=6, dtype=dtype, kind="similarity")
    options = {"templates": "multi", "attempts": "visit", "enrol": 2, "assure": 0.5}
    one = be.study_threshold(near, ("far", 0.2), **FAST, **options)
    other = be.study_threshold(far, ("far", 0.2), **FAST, **options)
    assert other.threshold == -one.threshold
    for name in ("optimistic_far", "optimistic_frr", "optimistic_far_high", "far_mean"):
        assert other[name] == one[name]
    ds = be.verification(
        far, templates="multi", enrol=2, interval="subject-bootstrap", thresholds=[-2.0, -1.0]
    )
    assert (ds.far_low <= ds.far).all() and (ds.far <= ds.far_high).all()
    assert ds.far.values[0] >= ds.far.values[1]


def test_chances_leave_no_error_over():
    """With 120 choices of templates, a claim that is accepted with all of them is no error."""
    scores = be.simulate(20, 10, random_state=3)
    loosest = [float(np.nextafter(scores.values.max(), np.inf))]
    ds = be.verification(
        scores, templates="multi", enrol=3, thresholds=loosest, interval="subject-bootstrap"
    )
    assert (ds.frr.item(), ds.gar.item(), ds.far.item()) == (0, 1, 1)
    # One pair of people is closer than all others, with some of its templates.
    values, people = np.full((200, 200), 3.0), scores.probe_labels
    own = people[:, None] == people
    values[own] = 1.0
    near = np.flatnonzero(people == people[0])[:2], np.flatnonzero(people == people[-1])[:3]
    values[np.ix_(*near)] = 2.0
    one_pair = be.Scores(values, people)
    ds = be.verification(
        one_pair, templates="multi", enrol=3, thresholds=[2.0], interval="subject-bootstrap"
    )
    whole = be.verification(
        one_pair, templates="multi", thresholds=[2.0], auc=False, interval="subject-bootstrap"
    )
    assert 0 < ds.far < whole.far
    assert 0 < ds.far_low < ds.far < ds.far_high <= whole.far_high


def test_rules_choose_on_expected_counts():
    scores, values, visit, gallery = data("apart", seed=7)
    options = {"attempts": "visit", "enrol": 2}
    listed = listed_by_loops("apart", values, scores, visit, gallery, options)
    every = [(x, *twin.rates(listed, x)) for x in twin.points(listed)]

    def chosen(target):
        study = be.study_threshold(scores, target, templates="multi", **FAST, **options)
        return study.threshold.item()

    assert chosen("frr=0.1") == min(x for x, _, frr in every if frr <= 0.1 + 1e-12)
    cost = [(0.3 * 2 * frr + 0.7 * 5 * far, x) for x, far, frr in every]
    assert chosen("cost=0.3,2,5") == min(x for c, x in cost if c <= min(cost)[0] * (1 + 1e-12))
    crossing = next(i for i, (_, far, frr) in enumerate(every) if far >= frr)
    near = every[crossing - 1 : crossing + 1]
    assert chosen("eer") == min(near, key=lambda point: max(point[1:]))[0]
    assert chosen("fixed=1.5") == 1.5


def test_the_first_templates_are_enrolled_and_the_others_probe():
    scores = be.simulate(40, 5, random_state=3)
    taken = np.tile([3, 1, 2, 5, 4], 40)
    scores = be.Scores(scores.values, scores.probe_labels, probe_meta={"taken": taken})
    for enrol, enrolled in (
        ("first:3", np.tile([True, True, True, False, False], 40)),
        ("first:3:taken", taken <= 3),
    ):
        by_hand = scores.select(probes=np.flatnonzero(~enrolled), gallery=np.flatnonzero(enrolled))
        options = {"templates": "multi", **FAST, "assure": 0.9}
        study = be.study_threshold(scores, ("far", 0.1), enrol=enrol, **options)
        expected = be.study_threshold(by_hand, ("far", 0.1), **options)
        np.testing.assert_equal(variables(study), variables(expected))
        assert study.attrs["enrol"] == enrol
        assert math.isfinite(study.assured_threshold)


def test_a_visit_is_not_compared_with_its_own_templates():
    """Two visits of three images: two are enrolled, and the third of their visit is no probe."""
    rng = np.random.default_rng(1)
    labels, visit = np.repeat(np.arange(20), 6), np.tile(np.repeat([1, 2], 3), 20)
    values = rng.random((120, 120)) + 1
    values[(labels[:, None] == labels) & (visit[:, None] == visit)] = 0.5
    scores = be.Scores(values, labels, probe_meta={"visit": visit})
    ds = be.verification(
        scores, templates="multi", attempts="visit", enrol="first:2", thresholds=[0.7]
    )
    assert ds.genuine_attempts == 20
    assert ds.gar.item() == 0


def test_people_with_few_templates_only_are_enrolled():
    scores = be.simulate(60, [3] * 10 + [6] * 50, random_state=1)
    study = be.study_threshold(
        scores, ("far", 0.1), templates="multi", enrol="first:3", assure=0.9, **FAST
    )
    # 50 people probe and are enrolled, 10 are enrolled alone.
    assert study.pairs_of_people == 50 * 49 // 2 + 50 * 10
    assert math.isfinite(study.assured_threshold)
    assert study.assured_people == 60


def test_too_many_choices_are_drawn(monkeypatch):
    import bioeval.tallies.listed_claims as module

    scores = be.simulate(12, 6, random_state=8)
    options = {"templates": "multi", "fusion": "mean", "enrol": 3, "thresholds": [2.0, 3.0]}
    exact = be.verification(scores, **options)
    monkeypatch.setattr(module, "MOST_CHOICES", 9)  # of 5 templates there are 10 choices of 3
    drawn = be.verification(scores, **options)
    assert "enrolled-templates-drawn" in codes(drawn)
    np.testing.assert_allclose(drawn.far, exact.far, atol=0.01)
    again = be.verification(scores, **options)
    np.testing.assert_array_equal(again.far, drawn.far)
    with pytest.raises(be.DataError, match="at most 1,000 are listed"):
        monkeypatch.setattr(module, "MOST_LISTED", 1000)
        be.verification(scores, **options)


def test_claims_of_few_templates_are_said():
    scores, *_ = data("square", seed=3)
    study = be.study_threshold(scores, ("far", 0.1), templates="multi", enrol=3, **FAST)
    (message,) = (x for x in messages_of(study.attrs) if x.code == "fewer-templates-than-enrolled")
    _, sizes = np.unique(scores.probe_labels, return_counts=True)
    # A subject of three templates has two that a probe of its own can be compared with.
    assert message.arguments == {"subjects": int((sizes < 4).sum()), "templates": 3}


MULTI = {"templates": "multi"}


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"enrol": 3}, ("enrol", "templates")),
        *(({"enrol": x, **MULTI}, ("enrol",)) for x in ("last:3", 0, "first", "first:x", True)),
        *(({"enrol": x, **MULTI}, ("enrol",)) for x in (2.5, "first:2:", "3:4", 9)),
        ({"enrol": "first:2:taken", **MULTI}, ("enrol",)),
        ({"enrol": 2, "fusion": "kth:3", **MULTI}, ("fusion",)),
        ({"attempts": "vist"}, ("attempts",)),
    ],
)
def test_what_does_not_go_together(options, arguments):
    scores, *_ = data("apart", seed=1)
    with raises_about(be.DataError, *arguments):
        be.study_threshold(scores, "eer", **FAST, **options)
    with raises_about(be.DataError, *arguments):
        be.verification(scores, **options)


def test_searches_have_no_tries():
    scores, *_ = data("apart", seed=1)
    with raises_about(be.ProtocolError, "attempts"):
        be.study_threshold(scores, "eer", task="open_set", **FAST, attempts="visit")
    pairs = be.Scores.from_pairs([1.0, 2.0], [True, False])
    with raises_about(be.ProtocolError, "attempts", "as_"):
        be.study_threshold(pairs, "eer", attempts="visit")


def test_means_over_choices_have_no_other_points():
    scores, *_ = data("apart", seed=1)
    for refused in ({"frr_targets": [0.1]}, {"max_fars": [0.1]}, {"claims": scores.probe_labels}):
        with pytest.raises(be.ProtocolError, match="are both given"):
            be.verification(scores, enrol=2, **MULTI, **refused)
    with raises_about(be.ProtocolError, "interval", "enrol"):
        be.verification(scores, enrol=2, **MULTI, interval="wilson")


def test_a_watch_list_of_the_first_templates():
    scores = be.simulate(
        30, 4, layout="probe-against-gallery", probes=2, unenrolled=30, random_state=5
    )
    first = np.arange(120).reshape(30, 4)[:, :2].ravel()
    study = be.study_threshold(
        scores, ("far", 0.2), task="open_set", enrol="first:2", assure=0.8, **FAST
    )
    expected = be.study_threshold(
        scores.select(gallery=first), ("far", 0.2), task="open_set", assure=0.8, **FAST
    )
    np.testing.assert_equal(variables(study), variables(expected))


@pytest.mark.parametrize(("layout", "options"), CASES)
def test_a_claim_is_about_the_system_in_use(layout, options):
    scores, values, visit, gallery = data(layout, seed=5)
    listed = listed_by_loops(layout, values, scores, visit, gallery, options)
    at = float(np.quantile(values, 0.1))
    claim = be.check_claim(scores, at, far=0.2, templates="multi", **options)
    h = twin.shares(listed, at)
    assert claim.far.item() == pytest.approx(naive_promise.mean(h), abs=1e-12)
    assert claim.far_high.item() == claim.limit_high.sel(assurance="estimated").item()
    own = twin.own_frr(listed, at)
    claim = be.check_claim(
        scores, at, frr=0.2, templates="multi", assurance="guaranteed", **options
    )
    assert claim.frr.item() == pytest.approx(np.mean(list(own.values())), abs=1e-12)
    assert claim.people == len(own)
    for upper, limit in ((False, claim.frr_low), (True, claim.frr_high)):
        mean = float(np.mean(list(own.values())))
        expected = naive_promise.guaranteed(mean, len(own), 0.05, upper)
        assert limit.item() == pytest.approx(expected, abs=1e-9)
    for rule in ("estimated", "guaranteed"):
        one = be.check_claim(scores, at, frr=0.2, templates="multi", assurance=rule, **options)
        assert one.verdict == claim.verdict_of_rule.sel(assurance=rule)
        assert one.frr_high == claim.limit_high.sel(assurance=rule)


def test_a_plan_for_the_system_in_use():
    scores, values, visit, gallery = data("apart", seed=9, people=40)
    options = {"attempts": "visit", "enrol": 2}
    listed = listed_by_loops("apart", values, scores, visit, gallery, options)
    plan = be.sample_size(scores, far=0.1, frr_width=0.1, templates="multi", **options)
    study = be.study_threshold(
        scores, ("far", 0.1), templates="multi", assure=0.95, **FAST, **options
    )
    assert plan.attrs["threshold"] == study.threshold
    assert plan.value == pytest.approx(study.optimistic_frr.item())
    for name in ("people_estimated", "people_guaranteed", "people_needed"):
        np.testing.assert_equal(plan[name].item(), float(study[name].item()))
    # The variance of the error of an attempt, and what two attempts of a person have in common.
    errors = {}
    for claim in listed:
        if claim.person == claim.claimed:
            wrong = 1 - twin.accepted(claim, plan.attrs["threshold"])
            errors.setdefault(claim.person, []).append(wrong)
    each = [x for own in errors.values() for x in own]
    apart = [a * b for p, x in errors.items() for q, y in errors.items() if p != q
             for a in x for b in y]  # fmt: skip
    squared = np.mean(apart)
    total = np.mean(np.square(each)) - squared
    together = [a * b for x in errors.values() for i, a in enumerate(x)
                for j, b in enumerate(x) if i != j]  # fmt: skip
    between = min(max(0.0, np.mean(together) - squared), total)
    variance = between + (total - between) / plan.attempts_of_subject.values
    np.testing.assert_allclose(plan.subject_sd, np.sqrt(variance), rtol=1e-9)
    assert (plan.all_attempts == plan.subjects * plan.attempts_of_subject).all()
    for refused in ({"attempts": "visit"}, {"enrol": 2}, {"fusion": "mean"}):
        (name,) = refused
        with raises_about(be.DataError, name, "templates"):
            be.sample_size(scores, **refused)
    with raises_about(be.DataError, "templates"):
        be.sample_size(frr=0.1, icc=0.1, templates="multi")


def printed(capsys, *arguments):
    """What a command prints."""
    assert main([*arguments]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.fixture(scope="module")
def door(tmp_path_factory):
    """A file of 60 people, three templates each and two visits of three tries."""
    rng = np.random.default_rng(3)
    scores = visits(rng, 60, np.repeat(np.arange(60), 2), np.arange(60))
    meta = {"visit": np.tile(np.repeat([1, 2], 3), 60)}
    scores = be.Scores(scores.values, scores.probe_labels, scores.gallery_labels, probe_meta=meta)
    path = tmp_path_factory.mktemp("door") / "door.npz"
    be.save(scores, path)
    return str(path)


USE = ("--templates", "multi", "--enrol", "3", "--attempts", "visit")


def test_commands_take_the_system_in_use(door, capsys, tmp_path):
    scores = be.load(door)
    options = {"templates": "multi", "enrol": 3, "attempts": "visit"}
    said = "each try compares a probe with any 3 templates of the claimed subject (the rates are "
    said += "means over all choices); an attempt consists of all tries of a subject with the same "
    said += "visit (at most 3), and is accepted if any of them is accepted"
    few = ("--target", "far=10%", "--folds", "3", "--repeats", "1")
    page = tmp_path / "page.html"
    text = printed(capsys, "threshold", door, *few, *USE, "--assure", "0.9", "--report", str(page))
    study = be.study_threshold(scores, ("far", 0.1), folds=3, repeats=1, assure=0.9, **options)
    installed = f"{study.assured_threshold.item():.8f}"[:6]
    assert said in text and f"Install {installed}" in text
    assert installed in page.read_text("utf-8")
    claim = ("threshold", door, *USE, "--at", "1.2", "--claim", "far=10%", "--json")
    document = json.loads(printed(capsys, *claim))
    expected = be.check_claim(scores, 1.2, far=0.1, **options)
    assert document["far_high"] == expected.far_high.item()
    verdicts = [row["verdict"] for row in document["by_rule"]]
    assert verdicts == expected.verdict_of_rule.values.tolist()
    plan = json.loads(printed(capsys, "sample-size", door, *USE, "--far", "10%", "--json"))
    expected = be.sample_size(scores, far=0.1, **options)
    assert plan["people_estimated"] == expected.people_estimated
    work = ("--people", "100", "--impostors", "0.1", "--threshold", "1.2")
    assert "compares a probe with any 3 templates" in printed(capsys, "workload", door, *USE, *work)
    rates = be.verification(scores, thresholds=[1.2], interval="subject-bootstrap", **options)
    document = json.loads(printed(capsys, "workload", door, *USE, *work, "--json"))
    found = {row["event"]: row for row in document["events"]}
    for event, rate in (("false-alarm", "far"), ("rejected", "frr")):
        ends = [found[event][f"rate{end}"] for end in ("", "_low", "_high")]
        assert ends == [rates[f"{rate}{end}"].item() for end in ("", "_low", "_high")]


def test_both_rules_of_a_promise_stand_in_one_table(door, capsys):
    few = ("--folds", "3", "--repeats", "1", *USE)
    text = printed(
        capsys, "threshold", door, "--target", "far=5%", *few, "--assure", "0.95", "--guaranteed"
    )
    # Sixty people are too few for the guarantee, and enough for the estimate.
    assert "No threshold can be guaranteed" in text
    assert "No threshold can be promised" not in text
    study = be.study_threshold(
        be.load(door), ("far", 0.05), folds=3, repeats=1, assure=0.95, templates="multi", enrol=3,
        attempts="visit",
    )  # fmt: skip
    by_rule = dict(zip(study.assurance.values, study.promised_people.values, strict=True))
    assert by_rule["estimated"] == study.people_estimated <= 60 < by_rule["guaranteed"]
    promised = study.promised_threshold.sel(assurance="estimated").item()
    assert promised == study.assured_threshold
    assert math.isnan(study.promised_threshold.sel(assurance="guaranteed").item())
    assert f"guaranteed none {by_rule['guaranteed']:.0f}" in text
    assert f"{promised:.8f}"[:6] in text


@pytest.mark.parametrize(("layout", "options"), CASES)
@pytest.mark.parametrize("target", ["far=0.1", "cost=0.2,2,1"])
def test_another_set_is_judged_by_the_claims_of_the_system_in_use(layout, options, target):
    dev, values, visit, gallery = data(layout, seed=3, ties=True)
    of_dev = listed_by_loops(layout, values, dev, visit, gallery, options)
    test, values, visit, gallery = data(layout, seed=8, ties=True)
    of_test = listed_by_loops(layout, values, test, visit, gallery, options)
    ds = be.judge_threshold(dev, test, target, templates="multi", replicates=100, **options)

    def cost(listed, t):
        far, frr = twin.rates(listed, t)
        return (0.2 * 2 * frr + 0.8 * 1 * far) / 0.4

    every = [-math.inf, *twin.points(of_dev)]
    if target == "far=0.1":
        chosen = max(t for t in every if twin.rates(of_dev, t)[0] <= 0.1 + 1e-12)
    else:
        least = min(cost(of_dev, t) for t in every)
        chosen = min(t for t in every if cost(of_dev, t) <= least + 1e-12)
        best = min(cost(of_test, t) for t in [-math.inf, *twin.points(of_test)])
        assert ds.min_dcf.item() == pytest.approx(best)
        assert ds.dcf.item() == pytest.approx(cost(of_test, chosen))
    assert ds.threshold == chosen
    assert (ds.far.item(), ds.frr.item()) == pytest.approx(twin.rates(of_test, chosen))
    assert (ds.dev_far.item(), ds.dev_frr.item()) == pytest.approx(twin.rates(of_dev, chosen))
    assert ds.genuine_attempts == sum(x.person == x.claimed for x in of_test)
    assert ds.dev_impostor_attempts == sum(x.person != x.claimed for x in of_dev)
    assert ds.far_low <= ds.far <= ds.far_high and ds.frr_low <= ds.frr <= ds.frr_high
    said = parse_use(
        options.get("attempts"), "multi", options.get("fusion", "min"), options.get("enrol")
    )
    assert said.attrs().items() <= ds.attrs.items()


def test_the_command_judges_claims_on_another_set(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    sets = [data("apart", seed=seed)[0] for seed in (3, 8)]
    for name, scores in zip(("dev", "test"), sets, strict=True):
        be.save(scores, f"{name}.npz")
    used = {"templates": "multi", "enrol": 2, "attempts": "visit", "replicates": 100}
    typed = [x for name, value in used.items() for x in (f"--{name}", str(value))]
    given = ["threshold", "dev.npz", "--target", "far=0.1", "--on", "test.npz", *typed]
    assert main([*given, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    ds = be.judge_threshold(*sets, "far=0.1", **used)
    assert found["far"] == ds.far.item() and found["enrol"] == "2"
    assert main(given) == 0
    assert "any 2 templates of the claimed subject" in " ".join(capsys.readouterr().out.split())


def test_a_rule_needs_claims_of_both_classes_on_the_development_set():
    one = be.Scores([[1.0], [2.0]], ["a", "a"], ["a"], probe_meta={"visit": ["1", "2"]})
    test = data("apart", seed=8)[0]
    with raises_about(be.ProtocolError, "target"):
        be.judge_threshold(one, test, "eer", templates="multi", attempts="visit")
