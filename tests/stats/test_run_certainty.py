"""Standard errors of a planned run, against sums over all pairs of comparisons."""

from __future__ import annotations

import math
from itertools import combinations, product

import pytest

from bioeval.stats.planning import assumed
from bioeval.stats.run_certainty import far_error, frr_error


def naive_error(comparisons, covariance):
    """Return the standard error of a mean, by the covariance of every two of its terms."""
    total = sum(covariance(a, b) for a in comparisons for b in comparisons)
    return math.sqrt(total) / len(comparisons)


@pytest.mark.parametrize("subjects", [2, 3, 6])
def test_far_error_of_all_pairs_of_people(subjects):
    far, icc = 0.01, 0.05

    def covariance(a, b):
        shared = len(set(a) & set(b))
        return far * (1 - far) * {2: 1.0, 1: icc, 0: 0.0}[shared]

    expected = naive_error(list(combinations(range(subjects), 2)), covariance)
    assert far_error(far, icc, subjects, subjects, same=True) == pytest.approx(expected)


@pytest.mark.parametrize(("probes", "gallery"), [(1, 1), (2, 5), (4, 3)])
def test_far_error_of_two_sets_of_people(probes, gallery):
    far, icc = 0.02, 0.1

    def covariance(a, b):
        shared = (a[0] == b[0]) + (a[1] == b[1])
        return far * (1 - far) * (0.0, icc, 1.0)[shared]

    expected = naive_error(list(product(range(probes), range(gallery))), covariance)
    assert far_error(far, icc, probes, gallery, same=False) == pytest.approx(expected)


def of_genuine(comparisons, components):
    """Return the standard error of genuine comparisons ``(subject, template, template)``."""

    def covariance(a, b):
        if a[0] != b[0]:
            return 0.0
        shared = len(set(a[1:]) & set(b[1:]))
        rest = components.total - components.between - 2 * components.template
        return components.between + shared * components.template + rest * (shared == 2)

    return naive_error(comparisons, covariance)


@pytest.mark.parametrize(("subjects", "each"), [(1, 2), (3, 2), (2, 4)])
def test_frr_error_of_all_against_all(subjects, each):
    components = assumed(0.05, 0.2, 0.1)
    pairs = [(s, a, b) for s in range(subjects) for a, b in combinations(range(each), 2)]
    expected = of_genuine(pairs, components)
    assert frr_error(components, subjects, each, each, same=True) == pytest.approx(expected)


def test_frr_error_of_one_probe_against_the_others():
    components = assumed(0.05, 0.2, 0.1)
    pairs = [(s, 0, b) for s in range(3) for b in range(1, 5)]
    expected = of_genuine(pairs, components)
    assert frr_error(components, 3, 1, 5, same=True) == pytest.approx(expected)


def test_frr_error_of_probes_against_a_gallery():
    components = assumed(0.05, 0.2, 0.1)
    pairs = [(s, f"p{a}", f"g{b}") for s in range(2) for a in range(3) for b in range(4)]
    expected = of_genuine(pairs, components)
    assert frr_error(components, 2, 3, 4, same=False) == pytest.approx(expected)


def test_people_matter_more_than_comparisons():
    components = assumed(0.02, 0.2, 0.0)
    few = frr_error(components, 100, 10, 10, same=True)
    many = frr_error(components, 400, 3, 3, same=True)  # a quarter of the genuine comparisons each
    assert many < few
