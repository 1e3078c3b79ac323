"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any


def lazy_names(package: str, homes: dict[str, str]) -> Callable[[str], Any]:
    """Return ``__getattr__`` of a package; `homes` has the public names of each module of it.

    A type checker does not see them: the package also imports them under ``TYPE_CHECKING``.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def of_name(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return of_name
