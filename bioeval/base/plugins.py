"""Plug-ins: what other packages add, by entry points in their metadata.

A package that is installed beside bioeval names in its ``pyproject.toml`` what it has::

    [project.entry-points."bioeval.studies"]
    lab = "bioeval_lab"            # a package with a STUDY, or a module and a name of its own
    [project.entry-points."bioeval.formats"]
    lab = "bioeval_lab.lab_format" # a module with a FORMAT
    [project.entry-points."bioeval.protocols"]
    lab = "bioeval_lab.cards"      # a package: the folder of its cards

What cannot be loaded is left out, with one warning, and the rest works. The working directory is
never searched. ``BIOEVAL_PLUGINS=off`` leaves all packages out.

Code of plug-ins runs inside :func:`plugin_code`: it cannot print into the output of a command, and
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
from typing import TYPE_CHECKING, Any

from bioeval.base.distribution import distribution, way_out

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: The groups of entry points, without the prefix ``bioeval.``.
GROUPS = ("studies", "formats", "protocols")

#: The environment variable that leaves other packages out if it is ``off`` or ``0``.
SWITCH = "BIOEVAL_PLUGINS"

#: A plug-in that takes longer to import than this, in seconds, is reported.
SLOW = 1.0

#: The package that has a module, by the name of the module before its first dot.
owners: dict[str, str] = {}

#: What was wrong with other packages, each once, in the order in which it was found.
problems: list[str] = []


def report(package: str, problem: str) -> None:
    """Warn once, in one line, of what is wrong with a package.

    Processes that help another one are silent: that one warns of the same.
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
    points = [point for point in _all_entry_points() if point.group == f"bioeval.{group}"]
    return tuple(sorted(points, key=lambda point: (package_of(point), point.name)))


@functools.cache
def _all_entry_points() -> tuple[EntryPoint, ...]:
    """Return the entry points for bioeval of all installed packages.

    ``importlib.metadata`` takes 40 ms to import and to look through the packages, as long as all of
    ``bioeval --help``: it is loaded only where a package names bioeval in its entry points.
    """
    if os.environ.get(SWITCH, "").lower() in ("off", "0"):
        return ()
    points: list[EntryPoint] = []
    for folder in _metadata_folders().values():
        if _names_bioeval(folder):
            from importlib.metadata import Distribution

            package = Distribution.at(folder)
            try:
                if not package.metadata["Name"]:
                    raise ValueError("METADATA has no name")
                points += [x for x in package.entry_points if x.group.startswith("bioeval.")]
            except Exception as error:
                line = f"its metadata cannot be read ({error_line(error)})"
                report(os.path.basename(folder), f"{line}; it is left out")
    return tuple(points)


@functools.cache
def _metadata_folders() -> dict[str, str]:
    """Return the folder of metadata of each installed package, by the name of the package.

    The first package of a name is the one that Python imports.
    """
    folders: dict[str, str] = {}
    for place in _search_path():
        with contextlib.suppress(OSError):
            for entry in os.listdir(place):
                if entry.endswith(".dist-info"):
                    name = entry.partition("-")[0].lower().replace("_", "-")
                    folders.setdefault(name, f"{place}/{entry}")
    return folders


def _names_bioeval(folder: str) -> bool:
    """Whether a package has entry points for bioeval."""
    try:
        with open(f"{folder}/entry_points.txt", "rb") as file:
            return b"[bioeval." in file.read()
    except OSError:  # most packages have none
        return False


def report_other_project() -> None:
    """Report the package ``bioeval`` of another project, if it is installed, too."""
    if folder := _metadata_folders().get("bioeval"):
        version = os.path.basename(folder).removesuffix(".dist-info").partition("-")[2]
        report(
            f"bioeval {version}",
            f"this package of another project is installed beside {distribution()}, and their "
            f"files overwrite each other. {way_out()}",
        )


def package_of(point: EntryPoint) -> str:
    """Return the name and the version of the package of an entry point: ``bioeval-lab 1.2``."""
    assert point.dist is not None  # those of a distribution have it
    return f"{point.dist.name} {point.dist.version}"


def requirement_of(point: EntryPoint) -> str:
    """Return which version of bioeval the package requires, for a message; empty if any does."""
    import re

    from bioeval.base.version import __version__

    assert point.dist is not None
    for requirement in point.dist.requires or []:
        name = re.split(r"[^\w.-]", requirement)[0]
        if name == distribution() and requirement != name:
            return f"; it requires {requirement}, and this is {__version__}"
    return ""


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
        """Leave it open: the plug-in has not opened it."""

    def __getattr__(self, name: str) -> Any:
        if name in ("write", "writelines", "buffer"):
            self.written = True
        return getattr(sys.stderr, name)


