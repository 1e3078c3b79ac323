"""Verification in folds, written from the definitions: slow, and read by people."""

import math
from typing import Any

import naive
import numpy as np
import pytest
import strategies as cases
from hypothesis import strategies as st

RULES = (
    "eer", "far=0.25", "far=0.0", "far=1.0", "accuracy", "hter", "cost=0.25,1.0,4.0",
    "cost=0.5,0.0,1.0", 0.25,
)  # fmt: skip


def naive_fold(
    case: cases.Case, train: Any, test: Any, rule: str | float, templates: str, fusion: str
) -> tuple[Any, list[Any]]:
    """Return threshold and (genuine, impostor, fr, fa) of the training and of the test part."""
    attempts = []
    for probes, gallery in (train, test):
        if not len(probes) or not len(gallery):
            attempts.append(([], []))
            continue
        data = case.naive(probes, gallery)
        if templates == "single":
            attempts.append(naive.attempts_single(**data))
        else:
            attempts.append(naive.attempts_multi(**data, fusion=fusion))
    threshold = naive.threshold_of(rule, *attempts[0], case.kind)
    counts = []
    for genuine, impostor in attempts:
        if threshold is None:
            counts.append((len(genuine), len(impostor), 0, 0))
            continue
        _, fr, fa, _ = naive.verification_counts(genuine, impostor, [threshold], case.kind)
        counts.append((len(genuine), len(impostor), fr[0], fa[0]))
    return threshold, counts


def parts_of(case: cases.Case, samples: list[int]) -> tuple[list[int], list[int]]:
    """Return the probes and the gallery templates among the samples: probes are numbered first."""
    m, n = case.values.shape
    if case.square:
        return samples, samples
    return [i for i in samples if i < m], [i - m for i in samples if i >= m]


@st.composite
def folds_of(draw: st.DrawFn, case: cases.Case) -> np.ndarray:
    """Draw the fold of each sample, some never tested."""
    m, n = case.values.shape
    size = n if case.square else m + n
    codes = draw(st.lists(st.integers(-1, 2), min_size=size, max_size=size))
    fold_of_subject = np.array(codes)
    if len(np.unique(fold_of_subject[fold_of_subject >= 0])) < 2:
        fold_of_subject[0], fold_of_subject[-1] = 0, 1
    return fold_of_subject


def assert_folds(
    ds: Any, case: cases.Case, codes: np.ndarray, rule: str | float, templates: str, fusion: str
) -> None:
    tested = [int(k) for k in np.unique(codes) if k >= 0]
    assert dict(ds.sizes)["fold"] == len(tested)
    for place, k in enumerate(tested):
        train = parts_of(case, np.flatnonzero(codes != k).tolist())
        test = parts_of(case, np.flatnonzero(codes == k).tolist())
        threshold, expected = naive_fold(case, train, test, rule, templates, fusion)
        fold = ds.isel(repeat=0, fold=place)
        threshold_of_fold = fold.threshold.item()
        if threshold is None or math.isnan(threshold):
            assert math.isnan(threshold_of_fold)
        else:
            assert threshold_of_fold == threshold
        for part, (genuine, impostor, fr, fa) in zip(("train", "test"), expected, strict=True):
            of_part = fold.sel(part=part)
            names = ("genuine_attempts", "impostor_attempts", "fr", "fa")
            counts = [of_part[name].item() for name in names]
            defined = threshold is not None
            expected_counts = [genuine, impostor, *((fr, fa) if defined else (math.nan,) * 2)]
            np.testing.assert_equal(counts, expected_counts, part)
            for rate, count, attempts in (("frr", fr, genuine), ("far", fa, impostor)):
                expected_rate = count / attempts if attempts and defined else math.nan
                np.testing.assert_equal(of_part[rate].item(), expected_rate)
            if defined:
                assert of_part["ga"].item() == genuine - fr
                assert of_part["gr"].item() == impostor - fa
            half = (of_part["far"].item() + of_part["frr"].item()) / 2
            assert of_part["hter"].item() == pytest.approx(half, nan_ok=True)
            if defined and genuine + impostor:
                right = (genuine - fr + impostor - fa) / (genuine + impostor)
                assert of_part["accuracy"].item() == pytest.approx(right)
