"""The scalars of a summary are those of the datasets, to the last bit."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import bioeval as be
from bioeval import protocol

CARDS = [name for name in protocol.available() if not protocol.load(name).has_folds]


def layouts(kind: str = "distance") -> dict[str, be.Scores]:
    """Scores of each layout, with cameras and with probes that are not enrolled."""
    random = np.random.default_rng(5)
    subjects, cameras = np.repeat(np.arange(12), 4), np.tile([1, 1, 2, 3], 12)
    clothes = np.tile(["black", "red"], 24)
    points = random.normal(size=(48, 4)) + random.normal(size=(12, 4))[subjects]
    values = np.round(cdist(points, points), 1) * (-1 if kind == "similarity" else 1)  # with ties
    probes, gallery = np.arange(0, 48, 2), np.arange(1, 44)
    sides = {
        f"{side}_meta": {
            "camera": cameras[rows],
            "vehicle": subjects[rows],
            "clothes": clothes[rows],
        }
        for side, rows in (("probe", probes), ("gallery", gallery))
    }
    part = values[np.ix_(probes, gallery)]
    return {
        "all-against-all": be.Scores(values, subjects, kind=kind),
        "probe-against-gallery": be.Scores(
            part, subjects[probes], subjects[gallery], kind=kind, **sides
        ),
        "pairs": be.Scores.from_pairs(values[0], subjects == 0, kind=kind),
    }


def expected(ds, ranks: list[int]) -> dict:
    """The scalars of a dataset, picked name by name."""
    result = {}
    for name, values in ds.data_vars.items():
        if "threshold" in values.dims:
            continue
        if name.endswith("_next"):  # of thresholds
            continue
        if values.dims == ("rank",):
            ranks_there = [r for r in ranks or (1, 5, 10) if r in ds["rank"]]
            result[name] = {r: float(values.sel(rank=r)) for r in ranks_there}
        elif "far_target" in values.dims:
            first = values.isel(rank=0) if "rank" in values.dims else values
            result[name] = {float(t): float(first.sel(far_target=t)) for t in ds.far_target}
        elif values.dims == ("frr_target",):
            result[name] = {float(t): float(values.sel(frr_target=t)) for t in ds.frr_target}
        elif values.dims == ("recall_level",):
            result[name] = {float(r): float(values.sel(recall_level=r)) for r in ds.recall_level}
        elif values.dims == ("cost",):
            result[name] = {float(p): float(values[i]) for i, p in enumerate(ds.cost_prior)}
        else:
            assert not values.dims, name
            result[name] = float(values)
    return result


def check(result: dict, tree, ranks: list[int]) -> None:
    assert set(result) == {node.path.strip("/") for node in tree.leaves}
    for node, scalars in result.items():
        expected_scalars = expected(tree[node], ranks)
        assert list(scalars) == list(expected_scalars)
        for name, value in scalars.items():
            pairs = [(value, expected_scalars[name])]
            if isinstance(value, dict):
                assert list(value) == list(expected_scalars[name]), name
                pairs = list(zip(value.values(), expected_scalars[name].values(), strict=True))
            for value_found, value_expected in pairs:
                assert type(value_found) in (int, float), name
                assert value_found == value_expected or (
                    math.isnan(value_found) and math.isnan(value_expected)
                ), (node, name)


@pytest.mark.parametrize("name", CARDS)
def test_the_summary_of_a_card_has_the_scalars_of_its_datasets(name):
    card = protocol.load(name)
    scores = layouts()[card.layout]
    check(be.summary(scores, card), be.evaluate(scores, card), list(card.report.ranks))


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("layout", ["all-against-all", "probe-against-gallery", "pairs"])
def test_the_summary_of_a_layout_has_the_scalars_of_its_datasets(layout, kind):
    scores = layouts(kind)[layout]
    check(be.summary(scores), be.evaluate(scores), [])
    options = {"far_targets": [0.2, 0.0], "frr_targets": [0.2, 0.0, 1.0], "auc": False}
    check(be.summary(scores, **options), be.evaluate(scores, **options), [])


def test_of_lists_it_has_the_scalars_of_re_identification():
    lists = be.Scores.from_top_k([[2, 0], [1, 2]], ["ann", "bob"], ["ann", "bob", "ann"])
    check(be.summary(lists, "vehicleid"), be.evaluate(lists, "vehicleid"), [1, 5])


def test_several_systems_have_a_summary_each():
    systems = {"a": layouts()["pairs"], "b": layouts("similarity")["pairs"]}
    assert be.summary(systems) == {name: be.summary(scores) for name, scores in systems.items()}
    with pytest.raises(be.DataError, match="no systems"):
        be.summary({})


def test_of_a_card_with_folds_it_refers_to_evaluate():
    with pytest.raises(be.ProtocolError, match=r"has folds.*be\.evaluate"):
        be.summary(layouts()["all-against-all"], "course-kfold")
