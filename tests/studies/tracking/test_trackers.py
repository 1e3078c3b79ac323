"""Trackers over sequences: intervals and comparisons, against loops, and what must hold."""

import itertools
import math
from pathlib import Path

import naive_limits
import numpy as np
import pytest
from compared import by_measure
from result_messages import arguments, codes

import bioeval as be
from bioeval.cli import main

# Sequences with the results of trackers, made at random, and folders as benchmarks have them.

#: Boxes, float (n, 6): frame, identity, left, top, width and height.
Rows = np.ndarray


def simulate_truth(rng: np.random.Generator, frames: int, people: int) -> Rows:
    """Return the boxes of people who walk side by side."""
    rows = []
    for person in range(1, people + 1):
        step = rng.normal(0, 2, 2)
        for frame in range(1, frames + 1):
            left, top = (100 * person, 50) + frame * step
            rows.append((frame, person, left, top, 40, 90))
    return np.array(rows).round(2)


def simulate_tracker(rng: np.random.Generator, truth: Rows, miss: float, change: float) -> Rows:
    """Return the boxes of a tracker that misses people, changes identities and adds false boxes."""
    rows, identity, last = [], {}, 0
    for frame, person, left, top, width, height in sorted(map(tuple, truth)):
        if person not in identity or rng.random() < change:
            last += 1
            identity[person] = last
        if rng.random() >= miss:
            shift_left, shift_top = rng.normal(0, 4, 2)
            rows.append(
                (frame, identity[person], left + shift_left, top + shift_top, width, height)
            )
        if rng.random() < 0.05:
            rows.append((frame, 1000 + len(rows), 300 * rng.random(), 400, 40, 90))
    return np.array(rows).round(2)


def simulate_sequences(
    number: int, trackers: dict[str, tuple[float, float]], seed: int = 1, frames: int = 12
) -> tuple[dict[str, Rows], dict[str, dict[str, Rows]]]:
    """Return the ground truth by sequence, and the results by tracker and sequence.

    `trackers` maps a name to the probabilities of a missed box and of a changed identity.
    """
    rng = np.random.default_rng(seed)
    truths, results = {}, {name: {} for name in trackers}
    for i in range(number):
        name = f"seq-{i + 1:02d}"
        truths[name] = simulate_truth(
            rng, frames + int(rng.integers(0, 6)), int(rng.integers(2, 5))
        )
        harder = np.exp(rng.normal(0, 0.5))
        for tracker, (miss, change) in trackers.items():
            results[tracker][name] = simulate_tracker(
                rng, truths[name], miss * harder, change * harder
            )
    return truths, results


def write_benchmark(
    folder: Path,
    truths: dict[str, Rows],
    results: dict[str, dict[str, Rows]],
    *,
    detectors: tuple[str, ...] = ("",),
) -> tuple[Path, dict[str, Path]]:
    """Write folders as DanceTrack and MOT17 have them; return the folders of truth and trackers.

    Every sequence is written once for each suffix in `detectors`, such as ``-DPM``.
    """
    for name, rows in truths.items():
        for detector in detectors:
            sequence = folder / "gt" / f"{name}{detector}"
            marks = np.ones((len(rows), 3))  # considered, of a person, fully visible
            write_rows(sequence / "gt" / "gt.txt", np.hstack([rows, marks]))
            length = int(rows[:, 0].max())
            ini = f"[Sequence]\nname={name}\nseqLength={length}\n"
            (sequence / "seqinfo.ini").write_text(ini, encoding="utf-8")
    folders = {}
    for tracker, by_name in results.items():
        folders[tracker] = folder / "trackers" / tracker
        for name, rows in by_name.items():
            for detector in detectors:
                unused_columns = np.full((len(rows), 4), -1)
                path = folders[tracker] / f"{name}{detector}.txt"
                write_rows(path, np.hstack([rows, unused_columns]))
    return folder / "gt", folders


def write_rows(path: Path, rows: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, rows, fmt="%.2f", delimiter=",")


FOUR = {"A": (0.10, 0.02), "B": (0.11, 0.02), "C": (0.3, 0.02), "D": (0.1, 0.15)}
FEWEST = 12


@pytest.fixture(scope="module")
def four() -> tuple[dict[str, Rows], dict[str, dict[str, Rows]]]:
    return simulate_sequences(15, FOUR)


