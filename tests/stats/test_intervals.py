"""Intervals of results: each replicate against resampling people by hand, and what users see."""

import naive
import numpy as np
import pytest
import strategies
from hypothesis import example, given, settings, strategies as st
from limits import few_replicates, people_drawn
from reference import one_thread  # noqa: F401
from result_messages import arguments
from strategies import examples_of

import bioeval as be
from bioeval import stats
from bioeval.counting.threshold_rules import PointsWanted
from bioeval.counting.thresholds import check_costs
from bioeval.counting.verification import Use, verify
from bioeval.stats.verification import VerificationColumns

TARGETS = (0.5, 0.1, 0.0)


def few(
    method: str = "subject-bootstrap", number: int = 8, seed: int = 3
) -> be.stats.IntervalMethod:
    return few_replicates(method, number, seed)


def drawn_by(scores, interval, **options):
    use = Use(options.pop("templates", "single"), options.pop("fusion", "best"))
    points_wanted = PointsWanted(
        np.array(TARGETS),
        check_costs(PointsWanted.DEFAULT_COSTS),
        every_score=True,
        frr_targets=np.array(TARGETS),
    )
    verified = verify(scores, use, wanted=points_wanted, **options)
    points = verified.find_points(symmetric=False, with_thresholds=False)
    return VerificationColumns(verified, points, interval)


# ------------------------------------------------------------------ by hand


def attempts_between(case, templates, fusion):
    """Distances of all attempts, by (subject of the probe, subject claimed)."""
    data = naive.read(**case.naive())
    undefined = naive.FAILED if case.nan == "reject" else naive.INF
    attempts: dict = {}
    for i, row in enumerate(data.rows):
        probe_subject = data.probe_labels[i]
        if templates == "single":
            for cell in row:
                attempts.setdefault((probe_subject, cell.subject), []).append(cell.distance)
            continue
        for (_, subject), cells in naive.groups(row).items():
            fused = naive.fuse([cell.distance for cell in cells], fusion, undefined)
            if fused is not None:
                attempts.setdefault((probe_subject, subject), []).append(fused)
    return attempts


def resampled(found, people):
    """Genuine and impostor distances where these people took part, repeats included."""
    genuine, impostor = [], []
    for i, probe_person in enumerate(people):
        for j, gallery_person in enumerate(people):
            if i == j:
                genuine += found.get((probe_person, probe_person), [])
            elif probe_person != gallery_person:
                impostor += found.get((probe_person, gallery_person), [])
    return genuine, impostor


def replicates_of_people(drawn, attempts, people):
    """Yield each replicate with its genuine and impostor distances; its FAR and FRR are checked."""
    weights = people_drawn(len(people), 8)
    thresholds = drawn.grid.thresholds
    for replicate in range(8):
        copies = [p for k, p in enumerate(people) for _ in range(int(weights[k, replicate]))]
        genuine, impostor = resampled(attempts, copies)
        far = [naive.rate(sum(d <= t for d in impostor), len(impostor)) for t in thresholds]
        frr = [naive.rate(sum(d > t for d in genuine), len(genuine)) for t in thresholds]
        curve = drawn.replicates.curve
        for rates, expected in ((curve.far, far), (curve.frr, frr)):
            expected = np.array(expected, dtype=float)
            np.testing.assert_allclose(rates[:, 1 + replicate], expected, rtol=1e-15)
        yield replicate, genuine, impostor


def people_of(scores):
    return scores.codes.values[
        np.unique(np.concatenate([scores.codes.probe, scores.codes.gallery]))
    ].tolist()


