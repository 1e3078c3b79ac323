"""The doors of all studies: those of :mod:`bioeval.studies`, and those of other packages."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

from bioeval.base.elsewhere import (
    called,
    entry_points,
    guest,
    import_offered,
    offered_value,
    report,
    said,
)
from bioeval.base.study import (
    Study,
)


@functools.cache
def own_doors() -> Mapping[str, Study]:
    """Return the door of each study of bioeval by the name of its folder, in this order."""
    import bioeval.studies as folder

    names = []
    for place in folder.__path__:
        for entry in os.scandir(place):
            if entry.is_dir() and not entry.name.startswith("_"):
                names.append(entry.name)
    stand_ins = {}
    for name in sorted(names):
        package = f"{folder.__name__}.{name}"
        stand_ins[name] = importlib.import_module(package).STUDY.stand_in(package)
    return stand_ins


@functools.cache
def doors() -> Mapping[str, Study]:
    """Return the door of each study by its name; those of other packages come last."""
    points = entry_points("studies")
    if not points:
        return own_doors()
    from bioeval.base.doors_elsewhere import opened

    own = own_doors()
    return {**own, **opened(points, [*own.values()])}


@functools.cache
def offered(what: str, name: str) -> Any:
    """Return the module that a study offers under a name, None without one.

    `what` is one of :data:`bioeval.base.study.BY_NAME`, such as ``"counts"``, and `name` a form of
    counts.
    """
    for study in doors().values():
        if home := getattr(study, what).get(name):
            return import_offered(home)
    return None


def hooks(name: str) -> list[Any]:
    """Return what studies answer to a question of the core, in the order of their folders.

    :data:`bioeval.base.study.HOOKS` has the questions. What another package answers is left out,
    with a warning, where it cannot be imported or raises an error.
    """
    answers = []
    for study in doors().values():
        if name not in study.hooks:
            continue
        if not study.package:
            answers.append(offered_value(study.hooks[name]))
        elif answer := value_from_elsewhere(study.package, study.hooks[name]):
            answers.append(_guarded(study.package, name, answer))
    return answers


def value_from_elsewhere(package: str, place: str) -> Any:
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
        return functools.partial(called, package, name, answer)

    @functools.wraps(answer)
    def guarded(*given: Any) -> Any:
        without = _WITHOUT_ANSWER[name](*given)
        try:
            with guest(package, name):
                answered = answer(*given)
        except Exception as error:
            report(package, f"{name} failed ({said(error)})")
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
    doors()
    from bioeval.base.doors_elsewhere import clashes

    return {name: message for (of, name), message in clashes.items() if of == kind}
