"""What every test shares: slow tests, hypothesis profiles, headless plots, published data."""

from __future__ import annotations  # the oldest pytest lacks some of these types

import gc
import os
import secrets
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import matplotlib
import pytest
from hypothesis.internal.conjecture import providers

CI = os.environ.get("CI", "").lower() not in ("", "0", "false", "no")
ROOT = Path(__file__).resolve().parents[1]

#: The folder of the published data, which are no part of the repository (tests/data/README.md).
PUBLISHED = os.environ.get("BIOEVAL_PUBLISHED_DATA", "")
WITHOUT_PUBLISHED = "without published data"

#: How many cases of one test a run without the slow tests has, unless the test is marked otherwise.
MOST_CASES = 1

#: Of the tests that a run leaves out: how many are slow, and how many are further cases.
LEFT_OUT = pytest.StashKey[list[int]]()

matplotlib.use("Agg")
os.environ.pop("COLUMNS", None)  # the width of somebody's terminal, which tables would follow

# Hypothesis also draws the constants of all modules that are loaded at the time: other ones after
# other tests. (Versions before 6.131 draw none.)
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants


def everything(config: pytest.Config) -> bool:
    """Whether the slow tests run as well."""
    return CI or config.getoption("--all") or "slow" in config.getoption("-m")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes are named after their argument: the bytes of a zip file hold the time of its making."""
    if isinstance(val, bytes):
        return argname
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw the same examples in every run, or the examples of a seed; where CI is set, ten times
    as many.

    So what is judged is the change, and not the draw. The option is what the workers of
    pytest-xdist and the plugin of hypothesis receive.
    """
    seed = config.option.hypothesis_seed
    if seed == "random":
        seed = str(secrets.randbelow(2**32))
    config.option.hypothesis_seed = seed
    # Compilation and a busy machine make examples slow, and matrices are large, which is no fault.
    hypothesis.settings.register_profile(
        "bioeval",
        derandomize=seed is None,
        database=None,
        deadline=None,
        suppress_health_check=[
            hypothesis.HealthCheck.too_slow,
            hypothesis.HealthCheck.data_too_large,
        ],
        print_blob=True,
        max_examples=100 if CI else 10,
    )
    hypothesis.settings.load_profile("bioeval")
    import strategies

    strategies.EVERY_FLOAT = everything(config)


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """Tests of published data that are not at hand are counted, in place of a line for each."""
    if report.skipped and WITHOUT_PUBLISHED in str(report.longrepr):
        return WITHOUT_PUBLISHED, "s", "SKIPPED"
    return None


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say what is left out, and how the examples of a seed can be drawn again."""
    slow, further = config.stash.get(LEFT_OUT, [0, 0])
    published = len(terminalreporter.stats.get(WITHOUT_PUBLISHED, ()))
    parts = [f"{slow} slow tests and {further} cases (--all runs them)"] * bool(slow + further)
    if published:
        parts.append(
            f"{published} tests of published data (BIOEVAL_PUBLISHED_DATA names their folder, "
            "tests/data/README.md says where they come from)"
        )
    if parts:
        terminalreporter.write_line(f"Left out: {'; '.join(parts)}")
    if config.option.hypothesis_seed is not None:
        terminalreporter.write_line(
            f"Examples of seed {config.option.hypothesis_seed}; the same ones again: "
            f"scripts/test --hypothesis-seed={config.option.hypothesis_seed}"
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process of pytest-xdist tells the first one what it left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, [0, 0])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """All processes collect the same: what one leaves out, the others leave out too."""
    if hasattr(node, "workeroutput"):  # else it crashed
        node.config.stash[LEFT_OUT] = node.workeroutput["left_out"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", help="run the tests marked slow as well (as where CI is set)"
    )


def spread(cases: list[pytest.Item], number: int) -> list[pytest.Item]:
    """Return so many cases of a test, evenly spread; one is the last, of the widest numbers."""
    number, last = min(number, len(cases)), len(cases) - 1
    return [cases[i * last // (number - 1)] for i in range(number)] if number > 1 else cases[-1:]


@pytest.hookimpl(trylast=True)  # after -k and -m, by which one case can be asked for
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if everything(config):
        return
    slow = {x for x in items if x.get_closest_marker("slow")}
    left_out = set(slow)
    by_function: dict[Any, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item not in left_out:
            by_function[item.location[0], getattr(item, "originalname", item.name)].append(item)
    for cases in by_function.values():
        mark = cases[0].get_closest_marker("cases")
        left_out |= set(cases) - set(spread(cases, *(mark.args if mark else (MOST_CASES,))))
    config.stash[LEFT_OUT] = [len(slow), len(left_out) - len(slow)]
    config.hook.pytest_deselected(items=[x for x in items if x in left_out])
    items[:] = [x for x in items if x not in left_out]


def pytest_collection_finish() -> None:
    """Leave all tests and modules out of the garbage collections that tests cause: they stay."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def figures_are_closed() -> Iterator[None]:
    """Every test closes its figures; most tests make none, and load no pyplot."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


#: Tests of small matrices that take the ways of large ones.
COUNTED = [
    ROOT / "tests" / x
    for x in ("counting", "oracle", "scores/test_stored.py", "tasks/test_thresholds_are_exact.py")
]


@pytest.fixture(autouse=True)
def small_is_counted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where counting is tested, no scores are so few that they are sorted."""
    if not any(request.path.is_relative_to(x) for x in COUNTED):
        yield
        return
    from limits import blocks_of

    with blocks_of():
        yield


@pytest.fixture(scope="session", autouse=True)
def compilation_is_not_announced() -> None:
    """Which test compiles a kernel first depends on the cache: the line about it is switched off.

    Tests of it switch it on; tests of another process compile what that process uses before.
    """
    from bioeval.kernels import cache

    cache._is_warned = True


@pytest.fixture(scope="session", autouse=True)
def kernels_are_compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A kernel that another process of the run is compiling is awaited, and read from the cache."""
    if "PYTEST_XDIST_WORKER" not in os.environ or sys.platform == "win32":
        yield
        return
    import fcntl

    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.dispatcher import Dispatcher

    compile_alone, folder = Dispatcher.compile, tmp_path_factory.getbasetemp().parent

    def compile_or_wait(self: Any, sig: Any) -> Any:
        if self._cache.cache_path is None:
            return compile_alone(self, sig)
        lock = folder / f"{self.py_func.__module__}.{self.py_func.__qualname__}.lock"
        with global_compiler_lock, open(lock, "w") as lock_file:
            fcntl.flock(lock_file, fcntl.LOCK_EX)
            return compile_alone(self, sig)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", compile_or_wait)
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """Where the repository lies."""
    return ROOT


@pytest.fixture(scope="session")
def published() -> Path:
    """Where the published data lie; a test of them is skipped where they are not at hand."""
    if not PUBLISHED:
        pytest.skip(WITHOUT_PUBLISHED)
    folder = ROOT / PUBLISHED
    assert folder.is_dir(), f"BIOEVAL_PUBLISHED_DATA is {PUBLISHED}; expected a folder"
    return folder


@pytest.fixture(autouse=True)
def options_are_restored() -> Iterator[None]:
    """Undo be.set_options after a test, or an example of a docstring or a page."""
    from bioeval.base.options import OPTIONS

    before = dict(OPTIONS)
    yield
    OPTIONS.update(before)


@pytest.fixture(autouse=True)
def measures_are_forgotten():
    """Remove the measures of be.scalar after a test, or an example of a docstring or a page."""
    from bioeval.results.variables import ADDED

    before = dict(ADDED)
    yield
    ADDED.clear()
    ADDED.update(before)
