"""Tracking: against naive_mot.py, worked examples, other programs' figures, files and folders."""

import gzip
import json
import math
import re
from pathlib import Path
from typing import Any

import naive_mot
import numpy as np
import pytest
import xarray as xr
from hypothesis import assume, given, strategies as st
from optional import optional_import
from result_messages import arguments, codes

import bioeval as be
from bioeval.cli import main

# Small scenes of tracking, made by hand and at random, and how results are compared.

# One target for three frames. It is lost in the second, where the tracker sees something else;
# in the third, its first identity and a new one that lies better both overlap it.
BOX = (0, 0, 10, 10)
TRUTH = [(1, 1, *BOX), (2, 1, *BOX), (3, 1, *BOX)]
RESULT = [
    (1, 1, *BOX),
    (2, 3, 50, 0, 10, 10),
    (3, 1, 2, 0, 10, 10),  # overlap 8 / 12
    (3, 2, 1, 0, 10, 10),  # overlap 9 / 11
]


def assert_same(ds: xr.Dataset, expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        if isinstance(value, list):
            assert ds[name].dims == ("localisation_threshold",)
            expected_values = np.array(value, dtype=float)
            assert ds[name].values == pytest.approx(expected_values, abs=1e-12, nan_ok=True), name
        elif value is None:
            assert math.isnan(ds[name]), name
        elif isinstance(value, int):
            assert ds[name].dtype == np.int64
            assert int(ds[name]) == value, name
        else:
            assert float(ds[name]) == pytest.approx(float(value), abs=1e-12), name


@st.composite
def scenes(draw: st.DrawFn) -> tuple[list[Any], list[Any]]:
    """A few people on one spot, where boxes compete."""
    noise = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth, result = [], []
    for frame in range(1, draw(st.integers(1, 5)) + 1):
        for rows, ids, spread in ((truth, 3, 14), (result, 4, 14)):
            for person in sorted(draw(st.sets(st.integers(1, ids), max_size=3))):
                left, top = spread * noise.random(2)
                wide, high = 40 + 10 * noise.random(2)
                flag = int(rows is result or noise.random() < 0.8)
                category = int(noise.choice([1, 1, 1, 2, 3, 6, -1]))
                rows.append((frame, person, left, top, wide, high, flag, category))
    return truth, result


def test_a_match_at_exactly_the_threshold():
    # 40 of 80 pixels, in decimals whose sums are not exact: 0.49999999999999994 in floats.
    truth, result = [(1, 1, 4.4, 0.3, 60, 90)], [(1, 1, 24.4, 0.3, 60, 90)]
    ds = be.tracking(truth, result)
    assert int(ds.tp) == 1 and ds.tp_at_alpha.values.tolist() == [1] * 10 + [0] * 9
    assert int(be.tracking(truth, result, iou=0.5 + 1e-9).tp) == 0
    ds = be.tracking(TRUTH, TRUTH, iou=1)
    assert int(ds.tp) == 3 and ds.tp_at_alpha.values.tolist() == [3] * 19


@given(
    scene=scenes(),
    iou=st.sampled_from([0.3, 0.5, 0.7]),
    pairing=st.sampled_from(["last-known", "previous-frame"]),
    mostly_tracked=st.sampled_from(["at-least", "more-than"]),
    ignored=st.sampled_from(["motchallenge", "mot20", "remove", "count"]),
    order=st.randoms(use_true_random=False),
)
def test_tracking_equals_the_naive_implementation(
    scene, iou, pairing, mostly_tracked, ignored, order
):
    truth, result = scene
    options = {"pairing": pairing, "mostly_tracked": mostly_tracked, "ignored": ignored}
    try:
        expected = naive_mot.tracking(truth, result, iou, **options)
    except naive_mot.TieError:
        assume(False)
    order.shuffle(truth)  # rows may stand in any order
    order.shuffle(result)
    tables = [np.array(rows, dtype=float).reshape(-1, 8) for rows in (truth, result)]
    ds = be.tracking(*tables, iou=iou, **options)
    assert_same(ds, expected)
    assert int(ds.target_switches.sum()) == expected["idsw"]
    assert int(ds.target_fragmentations.sum()) == expected["fragmentations"]
    assert int(ds.frames_covered.sum()) == expected["tp"]
    assert int(ds.frames_present.sum()) == expected["truth_boxes"]


def numbers_of(ds: xr.Dataset) -> dict[str, float]:
    return {str(k): v.item() for k, v in ds.data_vars.items() if not v.ndim}


def test_a_side_without_boxes_or_without_matches_is_told():
    away = [(frame, who, left + 500, *box) for frame, who, left, *box in TRUTH]
    assert arguments(be.tracking(TRUTH, away), "no-matches") == {"iou": 0.5}
    assert "no-matches" not in codes(be.tracking(TRUTH, RESULT))
    nothing = np.zeros((0, 6))
    ds = be.tracking(TRUTH, nothing)
    assert int(ds.ml) == 1 and arguments(ds, "no-boxes") == {"side": "result"}
    ds = be.tracking(nothing, TRUTH)
    assert ds.sizes["target"] == 0 and int(ds.fp) == len(TRUTH)
    assert arguments(ds, "no-boxes") == {"side": "ground truth"}
    ds = be.tracking(nothing, nothing)
    assert all(math.isnan(ds[name]) for name in ("mota", "far", "idf1", "fp_per_frame", "hota"))


# ------------------------------------------------------------------------ ignored, twice, frames


def test_the_classes_that_are_evaluated_are_listed_and_0_is_one_beside_others():
    """Class 0 is the only class of one sequence, and is ignored because the other has class 1."""
    zero, other_class = [(1, 1, *BOX, 1, 0)], [(1, 1, *BOX, 1, 1), (1, 2, 50, 0, 10, 10, 1, -1)]
    truth = {"a": zero, "b": other_class}
    ds = be.tracking(truth, truth)
    assert ds.sequence_targets.values.tolist() == [0, 2]
    assert arguments(ds, "class-0-ignored") == {"boxes": 1}
    classes = {name: ds.attrs[f"classes_{name}"] for name in ("evaluated", "ignored")}
    assert classes == {"evaluated": "1, without class", "ignored": "0"}
    assert "1, without class evaluated; 0 ignored" in be.to_markdown(ds)
    ds = be.tracking(truth, truth, ignored="count")
    assert int(ds.targets) == 3 and ds.attrs["classes_evaluated"] == "0, 1, without class"
    assert "class-0-ignored" not in codes(ds)
    assert be.tracking(TRUTH, RESULT).attrs["classes_evaluated"] == "without class"


# The visibility of the second box is not known.
GROUND = [(1, 1, *BOX, 1, 1, 1, 0), (1, 2, 50, 0, 10, 10, 1, 3, -1, 0)]


@pytest.mark.parametrize("width", [8, 9, 10])
def test_the_class_is_read_whatever_columns_follow(width, tmp_path):
    """Class 1 is found, class 3 is ignored: nothing is missed, with a visibility and more too."""
    truth = [row[:width] for row in GROUND]
    for source in (truth, write(tmp_path / "gt.txt", truth), write(tmp_path / "b.txt", truth, " ")):
        ds = be.tracking(source, [(1, 7, *BOX)])
        assert float(ds.mota) == 1 and int(ds.ignored_truth_boxes) == 1
        assert (ds.attrs["classes_evaluated"], ds.attrs["classes_ignored"]) == ("1", "3")
        assert "1 evaluated; 3 ignored" in be.to_markdown(ds)


@pytest.mark.parametrize(
    ("ignored", "classes", "tp", "fn", "fp"),
    [  # boxes of the result on classes 1, 2 and 3, of which 2 is a distractor
        ("motchallenge", None, 1, 0, 1),
        ("motchallenge", [3], 1, 0, 1),
        ("motchallenge", [1, 3], 2, 0, 0),
        ("motchallenge", [2], 1, 0, 2),
        ("remove", [3], 1, 0, 0),
        ("count", [3], 1, 0, 2),
        ("count", None, 3, 0, 0),
        ("remove", None, 3, 0, 0),
        ("motchallenge", 3, 1, 0, 1),
    ],
)
def test_classes_chooses_what_is_evaluated(ignored, classes, tp, fn, fp):
    places = {1: 0, 2: 50, 3: 100}
    truth = [(1, k, x, 0, 10, 10, 1, k, 0.5, 0) for k, x in places.items()]
    result = [(1, 7 + k, x, 0, 10, 10) for k, x in places.items()]
    ds = be.tracking(truth, result, classes=classes, ignored=ignored)
    assert (int(ds.tp), int(ds.fn), int(ds.fp)) == (tp, fn, fp)
    class_numbers = np.atleast_1d([1, 2, 3] if classes is None and tp == 3 else classes or [1])
    assert ds.attrs["classes_evaluated"] == ", ".join(map(str, class_numbers))


def test_a_table_of_pandas_is_read_by_its_names():
    """Its columns may have any order, the names of motmetrics, and be levels of an index."""
    pd = optional_import("pandas")
    rows = np.array(
        [(f, who, 50.0 * who, 3, 20, 40, who != 3, 1) for f in (1, 2) for who in (1, 2, 3)]
    )
    names = ["FrameId", "Id", "X", "Y", "Width", "Height", "Confidence", "ClassId"]
    table = pd.DataFrame(rows, columns=names)
    expected = be.tracking(rows, rows[::-1])
    assert int(expected.tp) == 4
    for truth in (table[names[::-1]], table.set_index(names[:2])):
        assert be.tracking(truth, table.rename(columns={"FrameId": "frame"})).equals(expected)
    with pytest.raises(be.DataError, match="truth is a table without the column 'id'; its"):
        be.tracking(table.drop(columns="Id"), rows)


def test_classes_that_no_row_has_are_refused_and_world_coordinates_read_as_classes_if_told():
    with pytest.raises(
        be.DataError, match="`classes` has 4, which no row .*; its classes are: 1, 3"
    ):
        be.tracking(GROUND, RESULT, classes=[1, 4])
    with pytest.raises(be.DataError, match="`classes` is .*; expected whole numbers"):
        be.tracking(GROUND, RESULT, classes=[1.5])
    with pytest.raises(be.DataError, match="its classes are: without class"):
        be.tracking(TRUTH, RESULT, classes=[1])
    # Whole world coordinates: 5 is no visibility, so that 3 is no class, unless it is called one.
    world = [(1, 1, *BOX, 1, 3, 5, 0)]
    ds = be.tracking(world, [(1, 1, *BOX)])
    assert int(ds.tp) == 1 and ds.attrs["world_coordinates"] == 1
    assert "column 8 is a world coordinate and no class" in be.to_markdown(ds)
    ds = be.tracking(world, [(1, 1, *BOX)], classes=[3])
    assert int(ds.tp) == 1 and ds.attrs["classes_evaluated"] == "3"


def test_the_format_of_2015_has_no_class():
    truth = [(1, 1, *BOX, 1, 4.4852, 5.5, 0)]  # ten columns: world coordinates
    assert int(be.tracking(truth, TRUTH[:1]).tp) == 1
    with pytest.raises(be.DataError, match=r"truth: row 1: class is 4.4852; expected a whole"):
        be.tracking([row[:9] for row in truth], TRUTH[:1])


def test_complex_numbers_are_no_boxes():
    with pytest.raises(be.DataError, match="expected the path of a file or folder, an array of n"):
        be.tracking(np.array(TRUTH) * 1j, RESULT)


def test_an_id_twice_in_a_frame():
    twice = [(1, 1, *BOX), (1, 1, 50, 0, 10, 10), (2, 1, *BOX)]
    with pytest.raises(be.DataError, match=r"row 2: duplicate id 1 in frame 1, as in 1"):
        be.tracking(TRUTH, twice)
    with pytest.raises(be.DataError, match="truth: row 2: duplicate id 1"):
        be.tracking(twice, TRUTH)


@pytest.mark.parametrize(("rule", "mostly"), [("at-least", 1), ("more-than", 0)])
def test_a_target_that_is_tracked_in_80_per_cent_of_its_frames_is_mostly_tracked_by_one_rule(
    rule, mostly
):
    truth = [(frame, 1, *BOX) for frame in range(1, 6)]
    ds = be.tracking(truth, truth[:4], mostly_tracked=rule)
    assert (int(ds.mt), int(ds.pt), int(ds.ml)) == (mostly, 1 - mostly, 0)


def test_frames_with_and_without_rows():
    truth, result = [(2, 1, *BOX), (9, 1, *BOX)], [(2, 1, *BOX), (4, 2, *BOX)]
    ds = be.tracking(truth, result)
    assert (int(ds.frames), int(ds.frames_with_rows)) == (3, 3)
    assert float(ds.far) == pytest.approx(2 / 3)
    assert ds.attrs["frames_from"] == "rows"
    assert arguments(ds, "frames-not-given") == {"unknown": 1, "sequences": 1}
    ds = be.tracking(truth, result, frames=20)
    assert (int(ds.frames), int(ds.frames_with_rows)) == (20, 3)
    assert (float(ds.far), float(ds.fp_per_frame)) == (2 / 20, 1 / 20)
    with pytest.raises(
        be.DataError, match=r"truth: row 2: frame is 9; expected at most 8, .*given"
    ):
        be.tracking(truth, result, frames=8)
    ds = be.tracking(truth[:1], result)
    assert arguments(ds, "boxes-beyond-truth") == {"boxes": 1, "last": 2}


# ------------------------------------------------------------------------ several sequences


@pytest.fixture
def folders(tmp_path) -> tuple[Path, Path]:
    """Two sequences as MOTChallenge lays them out, the second with its length."""
    truth, result = tmp_path / "truth", tmp_path / "tracks"
    result.mkdir()
    for name, rows, paths in (("walk", TRUTH, RESULT), ("b", TRUTH[:2], RESULT[:1])):
        (truth / name / "gt").mkdir(parents=True)
        write(truth / name / "gt" / "gt.txt", [(*row, 1, 1, 1) for row in rows])
        write(result / f"{name}.txt", [(*row, -1, -1, -1, -1) for row in paths])
    (truth / "b" / "seqinfo.ini").write_text("[Sequence]\nname = b\nseqLength = 10\n")
    (truth / "README.txt").write_text("not a sequence\n")
    return truth, result


def write(path: Path, rows: list[Any], sep: str = ",") -> Path:
    path.write_text("".join(sep.join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    return path


def test_sequences_are_summed_up(folders):
    ds = be.tracking(*folders)
    walk, first_sequence = be.tracking(TRUTH, RESULT), be.tracking(TRUTH[:2], RESULT[:1], frames=10)
    assert ds.sequence.values.tolist() == ["b", "walk"]
    for name in numbers_of(ds):
        assert ds[f"sequence_{name}"].values == pytest.approx(
            [float(first_sequence[name]), float(walk[name])]
        )
        if ds[name].dtype == np.int64:
            assert int(ds[name]) == int(first_sequence[name]) + int(walk[name])
    # Of sums, not a mean of rates: 5 boxes, 2 missed, 2 false positives.
    assert float(ds.mota) == pytest.approx(1 - 4 / 5)
    assert float(ds.motp) == pytest.approx((1 + 1 + 2 / 3) / 3)
    assert float(ds.idf1) == pytest.approx(6 / (6 + 2 + 2))
    assert float(ds.far) == pytest.approx(4 / 13)
    assert ds.target.values.tolist() == ["b/1", "walk/1"]
    assert arguments(ds, "frames-not-given") == {"unknown": 1, "sequences": 2}
    assert str(folders[0] / "b" / "seqinfo.ini") in ds.attrs["frames_from"]
    assert int(be.tracking(folders[0] / "b" / "gt" / "gt.txt", RESULT[:1]).frames) == 10
    longer = be.tracking(*folders, frames={"walk": 30})
    assert longer.sequence_frames.values.tolist() == [10, 30]


def test_hota_of_sequences_is_weighted_by_their_true_positives():
    """AssA is 1 for a sequence with one TP, and 1/2 for a sequence with four."""
    switched = [(f, 1 + (f > 2), *BOX) for f in (1, 2, 3, 4)]
    truth = {"a": TRUTH[:1], "b": [(f, 1, *BOX) for f in (1, 2, 3, 4)]}
    ds = be.tracking(truth, {"a": RESULT[:1], "b": switched})
    assert ds.sequence_assa.values.tolist() == [1, 0.5]
    assert ds.sequence_tp_at_alpha.values.tolist() == [[1] * 19, [4] * 19]
    assert ds.sequence_hota_at_alpha.dims == ("sequence", "localisation_threshold")
    assert float(ds.assa) == pytest.approx((1 * 1 + 4 * 0.5) / 5)
    assert float(ds.hota) == pytest.approx(math.sqrt(3 / 5))
    silent = be.tracking(truth, {"a": RESULT[:1], "b": np.zeros((0, 6))})
    assert np.isnan(silent.sequence_loca.values).tolist() == [False, True]
    assert float(silent.loca) == 1


def test_what_a_folder_lacks(folders):
    truth, result = folders
    write(result / "more.txt", RESULT)
    skipped = arguments(be.tracking(truth, result), "results-without-truth")
    assert skipped == {"number": 1, "names": ["more"]}
    (result / "walk.txt").rename(result / "wlk.txt")
    with pytest.raises(be.DataError, match=r"nothing for 1 of 2 sequences .*: walk;.*'wlk'"):
        be.tracking(truth, result)
    with pytest.raises(be.DataError, match="truth has several files and result is a single one"):
        be.tracking(truth, result / "b.txt")
    with pytest.raises(be.DataError, match="`frames` has 'wlk'; .* Did you mean 'walk'"):
        be.tracking(truth, {"walk": RESULT, "b": RESULT[:1]}, frames={"wlk": 3})
    (truth / "b" / "seqinfo.ini").write_text("[Sequence]\nseqLength = ten\n")
    with pytest.raises(be.DataError, match=r"seqinfo.ini: has no length .*ten"):
        be.tracking(truth, result)
    (truth / "b" / "seqinfo.ini").write_text("seqLength = 10\n")
    with pytest.raises(be.DataError, match=r"seqinfo.ini: has no length"):
        be.tracking(truth, result)
    (result / "empty").mkdir()
    with pytest.raises(be.DataError, match="holds no sequence"):
        be.tracking(result / "empty", result)
    with pytest.raises(be.DataError, match="truth is an empty mapping"):
        be.tracking({}, {})


# ------------------------------------------------------------------------ files


@pytest.mark.parametrize("sep", [",", " ", "\t", ", ", "   "])
@pytest.mark.parametrize("form", ["plain", "gzip", "crlf", "bom", "comments"])
def test_ways_to_write_a_file(tmp_path, sep, form):
    path = write(tmp_path / "r.txt", [(*row, 1.5) for row in RESULT], sep)
    text = path.read_text()
    if form == "gzip":
        path.write_bytes(gzip.compress(text.encode()))
    elif form == "crlf":
        path.write_bytes(text.replace("\n", "\r\n").encode())
    elif form == "bom":
        path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    elif form == "comments":
        path.write_text(f"# frame, id, ...\n\n{text}\n  \n# the end")
    assert numbers_of(be.tracking(TRUTH, path)) == numbers_of(be.tracking(TRUTH, RESULT))


def test_what_a_tracker_writes_behind_its_boxes_is_not_read(tmp_path):
    path = write(tmp_path / "r.txt", [(*row, "nan", 4.5, "car") for row in RESULT])
    assert numbers_of(be.tracking(TRUTH, path)) == numbers_of(be.tracking(TRUTH, RESULT))
    with pytest.raises(be.DataError, match="line 1: flag is 'nan'"):
        be.tracking(path, RESULT)


GOOD = "1,1,0,0,10,10,1\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD + "2,1,nan,0,10,10,1\n", "line 2: left is 'nan'; expected a finite number"),
        (
            GOOD + "2,1,0,0,-1,10,1\n",
            "line 2: width is '-1'; expected a finite number of pixels, 0 or more",
        ),
        (GOOD + "2,1,0,0,10\n", "line 2: has 5 columns separated by commas; expected 6 or more"),
        (GOOD + "2,1,0,0,10,10\n", "line 2: has 6 columns .* as many in each line"),
        (GOOD + "2 1 0 0 10 10 1\n", "line 2: has 1 column separated by commas"),
        (GOOD + "1.5,1,0,0,10,10,1\n", "line 2: frame is '1.5'; expected a whole number from 1"),
        (GOOD + "0,1,0,0,10,10,1\n", "line 2: frame is '0'; expected .* counted from 0"),
        (GOOD + "2,-1,0,0,10,10,1\n", "line 2: id is '-1'; expected a whole number from 0 to"),
        (
            GOOD + f"2,{2**53},0,0,10,10,1\n",
            "line 2: id is '9007199254740992'; .* to 9,007,199,254,7",
        ),
        (GOOD + "2,x,0,0,10,10,1\n", "line 2: id is 'x'; expected a whole number"),
        (GOOD + "2,1,0,0,10,10,nan\n", "line 2: flag is 'nan'; expected a number, 0 for a row to"),
        ("frame,id,l,t,w,h,c\n" + GOOD, "line 1: frame is 'frame'; expected a whole number"),
        ("\n \n", "holds nothing but blank lines"),
        ("", r"is empty \(0 bytes\)"),
    ],
)
def test_malformed_rows(tmp_path, text, says):
    path = tmp_path / "gt.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(be.DataError, match=re.escape(str(path)) + ": " + says):
        be.tracking(path, RESULT)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"iou": 0}, r"`iou` is 0; expected a number in \(0, 1\]"),
        ({"iou": 1.5}, "`iou` is 1.5"),
        ({"iou": "0.5"}, "`iou` is '0.5'"),
        ({"iou": math.nan}, "`iou` is nan"),
        (
            {"pairing": "last"},
            "`pairing` is 'last'; expected one of 'last-known', 'previous-frame'",
        ),
        ({"mostly_tracked": ">"}, "`mostly_tracked` is '>'"),
        ({"ignored": True}, "`ignored` is True"),
        ({"frames": 0}, "`frames` is 0; expected an integer >= 1"),
        ({"frames": {"a": 5}}, "`frames` has 'a'; expected a number, or one for each sequence"),
        ({"truth": {1: TRUTH, "1": TRUTH}}, "truth has '1', twice or for several sequences"),
        ({"result": np.ma.masked_equal(RESULT, 1)}, "result is MaskedArray of shape .* numbers"),
        ({"result": [(1, 2**53, 0, 0, 9, 9), (1, 2**53 + 1, 20, 0, 9, 9)]}, "result: row 1: id is"),
        ({"truth": [(1, 1, 0, 0, 10)]}, r"truth is list of shape \(1, 5\); .* 6 columns or more"),
        ({"result": 5}, "result is int; expected the path"),
        ({"result": [("a",)]}, "result is list; expected the path"),
        ({"result": [(1, 1, 0, 0, math.inf, 1)]}, "result: row 1: width is inf; expected a finite"),
    ],
)
def test_wrong_arguments(change, says):
    with pytest.raises(be.DataError, match=says):
        be.tracking(**{"truth": TRUTH, "result": RESULT, **change})


