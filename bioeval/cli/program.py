"""The program ``bioeval``: exit codes, errors as one line, interruptions, standard output.

Exit codes: 0 done, 1 the evaluation failed or its result was not written, 2 wrong usage or bad
input, 130 interrupted, 141 broken pipe (SIGPIPE), 143 terminated (SIGTERM).
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import errno
import gc
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import click

DONE, FAILED, WRONG, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141

#: Objects that are made before Python looks for unreachable ones; its own 700 cost a tenth of a
#: short command, most of whose objects are functions and classes of libraries.
_OBJECTS = 10_000

#: Errors of the machine while working; other OS errors are about the files that were named.
_MACHINE = {
    *(errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO),
    *(errno.ENOMEM, errno.EMFILE, errno.ENFILE),
}


def main(args: Sequence[str] | None = None, *, command: click.Command | None = None) -> int:
    """Run the command line and return its exit code; an error is one line on standard error.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments; those of the process by default.
    command : click.Command, optional
        Another program with the same exit codes and errors, in place of ``bioeval``.
    """
    before: Any = None
    if args is None and "matplotlib" not in sys.modules:
        # Commands draw into files. Jupyter names a backend of its kernel to all that it starts.
        os.environ["MPLBACKEND"] = "agg"
    try:
        if threading.current_thread() is threading.main_thread():
            before = signal.signal(signal.SIGTERM, _terminate)
        with _outputs(), _escaped(), _heard(), _few_collections():
            return _run(args, command)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except OSError as error:
        return _os_error(error)
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _few_collections() -> Iterator[None]:
    """Look for unreachable objects less often, and not where the process ends anyway."""
    atexit.unregister(gc.freeze)
    atexit.register(gc.freeze)
    before = gc.get_threshold()
    if before[0]:  # else nothing is collected
        gc.set_threshold(max(before[0], _OBJECTS))
    try:
        yield
    finally:
        gc.set_threshold(before[0])


class _ClosedOutput(io.TextIOBase):
    """Standard output where there is none: what cannot be written is an error."""

    def write(self, text: str) -> int:
        """Raise."""
        raise OSError(errno.EBADF, "is closed", "standard output")


@contextlib.contextmanager
def _outputs() -> Iterator[None]:
    """Let no file that is opened take the number of a standard stream that is closed."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    closed = sys.stdout is None
    if closed:
        sys.stdout = _ClosedOutput()
    try:
        yield
    finally:
        if closed:
            sys.stdout = None


@contextlib.contextmanager
def _escaped() -> Iterator[None]:
    """Escape characters that the encoding of the output lacks, as on Windows that of a pipe."""
    out: Any = sys.stdout
    strict = getattr(out, "errors", "") == "strict" and hasattr(out, "reconfigure")
    if strict:
        out.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        if strict:
            with contextlib.suppress(OSError, ValueError):  # it is flushed
                out.reconfigure(errors="strict")


@contextlib.contextmanager
def _heard() -> Iterator[None]:
    """Raise an interruption once more that Python only reports, as it does in a finaliser."""
    before, over, reported = sys.unraisablehook, threading.Event(), threading.Event()
    lost: list[BaseException] = []
    threads: list[threading.Thread] = []

    def hook(unraisable: Any) -> None:
        """Raise an interruption from another thread; report all else as before."""
        if not isinstance(unraisable.exc_value, KeyboardInterrupt | SystemExit):
            before(unraisable)
            return
        lost.append(unraisable.exc_value)
        if isinstance(lost[-1], KeyboardInterrupt):
            number = signal.SIGINT
        else:
            number = signal.SIGTERM
        threads.append(threading.Thread(target=again, args=(number,)))
        threads[-1].start()
        reported.set()

    def again(number: signal.Signals) -> None:
        reported.wait()  # in the hook, an interruption would be lost once more
        if not over.wait(0.01):  # by when the finaliser has ended
            _thread.interrupt_main(number)

    sys.unraisablehook = hook
    try:
        yield
        if lost:
            raise lost[0]
    finally:
        sys.unraisablehook = before
        over.set()
        for thread in threads:
            thread.join()


def _run(args: Sequence[str] | None, command: click.Command | None) -> int:
    """Run the command, and return its exit code."""
    import click

    from bioeval.base.distribution import overwritten
    from bioeval.base.environment import require_usable
    from bioeval.base.errors import (
        BioevalError,
        CardError,
        MissingDependencyError,
        NoResultError,
    )
    from bioeval.base.messages import MessageWarning
    from bioeval.cli.console import flush

    if why := overwritten():
        return _say(why, FAILED)
    from bioeval.cli.lazy_group import BrokenOutputError, root

    try:
        require_usable()
        program = root if command is None else command
        name = "bioeval" if command is None else command.name
        with warnings.catch_warnings():
            # The table and the page say it, with the options of the command.
            warnings.filterwarnings("ignore", category=MessageWarning)
            code = program.main(args=args, prog_name=name, standalone_mode=False)
        flush()
        if isinstance(code, int):
            return code
        return DONE
    except click.Abort as error:  # click makes one of the end of a file, too
        if isinstance(error.__context__, EOFError):
            return _say(f"a file ended too early ({error.__context__})", FAILED)
        raise KeyboardInterrupt from None
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "bioeval"
        return _say(f"{error.format_message()} (see {where} --help)", WRONG)
    except click.ClickException as error:
        return _say(error.format_message(), WRONG)
    except BioevalError as error:
        failed = isinstance(error, MissingDependencyError | NoResultError)
        lines = [str(error)]
        if isinstance(error, CardError):
            lines = lines[0].splitlines()
        code = FAILED if failed else WRONG
        for line in lines:
            _say(line, code)
        return code
    except MemoryError:
        return _say("not enough memory", FAILED)
    except BrokenOutputError as error:
        assert isinstance(error.__cause__, OSError)
        return _os_error(error.__cause__)


def _os_error(error: OSError) -> int:
    """Report an error of the operating system; a broken pipe silently."""
    import traceback

    from bioeval.cli.console import give_up_stdout

    if isinstance(error, BrokenPipeError):
        give_up_stdout()
        return BROKEN_PIPE
    file = f"{error.filename}: " if error.filename else ""
    output = error.filename == "standard output"
    machine = output or error.errno in _MACHINE or error.errno is None
    message = f"{file}{error.strerror or error}"
    frames = traceback.walk_tb(error.__traceback__)
    if not file and any("numba" in frame.f_globals.get("__name__", "") for frame, _ in frames):
        from bioeval.kernels.compiling import CACHE

        message += (
            f"; compiled kernels are kept in {CACHE}, and BIOEVAL_CACHE_DIR names another folder"
        )
    if machine:
        return _say(message, FAILED)
    return _say(message, WRONG)


def _say(message: str, code: int) -> int:
    """Write one line on standard error and return the exit code."""
    from bioeval.cli.console import note

    line = " ".join(message.split())
    if code != INTERRUPTED:
        line = f"error: {line}"
    note(f"bioeval: {line}")
    return code


def _terminate(number: int, frame: Any) -> NoReturn:
    """Exit on SIGTERM by an exception, so that temporary files are removed."""
    raise SystemExit(128 + number)
