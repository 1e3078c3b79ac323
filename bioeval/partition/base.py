"""Base classes of splitters: parameters, ``split`` and ``get_n_splits``."""

from __future__ import annotations

import inspect
import itertools
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

import numpy as np

from bioeval.base.errors import DataError, bad_choice
from bioeval.base.panels import panel
from bioeval.base.random import seed_sequence
from bioeval.partition.samples import SplitInput

TrainTest = tuple[np.ndarray, np.ndarray]
Parts = TypeVar("Parts", bound=tuple)


class Parameters:
    """Constructor arguments as parameters, in the form of scikit-learn.

    Each is kept unchanged in an attribute of its own name.
    """

    @classmethod
    def _names(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor arguments by name.

        Parameters
        ----------
        deep : bool
            Also those of a splitter inside, as ``outer__inner``.

        Returns
        -------
        dict
        """
        params = {name: getattr(self, name) for name in self._names()}
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Parameters):
                    params |= {f"{name}__{k}": v for k, v in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Any:
        """Change constructor arguments, with the same checks; ``outer__inner`` reaches inside.

        Parameters
        ----------
        **params
            Arguments by name.

        Returns
        -------
        splitter
            This one.
        """
        inner: dict[str, dict[str, Any]] = {}
        for name in list(params):
            outer, _, rest = name.partition("__")
            if outer not in self._names():
                raise DataError(bad_choice("parameter", outer, self._names()))
            if rest:
                inner.setdefault(outer, {})[rest] = params.pop(name)
        for name, changes in inner.items():
            nested = params.get(name, getattr(self, name))
            if not isinstance(nested, Parameters):
                raise DataError(f"{name} is {nested!r} and has no parameters")
            params[name] = type(nested)(**nested.get_params(deep=False)).set_params(**changes)
        changed = type(self)(**{**self.get_params(deep=False), **params})
        self.__dict__.update(changed.__dict__)
        return self

    def __repr__(self) -> str:
        short = reprlib.Repr()
        short.maxother = short.maxstring = 1000
        shown = []
        for name, value in self.get_params(deep=False).items():
            text = short.repr(value.tolist() if isinstance(value, np.ndarray) else value)
            shown.append(f"{name}={text}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def _repr_html_(self) -> str:
        short = reprlib.Repr()
        short.maxother = short.maxstring = 200
        rows = [(name, short.repr(x)) for name, x in self.get_params(deep=False).items()]
        return panel(type(self).__name__, rows)


class Division(Parameters, ABC, Generic[Parts]):
    """A rule that divides samples into parts, several times."""

    @property
    def by_subject(self) -> bool:
        """Whether whole subjects are divided, so that none is in two parts."""
        return False

    def split(
        self, X: Any = None, y: Any = None, groups: Any = None, *, meta: Mapping | None = None
    ) -> Iterator[Parts]:
        """Divide the samples.

        Parameters
        ----------
        X : array_like, Scores or None
            Only its number of samples is used. Of all-against-all :class:`bioeval.Scores`, the
            labels and the metadata are used as well, where `y`, `groups` and `meta` do not say
            otherwise.
        y : sequence of hashable, optional
            The subject of each sample.
        groups : sequence of hashable, optional
            The subject of each sample, where `y` is something else; it overrides `y`.
        meta : mapping of str to sequence, optional
            Metadata columns, one value a sample; a pandas data frame will do.

        Returns
        -------
        iterator of tuple of ndarray
            Index arrays, ascending: training (or gallery) first, test (or probes) last;
            :class:`GalleryProbe` and :class:`ThreeParts` name theirs.

        Raises
        ------
        DataError
            If these samples cannot be divided so.
        """
        splits = self._splits(SplitInput(type(self).__name__, X, y, groups, meta))
        first = next(splits)  # so that errors come now, and not at the first use
        return itertools.chain([first], splits)

    n_splits: int

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return how many splits there are; the arguments are not needed."""
        return self.n_splits

    @abstractmethod
    def _splits(self, samples: SplitInput) -> Iterator[Parts]: ...


class Splitter(Division[Parts]):
    """A division in two, in scikit-learn's form."""

    def get_metadata_routing(self) -> Any:
        """Request ``groups`` from scikit-learn if its metadata routing is on.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
        """
        from sklearn.utils.metadata_routing import MetadataRequest

        request = MetadataRequest(owner=type(self).__name__)
        request.split.add_request(param="groups", alias=True)
        return request


def require_flag(who: str, name: str, value: Any) -> bool:
    """Return `value` as a bool, or raise :class:`DataError` unless it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise DataError(f"{who}: {name} is {value!r}; expected True or False")
    return bool(value)


def require_seed(random_state: Any) -> None:
    """Raise :class:`DataError` unless it is a seed; a generator is not advanced."""
    if not isinstance(random_state, np.random.Generator | np.random.RandomState):
        seed_sequence(random_state)
