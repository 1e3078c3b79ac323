"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import FileLoader
    from importlib.machinery import ModuleSpec

_IMPORT = re.compile(r"^from (\S+) import (\([^)]*\)|.*)$", re.MULTILINE)
_NONE: Mapping[str, str] = MappingProxyType({})


def lazy_names(
    spec: ModuleSpec, removed: Mapping[str, str] = _NONE
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    Its public names are those of its stub, ``__init__.pyi``, which type checkers read: the lines
    ``from MODULE import NAME as NAME``. `removed` says what does the work of a former name.
    """
    package, loader = spec.name, cast("FileLoader", spec.loader)
    stub = loader.get_data(f"{spec.origin}i").decode()
    home_of = {
        name: home
        for home, names in _IMPORT.findall(stub)
        for name in re.findall(r"(\w+) as ", names)
    }

    def of_name(name: str) -> Any:
        if name not in home_of:
            from bioeval.base.errors import nearest_name

            if name in removed:
                raise AttributeError(f"{package}.{name} was removed; {removed[name]}")
            raise AttributeError(f"{package} has no {name!r}.{nearest_name(name, home_of)}")
        home = home_of[name]
        if home == package:
            return importlib.import_module(f"{home}.{name}")
        value = getattr(importlib.import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    return [*home_of], of_name, lambda: sorted(home_of)
