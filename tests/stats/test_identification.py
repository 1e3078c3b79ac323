"""Intervals of identification. Those by leaving out each person: ``test_people.py``."""

import numpy as np
import pytest
from limits import few_replicates
from result_messages import arguments

import bioeval as be
from bioeval.base.random import Stream, seed_sequence

TARGETS = (0.5, 0.2, 0.0)
REPLICATES = 7


@pytest.mark.parametrize("ties", ["pessimistic", "expected"])
@pytest.mark.cases(1)
def test_limits_are_those_of_people_who_search_drawn_again(ties):
    """Their probes are repeated as often as they are drawn, in the same gallery."""
    scores = be.simulate(9, 4, within=0.9, random_state=2)
    values = np.round(scores.values * 4) / 4
    labels = scores.probe_labels
    rows, columns = np.flatnonzero(np.arange(36) % 4 < 2), np.flatnonzero(np.arange(36) % 4 > 1)
    searched = be.Scores(values[np.ix_(rows, columns)], labels[rows], labels[columns])
    grid = np.unique(searched.values)
    options = {"far_targets": TARGETS, "ties": ties, "max_rank": 5}
    method = few_replicates("subject-bootstrap", REPLICATES)
    opened = be.open_set(searched, thresholds=grid, interval=method, **options)
    closed = be.closed_set(searched, ties=ties, max_rank=5, interval=method)
    weights = Stream(seed_sequence(3), 0).resampled(9, REPLICATES)
    drawn = []
    for column in weights.T.astype(int):
        copies = np.repeat(np.arange(18), column[np.arange(18) // 2])
        part = searched.select(probes=copies)
        drawn.append(be.open_set(part, thresholds=grid, **options))
    for ds, name in (
        (opened, "far"), (opened, "dir"), (opened, "dir_at_far"), (opened, "eer"), (closed, "cms"),
    ):  # fmt: skip
        if name == "cms":  # at any threshold
            replicates = np.array([x["dir"].values[-1] for x in drawn])
        else:
            replicates = np.array([x[name].values for x in drawn])
        if name.startswith("dir"):  # at the ranks that tables show
            assert np.isnan(ds[f"{name}_low"].sel(rank=[2, 3, 4])).all()
            ds, replicates = ds.sel(rank=[1, 5]), replicates[..., [0, 4]]
        value = ds[name].values
        inside = (value > 1e-9) & (value < 1 - 1e-9)  # others have a bound by people
        for end, level in (("low", 0.025), ("high", 0.975)):
            expected = np.quantile(replicates, level, axis=0)
            ours = ds[f"{name}_{end}"].values
            if name == "dir_at_far" and end == "low":
                inside = inside & (ours > 0)  # where the people support the target
            np.testing.assert_allclose(ours[inside], expected[inside], atol=1e-9, err_msg=name)


@pytest.mark.parametrize("gallery", ["new people", "this gallery"])
def test_a_far_that_the_searches_cannot_support_leaves_dir_without_a_lower_limit(gallery):
    scores = be.simulate(25, 4, within=0.5, random_state=1)
    if gallery == "this gallery":
        scores = scores.select(np.arange(100) % 4 < 2, np.arange(100) % 4 > 1)
    ds = be.open_set(scores, far_targets=[0.2, 0.01], interval="people")
    assert (ds.dir_at_far_low.sel(far_target=0.01, rank=1) == 0) and ds.impostor_attempts < 300
    assert ds.dir_at_far_low.sel(far_target=0.2, rank=1) > 0
    assert arguments(ds, "limit-not-supported")["targets"] == [0.01]