# ------------------------------------------------------------------------ other programs' figures

MOTMETRICS = {
    **{"num_frames": "frames", "num_objects": "truth_boxes", "num_predictions": "result_boxes"},
    **{"num_unique_objects": "targets", "num_switches": "idsw", "num_misses": "fn"},
    **{"num_false_positives": "fp", "num_detections": "tp", "mota": "mota"},
    **{"num_fragmentations": "fragmentations", "motp": "motp_distance", "idf1": "idf1"},
    **{"mostly_tracked": "mt", "partially_tracked": "pt", "mostly_lost": "ml"},
    **{name: name for name in ("precision", "recall", "idtp", "idfp", "idfn", "idp", "idr")},
}
TRACKEVAL = {
    **{"MOTA": "mota", "MOTP": "motp", "CLR_Re": "recall", "CLR_Pr": "precision", "CLR_TP": "tp"},
    **{"CLR_FN": "fn", "CLR_FP": "fp", "IDSW": "idsw", "MT": "mt", "PT": "pt", "ML": "ml"},
    **{"Frag": "resumptions", "CLR_Frames": "frames", "FP_per_frame": "fp_per_frame"},
    **{name: name.lower() for name in ("IDF1", "IDR", "IDP", "IDTP", "IDFN", "IDFP")},
    **{name: name.lower() for name in ("HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr")},
    "LocA": "loca",
}


