"""Results: what their variables and attributes are, and that files keep them as they are."""

import functools
import math
import re
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from optional import optional_import
from reference import one_thread  # noqa: F401
from result_messages import arguments, codes

import bioeval as be
from bioeval import protocol
from bioeval.results import variables
from bioeval.results.dataset import Scalars, Stack, dataset
from bioeval.results.histogram import edges_of
from bioeval.results.variables import Variable

SESSIONS = {"session": ["1", "2"] * 10}


def scores(**options) -> be.Scores:
    simulated = be.simulate(5, 4, random_state=3)
    return be.Scores(
        simulated.values, [f"søren {x}" for x in simulated.probe_labels], name="système", **options
    )


def similar() -> be.Scores:
    values = -scores().values[:7]
    gallery = list("abc") * 6 + ["d", "d"]
    return be.Scores(values, list("aabbxyz"), gallery, kind="similarity", nan="exclude")


def infinite() -> be.Scores:
    values = scores().values.astype(np.float32)
    values[0, 3], values[2, 7] = np.inf, -np.inf
    return be.Scores(values, scores().probe_labels)


def queries() -> be.Scores:
    """Six queries, four of enrolled people, seen by cameras."""
    return be.Scores(
        np.random.default_rng(0).random((6, 9)), list("aabbxy"), list("aaabbbccc"),
        probe_meta={"camera": [1, 2] * 3}, gallery_meta={"camera": [1, 2, 3] * 3},
    )  # fmt: skip


def unenrolled() -> be.Scores:
    return be.Scores(np.ones((2, 3)), ["x", "y"], ["a", "a", "b"])


DRAWN = be.stats.IntervalMethod("subject-bootstrap", replicates=100)
PAIRS = be.Scores.from_pairs([0.1, 0.2, 0.3], [1, 0, 1])
MASKED = be.Scores(np.ones((1, 3)), mask=[[2, 1, 0]])

OF_TASKS: dict[str, Callable[[], xr.Dataset]] = {
    "single": lambda: be.verification(scores(), interval=DRAWN),
    "multi": lambda: be.verification(scores(), templates="multi", fusion="mean", n_thresholds=5),
    "claims": lambda: be.verification(
        similar(), claims=["a"] * 6 + ["unenrolled"], unenrolled_claims="skip", thresholds=[0.0]
    ),
    "pairs": lambda: be.verification(PAIRS),
    "mask": lambda: be.verification(MASKED),
    "no costs": lambda: be.verification(scores(), costs=(), far_targets=[]),
    "infinite": lambda: be.verification(infinite()),
    "unenrolled": lambda: be.verification(unenrolled()),
    "open": lambda: be.open_set(scores(), interval=DRAWN),
    "open similar": lambda: be.open_set(
        similar(), rank_unit="subject", ties="expected", max_rank=2
    ),
    "open both": lambda: be.open_set(similar(), impostors="both", thresholds=[-1, 0]),
    "open unenrolled": lambda: be.open_set(unenrolled(), far_targets=[]),
    "closed": lambda: be.closed_set(scores(), interval="wilson"),
    "closed expected": lambda: be.closed_set(infinite(), ties="expected", rank_unit="subject"),
    "closed unenrolled": lambda: be.closed_set(unenrolled(), unmated="skip"),
    "ranks": lambda: be.ranks(infinite()),
    "re-identification": lambda: be.reid(queries(), per_query=True, rank_k=3, interval=DRAWN),
    "GOM": lambda: be.gom(queries(), per_query=True, interval=DRAWN),
}


@functools.cache
def result(name: str) -> xr.Dataset:
    return OF_TASKS[name]()


each = pytest.mark.parametrize("name", OF_TASKS)


def attribute_types(ds: xr.Dataset) -> dict[tuple[str, str], type]:
    """Python's own type of every attribute; a number read from a file may be numpy's."""
    types = {}
    for where, attrs in [("", ds.attrs), *((k, v.attrs) for k, v in ds.variables.items())]:
        for key, value in attrs.items():
            plain = value.item() if isinstance(value, np.generic) else value
            types[str(where), key] = type(plain)
    return types


