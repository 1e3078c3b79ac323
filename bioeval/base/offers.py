"""The doors of all studies: those of :mod:`bioeval.studies`, and those of other packages."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bioeval.base.elsewhere import (
    EntryPoint,
    entry_points,
    import_offered,
    load_entry,
    offered_value,
    report,
    said,
)
from bioeval.base.study import (
    BY_NAME,
    OLDEST_SCHEMA,
    SCHEMA,
    Plot,
    Study,
    Subcommand,
    View,
)
from bioeval.base.version import __version__


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
    return {**own_doors(), **_from_elsewhere(points)}


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
    if name not in _WITHOUT_ANSWER:
        return answer

    @functools.wraps(answer)
    def guarded(*given: Any) -> Any:
        try:
            return answer(*given)
        except Exception as error:
            report(package, f"{name} failed ({said(error)})")
            return _WITHOUT_ANSWER[name](*given)

    return guarded


# --------------------------------------------------------------------------- of other packages

#: The message for a name that two other packages offer, by its kind and itself.
clashes: dict[tuple[str, str], str] = {}


def _from_elsewhere(points: tuple[EntryPoint, ...]) -> dict[str, Study]:
    """Open the doors of other packages; what bioeval has keeps its name."""
    own = set(_names_of_core())
    for study in own_doors().values():
        own |= {*_names(study)}
    opened: dict[str, Study] = {}
    offers: dict[tuple[str, str], list[Study]] = {}
    for point in points:
        opens = _open(point)
        if opens is None:
            continue
        opened[f"{point.package.partition(' ')[0]}/{point.name}"] = opens
        for of in dict.fromkeys(_names(opens)):
            offers.setdefault(of, []).append(opens)
    for of, studies in offers.items():
        if of in own:
            for study in studies:
                _leave_out(study, of)
                report(
                    study.package, f"{_said(of)} is bioeval's own; that of the package is left out"
                )
        elif len(studies) > 1:
            listed = " and ".join(study.package for study in studies)
            clashes[of] = f"{_said(of)} is offered by {listed}; uninstall one of them"
            for study in studies:
                _leave_out(study, of)
    return opened


def _open(point: EntryPoint) -> Study | None:
    """Return the study of an entry point; None, and a warning, if it is not one."""
    module = load_entry(point)
    if module is None:
        return None
    attribute = point.attribute or "STUDY"
    study = getattr(module, attribute, None)
    required = point.requirement()
    needs = f"; it requires {required}, and this is {__version__}" if required else ""
    if not isinstance(study, Study):
        report(point.package, f"{point.module} has no {attribute} that is a Study; it is left out")
        return None
    if not OLDEST_SCHEMA <= study.schema <= SCHEMA:
        report(
            point.package,
            f"{point.module} is a door of schema {study.schema}, and this version of bioeval "
            f"opens those of schema {OLDEST_SCHEMA} to {SCHEMA}{needs}; it is left out",
        )
        return None
    if wrong := _wrong(study):
        report(point.package, f"{point.module}: {wrong}; it is left out")
        return None
    package = module.__name__ if hasattr(module, "__path__") else module.__package__
    study.package = point.package
    return study.stand_in(package or "")


def _wrong(study: Study) -> str:
    """Return what of a door is not of its type."""
    for field_name, expected in {"commands": Subcommand, "plots": Plot, "views": View}.items():
        offers = getattr(study, field_name)
        if not isinstance(offers, tuple) or not all(isinstance(x, expected) for x in offers):
            return f"its {field_name} are no tuple of {expected.__name__}"
    for field_name in ("calls", "stats"):
        if any(isinstance(names, str) for names in getattr(study, field_name).values()):
            return f"its {field_name} name a text; expected a tuple of names for each module"
    return ""


def _names_of_core() -> Iterator[tuple[str, str]]:
    """Yield the public names of the core, without those of studies."""
    from bioeval.base.lazy import names_of_stub

    for package in ("bioeval", "bioeval.plot", "bioeval.stats"):
        for name in names_of_stub(package):
            yield package.replace("bioeval", "be"), name


def _names(study: Study) -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of all that a study offers by name."""
    for names in study.calls.values():
        yield from (("be", name) for name in names)
    yield from (("be", name) for name in study.other_names)
    for names in study.stats.values():
        yield from (("be.stats", name) for name in names)
    for plot in study.plots:
        yield from (("be.plot", plot.name), ("be.plot", plot.display))
    yield from (("bioeval", command.name) for command in study.commands)
    for field_name in (*BY_NAME, "nodes"):
        yield from ((field_name, name) for name in getattr(study, field_name))


def clashes_of(kind: str) -> dict[str, str]:
    """Return the messages for names that two packages offer, of a kind such as ``"be.plot"``."""
    doors()
    return {name: message for (of, name), message in clashes.items() if of == kind}


def _said(of: tuple[str, str]) -> str:
    """Return a kind and a name as a reader knows them."""
    kind, name = of
    if kind == "bioeval":
        return f"the command {name!r}"
    if kind.startswith("be"):
        return f"{kind}.{name}"
    return f"{name!r} of {kind}"


def _leave_out(study: Study, of: tuple[str, str]) -> None:
    """Take a name out of what a study offers."""
    kind, name = of
    if kind == "bioeval":
        study.commands = tuple(x for x in study.commands if x.name != name)
    elif kind == "be.plot":
        study.plots = tuple(x for x in study.plots if name not in (x.name, x.display))
    elif kind == "be":
        study.calls = _without(study.calls, name)
        study.other_names = {k: x for k, x in study.other_names.items() if name not in (k, x)}
    elif kind == "be.stats":
        study.stats = _without(study.stats, name)
    else:
        kept = {key: home for key, home in getattr(study, kind).items() if key != name}
        setattr(study, kind, kept)


def _without(calls: Mapping[str, tuple[str, ...]], name: str) -> dict[str, tuple[str, ...]]:
    return {home: tuple(x for x in names if x != name) for home, names in calls.items()}