@settings(max_examples=examples_of(25))
@given(
    case=strategies.matrices(nans=("reject", "exclude"), masks=("none", "labelled")),
    multi=st.sampled_from([None, "best", "mean"]),
)
@example(
    case=strategies.Case(
        values=np.array([[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, np.inf, -np.inf, 0]]),
        probe_labels=[7, 7, 7, -3], gallery_labels=None, kind="distance", nan="reject", mask=None,
    ),
    multi="mean",
)  # fmt: skip
def test_each_replicate_is_what_resampling_people_gives(case, multi):
    options = {"templates": "single"} if multi is None else {"templates": "multi", "fusion": multi}
    scores = be.Scores(**case.scores())
    drawn = drawn_by(scores, few(), **options)
    attempts = attempts_between(case, options["templates"], multi or "best")
    people = people_of(scores)
    if len(people) == 1:
        assert drawn.replicates.curve.far.shape[1] == 1
        return
    for replicate, genuine, impostor in replicates_of_people(drawn, attempts, people):
        all_people = {name: values[..., 0] for name, values in drawn.replicates.values.items()}
        if np.isnan(all_people["eer"]):
            continue
        expected = {
            "eer": naive.eer(genuine, impostor, "distance").value,
            "auc": naive.auc(genuine, impostor, "distance"),
            "frr_at_far": [naive.frr_at_far(genuine, impostor, "distance", x)[0] for x in TARGETS],
            "far_at_frr": [naive.far_at_frr(genuine, impostor, "distance", x)[0] for x in TARGETS],
        }
        for name, value in expected.items():
            replicate_values = drawn.replicates.values[name][..., 1 + replicate]
            value = np.where(np.isnan(all_people[name]), np.nan, np.array(value, dtype=float))
            np.testing.assert_allclose(
                replicate_values, np.array(value, dtype=float), atol=1e-12, err_msg=name
            )


@settings(max_examples=examples_of(20))
@given(data=st.data(), case=strategies.matrices(nans=("exclude",), kinds=("distance",)))
def test_claims_and_pairs_are_resampled_like_the_cells_they_are(data, case):
    scores = be.Scores(**case.scores())
    claims = data.draw(strategies.claims(case))
    people = people_of(scores)
    probes = naive.claim_list(claims, len(case.probe_labels))
    taking_part = sorted(
        {people.index(case.probe_labels[i]) for i, _ in probes}
        | {people.index(label) for _, label in probes}
    )
    drawn = drawn_by(scores, few(), claims=claims)
    people_in_parts = [people[k] for k in taking_part]
    parts = naive.read(**case.naive())
    attempts: dict = {}
    for i, subject in probes:
        cells = [c.distance for c in parts.rows[i] if c.subject == subject]
        attempts.setdefault((parts.probe_labels[i], subject), []).extend(cells)
    if len(people_in_parts) < 2:
        return
    assert len([*replicates_of_people(drawn, attempts, people_in_parts)]) == 8


def test_a_list_of_all_pairs_is_the_matrix():
    """The labels of pairs are numbered in the order of appearance, which is that of the matrix."""
    scores = be.simulate(12, 3, random_state=4)
    pairs = scores.at_pairs(*np.nonzero(~np.eye(36, dtype=bool)))
    options = {"interval": "people", "n_thresholds": 50}
    of_matrix, of_list = be.verification(scores, **options), be.verification(pairs, **options)
    for name in ("far", "frr", "eer", "frr_at_far", "auc", "min_dcf"):
        for end in ("low", "high"):
            limits = of_matrix[f"{name}_{end}"], of_list[f"{name}_{end}"]
            np.testing.assert_allclose(*limits, rtol=0, atol=1e-12, err_msg=name)


def exact_worlds():
    """Scores of many distinct values, of values with ties, of two sides, and with failures."""
    scores = be.simulate(30, 4, random_state=5, within=0.9)
    values, people = np.array(scores.values), scores.probe_labels
    failing = values.copy()
    failing[np.random.default_rng(3).random(values.shape) < 0.02] = np.nan
    is_probe = np.arange(len(people)) % 4 < 2
    return {
        "distinct": scores,
        "ties": be.Scores(np.round(values, 2), people),
        "failures": be.Scores(failing, people, nan="reject"),
        "two sides": be.Scores(
            values[np.ix_(is_probe, ~is_probe)], people[is_probe], people[~is_probe]
        ),
    }


