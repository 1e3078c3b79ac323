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

Code of packages runs as a guest (:func:`guest`): it cannot print into the output of a command, and
relative paths of the user mean the same before and after it.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
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


class Terminated(SystemExit):
    """The end of the program that its user asked for, by a signal: code of packages may run on."""


class ProgramEndedError(Exception):
    """A package that ended the program, as an error in place of an end without a word."""


class _StandardError:
    """Standard error in the place of standard output, which notes whether it is written to."""

    written = False

    def close(self) -> None:
        """Leave it open: it is not the guest's."""

    def __getattr__(self, name: str) -> Any:
        if name in ("write", "writelines", "buffer"):
            self.written = True
        return getattr(sys.stderr, name)


class _Host:
    """Standard output and the working directory, as they were before any guest was there.

    Both belong to the whole process, and guests may be there in several threads: the first one that
    comes finds them, and the last one that goes leaves them as they were.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.guests = 0
        self.output: Any = None
        self.folder = ""
        self.for_guests = _StandardError()

    def welcome(self) -> None:
        """Let a guest come."""
        with self.lock:
            self.guests += 1
            if self.guests > 1:
                return
            self.output = sys.stdout
            self.folder = _working_directory()
            self.for_guests = _StandardError()
            if sys.stdout is not None and sys.stderr is not None:
                sys.stdout = self.for_guests

    def see_off(self) -> list[str]:
        """Let a guest go; return what it did that it must not do."""
        wrongs = []
        with self.lock:
            self.guests -= 1
            if self.for_guests.written:
                self.for_guests.written = False
                wrongs.append("printed, which goes to standard error")
            folder = _working_directory()
            if self.folder and folder != self.folder:
                wrongs.append(f"changed the working directory to {folder}; it was changed back")
                with contextlib.suppress(OSError):
                    os.chdir(self.folder)
            if self.guests == 0 and sys.stdout is self.for_guests:
                sys.stdout = self.output
        return wrongs


_host = _Host()


def _working_directory() -> str:
    """Return the working directory; empty if it is gone."""
    with contextlib.suppress(OSError):
        return os.getcwd()
    return ""


@contextlib.contextmanager
def guest(package: str, what: str) -> Iterator[None]:
    """Run code of a package: what it prints goes to standard error, and the folder stays.

    `what` is the code, as in "the function ``lab.rate``"; what it did that it must not do is
    reported. Raise :class:`ProgramEndedError` if it ends the program.
    """
    _host.welcome()
    try:
        yield
    except Terminated:
        raise
    except SystemExit as error:
        raise ProgramEndedError(said(error)) from error
    finally:
        for wrong in _host.see_off():
            report(package, f"{what} {wrong}")


def called(package: str, what: str, function: Callable[..., Any], *given: Any, **more: Any) -> Any:
    """Return what a function of a package returns, run as a guest.

    Raises
    ------
    PluginError
        If it raises an error that is not bioeval's, or ends the program.
    """
    from bioeval.base.errors import BioevalError, PluginError

    try:
        with guest(package, what):
            return function(*given, **more)
    except BioevalError:
        raise
    except Exception as error:
        raise PluginError(f"{package}: {what} failed ({said(error)})") from error


def owner_of_module(name: str) -> str:
    """Return the package that has a module; empty for bioeval, and for libraries."""
    return owners.get(name.partition(".")[0], "")


def load_entry(point: EntryPoint) -> Any:
    """Return the module of an entry point; None, and a warning, if it cannot be loaded."""
    began = time.perf_counter()
    with _reported(point.package, f"bioeval.{point.group} {point.name!r}", point):
        owners[point.module.partition(".")[0]] = point.package
        with guest(point.package, f"the import of {point.module}"):
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
    except Exception as error:
        line = f"{what} cannot be loaded ({said(error)})"
        if point is not None:
            line += point.unmet()
        report(package, f"{line}; it is left out")


def said(error: BaseException) -> str:
    """Return an error as one line, with its class."""
    words = " ".join(str(error).split())
    if isinstance(error, ProgramEndedError):
        return words
    return f"{type(error).__name__}: {words}".removesuffix(": ")


def owner_of(error: BaseException) -> str:
    """Return the package that raised an error, or whose function did; empty for bioeval."""
    step = error.__traceback__
    while step is not None:
        if package := owner_of_module(str(step.tb_frame.f_globals.get("__name__", ""))):
            return package
        step = step.tb_next
    return ""


def import_offered(home: str) -> Any:
    """Import a module that a door names.

    Raises
    ------
    PluginError
        If it is one of another package and cannot be imported.
    """
    package = owner_of_module(home)
    if not package:
        return importlib.import_module(home)
    try:
        with guest(package, f"the import of {home}"):
            return _import(home)
    except Exception as error:
        from bioeval.base.errors import PluginError

        raise PluginError(f"{package}: {home} cannot be imported ({said(error)})") from error


def offered_value(place: str) -> Any:
    """Return what a door names as ``"module.name"``; see :func:`import_offered`."""
    home, _, name = place.rpartition(".")
    module = import_offered(home)
    try:
        return getattr(module, name)
    except AttributeError as error:
        package = owner_of_module(home)
        if not package:
            raise
        from bioeval.base.errors import PluginError

        raise PluginError(f"{package}: {home} has no {name}") from error
