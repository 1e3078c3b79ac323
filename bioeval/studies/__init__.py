"""One folder for each study, with everything that is its own; its ``__init__.py`` is its door.

A door is a :class:`~bioeval.base.study.Study`. The rest of the package reads the doors and names no
study: whoever adds a folder adds a study, and whoever deletes it takes the study away.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from bioeval.base.study import Study


@functools.cache
def doors() -> Mapping[str, Study]:
    """Return the door of each study, by the name of its folder, in alphabetical order."""
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda module: module.name):
        package = f"{__name__}.{module.name}"
        found[module.name] = importlib.import_module(package).STUDY.within(package)
    return found


def hooks(name: str) -> list[Any]:
    """Return what the studies answer to a question of the core; see :data:`.HOOKS`."""
    homes = [study.hooks[name].rpartition(".") for study in doors().values() if name in study.hooks]
    return [getattr(importlib.import_module(module), found) for module, _, found in homes]