def on_all_and_others(truths, tracks) -> list[dict[str, float]]:
    """The measures of a tracker on all sequences, and then without each sequence."""
    sets = [[*truths], *([x for x in truths if x != name] for name in truths)]
    evaluated = [be.tracking({x: truths[x] for x in s}, {x: tracks[x] for x in s}) for s in sets]
    return [{name: float(ds[name]) for name in MEASURES} for ds in evaluated]


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["mota", "motp_distance"])
def test_trackers_as_a_loop_over_sequences(four, measure):
    """Student's test of each pair, and Holm's method; limits that hold for all pairs together."""
    truths, results = four
    ds = by_measure(be.tracking(truths, results, measures=[measure]))[measure]
    columns_of = {
        tracker: [x[measure] for x in on_all_and_others(truths, tracks)]
        for tracker, tracks in results.items()
    }
    on_all = {tracker: columns[0] for tracker, columns in columns_of.items()}
    for tracker, value in on_all.items():
        row = ds.sel(system=tracker)
        assert row["value"].item() == pytest.approx(value, abs=1e-12)
        if measure == "mota":  # which has no lower bound
            low, high, _ = naive_limits.plain(columns_of[tracker])
            ends = row.low.item(), row.high.item()
            assert ends == pytest.approx((low, min(high, 1)), abs=1e-12)
    pairs = list(itertools.combinations(results, 2))
    larger, p = {}, {}
    for first, second in pairs:
        columns = np.subtract(columns_of[first], columns_of[second]).tolist()
        row = ds.sel(system=first, other_system=second)
        low, high, p[first, second] = naive_limits.plain(columns, 1 - 0.05 / len(pairs))
        values_found = row.difference.item(), row.difference_low.item(), row.difference_high.item()
        assert values_found == pytest.approx((columns[0], low, high), abs=1e-9)
        larger[first, second] = larger[second, first] = 0
    for step, (first, second) in enumerate(sorted(pairs, key=p.__getitem__)):
        if p[first, second] > 0.05 / (len(pairs) - step):
            break
        larger[first, second] = 1 if on_all[first] > on_all[second] else -1
        larger[second, first] = -larger[first, second]
    sign = -1 if measure == "motp_distance" else 1
    assert any(larger.values()), "nothing was at stake"
    for first in results:
        better = sum(sign * larger[first, second] < 0 for second in results if second != first)
        worse = sum(sign * larger[first, second] > 0 for second in results if second != first)
        of_system = ds.sel(system=first)
        assert of_system.rank_low.item() == 1 + better
        assert of_system.rank_high.item() == len(results) - worse
        assert of_system["rank"].item() == 1 + sum(
            sign * on_all[second] > sign * on_all[first] for second in results
        )
        for second in results:
            if first != second:
                assert (
                    of_system.separated.sel(other_system=second).item()
                    == sign * larger[first, second]
                )
                shared = set(of_system.letters.item()) & set(ds.letters.sel(system=second).item())
                assert bool(shared) == (larger[first, second] == 0)


def test_trackers_that_differ_in_few_sequences_are_not_told_apart():
    """In five sequences every box is missed, and in six: only then are they told apart."""
    truths, _ = simulate_sequences(20, {"A": (0, 0)})
    for number, separated in ((5, 0), (8, 1)):
        missed = dict(truths)
        for name in list(truths)[:number]:
            missed[name] = truths[name][::2]
        ds = be.tracking(truths, {"A": truths, "B": missed}, measures=["mota"])
        assert ds.mota_separated.sel(system="A", other_system="B").item() == separated


def test_few_sequences_have_no_limits(capsys):
    truths, results = simulate_sequences(FEWEST - 1, FOUR)
    ds = be.tracking(truths, results)
    for of_measure in by_measure(ds).values():
        assert np.isnan(of_measure.difference_low).all() and np.isnan(of_measure.low).all()
        assert not np.isnan(of_measure.difference).any()
        assert (of_measure.rank_low == 1).all() and (of_measure.rank_high == 4).all()
    assert arguments(ds, "few-sequences") == {"sequences": FEWEST - 1, "needed": FEWEST}
    be.show(ds)
    text = capsys.readouterr().out
    assert arguments(ds, "systems-not-concluded")["why"] == "there are fewer than 12 sequences"
    assert "95 %" not in text and "limits" not in text
    truths, results = simulate_sequences(FEWEST, FOUR)
    mota = by_measure(be.tracking(truths, results))["mota"]
    assert np.isfinite(mota.difference_low.values[~np.eye(4, dtype=bool)]).all()


