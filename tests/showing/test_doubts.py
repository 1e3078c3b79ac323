"""Doubts about the numbers of a call are messages of its result, and Python warnings."""

import inspect
import warnings
from typing import Any

import h5py
import naive
import numpy as np
import pytest
from result_messages import arguments, codes

import bioeval as be
from bioeval.showing.messages import warns_of_doubts


def warned(call: Any) -> tuple[Any, list[warnings.WarningMessage]]:
    """Return the result of a call, and all its warnings, repeated warnings too."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        return call(), issued


def drawn(people: int, kind: str, seed: int = 1) -> be.Scores:
    """Distances of people, half of them women, said to be of some kind."""
    simulated = be.simulate(people, 3, random_state=seed)
    meta = {
        "sex": np.where(simulated.probe_labels % 2, "f", "m"),
        "camera": np.arange(3 * people) % 3,
    }
    return be.Scores(simulated.values, simulated.probe_labels, kind=kind, probe_meta=meta)


def pairs_by_group(kind: str) -> Any:
    scores, (i, j) = drawn(30, kind), np.triu_indices(90, 1)
    sex = scores.probe_meta["sex"]
    return be.by_group(scores.at_pairs(i, j), (sex[i], sex[j]))


def beside_another(kind: str) -> Any:
    return be.evaluate({"a": drawn(20, kind), "b": drawn(20, "distance", 2)})


SHORT = {"interval": "people", "folds": 3, "repeats": 1}
FOLDS = be.partition.SubjectKFold(3)

SLOW = ("course-kfold", "repeat", "conventions")

#: Calls that count, of scores of a kind.
CALLS: dict[str, Any] = {
    name: lambda kind, name=name: getattr(be, name)(drawn(12, kind))
    for name in (
        *("verification", "open_set", "closed_set", "ranks", "reid", "gom", "conventions"),
        *("evaluate", "summary", "worst_pairs"),
    )
} | {
    "open_set of single templates": lambda kind: be.open_set(drawn(12, kind), gallery="single"),
    "evaluate, several": beside_another,
    "market1501": lambda kind: be.evaluate(drawn(12, kind), "market1501"),
    "course-kfold": lambda kind: be.evaluate(drawn(30, kind), "course-kfold"),
    "zoo": lambda kind: be.zoo(drawn(12, kind), permutations=20),
    "gallery_size": lambda kind: be.gallery_size(drawn(12, kind), [2, 5]),
    "repeat": lambda kind: be.repeat(drawn(30, kind), FOLDS),
    "cross_evaluate": lambda kind: be.cross_evaluate(drawn(30, kind), FOLDS),
    "compare": lambda kind: be.compare(drawn(12, kind), drawn(12, kind)),
    "by_group": lambda kind: be.by_group(drawn(30, kind), "sex"),
    "by_group of many": lambda kind: be.by_group(drawn(130, kind), "sex"),
    "by_group of pairs": pairs_by_group,
    "judge_threshold": lambda kind: be.judge_threshold(drawn(30, kind), drawn(30, kind, 2)),
    "study_threshold": lambda kind: be.study_threshold(drawn(30, kind), "eer", **SHORT),
}


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(call, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name, call in CALLS.items()
    ],
)
def test_the_wrong_kind_is_said_by_every_call_that_counts(call):
    wrong, issued = warned(lambda: call("similarity"))
    texts = [str(one.message) for one in issued if "worse than chance" in str(one.message)]
    assert texts and len(texts) == len(set(texts))
    assert {one.filename for one in issued} == {__file__}
    assert all(issubclass(one.category, be.BioevalWarning) for one in issued)
    right, issued = warned(lambda: call("distance"))
    assert not [one for one in issued if "of kind" in str(one.message)]
    for result, is_wrong in ((wrong, True), (right, False)):
        if not isinstance(result, dict):
            assert ("kind-wrong" in codes(result)) == is_wrong


def test_a_warning_names_the_system():
    _, issued = warned(lambda: beside_another("similarity"))
    (text,) = [str(one.message) for one in issued if "of kind" in str(one.message)]
    assert text.startswith("a: the scores, of kind similarity")


@pytest.mark.parametrize("seed", range(8))
def test_the_area_under_the_curve_of_a_doubt_is_that_of_the_attempts(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(20), 2)
    scores = be.Scores(
        rng.integers(0, 9, (40, 40)), labels, kind=("distance", "similarity")[seed % 2]
    )
    result, _ = warned(lambda: be.verification(scores))
    doubts = [x for x in be.messages(result) if x.code in ("near-chance", "kind-wrong")]
    attempts = naive.attempts_single(scores.values.tolist(), labels.tolist(), kind=scores.kind)
    auc = float(naive.auc(*attempts, scores.kind))
    # Without any information, the AUC of 20 subjects scatters by up to 0.5 / sqrt(20).
    largest_by_chance = 0.5 + 0.5 / 20**0.5
    assert bool(doubts) == (auc < largest_by_chance)
    for doubt in doubts:
        assert doubt.arguments["auc"] == pytest.approx(auc, abs=5e-5)


def of_embeddings(x: np.ndarray, subjects: np.ndarray, kind: str) -> be.Scores:
    return be.Scores.from_embeddings(x, subjects, metric=lambda a, b: abs(a - b.T), kind=kind)


def masked(x: np.ndarray, subjects: np.ndarray, kind: str) -> be.Scores:
    mask = np.where(subjects[:, None] == subjects, 2, 1)
    np.fill_diagonal(mask, 0)
    return be.Scores(abs(x - x.T), mask=mask, kind=kind)


def float32_with_failures(x: np.ndarray, subjects: np.ndarray, kind: str) -> be.Scores:
    return be.Scores(abs(x - x.T).astype(np.float32), subjects, kind=kind, nan="reject")


def stored(x: np.ndarray, subjects: np.ndarray, kind: str) -> be.Scores:
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(store={}, shape=(len(x), len(x)), chunks=(50, 50), dtype="f8")
    array[:] = abs(x - x.T)
    return be.Scores(array, subjects, kind=kind)


def with_gallery(x: np.ndarray, subjects: np.ndarray, kind: str) -> be.Scores:
    return be.Scores(abs(x - x[::2].T), subjects, subjects[::2], kind=kind)


def excluding(x: np.ndarray, subjects: np.ndarray, kind: str) -> be.Scores:
    session = {"session": np.arange(len(subjects)) % 4}
    return be.Scores(abs(x - x.T), subjects, kind=kind, probe_meta=session, exclude=["session"])


@pytest.mark.parametrize("order", ["by person", "scattered"])
@pytest.mark.parametrize(
    "make", [of_embeddings, masked, float32_with_failures, stored, with_gallery, excluding]
)
def test_a_sample_of_many_scores_shows_the_kind(make, order):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(150), 4)
    if order == "scattered":
        labels = rng.permutation(labels)
    embeddings = (rng.normal(size=150)[labels] + 0.1 * rng.normal(size=600))[:, None]
    with pytest.warns(be.BioevalWarning, match="kind similarity, are worse than chance"):
        wrong = be.closed_set(make(embeddings, labels, "similarity"), unmated="skip")
    doubts = {"kind-wrong", "kind-or-classes-wrong", "near-chance"}
    assert len(doubts & {*codes(wrong)}) == 1
    assert not doubts & {
        *codes(be.closed_set(make(embeddings, labels, "distance"), unmated="skip"))
    }


@pytest.mark.parametrize("call", ["verification", "open_set", "closed_set", "reid", "zoo"])
def test_labels_in_another_order_are_said(call):
    simulated = drawn(30, "distance")
    labels = np.random.default_rng(0).permutation(simulated.probe_labels)
    shuffled = be.Scores(simulated.values, labels, probe_meta=dict(simulated.probe_meta))
    options = {"zoo": {"permutations": 20}, "reid": {"removed": "none"}}.get(call, {})
    with pytest.warns(be.BioevalWarning, match="hardly separate subjects.*check the labels"):
        result = getattr(be, call)(shuffled, **options)
    assert "near-chance" in codes(result)


def test_exchanged_files_of_scores_and_a_wrong_kind_are_not_told_apart():
    """Both faults have equal signs, so that neither remedy is advised."""
    rng = np.random.default_rng(0)
    genuine_distances, far = rng.normal(0, 1, 200), rng.normal(3, 1, 500)
    genuine = np.repeat([True, False], [200, 500])
    exchanged = be.Scores.from_pairs(np.r_[genuine_distances, far], ~genuine)
    other_kind = be.Scores.from_pairs(np.r_[-genuine_distances, -far], genuine)
    for scores in (exchanged, other_kind):
        with pytest.warns(be.BioevalWarning, match="either .* other kind, or genuine and impostor"):
            result = be.verification(scores)
        assert "as `kind`" not in next(
            x.sentence for x in be.messages(result) if x.code == "kind-or-classes-wrong"
        )
        assert arguments(result, "kind-or-classes-wrong")["kind"] == "distance"
    assert "kind-or-classes-wrong" not in codes(
        be.verification(be.Scores.from_pairs(np.r_[genuine_distances, far], genuine))
    )
    people = np.repeat(np.arange(100), 7)
    scores_with_subjects = be.Scores.from_pairs(
        np.r_[-genuine_distances, -far], genuine,
        subjects=np.column_stack([people, np.where(genuine, people, people + 1)]),
    )  # fmt: skip
    with pytest.warns(be.BioevalWarning, match="give similarity as `kind`"):
        be.verification(scores_with_subjects)


def one_set_as_two(form: str, people: int) -> be.Scores:
    """Embeddings of one set as probes and as gallery."""
    rng, labels = np.random.default_rng(0), np.repeat(np.arange(people), 3)
    embeddings = rng.normal(size=(people, 4))[labels] + 0.3 * rng.normal(size=(len(labels), 4))
    if form == "embeddings":
        return be.Scores.from_embeddings(embeddings, labels, embeddings, labels, metric="l2")
    distance = np.linalg.norm(embeddings[:, None] - embeddings, axis=2)
    if form == "one template each":
        return be.Scores(distance[::3, ::3], labels[::3], labels[::3])
    if form == "similarities":
        return be.Scores(-distance, labels, labels, kind="similarity")
    if form == "second images":  # nearest, at distances of their own
        return be.Scores(distance + np.diag(rng.uniform(0, 0.01, len(labels))), labels, labels)
    return be.Scores(distance, labels, labels)


@pytest.mark.parametrize("people", [20, 300])
@pytest.mark.parametrize(
    "form", ["distances", "similarities", "embeddings", "second images", "one template each"]
)
def test_one_set_that_is_given_as_two_is_said_by_every_task(form, people):
    scores = one_set_as_two(form, people)
    for call in (be.verification, be.closed_set, be.open_set):
        with pytest.warns(be.BioevalWarning, match="seem to be gallery templates themselves"):
            assert "copies-in-gallery" in codes(call(scores))
    _, issued = warned(lambda: be.evaluate(scores))
    assert len(issued) == 1


def test_two_sets_of_equal_labels_may_lack_labels():
    rng = np.random.default_rng(0)
    labels = np.append(np.repeat([f"p{i}" for i in range(20)], 3), ["", ""])
    distance = rng.random((len(labels), len(labels)))
    assert "copies-in-gallery" not in codes(be.verification(be.Scores(distance, labels, labels)))
    distance = one_set_as_two("distances", 21).values[: len(labels), : len(labels)]
    with pytest.warns(be.BioevalWarning, match="seem to be gallery templates themselves"):
        assert "copies-in-gallery" in codes(be.verification(be.Scores(distance, labels, labels)))


def test_each_nan_is_explained_once_by_a_warning():
    values = np.random.default_rng(0).random((6, 6))
    with pytest.warns(be.BioevalWarning, match="all templates are of one subject"):
        result = be.verification(be.Scores(values, ["a"] * 6))
    assert np.isnan(result.eer) and "labels-doubtful" in codes(result)
    _, issued = warned(lambda: be.evaluate(be.Scores(values, ["a"] * 6)))
    texts = [str(one.message) for one in issued]
    assert texts and len(texts) == len(set(texts))
    with pytest.warns(be.BioevalWarning, match="no subject of a probe is in the gallery"):
        be.verification(be.Scores(values, list("aabbcc"), list("ddeeff")))
    with pytest.warns(be.BioevalWarning, match="of the animals|not defined"):
        be.zoo(be.simulate(5, 4, random_state=1), permutations=9)


def test_messages_that_doubt_no_number_are_no_warnings():
    """The number of people that a FAR target needs is shown beside its rate."""
    result, issued = warned(lambda: be.verification(be.simulate(9, 3, random_state=1)))
    assert "target-not-supported" in codes(result) and not issued


def test_what_learnt_from_the_scores_that_it_is_applied_to_is_said():
    """Two systems on 40 people, on the first 20 people and on the last 20."""
    complete = {"a": drawn(40, "distance", 1), "b": drawn(40, "distance", 2)}
    first_half, second_half = (
        {name: x.select(half) for name, x in complete.items()}
        for half in (np.arange(60), np.arange(60, 120))
    )

    def fused(test: dict[str, be.Scores]) -> be.Scores:
        return be.fuse(test, normalise="z", train=first_half)

    with pytest.warns(be.BioevalWarning, match="was trained on the scores that it is applied to"):
        result = be.verification(fused(first_half))
    assert codes(result).count("trained-on-same-scores") == 1
    with pytest.warns(be.BioevalWarning, match="20 of 40 subjects of the test set are"):
        be.verification(fused(complete))
    unseen = codes(be.verification(fused(second_half)))
    assert not {"people-of-both-sets", "trained-on-same-scores"} & {*unseen}
    learns_nothing = be.verification(be.fuse(complete, "mean"))
    assert "trained-on-same-scores" not in codes(learns_nothing)


def times_hundred(scores: be.Scores) -> be.Scores:
    square = scores.layout == "all-against-all"
    sides = scores.probe_labels, None if square else scores.gallery_labels
    return be.Scores(100 * scores.values, *sides, probe_meta=dict(scores.probe_meta))


@pytest.mark.parametrize("share", [0.0005, 0.002])
def test_a_threshold_tells_apart_more_than_one_in_a_thousand(share):
    """Of 10,000 attempts of each class."""
    values = np.linspace(0, 1, 10_000, endpoint=False)
    genuine = np.repeat([True, False], 10_000)
    scores = be.Scores.from_pairs(np.r_[values, values + 1e-9], genuine)
    result = be.verification(scores, thresholds=[1 - share])
    is_beyond = "threshold-beyond-scores" in codes(result)
    assert is_beyond == (share < 0.001)
    accepts_nearly_all = bool(result.frr[0] <= 0.001 and result.far[0] >= 0.999)
    assert is_beyond == accepts_nearly_all


@pytest.mark.parametrize("method", ["mean", "min", "max"])
def test_systems_on_other_scales_are_said_where_they_are_fused(method):
    first, second = drawn(20, "distance"), drawn(20, "distance", 2)
    assert "systems-of-other-scales" not in codes(
        be.verification(be.fuse({"a": first, "b": second}, method))
    )
    with pytest.warns(be.BioevalWarning, match="fusion by .* is dominated by one of them"):
        mixed = be.fuse({"a": first, "b": times_hundred(second)}, method)
    about = arguments(be.verification(mixed), "systems-of-other-scales")
    off = ~np.eye(60, dtype=bool)
    assert about["narrow"] == "a" and about["wide_high"] == 100 * second.values[off].max()
    scaled = be.fuse({"a": first, "b": times_hundred(second)}, method, normalise="z")
    assert "systems-of-other-scales" not in codes(be.verification(scaled))


def test_every_call_that_counts_warns():
    """The others take results, which were warned of when they were made."""
    of_results = {"gom_from_curves", "with_failures"}
    for name in be.__all__:
        call = getattr(be, name)
        if not inspect.isfunction(call) or name in of_results:
            continue
        if str(inspect.signature(call).return_annotation) in ("xr.Dataset", "xr.DataTree"):
            assert call.__code__.co_filename == inspect.getsourcefile(warns_of_doubts), name


def test_stored_scores_are_judged_by_chunks_from_everywhere(tmp_path):
    """The first people of a file may be nobody in the gallery."""
    rng, gallery = np.random.default_rng(0), np.arange(400) % 20
    labels = np.repeat(np.r_[100, 101, np.arange(18)], 100)
    values = rng.random((len(labels), 400)) + (labels[:, None] == gallery) * 0.5
    with h5py.File(tmp_path / "x.h5", "w") as file:
        x = file.create_dataset("x", data=values.astype("float32"), chunks=(16, 400))
        for kind in ("distance", "similarity"):
            checked = be.check_data(be.Scores(x, labels, gallery, kind=kind))
            assert ("kind-wrong" in codes(checked)) == (kind == "distance")


def test_few_searches_with_mates_in_a_large_gallery_are_judged_by_them():
    rng, gallery = np.random.default_rng(1), np.arange(40_000)
    labels = 50_000 + np.arange(100)
    labels[::10] = gallery[::4_000]
    values = rng.normal(size=(100, len(gallery)))
    values[::10, ::4_000] += 2 * np.eye(10)
    assert "kind-wrong" in codes(be.verification(be.Scores(values, labels, gallery)))


def test_scores_that_are_changed_in_place_are_judged_anew():
    values = drawn(12, "distance").values.copy()
    scores = be.Scores(values, drawn(12, "distance").probe_labels)
    assert "kind-wrong" not in codes(be.verification(scores))
    values[:] = values.max() - values
    assert "kind-wrong" in codes(be.verification(scores))
