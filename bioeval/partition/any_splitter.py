"""Splitters of any origin: of this package, of scikit-learn, or a list of index arrays.

A user gives a splitter; :func:`split_samples` draws its parts; :func:`record_of` writes it into the
attributes of a result; and :func:`splitter_of` returns it from there, to draw the same parts again.
The record of ``SubjectKFold(2, shuffle=True, random_state=0)`` is the JSON text ::

    {"bioeval.SubjectKFold": {"n_splits": 2, "n_repeats": 1, "shuffle": true, "random_state": 0,
                              "stratify": null}}
"""

from __future__ import annotations

import importlib
import inspect
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any, Protocol

import numpy as np

from bioeval.base.errors import DataError, counted, received
from bioeval.base.random import seed_sequence
from bioeval.partition.base import Division, LabelCodes


class SplitterLike(Protocol):
    """An object that divides samples into parts: a splitter of this package or of scikit-learn."""

    def split(self, X: Any, y: Any, groups: Any, /) -> Iterable[Any]:
        """Yield the parts as index arrays."""
        ...


class ListedParts:
    """A list of pairs (training, test), in the form of a splitter of scikit-learn."""

    def __init__(self, parts: Iterable[Any]):
        """Check the pairs, and keep them, since an iterator could be read only once."""
        self.parts = list(parts)
        if not self.parts or not all(map(_is_pair_of_indices, self.parts)):
            raise DataError(
                f"`splitter` is {received(self.parts)}; expected an object with "
                "split(), or a list of pairs (training, test) of indices"
            )

    def __repr__(self) -> str:
        return f"{counted(len(self.parts), 'listed pairs')} of training and test"

    def split(self, X: object, y: object, groups: object) -> list[Any]:
        """Return the pairs; the arguments are not needed."""
        return self.parts


def _is_pair_of_indices(pair: Any) -> bool:
    """Whether an object holds two arrays of indices; an empty array may have any dtype."""
    try:
        arrays = [np.asarray(part) for part in pair]
    except (TypeError, ValueError):
        return False
    if len(arrays) != 2:
        return False
    return all(x.ndim == 1 and (x.dtype.kind in "iu" or not x.size) for x in arrays)


def as_splitter(splitter: Any) -> Any:
    """Return a splitter, or the splitter of listed pairs (training, test)."""
    if isinstance(splitter, type):
        name = splitter.__name__
        raise DataError(
            f"`splitter` is the class {name}; expected a splitter of it: give {name}(), perhaps "
            "with its arguments"
        )
    # Texts have a method split(), and texts, mappings and arrays are iterable: all by mistake.
    if not isinstance(splitter, str | bytes | Mapping | np.ndarray):
        if hasattr(splitter, "split"):
            return splitter
        if isinstance(splitter, Iterable):
            return ListedParts(splitter)
    raise DataError(
        f"splitter is {type(splitter).__name__}; expected an object with split(), such as "
        "bioeval.partition.SubjectKFold(5), or a list of pairs (training, test)"
    )


def name_of(splitter: Any) -> str:
    if isinstance(splitter, ListedParts):
        return "the list of splits"
    return type(splitter).__name__


def split_samples(
    splitter: Any, n: int, labels: Any, groups: Any, meta: Mapping | None
) -> Iterator[tuple[np.ndarray, ...]]:
    """Yield the parts of `n` samples from a splitter of any origin.

    A splitter whose ``split`` takes `meta`, such as a splitter of this package, gets labels and
    metadata as they are; others, such as scikit-learn's, get the labels as numbers.
    """
    if "meta" in inspect.signature(splitter.split).parameters:
        splits = splitter.split(range(n), labels, groups, meta=meta)
    else:
        codes = np.zeros(n) if labels is None else LabelCodes(labels, "labels").codes
        group_codes = codes
        if groups is not None and np.ndim(groups) <= 1:  # a pair has two subjects, and no group
            group_codes = LabelCodes(groups, "groups").codes
        with warnings.catch_warnings():
            # Whether a scikit-learn splitter uses y or groups cannot be known beforehand.
            warnings.filterwarnings("ignore", "The groups parameter is ignored", UserWarning)
            splits = list(splitter.split(np.zeros((n, 1)), codes, group_codes))
    for parts in splits:
        if hasattr(parts, "_fields"):
            yield parts
        elif isinstance(parts, tuple | list) and len(parts) == 2:
            yield tuple(parts)
        else:
            raise DataError(
                f"{name_of(splitter)} yields {type(parts).__name__}; expected pairs (training, "
                "test) of indices"
            )


# The record of a splitter in a result.

#: Longer records are left out: an attribute of a netCDF file has at most 64 KiB.
_LONGEST_RECORD = 60_000


def seeded(splitter: Any) -> Any:
    """Return a splitter with a seed that can be recorded; its draws are those of the splitter.

    A splitter of this package that has no seed gets a random one, and a generator is advanced.
    """
    is_random = isinstance(splitter, Division) and getattr(splitter, "shuffle", True)
    seed = getattr(splitter, "random_state", 0)
    if not is_random or isinstance(seed, int | np.integer | np.random.SeedSequence):
        return splitter
    new_seed = seed_sequence(seed).entropy
    if seed is None:  # 32 bits, which people can copy; this entropy has 128
        new_seed = int(np.random.SeedSequence().generate_state(1)[0])
    return copy(splitter).set_params(random_state=new_seed)


