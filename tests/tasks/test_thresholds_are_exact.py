"""Scores and thresholds are compared as the numbers they are, in every call and every dtype.

Thresholds are the scores, their neighbours in float64, the smallest and the largest numbers, and
what lies beyond the dtype of the scores. Counts are those of loops over Python numbers, which
compare integers and floats exactly.
"""

import math
import sys
from fractions import Fraction
from typing import Any

import naive
import naive_reid
import numpy as np
import pytest
from named_arguments import raises_about
from reference import floats, one_thread  # noqa: F401

import bioeval as be
from bioeval.cli import main

LABELS = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
FOLDS = [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1]
LARGEST = sys.float_info.max

#: Beyond half floats, beyond float32, between their numbers, and at the ends of float64.
ODD = (5e-324, 1e-310, 1e-46, 1e-8, 65519.99, 65520.0, 3.4028235677973366e38, 1e39, LARGEST,
       0.5, 2.0**53 - 1, 2.0**53, 2.0**53 + 2, 2.0**64, math.inf)  # fmt: skip

KINDS = ("distance", "similarity")
DTYPES = ("bool", "float16", "float32", "float64", "longdouble", "int8", "uint8", "int16", "uint16",
          "int32", "uint32", "int64", "uint64")  # fmt: skip
every = pytest.mark.parametrize(
    ("dtype", "kind", "step"),
    [("float64", "similarity", 11), ("float32", "distance", 30)]
    + [pytest.param(x, kind, 2, marks=pytest.mark.slow) for x in DTYPES for kind in KINDS],
)


