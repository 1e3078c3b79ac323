"""Folds go on from a checkpoint of the same folds, and from no other."""

from __future__ import annotations

import numpy as np
import pytest

import bioeval as be


class Halves:
    """A splitter without a text of its own: it is shown by its address."""

    def __init__(self, last, order=None):
        self.last, self.order = last, order

    def split(self, X, y=None, groups=None):
        places = np.arange(120)
        yield places[: self.last], places[self.last :]

    def get_n_splits(self, *_):
        return 1


def test_splitters_are_known_by_their_contents(tmp_path):
    scores = be.simulate(30, 4, random_state=1)

    def evaluated(splitter):
        return be.cross_evaluate(scores, splitter, checkpoint=tmp_path / "kept")

    whole = evaluated(Halves(60))
    assert repr(Halves(60)) != repr(Halves(60))
    assert evaluated(Halves(60)).far_summary.identical(whole.far_summary)
    with pytest.raises(be.CheckpointError, match="options, splitter, state, last: 60 there, 57"):
        evaluated(Halves(57))


def test_an_option_that_cannot_be_recognised_is_refused(tmp_path):
    splitter = Halves(60, order=(i for i in range(3)))
    with pytest.raises(be.DataError, match="splitter is or holds a generator, and a checkpoint"):
        be.cross_evaluate(
            be.simulate(30, 4, random_state=1), splitter, checkpoint=tmp_path / "kept"
        )
