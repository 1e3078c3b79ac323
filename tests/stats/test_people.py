"""Limits by leaving out each person: from values of the others, which are evaluated anew."""

import itertools

import naive_limits
import numba
import numpy as np
import pytest
import scipy
from limits import streaming
from result_messages import arguments
from ways import counted_by

import bioeval as be
from bioeval.stats.impostor_sums import ImpostorsOfGroups
from bioeval.stats.jackknife import jackknife
from bioeval.stats.rate_limits import moved_by_many

PEOPLE = 12


def crowd(seed: int = 5, people: int = PEOPLE, each: int = 3, steps: float = 40) -> be.Scores:
    """All against all, with so few distinct scores that nothing is interpolated."""
    scores = be.simulate(people, each, within=0.9, random_state=seed)
    values = np.round(scores.values * steps) / steps
    return be.Scores(np.minimum(values, values.T), scores.probe_labels)


def without_person(scores: be.Scores, person: object) -> be.Scores:
    """The scores of the remaining people, on both sides."""
    if scores.layout == "pairs":
        subjects = np.asarray(scores.subjects_of_pairs)
        return scores.select(np.flatnonzero((subjects != person).all(axis=1)))
    remaining = [np.flatnonzero(x != person) for x in (scores.probe_labels, scores.gallery_labels)]
    return scores.select(probes=remaining[0], gallery=remaining[1])


