"""Parts of a matrix that is sorted once, beside the same parts selected and sorted one by one."""

import numpy as np
import pytest
from masked_worlds import random_places, random_scores

import bioeval as be
from bioeval.counting.identification import search
from bioeval.counting.masks import MaskedParts
from bioeval.counting.sorted_matrix import SortedMatrix, may_be_sorted
from bioeval.counting.verification import Use, verify
from bioeval.protocol.tasks import Search

FUSIONS = ("best", "mean", "worst", "median", "kth:2")


def world(seed):
    rng = np.random.default_rng([seed, 8])
    scores = random_scores(rng)
    try:
        matrix = SortedMatrix.of(scores)
    except be.DataError:
        pytest.skip("NaN, which are to raise")
    places = random_places(rng, scores, 7)
    if not places:
        pytest.skip("no part has templates")
    return scores, matrix, places


def assert_same_attempts(found, part, expected):
    np.testing.assert_array_equal(found.genuine.in_part(part), expected.genuine)
    np.testing.assert_array_equal(found.impostor.in_part(part), expected.impostor.in_part(0))
    assert found.genuine_attempts[part] == expected.genuine_attempts
    assert found.impostor_attempts[part] == expected.impostor_attempts


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.cases(12)
def test_attempts_of_masks_are_those_of_selected_parts(seed):
    scores, matrix, places = world(seed)
    parts = MaskedParts(matrix, places)
    found = parts.attempts()
    for part, some in enumerate(places):
        assert_same_attempts(found, part, verify(scores.select(*some)).attempts)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of loops not compiled
@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.cases(10)
def test_claims_of_masks_are_those_of_selected_parts(seed, fusion):
    scores, matrix, places = world(seed)
    whole = matrix.claims(fusion)
    for some in places:  # one by one: some have whole people
        found = MaskedParts(matrix, [some]).claims(fusion, whole)
        expected = verify(scores.select(*some), Use("multi", fusion).of_kind("distance"))
        assert_same_attempts(found, 0, expected.attempts)
    together = MaskedParts(matrix, places).claims(fusion, whole)
    for part, some in enumerate(places):
        expected = verify(scores.select(*some), Use("multi", fusion).of_kind("distance"))
        assert_same_attempts(together, part, expected.attempts)


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.cases(12)
def test_searches_of_masks_are_those_of_selected_parts(seed):
    scores, matrix, places = world(seed)
    parts = MaskedParts(matrix, places)
    found, longest = parts.searches(), parts.most_candidates()
    distances = np.append(matrix.templates.distances, [np.nan, np.nan])  # failed, and none
    failed = len(distances) - 2
    for part, (rows, columns) in enumerate(places):
        expected = search(scores.select(rows, columns), Search())
        best, nearest = found.best[part, rows], found.nearest[part, rows]
        np.testing.assert_array_equal(distances[best], expected.mate)
        np.testing.assert_array_equal(distances[nearest], expected.other)
        np.testing.assert_array_equal(best >= 0, expected.mates > 0)
        np.testing.assert_array_equal(nearest >= 0, expected.others > 0)
        for name in ("closer", "tied"):
            np.testing.assert_array_equal(
                getattr(found, name)[part, rows], getattr(expected, name), name
            )
        scored = (best >= 0) & (best < failed)
        np.testing.assert_array_equal(
            found.before[part, rows][scored], expected.tied_before[scored]
        )
        assert longest[part] == (expected.mates + expected.others).max()
        assert np.delete(found.best[part], rows).max(initial=-1) == -1


def test_which_matrices_are_sorted():
    scores = be.simulate(4, 2, random_state=1)
    assert may_be_sorted(scores)
    assert may_be_sorted(scores.select([0, 1, 4]))
    assert not may_be_sorted(be.Scores(np.ones((2, 2)), mask=np.array([[2, 1], [1, 2]])))
    assert not may_be_sorted(be.Scores.from_pairs([1.0, 2.0], [True, False]))
