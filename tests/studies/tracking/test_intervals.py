"""Intervals over sequences: against a loop that leaves out one sequence, and what must hold."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy
from mot_sequences import Rows, follow, lines, sequences, walk, write_benchmark

import bioeval as be
from bioeval.cli.program import main
from bioeval.stats.limits import student_limits
from bioeval.studies.tracking.intervals import FEWEST
from bioeval.studies.tracking.scalars import MEASURES

TRACKER = {"A": (0.15, 0.03)}
JACKKNIFE = {"interval": "sequence-jackknife"}


@pytest.fixture(scope="module")
def fourteen() -> tuple[dict[str, Rows], dict[str, Rows]]:
    truths, results = sequences(14, TRACKER)
    return truths, results["A"]


def codes(ds) -> list[str]:
    return [message.code for message in be.messages(ds)]


def leave_one_out(truths, results, names, confidence: float) -> dict[str, tuple[float, float]]:
    """By its definition: evaluate the others, without each of some groups of sequences."""
    whole = be.tracking(truths, results)
    values = []
    for group in names:
        kept = [name for name in truths if name not in group]
        one = be.tracking({x: truths[x] for x in kept}, {x: results[x] for x in kept})
        values.append({name: float(one[name]) for name in MEASURES})
    n, limits = len(values), {}
    quantile = scipy.stats.t(n - 1).ppf(1 - (1 - confidence) / 2)
    for name in MEASURES:
        without = [value[name] for value in values]
        mean = sum(without) / n
        error = math.sqrt((n - 1) / n * sum((x - mean) ** 2 for x in without))
        low, high = float(whole[name]) - quantile * error, float(whole[name]) + quantile * error
        least, most = MEASURES[name].bounds
        limits[name] = max(low, least), min(high, most)
    return limits


@pytest.mark.parametrize("confidence", [0.95, pytest.param(0.8, marks=pytest.mark.slow)])
def test_as_a_loop_over_sequences(fourteen, confidence):
    truths, results = fourteen
    method = be.stats.IntervalMethod("sequence-jackknife", confidence=confidence)
    ds = be.tracking(truths, results, interval=method)
    expected = leave_one_out(truths, results, [{name} for name in truths], confidence)
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
    assert codes(be.tracking(gt, places["A"], **JACKKNIFE)) == [
        "sequences-of-one-video",
        "few-sequences",
    ]


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


def test_limits_of_values_by_hand():
    assert student_limits(0.5, np.full(12, 0.5), 0.95, (0.0, 1.0)) == pytest.approx(
        (np.nan, np.nan), nan_ok=True
    )
    without = np.array([0.4, 0.6] * 6)
    half = scipy.stats.t(11).ppf(0.975) * math.sqrt(11 / 12 * 12 * 0.01)
    assert student_limits(0.5, without, 0.95, (-np.inf, np.inf)) == pytest.approx(
        (0.5 - half, 0.5 + half)
    )
    assert student_limits(0.5, without, 0.95, (0.0, 1.0)) == (0.0, 1.0)
    undefined = np.append(without, np.nan)
    assert np.isnan(student_limits(0.5, undefined, 0.95, (0.0, 1.0))).all()


# ------------------------------------------------------------------------------- blocks


def cut(rows: Rows, blocks: int, frames: int) -> dict[str, Rows]:
    """The rows of each block of frames, by its name, with ids as they are and frames from 1."""
    parts = {}
    for block in range(blocks):
        inside = [f for f in range(1, frames + 1) if (f - 1) * blocks // frames == block]
        part = rows[np.isin(rows[:, 0], inside)]
        part[:, 0] -= inside[0] - 1
        parts[f"frames {inside[0]}-{inside[-1]}"] = part
    return parts


@pytest.mark.parametrize(("frames", "blocks"), [(60, 12), (61, 13)])
@pytest.mark.parametrize("pairing", ["last-known", "previous-frame"])
def test_blocks_are_sequences(frames, blocks, pairing):
    rng = np.random.default_rng(4)
    truth = walk(rng, frames, 4)
    result = follow(rng, truth, 0.2, 0.05)
    ds = be.tracking(truth, result, blocks=blocks, pairing=pairing, frames=frames, **JACKKNIFE)
    truths, results = cut(truth, blocks, frames), cut(result, blocks, frames)
    lengths = {}
    for name in truths:
        first, last = map(int, name.removeprefix("frames ").split("-"))
        lengths[name] = last - first + 1
    expected = be.tracking(truths, results, pairing=pairing, frames=lengths, **JACKKNIFE)
    assert set(ds.sequence.values) == set(truths)
    in_order = {"sequence": list(truths)}
    for name in ("frames", "mota", "idf1", "hota", "idsw", "fragmentations", "mt"):
        values = ds[f"sequence_{name}"].sel(in_order).values
        other = expected[f"sequence_{name}"].sel(in_order).values
        np.testing.assert_allclose(values, other, atol=1e-12)
        assert ds[name].item() == pytest.approx(expected[name].item(), abs=1e-12)
    assert ds.mota_low.item() == pytest.approx(expected.mota_low.item(), abs=1e-12)
    assert ds.hota_high.item() == pytest.approx(expected.hota_high.item(), abs=1e-12)
    assert ds.attrs["blocks"] == blocks
    assert ds.attrs["interval_for"] == "other parts of this sequence"
    assert "blocks-of-one-sequence" in codes(ds)
    assert ds.idf1.item() > be.tracking(truth, result, pairing=pairing).idf1.item()


def test_blocks_that_cannot_be_cut(fourteen):
    with pytest.raises(be.DataError, match=r"blocks=12 cuts one sequence, and there are 14"):
        be.tracking(*fourteen, blocks=12)
    one = next(iter(fourteen[0].values()))
    with pytest.raises(be.DataError, match=r"blocks is 40; expected no more blocks than frames"):
        be.tracking(one, one, blocks=40)
    with pytest.raises(be.DataError, match="blocks is 5; expected an integer >= 12"):
        be.tracking(one, one, blocks=5)
    with pytest.raises(be.DataError, match="of which there are 0"):
        be.tracking(np.zeros((0, 6)), np.zeros((0, 6)), blocks=12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interval": "wilson"}, "interval is 'wilson'; expected one of 'sequence-jackknife'"),
        ({"blocks": 12.5}, "blocks"),
    ],
)
def test_odd_options(fourteen, options, message):
    with pytest.raises(be.DataError, match=message):
        be.tracking(*fourteen, **options)


# ---------------------------------------------------------------------------- the command


@pytest.mark.slow
def test_the_command_and_what_it_writes(fourteen, tmp_path, capsys):
    gt, places = write_benchmark(tmp_path, fourteen[0], {"A": fourteen[1]})
    out = tmp_path / "out"
    assert main(["tracking", str(gt), str(places["A"]), "--interval", "sequence-jackknife",
                 "--out", str(out), "--report", str(tmp_path / "page.html")]) == 0  # fmt: skip
    printed = capsys.readouterr().out
    ds = be.tracking(gt, places["A"], **JACKKNIFE)
    low, high = 100 * ds.hota_low.item(), 100 * ds.hota_high.item()
    for text in (printed, (out / "table.txt").read_text(encoding="utf-8")):
        assert f"[{low:.2f}, {high:.2f}]" in text
        assert "jackknife over sequences" in text
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f'data-value="{ds.hota_low.item()}">{low:.2f}</span>' in page
    document = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert document["hota_low"] == ds.hota_low.item()
    rows = {row["measure"]: row for row in document["measures"]}
    assert set(rows) == set(MEASURES)
    assert rows["mota"]["value_high"] == ds.mota_high.item()
    table = (out / "measures.csv").read_text(encoding="utf-8").splitlines()
    assert table[0] == "measure,value,value_low,value_high"


def test_the_command_on_one_file(tmp_path, capsys):
    rng = np.random.default_rng(4)
    truth = walk(rng, 60, 4)
    gt = lines(tmp_path / "gt.txt", truth)
    result = lines(tmp_path / "A.txt", follow(rng, truth, 0.2, 0.05))
    how = ["--interval", "sequence-jackknife"]
    assert main(["tracking", str(gt), str(result), "--blocks", "15", *how, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["mota_low"] < document["mota"] < document["mota_high"]
    assert document["blocks"] == 15
    assert main(["tracking", str(gt), str(result), *how]) == 0
    assert "--blocks cuts one long sequence" in " ".join(capsys.readouterr().out.split())
    assert main(["tracking", str(gt), str(result), "--confidence", "0.9"]) == 2
    assert "needs --interval METHOD, such as sequence-jackknife" in capsys.readouterr().err