def reference_runs() -> list[tuple[str, str]]:
    sequences = (
        *("misses_and_false_alarms", "identity_switches", "empty_frames", "crowded"),
        *("coverage_exactly_at_20_and_80_percent", "reappearing_objects", "ignored_ground_truth"),
    )
    programs = (
        *("motmetrics/compare_to_groundtruth", "motmetrics/CLEAR_MOT_M"),
        *("trackeval/DO_PREPROC=True", "trackeval/DO_PREPROC=False"),
    )
    return [
        *((sequence, program) for sequence in sequences for program in programs),
        ("four_cameras", "aicity/compare_dataframes_mtmc"),
    ]


@pytest.mark.parametrize(("sequence", "program"), reference_runs())
def test_reference_programs(root, sequence, program):
    folder = root / "tests" / "data" / "tracking"
    about = json.loads((folder / "manifest.json").read_text())["sequences"][sequence]
    expected = dict(about["results"][program])
    of_classes = program in ("motmetrics/CLEAR_MOT_M", "trackeval/DO_PREPROC=True")
    options: dict[str, Any] = {"ignored": "motchallenge" if of_classes else "count"}
    names = MOTMETRICS
    if program.startswith("trackeval"):
        names = TRACKEVAL
        options |= {"pairing": "previous-frame", "mostly_tracked": "more-than"}
        options["frames"] = about["sequence_length"]
    sides = folder / about["gt"], folder / about["pred"]
    if sequence == "four_cameras":  # camera, id, frame, box: the frames of one camera after another
        tables = [np.loadtxt(x) for x in sides]
        sides = [np.c_[x[:, 2] + 100_000 * x[:, 0], x[:, 1], x[:, 3:7]] for x in tables]
    ds = be.tracking(*sides, **options)
    result = {key: float(ds[name]) for key, name in names.items() if key in expected}
    assert len(result) >= 17
    assert result == pytest.approx({key: expected[key] for key in result}, abs=1e-12)
    far = about["results"].get(f"{program}/far")
    if far:
        assert float(ds.far) == pytest.approx(far["FN_plus_FP_plus_IDSW_per_frame"])
        assert float(ds.fp_per_frame) == pytest.approx(far["FP_per_frame"])


