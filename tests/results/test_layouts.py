"""Layouts of results: statistics on a dimension, read from a file that an earlier run saved."""

import numpy as np
import pytest
import xarray as xr
from result_text import as_text
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.results.layouts import expanded


def folds(**options) -> xr.Dataset:
    return be.cross_evaluate(
        be.simulate(8, 3, random_state=1), be.partition.SubjectKFold(2),
        **{"threshold": "far=0.1", "far_targets": [0.5], **options},
    )  # fmt: skip


def test_results_of_a_newer_version_are_refused():
    newer = folds().assign_attrs(schema=2)
    for call in (be.show, be.plot.folds):
        with pytest.raises(be.DataError, match="are of schema 2; this version .* reads schema 1"):
            call(newer)
    single = be.verification(be.simulate(4, 2))
    assert single.attrs["schema"] == 1
    for call in (be.show, be.plot.det):
        with pytest.raises(be.DataError, match="are of schema 2; this version .* reads schema 1"):
            call(single.assign_attrs(schema=2))


def test_summaries_have_a_row_a_partition():
    scores = be.simulate(8, 3, random_state=1)
    tree = be.repeat(scores, be.partition.SubjectKFold(2), far_targets=[0.1, 0.01])
    parts = [scores.select(x, x) for _, x in be.partition.SubjectKFold(2).split(scores)]
    for node in tree.leaves:
        table = node.to_dataset().to_dataframe()
        assert len(table) == 2
        for k, part in enumerate(parts):
            expected = be.summary(part, far_targets=[0.1, 0.01])[node.path.strip("/")]
            for name, value in expected.items():
                by_place = value.items() if isinstance(value, dict) else [(None, value)]
                for place, one in by_place:
                    word = "rank_" * name.startswith("cms")
                    column = name if place is None else f"{name}_{word}{place!r}"
                    np.testing.assert_equal(table[column][k], one)


def test_summaries_of_a_file_are_expanded(tmp_path):
    tree = be.repeat(be.simulate(8, 3, random_state=1), be.partition.SubjectKFold(2))
    given = tree["verification/single"].to_dataset()
    given.to_netcdf(tmp_path / "s.nc", engine="h5netcdf")
    read = xr.load_dataset(tmp_path / "s.nc", engine="h5netcdf")
    assert as_text(read) == as_text(given)
    single = expanded(read)
    assert single["frr_at_far"].dims == ("partition", "far_target")
    assert (
        single["frr_at_far"].attrs["long_name"]
        == be.verification(be.simulate(3, 2)).frr_at_far.attrs["long_name"]
    )
    assert single["cost_prior"].values.tolist() == [0.5]
