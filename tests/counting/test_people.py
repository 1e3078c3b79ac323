"""The table of people is that of a loop over all attempts, however these are read and counted."""

import math
from typing import Any

import naive
import naive_groups
import numpy as np
import pytest
from limits import streaming
from ways import counted_by

import bioeval as be

NAN, INF = math.nan, math.inf
THRESHOLDS = [2.0, NAN, -1.0, INF, 2.0]

each_way = pytest.mark.parametrize("way", ["listed", "counted", "sparse tables of people"])
each_fusion = pytest.mark.parametrize("fusion", [None, "best", "worst", "mean", "median"])


def world(seed: int, nan: str, kind: str) -> dict[str, Any]:
    """Small whole scores of six people, with failures, infinities and a person without gallery."""
    rng = np.random.default_rng(seed)
    probes, gallery = rng.integers(0, 6, 17), rng.integers(0, 5, 19)
    values = rng.integers(0, 5, (17, 19)).astype(float)
    for value, part in ((INF, 0.06), (-INF, 0.03), (NAN, 0.2)):
        values[rng.random(values.shape) < part] = value
    if kind == "similarity":
        values = -values
    return {
        "values": values,
        "probe_labels": probes.tolist(),
        "gallery_labels": gallery.tolist(),
        "kind": kind,
        "nan": nan,
    }


def assert_counts(
    counts: Any, made: list[naive_groups.Attempt], at: list[float], kind: str
) -> None:
    """Compare a table, and sums of it, with a list of attempts."""
    number = {person: k for k, person in enumerate(counts.people)}
    number_of_people, number_of_thresholds = len(number), len(at)
    attempts, accepted = (
        np.zeros((number_of_people, number_of_people), int),
        np.zeros((number_of_thresholds, number_of_people, number_of_people), int),
    )
    for attempt in made:
        pair = number[attempt.probe], number[attempt.claimed]
        attempts[pair] += 1
        for k, threshold in enumerate(at):
            accepted_counts = threshold == threshold and naive.accepted(
                attempt.score, threshold, kind
            )
            accepted[(k, *pair)] += bool(accepted_counts)
    own = np.eye(number_of_people, dtype=bool)
    assert (counts.genuine_attempts == attempts[own]).all()
    assert (counts.genuine_accepted == accepted[:, own]).all()
    attempts[own] = accepted[:, own] = 0
    assert (counts.table(counts.impostor_attempts) == attempts).all()
    assert (np.stack([counts.probe, counts.claimed]) == np.nonzero(attempts)).all()
    assert (counts.impostor_attempts == attempts[attempts > 0]).all()
    assert (counts.impostor_accepted == accepted[:, attempts > 0]).all()
    group, second_group = np.arange(number_of_people) % 2, np.arange(number_of_people) % 3
    accepted_counts, of_groups = counts.of_groups(group, second_group)
    for first_value in range(2):
        for second_value in range(min(number_of_people, 3)):
            pairs = np.ix_(group == first_value, second_group == second_value)
            assert of_groups[first_value, second_value] == attempts[pairs].sum()
            assert (
                accepted_counts[:, first_value, second_value] == [x[pairs].sum() for x in accepted]
            ).all()


@each_way
@each_fusion
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("nan", ["reject", "exclude"])
@pytest.mark.parametrize(
    "dtype", [*(pytest.param(x, marks=pytest.mark.slow) for x in ("f2", "f4")), "f8"]
)
@pytest.mark.cases(13)
def test_matrices(way, fusion, kind, nan, dtype):
    for seed in range(3):
        case = world(seed, nan, kind)
        templates = "single" if fusion is None else "multi"
        use = (templates, fusion or "best")
        attempts = naive_groups.attempts(naive.read(**case), *use)
        thresholds = [-x if kind == "similarity" else x for x in THRESHOLDS]
        values, probes, gallery, *_ = case.values()
        with counted_by(way):
            scores = be.Scores(values.astype(dtype), probes, gallery, kind=kind, nan=nan)
            counts = be.stats.people_counts(scores, thresholds, templates=use[0], fusion=use[1])
            assert_counts(counts, attempts, thresholds, kind)


