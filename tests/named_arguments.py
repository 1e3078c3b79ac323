"""Errors asked for the arguments that they name, and not for their words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bioeval.base.errors import BioevalError


@contextmanager
def raises_about(error: type[BioevalError], *arguments: str) -> Iterator[Any]:
    """Expect an error that names these arguments and no other."""
    with pytest.raises(error) as caught:
        yield caught
    assert caught.value.arguments == arguments, str(caught.value)
