"""What other packages add, by entry points in their metadata.

A package that is installed beside bioeval names in its ``pyproject.toml`` what it has::

    [project.entry-points."bioeval.studies"]
    lab = "bioeval_lab"            # a package with a STUDY, or a module and a name of its own
    [project.entry-points."bioeval.formats"]
    lab = "bioeval_lab.lab_format" # a module with a FORMAT
    [project.entry-points."bioeval.protocols"]
    lab = "bioeval_lab.cards"      # a package: the folder of its cards

What cannot be loaded is left out, with one warning, and the rest works. The working directory is
never searched. ``BIOEVAL_PLUGINS=off`` leaves all packages out.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from bioeval.base.distribution import distribution, way_out

#: The groups of entry points, each with the prefix ``bioeval.``.
GROUPS = ("studies", "formats", "protocols")

#: The environment variable that leaves other packages out if it is ``off`` or ``0``.
SWITCH = "BIOEVAL_PLUGINS"

#: A door that takes longer to open than this, in seconds, is reported.
SLOW = 1.0


class EntryPoint:
    """What a package has for one of :data:`GROUPS`.

    A class without more, since it is made at each start of the command line.
    """

    def __init__(self, group: str, name: str, value: str, package: str, folder: str):
        self.group = group
        self.name = name
        self.module, _, self.attribute = value.partition("[")[0].strip().partition(":")
        self.package = package  # name and version, as ``bioeval-lab 1.2``
        self.folder = folder  # of its metadata

    def unmet(self) -> str:
        """Say which version of bioeval the package requires, if this one is older; else nothing."""
        from bioeval.base.version import __version__

        ours = distribution()
        with (
            contextlib.suppress(OSError, ValueError),
            open(f"{self.folder}/METADATA", encoding="utf-8") as file,
        ):
            for line in file:
                required = line.replace(" ", "").strip().partition(";")[0]
                name, _, least = required.partition(">=")
                least = least.partition(",")[0]
                if name == f"Requires-Dist:{ours}" and _numbers(least) > _numbers(__version__):
                    return f"; it requires {ours}>={least}, and this is {__version__}"
        return ""


def _numbers(version: str) -> list[int]:
    """Return the numbers of a version."""
    return list(map(int, version.split(".")[:3]))


#: The package that has a module, by the name of the module before its first dot.
owners: dict[str, str] = {}

#: What was wrong with other packages, each once, in the order in which it was found.
problems: list[str] = []


def report(package: str, problem: str) -> None:
    """Say once, in one line, what is wrong with a package.

    Processes that help another one are silent: it has said the same.
    """
    line = f"{package}: {' '.join(problem.split())}"
    if line in problems:
        return
    problems.append(line)
    processes: Any = sys.modules.get("multiprocessing.process")
    if processes is None or processes.parent_process() is None:
        import warnings

        from bioeval.base.errors import PluginWarning

        warnings.warn(line, PluginWarning, stacklevel=2)


@functools.cache
def entry_points(group: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of a group, by package and name."""
    points = [point for point in _all_entry_points() if point.group == group]
    return tuple(sorted(points, key=lambda point: (point.package, point.name)))


@functools.cache
def _all_entry_points() -> tuple[EntryPoint, ...]:
    """Return the entry points of all installed packages."""
    if os.environ.get(SWITCH, "").lower() in ("off", "0"):
        return ()
    points: list[EntryPoint] = []
    for place, package, version in installed():
        text = _entry_points_of(place)
        if b"[bioeval." in text:
            points += _parsed(text, f"{package} {version}", place)
    return tuple(points)


@functools.cache
def installed() -> tuple[tuple[str, str, str], ...]:
    """Return the folder of metadata, the name and the version of each installed package.

    The first package of a name is the one that Python imports. ``importlib.metadata`` finds the
    same, and takes longer to import than ``bioeval --help`` may.
    """
    packages: dict[str, tuple[str, str, str]] = {}
    for folder in _search_path():
        there: list[str] = []
        with contextlib.suppress(OSError):
            there = [name for name in os.listdir(folder) if name.endswith(".dist-info")]
        for metadata in there:
            package, version = _package(metadata)
            packages.setdefault(package, (f"{folder}/{metadata}", package, version))
    return tuple(packages.values())


def report_other_project() -> None:
    """Report the package ``bioeval`` of another project, if it is installed, too."""
    for _, name, version in installed():
        if name == "bioeval":
            report(
                f"bioeval {version}",
                f"this package of another project is installed beside {distribution()}, and their "
                f"files overwrite each other. {way_out()}",
            )


