"""Attributes that every result has: on the data and the task, the schema, messages; and trees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import xarray as xr

from bioeval.base.errors import DataError, Message, message_attrs
from bioeval.results.support import labels_doubtful
from bioeval.scores.provenance import Provenance

#: The type of a threshold study. A node below the study has the folds, with their messages.
THRESHOLD_STUDY = "threshold-study"

#: The nodes below a threshold study, and their titles.
STUDY_PARTS = {
    "rates": "rates on the same data and on new people, in folds",
    "needs": "people needed for the target",
}


def study_in_one(study: xr.DataTree) -> xr.Dataset:
    """Return a threshold study as one dataset; variables of test parts are named by their path.

    So ``folds/far`` over ``repeat, fold`` is beside ``far`` over ``part``, and the people needed
    for the target are over ``rule``.
    """
    variables: dict[str, Any] = {}
    for name in STUDY_PARTS:
        if name in study.children:
            variables |= {str(x): array for x, array in study[name].to_dataset().data_vars.items()}
    folds = study["folds"].to_dataset().sel(part="test", drop=True)
    variables |= {f"folds/{name}": values for name, values in folds.data_vars.items()}
    return study.to_dataset().assign(variables)


def tree_of(datasets: Mapping[str, xr.Dataset]) -> xr.DataTree:
    """Return datasets as a tree, by path, in their order; the datasets are not copied."""
    # DataTree.from_dict would put the shallow paths first, and so verification/single last.
    datasets_below: dict[str, dict[str, xr.Dataset]] = {}
    for path, dataset in datasets.items():
        name, _, below = path.partition("/")
        if name:
            datasets_below.setdefault(name, {})[below] = dataset
    children = {name: tree_of(part) for name, part in datasets_below.items()}
    return tree_above(children, datasets.get(""))


def tree_above(
    children: Mapping[str, xr.DataTree], dataset: xr.Dataset | None = None
) -> xr.DataTree:
    """Return a tree above `children`, with the data of `dataset`; nothing is copied.

    The constructor of xarray would copy each variable and compare labels with labels of parents,
    which have none: this takes a sixth of an evaluation of few scores. A test compares both.
    """
    dataset = xr.Dataset() if dataset is None else dataset
    node = xr.DataTree.__new__(xr.DataTree)
    node._set_node_data(dataset)
    node._parent = None
    node._name = None
    node._children = dict(children)
    for name, child in children.items():
        child._parent, child._name = node, name
    return node


def without_slashes(names: Iterable[str], mark: str = "_") -> dict[str, str]:
    """Return names for a tree or for netCDF, with a mark for each slash; names stay distinct.

    >>> without_slashes(["a/b", "a_b"])
    {'a/b': 'a_b_', 'a_b': 'a_b'}
    """
    listed = list(dict.fromkeys(names))
    used = {name for name in listed if "/" not in name}
    new_names = {name: name or mark for name in listed}
    for name in listed:
        if "/" in name:
            unused = name.replace("/", mark)
            while unused in used:
                unused += mark
            used.add(unused)
            new_names[name] = unused
    return new_names


#: The schema of results, an attribute of each, from which readers of saved results know its form.
SCHEMA = 1


def about_attrs(
    about: Provenance, result_type: str, task: str, warnings: Iterable[Message]
) -> dict[str, str | int | float]:
    """Return the attributes that every result has: on the data, and messages.

    The code `result_type` tells which result it is; `task` is the title that is shown.
    """
    fingerprints = list(about.fingerprints[:4])
    if len(about.fingerprints) > 4:
        fingerprints.append(f"and {len(about.fingerprints) - 4} more")
    attrs: dict[str, str | int | float] = {
        "result_type": result_type,
        "task": task,
        "system": about.name,
        "layout": about.layout,
        "kind": about.kind,
        "nan_policy": about.nan,
        "exclude": about.exclude,
        "probes": about.probes,
    }
    if about.people is not None:  # a list of trials, and a mask, may not name the people
        attrs["probe_subjects"] = about.probe_subjects
        attrs["enrolled_subjects"] = about.enrolled_subjects
        attrs["gallery_subjects"] = about.gallery_subjects
    if about.gallery_templates:
        attrs["gallery_templates"] = about.gallery_templates
    attrs |= {"fingerprint": "; ".join(fingerprints), "origin": about.origin}
    if about.metric:
        attrs["metric"] = about.metric
    if about.use:
        attrs |= {"use": about.use, "most_tries": about.tries}
    if any(about.incomplete):
        attrs["incomplete_genuine"], attrs["incomplete_impostor"] = about.incomplete
    if any(about.too_few):
        attrs["too_few_genuine"], attrs["too_few_impostor"] = about.too_few
    incomplete: list[Message] = []
    if about.searched is not None and (lists := about.lists).incomplete:
        attrs |= lists.attrs
        incomplete = lists.messages()
    if about.reading:
        attrs["reading"] = "; ".join(about.reading)
    if about.nan != "raise":
        attrs["failed_genuine"], attrs["failed_impostor"] = about.failures
    messages = [*about.notes, *incomplete]
    people = about.probe_subjects, about.enrolled_subjects, about.gallery_subjects
    if people == (1, 1, 1) and about.layout in ("all-against-all", "probe-against-gallery"):
        messages.append(labels_doubtful("impostor"))
    elif about.layout == "all-against-all" and about.gallery_templates == about.gallery_subjects:
        messages.append(labels_doubtful("genuine"))
    return attrs | message_attrs([*messages, *warnings])


def require_schema(attrs: Mapping[Any, Any]) -> None:
    """Raise :class:`DataError` for results that a newer version of bioeval saved."""
    schema = int(attrs.get("schema", SCHEMA))
    if schema != SCHEMA:
        raise DataError(
            f"the results are of schema {schema}; this version of bioeval reads schema {SCHEMA}. "
            "Use a newer bioeval"
        )