@each
def test_a_result_says_where_it_comes_from(name):
    attrs = result(name).attrs
    for key in ("task", "layout", "kind", "nan_policy", "messages", "system"):
        assert isinstance(attrs[key], str), key
    assert (attrs["bioeval_version"], attrs["schema"]) == (be.__version__, 1)
    sizes = {"probes", "gallery_templates", "gallery_subjects", "probe_subjects"}
    if name in ("pairs", "mask"):  # whose people are not known
        sizes -= {"gallery_subjects", "probe_subjects"}
        assert not {"gallery_subjects", "probe_subjects", "enrolled_subjects"} & set(attrs)
    if name == "pairs":
        sizes -= {"gallery_templates"}
    assert all(isinstance(attrs[key], int) and attrs[key] > 0 for key in sizes)
    assert re.search(r"(labels|genuine):[0-9a-f]{16}", attrs["fingerprint"])


@each
def test_netcdf_keeps_a_result_as_it_is(name, tmp_path):
    """The constructor of xarray makes an equal result, although bioeval skips its checks."""
    ds = result(name)
    reconstructed = xr.Dataset(dict(ds.data_vars), dict(ds.coords), ds.attrs)
    xr.testing.assert_identical(ds, reconstructed)
    assert (ds.sizes, {*ds.indexes}) == (reconstructed.sizes, {*reconstructed.indexes})
    ds.to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as read:
        read.load()
    assert read.identical(ds)
    assert attribute_types(read) == attribute_types(ds)
    for key in ds.variables:
        assert read[key].dtype == ds[key].dtype, key


@pytest.mark.parametrize("changed", ["a name is missing", "a name is another call", "no argument"])
def test_results_are_equal_if_xarray_changes_names_that_are_not_public(monkeypatch, changed):
    square, parts = scores(), be.partition.SubjectShuffleSplit(3, random_state=0)
    calls = {
        "evaluate": lambda: be.evaluate(square, interval="people"),
        "aggregate": lambda: be.aggregate(be.repeat(square, parts), interval="quantile"),
    }
    usual = {name: call() for name, call in calls.items()}
    taken = []

    def checked_dataset(data_vars=None, coords=None, attrs=None):
        taken.append("dataset")
        return xr.Dataset(data_vars, coords, attrs)

    def checked_variable(dims, data, attrs=None):
        taken.append("variable")
        return xr.Variable(dims, data, attrs)

    if changed == "a name is another call":
        checked_dataset._construct_direct = lambda variables: pytest.fail("it was called")
    monkeypatch.setattr(
        "bioeval.results.dataset.xr",
        SimpleNamespace(
            Coordinates=xr.Coordinates,
            Dataset=checked_dataset,
            Variable=checked_variable if changed == "no argument" else xr.Variable,
        ),
    )
    for name, call in calls.items():
        taken.clear()
        tree = call()
        assert {*taken} >= {"variable" if changed == "no argument" else "dataset"}
        assert [x.path for x in tree.subtree] == [x.path for x in usual[name].subtree]
        for node in tree.subtree:
            ds, expected = node.to_dataset(), usual[name][node.path].to_dataset()
            xr.testing.assert_identical(ds, expected)
            assert [*ds.variables] == [*expected.variables]
            assert [x.dtype for x in ds.values()] == [x.dtype for x in expected.values()]
            assert ({*ds.indexes}, [*ds.attrs]) == ({*expected.indexes}, [*expected.attrs])


@pytest.mark.parametrize("form", ["netcdf", "zarr"])
@pytest.mark.slow
def test_a_tree_of_results_is_kept_as_it_is(form, tmp_path):
    two = {"first system": scores(), "second": scores(nan="reject")}
    for number, tree in enumerate((be.evaluate(scores()), be.evaluate(two, max_rank=3))):
        path = tmp_path / f"{number}.{form}"
        if form == "netcdf":
            tree.to_netcdf(path, engine="h5netcdf")
            with xr.open_datatree(path, engine="h5netcdf") as read:
                read.load()
        else:
            optional_import("zarr")
            tree.to_zarr(path, consolidated=False)
            with xr.open_datatree(path, engine="zarr", consolidated=False) as read:
                read.load()
        assert read.identical(tree)
        for node in tree.subtree:
            read_dataset = read[node.path].to_dataset()
            assert attribute_types(read_dataset) == attribute_types(node.to_dataset())


@pytest.mark.parametrize("draw", [be.plot.folds, be.plot.det])
def test_results_of_a_newer_version_are_refused(draw):
    folds = be.cross_evaluate(scores(), be.partition.SubjectKFold(2))
    ds = folds if draw is be.plot.folds else result("single")
    assert ds.attrs["schema"] == 1
    for call in (be.show, draw):
        with pytest.raises(be.DataError, match="are of schema 2; this version .* reads schema 1"):
            call(ds.assign_attrs(schema=2))


