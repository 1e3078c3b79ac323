"""HOTA: worked by hand, by plain loops and by TrackEval, what must hold, and its plot."""

import math
from typing import Any

import naive_mot
import numpy as np
import pytest
import xarray as xr
from mot_scenes import BOX, RESULT, TRUTH, assert_same, crowd

import bioeval as be

PARTS = ("hota", "deta", "assa", "detre", "detpr", "assre", "asspr", "loca")
OF_TPS = ("assa", "assre", "asspr", "loca")


# ------------------------------------------------------------------------ worked by hand


def test_a_match_at_exactly_a_threshold():
    """40 of 80 pixels, in decimals of which the IoU comes out as 0.49999999999999994."""
    ds = be.tracking([(1, 1, 4.4, 0.3, 60, 90)], [(1, 1, 24.4, 0.3, 60, 90)])
    assert ds.tp_by_threshold.values.tolist() == [1] * 10 + [0] * 9
    assert be.tracking(TRUTH, TRUTH).tp_by_threshold.values.tolist() == [3] * 19


def test_thresholds_without_a_match():
    """Taken as 0, and LocA as 1, unless no threshold has a match."""
    ds = be.tracking([(1, 1, 0, 0, 10, 10)], [(1, 1, 5, 0, 10, 10)])  # IoU of 1/3
    assert ds.tp_by_threshold.values.tolist() == [1] * 6 + [0] * 13
    assert ds.assa_by_threshold.values.tolist() == [1] * 6 + [0] * 13
    assert ds.loca_by_threshold.values == pytest.approx([1 / 3] * 6 + [1] * 13)
    assert float(ds.hota) == pytest.approx(6 / 19)
    nothing = np.zeros((0, 6))
    cases = (
        (TRUTH, [(1, 1, 50, 0, 10, 10)], ()),
        (TRUTH, nothing, ("detpr",)),
        (nothing, RESULT, ("detre",)),
        (nothing, nothing, ("hota", "deta", "detre", "detpr")),
    )
    for truth, result, undefined in cases:
        ds = be.tracking(truth, result)
        assert {name for name in PARTS if math.isnan(ds[name])} == {*OF_TPS, *undefined}
        assert all(float(ds[name]) == 0 for name in PARTS if not math.isnan(ds[name]))


def test_boxes_on_ignored_ground_truth_are_removed():
    """One target that is followed, and a distractor with a box of the result on it."""
    truth = [(1, 1, *BOX, 1, 1, 1), (1, 2, 50, 0, 10, 10, 0, 8, 1)]
    result = [(1, 1, *BOX), (1, 2, 50, 0, 10, 10)]
    assert float(be.tracking(truth, result).hota) == 1
    counted = be.tracking(truth, result, ignored="count")
    assert float(counted.hota) == pytest.approx(math.sqrt(1 / 2))
    assert float(counted.detpr) == 1 / 2


# ------------------------------------------------------------------------ by plain loops


@pytest.mark.parametrize("seed", [4, 9])
@pytest.mark.cases(1)
def test_a_crowd_as_by_plain_loops(seed):
    """Every frame assigned at once by scipy, without pairs that are matched before."""
    sides = crowd(seed)
    frames: list[Any] = [
        [
            [(0, f, code, *box) for code, box in zip(s.code[at], s.box[at], strict=True)]
            for s, at in ((s, s.frame == f) for s in sides)
        ]
        for f in range(12)
    ]
    rows = [np.column_stack([s.frame + 1, s.code + 1, s.box]) for s in sides]
    assert_same(be.tracking(*rows), naive_mot.hota(frames))


# ------------------------------------------------------------------------ what must hold


def test_sequences_are_weighted_by_their_true_positives():
    """AssA is 1 of one sequence, with one TP, and 1/2 of the other, with four."""
    switched = [(f, 1 + (f > 2), *BOX) for f in (1, 2, 3, 4)]
    truth = {"a": TRUTH[:1], "b": [(f, 1, *BOX) for f in (1, 2, 3, 4)]}
    ds = be.tracking(truth, {"a": RESULT[:1], "b": switched})
    assert ds.sequence_assa.values.tolist() == [1, 0.5]
    assert ds.sequence_tp_by_threshold.values.tolist() == [[1] * 19, [4] * 19]
    assert ds.sequence_hota_by_threshold.dims == ("sequence", "localisation_threshold")
    assert float(ds.assa) == pytest.approx((1 * 1 + 4 * 0.5) / 5)
    assert float(ds.hota) == pytest.approx(math.sqrt(3 / 5))
    silent = be.tracking(truth, {"a": RESULT[:1], "b": np.zeros((0, 6))})
    assert np.isnan(silent.sequence_loca.values).tolist() == [False, True]
    assert float(silent.loca) == 1


