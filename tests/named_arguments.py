"""Errors asked for the arguments that they name, and not for their words."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from bioeval import BioevalError, DataError

_NAMED = re.compile(r'`([A-Za-z_]\w*)(?:=\{"(\w+)": [^`]*\}|=[^`]*)?`')


@contextmanager
def raises_about(error: type[BioevalError], *arguments: str) -> Iterator[Any]:
    """Expect an error that names these arguments alone; ``a.b`` is an entry of a mapping."""
    with pytest.raises(error) as caught:
        yield caught
    named = [".".join(filter(None, names)) for names in _NAMED.findall(str(caught.value))]
    assert tuple(dict.fromkeys(named)) == arguments, str(caught.value)


def refused(message: str) -> Any:
    """Expect an error of the data whose message matches."""
    return pytest.raises(DataError, match=message)
