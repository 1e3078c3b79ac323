"""Splitters of all kinds: of this package, of scikit-learn, and lists of pairs."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, counted, received
from bioeval.base.random import seed_sequence
from bioeval.partition.base import Division, LabelCodes


class ListedParts:
    """A list of pairs (training, test), in the form of a splitter of scikit-learn."""

    def __init__(self, parts: Iterable[Any]):
        """Check the pairs, and keep them, since an iterator could be read only once."""
        self.parts = list(parts)
        are_pairs = bool(self.parts)
        for pair in self.parts:
            try:
                arrays = [np.asarray(part) for part in pair]
            except (TypeError, ValueError):
                arrays = []
            are_indices = [x.ndim == 1 and (x.dtype.kind in "iu" or not x.size) for x in arrays]
            are_pairs &= are_indices == [True, True]
        if not are_pairs:
            raise DataError(
                f"`splitter` is {received(self.parts)}; expected an object with "
                "split(), or a list of pairs (training, test) of indices"
            )

    def __repr__(self) -> str:
        return f"{counted(len(self.parts), 'listed pairs')} of training and test"

    def split(self, X: object, y: object, groups: object) -> list[Any]:
        """Return the pairs; the arguments are not needed."""
        return self.parts


def as_splitter(splitter: Any) -> Any:
    """Return a splitter, or the splitter of listed pairs (training, test)."""
    if isinstance(splitter, type):
        name = splitter.__name__
        raise DataError(
            f"`splitter` is the class {name}; expected a splitter of it: give {name}(), perhaps "
            "with its arguments"
        )
    if isinstance(splitter, str | bytes | Mapping | np.ndarray):
        pass
    elif hasattr(splitter, "split"):
        return splitter
    elif isinstance(splitter, Iterable):
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
    """Yield the parts of `n` samples from a splitter of any kind.

    A splitter whose ``split`` takes `meta`, such as a splitter of this package, gets labels and
    metadata as they are; others, such as scikit-learn's, get the labels as numbers.
    """
    if "meta" in inspect.signature(splitter.split).parameters:
        splits = splitter.split(range(n), labels, groups, meta=meta)
    else:
        codes = np.zeros(n) if labels is None else LabelCodes(labels, "labels").codes
        group_codes = codes
        if groups is not None and np.ndim(groups) <= 1:
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


# What a result records of its splitter, and the splitter of such a record.

#: Longer records are left out: an attribute of a netCDF file has at most 64 KiB.
_LONGEST = 60_000


def seeded(splitter: Any) -> Any:
    """Return a splitter with a seed that can be recorded; its draws are those of the splitter.

    A splitter of this package that has no seed gets a random one, and a generator is advanced.
    """
    seed = getattr(splitter, "random_state", 0)
    may_be_seeded = isinstance(splitter, Division) and getattr(splitter, "shuffle", True)
    if not may_be_seeded or isinstance(seed, int | np.integer | np.random.SeedSequence):
        return splitter
    entropy = seed_sequence(seed).entropy
    if seed is None:  # a number that people can copy
        entropy = int(np.random.SeedSequence().generate_state(1)[0])
    return copy.copy(splitter).set_params(random_state=entropy)


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
            record = json.dumps(_recorded(splitter))
        except TypeError:
            return attrs
        if len(record) <= _LONGEST:
            attrs["splitter_record"] = record
    return attrs


def _recorded(value: Any) -> Any:
    """Return a splitter, or a parameter of one, in the types of JSON, or raise TypeError."""
    if hasattr(value, "split") and not isinstance(value, str | bytes):
        names = inspect.signature(type(value)).parameters
        others = getattr(value, "cvargs", {})  # repeated folds of scikit-learn
        parameters = {x: getattr(value, x) if hasattr(value, x) else others[x] for x in names}
        place = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
        return {place: {name: _recorded(x) for name, x in parameters.items()}}
    if isinstance(value, np.random.SeedSequence):
        return {"SeedSequence": [value.entropy, [*value.spawn_key]]}
    if isinstance(value, Mapping):
        return {"mapping": [[_recorded(key), _recorded(x)] for key, x in value.items()]}
    if hasattr(value, "tolist"):
        return _recorded(value.tolist())
    if isinstance(value, list | tuple):
        return [_recorded(x) for x in value]
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
    leaves = (
        [result] if "splitter" in getattr(result, "attrs", {}) else getattr(result, "leaves", ())
    )
    attrs = next((x.attrs for x in leaves if "splitter" in x.attrs), None)
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
    return _splitter(json.loads(str(attrs["splitter_record"])))


def _splitter(record: Any) -> Any:
    """Return the splitter, or the parameter of one, of a record."""
    if isinstance(record, list):
        return [_splitter(x) for x in record]
    if not isinstance(record, dict):
        return record
    ((name, content),) = record.items()
    if name == "mapping":
        return {_splitter(key): _splitter(x) for key, x in content}
    if name == "SeedSequence":
        return np.random.SeedSequence(content[0], spawn_key=content[1])
    package, _, kind = name.partition(".")
    modules = {"bioeval": "bioeval.partition", "sklearn": "sklearn.model_selection"}
    module = importlib.import_module(modules[package]) if package in modules else None
    made = getattr(module, kind, None)
    if not (isinstance(made, type) and hasattr(made, "split")):  # nothing else of a file is called
        raise DataError(
            f"the parts of this result were made by {name}, which is neither of bioeval nor of "
            "scikit-learn; make this splitter again by its own code"
        )
    parameters = {key: _splitter(x) for key, x in content.items()}
    if package == "sklearn" and parameters.get("random_state", 0) is None:
        is_drawn = parameters.get("shuffle", True)
        if is_drawn:
            raise DataError(
                f"the parts of this result were drawn by scikit-learn's {kind} without a seed: "
                "they cannot be drawn again"
            )
    return made(**parameters)
