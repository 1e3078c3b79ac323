"""The frame of each result has every number of it once, under its name, at its place."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from every_result import CALLS, datasets_of, result_of, square, streets

import bioeval as be
from bioeval.results.variables import UNITS

pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")

RECORDS = ("ranks", "conventions", "worst pairs")
tidy = pytest.mark.parametrize("name", [x for x in CALLS if x not in RECORDS])

#: What is no part of the key of a row.
VALUES = (
    *("value", "low", "high", "threshold", "attempts", "supported", "flagged", "unit", "text"),
)
ALWAYS = (
    *("task", "measure", "statistic", "at", "point", "value", "low", "high", "threshold"),
    *("attempts", "supported", "unit"),
)


def frame_of(name: str, curves: bool = False) -> pd.DataFrame:
    return be.to_frame(result_of(name), curves=curves)


@tidy
def test_no_two_rows_have_the_same_key(name):
    frame = frame_of(name, curves=True)
    assert {*ALWAYS} <= {*frame}
    assert not frame.duplicated([x for x in frame if x not in VALUES]).any()
    assert (frame["unit"].isin(UNITS) | frame["value"].isna()).all()
    assert len(frame_of(name)) < len(frame) or len(frame) < 5000


@tidy
def test_every_number_of_a_result_is_in_its_frame(name):
    """Under the name of its variable, or beside it as limit, threshold or place."""
    frame = frame_of(name, curves=True)
    columns = ["point", "value", "low", "high", "threshold", "attempts"]
    columns += [x for x in frame if str(frame[x].dtype) == "Int64"]
    everything = np.unique(
        np.concatenate([frame[x].to_numpy(float, na_value=np.nan) for x in columns])
    )
    for dataset in datasets_of(name).values():
        for key, variable in dataset.data_vars.items():
            if variable.dtype.kind not in "biuf" or str(key).endswith(("_flagged", "_supported")):
                continue
            values = np.asarray(variable.values, dtype=float)
            if variable.dims[:2] == ("system", "other_system"):  # none with itself
                values = values[~np.eye(len(values), dtype=bool)]
            values = values[~np.isnan(values)]
            about = variable.attrs
            measure, statistic = about.get("measure", key), about.get("statistic")
            rows = frame["measure"] == measure
            if statistic is not None:
                rows &= frame["statistic"] == statistic
            of_key = frame.loc[rows, "value"].to_numpy()
            assert np.isin(values, of_key if len(of_key) else everything).all(), key


def test_each_value_is_at_its_place():
    """A row found by its dimensions is the value that xarray finds by them."""
    ds = result_of("open set")
    frame = be.to_frame(ds, curves=True)
    for row in frame[frame["measure"] == "dir_at_far"].to_dict("records"):
        place = {"far_target": row["point"], "rank": row["rank"]}
        values = ds.sel(place)
        partners = ("value", "dir_at_far"), ("low", "dir_at_far_low")
        for column, variable in (*partners, ("threshold", "threshold_at_far")):
            np.testing.assert_equal(row[column], float(values[variable]))
        assert row["attempts"] == ds["genuine_attempts"] and row["unit"] == "proportion"
    curve = frame.query("measure == 'far'")
    assert (curve["at"] == "threshold").all() and (curve["point"] == curve["threshold"]).all()
    np.testing.assert_array_equal(curve["value"], ds["far"])
    np.testing.assert_array_equal(curve["value"] * curve["attempts"], ds["fa"])


def test_values_over_folds_and_their_means():
    """Each fold has a row; be.aggregate has a row for each statistic."""
    ds = result_of("folds")
    frame = be.to_frame(ds)
    far = frame[(frame["measure"] == "far") & (frame["part"] == "test")]
    np.testing.assert_array_equal(far["value"], ds["far"].sel(part="test").values.ravel())
    np.testing.assert_array_equal(far["threshold"], ds["threshold"].values.ravel())
    assert frame["statistic"].isna().all() and str(frame["fold"].dtype) == "Int64"
    means = be.aggregate(ds, ("repeat", "fold"), interval="nadeau-bengio")
    summary = be.to_frame(means).query("measure == 'far' and part == 'test'").set_index("statistic")
    assert summary.loc["mean", "value"] == pytest.approx(far["value"].mean())
    assert summary.loc["sd", "value"] == pytest.approx(far["value"].std())
    assert summary.loc["mean", "low"] == float(means["far_low"].sel(part="test"))
    assert summary["low"].drop("mean").isna().all() and summary["attempts"].isna().all()
    assert summary["unit"].drop("number").eq("proportion").all()
    assert summary.loc["number", ["value", "unit"]].tolist() == [len(far), "partitions"]


def test_rates_at_few_thresholds_need_no_curves():
    ds = be.verification(square(), thresholds=[4.0, 5.0])
    frame = be.to_frame(ds).query("measure == 'far'")
    assert frame["point"].tolist() == frame["threshold"].tolist() == [4.0, 5.0]
    assert frame["value"].tolist() == ds["far"].values.tolist()
    assert "far" not in be.to_frame(be.verification(square()))["measure"].tolist()


def test_labels_are_texts_though_they_are_numbers():
    ds = be.reid(streets(), "market1501", per_query=True)
    frame = be.to_frame(ds, curves=True).query("measure == 'identity'")
    assert frame["value"].isna().all()
    assert frame["text"].tolist() == list(map(str, ds["identity"].values.tolist()))


def test_several_systems_and_conditions_are_columns():
    first, second = square(), square(within=1.1)
    results = {"a": be.verification(first), "b": be.verification(second)}
    frame = be.to_frame(results)
    assert list(frame)[:2] == ["system", "task"]
    for system, result in results.items():
        rows = frame[frame["system"] == system].drop(columns="system").reset_index(drop=True)
        pd.testing.assert_frame_equal(rows, be.to_frame(result))
    nested = be.to_frame({"a": {"day": results["a"], "night": results["b"]}, "b": results})
    assert nested.groupby(["system", "condition"]).ngroups == 4
    eer = nested.query("system == 'a' and condition == 'night' and measure == 'eer'")["value"]
    assert eer.item() == results["b"]["eer"]
    with pytest.raises(be.DataError, match="of a, day are a dict"):
        be.to_frame({"a": {"day": {"deep": results["a"]}}})


def test_a_tree_of_systems_has_the_rows_of_each():
    systems = {"a": square(), "b": square(within=1.1)}
    frame = be.to_frame(be.evaluate(systems))
    for system, scores in systems.items():
        rows_of_system = (
            frame[frame["system"] == system].drop(columns="system").reset_index(drop=True)
        )
        pd.testing.assert_frame_equal(rows_of_system, be.to_frame(be.evaluate(scores)))
    assert [*dict.fromkeys(frame["task"])][:2] == ["verification/single", "verification/multi"]


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.cases(9)
def test_values_and_what_is_missing_survive_csv(name, tmp_path):
    """There is one sign for nothing, and a file that is read as it is has the same frame."""
    frame = frame_of(name)
    for column, values in frame.items():
        assert not (values.dropna().astype(str) == "").any(), column
    frame.to_csv(tmp_path / "x.csv", index=False)
    read = pd.read_csv(tmp_path / "x.csv")
    assert [*read] == [*frame]
    for column, values in frame.items():
        assert read[column].isna().tolist() == values.isna().tolist(), column
        there, expected = read[column].dropna().tolist(), values.dropna().tolist()
        if values.dtype.kind in "iuf":  # which older parsers round
            np.testing.assert_allclose(there, np.array(expected, float), rtol=1e-12)
        else:
            assert [*map(str, there)] == [*map(str, expected)], column


@pytest.mark.parametrize("name", ["evaluation", "groups", "compare", "folds", "zoo"])
def test_types_survive_parquet(name, tmp_path):
    frame = frame_of(name)
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "x.parquet")
    texts = {x: "" for x in frame if frame[x].dtype == object or frame[x].dtype == "str"}
    read = pd.read_parquet(tmp_path / "x.parquet")
    pd.testing.assert_frame_equal(read.fillna(texts), frame.fillna(texts))


@tidy
def test_attributes_are_json_with_the_messages(name):
    attrs = json.loads(json.dumps(frame_of(name).attrs))
    assert {x["code"] for x in attrs["messages"]} == {
        message.code for message in be.messages(result_of(name))
    } or isinstance(result_of(name), xr.DataTree)
    assert all(name in attrs["results"] for x in attrs["messages"] for name in x["tasks"])


def test_records_have_a_row_each():
    pairs = result_of("worst pairs")
    frame = frame_of("worst pairs")
    assert (
        len(frame) == pairs.sizes["pair"]
        and frame["score"].tolist() == pairs["score"].values.tolist()
    )
    ranks = be.to_frame({"a": result_of("ranks"), "b": result_of("ranks")})
    assert ranks["system"].value_counts().to_dict() == dict.fromkeys("ab", len(ranks) // 2)
    cards = result_of("conventions")
    of_cards = frame_of("conventions").set_index("card")
    assert of_cards.loc["market1501", "cmc=5"] == cards["cmc"].sel(card="market1501", rank=5)
    check = be.check_data(square())
    assert be.to_frame(check)["check"].tolist() == [x.check for x in check]
    with pytest.raises(be.DataError, match="are records"):
        be.to_frame({"a": pairs, "b": result_of("verification")})


def test_an_explained_row_has_its_counts():
    scores = be.Scores([[0.1, 0.7], [0.9, 0.3]], ["ann", "bob"], ["ann", "bob"])
    counts = be.to_frame(be.explain(scores, 1, threshold=0.5)).set_index(["task", "measure"])
    assert counts.loc["verification/single", "value"].to_dict() == {
        "ga": 1,
        "fr": 0,
        "fa": 0,
        "gr": 1,
    }
    assert counts.loc[("open_set", "di"), ["probe", "rank", "value"]].tolist() == [1, 1, 1]