def matrix(layout: str) -> be.Scores:
    """Scores of people who are on both sides, on a single side, or unevenly on both sides."""
    scores = crowd()
    if layout == "symmetric":
        return scores
    if layout == "uneven":
        keep = np.flatnonzero(np.arange(36) % 3 < 1 + np.arange(36) // 3 % 3)
        return scores.select(keep, keep)
    template_number = np.arange(36) % 3
    return scores.select(np.flatnonzero(template_number == 0), np.flatnonzero(template_number > 0))


def people_of(scores: be.Scores) -> list:
    return np.union1d(scores.probe_labels, scores.gallery_labels).tolist()


def attempts_of(scores: be.Scores, genuine: bool) -> list[tuple[int, int]]:
    """The people of probe and template of each attempt, each comparison once."""
    probes, gallery = scores.probe_labels.tolist(), scores.gallery_labels.tolist()
    symmetric = scores.layout == "all-against-all"
    return [
        (probes[i], gallery[j])
        for i, j in itertools.product(range(len(probes)), range(len(gallery)))
        if (i < j or not symmetric) and (probes[i] == gallery[j]) == genuine
    ]


def shares_of(scores: be.Scores, genuine: bool) -> list[float]:
    """The part of the attempts in which each person takes part, without people of none."""
    pairs = attempts_of(scores, genuine)
    numbers = [sum(a in p for p in pairs) for a in people_of(scores)]
    return [x / len(pairs) for x in numbers if x or not genuine]


def pairs_of(scores: be.Scores) -> float:
    """Pairs of people, fewer if some people take part in more attempts than others."""
    pairs = attempts_of(scores, genuine=False)

    def evenness(*sides: int) -> float:
        people = [p[k] for p in pairs for k in sides]
        numbers = [people.count(a) for a in set(people)]
        return naive_limits.kish(numbers) / len(numbers)

    worth = evenness(0, 1) ** 2  # each comparison once
    if scores.layout != "all-against-all":
        worth = max(worth, evenness(0) * evenness(1))
    return worth * len({tuple(sorted(p)) for p in pairs})


def units_of(scores: be.Scores) -> tuple[float, float]:
    """Independent units of impostor and of genuine attempts, people and disjoint pairs."""
    pairs = attempts_of(scores, genuine=False)
    people = people_of(scores)
    as_probes, as_gallery = ([sum(p[k] == a for p in pairs) for a in people] for k in (0, 1))
    on_both_sides = [x + y for x, y in zip(as_probes, as_gallery, strict=True)]
    far = naive_limits.kish(on_both_sides) / 2
    if scores.layout != "all-against-all":  # each comparison is of a probe and a template
        far = min(far, naive_limits.kish(as_probes), naive_limits.kish(as_gallery))
    own = [sum(p[0] == a for p in attempts_of(scores, genuine=True)) for a in people]
    return min(far, len(people) // 2), naive_limits.kish(own)


@pytest.mark.parametrize(
    ("layout", "kind"),
    [
        ("uneven", "distance"),
        ("symmetric", "distance"),
        ("gallery", "distance"),
        ("gallery", "similarity"),
    ],
)
def test_limits_of_verification_are_those_of_the_definition(layout, kind):
    scores = matrix(layout)
    if kind == "similarity":
        scores = be.Scores(-scores.values, scores.probe_labels, scores.gallery_labels, kind=kind)
    all_thresholds = np.unique(scores.values)
    targets = {"far_targets": (0.2, 0.05), "frr_targets": (0.3,)}
    ds = be.verification(scores, thresholds=all_thresholds, interval="people", **targets)
    assert ds.attrs["interval_method"] == "people" and "replicates" not in ds.attrs
    assert len(all_thresholds) <= 512
    everyone = people_of(scores)
    without_each = [
        be.verification(without_person(scores, a), thresholds=all_thresholds, **targets)
        for a in everyone
    ]
    mated = {a for a, _ in attempts_of(scores, genuine=True)}  # others change no FRR
    of_mated = [x for a, x in zip(everyone, without_each, strict=True) if a in mated]

    def columns(name, *place):
        left_out = of_mated if name == "frr" else without_each
        return [float(x[name].values[place]) for x in (ds, *left_out)]

    of_far, of_frr = units_of(scores)
    numbers_of_attempts = [len(attempts_of(scores, genuine)) for genuine in (False, True)]
    for name, attempts, units, sides, most in (
        ("far", numbers_of_attempts[0], of_far, 2, max(pairs_of(scores), of_far)),
        ("frr", numbers_of_attempts[1], of_frr, 1, of_frr),
    ):
        places = [columns(name, k) for k in range(len(all_thresholds))]
        shares = shares_of(scores, genuine=name == "frr")
        limits = naive_limits.curve(
            places, attempts, units, sides, raised=True, shares=shares, most=most
        )
        expected = np.array([limits(x) for x in ds[name].values])
        np.testing.assert_allclose(ds[f"{name}_low"], expected[:, 0], atol=1e-9)
        np.testing.assert_allclose(ds[f"{name}_high"], expected[:, 1], atol=1e-9)
    expected = naive_limits.student(columns("auc"), min(of_far, of_frr))
    at_least = (1 - ds.eer_high.item()) ** 2
    assert ds.auc_low.item() == pytest.approx(max(expected[0], at_least), abs=1e-9)
    assert ds.auc_high.item() == pytest.approx(expected[1], abs=1e-9)
    expected = naive_limits.student(columns("min_dcf", 0), min(of_far, of_frr))
    assert (ds.min_dcf_low[0], ds.min_dcf_high[0]) == pytest.approx(expected, abs=1e-9)
    order = slice(None, None, -1 if kind == "similarity" else 1)
    expected = naive_limits.equal_error(
        columns("eer"),
        [[float(x.frr[order][k]) for x in (ds, *without_each)] for k in range(len(all_thresholds))],
        *([ds[f"{x}{end}"].values[order] for x in ("far", "frr")] for end in ("_low", "", "_high")),
    )
    assert (ds.eer_low, ds.eer_high) == pytest.approx(expected, abs=1e-9)
    ends = {"far": (0.0, 1.0), "frr": (1.0, 0.0)}  # rates of reject-all and of accept-all
    for rate, chosen_by in (("frr", "far"), ("far", "frr")):
        name = f"{rate}_at_{chosen_by}"
        curves = {}
        for x in (chosen_by, rate):
            inside = np.stack([ds[f"{x}{end}"].values[order] for end in ("", "_low", "_high")]).T
            # Limits at the ends: those of the rates 0 and 1, as at scores that have these rates.
            first, last = ([*inside[np.argmax(inside[:, 0] == e)]] for e in ends[x])
            curves[x] = [first, *inside.tolist(), last]
            curves[x] = curves[x][:: -1 if chosen_by == "frr" else 1]
        for i, target in enumerate(targets[f"{chosen_by}_targets"]):
            in_order = [x[rate].values[order] for x in (ds, *without_each)]
            rows = np.flatnonzero(ds[chosen_by].values[order] <= target)
            row = rows[-1] if chosen_by == "far" else rows[0]
            expected = naive_limits.at_target(
                target,
                columns(name, i),
                [float(x[row]) for x in in_order],
                curves[chosen_by],
                curves[rate],
            )
            found = ds[f"{name}_low"].values[i], ds[f"{name}_high"].values[i]
            assert found == pytest.approx(expected, abs=1e-9), (name, target)


def test_limits_depend_on_no_other_threshold():
    scores = be.simulate(25, 4, within=0.8, random_state=1)  # most scores are no threshold
    thresholds = [4.2, 5.0]
    of_thresholds = be.verification(scores, thresholds=thresholds, interval="people")
    more_thresholds = be.verification(
        scores, thresholds=[3.0, *thresholds, 6.0, 7.5], interval="people"
    )
    fewer = be.verification(scores, thresholds=thresholds, interval="people", far_targets=(0.2,))
    for name in ("far_low", "far_high", "frr_low", "frr_high"):
        np.testing.assert_array_equal(
            of_thresholds[name], more_thresholds[name].sel(threshold=thresholds)
        )
        np.testing.assert_array_equal(of_thresholds[name], fewer[name])
    assert (of_thresholds.eer_low, of_thresholds.eer_high) == (fewer.eer_low, fewer.eer_high)


def retrieval() -> be.Scores:
    """Queries of people in a gallery that also has other people."""
    scores = crowd(people=15)
    template_number = np.arange(45) % 3
    return scores.select(
        np.flatnonzero((template_number < 2) & (np.arange(45) < 36)),
        np.flatnonzero(template_number),
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda: be.verification(be.simulate(40, 4, within=0.8, random_state=1), interval="people"),
        lambda: be.open_set(be.simulate(40, 4, within=0.8, random_state=1), interval="people"),
        lambda: be.closed_set(be.simulate(40, 4, within=0.8, random_state=1), interval="people"),
        lambda: be.reid(retrieval(), "vehicleid", interval="people"),
        lambda: be.compare({f"{i}": be.simulate(20, 4, random_state=i) for i in range(3)}),
    ],
    ids=["verification", "open set", "closed set", "re-identification", "comparison"],
)
def test_limits_do_not_depend_on_threads(call):
    on_many_threads = call()
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        assert call().identical(on_many_threads)
    finally:
        numba.set_num_threads(threads)


def test_copies_for_threads_have_tables_of_their_own():
    counts = ImpostorsOfGroups(np.zeros(4, dtype=bool), 3, 100)
    copy = counts.fresh()
    for table in ("attempts", "_of_layer", "_of_group"):
        assert not np.shares_memory(getattr(counts, table), getattr(copy, table)), table


def embedded(*, gallery: bool) -> be.Scores:
    """Embeddings of people with unequal numbers of templates, in few steps."""
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(30), rng.integers(1, 5, 30))
    rng.shuffle(who)
    x = np.round(3 * rng.normal(size=(30, 6))[who] + 3 * rng.normal(size=(len(who), 6)))
    sides = (x[::2], who[::2], x[1::2], who[1::2]) if gallery else (x, who)
    return streaming(*sides, dtype="float32", metric="l1")


