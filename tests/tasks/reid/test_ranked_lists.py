"""The picture of the ranked lists of a few queries: the lists of the paper on GOM."""

import numpy as np
import pytest

import bioeval as be
from bioeval import plot

LISTS = np.array([
    [0.1, 0.2, 0.4, 0.7, 0.8], [0.4, 0.7, 0.75, 0.8, 0.9], [0.1, 0.45, 0.5, 0.4, 0.7],
    [0.1, 0.4, 0.5, 0.45, 0.7], [0.4, 0.5, 0.7, 0.8, 0.9], [0.4, 0.7, 0.75, 0.8, 0.9],
])  # fmt: skip


def drawn(**options):
    scores = be.Scores(LISTS, [1, 1, 1, 1, 9, 9], [1, 1, 1, 2, 3])
    defaults = {"thresholds": [0.3, 0.6], "convention": "vehicleid", "budget": 5}
    return plot.ranked_lists(scores, **{**defaults, **options})


@pytest.mark.slow
def test_the_lists_of_the_paper():
    display = drawn()
    assert display.drawn["match"][2].tolist() == [1, 0, 1, 1, 0]
    assert display.drawn["within"].tolist() == [[2, 3], [0, 1], [1, 4], [1, 4], [0, 2], [0, 1]]
    assert display.drawn["words"][3] == [
        "AP 0.92",
        "RP 1.00 VP 0.33 ReP 0.58",
        "RP 0.92 VP 0.75 ReP 0.83",
    ]
    assert display.drawn["words"][4] == ["-", "FR 0.00", "FR 0.40"]
    assert len(display.ax_.patches) == 30
    display.figure_.canvas.draw()


def test_similarities_and_removed_entries():
    camera = {"probe_meta": {"camera": [1]}, "gallery_meta": {"camera": [1, 2, 2]}}
    scores = be.Scores([[0.9, 0.8, 0.1]], [7], [7, 8, 7], kind="similarity", **camera)
    display = plot.ranked_lists(scores, thresholds=[-0.5, 0.0])
    assert display.drawn["match"].tolist() == [[0, 1, -1]]  # the first is of its own camera
    assert display.drawn["within"].tolist() == [[1, 2]]
    assert len(display.ax_.patches) == 2


def test_wrong_input():
    scores = be.Scores(np.ones((31, 3)), np.arange(31), [1, 2, 3])
    with pytest.raises(
        be.DataError, match=r"ranked lists of 31 queries; expected at most 30: .*select"
    ):
        plot.ranked_lists(scores, thresholds=[1], convention="vehicleid")
    with pytest.raises(be.DataError, match="expected bioeval.Scores"):
        plot.ranked_lists(LISTS, thresholds=[1])
