"""Results that xarray changed: what is shown of them is what their dimensions and labels say."""

import warnings
from contextlib import suppress
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from small_results import SMALL_RESULTS, cut, square

import bioeval as be
from bioeval.plot.systems import PLOTS

FOLDS = be.partition.SubjectKFold(3)
CALLS = {name: call for name, (call, _) in SMALL_RESULTS.items()} | {
    "several costs": lambda: be.verification(square(), costs=[(0.05, 1, 1), (0.1, 1, 10)]),
    "cut": lambda: be.repeat(square(), cut()),
    "three systems": lambda: be.compare({x: square(x, ord(x)) for x in "abc"}),
    "open-set folds": lambda: be.cross_evaluate(square(), FOLDS, task="open_set"),
    "folds at the EER": lambda: be.cross_evaluate(
        square(), FOLDS, threshold="eer", far_targets=[0.1]
    ),
}


@cache
def result(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", be.BioevalWarning)
        return CALLS[name]()


def datasets(name):
    found = result(name)
    if isinstance(found, xr.Dataset):
        return [found]
    nodes = [node.to_dataset() for node in getattr(found, "subtree", ())]
    return [ds for ds in nodes if ds.data_vars and "result_type" in ds.attrs]


def on_days(ds, *names):
    return xr.concat([ds] * len(names), dim=xr.Variable("day", [*names]))


def changed(ds, path):
    """Yield what a user may make of a result, with the names of what was done."""
    for dim in ds.dims:
        yield f"one {dim}", ds.isel({dim: 0})
        yield f"some {dim}", ds.isel({dim: slice(0, 2)})
        yield f"mean over {dim}", ds.mean(dim, keep_attrs=True)
    yield "joined", xr.concat([ds, ds], dim="day")
    yield "joined, labelled", on_days(ds, "mon", "tue")
    of_days = on_days(ds, "mon", "tue", "mon").groupby("day").mean(keep_attrs=True)
    yield "means of groups", of_days
    names = [*ds.data_vars]
    yield "first variable", ds[names[:1]]
    yield "last variables", ds[names[-2:]]
    ds.to_netcdf(path, engine="h5netcdf")
    yield "from netCDF", xr.load_dataset(path, engine="h5netcdf")


def plots_of(ds):
    for name, plot in PLOTS.items():
        for needs in plot.needs:
            if all(x in ds.variables and ds[x].dims == dims for x, dims in needs.items()):
                yield name
                break


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [x for x in CALLS if x not in ("check_data", "explain")])
def test_changed_results_go_through_every_form(name, tmp_path, capsys):
    for ds in datasets(name):
        for change, other in changed(ds, tmp_path / "a.nc"):
            be.show(other)
            be.show(other, verbose=True)
            assert capsys.readouterr().out.strip(), change
            frame = be.to_frame(other, curves=True)
            assert len(frame) or not any(x.size for x in other.values()), change
            assert be.to_latex(other), change
            assert be.to_markdown(other), change
            for plot in plots_of(other):
                with suppress(be.DataError):  # such as: select one of the joined results
                    getattr(be.plot, plot)(other)
                plt.close("all")


def printed(ds, capsys):
    be.show(ds)
    return " ".join(capsys.readouterr().out.split())


def test_partitions_are_counted_where_they_are(capsys):
    cards = be.partition.ProbeGallerySplit(1, n_repeats=10, random_state=0)
    closed = be.repeat(square(), cards)["closed_set"].to_dataset()
    assert "10 partitions;" in printed(closed, capsys)
    assert "Closed-set identification, over partitions" in printed(closed, capsys)
    few = printed(closed.isel(partition=slice(0, 3)), capsys)
    assert "3 partitions;" in few and "10 partitions" not in few
    statistics = printed(be.aggregate(closed.isel(partition=[1, 2, 3])), capsys)
    assert "3 partitions; each gallery: 6 templates of 6 subjects" in statistics
    one = printed(closed.isel(partition=4), capsys)
    assert "Selected partition 4" in one
    assert "over partitions" not in one and "10 partitions" not in one
    mean = printed(closed.mean("partition", keep_attrs=True), capsys)
    assert "The partitions of these results were reduced to one number" in mean
    assert "over partitions" not in mean and "10 partitions" not in mean


def test_a_selected_place_is_a_column_of_the_frame():
    closed = result("cut")["closed_set"].to_dataset()
    frame = be.to_frame(closed.isel(partition=1))
    assert set(frame["partition"]) == {1}
    rates = be.verification(square(), far_targets=[0.2, 0.1])
    for far in (0.2, 0.1):
        row = be.to_frame(rates.sel(far_target=far)).query("measure == 'frr_at_far'")
        assert row[["at", "point"]].values.tolist() == [["far_target", far]]
        whole = be.to_frame(rates).query("measure == 'frr_at_far' and point == @far")
        assert row["value"].tolist() == whole["value"].tolist()


def test_costs_are_labels(capsys):
    days = [
        be.verification(square(random_state=x), costs=[(0.1, 1, 1), (0.5, 2, 1)]) for x in (1, 2)
    ]
    for name in ("cost_prior", "cost_miss", "cost_false_accept"):
        assert name in days[0].coords
    joined = xr.concat(days, dim=xr.Variable("day", ["mon", "tue"]), join="outer")
    assert joined["cost_prior"].values.tolist() == [0.1, 0.5]
    frame = be.to_frame(joined).query("measure == 'min_dcf'")
    assert frame["day"].tolist() == ["mon", "mon", "tue", "tue"]
    assert frame["point"].tolist() == [0.1, 0.5, 0.1, 0.5]
    expected = np.concatenate([x["min_dcf"].values for x in days])
    assert frame["value"].tolist() == expected.tolist()
    text = printed(joined, capsys)
    assert "minDCF at prior 0.1" in text
    assert "may be those of the first result along day" in text
    selected = be.to_frame(days[0].isel(cost=1)).query("measure == 'min_dcf'")
    assert selected["point"].tolist() == [0.5]
    assert "day" not in be.to_frame(joined.mean("day", keep_attrs=True))


def test_a_few_variables_are_shown_as_they_are(capsys):
    ds = be.verification(square())
    assert "genuine attempts" in printed(ds[["genuine_attempts"]], capsys)
    curves = printed(ds[["far", "frr"]], capsys)
    assert "no single numbers; be.to_frame(..., curves=True) has the points of curves" in curves
    assert be.to_frame(ds[["far", "frr"]]).empty
