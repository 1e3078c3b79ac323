"""Errors asked for the arguments that they name, and not for their words."""

from __future__ import annotations

from collections.abc import Callable

from bioeval.base.errors import BioevalError


def about(*arguments: str) -> Callable[[BioevalError], bool]:
    """Return the check for ``pytest.raises`` that an error names these arguments and no other."""

    def check(error: BioevalError) -> bool:
        assert error.arguments == arguments, str(error)
        return True

    return check