def record_of(splitter: Any) -> dict[str, str | int]:
    """Return the attributes of results that say which splitter divided the data."""
    attrs: dict[str, str | int] = {
        "splitter": repr(splitter),
        "splitter_class": type(splitter).__name__,
    }
    seed = getattr(splitter, "random_state", None)
    if isinstance(seed, int | np.integer) and seed < 2**63:
        attrs["splitter_seed"] = int(seed)
    if not isinstance(splitter, ListedParts):
        try:
            record = json.dumps(_as_json(splitter))
        except TypeError:  # a parameter has no form in JSON
            return attrs
        if len(record) <= _LONGEST_RECORD:
            attrs["splitter_record"] = record
    return attrs


def _as_json(value: Any) -> Any:
    """Return a splitter, or a parameter of a splitter, in the types of JSON, or raise TypeError.

    An object of JSON has a single key: the package and class of a splitter, or the type of another
    value, such as ``{"SeedSequence": [entropy, spawn_key]}``. :func:`_from_json` reads it.
    """
    if hasattr(value, "split") and not isinstance(value, str | bytes):
        # The repeated folds of scikit-learn keep some arguments in `cvargs`, not in attributes.
        stored_elsewhere = getattr(value, "cvargs", {})
        parameters = {}
        for name in inspect.signature(type(value)).parameters:
            parameter = getattr(value, name) if hasattr(value, name) else stored_elsewhere[name]
            parameters[name] = _as_json(parameter)
        package = type(value).__module__.partition(".")[0]
        return {f"{package}.{type(value).__name__}": parameters}
    if isinstance(value, np.random.SeedSequence):
        return {"SeedSequence": [value.entropy, list(value.spawn_key)]}
    if isinstance(value, Mapping):  # as pairs, since a key of JSON is a text
        return {"mapping": [[_as_json(key), _as_json(x)] for key, x in value.items()]}
    if hasattr(value, "tolist"):  # an array or a scalar of NumPy
        return _as_json(value.tolist())
    if isinstance(value, list | tuple):
        return [_as_json(x) for x in value]
    if value is None or isinstance(value, str | int | float):
        return value
    raise TypeError(type(value).__name__)


def splitter_of(result: Any) -> Any:
    """Return the splitter by which the data of a result were divided, to draw the parts again.

    Parameters
    ----------
    result : xarray.Dataset or xarray.DataTree
        A result of :func:`bioeval.repeat` or :func:`bioeval.cross_evaluate`, perhaps read from a
        file.

    Returns
    -------
    splitter
        With the parameters and the seed that it had; with the same scores it draws the same parts.

    Raises
    ------
    DataError
        If the parts were listed, or drawn by a splitter that is neither of this package nor of
        scikit-learn, or by one of scikit-learn without a seed.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 2, random_state=1)
    >>> result = be.cross_evaluate(scores, be.partition.SubjectShuffleSplit(8, random_state=3))
    >>> be.partition.splitter_of(result)
    SubjectShuffleSplit(n_splits=8, random_state=3)
    """
    # Every leaf of a tree has the same splitter.
    datasets = [result, *getattr(result, "leaves", ())]
    all_attrs = [getattr(dataset, "attrs", {}) for dataset in datasets]
    attrs = next((attrs for attrs in all_attrs if "splitter" in attrs), None)
    if attrs is None:
        raise DataError(
            f"`result` is a {type(result).__name__} without a record of a splitter; expected a "
            "result of be.repeat or be.cross_evaluate"
        )
    if "splitter_record" not in attrs:
        raise DataError(
            f"the parts of this result were made by {attrs['splitter']}, which is not recorded in "
            "full; keep it, or the list, beside the result"
        )
    return _from_json(json.loads(str(attrs["splitter_record"])))


def _from_json(record: Any) -> Any:
    """Return the splitter, or the parameter of a splitter, that :func:`_as_json` recorded."""
    if isinstance(record, list):
        return [_from_json(x) for x in record]
    if not isinstance(record, dict):
        return record
    ((name, content),) = record.items()  # a single key, the type of the value
    if name == "mapping":
        return {_from_json(key): _from_json(x) for key, x in content}
    if name == "SeedSequence":
        entropy, spawn_key = content
        return np.random.SeedSequence(entropy, spawn_key=spawn_key)

    package, _, class_name = name.partition(".")
    modules = {"bioeval": "bioeval.partition", "sklearn": "sklearn.model_selection"}
    module = importlib.import_module(modules[package]) if package in modules else None
    splitter_class = getattr(module, class_name, None)
    # The record may come from a file of somebody else: only splitters are called.
    if not (isinstance(splitter_class, type) and hasattr(splitter_class, "split")):
        raise DataError(
            f"the parts of this result were made by {name}, which is neither of bioeval nor of "
            "scikit-learn; make this splitter again by its own code"
        )
    parameters = {key: _from_json(x) for key, x in content.items()}
    if package == "sklearn":
        is_random = "random_state" in parameters and parameters.get("shuffle", True)
        if is_random and parameters["random_state"] is None:
            raise DataError(
                f"the parts of this result were drawn by scikit-learn's {class_name} without a "
                "seed: they cannot be drawn again"
            )
    return splitter_class(**parameters)
