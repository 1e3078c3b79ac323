"""Parts as masks of a matrix that is sorted once, beside the same parts selected one by one."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import xarray as xr

import bioeval as be
from bioeval.counting import masks

CARDS = {"all-against-all": "course-all-vs-all", "probe-against-gallery": "course-probe-vs-gallery"}
TIES = ("pessimistic", "pessimistic", "optimistic", "stable")
STEPS = ("float64", "float32", "float16", "halves", "integers")

pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")


def random_scores(rng: np.random.Generator) -> be.Scores:
    """Scores of a random world of either layout."""
    max_templates = int(rng.choice([1, 2, 4, 7]))
    subjects = int(rng.integers(3, 16))
    square = rng.random() < 0.6
    labels = _labels(rng, subjects, max_templates)
    columns = labels if square else _labels(rng, subjects, max_templates)
    shape = len(labels), len(columns)
    values = rng.normal(size=shape)
    values += rng.choice([0.5, 2.0, 4.0]) * ~np.equal.outer(labels, columns)
    steps = str(rng.choice(STEPS))
    if steps in ("halves", "integers"):
        values = np.round(2 * values)
        values = values / 2 if steps == "halves" else values.astype(np.int16)
    else:
        values = values.astype(steps)
    symmetric = square and rng.random() < 0.6
    if symmetric:
        values = _mirrored(values)
    kind = str(rng.choice(["distance", "similarity"]))
    if kind == "similarity":
        values = -values
    nan = str(rng.choice(["raise", "exclude", "reject"]))
    if nan != "raise":
        values = _with_gaps(values, rng, symmetric=symmetric, infinite=steps == "float64")
    meta: dict[str, Any] = {}
    if rng.random() < 0.3:
        meta["exclude"] = rng.choice(["session", "all:session"])
        meta["probe_meta"] = {"session": rng.integers(0, 3, shape[0])}
        if not square:
            meta["gallery_meta"] = {"session": rng.integers(0, 3, shape[1])}
    elif rng.random() < 0.2:
        mask = rng.random(shape) < 0.9
        meta["mask"] = mask & mask.T if symmetric else mask
    if rng.random() < 0.15:
        meta["distractor_ids"] = (int(labels[0]),)
    sides = (labels,) if square else (labels, columns)
    return be.Scores(values, *sides, kind=kind, nan=nan, **meta)


def _labels(rng: np.random.Generator, subjects: int, most: int) -> np.ndarray:
    """The subjects of templates, unequal numbers of each, in any order."""
    subjects_in_use = rng.permutation(subjects)[: max(3, int(subjects * rng.choice([0.7, 1.0])))]
    labels = np.repeat(subjects_in_use, rng.integers(1, most + 1, len(subjects_in_use)))
    return rng.permutation(labels) if rng.random() < 0.5 else labels


def _mirrored(values: np.ndarray) -> np.ndarray:
    return np.where(np.tri(len(values), dtype=bool), values, values.T)


def _with_gaps(
    values: np.ndarray, rng: np.random.Generator, *, symmetric: bool, infinite: bool
) -> np.ndarray:
    """Values with NaN, and perhaps some infinite values."""
    values = values.astype(np.result_type(values, np.float16))
    gaps = rng.random(values.shape) < rng.choice([0.02, 0.15, 0.5])
    if infinite and rng.random() < 0.3:
        values[rng.random(values.shape) < 0.05] = rng.choice([-np.inf, np.inf])
        if symmetric:
            values = _mirrored(values)
    values[gaps | gaps.T if symmetric else gaps] = np.nan
    return values


def random_splitter(rng: np.random.Generator, layout: str) -> Any:
    """A splitter with a few parts."""
    seed = int(rng.integers(1 << 30))
    splitters = [
        be.partition.SubjectShuffleSplit(12, test_size=0.5, random_state=seed),
        be.partition.SubjectKFold(3, n_repeats=4, shuffle=True, random_state=seed),
        be.partition.SampleShuffleSplit(12, test_size=0.6, random_state=seed),
    ]
    if layout == "all-against-all":
        too_few = {"too_few": str(rng.choice(["enrol", "probe", "drop"]))}
        drawn = {"n_repeats": 6, "random_state": seed, **too_few}
        splitters += [
            be.partition.ProbeGallerySplit(1, **drawn),
            be.partition.ProbeGallerySplit(2, **drawn),
            be.partition.ProbeGallerySplit(0.5, **drawn),
            be.partition.EnrolledSplit(
                be.partition.ProbeGallerySplit(1, **too_few),
                unenrolled=0.3,
                n_repeats=6,
                random_state=seed,
            ),
            be.partition.Experiment(
                0.4, gallery_templates=1, unenrolled=0.3, repeats=6, random_state=seed, **too_few
            ),
        ]
    return splitters[rng.integers(len(splitters))]


def random_places(rng: np.random.Generator, scores: be.Scores) -> list[Any]:
    """Partitions of some people, of some templates, of one set or of two."""
    places = []
    people = np.unique([*scores.probe_labels, *scores.gallery_labels])
    for _ in range(7):
        chosen = people[rng.random(len(people)) < 0.6]
        sides = [np.isin(x, chosen) for x in (scores.probe_labels, scores.gallery_labels)]
        way = rng.integers(3)
        if way == 1:
            sides = [rng.random(n) < 0.5 for n in scores.shape]
        if way == 2 and scores.shape[0] == scores.shape[1]:
            sides[1] = sides[0] = rng.random(len(sides[0])) < 0.6
        if sides[0].any() and sides[1].any():
            places.append(be.partition.ProbesGallery(*map(np.flatnonzero, sides)))
    return places


def random_folds(rng: np.random.Generator, layout: str) -> Any:
    """A splitter into training and test."""
    seed = int(rng.integers(1 << 30))
    plans = [
        be.partition.SubjectKFold(3, n_repeats=3, shuffle=True, random_state=seed),
        be.partition.SubjectShuffleSplit(6, test_size=0.5, random_state=seed),
        be.partition.SampleKFold(3, stratify="subject", shuffle=True, random_state=seed),
        be.partition.TrainValidationTest(0.4, 0.3, random_state=seed),
    ]
    if layout == "all-against-all":
        plans.append(
            be.partition.Experiment(
                train=0.4, gallery_templates=1, unenrolled=0.3, repeats=6, random_state=seed
            )
        )
    return plans[rng.integers(len(plans))]


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch, way: str) -> Iterator[None]:
    """Count parts by "masks", "selected" together, or "one" by one."""
    with monkeypatch.context() as patch:
        patch.setattr(masks, "OFTEN", -1 if way == "masks" else 10**18)
        patch.setattr(masks, "LOADED", -1)
        if way == "one":
            patch.setattr("bioeval.studies.repeat.is_few", lambda cells: False)
            patch.setattr(masks, "CELLS_TOGETHER", 1)
        yield


def all_ways(
    monkeypatch: pytest.MonkeyPatch, call: Callable[[], xr.DataTree]
) -> list[xr.DataTree] | None:
    """The results of all ways, one by one at the end; None where all refuse with the same words."""
    try:
        with counted(monkeypatch, "one"):
            expected = call()
    except be.BioevalError as error:
        for way in ("masks", "selected"):
            with counted(monkeypatch, way), pytest.raises(type(error)) as raised:
                call()
            assert str(raised.value) == str(error)
        return None
    results = []
    for way in ("masks", "selected"):
        with counted(monkeypatch, way):
            results.append(call())
    return [*results, expected]


def assert_same(trees: list[xr.DataTree] | None) -> None:
    """All values of all ways alike, to the last bit."""
    *together, expected = trees or [xr.DataTree()]
    for tree in together:
        assert [x.path for x in tree.leaves] == [x.path for x in expected.leaves]
        for node in expected.leaves:
            found = tree[node.path]
            assert [*found.variables] == [*node.variables]
            assert found.attrs == node.attrs
            for name, values in node.variables.items():
                assert found[name].dims == values.dims
                assert found[name].dtype == values.dtype, name
                np.testing.assert_array_equal(found[name], values, err_msg=str(name))


def random_card(rng: np.random.Generator, layout: str) -> be.protocol.Protocol:
    """A card of the course with other rules of fusion, ties, impostors, targets and priors."""
    card = be.protocol.load(CARDS[layout])
    fusion = str(rng.choice(["best", "best", "mean", "worst", "median", "kth:2", "max"]))
    ties, impostors = str(rng.choice(TIES)), "auto"
    if layout != "all-against-all":
        impostors = str(rng.choice(["auto", "leave-subject-out", "unenrolled", "both"]))
    return replace(
        card,
        verification=replace(card.verification, fusion=fusion),
        open_set=replace(card.open_set, ties=ties, impostors=impostors),
        closed_set=replace(card.closed_set, ties=ties, unmated=str(rng.choice(["skip", "auto"]))),
        report=replace(card.report, frr_targets=(0.1, 0.02), priors=(0.5, 0.1)),
    )


@pytest.mark.parametrize("seed", range(200))
def test_repeat_counts_by_masks_what_selected_parts_have(seed, monkeypatch):
    rng = np.random.default_rng([seed, 9])
    scores = random_scores(rng)
    splitter, protocol = random_splitter(rng, scores.layout), "auto"
    if rng.random() < 0.6:
        divides = type(splitter).__name__.startswith(("Probe", "Enrolled", "Experiment"))
        protocol = random_card(rng, "probe-against-gallery" if divides else scores.layout)
    elif rng.random() < 0.4:
        splitter = random_places(rng, scores)
    options = {"auc": False} if rng.random() < 0.2 else {}
    assert_same(all_ways(monkeypatch, lambda: be.repeat(scores, splitter, protocol, **options)))


@pytest.mark.parametrize("seed", range(150))
def test_cross_evaluate_counts_by_masks_what_selected_parts_have(seed, monkeypatch):
    rng = np.random.default_rng([seed, 10])
    scores = random_scores(rng)
    splitter = random_folds(rng, scores.layout)
    task = str(rng.choice(["verification", "verification", "open_set", "closed_set"]))
    options: dict[str, Any] = {"task": task}
    if rng.random() < 0.6:
        options["far_targets"] = [0.1, 0.01]
    if task == "verification":
        options["templates"] = str(rng.choice(["single", "multi"]))
        if options["templates"] == "multi":
            options["fusion"] = str(rng.choice(["best", "mean", "worst", "kth:2"]))
        options |= {"frr_targets": [0.1], "priors": [0.5, 0.1]} if rng.random() < 0.5 else {}
    else:
        options |= {"ties": str(rng.choice(TIES)), "ranks": [1, 3]}
    if task != "closed_set":
        rules = ["eer", "far=0.1", "far=0.01", "hter", "frr=0.05", "accuracy", 0.5]
        options["threshold"] = rules[rng.integers(len(rules))]
    assert_same(
        all_ways(monkeypatch, lambda: xr.DataTree(be.cross_evaluate(scores, splitter, **options)))
    )


def test_few_parts_are_selected_and_many_are_masks():
    scores = be.simulate(50, 4, random_state=1)
    half = np.arange(100), np.arange(100)
    assert not masks.masks_pay(scores, 10 * [half])
    assert masks.masks_pay(scores, 3000 * [half])


def test_what_cannot_be_sorted_is_selected(monkeypatch):
    scores = be.simulate(4, 2, random_state=1)
    unlabelled = be.Scores(np.ones((2, 2)), mask=np.array([[2, 1], [1, 2]]))
    half = np.arange(2), np.arange(2)
    with counted(monkeypatch, "masks"):
        assert masks.masks_pay(scores, [half])
        assert masks.masks_pay(scores.select([0, 1, 4]), [half])
        assert not masks.masks_pay(unlabelled, [half])
        assert not masks.masks_pay(be.Scores.from_pairs([1.0, 2.0], [True, False]), [half])


def test_thousands_of_parts_are_interrupted_at_once(monkeypatch):
    scores = be.simulate(10, 3, random_state=1)
    steps: list[int] = []

    def interrupt(step: int, _: int) -> None:
        steps.append(step)
        raise KeyboardInterrupt

    monkeypatch.setattr(masks, "CELLS_TOGETHER", 1)
    splitter = be.partition.SubjectShuffleSplit(50, test_size=0.5, random_state=0)
    with (
        counted(monkeypatch, "masks"),
        be.set_options(progress=interrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        be.repeat(scores, splitter)
    assert steps == [1]


def test_each_probe_of_a_part_is_an_impostor_whether_its_person_is_enrolled_or_not(monkeypatch):
    scores = be.simulate(9, (1, 3), within=1.2, random_state=3)
    people = [np.arange(9), np.arange(3), np.flatnonzero(np.bincount(scores.codes.probe) > 1)]
    parts = [np.flatnonzero(np.isin(scores.codes.probe, some)) for some in people]
    trees = all_ways(monkeypatch, lambda: be.repeat(scores, parts))
    assert_same(trees)
    assert trees is not None
    for tree in trees:
        assert tree["open_set"].impostor_attempts.values.tolist() == [*map(len, parts)]


def test_a_mask_makes_a_symmetric_matrix_one_of_two_directions(monkeypatch):
    scores = be.simulate(9, 3, within=1.0, random_state=3)
    symmetric = np.minimum(scores.values, scores.values.T)
    mask = np.random.default_rng(0).random(symmetric.shape) < 0.7
    masked = be.Scores(symmetric, scores.probe_labels, mask=mask)
    splitter = be.partition.SubjectShuffleSplit(4, test_size=0.6, random_state=0)
    trees = all_ways(monkeypatch, lambda: be.repeat(masked, splitter))
    assert trees is not None
    assert_same(trees)
