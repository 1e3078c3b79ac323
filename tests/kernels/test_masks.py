"""Parts of a matrix that is sorted once, beside the same parts selected and sorted one by one."""

import numpy as np
import pytest
from masked_worlds import random_places, random_scores

import bioeval as be
from bioeval.counting.masks import MaskedParts
from bioeval.counting.searches import search
from bioeval.counting.sorted_matrix import SortedMatrix, may_be_sorted
from bioeval.counting.verification import Use, verify
from bioeval.protocol.tasks import Search

FUSIONS = ("best", "mean", "worst", "median", "kth:2")


def of_part(sorted_scores, part):
    keys, table = sorted_scores.keys, sorted_scores.distances
    return table[keys[slice(*sorted_scores.starts[part : part + 2])] - part * len(table)]


def world(seed):
    rng = np.random.default_rng([seed, 8])
    scores = random_scores(rng)
    return scores, SortedMatrix.from_scores(scores), random_places(rng, scores, 7)


def assert_same_attempts(found, part, one, times=1):
    """Scores and attempts of a part equal an evaluation in which each attempt counts `times`."""
    for name in ("genuine", "impostor"):
        scores = np.repeat(of_part(getattr(found, name), part), times)
        np.testing.assert_array_equal(scores, getattr(one, name).keys)
    assert times * found.genuine_attempts[part] == one.genuine_attempts[0]
    assert times * found.impostor_attempts[part] == one.impostor_attempts[0]


@pytest.mark.parametrize("seed", range(100))
def test_attempts_of_masks_are_those_of_selected_parts(seed):
    scores, matrix, places = world(seed)
    found, times = MaskedParts(matrix, places).attempts()
    for part, some in enumerate(places):
        expected = verify(scores.select(*some)).attempts.points
        assert_same_attempts(found, part, expected, times)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of loops not compiled
@pytest.mark.parametrize("fusion", FUSIONS)
@pytest.mark.parametrize("seed", range(40))
def test_claims_of_masks_are_those_of_selected_parts(seed, fusion):
    scores, matrix, places = world(seed)
    for some in places:  # one by one: some have whole people
        found = MaskedParts(matrix, [some]).attempts(fusion)[0]
        expected = verify(scores.select(*some), Use("multi", fusion).of_kind("distance"))
        assert_same_attempts(found, 0, expected.attempts.points)
    together = MaskedParts(matrix, places).attempts(fusion)[0]
    for part, some in enumerate(places):
        expected = verify(scores.select(*some), Use("multi", fusion).of_kind("distance"))
        assert_same_attempts(together, part, expected.attempts.points)


@pytest.mark.parametrize("seed", range(100))
def test_searches_of_masks_are_those_of_selected_parts(seed):
    scores, matrix, places = world(seed)
    parts = MaskedParts(matrix, places)
    found, longest = parts.searches(Search()), parts.most_candidates()
    stable = parts.searches(Search(ties="stable"))
    distances = np.append(matrix.templates.distances, np.nan)  # of no mate, no other
    for part, (rows, columns) in enumerate(places):
        expected = search(scores.select(rows, columns), Search())
        of = found.part == part
        np.testing.assert_array_equal(found.is_enrolled[of], expected.enrolled)
        best, nearest = found.best[of], found.nearest[of]
        np.testing.assert_array_equal(distances[best], expected.mate)
        np.testing.assert_array_equal(distances[nearest], expected.other)
        np.testing.assert_array_equal(found.is_mated[of], expected.mates > 0)
        np.testing.assert_array_equal(nearest >= 0, expected.others > 0)
        rank = 1 + expected.closer + expected.tied
        np.testing.assert_array_equal(found.rank[of], rank)
        np.testing.assert_array_equal(found.tied[of], expected.tied)
        scored = ~np.isnan(expected.mate)
        rank = 1 + expected.closer + expected.tied_before
        np.testing.assert_array_equal(stable.rank[of][scored], rank[scored])
        assert longest[part] == (expected.mates + expected.others).max()


def test_which_matrices_are_sorted():
    scores = be.simulate(4, 2, random_state=1)
    assert may_be_sorted(scores)
    assert may_be_sorted(scores.select([0, 1, 4]))
    assert not may_be_sorted(be.Scores(np.ones((2, 2)), mask=np.array([[2, 1], [1, 2]])))
    assert not may_be_sorted(be.Scores.from_pairs([1.0, 2.0], [True, False]))
