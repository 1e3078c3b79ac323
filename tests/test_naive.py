"""The oracles themselves, against examples worked by hand and the course's worked examples."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest

LECTURE = Path(__file__).parents[1].parent / "shared" / "data" / "lecture"
INF, NAN = math.inf, math.nan
F = Fraction


def lecture(name: str) -> dict[str, Any]:
    """One worked example of the course, or a visible skip."""
    path = LECTURE / name
    if not path.is_file():
        pytest.skip(f"worked examples of the course not found: {path}")
    return json.loads(path.read_text(encoding="utf-8"))


# --- Attempt totals ------------------------------------------------------------------------------


def test_lecture_attempt_totals():
    example = lecture("attempt_totals.json")
    for row in example["numeric_examples"]:
        labels = [s for s in range(row["N"]) for _ in range(row["S"])]
        values = [[0.0] * len(labels) for _ in labels]
        for gallery, expected in ((None, row["square"]), (labels, row["rectangular"])):
            genuine, impostor = naive.attempts_single(values, labels, gallery)
            assert (len(genuine), len(impostor)) == (expected["TG_single"], expected["TI_single"])
            genuine, impostor = naive.attempts_multi(values, labels, gallery)
            assert (len(genuine), len(impostor)) == (expected["TG_multi"], expected["TI_multi"])
            found = naive.open_set(values, labels, gallery, thresholds=[0])
            assert (found.genuine_attempts, found.impostor_attempts) == (len(labels), len(labels))
            closed = naive.closed_set(values, labels, gallery)
            assert closed.attempts == len(labels)
            # "ranks 1..G-1" when square, "1..G" against a gallery.
            assert len(closed.cms) == len(labels) - (gallery is None)


def test_lecture_error_rates_divide_by_their_own_class():
    for row in lecture("error_rate_normalisation.json")["rows"]:
        genuine = [1.0] * row["FR"] + [0.0] * (row["genuine"] - row["FR"])
        impostor = [0.0] * row["FA"] + [1.0] * (row["impostor"] - row["FA"])
        ga, fr, fa, gr = naive.verification_counts(genuine, impostor, [0.5], "distance")
        assert naive.rate(fr[0], len(genuine)) == F(row["FRR_exact"])
        assert naive.rate(fa[0], len(impostor)) == F(row["FAR_exact"])
        assert F(ga[0] + gr[0], 100) == F(8, 10)


# --- The order matrices of the course ------------------------------------------------------------


@pytest.mark.parametrize("name", ["closed_set_single.json", "closed_set_multiple.json"])
def test_lecture_closed_set(name):
    example = lecture(name)
    labels = [probe["label"] for probe in example["expected"]]
    case = {
        "values": example["order_matrix"],
        "probe_labels": labels,
        "gallery_labels": example["gallery_labels"],
        "kind": "order",
    }
    for unit in ("template", "subject"):
        found = naive.ranks(**case, unit=unit)
        assert [r.rank for r in found] == [p[f"{unit}_rank"] for p in example["expected"]]
        closed = naive.closed_set(**case, unit=unit)
        assert closed.cms_count == example[f"CMS_count_by_{unit}_rank"]
        assert closed.attempts == example["attempts"]
    for i, probe in enumerate(example["expected"]):
        column = example["gallery_templates"].index(probe["best_mate"])
        assert naive.ranks(**case)[i].best_mate == example["order_matrix"][i][column]


@pytest.mark.parametrize("name", ["open_set_single.json", "open_set_multiple.json"])
def test_lecture_open_set_roles(name):
    example = lecture(name)
    labels = [probe["label"] for probe in example["expected"]]
    found = naive.ranks(example["order_matrix"], labels, example["gallery_labels"], kind="order")
    for i, (r, probe) in enumerate(zip(found, example["expected"], strict=True)):
        row, templates = example["order_matrix"][i], example["gallery_templates"]
        if probe["role"] == "genuine":
            assert r.enrolled and r.rank == probe["best_mate_template_rank"]
            assert r.best_mate == row[templates.index(probe["best_mate"])]
        else:
            assert not r.enrolled and r.rank is None
            assert r.nearest_other == row[templates.index(probe["nearest_template"])] == 1


@pytest.mark.parametrize("name", ["verification_single.json", "verification_multiple.json"])
def test_lecture_claims(name):
    example = lecture(name)
    attempts = naive.attempts_single if "single" in name else naive.attempts_multi
    labels = [probe["label"] for probe in example["expected"]]
    claims = [probe["claim"] for probe in example["expected"]]
    genuine, impostor = attempts(
        example["order_matrix"], labels, example["gallery_labels"], kind="order", claims=claims
    )
    wanted: dict[str, list[int]] = {"genuine": [], "impostor": []}
    for probe in example["expected"]:
        wanted[probe["role"]].append(probe["deciding_order"])
    assert (genuine, impostor) == (wanted["genuine"], wanted["impostor"])
    with pytest.raises(ValueError):
        naive.verification_counts(genuine, impostor, [1], "order")


# --- A square matrix worked by hand --------------------------------------------------------------

# Subjects: a = templates 0, 1; b = templates 2, 3; c = template 4. Not symmetric.
SQUARE = [
    [NAN, 0.2, 0.5, 0.2, 0.9],
    [0.1, -INF, 0.4, 0.3, 0.1],
    [0.6, 0.7, 0.0, 0.5, 0.5],
    [0.3, 0.0, 0.2, 0.0, 0.4],
    [0.8, 0.3, 0.6, 0.3, 0.0],
]
NAMES = ["a", "a", "b", "b", "c"]


def test_square_attempts():
    genuine, impostor = naive.attempts_single(SQUARE, NAMES)
    assert genuine == [0.2, 0.1, 0.5, 0.2]
    assert sorted(impostor) == sorted(
        [0.5, 0.2, 0.9, 0.4, 0.3, 0.1, 0.6, 0.7, 0.5, 0.3, 0.0, 0.4, 0.8, 0.3, 0.6, 0.3]
    )
    genuine, impostor = naive.attempts_multi(SQUARE, NAMES)
    assert genuine == [0.2, 0.1, 0.5, 0.2]
    assert impostor == [0.2, 0.9, 0.3, 0.1, 0.6, 0.5, 0.0, 0.4, 0.3, 0.3]
    _, impostor = naive.attempts_multi(SQUARE, NAMES, fusion="max")
    assert impostor == [0.5, 0.9, 0.4, 0.1, 0.7, 0.5, 0.3, 0.4, 0.8, 0.6]
    genuine, impostor = naive.attempts_multi(SQUARE, NAMES, fusion="kth:2")
    assert genuine == []  # one mate each
    assert impostor == [0.5, 0.4, 0.7, 0.3, 0.8, 0.6]  # and no second template of c


def test_square_counts_compare_exactly():
    genuine, impostor = naive.attempts_single(SQUARE, NAMES)
    ga, fr, fa, gr = naive.verification_counts(
        genuine, impostor, [-INF, 0.0, 0.1, 0.2, 0.5, INF], "distance"
    )
    assert ga == [0, 0, 1, 3, 4, 4] and fr == [4, 4, 3, 1, 0, 0]
    assert fa == [0, 1, 2, 3, 11, 16] and gr == [16, 15, 14, 13, 5, 0]
    nearest = float(np.float32(0.1))  # 0.1 rounded up: outside the threshold 0.1
    assert naive.verification_counts([np.float32(0.1)], [], [0.1, nearest], "distance")[0] == [0, 1]


@pytest.mark.parametrize(
    ("ties", "wanted"),
    [
        # Probe 0: mate 0.2, tied with template 3 (b). Probe 1: mate 0.1, tied with 4 (c).
        # Probe 2: mate 0.5, tied with 4. Probe 3: mate 0.2; 0.0 is closer. Probe 4: no mate.
        ("pessimistic", [2, 2, 2, 2, None]),
        ("optimistic", [1, 1, 1, 2, None]),
        ("stable", [1, 1, 1, 2, None]),
        ("expected", [{1: F(1, 2), 2: F(1, 2)}] * 3 + [{2: F(1)}, None]),
    ],
)
def test_square_template_ranks(ties, wanted):
    found = naive.ranks(SQUARE, NAMES, ties=ties)
    assert [r.rank for r in found] == wanted
    assert [r.best_mate for r in found] == [0.2, 0.1, 0.5, 0.2, None]
    assert [r.tied for r in found] == [True, True, True, False, False]
    assert [r.nearest_other for r in found] == [0.2, 0.1, 0.5, 0.0, 0.3]
    assert [r.enrolled for r in found] == [True] * 5  # by the label, mate or not


def test_square_open_set():
    found = naive.open_set(SQUARE, NAMES, thresholds=[0.1, 0.2, 0.5, INF], max_rank=3)
    assert (found.genuine_attempts, found.impostor_attempts) == (4, 5)
    assert found.di == [[0, 1, 0], [0, 3, 0], [0, 4, 0], [0, 4, 0]]
    assert found.dir[1] == [0, F(3, 4), F(3, 4)]
    assert found.frr == [1, 1, 1, 1]
    assert found.fa == [2, 3, 5, 5] and found.gr == [3, 2, 0, 0]
    assert found.far == [F(2, 5), F(3, 5), 1, 1]
    assert found.tied == 3
    assert found.ttr == [F(2, 5), F(3, 5), 1, 1]  # nearest templates 0.2, 0.1, 0.5, 0.0, 0.3
    assert found.ttr_identity == [F(1, 5), F(3, 5), F(4, 5), F(4, 5)]

    found = naive.open_set(SQUARE, NAMES, thresholds=[0.2, INF], max_rank=2, ties="expected")
    assert found.di == [[1, 2], [F(3, 2), F(5, 2)]]
    assert found.dir[1] == [F(3, 8), 1]
    assert found.frr == [F(3, 4), F(5, 8)]


def test_square_closed_set():
    found = naive.closed_set(SQUARE, NAMES)
    assert (found.attempts, found.skipped, found.tied) == (4, 1, 3)
    assert found.cms_count == [0, 4, 4, 4]
    assert naive.closed_set(SQUARE, NAMES, ties="optimistic").cms_count == [3, 4, 4, 4]
    assert naive.closed_set(SQUARE, NAMES, unit="subject").cms_count == [0, 4, 4]
    with pytest.raises(ValueError, match="without a mate"):
        naive.closed_set(SQUARE, NAMES, unmated="raise")


def test_open_set_operating_points_by_hand():
    # Optimistic: d = .2, .1, .5 at rank 1, .2 at rank 2; e = .2, .1, .5, 0, .3.
    case = {"values": SQUARE, "probe_labels": NAMES, "ties": "optimistic"}
    points = naive.open_set_points(k=1, **case)
    assert [(p.threshold, p.far, p.frr) for p in points] == [
        (-INF, 0, 1),
        (0.0, F(1, 5), 1),
        (0.1, F(2, 5), F(3, 4)),
        (0.2, F(3, 5), F(1, 2)),
        (0.3, F(4, 5), F(1, 2)),
        (0.5, 1, F(1, 4)),
    ]
    # Gap .35 before and .1 after the crossing: lambda = .35 / (.2 + .25) = 7/9.
    found = naive.open_set_eer(k=1, **case)
    assert found.value == F(2, 5) + F(7, 9) * F(1, 5)
    assert (found.threshold, found.far_at_eer, found.frr_at_eer) == (0.2, F(3, 5), F(1, 2))
    assert naive.dir_at_far(0.6, 1, **case) == (F(1, 2), 0.2)
    assert naive.dir_at_far(0.8, 2, **case) == (F(3, 4), 0.3)
    assert naive.dir_at_far(0.1, 1, **case) == (0, -INF)
    pessimistic = naive.open_set_eer(k=1, values=SQUARE, probe_labels=NAMES)
    assert pessimistic.value == 1  # no mate is ever first


# --- A gallery worked by hand, with impostors ----------------------------------------------------

GALLERY = ["x", "y", "x", "y"]
PROBES = ["x", "y", "z"]
RECT = [
    [3, 1, 2, 5],  # x: mate 2, one closer
    [4, 0, 0, 0],  # y: mate 0 in columns 1 and 3, tied with x in column 2
    [7, 6, 9, 8],  # z: unknown, nearest 6
]


def test_gallery_attempts_and_claims():
    genuine, impostor = naive.attempts_single(RECT, PROBES, GALLERY)
    assert genuine == [3, 2, 0, 0] and len(impostor) == 8
    genuine, impostor = naive.attempts_multi(RECT, PROBES, GALLERY)
    assert (genuine, impostor) == ([2, 0], [1, 0, 7, 6])
    genuine, impostor = naive.attempts_multi(RECT, PROBES, GALLERY, fusion="mean")
    assert (genuine, impostor) == ([2.5, 0.0], [3.0, 2.0, 8.0, 7.0])

    claims = (np.array([0, 0, 2]), np.array(["x", "y", "x"]))
    assert naive.attempts_multi(RECT, PROBES, GALLERY, claims=claims) == ([2], [1, 7])
    assert naive.attempts_single(RECT, PROBES, GALLERY, claims=claims) == ([3, 2], [1, 5, 7, 9])
    with pytest.raises(ValueError, match="not enrolled"):
        naive.attempts_multi(RECT, PROBES, GALLERY, claims=["x", "z", "z"])
    found = naive.attempts_multi(
        RECT, PROBES, GALLERY, claims=["x", "z", "z"], unenrolled_claims="skip"
    )
    assert found == ([2], [])
    assert naive.skipped_claims(RECT, PROBES, GALLERY, claims=["x", "z", "z"]) == 2


def test_gallery_ranks():
    def of(**options):
        return [r.rank for r in naive.ranks(RECT, PROBES, GALLERY, **options)]

    assert of() == [2, 2, None]
    assert of(ties="optimistic") == [2, 1, None]
    assert of(ties="stable") == [2, 1, None]  # y is in column 1, before column 2
    # Three tied places, two of them mates: first with 2/3, second with 1/3.
    assert of(ties="expected") == [{2: F(1)}, {1: F(2, 3), 2: F(1, 3)}, None]
    # By subject there are two tied: x (first best in column 2) and y (in column 1).
    assert of(unit="subject", ties="expected") == [{2: F(1)}, {1: F(1, 2), 2: F(1, 2)}, None]
    assert of(unit="subject", ties="stable") == [2, 1, None]
    # Fused by mean: x = 2.5 and 2, y = 3 and 0.
    assert of(unit="subject", fusion="mean") == [1, 1, None]


@pytest.mark.parametrize(
    ("impostors", "e"),
    [("auto", [6]), ("unenrolled", [6]), ("leave-subject-out", [1, 0]), ("both", [1, 0, 6])],
)
def test_gallery_impostor_roles(impostors, e):
    found = naive.open_set(
        RECT, PROBES, GALLERY, thresholds=[0, 1, 6], max_rank=2, impostors=impostors
    )
    assert (found.genuine_attempts, found.impostor_attempts) == (2, len(e))
    assert found.fa == [sum(x <= t for x in e) for t in (0, 1, 6)]
    assert found.di == [[0, 1], [0, 1], [0, 2]]
    assert found.ttr == [F(1, 2), 1, 1] and found.ttr_identity == [F(1, 2), F(1, 2), 1]
    assert found.ftr == [0, 0, 1]


# --- NaN, infinities, fusion ---------------------------------------------------------------------


def test_nan_policies():
    values = [[NAN, 2.0, 1.0], [NAN, NAN, 0.5]]
    case = {"values": values, "probe_labels": ["x", "x"], "gallery_labels": ["x", "x", "y"]}
    with pytest.raises(ValueError, match=r"NaN at \(0, 0\)"):
        naive.attempts_single(**case)
    failed = naive.FAILED
    assert naive.attempts_single(**case, nan="reject") == ([failed, 2.0, *2 * [failed]], [1.0, 0.5])
    assert naive.attempts_single(**case, nan="exclude") == ([2.0], [1.0, 0.5])
    similarities = naive.attempts_single(**case, nan="reject", kind="similarity")
    assert similarities[0] == [failed, 2.0, failed, failed]
    assert naive.attempts_multi(**case, nan="reject", fusion="mean")[0] == [2.0, failed]
    assert naive.attempts_multi(**case, nan="exclude", fusion="mean")[0] == [2.0]

    # Excluded: the second probe stays PG but has no usable mate; it still plays the impostor,
    # still counts in the denominator of TTR.
    found = naive.open_set(**case, nan="exclude", thresholds=[0.5, 2, INF], max_rank=2)
    assert (found.genuine_attempts, found.impostor_attempts) == (1, 2)
    assert found.dir == [[0, 0], [0, 1], [0, 1]]
    assert found.ttr == [F(1, 2), 1, 1] and found.ttr_identity == [0, F(1, 2), F(1, 2)]
    # Rejected: it is a genuine attempt that no threshold accepts.
    found = naive.open_set(**case, nan="reject", thresholds=[0.5, 2, INF], max_rank=2)
    assert found.genuine_attempts == 2 and found.di == [[0, 0], [0, 1], [0, 1]]
    with pytest.raises(ValueError, match="without a mate"):
        naive.closed_set(**case, nan="exclude")


@pytest.mark.parametrize(
    ("group", "fusion", "wanted"),
    [
        ([3, 1, 2], "min", 1),
        ([3, 1, 2], "max", 3),
        ([3, 1, 2], "median", 2),
        ([3, 1, 2, 8], "median", 2.5),
        ([3, 1, 2], "mean", 2.0),
        ([3, 1, 2], "kth:3", 3),
        ([3, 1], "kth:3", None),
        ([], "min", None),
        ([1.0, INF], "mean", INF),
        ([-INF, INF], "mean", INF),
        ([-INF, 1.0], "mean", -INF),
        ([-INF, INF], "median", INF),
        ([0.1, 0.2, 0.3], "mean", 0.6 / 3),
    ],
)
def test_fusion(group, fusion, wanted):
    assert naive.fuse(group, fusion) == wanted


# --- Masks and parts of a square matrix ----------------------------------------------------------


# --- Operating points ----------------------------------------------------------------------------


def test_roc_points_and_eer_by_hand():
    genuine, impostor = [0.1, 0.2, 0.2, 0.6], [0.2, 0.5, 0.7, 0.7, 0.9]
    points = naive.roc_points(genuine, impostor, "distance")
    assert [(p.threshold, p.far, p.frr) for p in points] == [
        (-INF, 0, 1),
        (0.1, 0, F(3, 4)),
        (0.2, F(1, 5), F(1, 4)),
        (0.5, F(2, 5), F(1, 4)),
        (0.6, F(2, 5), 0),
        (0.7, F(4, 5), 0),
        (0.9, 1, 0),
    ]
    # Point 0 at 0.2 (gap .05), point 1 at 0.5 (gap -.15): lambda 1/4, FRR is flat there.
    found = naive.eer(genuine, impostor, "distance")
    assert found.value == F(1, 4)
    # max is .25 at 0.2, .4 at 0.5; sums .45 and .65.
    assert (found.threshold, found.far_at_eer, found.frr_at_eer) == (0.2, F(1, 5), F(1, 4))
    assert (found.low, found.high) == (F(1, 5), F(1, 4))
    # Hull vertices (0, 1), (1/5, 1/4), (2/5, 0), (1, 0): the second and third cross at 2/9.
    assert naive.eer_hull(genuine, impostor, "distance") == F(2, 9)
    assert naive.frr_at_far(genuine, impostor, "distance", 0.4) == (0, 0.6)
    assert naive.frr_at_far(genuine, impostor, "distance", 0.1) == (F(3, 4), 0.1)
    assert naive.threshold_at_far(genuine, impostor, "distance", 0.2) == 0.2
    assert naive.zero_far(genuine, impostor, "distance") == F(3, 4)
    assert naive.zero_frr(genuine, impostor, "distance") == F(2, 5)
    # 20 pairs: .1 beats 5; each .2 beats 4 and ties 1; .6 beats 3.
    assert naive.auc(genuine, impostor, "distance") == F(2 * (5 + 4 + 4 + 3) + 2, 40)
    # Equal weights: (FAR + FRR) / 2 is least at 0.6.
    assert naive.min_hter(genuine, impostor, "distance") == (F(1, 5), 0.6)
    # A miss at 1, a false accept at 10, half genuine: 3/8 at 0.1; next 1/8 + 1 at 0.2.
    assert naive.min_cost(genuine, impostor, "distance", 0.5, 1, 10) == (F(3, 8), 0.1)

    mirrored = [-x for x in genuine], [-x for x in impostor], "similarity"
    assert [(p.far, p.frr) for p in naive.roc_points(*mirrored)] == [(p.far, p.frr) for p in points]
    assert naive.roc_points(*mirrored)[0].threshold == INF
    assert naive.eer(*mirrored).threshold == -0.2


def test_expected_ties_are_the_mean_over_all_orders():
    for mates in range(1, 4):
        for others in range(0, 4):
            labels = ["x"] * mates + ["y"] * others + ["z"]
            values = [[1] * (mates + others) + [0]]  # one stranger is closer
            firsts = Counter(
                2 + min(order.index(i) for i in range(mates))
                for order in itertools.permutations(range(mates + others))
            )
            total = sum(firsts.values())
            wanted = {rank: F(count, total) for rank, count in firsts.items()}
            assert naive.ranks(values, ["x"], labels, ties="expected")[0].rank == wanted
