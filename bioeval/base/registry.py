"""Every scalar of results: those of bioeval, of studies, and of scripts, in one registry.

A registry does not change: one with more scalars is another registry. :func:`scalar_registry` is
that of the process, to which :func:`bioeval.scalar` adds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from bioeval.base.scalars import (
    CALIBRATION_POINTS,
    CMS,
    CORE_SCALARS,
    DIR,
    FAR_UNENROLLED,
    POINTS_OF_PARTS,
    VERIFICATION_SCALARS,
    Name,
    Scalar,
    points_among,
    rates_among,
)
from bioeval.base.variables import COORDINATES, TASKS, by_name

#: Names of variables that no scalar of others may have.
RESERVED = frozenset(itertools.chain(COORDINATES, *TASKS.values()))


class ScalarRegistry(Mapping[str, Scalar]):
    """Every scalar by its name, EER that of verification; its attributes are selections.

    `of_scripts` are scalars of verification that scripts have added, by name.
    """

    def __init__(self, of_scripts: Mapping[str, Scalar] | None = None):
        """Keep the scalars of scripts."""
        self._of_scripts = dict(of_scripts or {})

    def with_scalars(self, *scalars: Scalar, in_place_of: Iterable[str] = ()) -> ScalarRegistry:
        """Return a registry with more scalars of verification, without those of some names."""
        replaced = {*in_place_of}
        kept = {name: x for name, x in self._of_scripts.items() if name not in replaced}
        return ScalarRegistry(kept | {scalar.name: scalar for scalar in scalars})

    __eq__ = object.__eq__  # two registries may have other functions by the same names
    __hash__ = object.__hash__

    @property
    def taken(self) -> frozenset[str]:
        """Names of variables that a scalar of a script may not have."""
        of_scripts = {
            x.name for scalar in self._of_scripts.values() for x in scalar.with_threshold()
        }
        return RESERVED | (frozenset(self) - of_scripts)

    @cached_property
    def added(self) -> tuple[Scalar, ...]:
        """What :func:`bioeval.scalar` adds to verification."""
        added: list[Scalar] = []
        for scalar in self._of_scripts.values():
            added += scalar.with_threshold()
        return tuple(added)

    @cached_property
    def points_of_verification(self) -> tuple[Scalar, ...]:
        """One number of a task each, besides those of the EER."""
        return points_among((*VERIFICATION_SCALARS, *self.added))

    @cached_property
    def optima(self) -> tuple[Scalar, ...]:
        """The best values over the operating points of a function of FAR and FRR."""
        return tuple(x for x in (*VERIFICATION_SCALARS, *self.added) if x.best)

    @cached_property
    def at_threshold(self) -> Mapping[str, list[Scalar]]:
        """Rates at a threshold that folds or a task have, in the order of variables."""
        return rates_among((*VERIFICATION_SCALARS, *self.added))

    def __getitem__(self, name: str) -> Scalar:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    @cached_property
    def _by_name(self) -> dict[str, Scalar]:
        return {scalar.name: scalar for scalar in (*CORE_SCALARS, *CALIBRATION_POINTS, *self.added)}

    @cached_property
    def compared(self) -> dict[str, Scalar]:
        """What two systems are compared by, by name."""
        return {name: x for name, x in self.items() if "comparison" in x.results}

    @cached_property
    def in_parts(self) -> tuple[Scalar, ...]:
        """Rates of a test part, with those that only some test parts have the counts of."""
        return (*self.at_threshold["folds"], FAR_UNENROLLED)

    @cached_property
    def averaged(self) -> dict[str, Scalar]:
        """What is averaged over folds, by name; of several of a name the first."""
        of_folds = [*self.at_threshold["folds"], *self.in_parts]
        of_folds += [DIR, CMS, *itertools.chain(*POINTS_OF_PARTS.values())]
        return {scalar.name: scalar for scalar in (*CALIBRATION_POINTS, *reversed(of_folds))}

    @cached_property
    def variables_of_verification(self) -> dict[str, Name]:
        """The variables of verification, with those of the scalars that were added."""
        names = {**TASKS["verification"], **by_name(self.added)}
        for scalar in self.added:
            if scalar.best:
                names |= names[scalar.name].ends_of(scalar.name)
        return names


_of_process = ScalarRegistry()


def scalar_registry() -> ScalarRegistry:
    """Return every scalar by its name, with those that scripts have added in this process."""
    return _of_process


def add_scalars(*scalars: Scalar, in_place_of: Iterable[str] = ()) -> None:
    """Add scalars of verification until Python ends, in place of those of some names."""
    global _of_process  # noqa: PLW0603 (its life is that of the process)
    _of_process = _of_process.with_scalars(*scalars, in_place_of=in_place_of)


def names_of(of: str | Mapping[str, Name], *names: str) -> dict[str, Name]:
    """Return the names of some variables, by default all, of a task or of a mapping."""
    if of == "verification":
        of = scalar_registry().variables_of_verification
    elif isinstance(of, str):
        of = TASKS[of]
    return {name: of[name] for name in names or of}