def pool(dtype: str) -> list[Any]:
    """Scores around 0, close neighbours, and both ends of the range that is counted exactly."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return [0, 1]
    if kind.kind in "iu":
        info = np.iinfo(kind)
        low, high = max(info.min, -(2**53)), min(info.max, 2**53)
        return [0, 1, 2, 3, low, low + 1, high, high - 1]
    scalar_type = np.dtype("float64" if dtype == "longdouble" else dtype).type
    info = np.finfo(scalar_type)
    tenth, largest = scalar_type(0.1), info.max
    unit = scalar_type(1)
    zero = scalar_type(0)
    result = [
        zero, info.smallest_subnormal, info.tiny, tenth, np.nextafter(tenth, unit),
        np.nextafter(tenth, zero), unit / scalar_type(3), largest, np.nextafter(largest, zero),
        scalar_type(np.inf),
    ]  # fmt: skip
    return [*result, *(-x for x in result)]


class Data:
    """A small matrix of one dtype, with the thresholds that could be confused with its scores.

    One in `step` of the thresholds, and the smallest number above 0.
    """

    def __init__(self, dtype: str, kind: str, step: int = 1, *, largest: bool = True):
        finite_pool = [
            value for value in pool(dtype) if largest or not 1e300 < abs(float(value)) < math.inf
        ]
        rng = np.random.default_rng(1)
        self.values = np.array(
            [finite_pool[i] for i in rng.integers(0, len(finite_pool), 144)], dtype
        )
        self.values = self.values.reshape(12, 12)
        self.kind, self.sign = kind, 1 if kind == "distance" else -1
        meta = {"half": ["a"] * 6 + ["b"] * 6}
        self.scores = be.Scores(self.values, LABELS, kind=kind, probe_meta=meta)
        read = self.values.astype(np.float64) if dtype == "longdouble" else self.values
        self.case = {
            "values": read.tolist(), "probe_labels": LABELS, "gallery_labels": None, "kind": kind
        }  # fmt: skip
        candidates = set(ODD) | {-value for value in ODD}
        for value in {float(value) for value in finite_pool}:
            candidates |= {value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)}
            candidates |= (
                {value * (1 + 2**-30), value * (1 - 2**-30)} if abs(value) < 1e300 else set()
            )
        thresholds = sorted({value + 0.0 for value in candidates})
        self.thresholds = sorted({*thresholds[::step], thresholds[-1], 5e-324})
        self.attempts = {
            "single": naive.attempts_single(**self.case), "multi": naive.attempts_multi(**self.case)
        }  # fmt: skip

    def errors(self, templates: str, thresholds: Any = None) -> tuple[list[int], list[int]]:
        """Return false rejects and false accepts, by definition."""
        points = self.thresholds if thresholds is None else thresholds
        result = naive.verification_counts(*self.attempts[templates], points, self.kind)
        return result[1], result[2]


def assert_errors(ds: Any, expected: tuple[list[int], list[int]], case: str) -> None:
    for name, counts in zip(("fr", "fa"), expected, strict=True):
        np.testing.assert_array_equal(ds[name].values.ravel(), counts, err_msg=f"{case}: {name}")


@every
@pytest.mark.cases(2)
def test_at_many_thresholds(dtype, kind, step):
    data = Data(dtype, kind, step)
    scores, thresholds = data.scores, data.thresholds
    for templates in ("single", "multi"):
        expected = data.errors(templates)
        options = {"templates": templates, "thresholds": thresholds}
        ds = be.verification(scores, **options)
        assert_errors(ds, expected, templates)
        assert_errors(
            be.verification(
                scores,
                **options,
                interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
            ),
            expected,
            "with an interval",
        )
    genuine, impostor = data.attempts["single"]
    scored = np.array(genuine + impostor, dtype)
    flags = [True] * len(genuine) + [False] * len(impostor)
    listed = be.Scores.from_pairs(scored, flags, kind=kind)
    assert_errors(be.verification(listed, thresholds=thresholds), data.errors("single"), "pairs")

    for unit in ("template", "subject"):
        expected = naive.open_set(**data.case, thresholds=thresholds, unit=unit, max_rank=3)
        ds = be.open_set(scores, thresholds=thresholds, rank_unit=unit, max_rank=3)
        np.testing.assert_array_equal(ds.fa, expected.fa)
        np.testing.assert_array_equal(ds.di, expected.di)
    # Of subjects: DIR of the whole gallery, and FAR without the probe's own.
    ds = be.gallery_size(scores, [3, 4], thresholds=thresholds, max_rank=1)
    np.testing.assert_allclose(ds.dir[1] * 12, [x[:1] for x in expected.di], atol=1e-9)
    np.testing.assert_allclose(ds.far[0] * 12, expected.fa, atol=1e-9)
    np.testing.assert_allclose(
        be.open_set(scores, thresholds=thresholds, gallery="single", max_rank=1).far,
        [float(far_of_single_galleries(data, t)) for t in thresholds], atol=1e-12,
    )  # fmt: skip


def far_of_single_galleries(data: Data, threshold: float) -> Fraction:
    """1 minus the product, over other subjects, of the share of templates beyond the threshold."""
    total = Fraction(0)
    for i, row in enumerate(data.case["values"]):
        none = Fraction(1)
        for subject in {*LABELS} - {LABELS[i]}:
            mates = [x for x, who in zip(row, LABELS, strict=True) if who == subject]
            none *= 1 - Fraction(sum(naive.accepted(x, threshold, data.kind) for x in mates), 3)
        total += 1 - none
    return total / len(LABELS)


@every
def test_of_retrieval(dtype, kind, step):
    data = Data(dtype, kind, step)
    thresholds = sorted(data.sign * t + 0.0 for t in data.thresholds)
    options = {"removed": "nothing", "budget": 5, "max_rank": 3}
    expected = naive_reid.gom(data.case, None, thresholds, **options)
    gom = be.gom(data.scores, thresholds=data.thresholds, budget=5, scaled=False,
                 convention="viper", max_rank=3)  # fmt: skip
    for name in ("mvp", "precision", "recall", "dir", "ttr"):
        values = floats(getattr(expected, name))[:: data.sign]
        np.testing.assert_allclose(gom[name], values, atol=1e-12)
    reid = be.reid(data.scores, "viper", thresholds=data.thresholds)
    for name in ("precision", "recall", "f1", "micro_f1"):
        values = floats(getattr(expected, name))[:: data.sign]
        np.testing.assert_allclose(reid[name], values, atol=1e-12, err_msg=name)


@every
def test_at_one_threshold(dtype, kind, step):

    data = Data(dtype, kind, 5 * step)
    averaged = Data(dtype, kind, 5 * step, largest=False)  # whose means do not overflow
    scores = data.scores
    folds = be.partition.PredefinedFolds(FOLDS)
    for threshold in data.thresholds:
        single, multi = data.errors("single", [threshold]), data.errors("multi", [threshold])
        for scores_in_use, expected in ((scores, single), (be.claim_scores(scores), multi)):
            by_group = be.by_group(scores_in_use, "half", threshold=threshold)
            assert_errors(by_group.sel(group="all", claimed_group="all"), expected, "group")
        tested = be.cross_evaluate(scores, folds, threshold=threshold)[["fr", "fa"]].sel(
            part="test"
        )
        assert_errors(tested.sum(), of_folds(data, threshold), "folds")
        rows = [be.explain(scores, i, threshold=threshold) for i in range(scores.shape[0])]
        for templates, (fr, fa) in (("single", single), ("multi", multi)):
            counts = [row.counts[f"verification/{templates}"] for row in rows]
            errors = [[sum(x[name] for x in counts)] for name in ("fr", "fa")]
            assert errors == [fr, fa], threshold
    for threshold in averaged.thresholds:
        fr, fa = averaged.errors("single", [threshold])
        ds = be.zoo(averaged.scores, threshold=threshold, permutations=1)
        assert ds.all_errors.values.tolist() == [*fr, *fa, *fa], threshold


def of_folds(data: Data, threshold: float) -> tuple[list[int], list[int]]:
    """Return the errors among the templates of each fold, of both folds together."""
    total = np.zeros(2, dtype=int)
    for fold in (0, 1):
        members = [i for i in range(12) if FOLDS[i] == fold]
        values = [[data.case["values"][i][j] for j in members] for i in members]
        attempts = naive.attempts_single(values, [LABELS[i] for i in members], kind=data.kind)
        total += np.ravel(naive.verification_counts(*attempts, [threshold], data.kind)[1:3])
    return [total[0]], [total[1]]


@pytest.mark.parametrize(("dtype", "kind"), [("float16", "similarity"), ("uint8", "distance")])
def test_far_targets_between_attainable_rates(dtype, kind):
    """The neighbours of k / n in float64, and the smallest and the largest below 1."""
    data = Data(dtype, kind)
    genuine, impostor = data.attempts["single"]
    n = len(impostor)
    targets_to_try = {0.0, 5e-324, 1.0, math.nextafter(1.0, 0.0)}
    for k in (1, 2, 53):
        targets_to_try |= {k / n, math.nextafter(k / n, 0), math.nextafter(k / n, 1)}
    targets = sorted(targets_to_try)
    expected = [naive.threshold_at_far(genuine, impostor, kind, target) for target in targets]
    ds = be.verification(data.scores, far_targets=targets)
    np.testing.assert_array_equal(ds.threshold_at_far, floats(expected))
    for target, threshold in zip(targets, expected, strict=True):
        chosen = be.by_group(data.scores, "half", threshold=f"far={target}")
        np.testing.assert_array_equal(chosen.threshold, float(threshold))


def test_the_smallest_far_target_is_one():
    """The attempts that the rules of 3 and 30 need exceed int64."""
    scores = be.simulate(10, 3, random_state=1)
    target = 5e-324
    ds = be.study_threshold(
        scores,
        f"far={target}",
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
        folds=2,
        repeats=1,
    )
    needs = ds["needs"]
    assert (needs.impostors_missing > 2**62).all()
    assert needs.impostors_needed.sel(rule=30) == 2**63 - 1
    assert len(be.check_data(scores, far_targets=[target]).findings) > 5


@pytest.mark.parametrize(
    "threshold", [2**53 + 1, np.int64(2**53 + 1), Fraction(1, 3), np.longdouble(1) / 3]
)
def test_a_threshold_that_float64_does_not_hold_is_refused(threshold):
    """A rounded threshold would be on the other side of a score."""
    scores = Data("int64", "similarity").scores
    if isinstance(threshold, np.longdouble) and threshold == float(threshold):
        pytest.skip("long doubles are float64 here")
    message = "`thresholds?`: .* is not exact in float64, the type in which scores are compared"
    calls = [lambda: be.zoo(scores, threshold=threshold)]
    if not isinstance(threshold, Fraction):  # which arrays do not take
        calls += [
            lambda: be.verification(scores, thresholds=[0.5, threshold]),
            lambda: be.verification(scores, thresholds=np.array([threshold])),
        ]
    for call in calls:
        with pytest.raises(be.DataError, match=message):
            call()


def test_thresholds_that_text_cannot_say(tmp_path, capsys):
    scores = Data("float64", "distance").scores
    for text in ("inf", "-Infinity", "0e9", "-0.0", "5e-324"):
        assert be.by_group(scores, "half", threshold=text).threshold == float(text)
    file = tmp_path / "scores.npz"
    be.save(be.simulate(8, 2, random_state=1), file)
    with raises_about(be.DataError, "threshold"):
        be.zoo(be.simulate(8, 2), threshold="1e400")
    for command in (
        ["zoo", str(file), "--threshold", "1e400"],
        ["run", str(file), "--thresholds", "0.5,1e-400"],
    ):
        assert main(command) == 2
        assert "1e" in capsys.readouterr().err, command
