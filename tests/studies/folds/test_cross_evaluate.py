"""Folds in one sweep: the same counts and costs, fold by fold, as loops from the definitions."""

import math
from typing import Any

import naive
import numpy as np
import pytest
import scipy
import strategies as cases
import xarray as xr
from hypothesis import assume, given, strategies as st
from limits import blocks_of
from naive_folds import RULES, assert_folds, folds_of
from named_arguments import raises_about
from reference import (  # noqa: F401
    assert_same_but_d_prime,
    one_thread,
)
from result_messages import arguments, codes
from result_text import as_text
from ways import counted_by

import bioeval as be


@pytest.mark.parametrize("by_subject", [False, True])
@given(data=st.data())
def test_folds_equal_the_definition(by_subject, data):
    """With every subject in one fold, claims are fused by subject in one sweep."""
    if by_subject:
        case = data.draw(cases.matrices(sizes=((2, 1, 3), (1, 3, 2, 1, 2), (2, 2, 2, 2))))
        names = [*case.probe_labels, *(() if case.square else case.gallery_labels)]
        fold = {name: data.draw(st.integers(0, 2)) for name in dict.fromkeys(names)}
        codes = np.array([fold[name] for name in names])
        if len(np.unique(codes)) < 2:
            codes[np.array([name == names[0] for name in names])] = 3
        assume(len(np.unique(codes)) > 1)  # more than one subject
        templates = "multi"
    else:
        case = data.draw(cases.matrices(sizes=cases.SIZES[1:]))
        codes = data.draw(folds_of(case))
        templates = data.draw(st.sampled_from(("single", "multi")))
    rule = data.draw(st.sampled_from(RULES))
    fusion = data.draw(st.sampled_from(cases.FUSIONS)) if templates == "multi" else "best"
    ds = be.cross_evaluate(
        be.Scores(**case.scores()),
        be.partition.PredefinedFolds(codes),
        threshold=rule,
        templates=templates,
        fusion=fusion,
    )
    assert_folds(ds, case, codes, rule, templates, fusion)


@pytest.fixture(scope="module")
def scores():
    return be.simulate(30, (2, 6), random_state=5)


@pytest.mark.slow
@pytest.mark.parametrize("cells", [8, 1, 4096])
@pytest.mark.parametrize("failed", [0.1, 0.0])
@pytest.mark.cases(2)
def test_counted_in_few_cells_the_folds_are_those_of_sorted_scores(cells, failed):
    simulated = be.simulate(60, 4, random_state=5)
    is_failed = np.random.default_rng(1).random(simulated.shape) < failed
    values = np.where(is_failed, np.nan, simulated.values)
    scores = be.Scores(values, simulated.probe_labels, nan="reject" if failed else "raise")
    splitter = be.partition.SubjectKFold(5, shuffle=True, random_state=2)
    rules = ("hter", "accuracy", "eer", "far=0.01", "frr=0.3")
    plain = [be.cross_evaluate(scores, splitter, threshold=rule) for rule in rules]
    with blocks_of() as patch:
        for name in ("LEAST_CELLS", "MOST_CELLS"):
            patch.setattr(f"bioeval.counting.folds.{name}", cells)
        for rule, expected in zip(rules, plain, strict=True):
            assert_same_but_d_prime(be.cross_evaluate(scores, splitter, threshold=rule), expected)


