"""The manifests of all studies."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Mapping
from typing import Any

from bioeval.base.lazy import offered_value
from bioeval.base.manifest import StudyManifest


@functools.cache
def manifests() -> Mapping[str, StudyManifest]:
    """Return the manifest of each study by the name of its folder, in this order."""
    import bioeval.studies as folder

    names = []
    for place in folder.__path__:
        for entry in os.scandir(place):
            if entry.is_dir() and not entry.name.startswith("_"):
                names.append(entry.name)
    studies = {}
    for name in sorted(names):
        package = f"{folder.__name__}.{name}"
        studies[name] = importlib.import_module(package).STUDY.resolved(package)
    return studies


@functools.cache
def offered(offer_kind: str, name: str) -> Any:
    """Return the module that a study offers under a name, None without one.

    `offer_kind` is one of :data:`bioeval.base.manifest.BY_NAME`, such as ``"counts"``, and `name`
    a form of counts.
    """
    for study in manifests().values():
        if home := getattr(study, offer_kind).get(name):
            return importlib.import_module(home)
    return None


def hooks(name: str) -> list[Any]:
    """Return what studies answer to a question of the core, in the order of their folders.

    :data:`bioeval.base.manifest.HOOKS` has the questions.
    """
    return [offered_value(x.hooks[name]) for x in manifests().values() if name in x.hooks]
