"""Results of re-identification without a match: the same words in Python and on a command line."""

import numpy as np
import pytest

import bioeval as be
from tests.result_messages import arguments

_WHO = np.repeat(np.arange(4), 2)
_SAME = {"probe_meta": {"camera": [1] * 8}, "gallery_meta": {"camera": [1] * 8}}


def _scores(**options) -> be.Scores:
    values = np.random.default_rng(0).random((8, 8))
    return be.Scores(values, _WHO, _WHO.copy(), **(_SAME | options))


def test_a_cmc_without_a_query_says_why():
    result = be.reid(_scores(), removed="same-camera", removed_for_ap="none")
    assert np.isnan(result.cmc).all()
    assert not np.isnan(result.mean_ap)
    assert "(same-camera)" in arguments(result, "no-query-with-match")["why"]


def test_queries_of_nobody_in_the_gallery():
    with pytest.raises(be.ProtocolError, match="no identity of the 8 queries is in the gallery"):
        be.reid(be.Scores(np.ones((8, 8)), _WHO, _WHO + 9), "vehicleid")
    with pytest.raises(be.ProtocolError, match="all queries are junk or distractors"):
        be.reid(be.Scores(np.ones((8, 8)), [-1] * 8, _WHO), "vehicleid")


def test_single_shots_say_that_other_measures_are_of_the_whole_gallery(capsys):
    meta = {"gallery_meta": {"camera": [2] * 8}}
    result = be.reid(_scores(**meta), "cuhk03")
    assert "other measures on all" in result.cmc.long_name
    be.show(result)
    assert "other measures all" in " ".join(capsys.readouterr().out.split())