@pytest.mark.parametrize("world", ["distinct", "ties", "failures", "two sides"])
def test_measures_without_each_person_are_those_of_the_others(world):
    """By evaluating the scores anew without each person, as a probe and in the gallery."""
    scores = exact_worlds()[world]
    draws = drawn_by(scores, be.stats.IntervalMethod("people"))
    sides = scores.probe_labels, scores.gallery_labels
    options = {"far_targets": TARGETS, "frr_targets": TARGETS, "costs": PointsWanted.DEFAULT_COSTS}
    without_each = []
    for person in people_of(scores):
        probes, gallery = (np.flatnonzero(x != person) for x in sides)
        other_scores = scores.select(probes=probes, gallery=gallery)
        without_each.append(be.verification(other_scores, **options))
    for name in ("eer", "auc", "eer_hull", "min_dcf", "frr_at_far", "far_at_frr"):
        expected = np.array([ds[name].values for ds in without_each]).T
        values_without_person = draws.without.values[name][..., 1:]
        is_known = np.broadcast_to(
            ~np.isnan(draws.without.values[name][..., :1]), values_without_person.shape
        )
        np.testing.assert_allclose(
            values_without_person[is_known], expected[is_known], atol=1e-12, err_msg=name
        )


def test_of_too_many_scores_to_count_at_each_errors_are_nearly_exact(monkeypatch):
    scores = be.simulate(40, 4, random_state=5, within=0.9)
    exact = drawn_by(scores, be.stats.IntervalMethod("people"))
    monkeypatch.setattr("bioeval.stats.curve_thresholds.MOST_CELLS", 41 * 250)
    nearly_exact = drawn_by(scores, be.stats.IntervalMethod("people"))
    assert len(nearly_exact.counted_at) < 300 < len(exact.counted_at)
    for name in ("auc", "eer_hull", "min_dcf"):
        errors = [x.without.values[name][..., 1:].std(axis=-1) for x in (nearly_exact, exact)]
        assert errors[0] == pytest.approx(errors[1], rel=0.05), name
    monkeypatch.setattr("bioeval.stats.curve_thresholds.MOST_CELLS", 41 * 300)
    few, many = (
        be.verification(scores, far_targets=targets, interval="people")
        for targets in ([0.01], [0.001, 0.01])
    )
    for name in ("eer_low", "eer_high", "auc_low", "auc_high"):
        assert few[name] == many[name], name  # at whatever targets FRR is asked for


# ------------------------------------------------------------------ in results


@pytest.fixture(scope="module")
def scores():
    return be.simulate(40, 4, random_state=7, within=0.8)


@pytest.mark.parametrize("method", stats.METHODS)
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_intervals_hold_their_values_and_ends_rise_where_there_are_errors(scores, method, kind):
    if kind == "similarity":
        scores = be.Scores(-scores.values, scores.probe_labels, kind=kind)
    options = {"interval": be.stats.IntervalMethod(method, replicates=200)}
    by_subject = method in ("people", "subject-bootstrap")
    datasets = {
        "verification": be.verification(scores, frr_targets=[0.1, 0.02], **options),
        "open set": be.open_set(scores, **options),
        "closed set": be.closed_set(scores, **options),
    }
    names = {
        "verification": ["gar", "frr", "far", "grr", "frr_at_far", "far_at_frr"],
        "open set": ["far", "frr", "grr", "dir", "dir_at_far"],
        "closed set": ["cms"],
    }
    for task, ds in datasets.items():
        assert (ds.attrs["interval_method"], ds.attrs["confidence"]) == (method, 0.95)
        assert ("replicates" in ds.attrs) == (method == "subject-bootstrap")
        for name in names[task] + ["eer", "auc"] * (by_subject and task == "verification"):
            low, value, high = (ds[f"{name}{end}"] for end in ("_low", "", "_high"))
            if "rank" in low.dims and task == "open set" and by_subject:
                low, value, high = (x.sel(rank=[1, 5, 10]) for x in (low, value, high))
            assert (low >= 0).all() and (high <= 1).all() and (low < high).all(), name
            assert ((low <= value + 1e-9) & (value <= high + 1e-9)).all(), name
    ds = datasets["verification"]
    assert ("eer_low" in ds) == ("eer_low" in datasets["open set"]) == by_subject
    for name in ("gar", "frr", "far", "grr"):
        low, value, high = (ds[f"{name}{end}"].values for end in ("_low", "", "_high"))
        sign = 1 if (np.diff(value) >= 0).all() else -1
        is_inside = (value > 0) & (value < 1)  # 0 and 1 have the bound by subjects
        for end in (low[is_inside], high[is_inside]):
            assert (sign * np.diff(end) >= -1e-12).all(), name