def _package(metadata: str) -> tuple[str, str]:
    """Return the name and the version of a package from the name of its folder of metadata."""
    name, _, version = metadata.removesuffix(".dist-info").partition("-")
    return name.lower().replace("_", "-"), version


def _search_path() -> list[str]:
    """Return the folders in which Python looks for packages, without the working directory.

    ``python -c``, ``python -m`` and a script put it first. A folder that is installed for
    development comes again later, and is kept.
    """
    folders = [folder for folder in sys.path[1:] if folder]
    if sys.path and not _is_working_directory(sys.path[0]):
        folders.insert(0, sys.path[0])
    return folders


def _is_working_directory(folder: str) -> bool:
    """Whether a folder of Python's path is the working directory."""
    if not folder:
        return True
    with contextlib.suppress(OSError):
        return os.path.samefile(folder, os.getcwd())
    return False


def _entry_points_of(folder: str) -> bytes:
    """Return the entry points of a package as text; empty without any, as most packages are."""
    try:
        file = os.open(f"{folder}/entry_points.txt", os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(file, 1 << 20)
    finally:
        os.close(file)


def _parsed(text: bytes, package: str, folder: str) -> Iterator[EntryPoint]:
    """Yield the entry points for bioeval in a text."""
    group = ""
    for line in text.decode("utf-8", "replace").splitlines():
        line = line.strip()
        if line.startswith("["):
            group = line.strip("[]").removeprefix("bioeval.")
        elif group in GROUPS and "=" in line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield EntryPoint(group, name.strip(), value, package, folder)


def _import(home: str) -> Any:
    """Import a module of another package, unless one in the working directory hides it."""
    top = home.partition(".")[0]
    if top not in sys.modules and _is_working_directory(sys.path[0]):
        from importlib.machinery import PathFinder

        hidden = PathFinder.find_spec(top, [os.getcwd()])
        # A folder without __init__.py hides nothing.
        if hidden is not None and hidden.origin and os.getcwd() not in _search_path():
            raise ImportError(f"{hidden.origin} in the working directory hides it")
    return importlib.import_module(home)


def load_entry(point: EntryPoint) -> Any:
    """Return the module of an entry point; None, and a warning, if it cannot be loaded."""
    began = time.perf_counter()
    with _reported(point.package, f"bioeval.{point.group} {point.name!r}", point):
        owners[point.module.partition(".")[0]] = point.package
        module = _import(point.module)
        seconds = time.perf_counter() - began
        if seconds > SLOW:
            report(
                point.package,
                f"{point.module} took {seconds:.1f} s to import; what names entry points should "
                "import the rest where it is used",
            )
        return module
    return None


@contextlib.contextmanager
def _reported(package: str, what: str, point: EntryPoint | None = None) -> Iterator[None]:
    """Report an error in place of raising it."""
    try:
        yield
    except (Exception, SystemExit) as error:
        line = f"{what} cannot be loaded ({said(error)})"
        if point is not None:
            line += point.unmet()
        report(package, f"{line}; it is left out")


def said(error: BaseException) -> str:
    """Return an error as one line, with its class."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}".removesuffix(": ")


def owner_of(error: BaseException) -> str:
    """Return the package that raised an error, or whose function did; empty for bioeval."""
    step = error.__traceback__
    while step is not None:
        top = str(step.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if top in owners:
            return owners[top]
        step = step.tb_next
    return ""


def import_offered(home: str) -> Any:
    """Import a module that a door names.

    Raises
    ------
    PluginError
        If it is one of another package and cannot be imported.
    """
    package = owners.get(home.partition(".")[0])
    if package is None:
        return importlib.import_module(home)
    try:
        return _import(home)
    except (Exception, SystemExit) as error:
        from bioeval.base.errors import PluginError

        raise PluginError(f"{package}: {home} cannot be imported ({said(error)})") from error


def offered_value(place: str) -> Any:
    """Return what a door names as ``"module.name"``; see :func:`import_offered`."""
    home, _, name = place.rpartition(".")
    module = import_offered(home)
    try:
        return getattr(module, name)
    except AttributeError as error:
        package = owners.get(home.partition(".")[0])
        if package is None:
            raise
        from bioeval.base.errors import PluginError

        raise PluginError(f"{package}: {home} has no {name}") from error