# ------------------------------------------------------------------------ the plot


# ------------------------------------------------------------------------ TrackEval's figures

# Made with TrackEval (commit 12c8791 of its repository; numpy's removed aliases float and int put
# back), its reader MotChallenge2DBox with benchmark MOT15 and its class HOTA: the means of its
# arrays over the 19 thresholds, and HOTA_TP. The two TUD sequences and both together; and the rows
# of `arranged`, written to a file.
# fmt: off
TRACKEVAL: dict[str, tuple[list[float], list[int]]] = {
    "TUD-Campus": (
        [0.391397437845114, 0.418047030142763, 0.369120681208328, 0.441577481307726,
         0.714082503556188, 0.383224913943497, 0.754049776587294, 0.770052227022172],
        [222, 222, 222, 222, 222, 219, 217, 215, 213, 207, 199, 178, 148, 121, 91, 61, 30, 3, 0],
    ),
    "TUD-Stadtmitte": (
        [0.397849016992788, 0.392267572369317, 0.4088407518113, 0.413130577308323,
         0.637622092614714, 0.449219009262856, 0.631203323675992, 0.737521177178062],
        [747, 746, 744, 742, 737, 730, 725, 714, 698, 687, 648, 516, 335, 213, 92, 0, 0, 0, 0],
    ),
    "both": (
        [0.399957091288479, 0.397683291242419, 0.412449529845354, 0.419871460830294,
         0.65510325762914, 0.450664647512058, 0.692210501451062, 0.732480258065977],
        [969, 968, 966, 964, 959, 949, 942, 929, 911, 894, 847, 694, 483, 334, 183, 61, 30, 3, 0],
    ),
    "arranged": (
        [0.353815669932404, 0.5857081660108, 0.214416090851913, 0.66657027183343,
         0.68346923647146, 0.282356306285959, 0.375982723559157, 0.784215947473009],
        [332, 331, 331, 329, 328, 328, 327, 322, 318, 314, 306, 279, 248, 209, 157, 103, 48, 0, 0],
    ),
}
# fmt: on


def arranged() -> list[list[tuple[float, ...]]]:
    """Rows of a crowd by arithmetic alone: with switches, misses and false positives."""
    truth, result = [], []
    for frame in range(1, 61):
        for who in range(1, 8):
            left = 29 * who % 97 + 2.25 * ((frame * (who % 3 + 1)) % 53)
            top, wide, high = 13.5 * who % 41, 37 + 1.7 * who, 71 + 2.3 * who
            if (frame + 11 * who) % 29 > 3:
                truth.append((frame, who, left, top, wide, high))
            aside, down = 0.9 * ((7 * frame + 3 * who) % 17) - 6, 1.1 * ((5 * frame * who) % 13) - 7
            if (5 * frame + 3 * who) % 13 > 1:
                identity = 1 + (who + (frame + 9 * who) // 37) % 9
                result.append((frame, identity, left + aside, top + down, wide + 3, high - 5))
    seen = {row[:2]: row for row in result}  # of two boxes with one id, the last
    return [truth, list(seen.values())]


def assert_as_trackeval(ds: xr.Dataset, name: str, prefix: str = "", **at: str) -> None:
    means, tp = TRACKEVAL[name]
    result = {part: ds[prefix + part].sel(at).item() for part in PARTS}
    assert result == pytest.approx(dict(zip(PARTS, means, strict=True)), abs=1e-12)
    assert ds[f"{prefix}tp_by_threshold"].sel(at).values.tolist() == tp


def test_an_arranged_crowd_as_by_trackeval():
    assert_as_trackeval(be.tracking(*arranged()), "arranged")


def test_published_sequences_as_by_trackeval(shared):
    names = ["TUD-Campus", "TUD-Stadtmitte"]
    folder = shared / "mot_tud"
    sides = [{name: folder / f"{name}_{end}.txt" for name in names} for end in ("gt", "test")]
    ds = be.tracking(*sides)
    assert_as_trackeval(ds, "both")
    for name in names:
        assert_as_trackeval(ds, name, "sequence_", sequence=name)