# ------------------------------------------------------------------------------- trees


def test_a_tree_holds_what_each_task_gives_alone():
    square = scores()
    tree = be.evaluate(square)
    assert sorted(node.path for node in tree.leaves) == [
        "/closed_set", "/open_set", "/verification/multi", "/verification/single",
    ]  # fmt: skip
    results_of_tasks = {
        "verification/single": be.verification(square),
        "verification/multi": be.verification(square, templates="multi"),
        "open_set": be.open_set(square),
        "closed_set": be.closed_set(square),
    }
    for path, expected in results_of_tasks.items():
        dataset = tree[path].to_dataset()
        assert dataset.attrs["protocol"] == "course-all-vs-all"
        dataset.attrs = {k: v for k, v in dataset.attrs.items() if k in expected.attrs}
        assert dataset.identical(expected), path


@pytest.mark.parametrize("units", [("template", "template"), ("subject", "subject"),
                                   ("template", "subject")])  # fmt: skip
@pytest.mark.parametrize("fusions", [("best", "worst"), ("worst", "best"), ("best", "best")])
@pytest.mark.cases(2)
def test_tasks_of_a_card_do_not_share_what_they_should_not(units, fusions):
    square = scores()
    card = protocol.load("course-all-vs-all").to_toml()
    head, open_set_section, closed_set_section = re.split(r"(?=\[open_set\]|\[closed_set\])", card)
    sections = []
    for section, unit, fusion in zip(
        (open_set_section, closed_set_section), units, fusions, strict=True
    ):
        changed = section.replace('rank_unit = "template"', f'rank_unit = "{unit}"')
        sections.append(changed.replace('fusion = "best"', f'fusion = "{fusion}"'))
    tree = be.evaluate(square, protocol.parse(head + "".join(sections)), max_rank=5)
    options = [
        {"rank_unit": u} | ({"fusion": f} if u == "subject" else {})
        for u, f in zip(units, fusions, strict=True)
    ]
    assert tree["open_set"].to_dataset().equals(be.open_set(square, max_rank=5, **options[0]))
    assert tree["closed_set"].to_dataset().equals(be.closed_set(square, max_rank=5, **options[1]))


def test_a_tree_is_what_xarray_makes():
    tree = be.evaluate({"a": scores(), "b": scores()})
    reconstructed = xr.DataTree.from_dict({node.path: node.to_dataset() for node in tree.subtree})
    xr.testing.assert_identical(tree, reconstructed)
    assert [node.path for node in tree.subtree] == [node.path for node in tree.copy().subtree]
    for node in tree.descendants:
        assert tree[node.path] is node
        assert node.parent.children[node.name] is node
    single = tree["a/verification/single"]
    single.orphan()
    assert list(tree["a/verification"].children) == ["multi"]
    tree["c"] = single
    assert (tree["c"].path, tree["c"].root) == ("/c", tree)
    assert not be.evaluate(scores()).attrs


def test_a_tree_of_systems():
    square, similar = scores(), be.Scores(-scores().values, scores().probe_labels,
                                          kind="similarity")  # fmt: skip
    tree = be.evaluate({"a": square, "b": similar}, thresholds=[-1.0, 0.0, 1.0])
    assert sorted(tree.children) == ["a", "b"]
    tree_of_one_system = be.evaluate(similar, thresholds=[-1.0, 0.0, 1.0])
    for node in tree_of_one_system.leaves:
        assert tree[f"b{node.path}"].to_dataset().identical(node.to_dataset())
    with pytest.raises(be.DataError, match="no systems are given"):
        be.evaluate({})
    for wrong in ("", "a/b", 3):
        with pytest.raises(be.DataError, match="the system's name is"):
            be.evaluate({wrong: square})


# ------------------------------------------------------------------------------- shape and order


def test_tasks_are_in_the_order_of_the_protocol_whatever_their_depth():
    tree = be.evaluate({"one": scores()}, thresholds=[0.1])
    assert [*tree["one"].children] == ["verification", "open_set", "closed_set"]