@pytest.mark.slow
@pytest.mark.parametrize("templates", ["single", "multi"])
@pytest.mark.parametrize(
    "make",
    [crowd, lambda: embedded(gallery=False), lambda: embedded(gallery=True)],
    ids=["matrix", "one set", "two sets"],
)
def test_limits_of_counted_attempts_are_those_of_listed_attempts(make, templates):
    """In small tiles of one set, most tiles stand for their mirror images, and some do not."""
    thresholds = [2.0, 3.0] if make is crowd else [15.0, 20.0]
    options = {"templates": templates, "thresholds": thresholds, "interval": "people"}
    of_listed_attempts = be.verification(make(), **options)
    with counted_by("counted", tile=8):
        of_counted_attempts = be.verification(make(), **options)
    names = [str(x) for x in of_listed_attempts.data_vars if str(x).endswith(("_low", "_high"))]
    assert len(names) > 10
    for name in names:
        np.testing.assert_allclose(
            of_counted_attempts[name], of_listed_attempts[name], rtol=1e-12, err_msg=name
        )


def test_replicates_that_need_too_much_memory_are_counted_at_selected_scores(monkeypatch):
    scores = be.simulate(150, 8, within=0.5, random_state=1)
    distances = 2 * scores.shape[0]  # of the mate, and of the nearest other person
    drawn = be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    limits = []
    for columns in (1, 101, 120, 1000):  # of which a result has 101
        monkeypatch.setattr("bioeval.stats.search_columns.MOST_CELLS", columns * distances)
        limits.append(be.open_set(scores, interval=drawn).eer_high.item())
    assert limits[1] == limits[2] == limits[3] != limits[0]


