"""Galleries that are drawn, or several: a study evaluates them, or a message says none does."""

from __future__ import annotations

import numpy as np
import pytest

import bioeval as be
from bioeval.base import studies

PEOPLE = np.repeat(np.arange(4), 3)
VALUES = np.random.default_rng(0).random((12, 12))


@pytest.fixture
def no_study(monkeypatch):
    monkeypatch.setattr(studies, "manifests", dict)
    studies.offered.cache_clear()
    yield
    studies.offered.cache_clear()


@pytest.mark.parametrize("call", [be.open_set, be.closed_set, be.verification])
@pytest.mark.parametrize("options", [{"gallery": 2}, {"gallery": "single", "sampling": 5}])
def test_without_a_study_no_gallery_is_drawn(call, options, no_study):
    scores = be.Scores(VALUES, PEOPLE)
    with pytest.raises(be.DataError, match="no study that draws galleries is installed"):
        call(scores, **options)
    assert call(scores, gallery="all", sampling="exact").identical(call(scores))


def test_without_a_study_there_is_no_mean_over_galleries(no_study):
    sides = {"gallery_meta": {"gallery": ["G1", "G2"] * 6}}
    scores = be.Scores(VALUES, PEOPLE, PEOPLE, **sides)
    with pytest.raises(be.ProtocolError, match="averages over several galleries, but no study"):
        be.evaluate(scores, "ijbc-1n")