@pytest.mark.slow
def test_an_evaluation_rests_on_the_same_draws(scores):
    interval = be.stats.IntervalMethod("subject-bootstrap", replicates=100, random_state=5)
    options = {"interval": interval, "far_targets": [0.1]}
    tree = be.evaluate(scores, **options)
    for node in ("verification/single", "open_set", "closed_set"):
        task = getattr(be, node.partition("/")[0])
        of_task = task(scores, **options if node != "closed_set" else {"interval": interval})
        for name in of_task.data_vars:
            if not name.startswith("threshold"):
                labels = {dim: of_task[dim] for dim in of_task[name].dims}
                same = of_task[name].identical(tree[node][name].sel(labels))
                assert same, (node, name)


def test_wilson_is_over_the_attempts_of_the_class(scores):
    ds = be.verification(
        scores, thresholds=[3.0, 4.0], interval=be.stats.IntervalMethod("wilson", confidence=0.9)
    )
    low, high = stats.wilson(ds.fr.values, int(ds.genuine_attempts), 0.9)
    np.testing.assert_array_equal(ds.frr_low, low)
    np.testing.assert_array_equal(ds.gar_low, 1 - high)
    assert arguments(ds, "dependent-attempts")["method"] == "wilson"


def test_without_errors_ends_are_open():
    scores = be.simulate(30, 3, random_state=1, within=0.01)  # no two people resemble each other
    ds = be.verification(scores, interval="people")
    assert ds.eer == 0 and ds.auc == 1
    bound = 1 - 0.05 ** (1 / 15)  # of 30 people, 15 disjoint pairs
    # Every curve with this EER has at least this AUC.
    assert ds.auc_low >= (1 - ds.eer_high.item()) ** 2 - 1e-12 and ds.auc_high == 1
    assert (ds.eer_hull_low, ds.eer_hull_high) == (ds.eer_low, pytest.approx(ds.eer_high.item()))
    # Other thresholds, at which enough people err, do not say who never errs at this one: of
    # 30 people, and of their 435 pairs, none more than one trial.
    high = [ds[f"{x}_high"].values[ds[x].values == 0][0] for x in ("frr", "far")]
    assert high[0] == pytest.approx(1 - 0.05 ** (1 / 30))
    assert 1 - 0.05 ** (1 / 435) <= high[1] + 1e-12 < bound / 5
    assert (ds.eer_low, ds.eer_high) == (0, pytest.approx(max(high)))
    # Of 30 people there are 435 pairs, too few for a FAR of 0.1 %.
    np.testing.assert_allclose(ds.frr_at_far_high, [high[0], high[0], 1, 1])
    assert 0.001 in arguments(ds, "limit-not-supported")["targets"]
    assert (ds.far_high > 0).all() and (ds.frr_high > 0).all()


def test_few_people():
    one_subject = be.verification(be.Scores([[0, 1], [1, 0]], ["a", "a"]), interval="people")
    message = arguments(one_subject, "interval-of-few-subjects")
    assert (message["subjects"], message["fault"]) == (1, "not defined")
    assert np.isnan(one_subject.frr_low).all() and np.isnan(one_subject.far_high).all()
    square = np.array([[0, 1, 3, 4], [1, 0, 2, 5], [3, 2, 0, 1], [4, 5, 1, 0.0]])
    two = be.verification(be.Scores(square, ["a", "a", "b", "b"]), interval="people")
    message = arguments(two, "interval-of-few-subjects")
    assert (message["subjects"], message["fault"]) == (2, "too narrow")
    assert not np.isnan(two.frr_low).any()