def test_only_measures_in_a_frame_need_the_number_of_frames():
    truths, results = simulate_sequences(2, FOUR)
    for measures, is_needed in (
        (["fp_per_frame"], True),
        (["mota"], False),
        (["mota", "fp_per_frame"], True),
    ):
        ds = be.tracking(truths, results, measures=measures)
        assert ("frames-not-given" in codes(ds)) == is_needed


def test_a_tracker_without_a_value(four):
    """A tracker without boxes has no MOTP and no rank; the other trackers are compared."""
    truths, results = four
    silent = {name: np.zeros((0, 6)) for name in truths}
    two = {"A": results["A"], "C": results["C"]}
    ds = be.tracking(truths, {**two, "none": silent}, measures=["motp", "mota"])
    assert np.isnan(ds.motp.sel(system="none"))
    assert np.isnan(ds.motp_rank.sel(system="none"))
    expected = be.tracking(truths, two, measures=["motp"])
    limits = {"system": "A", "other_system": "C"}
    assert ds.motp_difference_low.sel(limits).item() == pytest.approx(
        expected.motp_difference_low.sel(limits).item()
    )
    messages = be.messages(ds)
    assert [message.about[0] for message in messages if message.code == "no-boxes"]
    assert ds.mota_separated.sel(system="A", other_system="none").item() == 1


@pytest.mark.slow
def test_sequences_that_some_tracker_lacks(four, tmp_path):
    truths, results = four
    gt, places = write_benchmark(tmp_path, truths, results)
    (places["B"] / "seq-03.txt").unlink()
    (places["C"] / "seq-03.txt").unlink()
    (places["C"] / "seq-07.txt").unlink()
    ds = be.tracking(gt, places)
    common = {name: rows for name, rows in truths.items() if name not in ("seq-03", "seq-07")}
    fewer = {tracker: {x: of[x] for x in common} for tracker, of in results.items()}
    expected = be.tracking(common, fewer)
    for name in ("hota", "mota", "idf1"):
        limit = f"{name}_difference_low"
        np.testing.assert_allclose(ds[limit].values, expected[limit].values)
    assert ds.attrs["sequences"] == 13
    assert arguments(ds, "sequences-not-in-common") == {
        "left_out": 2,
        "sequences": 15,
        "names": ["seq-03", "seq-07"],
        "trackers": {"B": 1, "C": 2},
    }
    assert "sequences-not-in-common" not in codes(expected)


def test_a_tracker_that_cannot_be_read_is_an_error(tmp_path, capsys):
    truths, results = simulate_sequences(12, {"A": (0.1, 0.02), "B": (0.2, 0.02)})
    truth, trackers = write_benchmark(tmp_path, truths, results)
    broken = next(trackers["B"].rglob("*.txt"))
    broken.write_text("1,2,x")
    with pytest.raises(be.DataError, match=rf"{broken.name}: line 1: has 3 columns"):
        be.tracking(truth, trackers)
    with pytest.raises(be.BioevalError, match="lost"):
        be.tracking(truth, {"A": trackers["A"], "B": tmp_path / "lost"})
    assert main(["tracking", str(truth), "lost", "gone"]) == 2
    assert "lost: no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("trackers", "options", "message"),
    [
        ({"A": {}}, {}, "`result` has 1 tracker by name; expected two or more"),
        ({"A": {}, "": {}}, {}, "`result` has the name ''; expected text"),
        ({"A": {}, 2: {}}, {}, "`result` has the name 2; expected text"),
        ({"A": {}, "B": {}}, {}, r"`result`\['A'\] is an empty mapping"),
        (None, {"measures": "mota"}, "`measures` is 'mota'; expected a list of names"),
        (None, {"measures": []}, "`measures` is"),
        (None, {"interval": "wilson"}, "`interval` is 'wilson'; expected 'sequence-jack"),
        (None, {"measures": ["mot"]}, "a name in `measures` is 'mot'; expected one of"),
        (None, {"measures": ["mota", "mota"]}, "`measures` names 'mota' twice"),
        ([[1, 1, 0, 0, 2, 2]], {"measures": ["mota"]}, "`measures` is given, and trackers are"),
        ({"A": {"seq-01": [[1, 1, 0, 0, 2, 2]]}, "B": {"other": [[1, 1, 0, 0, 2, 2]]}}, {},
         "no sequence of the ground truth has a result of all 2 trackers; B lacks 15 of 15"),
        ({"A": [[1, 1, 0, 0, 2, 2]], "B": [[1, 1, 0, 0, 2, 2]]}, {},
         "result has nothing for 15 of 15 sequences"),
        ({"A": [[1, 1, 0, 0, 2, 2]], "B": {"seq-01": [[1, 1, 0, 0, 2, 2]]}}, {},
         r"truth has several files and `result`\['A'\] is a single one"),
        ({"A": {"seq-01": [[1, 1, 0, 0, 2]]}, "B": {"seq-01": [[1, 1, 0, 0, 2, 2]]}}, {},
         r"`result`\['A'\]\['seq-01'\] is list of shape \(1, 5\)"),
    ],
)  # fmt: skip
def test_odd_arguments(four, trackers, options, message):
    truths, results = four
    if trackers is None:
        trackers = results
    with pytest.raises(be.DataError, match=message):
        be.tracking(truths, trackers, **options)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["A", "--measure", "mota"], "--measure is of several trackers; 1 given"),
        (["A", "--name", "x"], "--name is of several trackers"),
        (["A", "--seed", "1"], "--seed is of several trackers"),
        (["A", "A"], "A' is given twice; name each"),
        (["A", "B", "--name", "x"], "--name is given 1 time for 2 systems"),
        (["A", "B", "--measure", "x"], "a name in --measure is 'x'"),
    ],
)
def test_options_that_do_not_fit(four, tmp_path, capsys, words, message):
    truths, results = four
    gt, places = write_benchmark(tmp_path, truths, {x: results[x] for x in "AB"})
    words = [str(places.get(word, word)) for word in words]
    assert main(["tracking", str(gt), *words]) == 2
    assert message in capsys.readouterr().err


