"""Names of a package, imported at first use, and former names of packages and classes."""

from __future__ import annotations

import functools
import importlib
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from importlib.abc import FileLoader
    from importlib.machinery import ModuleSpec

P = ParamSpec("P")
R = TypeVar("R")

_IMPORT = r"^from (\S+) import (\([^)]*\)|.*)$"
_OTHER_NAME = r"^(\w+) = (\w+)$"
#: Where the names begin that studies offer; ``scripts/stub`` writes them.
OF_STUDIES = "# Of the studies"
#: Where the names begin that studies use, and that are not public.
TOOLKIT = "# For studies"
_NONE: Mapping[str, str] = MappingProxyType({})


class Offered(NamedTuple):
    """Names of a package, besides those of its stub."""

    homes: dict[str, str]  # the module of each name
    other_names: dict[str, str]
    former: dict[str, str]
    clashes: Mapping[str, str] = _NONE  # the message of a name that two other packages offer


def lazy_names(
    spec: ModuleSpec,
    former: Mapping[str, str] = _NONE,
    offered: Callable[[], Offered] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` (it knows ``__all__``) and ``__dir__`` of a package.

    Its public names are those of its stub, ``__init__.pyi``, which type checkers read: the lines
    ``from MODULE import NAME as NAME``, and in ``__dir__`` also ``OTHER_NAME = NAME``. `former` has
    the new name of one that was renamed, the place of one that is in a module alone, or says what
    does the work of one that was removed. Where more names are `offered`, those of the stub below
    its line :data:`OF_STUDIES` are for type checkers alone. Those below its line :data:`TOOLKIT`
    are there, and not listed.
    """
    package, loader = spec.name, cast("FileLoader", spec.loader)

    @functools.cache
    def own() -> Offered:
        return _of_stub(stub())

    @functools.cache
    def stub() -> str:
        text = loader.get_data(f"{spec.origin}i").decode()
        if offered:
            return text.partition(OF_STUDIES)[0]
        return text

    @functools.cache
    def of_toolkit() -> dict[str, str]:
        return _homes(stub().partition(TOOLKIT)[2])

    @functools.cache
    def known() -> Offered:
        """Return the public names of the stub, and those offered."""
        public = own()
        if not offered:
            return public
        more = offered()
        return Offered(
            public.homes | more.homes,
            public.other_names | more.other_names,
            public.former | more.former,
            more.clashes,
        )

    def names() -> list[str]:
        return sorted([*known().homes, *known().other_names])

    def of_name(name: str) -> Any:
        """Return what has a name, and keep it in the package."""
        if name == "__all__":
            return sorted(known().homes)
        home = own().homes.get(name) or of_toolkit().get(name)
        if home is None and name.startswith("__"):
            raise AttributeError(f"{package} has no {name!r}")
        home = home or known().homes.get(name)
        if home == package:
            return importlib.import_module(f"{package}.{name}")
        if home:
            from bioeval.base.elsewhere import offered_value

            value = offered_value(f"{home}.{name}")
        elif name in known().other_names:
            value = of_name(known().other_names[name])
        elif name in known().clashes:
            from bioeval.base.errors import PluginError

            raise PluginError(known().clashes[name])
        else:
            gone = _new_name(package, name, known().former | dict(former), names())
            module, _, new = gone.rpartition(".")
            if module:
                return getattr(importlib.import_module(module), new)
            return of_name(new)
        setattr(sys.modules[package], name, value)
        return value

    return of_name, names


def names_of_stub(package: str) -> list[str]:
    """Return the public names in the stub of a package, without those that studies offer."""
    spec: Any = importlib.import_module(package).__spec__
    text = spec.loader.get_data(f"{spec.origin}i").decode()
    public = _of_stub(text.partition(OF_STUDIES)[0])
    return [*public.homes, *public.other_names]


def _of_stub(stub: str) -> Offered:
    public = stub.partition(TOOLKIT)[0]
    return Offered(_homes(public), dict(re.findall(_OTHER_NAME, public, re.MULTILINE)), {})


def _homes(stub: str) -> dict[str, str]:
    """Return the module of each name that a stub imports."""
    homes: dict[str, str] = {}
    for home, names in re.findall(_IMPORT, stub, re.MULTILINE):
        homes |= dict.fromkeys(re.findall(r"(\w+) as ", names), home)
    return homes


def _new_name(package: str, name: str, former: Mapping[str, str], public: list[str]) -> str:
    """Return the new name of a renamed one, with a warning; it stays for two minor versions.

    Raises
    ------
    RemovedNameError
        If the name was removed.
    AttributeError
        If there is no such name.
    """
    from bioeval.base.errors import RemovedNameError, nearest_name

    now = former.get(name)
    if now is None:
        raise AttributeError(f"{package} has no {name!r}.{nearest_name(name, public)}")
    if not all(map(str.isidentifier, now.split("."))):
        raise RemovedNameError(f"{package}.{name} was removed; {now}")
    new = now if "." in now else f"{package}.{now}"
    _warn_of_former(f"{package}.{name}", new)
    return now


def _warn_of_former(name: str, new: str) -> None:
    """Warn at the line that uses a former name: three calls above."""
    text = f"{name} is now {new}; the former name will be removed"
    warnings.warn(text, FutureWarning, stacklevel=4)


def former_attributes(former: Mapping[str, str]) -> Callable[..., Any]:
    """Return ``__getattr__`` of a class with attributes that became private.

    What was ``name`` is now ``_name``; `former` says what takes its place. The former names work
    with a warning, for two minor versions.
    """

    def now(owner: Any, name: str) -> str:
        if name not in former or f"_{name}" not in dir(owner):
            return name
        _warn_of_former(f"{type(owner).__name__}.{name}", former[name])
        return f"_{name}"

    def of_name(self: Any, name: str) -> Any:  # of a name that is not there: raises
        return object.__getattribute__(self, now(self, name))

    return of_name


def without(**former: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse arguments that a function had; `former` gives the replacement of each."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        """Return the function with a look at its arguments first."""

        @functools.wraps(function)
        def called(*args: P.args, **options: P.kwargs) -> R:
            for name in former.keys() & options.keys():
                from bioeval.base.errors import Argument, DataError

                raise DataError(f"{Argument(name)} was removed; {former[name]}")
            return function(*args, **options)

        return called

    return decorated