@pytest.mark.parametrize("method", stats.METHODS)
def test_many_impostor_scores_none_of_which_is_finite(method):
    labels = np.arange(270) // 3
    values = np.where(labels[:, None] == labels, np.arange(270.0), np.inf)
    ds = be.verification(
        be.Scores(values, labels), interval=be.stats.IntervalMethod(method, replicates=100)
    )
    assert ds.threshold[-1] == np.inf and ds.far[-1] == 1
    finite = ds.isel(threshold=slice(0, -1))
    assert (finite.far == 0).all() and (finite.far_low == 0).all()
    assert (finite.far_high > 0).all() and (finite.far_high < 0.2).all()
    assert (ds.frr_high > ds.frr_low).all()


PAIRS = be.Scores.from_pairs([0.1, 0.5], [True, False])
MASKED = be.Scores(np.ones((3, 3)), mask=np.array([[0, 2, 1], [2, 0, 1], [1, 1, 0]]))


@pytest.mark.parametrize(
    ("task", "scores", "says"),
    [
        *((x, MASKED, 'a mask does not.*interval="wilson"') for x in
          (be.verification, be.open_set, be.closed_set, be.evaluate)),
        (be.verification, PAIRS, "subject_a.*subjects= to Scores.from_pairs"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["people", "subject-bootstrap"])
def test_subjects_must_be_known(task, scores, says, method):
    with pytest.raises(be.ProtocolError, match=says):
        task(scores, interval=method)
    assert "far_low" in be.verification(scores, interval="clopper-pearson")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "bootstrap"}, "subject-bootstrap"),
        ({"method": "wilsons"}, "Did you mean 'wilson'"),
        ({"confidence": 95}, "0.95"),
        ({"replicates": 9}, "replicates"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_options_that_cannot_be_are_refused(scores, options, says):
    with pytest.raises(be.DataError, match=says):
        method = be.stats.IntervalMethod(**{"method": "subject-bootstrap", **options})
        be.verification(scores, interval=method)


# ------------------------------------------------------------------ the same everywhere


def test_what_is_left_out_has_no_interval(scores):
    ds = be.verification(
        scores,
        auc=False,
        far_targets=[],
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    )
    assert "auc_low" not in ds and "auc" not in ds
    assert ds.frr_at_far_low.shape == (0,) and not np.isnan(ds.eer_low)


@pytest.mark.parametrize("method", stats.METHODS)
def test_degenerate_scores(method):
    """Whatever the scores are, there is a result: no warning, no end without a reason."""
    values = np.random.default_rng(0).random((6, 6))
    labels = list("aabbcc")
    options = {"interval": be.stats.IntervalMethod(method, replicates=100)}
    failed = values.copy()
    failed[0] = np.nan
    for square in (np.full((6, 6), np.inf), np.ones((6, 6)), failed, np.full((6, 6), np.nan)):
        tree = be.evaluate(be.Scores(square, labels, nan="exclude"), **options)
        ds = tree["verification/single"]
        assert (np.isnan(ds.frr_low) == np.isnan(ds.frr)).all()
        assert (np.isnan(ds.far_high) == np.isnan(ds.far)).all()
    none = be.verification(
        be.Scores(values, labels), claims=(np.empty(0, dtype=int), []), **options
    )
    assert np.isnan(none.far_low).all() and none.genuine_attempts == 0
    unenrolled_probes = be.evaluate(be.Scores(values, labels, list("xyzxyz")), **options)
    assert np.isnan(unenrolled_probes["open_set"].dir_low).all()


@pytest.mark.parametrize("method", stats.METHODS)
def test_intervals_have_no_point_that_accepts_all(method):
    """With three of four genuine attempts failed and few false accepts there is no EER."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(12), 3)
    values = rng.random((36, 36)) + 3.0 * (labels[:, None] != labels)
    values[rng.random(values.shape) < 0.7] = np.nan
    scores = be.Scores(values, labels, nan="reject")
    ds = be.verification(scores, interval=method, frr_targets=[0.5])
    assert np.isnan([ds.eer, ds.far_at_frr.item()]).all()
    assert np.isnan([ds.far_at_frr_low, ds.far_at_frr_high]).all()
    assert (ds.frr_high >= ds.frr - 1e-12).all()
    if method in ("people", "subject-bootstrap"):
        assert np.isnan([ds.eer_low, ds.eer_high]).all()
        assert ds.auc_low <= ds.auc <= ds.auc_high


# ------------------------------------------------------------------ searches


@pytest.mark.parametrize(
    ("ties", "failed"), [("pessimistic", 0), ("expected", 0), ("pessimistic", 4)]
)
def test_limits_are_those_of_people_who_search_drawn_again(ties, failed):
    """Their probes are repeated as often as they are drawn, in the same gallery."""
    scores = be.simulate(9, 4, within=0.9, random_state=2)
    values = np.round(scores.values * 4) / 4
    labels = scores.probe_labels
    rows, columns = np.flatnonzero(np.arange(36) % 4 < 2), np.flatnonzero(np.arange(36) % 4 > 1)
    values[rows[:failed]] = np.nan  # searches of which every comparison failed
    resampled = be.Scores(
        values[np.ix_(rows, columns)], labels[rows], labels[columns], nan="reject"
    )
    grid = np.unique(resampled.values[failed:])
    options = {"far_targets": (0.5, 0.2, 0.0), "ties": ties, "max_rank": 5}
    method = few_replicates("subject-bootstrap", 7)
    open_set = be.open_set(resampled, thresholds=grid, interval=method, **options)
    closed = be.closed_set(resampled, ties=ties, max_rank=5, interval=method)
    weights = people_drawn(9, 7)
    drawn = []
    for column in weights.T.astype(int):
        copies = np.repeat(np.arange(18), column[np.arange(18) // 2])
        part = resampled.select(probes=copies)
        drawn.append(be.open_set(part, thresholds=grid, **options))
    for ds, name in (
        (open_set, "far"), (open_set, "dir"), (open_set, "dir_at_far"), (open_set, "eer"),
        (closed, "cms"),
    ):  # fmt: skip
        if name == "cms":  # at any threshold
            replicates = np.array([x["dir"].values[-1] for x in drawn])
        else:
            replicates = np.array([x[name].values for x in drawn])
        if name.startswith("dir"):  # at the ranks that tables show
            assert np.isnan(ds[f"{name}_low"].sel(rank=[2, 3, 4])).all()
            ds, replicates = ds.sel(rank=[1, 5]), replicates[..., [0, 4]]
        value = ds[name].values
        is_inside = (value > 1e-9) & (value < 1 - 1e-9)  # others have a bound by people
        for end, level in (("low", 0.025), ("high", 0.975)):
            expected = np.nanquantile(replicates, level, axis=0)  # NaN: the curves do not cross
            limits = ds[f"{name}_{end}"].values
            if name == "dir_at_far" and end == "low":
                is_inside = is_inside & (limits > 0)  # where the people support the target
            np.testing.assert_allclose(
                limits[is_inside], expected[is_inside], atol=1e-9, err_msg=name
            )


@pytest.mark.parametrize("gallery", ["new people", "this gallery"])
def test_a_far_that_the_searches_cannot_support_leaves_dir_without_a_lower_limit(gallery):
    scores = be.simulate(25, 4, within=0.5, random_state=1)
    if gallery == "this gallery":
        scores = scores.select(np.arange(100) % 4 < 2, np.arange(100) % 4 > 1)
    ds = be.open_set(scores, far_targets=[0.2, 0.01], interval="people")
    assert ds.attrs["interval_for"] == gallery
    assert (ds.dir_at_far_low.sel(far_target=0.01, rank=1) == 0) and ds.impostor_attempts < 300
    assert ds.dir_at_far_low.sel(far_target=0.2, rank=1) > 0
    assert arguments(ds, "limit-not-supported")["targets"] == [0.01]
