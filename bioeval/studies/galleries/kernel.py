"""Galleries of fewer subjects: loops over the candidates of each probe."""

from __future__ import annotations

import numpy as np

from bioeval.kernels.compiling import compiled


@compiled
def add_counts(candidates, kind, table):
    """Add to ``table[kind, t, c]`` the rows with `c` candidates at threshold `t`; kind -1: none."""
    for i in range(len(kind)):
        if kind[i] < 0:
            continue
        for t in range(candidates.shape[1]):
            table[kind[i], t, candidates[i, t]] += 1


@compiled
def drawn_marked(population, drawn, weights, limit, out):
    """Mix hypergeometric distributions of the number of marked among `drawn` of a population.

    Marked subjects are added one by one: if `j` of the first `r` are drawn, the next one is drawn
    with chance ``(drawn - j) / (population - r)``. All terms are positive. Row ``a`` of `out`,
    shape (a, limit), gets the mixture by ``weights[a]``, those of 0, 1, ... marked subjects.
    """
    row = np.zeros(limit)
    row[0] = 1.0
    out[:, :] = 0.0
    for r in range(weights.shape[1]):
        for a in range(len(weights)):
            if weights[a, r] != 0.0:
                for j in range(min(limit, r + 1)):
                    out[a, j] += weights[a, r] * row[j]
        rest = population - r
        if rest <= 0:
            break
        for j in range(min(limit - 1, r + 1), -1, -1):
            stay = 1.0 - min(max((drawn - j) / rest, 0.0), 1.0)
            row[j] *= stay
            if j > 0:
                row[j] += row[j - 1] * min(max((drawn - j + 1) / rest, 0.0), 1.0)
