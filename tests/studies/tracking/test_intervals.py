"""Intervals over sequences: against a loop that leaves out one sequence, and what must hold."""

import math

import naive_limits
import numpy as np
import pytest
import scipy
from mot_sequences import Rows, sequences, write_benchmark

import bioeval as be

INFINITE = {"mota": (-math.inf, 1), "far": (0, math.inf), "fp_per_frame": (0, math.inf)}
MEASURES = [
    *("mota", "motp", "motp_distance", "recall", "precision", "far", "fp_per_frame"),
    *("idp", "idr", "idf1", "hota", "deta", "assa", "detre", "detpr", "assre", "asspr", "loca"),
]
FEWEST = 12
TRACKER = {"A": (0.15, 0.03)}
JACKKNIFE = {"interval": "sequence-jackknife"}


@pytest.fixture(scope="module")
def fourteen() -> tuple[dict[str, Rows], dict[str, Rows]]:
    truths, results = sequences(14, TRACKER)
    return truths, results["A"]


def leave_one_out(truths, results, confidence: float) -> dict[str, tuple[float, float]]:
    """By its definition: evaluate the others, without each of the sequences."""
    whole = be.tracking(truths, results)
    values = []
    for without in truths:
        kept = [name for name in truths if name != without]
        one = be.tracking({x: truths[x] for x in kept}, {x: results[x] for x in kept})
        values.append({name: float(one[name]) for name in MEASURES})
    limits = {}
    for name in MEASURES:
        columns, bounds = [float(whole[name]), *(x[name] for x in values)], INFINITE.get(name)
        if bounds is None:  # on the scale of logits
            limits[name] = naive_limits.student(columns, len(values), confidence, (0, 1))
            continue
        variance, freedom = naive_limits.jackknife(columns)
        half = scipy.stats.t(freedom).ppf(0.5 + confidence / 2) * math.sqrt(variance)
        limits[name] = max(columns[0] - half, bounds[0]), min(columns[0] + half, bounds[1])
    return limits


def test_as_a_loop_over_sequences(fourteen):
    truths, results = fourteen
    confidence = 0.8
    method = be.stats.IntervalMethod("sequence-jackknife", confidence=confidence)
    ds = be.tracking(truths, results, interval=method)
    expected = leave_one_out(truths, results, confidence)
    for name, (low, high) in expected.items():
        assert ds[f"{name}_low"].item() == pytest.approx(low, abs=1e-12), name
        assert ds[f"{name}_high"].item() == pytest.approx(high, abs=1e-12), name
        assert low < ds[name].item() < high
    assert ds.attrs["confidence"] == confidence
    assert ds.attrs["interval_for"] == "new sequences"


@pytest.mark.parametrize("number", [1, 2, FEWEST - 1])
def test_few_sequences_have_no_interval(number):
    truths, results = sequences(number, TRACKER)
    ds = be.tracking(truths, results["A"], **JACKKNIFE)
    assert np.isnan(ds.mota_low) and np.isnan(ds.hota_high)
    arguments = {message.code: message.arguments for message in be.messages(ds)}
    assert arguments["few-sequences"] == {"sequences": number, "needed": FEWEST}
    assert "interval_method" not in ds.attrs


@pytest.mark.slow
def test_sequences_of_one_video_are_left_out_together(tmp_path):
    """As in MOT17, which has each video with three detectors."""
    truths, results = sequences(13, TRACKER)
    detectors = ("-DPM", "-FRCNN", "-SDP")
    gt, places = write_benchmark(tmp_path, truths, results, detectors=detectors)
    ds = be.tracking(gt, places["A"], **JACKKNIFE)
    assert ds.sizes["sequence"] == 39
    (message,) = be.messages(ds)
    assert message.code == "sequences-of-one-video"
    assert message.arguments == {"sequences": 39, "videos": 13}
    single = be.tracking(truths, results["A"], **JACKKNIFE)
    for name in ("mota", "hota", "idf1"):  # each counts three times: nothing is learnt
        assert ds[f"{name}_low"].item() == pytest.approx(single[f"{name}_low"].item())
    few = sequences(7, TRACKER)
    gt, places = write_benchmark(tmp_path / "MOT17", *few, detectors=detectors)
    found = [message.code for message in be.messages(be.tracking(gt, places["A"], **JACKKNIFE))]
    assert found == ["sequences-of-one-video", "few-sequences"]


def test_no_interval_claims_certainty(fourteen):
    """Without an error a proportion has a bound, and a measure without bounds has no interval."""
    truths, _ = fourteen
    ds = be.tracking(truths, truths, **JACKKNIFE)
    assert ds.recall_low.item() == pytest.approx(0.025 ** (1 / 14), abs=0.05)
    assert 0.7 < ds.recall_low.item() < 0.85
    assert ds.recall_high.item() == 1
    assert np.isnan(ds.mota_low)
    silent = be.tracking(truths, {name: np.zeros((0, 6)) for name in truths}, **JACKKNIFE)
    assert silent.recall_low.item() == 0 < silent.recall_high.item() < 0.3
    assert np.isnan(silent.precision_low)
    assert np.isnan(silent.motp_low)


def test_an_unknown_interval(fourteen):
    with pytest.raises(be.DataError, match="`interval` is 'wilson'; expected 'sequence-jack"):
        be.tracking(*fourteen, interval="wilson")