# Made with TrackEval (commit 12c8791 of its repository; numpy's removed aliases float and int put
# back), its reader MotChallenge2DBox with benchmark MOT15 and its class HOTA: the means of its
# arrays over the 19 thresholds, and HOTA_TP. The two TUD sequences and both together; and the rows
# of `arranged`, written to a file.
PARTS = ("hota", "deta", "assa", "detre", "detpr", "assre", "asspr", "loca")
# fmt: off
HOTA_OF_TRACKEVAL: dict[str, tuple[list[float], list[int]]] = {
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
        for target in range(1, 8):
            left = 29 * target % 97 + 2.25 * ((frame * (target % 3 + 1)) % 53)
            top, wide, high = 13.5 * target % 41, 37 + 1.7 * target, 71 + 2.3 * target
            if (frame + 11 * target) % 29 > 3:
                truth.append((frame, target, left, top, wide, high))
            aside, down = (
                0.9 * ((7 * frame + 3 * target) % 17) - 6,
                1.1 * ((5 * frame * target) % 13) - 7,
            )
            if (5 * frame + 3 * target) % 13 > 1:
                identity = 1 + (target + (frame + 9 * target) // 37) % 9
                result.append((frame, identity, left + aside, top + down, wide + 3, high - 5))
    last_boxes = {row[:2]: row for row in result}  # of two boxes with one id, the last
    return [truth, list(last_boxes.values())]


def assert_as_trackeval(ds: xr.Dataset, name: str, prefix: str = "", **at: str) -> None:
    means, tp = HOTA_OF_TRACKEVAL[name]
    result = {part: ds[prefix + part].sel(at).item() for part in PARTS}
    assert result == pytest.approx(dict(zip(PARTS, means, strict=True)), abs=1e-12)
    assert ds[f"{prefix}tp_at_alpha"].sel(at).values.tolist() == tp


def test_an_arranged_crowd_as_by_trackeval():
    assert_as_trackeval(be.tracking(*arranged()), "arranged")


def test_published_sequences_as_by_trackeval(published):
    names = ["TUD-Campus", "TUD-Stadtmitte"]
    folder = published / "mot_tud"
    sides = [{name: folder / f"{name}_{end}.txt" for name in names} for end in ("gt", "test")]
    ds = be.tracking(*sides)
    assert_as_trackeval(ds, "both")
    for name in names:
        assert_as_trackeval(ds, name, "sequence_", sequence=name)


# ------------------------------------------------------------------------ the command


def run(*args: object) -> int:
    return main([str(arg) for arg in args])


@pytest.fixture
def in_folder(folders, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)


def test_the_table(in_folder, capsys):
    assert run("tracking", "truth", "tracks", "--verbose") == 0
    output = capsys.readouterr()
    assert output.err == ""
    lines = output.out.splitlines()
    printed_values = {line.split()[0]: line.split()[1] for line in lines if line.endswith("%")}
    assert (printed_values["MOTA"], printed_values["MOTP"]) == ("20.00", "88.89")
    assert float(printed_values["HOTA"]) == round(
        100 * float(be.tracking("truth", "tracks").hota), 2
    )
    assert any(line.split()[:3] == ["walk/1", "3", "2"] for line in lines)


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["truth", "lost"], "truth has several files and result is a single one|lost: no such"),
        (["truth", "tracks", "--frames", "x"], "a whole number, or NAME=N for each sequence"),
        (["truth", "tracks", "--frames", "wlk=4"], "--frames has 'wlk'.*Did you mean 'walk'"),
        (["truth", "tracks", "--classes", "3"], "--classes has 3, which no row"),
    ],
)
def test_wrong_usage(in_folder, capsys, args, says):
    assert run("tracking", *args) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert re.search(says, output.err), output.err