@each_way
def test_no_threshold_and_people_that_are_never_compared(way):
    values = np.array([[-INF, 1.0], [NAN, -INF]])
    with counted_by(way):
        scores = be.Scores(values, ["a", "b"], ["b", "c"], nan="exclude")
        counts = be.stats.people_counts(scores)
    pairs = zip(counts.probe.tolist(), counts.claimed.tolist(), strict=True)
    assert counts.people == ["a", "b", "c"]
    assert list(pairs) == [(0, 1), (0, 2), (1, 2)]
    assert counts.impostor_attempts.tolist() == [1, 1, 1]
    assert counts.impostor_accepted.shape == (0, 3)
    assert counts.genuine_attempts.tolist() == [0, 0, 0]


@pytest.mark.slow
@each_way
@each_fusion
@pytest.mark.parametrize("exclude", [None, "all:camera", "all:camera=0/1"])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.cases(13)
def test_embeddings_in_tiles(way, fusion, exclude, both):
    """Of one set each pair of tiles is computed once."""
    rng = np.random.default_rng(3)
    embeddings = rng.integers(0, 4, (40, 3)).astype(float)
    subject, camera = rng.permutation(np.arange(40) % 9), rng.integers(0, 3, 40)
    options: dict[str, Any] = {"probe_meta": {"camera": camera}, "metric": "l1"}
    gallery = slice(0, 40) if both else slice(10, 40)
    sides: tuple = () if both else (embeddings[gallery], subject[gallery])
    if not both:
        options["gallery_meta"] = {"camera": camera[gallery]}
    if exclude is not None:
        options["exclude"] = [exclude]
    values = np.abs(embeddings[:, None] - embeddings[None, gallery]).sum(axis=2)
    if exclude is not None:
        probe_camera, gallery_camera = camera[:, None], camera[None, gallery]
        values[
            (probe_camera == gallery_camera)
            if exclude == "all:camera"
            else (probe_camera == 0) & (gallery_camera == 1)
        ] = NAN
    case = {"values": values, "probe_labels": subject.tolist(), "nan": "exclude"}
    if not both:
        case["gallery_labels"] = subject[gallery].tolist()
    use = ("single" if fusion is None else "multi", fusion or "best")
    attempts = naive_groups.attempts(naive.read(**case), *use)
    with counted_by(way, tile=8):
        scores = streaming(embeddings, subject, *sides, dtype="float32", **options)
        counts = be.stats.people_counts(scores, [2.0, 4.5], templates=use[0], fusion=use[1])
        assert_counts(counts, attempts, [2.0, 4.5], "distance")


@each_way
@pytest.mark.parametrize("nan", ["reject", "exclude"])
def test_listed_pairs(way, nan):
    case = world(4, nan, "distance")
    data = naive.read(**case)
    values, probes, gallery, *_ = case.values()
    i, j = np.random.default_rng(1).integers(0, (17, 19), (200, 2)).T  # some are listed twice
    subject, claimed = np.array(probes)[i], np.array(gallery)[j]
    attempts = []
    for row, column in zip(i.tolist(), j.tolist(), strict=True):
        attempts += [
            naive_groups.Attempt(probes[row], cell.subject, cell.distance, cell.mate)
            for cell in data.rows[row]
            if cell.column == column
        ]
    with counted_by(way):
        pairs = be.Scores.from_pairs(
            values[i, j], subject == claimed, subjects=np.stack([claimed, subject], axis=1), nan=nan
        )
        counts = be.stats.people_counts(pairs, THRESHOLDS)
        everyone = {x.probe for x in attempts} | {x.claimed for x in attempts}
        assert everyone <= set(counts.people)
        assert_counts(counts, attempts, THRESHOLDS, "distance")


@pytest.mark.slow
def test_people_have_to_be_known_and_thresholds_are_numbers():
    unnamed = be.Scores.from_pairs([0.1, 0.9], [True, False])
    with pytest.raises(be.ProtocolError, match="a table of people needs the subjects"):
        be.stats.people_counts(unnamed, [0.5])
    scores = be.simulate(4, 2, random_state=1)
    for wrong in ("eer", [[0.5]], [1j]):
        with pytest.raises(be.DataError, match="`thresholds` is"):
            be.stats.people_counts(scores, wrong)
    lists = be.Scores.from_top_k([[0, 1], [1, 0]], ["a", "b"], ["a", "b", "c"])
    with pytest.raises(be.ProtocolError, match="scores of all 3 gallery entries"):
        be.stats.people_counts(lists, [0.5])
    assert be.stats.people_counts(scores, 0.5).impostor_accepted.shape[0] == 1
