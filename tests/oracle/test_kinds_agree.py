"""What does not change the results of any public call that takes scores.

The same scores in float32 and in float64, on one thread and on two, and the same templates in
another order have the same numbers, words and plots. Negated similarities, as distances, have them
but for the sign and the order of scores.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import xarray as xr
from study_calls import CALLS as STUDIES, TURNED

import bioeval as be

ORDER = np.random.default_rng(4).permutation(48)


def scores_of(kind: str, dtype: str = "float64", order: Any = None) -> be.Scores:
    """Twelve people with four templates in two groups, seen by two cameras.

    The values are exact in float32 and float64. Distances are negated similarities.
    """
    simulated = be.simulate(12, 4, random_state=3)
    values = np.round(64 * (5 - simulated.values)) / 64
    order = np.arange(48) if order is None else order
    meta = {
        "group": np.repeat(["a", "b"], 24), "camera": np.tile([1, 2], 24),
    }  # fmt: skip
    return be.Scores(
        (0 - values if kind == "distance" else values)[np.ix_(order, order)].astype(dtype),
        simulated.probe_labels[order],
        kind=kind,
        probe_meta={name: column[order] for name, column in meta.items()},
    )


CALLS: dict[str, Callable[[be.Scores], Any]] = {
    "verification": functools.partial(be.verification, interval="people"),
    "open_set": functools.partial(be.open_set, interval="people"),
    "closed_set": functools.partial(be.closed_set, interval="people"),
    "ranks": be.ranks,
    "evaluate": lambda s: be.evaluate(
        s, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    ),
    **STUDIES,
}

#: Public calls that take no scores, two systems or files, or have another meaning by kind.
OTHERS = {
    *("aggregate", "check_data", "claim_scores", "compare", "datasets", "eer_scorer", "fuse"),
    *("gom_from_curves", "judge_threshold", "load", "make_scorer", "messages", "parse_names"),
    *("partition", "plot", "report", "save", "scalar", "set_options", "show", "simulate"),
    *("simulate_embeddings", "stats", "to_frame", "to_latex", "to_markdown", "tracking"),
    *("with_failures",),
}


def test_every_public_call_is_here_or_named_as_another():
    names = {name for name in be.__all__ if name[0].islower()}
    differ = names ^ {*CALLS, *OTHERS}
    assert not differ, (
        f"{differ}: CONTRIBUTING.md, 'A new study', The tests: a call of a study has a line in "
        "CALLS of tests/study_calls.py, one of the core in CALLS or OTHERS here."
    )


def datasets(found: Any) -> dict[str, xr.Dataset]:
    """Results as datasets by their path in a tree."""
    if isinstance(found, xr.DataTree):
        return {node.path: node.to_dataset() for node in found.leaves}
    return {"": found} if isinstance(found, xr.Dataset) else {}


def compared(found: Any) -> dict[str, Any]:
    """Results as plain values; of a tree, its nodes."""
    trees = datasets(found)
    if not trees:
        return found
    return {f"{path}/{name}": ds[name] for path, ds in trees.items() for name in ds.variables}


def words(found: Any, capsys: pytest.CaptureFixture) -> str:
    """Return the table of results."""
    if datasets(found):
        be.show(found)
    return " ".join(capsys.readouterr().out.split())


@functools.cache
def wanted(call: str) -> Any:
    """The results of similarities."""
    return CALLS[call](scores_of("similarity"))


def assert_same(found: Any, expected: Any, dtype: str = "float64") -> None:
    """Compare results of scores of a type with the results of float64.

    Where the score next to a threshold is not known, it is the next number of the type.
    """
    found, expected = compared(found), compared(expected)
    assert found.keys() == expected.keys() and found
    for name, values in expected.items():
        if dtype == "float32" and name.endswith("_next"):
            threshold = np.asarray(expected[name.removesuffix("_next")])
            after = np.nextafter(threshold.astype(np.float32), np.float32(-np.inf))
            values = np.where(values == np.nextafter(threshold, -np.inf), after, values)
        np.testing.assert_array_equal(found[name], values, err_msg=name)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.slow
def test_float32_is_float64(call, capsys):
    """Where the values are exact."""
    expected, result = wanted(call), CALLS[call](scores_of("similarity", "float32"))
    if call == "explain":
        assert result == expected
        return
    assert_same(result, expected, "float32")
    assert words(result, capsys) == words(expected, capsys)


#: What depends on the order of templates, by call: the halves of a person's templates; the place of
#: each template, and which of several equal pairs is the worst.
BY_ORDER = {
    "zoo": ("correlation", "p"),
    "worst_pairs": ("row", "column", "probe_label", "gallery_label", "image_a", "image_b"),
}

#: The same calls where equal scores have no order of their own. Cards rank equal scores by their
#: columns, or take the first template of each person.
UNTIED = {
    "reid": lambda s: be.reid(s, ties="pessimistic"),
    "gom": lambda s: be.gom(s, budget=10, ties="pessimistic"),
    "conventions": lambda s: be.conventions(s, cards=["course-all-vs-all"]),
}


@pytest.mark.parametrize("call", [call for call in CALLS if call != "explain"])
def test_templates_in_another_order_have_the_same_results(call):
    """A value for each template moves with the template; sums may differ in the last digit."""
    call_of_ties = UNTIED.get(call, CALLS[call])
    expected = compared(call_of_ties(scores_of("similarity")))
    result = compared(call_of_ties(scores_of("similarity", order=ORDER)))
    for name, values in expected.items():
        last = name.rpartition("/")[2]
        if last in BY_ORDER.get(call, ()) or "_meta_" in last:
            continue
        places = getattr(values, "dims", ())[:1]
        if places in (("probe",), ("query",)) and last not in places:
            values = values[ORDER]
        if np.asarray(values).dtype.kind == "f":
            np.testing.assert_allclose(result[name], values, rtol=1e-12, atol=1e-14, err_msg=name)
        else:
            np.testing.assert_array_equal(result[name], values, err_msg=name)


def turned(ds: xr.Dataset) -> dict[str, np.ndarray]:
    """Scores negated, thresholds in increasing order, and ends of intervals of scores exchanged."""
    variables = {}
    for name, values in ds.variables.items():
        is_score = values.attrs.get("units") == "score"
        plain = 0.0 - values.values if is_score else values.values
        for axis, dim in enumerate(values.dims):
            if dim in ds.coords and ds[dim].attrs.get("units") == "score":
                plain = np.flip(plain, axis)
        if is_score:
            swapped = {"low": "high", "high": "low"}
            stem, _, end = str(name).rpartition("_")
            name = f"{stem}_{swapped[end]}" if end in swapped else name
        variables[str(name)] = plain
    return variables


@pytest.mark.parametrize("call", [call for call in CALLS if call not in ("explain", "summary")])
def test_distances_are_negated_similarities(call):
    result = datasets(TURNED.get(call, CALLS[call])(scores_of("distance")))
    expected = datasets(wanted(call))
    assert result.keys() == expected.keys()
    for path, ds in expected.items():
        # Thresholds of GOM are of distances that are scaled to 0 to 1, whatever the kind.
        values = {str(k): x for k, x in result[path].variables.items()}
        values = values if call == "gom" else turned(result[path])
        assert values.keys() == {str(x) for x in ds.variables}
        for name in ds.variables:
            np.testing.assert_array_equal(values[str(name)], ds[name], err_msg=f"{path} {name}")