def test_infinite_scores_beside_failures_are_accepted_where_scores_are_counted():
    """A threshold beyond all finite scores accepts infinite distances, but no failed comparison."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(40), 3)
    is_mate = labels[:, None] == labels
    distances = rng.random((120, 120)) + ~is_mate
    distances[rng.random(distances.shape) < 0.05] = np.nan
    distances[(rng.random(distances.shape) < 0.1) & ~is_mate] = np.inf
    scores = be.Scores(distances, labels, nan="reject")
    splitter = be.partition.SubjectKFold(3)
    plain = be.cross_evaluate(scores, splitter, threshold="far=99%")
    assert np.isinf(plain.threshold.values).all()
    with blocks_of():
        assert_same_but_d_prime(be.cross_evaluate(scores, splitter, threshold="far=99%"), plain)


@pytest.mark.parametrize("listed", [0, 1 << 18])
def test_folds_that_are_judged_in_turn_are_as_those_of_sorted_scores(listed):
    """Memory is bounded: few parts of counted folds are listed at a time."""
    scores = be.simulate(20, 3, random_state=5)
    splitter = be.partition.SubjectKFold(3, n_repeats=3, shuffle=True, random_state=2)
    plain = be.cross_evaluate(scores, splitter, threshold="far=0.05", far_targets=(0.1,))
    with blocks_of(listed=listed) as patch:
        patch.setattr("bioeval.studies.cross_evaluate.masks_pay", lambda *of_cells: False)
        patch.setattr("bioeval.counting.folds.TOGETHER", 1)
        in_turn = be.cross_evaluate(scores, splitter, threshold="far=0.05", far_targets=(0.1,))
    assert_same_but_d_prime(in_turn, plain)


def test_a_fold_without_probes_has_no_rates_where_scores_are_counted():
    rng = np.random.default_rng(0)
    probes, gallery = np.arange(20), np.repeat(np.arange(30), 2)
    scores = be.Scores(rng.random((20, 60)) + (probes[:, None] != gallery), probes, gallery)
    fold = np.concatenate([probes % 2, np.where(gallery < 20, gallery % 2, 2)])
    options = {"far_targets": (0.1,), "threshold": "far=0.1"}
    with blocks_of():
        ds = be.cross_evaluate(scores, be.partition.PredefinedFolds(fold), **options)
    assert np.isnan(ds.frr_at_far.values.ravel()).tolist() == [False, False, True]


def test_impostors_are_the_same_in_all_parts():
    """A part without unenrolled probes has no impostors."""
    rng = np.random.default_rng(0)
    probe, gallery = np.array([0, 1, 2, 3, 8, 9]), np.repeat(np.arange(4), 2)
    scores = be.Scores(rng.random((6, 8)), probe, gallery)
    fold = np.where(np.isin([*probe, *gallery], (2, 3)), 1, 0)  # 8 and 9 are in the first
    ds = be.cross_evaluate(scores, be.partition.PredefinedFolds(fold), task="open_set")
    assert ds.attrs["impostors"] == "unenrolled"
    assert ds.impostor_attempts.sel(part="test").values.tolist() == [[2, 0]]
    assert ds.impostor_attempts.sel(part="train").values.tolist() == [[0, 2]]
    assert np.isnan(ds.threshold.values).tolist() == [[True, False]]
    ds = be.cross_evaluate(
        scores, be.partition.PredefinedFolds(fold), task="open_set", impostors="both"
    )
    assert ds.impostor_attempts.sel(part="test").values.tolist() == [[4, 2]]
    closed = be.cross_evaluate(scores, be.partition.PredefinedFolds(fold), task="closed_set")
    assert closed.skipped.sel(part="test").values.tolist() == [[2, 0]]
    assert arguments(closed, "probes-without-mate")["probes"] == 2


@pytest.mark.parametrize("task", ["verification", "open_set", "closed_set"])
def test_folds_with_one_template_of_each_subject_say_so(task):
    scores = be.simulate(6, 3, random_state=1)
    ds = be.cross_evaluate(scores, be.partition.SampleKFold(3, stratify="subject"), task=task)
    expected = {"missing": 3, "number": 3, "where": "any fold"}
    assert arguments(ds, "undefined-in-parts").items() >= expected.items()


def test_one_fold_has_no_interval():
    scores = be.simulate(12, 3, random_state=1)
    split = be.partition.SubjectShuffleSplit(1, test_size=0.5, random_state=0)
    ds = be.cross_evaluate(scores, split)
    assert dict(ds.sizes) == {"repeat": 1, "fold": 1, "part": 2}
    summary = be.aggregate(ds, ("repeat", "fold")).sel(part="test")
    assert np.isfinite(summary.frr.sel(statistic="mean"))
    assert np.isnan(summary.frr.sel(statistic="sd")) and np.isnan(summary.frr_low)
    assert "one-part" in codes(ds)


def test_bad_input_is_refused(scores):
    folds = be.partition.SubjectKFold(3)
    with pytest.raises(be.DataError, match="only 30 subjects"):
        be.cross_evaluate(scores, be.partition.SubjectKFold(31))
    with pytest.raises(be.DataError, match="`threshold` is 'err'.*Did you mean '(eer|frr)'"):
        be.cross_evaluate(scores, folds, threshold="err")
    for wrong in ("far=2.0", "far=", ("far", 0.1), "cost=0.5,1", math.nan, "far=x"):
        with pytest.raises(be.DataError):
            be.cross_evaluate(scores, folds, threshold=wrong)
    for interval in ("people", "wilson"):
        with raises_about(be.DataError, "interval"):
            be.cross_evaluate(scores, folds, interval=interval)
    for options in ({"rank_unit": "person"}, {"ties": "expected"}):
        with raises_about(be.DataError, *options):
            be.cross_evaluate(scores, folds, task="open_set", **options)
    with pytest.raises(be.ProtocolError, match="without a threshold there are only"):
        be.cross_evaluate(scores, folds, threshold=None)
    with pytest.raises(be.DataError, match=r"be\.repeat"):
        be.cross_evaluate(scores, be.partition.ProbeGallerySplit(1))
    with pytest.raises(be.DataError, match="divides a list of pairs"):
        be.cross_evaluate(scores, be.partition.PredefinedPairFolds([0, 1]))
    with pytest.raises(be.DataError, match="features with estimator"):
        be.cross_evaluate(scores.values, folds)
    with pytest.raises(be.DataError, match="meta is given with Scores"):
        be.cross_evaluate(scores, folds, meta={"session": np.zeros(len(scores.probe_labels))})
    order = be.Scores(np.ones((4, 4)), ["a", "a", "b", "b"], kind="order")
    with pytest.raises(be.ProtocolError, match="order"):
        be.cross_evaluate(order, be.partition.SubjectKFold(2))
    failed = scores.values.copy()
    failed[0, 1] = np.nan
    with pytest.raises(be.DataError, match="hold 1 NaN"):
        be.cross_evaluate(be.Scores(failed, scores.probe_labels), folds)


class Given:
    """A splitter that yields what it was given."""

    def __init__(self, *parts: Any):
        self.parts = parts

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        yield from self.parts


def test_what_a_splitter_yields_is_checked(scores):
    samples = len(scores.probe_labels)
    first, second = list(range(40)), list(range(40, samples))
    two_folds = be.cross_evaluate(scores, Given((first, second), (second, first)))
    assert dict(two_folds.sizes) == {"repeat": 1, "fold": 2, "part": 2}
    for parts, message in (
        ((np.arange(samples) < 40, np.arange(samples) >= 40), "bool; expected indices"),
        ((np.arange(40.0), second), "float64; expected indices"),
        (
            (first, [*second, samples]),
            rf"1 position out of range, the first is {samples}; expected 0..{samples - 1}",
        ),
        ((first, [-1]), "the first is -1"),
        ((first, []), "an empty test part"),
        (first, "expected pairs"),
        (5, "yields int"),
    ):
        with pytest.raises(be.DataError, match=message):
            be.cross_evaluate(scores, Given(parts))
    with pytest.raises(be.DataError, match="the list of splits yields an empty test part"):
        be.cross_evaluate(scores, [(first, [])])
    with pytest.raises(be.DataError, match="yields index 41 twice in a test part"):
        be.cross_evaluate(scores, [(first, [40, 41, 41])])
    with pytest.raises(be.DataError, match="yields index 1 twice in a test part"):
        be.repeat(scores, [([2, 2], [0, 1, 1])])
    with pytest.raises(be.DataError, match="yields index 39 twice in a training part"):
        be.cross_evaluate(scores, [([*first, 39], second)])


def test_only_splits_that_test_the_same_samples_are_folds_of_repeats():
    scores = be.simulate(6, 2, random_state=1)
    for tested, shape in (
        ([range(4), range(4, 8), range(8, 12)] * 2, (2, 3)),
        ([range(4), range(4, 8), range(6)], (3, 1)),
    ):
        splits = [(np.setdiff1d(range(12), x), np.array(x)) for x in tested]
        ds = be.cross_evaluate(scores, splits)
        assert (ds.sizes["repeat"], ds.sizes["fold"]) == shape


def test_indices_of_two_sides_are_of_probes_and_then_of_the_gallery():
    rng = np.random.default_rng(0)
    scores = be.Scores(rng.random((12, 6)), np.arange(12) % 6, np.arange(6))
    train = [0, 1, 2, 6, 7, 8, 12, 13, 14]  # probes 0 to 11, columns 12 to 17
    test = [3, 4, 5, 9, 10, 11, 15, 16, 17]
    ds = be.cross_evaluate(scores, [(train, test)], threshold=0.5).sel(part="test").squeeze()
    part = scores.values[np.ix_([3, 4, 5, 9, 10, 11], [3, 4, 5])]
    is_genuine = np.array([3, 4, 5, 3, 4, 5])[:, None] == np.array([3, 4, 5])
    assert ds.fr.item() == (part[is_genuine] > 0.5).sum()
    assert ds.fa.item() == (part[~is_genuine] <= 0.5).sum()
    for tested, side in ((range(4), "gallery template"), (range(12, 18), "probe")):
        message = f"part without a {side}; .* probes are 0 to 11, and gallery templates 12 to 17"
        for call in (be.cross_evaluate, be.repeat):
            with pytest.raises(be.DataError, match=message):
                call(scores, [([], tested)])


@pytest.mark.parametrize(
    "options",
    [
        {"fusion": "mean"},
        {"ranks": [1]},
        {"rank_unit": "subject"},
        {"ties": "optimistic"},
        {"impostors": "unenrolled"},
        {"metric": "l2"},
        {"kind": "similarity"},
        {"task": "open_set", "fusion": "mean"},
        {"task": "open_set", "templates": "multi"},
        {"task": "closed_set", "impostors": "leave-subject-out"},
        {"task": "closed_set", "threshold": "far=0.1"},
    ],
)
def test_an_option_without_effect_is_refused(scores, options):
    name = list(options)[-1]
    with pytest.raises(be.ProtocolError, match=f"`{name}` has no effect"):
        be.cross_evaluate(scores, be.partition.SubjectKFold(3), **options)


def test_sessions_are_tested_in_turn():
    simulated = be.simulate(12, 6, random_state=3)
    session = np.tile(["b", "a", "c"], 24)
    scores = be.Scores(simulated.values, simulated.probe_labels, probe_meta={"session": session})
    folds = be.partition.LeaveOneGroupOut("session")
    assert folds.get_n_splits(scores) == 3
    ds = be.cross_evaluate(scores, folds, threshold="eer")
    assert dict(ds.sizes) == {"repeat": 1, "fold": 3, "part": 2}
    tree = be.repeat(scores, folds)
    for k, value in enumerate("abc"):
        tested, rest = np.flatnonzero(session == value), np.flatnonzero(session != value)
        parts = list(folds.split(scores))[k]
        assert parts.test.tolist() == tested.tolist() and parts.train.tolist() == rest.tolist()
        threshold = be.verification(scores.select(rest)).eer_threshold.item()
        of_fold = ds.isel(repeat=0, fold=k)
        assert of_fold.threshold.item() == threshold
        genuine, impostor = [], []
        for i in tested:
            for j in tested:
                if i != j:
                    same = scores.probe_labels[i] == scores.probe_labels[j]
                    (genuine if same else impostor).append(scores.values[i, j])
        of_test = of_fold.sel(part="test")
        assert of_test.fr.item() == sum(x > threshold for x in genuine)
        assert of_test.fa.item() == sum(x <= threshold for x in impostor)
        alone = be.verification(scores.select(tested)).eer.item()
        assert tree["verification/single"].eer.isel(repeat=0, fold=k).item() == alone
    with pytest.raises(be.DataError, match="meta\\['session'\\] is 'a' in all templates"):
        folds.get_n_splits(np.zeros(4), meta={"session": list("aaaa")})
    with pytest.raises(be.DataError, match="metadata column"):
        be.cross_evaluate(scores, be.partition.LeaveOneGroupOut("camera"))
    with pytest.raises(be.DataError, match="expected the name of a metadata column"):
        be.partition.LeaveOneGroupOut(session)


@pytest.mark.parametrize("task", ["open_set", "closed_set"])
def test_galleries_of_different_sizes_are_said(task):
    """Of 20 subjects two are not enrolled: the galleries have 18 in all."""
    subject = np.repeat(np.arange(20), 3)
    enrolled = np.arange(60)[(np.arange(60) % 3 == 0) & (subject < 18)]
    probes = np.setdiff1d(np.arange(60), enrolled)
    values = np.random.default_rng(0).normal(size=(len(probes), 18)) + 2.0 * (
        subject[probes][:, None] != subject[enrolled]
    )
    scores = be.Scores(values, subject[probes], subject[enrolled])
    fold = np.concatenate([subject[probes], subject[enrolled]]) % 5
    ds = be.cross_evaluate(scores, be.partition.PredefinedFolds(fold), task=task)
    assert codes(ds).count("galleries-of-different-sizes") == 1
    equal = be.simulate(21, 3)
    halves = be.partition.SubjectShuffleSplit(2, test_size=0.5, random_state=0)
    of_equal_galleries = be.cross_evaluate(equal, halves, task=task)
    assert "galleries-of-different-sizes" not in codes(of_equal_galleries)
    three_parts = be.partition.TrainValidationTest(0.25, 0.5, random_state=0)
    ds = be.cross_evaluate(equal, three_parts, task=task)
    assert arguments(ds, "galleries-of-different-sizes")["part"] == "validation"


def test_the_part_on_which_a_threshold_is_chosen_is_named(capsys):
    three_parts = be.partition.TrainValidationTest(0.25, 0.5, random_state=0)
    ds = be.cross_evaluate(be.simulate(20, 3), three_parts, threshold="eer", far_targets=[0.001])
    be.show(ds)
    printed = capsys.readouterr().out
    assert "in validation, 10 in test" in printed and "training" not in printed
    assert "smallest test part (verification, single-template): FRR at FAR" in printed


@pytest.mark.parametrize("task", ["verification", "open_set", "closed_set"])
def test_the_same_people_in_training_and_test_are_named(scores, task, capsys):
    from sklearn.model_selection import GroupKFold, KFold

    with pytest.warns(be.BioevalWarning, match="not those of new people"):
        ds = be.cross_evaluate(scores, KFold(3, shuffle=True, random_state=0), task=task)
    label = np.asarray(scores.probe_labels)
    parts = list(KFold(3, shuffle=True, random_state=0).split(label))
    shared_subjects = [len(set(label[train]) & set(label[test])) for train, test in parts]
    assert ds.attrs["subjects_in_both_parts"] == max(shared_subjects) > 0
    first = be.messages(ds)[0]
    assert first.code == "subjects-in-both-parts"
    assert first.arguments == {
        "subjects": max(shared_subjects),
        "parts": 3,
        "number": 3,
        "unit": "fold",
    }
    new = be.cross_evaluate(scores, GroupKFold(3), task=task)
    assert new.attrs["subjects_in_both_parts"] == 0
    assert "subjects-in-both-parts" not in codes(new)


def test_pairs_of_the_same_people_in_training_and_test_are_named():
    from sklearn.model_selection import KFold

    rng = np.random.default_rng(0)
    subjects = np.array([(a, b) for a in range(8) for b in range(a, 8) for _ in range(3)])
    same = subjects[:, 0] == subjects[:, 1]
    values = rng.random(len(same)) + ~same
    splitter = KFold(4, shuffle=True, random_state=0)
    with_subjects = be.Scores.from_pairs(values, same, kind="distance", subjects=subjects)
    with pytest.warns(be.BioevalWarning, match="not those of new people"):
        ds = be.cross_evaluate(with_subjects, splitter)
    assert ds.attrs["subjects_in_both_parts"] == 8
    unknown = be.cross_evaluate(be.Scores.from_pairs(values, same, kind="distance"), splitter)
    assert "subjects_in_both_parts" not in unknown.attrs
    divided = be.cross_evaluate(with_subjects, be.partition.SubjectKFold(2))
    assert divided.attrs["subjects_in_both_parts"] == 0


PRIORS = [0.1, 0.5, 0.01]
FOLDS = be.partition.SubjectKFold(3, shuffle=True, random_state=0)


def min_dcf(genuine, impostor, kind, prior):
    """The least cost of any threshold over that of the better trivial decision."""
    return float(naive.min_cost(genuine, impostor, kind, prior, 1, 1)[0]) / min(prior, 1 - prior)


def least_costs(scores):
    """minDCF at each prior, by trying every threshold on the comparisons of a part."""
    labels, values = scores.probe_labels, np.asarray(scores.values, dtype=np.float64)
    genuine, impostor = [], []
    for i in range(len(labels)):
        for j in range(len(labels)):
            if i != j:
                (genuine if labels[i] == labels[j] else impostor).append(values[i, j])
    return [min_dcf(genuine, impostor, scores.kind, prior) for prior in PRIORS]


def scores_of(kind="distance", dtype=np.float64):
    rng = np.random.default_rng(4)
    labels = np.repeat([f"p{i}" for i in range(9)], rng.integers(1, 5, 9))
    values = (rng.normal(1 + (labels[:, None] != labels), 0.8, (len(labels),) * 2) * 4).round() / 4
    return be.Scores((values if kind == "distance" else -values).astype(dtype), labels, kind=kind)


def parts_of(scores):
    labels = scores.probe_labels
    return [scores[test] for _, test in FOLDS.split(np.zeros(len(labels)), labels, labels)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("cells", [0, 1 << 22], ids=["large parts", "listed parts"])
def test_least_costs_of_folds_are_those_of_loops(kind, dtype, cells):
    scores = scores_of(kind, dtype)
    expected = np.array([least_costs(part) for part in parts_of(scores)])
    with blocks_of(listed=cells):
        by_fold = be.cross_evaluate(scores, FOLDS, priors=PRIORS)
    assert by_fold.min_dcf.dims == ("repeat", "fold", "cost")
    np.testing.assert_allclose(by_fold.min_dcf.values[0], expected, atol=1e-12)
    aggregated = be.aggregate(by_fold, ("repeat", "fold"))
    mean, sd = aggregated.min_dcf.sel(statistic=["mean", "sd"]).values
    np.testing.assert_allclose(mean, expected.mean(axis=0))
    np.testing.assert_allclose(sd, expected.std(axis=0, ddof=1))


def test_a_part_without_genuine_attempts_has_none():
    labels = np.array([0, 0, 1, 1, 2, 3])  # the last part has single templates alone
    scores = be.Scores(np.arange(36.0).reshape(6, 6), labels)
    folds = be.partition.PredefinedFolds(np.array([0, 0, 0, 0, 1, 1]))
    by_fold = be.cross_evaluate(scores, folds, threshold=5.0, priors=PRIORS)
    assert np.isnan(by_fold.min_dcf.values[0, 1]).all()
    assert not np.isnan(by_fold.min_dcf.values[0, 0]).any()


@pytest.mark.parametrize("priors", [[0], [1], [0.1, 0.1], [-1], "x"])
def test_priors_are_checked(priors):
    with raises_about(be.DataError, "priors"):
        be.cross_evaluate(scores_of(), FOLDS, priors=priors)
    with raises_about(be.ProtocolError, "priors"):
        be.cross_evaluate(scores_of(), FOLDS, task="open_set", priors=[0.1])


@pytest.fixture(scope="module")
def sessions() -> tuple[be.Scores, be.Scores, be.Scores]:
    """Twelve subjects in two sessions: same-session pairs left out by `exclude`, by a mask, not."""
    simulated = be.simulate(12, 4, sessions=2, random_state=4)
    session = simulated.probe_meta["session"]
    own = simulated.probe_labels[:, None] == simulated.probe_labels
    mask = np.where(own, 2, 1).astype(np.uint8)
    mask[own & (session[:, None] == session)] = 0
    distances, labels, meta = simulated.values.copy(), simulated.probe_labels, simulated.probe_meta
    distances[mask == 0] = np.nan  # a NaN in an ignored cell is no failure
    distances[3, 20] = distances[20, 3] = np.nan
    options = {"probe_meta": meta, "nan": "reject"}
    return (
        be.Scores(distances, labels, exclude="session", **options),
        be.Scores(distances, labels, mask=mask, **options),
        simulated,
    )


GALLERIES = be.partition.ProbeGallerySplit(2, n_repeats=3, random_state=1)


@pytest.mark.parametrize(
    "evaluate",
    [
        lambda s: be.cross_evaluate(s, FOLDS),
        lambda s: be.cross_evaluate(s, FOLDS, templates="multi"),
        lambda s: be.cross_evaluate(s, FOLDS, task="open_set"),
        lambda s: be.cross_evaluate(s, FOLDS, task="closed_set"),
        lambda s: be.repeat(s, GALLERIES, curves=True)["verification/single"].to_dataset(),
        lambda s: be.study_threshold(s, "eer", folds=3, repeats=2)["rates"].to_dataset(),
        lambda s: be.evaluate(s, "course-kfold")["open_set"].to_dataset(),
    ],
)
def test_exclude_and_a_mask_are_the_same(sessions, evaluate):
    excluding, masked, counting_all = (evaluate(s).drop_attrs(deep=True) for s in sessions)
    assert excluding.identical(masked)
    assert not excluding.equals(counting_all)


def test_each_pair_once():
    simulated = be.simulate(12, 3, random_state=1)
    own = simulated.probe_labels[:, None] == simulated.probe_labels
    scores = be.Scores(simulated.values, simulated.probe_labels, mask=np.triu(1 + own, 1))
    ds = be.cross_evaluate(scores, be.partition.SubjectKFold(3))
    assert (ds.genuine_attempts.sel(part="test") == 4 * 3).all()
    assert (ds.impostor_attempts.sel(part="test") == 6 * 9).all()
    study = be.study_threshold(scores, "eer", folds=3, repeats=1)
    assert study.impostor_pairs == study.impostor_attempts == 66 * 9


def test_a_mask_alone_does_not_say_who_is_who():
    mask = 1 + np.eye(4, dtype=np.uint8)
    masked = be.Scores(np.ones((4, 4)), mask=mask)
    galleries = be.partition.ProbeGallerySplit(1)
    for evaluate in (
        lambda: be.cross_evaluate(masked, FOLDS),
        lambda: be.repeat(masked, galleries),
        lambda: be.study_threshold(masked),
    ):
        with pytest.raises(be.ProtocolError, match="Give labels"):
            evaluate()


def systems_of_people(people=24):
    crowd = be.simulate_embeddings(people, 4, within=0.8, random_state=1)
    return {metric: crowd.scores(metric) for metric in ("l2", "linf", "cosine")}


REPEATED = be.partition.SubjectKFold(4, n_repeats=3, shuffle=True, random_state=2)


@pytest.mark.parametrize(
    ("task", "options", "names"),
    [
        ("verification", {"far_targets": [0.2]}, ["far", "frr", "hter", "eer", "auc"]),
        ("open_set", {"ranks": [1, 2]}, ["far", "frr", "hter", "dir=2"]),
        ("closed_set", {"ranks": [1, 3], "far_targets": [0.1]}, ["cms=3", "recognition_rate"]),
    ],
)
def test_two_systems_over_the_same_folds_have_the_corrected_test(task, options, names):
    """Beside the formula of Nadeau and Bengio, and scipy's test without the correction."""
    results = {
        name: be.cross_evaluate(x, REPEATED, task=task, **options)
        for name, x in systems_of_people().items()
    }
    l2, linf = results["l2"], results["linf"]
    compared = be.compare(l2, linf)
    pair = compared.isel(system=0, other_system=1)
    for measure in names:
        name, _, rank = measure.partition("=")
        at = {"rank": int(rank)} if rank else {}
        a, b = (x[name].sel(at).sel(part="test", drop=True) if "part" in x[name].dims else x[name]
                for x in (l2, linf))  # fmt: skip
        differences = (a - b).values.ravel()
        folds = len(differences)
        error = math.sqrt((1 / folds + 6 / 18) * differences.var(ddof=1))
        t = differences.mean() / error
        uncorrected = scipy.stats.ttest_rel(a.values.ravel(), b.values.ravel())
        assert t == pytest.approx(uncorrected.statistic * math.sqrt(1 / (1 + folds / 3)))
        half = scipy.stats.t.ppf(0.975, folds - 1) * error
        found = {x: pair[f"{name}_{x}"].sel(at).item() for x in ("difference", "t", "p_value")}
        assert found["difference"] == pytest.approx(differences.mean())
        assert found["t"] == pytest.approx(t)
        assert found["p_value"] == pytest.approx(2 * scipy.stats.t.sf(abs(t), folds - 1))
        for end, sign in (("low", -1), ("high", 1)):
            limit = pair[f"{name}_difference_{end}"].sel(at).item()
            assert limit == pytest.approx(differences.mean() + sign * half)
        of_value = be.stats.nadeau_bengio(a, test_size=6, train_size=18)
        value = compared[name].isel(system=0).sel(at).item()
        assert value == pytest.approx(of_value.mean)
        low = compared[f"{name}_low"].isel(system=0).sel(at).item()
        assert low == pytest.approx(max(of_value.low, 0))
    assert codes(be.compare(l2, l2, measures=names)) >= ["systems-not-different"]
    three = be.compare(results)
    name = names[-1].partition("=")[0]
    p = three[f"{name}_p_value"].values
    assert p.shape[:2] == (3, 3) and three.attrs["systems_compared"] == 3
    alone = compared[f"{name}_p_value"].isel(system=0, other_system=1).values
    assert (p[0, 1] >= alone - 1e-15).all()


