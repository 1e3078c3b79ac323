"""Comparisons that are left out, by `exclude`, a mask or a NaN policy, are so in every fold."""

import numpy as np
import pytest
from twins import in_folds, one_thread  # noqa: F401

import bioeval as be


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


def test_each_pair_once():
    whole = be.simulate(12, 3, random_state=1)
    own = whole.probe_labels[:, None] == whole.probe_labels
    scores = be.Scores(whole.values, whole.probe_labels, mask=np.triu(1 + own, 1))
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
        with pytest.raises(be.ProtocolError, match="Give labels"):
            evaluate()
