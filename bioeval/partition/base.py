"""Base classes of splitters, and the parts that they yield."""

from __future__ import annotations

import inspect
import itertools
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError, bad_choice, without_address
from bioeval.base.random import seed_sequence
from bioeval.partition.samples import SplitInput


class TrainTest(NamedTuple):
    """Training and test part: ascending, disjoint index arrays."""

    train: np.ndarray
    test: np.ndarray


class ProbesGallery(NamedTuple):
    """Probes and the gallery that they are compared with, as the rows and columns of scores.

    Ascending, disjoint index arrays.
    """

    probes: np.ndarray
    gallery: np.ndarray


Parts = TypeVar("Parts", bound=NamedTuple)


class SplitterLike(Protocol):
    """An object that divides samples into parts: a splitter of this package or of scikit-learn."""

    def split(self, X: Any, y: Any, groups: Any, /) -> Iterable[Any]:
        """Yield the parts as index arrays."""
        ...


class Parameters:
    """Constructor arguments as parameters, in the form of scikit-learn.

    Every argument is kept unchanged in an attribute of its own name.
    """

    @classmethod
    def _names(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor arguments by name, whatever `deep` is.

        Returns
        -------
        dict
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Change constructor arguments, with the same checks.

        Parameters
        ----------
        **params
            Arguments by name.

        Returns
        -------
        splitter
            This one.
        """
        for name in params:
            if name not in self._names():
                raise DataError(bad_choice("parameter", name, self._names()))
        self.__dict__.update(type(self)(**{**self.get_params(), **params}).__dict__)
        return self

    def __repr__(self) -> str:
        """Return the class with the arguments that differ from the default."""
        short = reprlib.Repr()
        short.maxother = short.maxstring = 1000
        arguments = []
        for name, parameter in inspect.signature(type(self)).parameters.items():
            value = getattr(self, name)
            if type(value) is type(parameter.default) and value == parameter.default:
                continue
            text = short.repr(value.tolist() if isinstance(value, np.ndarray) else value)
            text = without_address(text)
            arguments.append(f"{name}={text}")
        return f"{type(self).__name__}({', '.join(arguments)})"


class Division(Parameters, ABC, Generic[Parts]):
    """A rule that divides samples into parts, several times."""

    @property
    def by_subject(self) -> bool:
        """Whether whole subjects are divided, so that none is in two parts."""
        return False

    def split(
        self,
        X: object = None,
        y: object = None,
        groups: object = None,
        *,
        meta: Mapping | None = None,
    ) -> Iterator[Parts]:
        """Divide the samples.

        Parameters
        ----------
        X : array_like, Scores or None
            Only its number of samples is used. Of all-against-all :class:`bioeval.Scores`, the
            labels and the metadata are used as well, unless `y`, `groups` or `meta` are given.
            Templates of no person are not divided: they are in every part, but never probes.
        y : sequence of hashable, optional
            The subject of each sample; here all labels are names.
        groups : sequence of hashable, optional
            The subject of each sample, where `y` is something else; it overrides `y`.
        meta : mapping of str to sequence, optional
            Metadata columns, one value a sample; a pandas data frame will do.

        Returns
        -------
        iterator of named tuple
            Index arrays, ascending: :class:`TrainTest`, :class:`ProbesGallery`,
            :class:`ThreeParts` or :class:`ExperimentParts`. ``scores.select`` takes each whole:
            the probes and the gallery, or the test part.

        Raises
        ------
        DataError
            If these samples cannot be divided so.
        """
        samples = SplitInput(type(self).__name__, X, y, groups, meta)
        blocks = self._blocks_of_people if samples.no_person.any() else self._blocks
        splits = (
            self._parts._make([flags.nonzero()[0] for flags in parts])
            for block in blocks(samples)
            for parts in block
        )
        first = next(splits)  # so that errors come now, and not at the first use
        return itertools.chain([first], splits)

    def _blocks_of_people(self, samples: SplitInput) -> Iterator[np.ndarray]:
        """Yield splits of people's templates; other templates are in every part but the probes."""
        is_person = ~samples.no_person
        if not is_person.any():
            raise DataError(
                f"{samples.splitter}: all {samples.n} templates are of no person; expected people "
                "to divide"
            )
        of_people = np.flatnonzero(is_person)
        is_of_probes = np.array(["probes" in name for name in self._parts._fields])  # (parts,)
        for block in self.restricted_to(of_people, samples.n)._blocks(samples.select(of_people)):
            masks = np.empty((*block.shape[:2], samples.n), dtype=bool)
            masks[:, :, is_person] = block
            masks[:, :, ~is_person] = (block.any(axis=2) & ~is_of_probes)[:, :, None]
            yield masks

    def _require_counts_and_seed(self, **lowest: int) -> None:
        for name, low in lowest.items():
            require_integer(f"{type(self).__name__}: {name}", getattr(self, name), low=low)
        require_seed(self.random_state)

    def restricted_to(self, index: np.ndarray, n: int) -> Self:
        """Return the division of the samples `index` among `n`.

        It is the splitter itself, unless the splitter was given a fold for each sample.
        """
        return self

    n_splits: int = 1
    n_repeats: int = 1
    random_state: Any

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return how many splits there are; the arguments are not needed."""
        return self.n_splits * self.n_repeats

    #: The named tuple that is yielded for a split.
    _parts: type[Parts]

    @abstractmethod
    def _blocks(self, samples: SplitInput) -> Iterator[np.ndarray]:
        """Yield masks of the samples of each part, bool (splits, parts, n), some splits at once."""


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


def require_seed(random_state: Any) -> None:
    """Raise :class:`DataError` unless the argument is a seed; a generator is not advanced."""
    if not isinstance(random_state, np.random.Generator | np.random.RandomState):
        seed_sequence(random_state)
