"""Comparisons that are left out, by `exclude`, a mask or a NaN policy, are so in every fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import strategies as cases
from hypothesis import given, strategies as st
from naive_folds import RULES, assert_folds, folds_of
from twins import in_folds, one_thread  # noqa: F401

import bioeval as be
from bioeval.base.errors import ProtocolError
from bioeval.protocol.pairs import with_pairs


@st.composite
def left_out(draw: st.DrawFn) -> tuple[be.Scores, cases.Case]:
    """Draw scores with `exclude` and a mask, and the same case with one mask that says both."""
    case = draw(cases.matrices(sizes=cases.SIZES[1:]))
    m, n = case.values.shape
    columns = [draw(st.lists(st.integers(0, 1), min_size=k, max_size=k)) for k in (m, n)]
    session = [np.array(columns[0]), np.array(columns[0] if case.square else columns[1])]
    probe = np.array(case.probe_labels, dtype=object)
    gallery = probe if case.square else np.array(case.gallery_labels, dtype=object)
    own = probe[:, None] == gallery
    truth = np.where(own, 2, 1).astype(np.uint8)
    excluded = own & (session[0][:, None] == session[1])
    more: dict[str, Any] = {"probe_meta": {"session": session[0]}, "exclude": "session"}
    if not case.square:
        more["gallery_meta"] = {"session": session[1]}
    if draw(st.booleans()):
        ignored = draw(st.lists(st.integers(0, 4), min_size=m * n, max_size=m * n))
        case.mask = np.where(np.reshape(ignored, (m, n)) == 0, 0, truth).astype(np.uint8)
    scores = be.Scores(**case.scores(), **more)
    mask = truth if case.mask is None else case.mask
    case.mask = np.where(excluded, 0, mask).astype(np.uint8)
    return scores, case


@pytest.mark.slow
@given(data=st.data())
def test_verification_in_folds(data):
    scores, case = data.draw(left_out())
    codes = data.draw(folds_of(case))
    rule = data.draw(st.sampled_from(sorted(RULES)))
    templates = data.draw(st.sampled_from(("single", "multi")))
    fusion = data.draw(st.sampled_from(cases.FUSIONS))
    splitter = be.partition.PredefinedFolds(codes)
    options = {"threshold": RULES[rule], "templates": templates, "fusion": fusion}
    ds = in_folds(scores, splitter, **options)
    assert_folds(ds, case, codes, rule, templates, fusion)


@pytest.fixture(scope="module")
def sessions() -> tuple[be.Scores, be.Scores, be.Scores]:
    """Twelve subjects in two sessions: same-session pairs left out by `exclude`, by a mask, not."""
    whole = be.simulate(12, 4, sessions=2, random_state=4)
    session = whole.probe_meta["session"]
    own = whole.probe_labels[:, None] == whole.probe_labels
    mask = np.where(own, 2, 1).astype(np.uint8)
    mask[own & (session[:, None] == session)] = 0
    d, labels, meta = whole.values.copy(), whole.probe_labels, whole.probe_meta
    d[mask == 0] = np.nan  # a NaN in an ignored cell is no failure
    d[3, 20] = d[20, 3] = np.nan
    made = {"probe_meta": meta, "nan": "reject"}
    return (
        be.Scores(d, labels, exclude="session", **made),
        be.Scores(d, labels, mask=mask, **made),
        whole,
    )


FOLDS = be.partition.SubjectKFold(3, shuffle=True, random_state=1)
GALLERIES = be.partition.ProbeGallerySplit(2, n_repeats=3, random_state=1)


@pytest.mark.parametrize(
    "evaluate",
    [
        lambda s: be.cross_evaluate(s, FOLDS),
        lambda s: in_folds(s, FOLDS, templates="multi"),
        lambda s: be.cross_evaluate(s, FOLDS, task="open_set"),
        lambda s: be.cross_evaluate(s, FOLDS, task="closed_set"),
        lambda s: be.repeat(s, GALLERIES, curves=True)["verification/single"].to_dataset(),
        lambda s: be.study_threshold(s, "eer", folds=3, repeats=2),
        lambda s: be.evaluate(s, "course-kfold")["folds/open_set"].to_dataset(),
    ],
)
@pytest.mark.cases(1)
def test_exclude_and_a_mask_are_the_same(sessions, evaluate):
    excluding, masked, every = (evaluate(s).drop_attrs(deep=True) for s in sessions)
    assert excluding.identical(masked)
    assert not excluding.equals(every)


@pytest.mark.parametrize("task", ["verification", "open_set", "closed_set"])
@pytest.mark.cases(1)
def test_each_part_is_what_its_selection_is(sessions, task):
    for scores in sessions[:2]:
        ds = be.cross_evaluate(scores, FOLDS, task=task)
        for k, parts in enumerate(FOLDS.split(scores)):
            for prefix, part in zip(("train_", ""), parts, strict=True):
                whole = getattr(be, task)(scores.select(part, part))
                attempts = whole["attempts" if task == "closed_set" else "genuine_attempts"]
                assert ds[f"{prefix}genuine_attempts"][0, k] == attempts
                if task != "closed_set":
                    assert ds[f"{prefix}impostor_attempts"][0, k] == whole.impostor_attempts


def test_each_pair_once():
    scores = with_pairs(be.simulate(12, 3, random_state=1), "unordered")
    ds = be.cross_evaluate(scores, be.partition.SubjectKFold(3))
    assert (ds.genuine_attempts == 4 * 3).all()
    assert (ds.impostor_attempts == 6 * 9).all()
    study = be.study_threshold(scores, "eer", folds=3, repeats=1)
    assert study.impostor_pairs == study.impostor_attempts == 66 * 9


def test_a_mask_alone_does_not_say_who_is_who():
    mask = 1 + np.eye(4, dtype=np.uint8)
    masked = be.Scores(np.ones((4, 4)), mask=mask)
    galleries = be.partition.ProbeGallerySplit(1)
    for evaluate in (
        lambda: be.cross_evaluate(masked, FOLDS),
        lambda: be.repeat(masked, galleries),
        lambda: be.study_threshold(masked),
    ):
        with pytest.raises(ProtocolError, match="Give labels"):
            evaluate()