INFINITE = {"mota": (-math.inf, 1), "far": (0, math.inf), "fp_per_frame": (0, math.inf)}
MEASURES = [
    *("mota", "motp", "motp_distance", "recall", "precision", "far", "fp_per_frame"),
    *("idp", "idr", "idf1", "hota", "deta", "assa", "detre", "detpr", "assre", "asspr", "loca"),
]
TRACKER = {"A": (0.15, 0.03)}
JACKKNIFE = {"interval": "sequence-jackknife"}


@pytest.fixture(scope="module")
def fourteen() -> tuple[dict[str, Rows], dict[str, Rows]]:
    truths, results = simulate_sequences(14, TRACKER)
    return truths, results["A"]


@pytest.mark.slow
def test_as_a_loop_over_sequences(fourteen):
    truths, results = fourteen
    confidence = 0.8
    method = be.stats.IntervalMethod("sequence-jackknife", confidence=confidence)
    ds = be.tracking(truths, results, interval=method)
    values = on_all_and_others(truths, results)
    for name in MEASURES:
        columns, bounds = [x[name] for x in values], INFINITE.get(name)
        if bounds is None:  # on the scale of logits
            low, high = naive_limits.student(columns, len(truths), confidence, (0, 1))
        else:
            low, high, _ = naive_limits.plain(columns, confidence)
            low, high = max(low, bounds[0]), min(high, bounds[1])
        assert ds[f"{name}_low"].item() == pytest.approx(low, abs=1e-12), name
        assert ds[f"{name}_high"].item() == pytest.approx(high, abs=1e-12), name
        assert low < ds[name].item() < high
    assert ds.attrs["confidence"] == confidence
    assert ds.attrs["interval_for"] == "new sequences"


@pytest.mark.parametrize("number", [1, 2, FEWEST - 1])
def test_few_sequences_have_no_interval(number):
    truths, results = simulate_sequences(number, TRACKER)
    ds = be.tracking(truths, results["A"], **JACKKNIFE)
    assert np.isnan(ds.mota_low) and np.isnan(ds.hota_high)
    arguments = {message.code: message.arguments for message in be.messages(ds)}
    assert arguments["few-sequences"] == {"sequences": number, "needed": FEWEST}
    assert "interval_method" not in ds.attrs


@pytest.mark.slow
def test_sequences_of_one_video_are_left_out_together(tmp_path):
    """As in MOT17, which has each video with three detectors."""
    truths, results = simulate_sequences(13, TRACKER)
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
    seven_sequences = simulate_sequences(7, TRACKER)
    gt, places = write_benchmark(tmp_path / "MOT17", *seven_sequences, detectors=detectors)
    message_codes = codes(be.tracking(gt, places["A"], **JACKKNIFE))
    assert message_codes == ["sequences-of-one-video", "few-sequences"]


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
