"""Names of a package, imported at first use."""

from __future__ import annotations

import functools
import importlib
import re
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from importlib.abc import FileLoader
    from importlib.machinery import ModuleSpec

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
    clashes: Mapping[str, str] = _NONE  # the message of a name that two other packages offer


def lazy_names(
    spec: ModuleSpec,
    offered: Callable[[], Offered] | None = None,
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` (it knows ``__all__``) and ``__dir__`` of a package.

    Its public names are those of its stub, ``__init__.pyi``, which type checkers read: the lines
    ``from MODULE import NAME as NAME``, and in ``__dir__`` also ``OTHER_NAME = NAME``. Where more
    names are `offered`, those of the stub below its line :data:`OF_STUDIES` are for type checkers
    alone. Those below its line :data:`TOOLKIT` are there, and not listed.
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
            from bioeval.base.errors import nearest_name

            raise AttributeError(f"{package} has no {name!r}.{nearest_name(name, names())}")
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
    return Offered(_homes(public), dict(re.findall(_OTHER_NAME, public, re.MULTILINE)))


def _homes(stub: str) -> dict[str, str]:
    """Return the module of each name that a stub imports."""
    homes: dict[str, str] = {}
    for home, names in re.findall(_IMPORT, stub, re.MULTILINE):
        homes |= dict.fromkeys(re.findall(r"(\w+) as ", names), home)
    return homes