def test_limits_of_retrieval_are_those_of_the_queries_of_the_others():
    scores = retrieval()
    ds = be.reid(scores, "vehicleid", interval="people")
    assert ds.attrs["interval_for"] == "this gallery"
    searching = np.unique(scores.probe_labels)
    without_each = [
        be.reid(scores.select(probes=np.flatnonzero(scores.probe_labels != a)), "vehicleid")
        for a in searching
    ]
    for name in ("mean_ap", "mean_inp"):
        columns = [float(x[name]) for x in (ds, *without_each)]
        expected = naive_limits.student(columns, len(searching))
        assert (ds[f"{name}_low"], ds[f"{name}_high"]) == pytest.approx(expected, abs=1e-9)
    columns = [float(x.cmc[0]) for x in (ds, *without_each)]
    expected = naive_limits.rate(columns, len(scores.probe_labels), len(searching), 1)
    assert (ds.cmc_low[0], ds.cmc_high[0]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("method", ["people", "subject-bootstrap"])
def test_without_an_error_limits_are_the_rule_of_3_on_people(method):
    labels = np.repeat(np.arange(20), 3)
    values = np.where(labels[:, None] == labels, 0.0, 1.0)
    ds = be.verification(be.Scores(values, labels), thresholds=[0.5], interval=method)
    assert ds.frr_high.item() == pytest.approx(1 - 0.05 ** (1 / 20))
    assert ds.far_high.item() == pytest.approx(1 - 0.05 ** (1 / 10))  # ten disjoint pairs
    assert (ds.frr_low, ds.far_low) == (0, 0)


def spread(people: int, templates: np.ndarray | int, seed: int, failing: int = 0) -> be.Scores:
    """Distances in which people differ; some people always fail, and others seldom."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), templates)
    own = np.where(np.arange(people) < failing, 30.0, rng.normal(0, 0.5, people))
    noise = np.triu(rng.normal(size=(len(who), len(who))), 1)
    same = who[:, None] == who
    values = np.where(same, own[who][:, None], 6.0) + noise + noise.T
    np.fill_diagonal(values, 0)
    return be.Scores(values, who)


@pytest.mark.parametrize("failing", [1, 2, 5])
def test_of_few_who_err_each_is_worth_one_trial(failing):
    """Thresholds at which others err as well do not say how many always fail."""
    scores = spread(20, 4, seed=failing, failing=failing)
    threshold = 4.5  # of the others, nobody is rejected
    ds = be.verification(scores, thresholds=[threshold], interval="people")
    assert ds.frr == pytest.approx(failing / 20)
    beta = scipy.stats.beta.ppf
    assert ds.frr_low == pytest.approx(beta(0.025, failing, 21 - failing))
    twice = (failing + min(failing, 2)) / (20 + 2)  # two people count twice
    assert ds.frr_high >= beta(0.975, 20 * twice + 1, 20 - 20 * twice) - 1e-12
    closed = be.closed_set(scores, interval="people")
    assert closed.recognition_rate == pytest.approx(1 - failing / 20)
    assert 1 - closed.recognition_rate_low >= beta(0.975, failing + 1, 20 - failing) - 1e-12


def test_whether_enough_err_is_judged_by_the_attempts_of_each():
    """Of 20 people, two make nine tenths of the attempts, and all err alike."""
    templates = np.where(np.arange(20) < 2, 30, 3)
    scores = spread(20, templates, seed=1)
    ds = be.verification(scores, thresholds=[1.0], interval="people")
    own = templates * (templates - 1) / 2
    assert naive_limits.kish(own) < 2.3
    assert ds.frr_high > 0.7
    equal = be.verification(spread(20, 5, seed=1), thresholds=[1.0], interval="people")
    assert equal.frr_high - equal.frr_low < 0.5 * (ds.frr_high - ds.frr_low)


@pytest.mark.parametrize("people", [8, 12])
def test_what_cannot_be_estimated_is_not_promised(people):
    """A FAR below 3 over the pairs of people is neither supported nor promised without errors."""
    scores = be.simulate(people, 4, within=0.05, random_state=1)
    pairs = people * (people - 1) // 2
    ds = be.verification(scores, far_targets=[2.9 / pairs], interval="people")
    assert ds.frr_at_far_supported == 0 and ds.frr_at_far_high == 1
    impostor = scores.values[scores.probe_labels[:, None] != scores.gallery_labels]
    threshold = float(np.nextafter(impostor.min(), 0))
    promise = be.check_promise(scores, threshold, f"far={2.9 / pairs}")
    assert promise["far"] == 0 and promise.verdict.item() == "open"
    assert promise["far_high"] >= 1 - 0.05 ** (1 / pairs) - 1e-12


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("unit", ["template", "subject", "session"])
@pytest.mark.parametrize("ties", ["pessimistic", "expected"])
def test_limits_of_searches_are_those_of_galleries_without_each(unit, ties):
    """Without each person, of ranks among templates and subjects; or without each session."""
    scores = in_sessions(steps=8)
    interval = SESSIONS if unit == "session" else "people"
    options = {"rank_unit": "subject" if unit == "subject" else "template", "ties": ties}
    grid = np.unique(scores.values)
    ds = be.open_set(scores, thresholds=grid, interval=interval, max_rank=6, **options)
    closed = be.closed_set(scores, interval=interval, max_rank=3, **options)
    assert ds.attrs["interval_method"] == "people"
    assert ds.attrs["interval_for"] == closed.attrs["interval_for"] == "new people"
    left_out = scores.probe_meta["session"] if unit == "session" else scores.probe_labels
    without_each = [
        scores.select(*[np.flatnonzero(left_out != x)] * 2) for x in np.unique(left_out)
    ]
    units = len(without_each)
    opened_without = [be.open_set(x, thresholds=grid, **options) for x in without_each]
    ranked = [be.closed_set(x, **options) for x in (scores, *without_each)]
    for name, sides in (("far", 2), ("dir", 1)):
        for k in (0, 4) if name == "dir" else (0,):  # ranks that tables show
            rate, low, high = (
                x if name == "far" else x[:, k]
                for x in (ds[f"{name}{end}"].values for end in ("", "_low", "_high"))
            )
            rates = [
                x[name].values if name == "far" else x[name].values[:, k] for x in opened_without
            ]
            places = [[rate[t], *(x[t] for x in rates)] for t in range(len(grid))]
            limits = naive_limits.curve(
                places,
                scores.shape[0],
                units / sides,
                sides,
                least=units / 2,
                shares=[1 / units] * units,  # of the searches
            )
            expected = np.array([limits(x) for x in rate])
            np.testing.assert_allclose(low, expected[:, 0], atol=1e-7)
            np.testing.assert_allclose(high, expected[:, 1], atol=1e-7)
    places = [
        [x.cms.values[min(k, x.sizes["rank"] - 1)] for x in ranked]
        for k in range(ranked[0].sizes["rank"])
    ]
    limits = naive_limits.curve(places, scores.shape[0], units, 1, least=units / 2)
    expected = np.array([limits(x) for x in closed.cms.values])
    np.testing.assert_allclose(closed.cms_low, expected[:, 0], atol=1e-9)
    np.testing.assert_allclose(closed.cms_high, expected[:, 1], atol=1e-9)
    assert 0 < ds.eer_low < ds.eer < ds.eer_high < 1 or unit == "session"
    low, value, high = (ds[f"dir_at_far{end}"].sel(rank=[1, 5]) for end in ("_low", "", "_high"))
    assert ((low <= value) & (value <= high)).all() or unit == "session"


def test_where_people_are_drawn_again_the_gallery_stays():
    scores = be.simulate(30, 3, within=0.9, random_state=1)
    interval = be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    for task in (be.open_set, be.closed_set):
        ds = task(scores, interval=interval)
        assert ds.attrs["interval_for"] == "this gallery" and ds.attrs["replicates"] == 100
    about = be.verification(scores, interval=interval).attrs
    assert (about["interval_unit"], about["interval_for"]) == ("people", "new people")
    about = be.verification(scores, interval="wilson").attrs
    assert (about["interval_unit"], about["interval_for"]) == ("attempts", "new attempts")


def test_ranks_without_room_have_no_limits(monkeypatch):
    scores = be.simulate(12, 3, within=2.0, random_state=0)
    closed = be.closed_set(scores, interval="people")
    monkeypatch.setattr("bioeval.counting.searches_without.MOST_PAIRS", 100)
    fewer = be.closed_set(scores, interval="people")
    number_with_limits = int(np.isfinite(fewer.cms_low).sum())
    assert (
        1 < number_with_limits < 10
        and arguments(fewer, "no-interval")["of"] == f"ranks above {number_with_limits}"
    )
    assert np.isfinite(closed.cms_low).all()
    opened = be.open_set(scores, interval="people")
    ranks_with_limits = [
        rank for rank in opened["rank"].values if rank in (1, 5, 10) and rank <= number_with_limits
    ]
    assert np.isfinite(opened.dir_low.sel(rank=ranks_with_limits)).all()
    assert np.isfinite(opened.dir_low).sum() == opened.dir_low.sel(rank=ranks_with_limits).size


def test_two_people_are_too_few():
    scores = be.simulate(2, 4, random_state=0)
    for task, names in ((be.open_set, ("far", "dir", "eer")), (be.closed_set, ("cms",))):
        ds = task(scores, interval="people")
        assert arguments(ds, "no-interval")["of"] == "rates for new people"
        assert all(np.isnan(ds[f"{name}_{end}"]).all() for name in names for end in ("low", "high"))


def test_of_many_people_groups_are_left_out(monkeypatch):
    scores = crowd(people=9)
    monkeypatch.setattr("bioeval.stats.weighted_sums.GROUPS", 3)
    ds = be.verification(scores, interval="people")
    assert arguments(ds, "left-out-in-groups") == {"subjects": 9, "groups": 3}
    labels = scores.probe_labels
    group = np.unique(labels, return_inverse=True)[1] // 3
    values = [
        float(be.verification(scores.select(*[np.flatnonzero(group != g)] * 2)).auc)
        for g in range(3)
    ]
    expected = naive_limits.student([float(ds.auc), *values], 4)
    assert (ds.auc_low, ds.auc_high) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("people", "degrees", "is_moved"), [(11, 4.06, True), (12, 4.0, False)])
def test_few_people_move_rates_from_two_fifths_of_the_degrees_of_freedom(people, degrees, is_moved):
    """One person moves the rate by three parts, and each of three people by one part."""
    columns = np.full(1 + people, 0.5)
    columns[1:5] += [0.03, -0.01, -0.01, -0.01]
    _, freedom = jackknife(columns)
    assert freedom == pytest.approx(degrees, abs=0.01)
    assert moved_by_many(columns) == is_moved


def in_sessions(**options: float) -> be.Scores:
    """People in sessions of three."""
    scores = crowd(**options)
    session = np.array([f"day {x}" for x in np.arange(36) // 9])
    return be.Scores(
        scores.values,
        scores.probe_labels,
        probe_meta={"session": session, "alone": scores.probe_labels},
    )


SESSIONS = be.stats.IntervalMethod("people", unit="session")


@pytest.mark.filterwarnings("ignore")
def test_sessions_are_left_out_whole():
    scores = in_sessions()
    sessions = np.unique(scores.probe_meta["session"])
    ds = be.verification(scores, interval=SESSIONS)
    assert ds.attrs["interval_unit"] == "session"
    remaining = [np.flatnonzero(scores.probe_meta["session"] != x) for x in sessions]
    values = [float(be.verification(scores.select(x, x)).auc) for x in remaining]
    expected = naive_limits.student([float(ds.auc), *values], len(sessions) / 2)
    at_least = (1 - ds.eer_high.item()) ** 2
    assert ds.auc_low.item() == pytest.approx(max(expected[0], at_least), abs=1e-9)
    assert ds.auc_high.item() == pytest.approx(expected[1], abs=1e-9)
    message = arguments(ds, "interval-of-few-units")
    assert (message["units"], message["unit"]) == (4, "session")


@pytest.mark.filterwarnings("ignore")
def test_units_of_one_person_are_people():
    scores = in_sessions()
    alone = be.stats.IntervalMethod("people", unit="alone")
    for task in (be.verification, be.open_set, be.closed_set):
        of_units, of_people = (task(scores, interval=x) for x in (alone, "people"))
        for name in of_people.data_vars:
            np.testing.assert_array_equal(of_units[name], of_people[name], err_msg=str(name))
    systems = {"a": scores, "b": in_sessions()}
    measures = ["auc", "recognition_rate"]
    of_units, of_people = (
        be.compare(systems, measures=measures, interval=x) for x in (alone, "people")
    )
    np.testing.assert_array_equal(of_units.auc_low, of_people.auc_low)
    promises = ["far=0.1", "frr=0.3"]
    of_units = be.check_promise(scores, 5.5, promises, unit="alone")
    of_people = be.check_promise(scores, 5.5, promises)
    assert (of_units.far_high, of_units.frr_low) == (of_people.far_high, of_people.frr_low)
    of_sessions = be.check_promise(scores, 5.5, promises, unit="session")
    assert of_sessions.far_high > of_people.far_high and of_sessions.frr_high > of_people.frr_high


@pytest.mark.filterwarnings("ignore")
def test_people_who_share_a_value_through_others_are_one_unit():
    scores = crowd(people=4, each=2)
    session = np.array(["a", "a", "a", "b", "b", "c", "d", "d"])  # of each template
    labels = np.repeat(np.arange(4), 2)
    joined = be.Scores(scores.values, labels, probe_meta={"session": session})
    parts = be.Scores(scores.values, labels, probe_meta={"session": np.repeat([0, 0, 0, 1], 2)})
    for task in (be.verification, be.closed_set):
        one, other = (task(x, interval=SESSIONS) for x in (joined, parts))
        names = [x for x in one.data_vars if str(x).endswith(("_low", "_high"))]
        for name in names:
            np.testing.assert_array_equal(one[name], other[name], err_msg=str(name))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda x: be.verification(x, interval=SESSIONS), "'session', which is no column"),
        (lambda x: be.stats.IntervalMethod("wilson", unit="session"), 'for the method "people"'),
        (lambda x: be.judge_threshold(x, x, interval=SESSIONS), "people are left out one by one"),
    ],
)
def test_units_that_cannot_be_are_refused(call, says):
    with pytest.raises(be.DataError, match=says):
        call(crowd(people=4))
