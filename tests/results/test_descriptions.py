"""Each variable of each result says what it is, what it is out of, and how it is shown."""

import string

import numpy as np
import pytest
from every_result import CALLS, datasets_of

from bioeval.results.variables import PLACES, TARGETS, UNITS
from bioeval.showing.numbers import Lines
from bioeval.showing.text import is_term, say

pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")

each = pytest.mark.parametrize("name", CALLS)

#: Labels, whatever their type.
WITHOUT_UNIT = ("probe_label", "gallery_label", "train_", "test_")

#: Of functions of both rates, means and areas, which are over no single count.
NO_COUNT = (
    *("eer", "eer_bracket", "eer_hull", "eer_low", "eer_high", "hter"),
    *("mean_ap", "mean_inp", "mrr", "r_precision", "ndcg", "precision", "recall", "f1", "mrp"),
    *("mvp", "mrep", "mfr", "max_", "interpolated", "assured"),
)

#: Numbers of a plan, of people or of a promise, of which none is better.
NO_MEASURE = (
    *("subject_sd", "frr_price", "assured", "people_far", "promised", "share"),
    *("design_effect", "reference_ece", "cost_"),
)


def ends(name: str) -> bool:
    endings = "_low", "_high", "_lower", "_median", "_upper", "_mean", "_summary"
    return name.endswith((*endings, "_difference", "_without", "_overall"))


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
def test_each_variable_says_how_it_is_shown(name):
    places = dict.fromkeys(PLACES, 1)
    for dataset in datasets_of(name).values():
        assert len({str(x).lower() for x in dataset.variables}) == len(dataset.variables)
        assert {*map(type, dataset.attrs.values())} <= {str, int, float}
        for key, variable in dataset.variables.items():
            about = variable.attrs
            assert about.get("long_name"), key
            assert {*map(type, about.values())} <= {str, int, float}, key
            label = about.get("label", "")
            assert about.get("detail", "") in (("", "verbose", "data") if label else ("data",)), key
            fields = {x for _, x, _, _ in string.Formatter().parse(label) if x}
            assert all(x in PLACES or is_term(x) for x in fields), label
            text = Lines("identification").write(say(label, **places))
            assert "{" not in text and bool(text) == bool(label), key


@each
def test_each_measure_says_which_value_is_better(name):
    for dataset in datasets_of(name).values():
        for key, variable in dataset.data_vars.items():
            about = variable.attrs
            direction = about.get("direction", "")
            assert direction in ("", "smaller", "larger"), key
            is_measure = about.get("label") and about.get("units") in ("proportion", "cost", "bits")
            if is_measure and "measure" not in about and not str(key).startswith(NO_MEASURE):
                assert direction, key


@each
def test_what_an_attribute_names_is_there(name):
    for path, dataset in datasets_of(name).items():
        for key, variable in dataset.data_vars.items():
            names = [*str(variable.attrs.get("out_of", "")).split()]
            names += filter(None, [variable.attrs.get("threshold")])
            assert {*names} <= {*dataset.variables}, (path, key)


@each
def test_what_is_at_a_target_has_its_support_beside_it(name):
    for path, dataset in datasets_of(name).items():
        for key, variable in dataset.data_vars.items():
            about = variable.attrs
            dims = {*TARGETS} & {*variable.dims}
            if not dims or about.get("units") != "proportion" or ends(str(key)):
                continue
            support = dataset[f"{about.get('measure', key)}_supported"]
            assert {*support.dims} <= {*variable.dims} and dims <= {*support.dims}, (path, key)
            assert np.isin(support, [0, 1]).sum() == support.notnull().sum(), (path, key)


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
            if not out_of or ends(str(key)):
                continue
            if str(key).startswith(NO_COUNT) and name != "tracking":
                continue
            counts = (rate * sum(dataset[x] for x in out_of)).values
            counts = counts[np.isfinite(counts)]
            assert counts == pytest.approx(np.round(counts), abs=1e-6), (path, key)


@each
def test_a_rate_of_two_counts_has_a_denominator(name):
    """A proportion is over attempts of its class wherever attempts are counted."""
    if name in ("gallery size", "conventions"):  # means over galleries; cards have no counts
        return
    for path, dataset in datasets_of(name).items():
        if not any("attempts" in str(x) or x == "queries" for x in dataset):
            continue
        for key, rate in dataset.data_vars.items():
            if rate.attrs.get("units") != "proportion" or "measure" in rate.attrs:
                continue
            if ends(str(key)) or key == "frr_price":  # a difference of two rates
                continue
            if str(key).startswith(("far", "frr", "gar", "grr", "dir", "cms", "cmc")):
                assert rate.attrs.get("out_of"), (path, key)


@each
def test_the_threshold_of_a_rate_is_a_score(name):
    for dataset in datasets_of(name).values():
        for key, rate in dataset.data_vars.items():
            if threshold := rate.attrs.get("threshold", ""):
                assert dataset[threshold].attrs["units"] in ("score", "1"), key
                assert {*dataset[threshold].dims} <= {*rate.dims}, key
