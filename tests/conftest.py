"""What every test shares: slow tests, hypothesis profiles, headless plots, the shared data."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import matplotlib
import pytest

CI = os.environ.get("CI", "").lower() not in ("", "0", "false", "no")
ROOT = Path(__file__).resolve().parents[1]

matplotlib.use("Agg")
os.environ.pop("COLUMNS", None)  # the width of somebody's terminal, which tables would follow

# Compilation makes the first example of a test slow, which is no fault of the test: no deadline.
hypothesis.settings.register_profile(
    "ci", derandomize=True, deadline=None, database=None, print_blob=True, max_examples=100
)
hypothesis.settings.register_profile("dev", deadline=None, max_examples=10)
hypothesis.settings.load_profile("ci" if CI else "dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--all", action="store_true", help="run the tests marked slow as well (as where CI is set)"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if CI or config.getoption("--all") or "slow" in config.getoption("-m"):
        return
    skip = pytest.mark.skip(reason="slow; run with --all")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


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


@pytest.fixture(scope="session", autouse=True)
def nothing_is_small() -> None:
    """Small matrices take the ways of large ones, so that these are tested with small ones."""
    from bioeval.scores import blocks
    from bioeval.tallies import point_search

    blocks.SMALL_CELLS = point_search.FEW = 0


@pytest.fixture(scope="session")
def root() -> Path:
    """Where the repository lies."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Where the large published data lie: ``shared/data``, beside the checkout.

    They are no part of the repository, and nothing but these tests needs them.
    """
    path = ROOT.parent / "shared" / "data"
    if not path.is_dir():
        pytest.skip("no published data: shared/data is not beside the checkout")
    return path
