"""The doors of other packages: opened, checked, and without names that are taken."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from bioeval.base.elsewhere import EntryPoint, ProgramEndedError, guest, load_entry, report
from bioeval.base.errors import DataError
from bioeval.base.lazy import modules_of
from bioeval.base.study import (
    BY_NAME,
    OLDEST_SCHEMA,
    SCHEMA,
    Offer,
    PageSection,
    Plot,
    Study,
    Subcommand,
    View,
)

#: The message for a name that two other packages offer, by its kind and itself.
clashes: dict[tuple[str, str], str] = {}


def opened(points: tuple[EntryPoint, ...], own_studies: list[Study]) -> dict[str, Study]:
    """Open the doors of other packages; what bioeval has keeps its name."""
    own = set(_names_of_core())
    for study in own_studies:
        own |= {*_names(study)}
    doors: dict[str, Study] = {}
    offers: dict[tuple[str, str], list[Study]] = {}
    for point in points:
        opens = _open(point)
        if opens is None:
            continue
        doors[f"{point.package.partition(' ')[0]}/{point.name}"] = opens
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
    return doors


def _open(point: EntryPoint) -> Study | None:
    """Return the study of an entry point; None, and a warning, if it is not one."""
    module = load_entry(point)
    if module is None:
        return None
    attribute = point.attribute or "STUDY"
    study = getattr(module, attribute, None)
    if not isinstance(study, Study):
        report(point.package, f"{point.module} has no {attribute} that is a Study; it is left out")
        return None
    if not (isinstance(study.schema, int) and OLDEST_SCHEMA <= study.schema <= SCHEMA):
        report(
            point.package,
            f"{point.module} is a door of schema {study.schema}, and this version of bioeval "
            f"opens those of schema {OLDEST_SCHEMA} to {SCHEMA}{point.unmet()}; it is left out",
        )
        return None
    if wrong := _wrong(study):
        report(point.package, f"{point.module}: {wrong}; it is left out")
        return None
    package = module.__package__
    if hasattr(module, "__path__"):
        package = module.__name__
    study.package = point.package
    return study.stand_in(package or "")


#: What each member of these fields of a door is.
_MEMBERS: dict[str, type[Offer]] = {
    "commands": Subcommand,
    "plots": Plot,
    "views": View,
    "sections": PageSection,
}


def _wrong(study: Study) -> str:
    """Return what of a door is missing or not of its type, so that nothing else breaks by it."""
    if wrong := _wrong_fields(study):
        return wrong
    for field_name, expected in _MEMBERS.items():
        for offer in getattr(study, field_name):
            if not isinstance(offer, expected):
                return f"its {field_name} are no tuple of {expected.__name__}"
            if wrong := _wrong_fields(offer):
                return wrong
    for view in study.views:
        if not all(isinstance(task, str) for task in view.tasks):
            return f"tasks of a View are {view.tasks!r}; expected a tuple of text"
    for field_name in ("calls", "stats"):
        for names in getattr(study, field_name).values():
            if not isinstance(names, tuple):
                return f"its {field_name} are {names!r}; expected a tuple of names for each module"
    own = [command.name for command in study.commands]
    if others := [name for name in study.not_options if name not in own]:
        return f"its not_options are about {others[0]!r}; expected its own commands"
    for block in filter(None, study.examples.strip().split("\n\n")):
        lines = block.splitlines()
        for purpose, line in itertools.zip_longest(lines[::2], lines[1::2], fillvalue=""):
            if not purpose.startswith("# ") or line.split()[:2] not in [
                ["bioeval", x] for x in own
            ]:
                return (
                    f"its example {line or purpose!r} is no purpose, '# ...', above a command of it"
                )
    return ""


def _wrong_fields(offer: Offer) -> str:
    """Return which field of a door, or of what it offers, is missing or not of its type."""
    kind = type(offer)
    for name in kind.__annotations__:
        if name not in vars(offer) and not hasattr(kind, name):
            return f"a {kind.__name__} has no {name}"
        value, default = getattr(offer, name), getattr(kind, name, None)
        expected: type = type(default)
        if isinstance(default, Mapping):
            expected = Mapping
        elif default is None:  # of a field that has to be given
            expected = tuple if name == "tasks" else str
        if not isinstance(value, expected):
            return f"{name} of a {kind.__name__} is {value!r}; expected a {expected.__name__}"
    return ""


def _names_of_core() -> Iterator[tuple[str, str]]:
    """Yield the public names of the core, without those of studies."""
    for package in ("bioeval", "bioeval.plot", "bioeval.stats"):
        for name in modules_of(vars(importlib.import_module(package))["_NAMES"]):
            yield package.replace("bioeval", "be"), name


def _names(study: Study) -> Iterator[tuple[str, str]]:
    """Yield the kind and the name of all that a study offers by name."""
    for name in itertools.chain(*study.calls.values(), study.other_names):
        yield "be", name
    for name in itertools.chain(*study.stats.values()):
        yield "be.stats", name
    for plot in study.plots:
        yield "be.plot", plot.name
        yield "be.plot", plot.display
    for command in study.commands:
        yield "bioeval", command.name
    for field_name in (*BY_NAME, "nodes"):
        for name in getattr(study, field_name):
            yield field_name, name


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
        study.other_names = dict(x for x in study.other_names.items() if name not in x)
    elif kind == "be.stats":
        study.stats = _without(study.stats, name)
    else:
        kept = dict(getattr(study, kind))
        del kept[name]
        setattr(study, kind, kept)


def _without(calls: Mapping[str, tuple[str, ...]], name: str) -> dict[str, tuple[str, ...]]:
    """Return the names of each module without one."""
    kept = {}
    for home, names in calls.items():
        kept[home] = tuple(x for x in names if x != name)
    return kept


def scalars_of(package: str, offered: Any, taken: set[str], kind: type[Any]) -> list[Any]:
    """Return the scalars of another package that are valid, and whose names are not taken."""
    scalars: list[Any] = []
    if not isinstance(offered, (tuple, list)):
        offered = (offered,)
    for scalar in offered:
        if not isinstance(scalar, kind):
            report(package, f"its scalars have {scalar!r}; expected a Scalar; it is left out")
            continue
        try:
            with guest(package, f"{scalar.name} of FAR and FRR"):
                checked = scalar.checked(taken)
        except ProgramEndedError as error:
            report(
                package, f"its scalar {scalar.name!r} is left out: it ended the program ({error})"
            )
            continue
        except DataError as error:
            report(package, f"its scalar {scalar.name!r} is left out: {error}")
            continue
        taken.update(x.name for x in checked.with_threshold())
        scalars.append(_guarded(package, checked))
    return scalars


def _guarded(package: str, scalar: Any) -> Any:
    """Return a scalar of another package that is NaN where its function of the rates fails."""
    from dataclasses import replace

    import numpy as np

    function = scalar.of_rates
    if function is None:
        return scalar

    def of_rates(far: Any, frr: Any) -> Any:
        try:
            with guest(package, f"{scalar.name} of FAR and FRR"):
                return function(far, frr)
        except (DataError, ProgramEndedError) as error:
            report(package, f"its scalar {scalar.name!r}: {error}")
            return np.full(np.shape(far), np.nan)

    return replace(scalar, of_rates=of_rates)
