"""Each variable of each result says its unit; a proportion its denominator and its threshold."""

import numpy as np
import pytest
from every_result import CALLS, datasets_of

from bioeval.results.variables import UNITS

pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")

each = pytest.mark.parametrize("name", CALLS)

#: Labels, whatever their type.
WITHOUT_UNIT = ("probe_label", "gallery_label", "train_", "test_")

#: Of functions of both rates, means and areas, which are over no single count.
NO_COUNT = (
    *("eer", "eer_bracket", "eer_hull", "eer_low", "eer_high", "hter", "attack_eer", "sasv_eer"),
    *("mean_ap", "mean_inp", "mrr", "r_precision", "ndcg", "precision", "recall", "f1", "mrp"),
    *("mvp", "mrep", "mfr", "max_", "interpolated"),
)


def ends(name: str) -> bool:
    of = "_low", "_high", "_lower", "_median", "_upper", "_mean", "_summary"
    return name.endswith((*of, "_difference", "_without", "_overall"))


@each
def test_each_number_has_a_unit_and_texts_have_none(name):
    lacking = {}
    for path, dataset in datasets_of(name).items():
        for key, variable in dataset.data_vars.items():
            units = variable.attrs.get("units", "")
            if variable.dtype.kind not in "biuf":
                assert units == "", key
            elif units not in UNITS and not str(key).startswith(WITHOUT_UNIT):
                lacking[f"{path} {key}"] = units
        for dim in dataset.coords:
            assert dataset[dim].dtype.kind != "f" or dataset[dim].attrs["units"] in UNITS, dim
    assert lacking == {}


@each
def test_a_rate_times_its_denominator_is_a_whole_number(name):
    """Of ties that count as expected, and of means over galleries, it need not be."""
    if name in ("closed set, single", "cuhk03", "open-reid", "gallery size", "conventions"):
        return
    for path, dataset in datasets_of(name).items():
        if dataset.attrs.get("ties") == "expected":
            continue
        for key, rate in dataset.data_vars.items():
            out_of = rate.attrs.get("out_of", "").split()
            if not {*out_of} <= {*dataset.data_vars} or not out_of or ends(str(key)):
                continue
            if str(key).startswith(NO_COUNT):
                continue
            counts = (rate * sum(dataset[x] for x in out_of)).values
            counts = counts[np.isfinite(counts)]
            assert counts == pytest.approx(np.round(counts), abs=1e-6), (path, key)


@each
def test_a_rate_of_two_counts_has_a_denominator(name):
    """A proportion is over attempts of its class wherever these are counted."""
    for path, dataset in datasets_of(name).items():
        if not any("attempts" in str(x) or x == "queries" for x in dataset):
            continue
        for key, rate in dataset.data_vars.items():
            if rate.attrs.get("units") != "proportion" or ends(str(key)):
                continue
            if str(key).startswith(("far", "frr", "gar", "grr", "dir", "cms", "cmc", "bpcer")):
                assert rate.attrs.get("out_of") or path, key


@each
def test_the_threshold_of_a_rate_is_a_score(name):
    for dataset in datasets_of(name).values():
        for key, rate in dataset.data_vars.items():
            threshold = rate.attrs.get("threshold", "")
            if threshold in dataset.variables:
                assert dataset[threshold].attrs["units"] in ("score", "1"), key
                assert {*dataset[threshold].dims} <= {*rate.dims}, key
