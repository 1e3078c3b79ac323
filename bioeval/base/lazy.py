"""Names of a package, imported at first use from a table of names by module."""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

#: Names of a package by the module that defines each.
NamesByModule = Mapping[str, tuple[str, ...]]

_NONE: Mapping[str, Any] = MappingProxyType({})


class StudyNames(NamedTuple):
    """The public names of a package that studies add."""

    modules: Mapping[str, str] = _NONE  # the module of each name
    aliases: Mapping[str, str] = _NONE  # the name that another name stands for


def offered_value(place: str) -> Any:
    """Return what is named as ``"module.name"``."""
    home, _, name = place.rpartition(".")
    return getattr(importlib.import_module(home), name)


def modules_of(table: NamesByModule) -> dict[str, str]:
    """Return the module of each name of a table."""
    return {name: module for module, names in table.items() for name in names}


def lazy_names(
    package: str,
    public: NamesByModule,
    for_studies: NamesByModule = _NONE,
    of_studies: Callable[[], StudyNames] = StudyNames,
    unlisted: Collection[str] = (),
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` (it knows ``__all__``) and ``__dir__`` of a package.

    Names `for_studies` are there, and are not listed; those `unlisted` are in ``__all__`` and not
    in ``dir``. Those `of_studies` are looked up when another name is asked for, or a list.
    ``scripts/stub`` writes all of them into ``__init__.pyi`` for type checkers; nothing reads them
    there when the package runs.
    """
    core = modules_of(public)
    known = core | modules_of(for_studies)
    studies = functools.cache(of_studies)

    def names() -> list[str]:
        return sorted([*core, *studies().modules, *studies().aliases])

    def listed() -> list[str]:
        return [name for name in names() if name not in unlisted]

    def attribute(name: str) -> Any:
        """Return the value of a name, and keep it in the package."""
        if name == "__all__":
            return sorted([*core, *studies().modules])
        if known.get(name) == package:
            return importlib.import_module(f"{package}.{name}")
        if name in known:
            value = getattr(importlib.import_module(known[name]), name)
        elif name.startswith("__"):
            raise AttributeError(f"{package} has no {name!r}")
        elif name in studies().modules:
            value = offered_value(f"{studies().modules[name]}.{name}")
        elif name in studies().aliases:
            value = attribute(studies().aliases[name])
        else:
            from bioeval.base.errors import nearest_name

            raise AttributeError(f"{package} has no {name!r}.{nearest_name(name, names())}")
        setattr(sys.modules[package], name, value)
        return value

    return attribute, listed


def without_names_in_help(value_of: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return ``__getattr__`` of a package whose docstring lists its names.

    ``help`` prints the docstring of each name of ``__all__``, some thousand lines; without it, that
    of the package. pydoc can be told no other way, and ``from bioeval import *`` needs ``__all__``.
    """

    def attribute(name: str) -> Any:
        """Return the value of a name, but not ``__all__`` to pydoc."""
        if name == "__all__" and sys._getframe(1).f_globals.get("__name__") == "pydoc":
            raise AttributeError(name)
        return value_of(name)

    return attribute
