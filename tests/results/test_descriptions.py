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


def variables(name: str):
    for dataset in datasets_of(name).values():
        for key, variable in dataset.variables.items():
            yield dataset, str(key), variable, variable.attrs


@each
def test_each_variable_says_what_it_is_and_how_it_is_shown(name):
    places = dict.fromkeys(PLACES, 1)
    for dataset, key, variable, about in variables(name):
        assert about.get("long_name"), key
        assert {*map(type, about.values())} <= {str, int, float}, key
        label = about.get("label", "")
        assert about.get("detail", "") in (("", "verbose", "data") if label else ("data",)), key
        fields = {x for _, x, _, _ in string.Formatter().parse(label) if x}
        assert all(x in PLACES or is_term(x) for x in fields), label
        text = Lines("identification").write(say(label, **places))
        assert "{" not in text and bool(text) == bool(label), key
        # A number has a unit, and a text has none.
        units = about.get("units", "")
        if variable.dtype.kind not in "biuf":
            assert units == "" or key in dataset.coords, key
        elif key not in dataset.coords or variable.dtype.kind == "f":
            assert units in UNITS or key.startswith(WITHOUT_UNIT), key
        if key in dataset.coords:
            continue
        # A measure says which of its values are better.
        direction = about.get("direction", "")
        assert direction in ("", "smaller", "larger"), key
        is_measure = label and units in ("proportion", "cost", "bits") and "measure" not in about
        assert direction or not is_measure or key.startswith(NO_MEASURE), key
        # What its attributes name is there; its threshold is a score.
        threshold = about.get("threshold", "")
        assert {*about.get("out_of", "").split(), *threshold.split()} <= {*dataset.variables}, key
        if threshold:
            assert dataset[threshold].attrs["units"] in ("score", "1"), key
            assert {*dataset[threshold].dims} <= {*variable.dims}, key
    for dataset in datasets_of(name).values():
        assert len({str(x).lower() for x in dataset.variables}) == len(dataset.variables)
        assert not [x for x in dataset.data_vars if hasattr(type(dataset), str(x))], "methods"
        assert {*map(type, dataset.attrs.values())} <= {str, int, float}


@each
def test_what_is_at_a_target_has_its_support_beside_it(name):
    for dataset, key, variable, about in variables(name):
        dims = {*TARGETS} & {*variable.dims}
        if not dims or about.get("units") != "proportion" or ends(key) or key in dataset.coords:
            continue
        support = dataset[f"{about.get('measure', key)}_supported"]
        assert {*support.dims} <= {*variable.dims} and dims <= {*support.dims}, key
        assert np.isin(support, [0, 1]).sum() == support.notnull().sum(), key


@each
def test_a_rate_times_its_denominator_is_a_whole_number(name):
    """Of ties that count as expected, and of means over galleries, it need not be."""
    if name in ("closed set, single", "cuhk03", "open-reid", "gallery size", "conventions"):
        return
    for dataset, key, _, about in variables(name):
        out_of = about.get("out_of", "").split()
        if not out_of or ends(key) or dataset.attrs.get("ties") == "expected":
            continue
        if key.startswith(NO_COUNT) and name != "tracking":
            continue
        counts = (dataset[key] * sum(dataset[x] for x in out_of)).values
        counts = counts[np.isfinite(counts)]
        assert counts == pytest.approx(np.round(counts), abs=1e-6), key


@each
def test_a_rate_of_two_counts_has_a_denominator(name):
    """A proportion is over attempts of its class wherever attempts are counted."""
    if name in ("gallery size", "conventions"):  # means over galleries; cards have no counts
        return
    rates = "far", "frr", "gar", "grr", "dir", "cms", "cmc"
    for dataset, key, _, about in variables(name):
        are_counted = any("attempts" in str(x) or x == "queries" for x in dataset)
        is_rate = about.get("units") == "proportion" and "measure" not in about
        if not (are_counted and is_rate and key.startswith(rates)) or key in dataset.coords:
            continue
        if not ends(key) and key != "frr_price":  # a difference of two rates
            assert about.get("out_of"), key