class _KeptProcessState:
    """Standard output and the working directory, as they were before code of plug-ins ran.

    Both belong to the whole process, and plug-ins may run in several threads: the first one that
    begins keeps them, and the last one that ends restores them.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.running = 0
        self.output: Any = None
        self.folder = ""
        self.replacement = _StandardError()

    def begin(self) -> None:
        """Keep them, and put standard error in the place of standard output."""
        with self.lock:
            self.running += 1
            if self.running > 1:
                return
            self.output = sys.stdout
            self.folder = _working_directory()
            self.replacement = _StandardError()
            if sys.stdout is not None and sys.stderr is not None:
                sys.stdout = self.replacement

    def end(self) -> list[str]:
        """Restore them; return what the code did that it must not do."""
        wrongs = []
        with self.lock:
            self.running -= 1
            if self.replacement.written:
                self.replacement.written = False
                wrongs.append("printed, which goes to standard error")
            folder = _working_directory()
            if self.folder and folder != self.folder:
                wrongs.append(f"changed the working directory to {folder}; it was changed back")
                with contextlib.suppress(OSError):
                    os.chdir(self.folder)
            if self.running == 0 and sys.stdout is self.replacement:
                sys.stdout = self.output
        return wrongs


_process_state = _KeptProcessState()


def _working_directory() -> str:
    """Return the working directory; empty if it is gone."""
    with contextlib.suppress(OSError):
        return os.getcwd()
    return ""


@contextlib.contextmanager
def plugin_code(package: str, code_name: str) -> Iterator[None]:
    """Run code of a package: what it prints goes to standard error, and the folder stays.

    `code_name` is the code, as in "the function ``lab.rate``"; what it did that it must not do is
    reported. Raise :class:`ProgramEndedError` if it ends the program.
    """
    _process_state.begin()
    try:
        yield
    except Terminated:
        raise
    except SystemExit as error:
        raise ProgramEndedError(error_line(error)) from error
    finally:
        for wrong in _process_state.end():
            report(package, f"{code_name} {wrong}")


def call_plugin(
    package: str, code_name: str, function: Callable[..., Any], *arguments: Any, **options: Any
) -> Any:
    """Return what a function of a package returns; see :func:`plugin_code`.

    Raises
    ------
    PluginError
        If it raises an error that is not bioeval's, or ends the program.
    """
    from bioeval.base.errors import BioevalError, PluginError

    try:
        with plugin_code(package, code_name):
            return function(*arguments, **options)
    except BioevalError:
        raise
    except Exception as error:
        raise PluginError(f"{package}: {code_name} failed ({error_line(error)})") from error


def package_of_module(name: str) -> str:
    """Return the package that has a module; empty for bioeval, and for libraries."""
    return owners.get(name.partition(".")[0], "")


def load_entry(point: EntryPoint) -> Any:
    """Return the module of an entry point; None, and a warning, if it cannot be loaded."""
    package = package_of(point)
    began = time.perf_counter()
    try:
        owners[point.module.partition(".")[0]] = package
        with plugin_code(package, f"the import of {point.module}"):
            module = _import(point.module)
    except Exception as error:
        line = f"{point.group} {point.name!r} cannot be loaded ({error_line(error)})"
        report(package, f"{line}{requirement_of(point)}; it is left out")
        return None
    seconds = time.perf_counter() - began
    if seconds > SLOW:
        report(
            package,
            f"{point.module} took {seconds:.1f} s to import; what names entry points should "
            "import the rest where it is used",
        )
    return module


def error_line(error: BaseException) -> str:
    """Return an error as one line, with its class."""
    words = " ".join(str(error).split())
    if isinstance(error, ProgramEndedError):
        return words
    return f"{type(error).__name__}: {words}".removesuffix(": ")


def package_of_error(error: BaseException) -> str:
    """Return the package that raised an error, or whose function did; empty for bioeval."""
    step = error.__traceback__
    while step is not None:
        if package := package_of_module(str(step.tb_frame.f_globals.get("__name__", ""))):
            return package
        step = step.tb_next
    return ""


def import_offered(home: str) -> Any:
    """Import a module that a manifest names.

    Raises
    ------
    PluginError
        If it is one of another package and cannot be imported.
    """
    package = package_of_module(home)
    if not package:
        return importlib.import_module(home)
    try:
        with plugin_code(package, f"the import of {home}"):
            return _import(home)
    except Exception as error:
        from bioeval.base.errors import PluginError

        raise PluginError(f"{package}: {home} cannot be imported ({error_line(error)})") from error


def offered_value(place: str) -> Any:
    """Return what a manifest names as ``"module.name"``; see :func:`import_offered`."""
    home, _, name = place.rpartition(".")
    module = import_offered(home)
    try:
        return getattr(module, name)
    except AttributeError as error:
        package = package_of_module(home)
        if not package:
            raise
        from bioeval.base.errors import PluginError

        raise PluginError(f"{package}: {home} has no {name}") from error