def test_where_there_are_too_many_ranks_the_first_hundred_are_reported_with_a_note():
    templates = 2100
    values = np.broadcast_to(np.arange(float(templates)), (2, templates))
    scores = be.Scores(values, [0, 1], np.arange(templates) // 2)
    ds = be.open_set(scores)
    assert len(ds["rank"]) == 100 and arguments(ds, "not-all-ranks")["ranks"] == 2100
    assert len(be.open_set(scores, thresholds=[1.0, 2.0])["rank"]) == templates
    assert "not-all-ranks" not in codes(be.open_set(scores, max_rank=7))
    assert len(be.closed_set(scores)["rank"]) == templates


# ------------------------------------------------------------------------------- remarks


def test_messages_have_codes():
    assert codes(be.closed_set(scores())) == []
    labels = scores().probe_labels
    lonely = [*labels[:19], "single"]
    closed = be.closed_set(be.Scores(scores().values, lonely))
    assert arguments(closed, "probes-without-mate")["probes"] == 1
    twice = be.closed_set(be.Scores(scores().values, labels, labels.copy()))
    assert "copies-in-gallery" in codes(twice)
    one_each = be.closed_set(be.Scores(scores().values, np.arange(20), np.arange(20)))
    assert codes(one_each) == ["copies-in-gallery"]
    unenrolled_probes = be.open_set(
        be.Scores(scores().values, labels, [f"x{i}" for i in range(20)])
    )
    assert {"no-mate-in-gallery", "no-attempt"} <= set(codes(unenrolled_probes))
    assert "same-value-counted" in codes(be.verification(scores(probe_meta=SESSIONS)))
    one_session = {"session": ["1"] * 20}
    assert codes(be.closed_set(scores(probe_meta=one_session))) == []


# ------------------------------------------------------------------------------- descriptions


def test_a_variable_cannot_skip_the_registry():
    with pytest.raises(KeyError, match="new_rate"):
        dataset({"new_rate": ((), 0.5)}, variables.VERIFICATION, {}, {})


@pytest.mark.parametrize("task", variables.TASKS)
def test_no_two_numbers_have_one_label(task):
    labels = [x.label for x in variables.TASKS[task].values() if x.label]
    assert len(labels) == len(set(labels))


def test_a_number_is_computed_in_one_way_and_a_threshold_is_there():
    for name, variable in variables.VARIABLES.items():
        assert variable.name == name
        assert variable.quotient is None or variable.of_rates is None, name
        assert not variable.threshold or variable.threshold in variables.VARIABLES, name


@pytest.mark.parametrize(
    "labels",
    [
        [True, False],
        np.array([3, 1], dtype=np.int8),
        np.array([0.5, -np.inf], dtype=np.float32),
        [np.nan, 1.0],
        ["a", "bcd"],
        ["a", "\ud800"],  # as in the name of a file that is not UTF-8
        np.array(["a", None], dtype=object),
        [],
    ],
)
@pytest.mark.cases(2)
def test_a_coordinate_keeps_its_labels_and_is_an_index(labels):
    names = {name: Variable(name) for name in ("value", "item")}
    values = np.asarray(labels)
    ds = dataset({"value": (("item",), np.arange(len(labels)))}, names, {"item": values}, {})
    assert ds["item"].dtype == values.dtype
    np.testing.assert_array_equal(ds["item"].values, values)
    assert ds["item"].attrs["long_name"] == "item" and ds.indexes["item"].name == "item"
    for place, label in enumerate(values.tolist()):
        if label == label:  # a NaN selects nothing
            assert ds["value"].sel(item=label) == place


@pytest.mark.parametrize(
    ("task", "first"),
    [
        (be.verification, ["eer", "eer_threshold", "frr_at_far", "threshold_at_far"]),
        (be.open_set, ["eer", "eer_threshold", "dir_at_far", "threshold_at_far"]),
        (be.closed_set, ["recognition_rate"]),
    ],
)
def test_the_numbers_that_are_looked_for_come_first(task, first):
    assert [*task(be.simulate(8, 3)).data_vars][: len(first)] == first


def test_a_variable_that_is_whole_in_some_parts_keeps_the_digits_of_others():
    stack = Stack(2, {})
    for place, number in enumerate((np.int64(1), np.float64(0.5))):
        stack.put(place, Scalars({"x": number}, {}, {}))
    assert stack.result("part", np.arange(2)).arrays()["x"][1].tolist() == [1.0, 0.5]


def test_bins_have_the_width_of_freedman_and_diaconis():
    scores = np.sort(np.random.default_rng(0).normal(size=1000))
    width = 2 * (scores[750] - scores[250]) / 10
    edges = edges_of(scores)
    assert len(edges) == 1 + math.ceil((scores[-1] - scores[0]) / width)
    assert edges[-1] == scores[-1] and scores[0] - 1e-9 < edges[0] < scores[0]
