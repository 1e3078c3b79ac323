"""Optional dependencies in tests: skipped where absent, unless they are said to be required."""

import importlib
import os
from types import ModuleType

import pytest

REQUIRED = os.environ.get("BIOEVAL_REQUIRE_OPTIONAL", "").lower() not in ("", "0", "false", "no")


def optional_import(name: str) -> ModuleType:
    """Import a module, or skip the test (the whole file, at its top) and say which is missing.

    Where the environment sets ``BIOEVAL_REQUIRE_OPTIONAL``, as CI does, a missing one fails.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name + ".").startswith(error.name + "."):
            raise  # it is there, and broken
        message = f"optional dependency {name} is not installed"
        if REQUIRED:
            pytest.fail(f"{message}, and BIOEVAL_REQUIRE_OPTIONAL is set", pytrace=False)
        pytest.skip(message, allow_module_level=True)
