"""The program ``bioeval``: exit codes, errors as one line, interruptions, standard output.

Exit codes: 0 done, 1 a condition of --fail-if holds, the data have an error or refute a promise,
2 wrong usage or bad input, 70 the program failed (a fault of its own, no memory, a
result that was not written, a missing package), 130 interrupted, 141 broken pipe (SIGPIPE), 143
terminated (SIGTERM).
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

# 1 is for verdicts alone, which scripts ask for; 70 is EX_SOFTWARE of sysexits.h.
DONE, WRONG, FAILED, INTERRUPTED, BROKEN_PIPE = 0, 2, 70, 130, 141

#: Objects that are made before Python looks for unreachable ones; its own 700 cost a tenth of a
#: short command, most of whose objects are functions and classes of libraries.
_OBJECTS = 10_000

#: Errors of the machine while working; other OS errors are about the files that were named.
_MACHINE = {
    *(errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO),
    *(errno.ENOMEM, errno.EMFILE, errno.ENFILE),
}


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; an error is one line on standard error.

    Parameters
    ----------
    args : sequence of str, optional
        The arguments; those of the process by default.
    """
    before: Any = None
    if args is None:
        # Commands draw into files. Jupyter names a backend of its kernel to all that it starts.
        os.environ["MPLBACKEND"] = "agg"
        gc.set_threshold(_OBJECTS)
        atexit.register(gc.freeze)  # no objects are looked through where the process ends
    # No file that is opened takes the number of a standard stream that is closed.
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stdout is None:
        return _say("standard output is closed", FAILED)
    try:
        if threading.current_thread() is threading.main_thread():
            before = signal.signal(signal.SIGTERM, _terminate)
        with _escaped():
            return _run(args)
    except KeyboardInterrupt:
        return _say("interrupted", INTERRUPTED)
    except OSError as error:
        return _os_error(error)
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _escaped() -> Iterator[None]:
    """Escape characters that the output's encoding lacks, such as a pipe's on Windows."""
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


def _run(args: Sequence[str] | None) -> int:
    import click

    from bioeval.base.environment import overwritten, require_usable
    from bioeval.base.errors import (
        BioevalError,
        CardError,
        MessageWarning,
        MissingDependencyError,
    )
    from bioeval.cli.console import flush

    if reason := overwritten():
        return _say(reason, FAILED)
    from bioeval.cli.lazy_group import BrokenOutputError, root

    try:
        require_usable()
        with warnings.catch_warnings():
            # The table and the page say it, with the options of the command.
            warnings.filterwarnings("ignore", category=MessageWarning)
            code = root.main(args=args, prog_name="bioeval", standalone_mode=False)
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
        lines = [str(error)]
        if isinstance(error, CardError):
            lines = lines[0].splitlines()
        code = FAILED if isinstance(error, MissingDependencyError) else WRONG
        for line in lines:
            _say(line, code)
        return code
    except MemoryError as error:
        return _say(f"not enough memory{f': {error}' if str(error) else ''}", FAILED)
    except BrokenOutputError as error:
        assert isinstance(error.__cause__, OSError)
        return _os_error(error.__cause__)
    except OSError:
        raise
    except Exception as error:
        import traceback

        traceback.print_exc()
        what = " ".join(f"{type(error).__name__}: {error}".split())
        return _say(f"a fault of bioeval ({what}); please report it with the lines above", FAILED)


def _os_error(error: OSError) -> int:
    """Return the exit status of an error of the operating system, reported if no broken pipe."""
    import traceback

    from bioeval.cli.console import give_up_stdout

    if isinstance(error, BrokenPipeError):
        give_up_stdout()
        return BROKEN_PIPE
    file = f"{error.filename}: " if error.filename else ""
    output = error.filename == "standard output"
    message = f"{file}{error.strerror or error}"
    frames = traceback.walk_tb(error.__traceback__)
    if not file and any("numba" in frame.f_globals.get("__name__", "") for frame, _ in frames):
        from bioeval.kernels.cache import CACHE

        message += (
            f"; compiled kernels are kept in {CACHE}, and BIOEVAL_CACHE_DIR names another folder"
        )
    machine = output or error.errno in _MACHINE or error.errno is None
    return _say(message, FAILED if machine else WRONG)


def _say(message: str, code: int) -> int:
    from bioeval.cli.console import note

    line = " ".join(message.split())
    if code != INTERRUPTED:
        line = f"error: {line}"
    note(f"bioeval: {line}")
    return code


def _terminate(number: int, frame: Any) -> NoReturn:
    """Exit on SIGTERM by an exception, so that temporary files are removed."""
    raise SystemExit(128 + number)