def test_a_comparison_over_folds_is_shown_framed_and_saved(tmp_path):
    a, b, _ = (be.cross_evaluate(x, REPEATED) for x in systems_of_people().values())
    compared = be.compare({"one": a, "two": b})
    text = as_text(compared)
    assert "FRR at the threshold of training" in text and "one minus two" in text
    assert (
        "Partition     SubjectKFold(n_splits=4, n_repeats=3, shuffle=True, random_state=2)" in text
    )
    frame = be.to_frame(compared)
    assert {"difference", "t", "p_value", "separated"} <= {*frame["statistic"]}
    compared.to_netcdf(tmp_path / "c.nc")
    assert as_text(xr.load_dataset(tmp_path / "c.nc")) == text


def test_results_over_other_folds_are_not_compared():
    one, two, _ = systems_of_people().values()
    a = be.cross_evaluate(one, REPEATED)
    other_seed = be.partition.SubjectKFold(4, n_repeats=3, shuffle=True, random_state=3)
    for b, message in (
        (be.cross_evaluate(two, other_seed), "differ in the splitter: .*random_state=2.*=3"),
        (
            be.cross_evaluate(two.select(range(80)), REPEATED),
            "differ in the folds: 12 splits of 96",
        ),
        (
            be.cross_evaluate(two, REPEATED, threshold="far=0.1"),
            "the rule of the threshold: eer, and",
        ),
        (be.cross_evaluate(two, REPEATED, templates="multi"), "differ in `templates`: single, and"),
        (
            be.cross_evaluate(two, REPEATED, task="closed_set"),
            "differ in the task: verification, and",
        ),
        (two, "expected results of be.cross_evaluate of all systems"),
        (be.verification(two), "expected results of be.cross_evaluate of all systems"),
    ):
        with pytest.raises(be.DataError, match=message):
            be.compare(a, b)
    for option in ({"ties": "optimistic"}, {"far_targets": [0.1]}, {"protocol": "market1501"}):
        with pytest.raises(be.ProtocolError, match=f"`{[*option][0]}` has no effect"):
            be.compare(a, a, **option)
    with pytest.raises(be.DataError, match="a measure of `measures` is 'cms'"):
        be.compare(a, a, measures="cms=1")
    with pytest.raises(be.DataError, match="one threshold for two kinds of scores"):
        be.compare(*(be.cross_evaluate(x, REPEATED, threshold=0.5) for x in (one, two)))
    # The order of rows does not matter where templates have names.
    names = np.array([f"t{i:03}" for i in range(96)])
    order = np.random.default_rng(0).permutation(96)
    named = [
        be.Scores(x.values[np.ix_(i, i)], x.probe_labels[i], probe_meta={"template": names[i]})
        for x, i in ((one, np.arange(96)), (two, order))
    ]
    results = [be.cross_evaluate(x, REPEATED) for x in named]
    straight = be.compare(a, be.cross_evaluate(two, REPEATED), measures="frr")
    assert be.compare(*results, measures="frr").frr_t.values[0, 1] == straight.frr_t.values[0, 1]


@pytest.mark.parametrize("way", ["listed", "counted", "few cells"])
def test_the_score_after_a_threshold_that_rejects_all_is_the_smallest_of_the_training_part(way):
    rng = np.random.default_rng(0)
    subjects = np.repeat(np.arange(12), 2)
    distances = 1 + rng.random((24, 24))
    distances += distances.T
    distances[subjects[:, None] != subjects] -= 1  # the nearest scores are of impostors
    splitter = be.partition.SubjectKFold(3)
    with counted_by(way):
        ds = be.cross_evaluate(be.Scores(distances, subjects), splitter, threshold="far=0")
    smallest = [
        distances[np.ix_(train, train)][~np.eye(len(train), dtype=bool)].min()
        for train, _ in splitter.split(np.zeros((24, 1)), groups=subjects)
    ]
    assert (ds.threshold == -np.inf).all()
    np.testing.assert_array_equal(ds.threshold_next.values.ravel(), smallest)
