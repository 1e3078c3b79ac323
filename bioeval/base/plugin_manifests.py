"""The manifests of other packages: checked, and without names that are taken."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, replace
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import DataError
from bioeval.base.lazy import modules_of
from bioeval.base.manifest import (
    BY_NAME,
    OLDEST_SCHEMA,
    SCHEMA,
    Plot,
    StudyManifest,
    Subcommand,
    View,
)
from bioeval.base.plugins import (
    ProgramEndedError,
    load_entry,
    package_of,
    plugin_code,
    report,
    requirement_of,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The message for a name that two other packages offer, by its kind and itself.
clashes: dict[tuple[str, str], str] = {}


def checked_manifests(
    points: tuple[EntryPoint, ...], shipped: list[StudyManifest]
) -> dict[str, StudyManifest]:
    """Return the manifests of other packages; what bioeval has keeps its name."""
    taken: set[tuple[str, str]] = set()
    for package in ("bioeval", "bioeval.plot", "bioeval.stats"):
        for core_name in modules_of(vars(importlib.import_module(package))["_NAMES"]):
            taken.add((package.replace("bioeval", "be"), core_name))
    for study in shipped:
        taken |= {*_names(study)}
    manifests: dict[str, StudyManifest] = {}
    studies_with: dict[tuple[str, str], list[StudyManifest]] = {}
    for point in points:
        loaded = _load(point)
        if loaded is None:
            continue
        manifests[f"{loaded.package.partition(' ')[0]}/{point.name}"] = loaded
        for name in dict.fromkeys(_names(loaded)):
            studies_with.setdefault(name, []).append(loaded)
    for name, studies in studies_with.items():
        if name in taken:
            for study in studies:
                _leave_out(study, name)
                message = f"{_in_words(name)} is bioeval's own; that of the package is left out"
                report(study.package, message)
        elif len(studies) > 1:
            listed = " and ".join(study.package for study in studies)
            clashes[name] = f"{_in_words(name)} is offered by {listed}; uninstall one of them"
            for study in studies:
                _leave_out(study, name)
    return manifests


def _load(point: EntryPoint) -> StudyManifest | None:
    """Return the manifest of an entry point; None, and a warning, if it has none."""
    module = load_entry(point)
    if module is None:
        return None
    package = package_of(point)
    attribute = point.attr or "STUDY"
    study = getattr(module, attribute, None)
    if not isinstance(study, StudyManifest):
        line = f"{point.module} has no {attribute} that is a StudyManifest"
        report(package, f"{line}; it is left out")
        return None
    if not (isinstance(study.schema, int) and OLDEST_SCHEMA <= study.schema <= SCHEMA):
        report(
            package,
            f"{point.module} is a manifest of schema {study.schema}, and this version of bioeval "
            f"reads those of schema {OLDEST_SCHEMA} to {SCHEMA}{requirement_of(point)}; it is left "
            "out",
        )
        return None
    if wrong := _wrong(study):
        report(package, f"{point.module}: {wrong}; it is left out")
        return None
    folder = module.__name__ if hasattr(module, "__path__") else module.__package__
    return replace(study.resolved(folder or ""), package=package)


#: What each member of these fields of a manifest is.
_MEMBERS: dict[str, type[Any]] = {
    "commands": Subcommand,
    "plots": Plot,
    "views": View,
}


def _wrong(study: StudyManifest) -> str:
    """Return what of a manifest is not of its type, so that nothing else breaks by it."""
    if wrong := _wrong_fields(study):
        return wrong
    for field_name, expected in _MEMBERS.items():
        for offer in getattr(study, field_name):
            if not isinstance(offer, expected):
                return f"its {field_name} are no tuple of {expected.__name__}"
            if wrong := _wrong_fields(offer):
                return wrong
    for view in study.views:
        if not all(isinstance(x, str) for x in view.result_types):
            return f"result_types of a View are {view.result_types!r}; expected a tuple of text"
    for field_name in ("calls", "stats"):
        for names in getattr(study, field_name).values():
            if not isinstance(names, tuple):
                return f"its {field_name} are {names!r}; expected a tuple of names for each module"
    command_names = [command.name for command in study.commands]
    if unknown := [name for name in study.not_options if name not in command_names]:
        return f"its not_options are about {unknown[0]!r}; expected its own commands"
    for block in filter(None, study.examples.strip().split("\n\n")):
        lines = block.splitlines()
        for purpose, line in itertools.zip_longest(lines[::2], lines[1::2], fillvalue=""):
            if not purpose.startswith("# ") or line.split()[:2] not in [
                ["bioeval", x] for x in command_names
            ]:
                return (
                    f"its example {line or purpose!r} is no purpose, '# ...', above a command of it"
                )
    return ""


def _wrong_fields(offer: Any) -> str:
    """Return which field of a manifest, or of what it offers, is not of its type."""
    kind = type(offer).__name__
    for field in fields(offer):
        expected: type = str
        if field.default_factory is not MISSING:
            expected = Mapping
        elif field.default is not MISSING:
            expected = type(field.default)
        elif field.name == "result_types":
            expected = tuple
        value = getattr(offer, field.name)
        if not isinstance(value, expected):
            return f"{field.name} of a {kind} is {value!r}; expected a {expected.__name__}"
    return ""


def _names(study: StudyManifest) -> Iterator[tuple[str, str]]:
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


def _in_words(of: tuple[str, str]) -> str:
    """Return a kind and a name as a reader knows them."""
    kind, name = of
    if kind == "bioeval":
        return f"the command {name!r}"
    if kind.startswith("be"):
        return f"{kind}.{name}"
    return f"{name!r} of {kind}"


def _leave_out(study: StudyManifest, of: tuple[str, str]) -> None:
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
            with plugin_code(package, f"{scalar.name} of FAR and FRR"):
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
            with plugin_code(package, f"{scalar.name} of FAR and FRR"):
                return function(far, frr)
        except (DataError, ProgramEndedError) as error:
            report(package, f"its scalar {scalar.name!r}: {error}")
            return np.full(np.shape(far), np.nan)

    return replace(scalar, of_rates=of_rates)
