"""The manifests of all studies: of :mod:`bioeval.studies`, and of other packages."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

from bioeval.base.manifest import (
    StudyManifest,
)
from bioeval.base.plugins import (
    call_plugin,
    entry_points,
    error_line,
    import_offered,
    offered_value,
    plugin_code,
    report,
)


@functools.cache
def shipped_manifests() -> Mapping[str, StudyManifest]:
    """Return the manifest of each study of bioeval by the name of its folder, in this order."""
    import bioeval.studies as folder

    names = []
    for place in folder.__path__:
        for entry in os.scandir(place):
            if entry.is_dir() and not entry.name.startswith("_"):
                names.append(entry.name)
    shipped = {}
    for name in sorted(names):
        package = f"{folder.__name__}.{name}"
        shipped[name] = importlib.import_module(package).STUDY.resolved(package)
    return shipped


@functools.cache
def manifests() -> Mapping[str, StudyManifest]:
    """Return the manifest of each study by its name; those of other packages come last."""
    points = entry_points("studies")
    if not points:
        return shipped_manifests()
    from bioeval.base.plugin_manifests import checked_manifests

    shipped = shipped_manifests()
    return {**shipped, **checked_manifests(points, [*shipped.values()])}


@functools.cache
def offered(offer_kind: str, name: str) -> Any:
    """Return the module that a study offers under a name, None without one.

    `offer_kind` is one of :data:`bioeval.base.manifest.BY_NAME`, such as ``"counts"``, and `name`
    a form of counts.
    """
    for study in manifests().values():
        if home := getattr(study, offer_kind).get(name):
            return import_offered(home)
    return None


def hooks(name: str) -> list[Any]:
    """Return what studies answer to a question of the core, in the order of their folders.

    :data:`bioeval.base.manifest.HOOKS` has the questions. What another package answers is left out,
    with a warning, where it cannot be imported or raises an error.
    """
    answers = []
    for study in manifests().values():
        if name not in study.hooks:
            continue
        if not study.package:
            answers.append(offered_value(study.hooks[name]))
        elif answer := value_of_plugin(study.package, study.hooks[name]):
            answers.append(_guarded(study.package, name, answer))
    return answers


def value_of_plugin(package: str, place: str) -> Any:
    """Return what another package names as ``"module.name"``; None, and a warning, if it fails."""
    from bioeval.base.errors import PluginError

    try:
        return offered_value(place)
    except PluginError as error:
        report(package, str(error).removeprefix(f"{package}: "))
        return None


#: What a question gets that another package fails to answer, from its arguments.
_WITHOUT_ANSWER: dict[str, Callable[..., Any]] = {
    "why_undefined": lambda scores, protocol: "",
    "with_doubts": lambda tree, scores, protocol: tree,
}


def _guarded(package: str, name: str, answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return an answer that is reported in place of its error."""
    if isinstance(answer, type):
        return answer
    if name not in _WITHOUT_ANSWER:
        return functools.partial(call_plugin, package, name, answer)

    @functools.wraps(answer)
    def guarded(*arguments: Any) -> Any:
        without = _WITHOUT_ANSWER[name](*arguments)
        try:
            with plugin_code(package, name):
                answered = answer(*arguments)
        except Exception as error:
            report(package, f"{name} failed ({error_line(error)})")
            return without
        if not isinstance(answered, type(without)):
            expected = type(without).__name__
            report(package, f"{name} returned {type(answered).__name__}; expected a {expected}")
            return without
        return answered

    return guarded


def clashes_of(kind: str) -> dict[str, str]:
    """Return the messages for names that two packages offer, of a kind such as ``"be.plot"``."""
    if not entry_points("studies"):
        return {}
    manifests()
    from bioeval.base.plugin_manifests import clashes

    return {name: message for (of, name), message in clashes.items() if of == kind}
