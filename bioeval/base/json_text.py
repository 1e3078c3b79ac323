"""JSON that is read strictly: no key twice, no number beyond float64, no endless brackets."""

from __future__ import annotations

import json
from typing import Any

from bioeval.base.arguments import overflows
from bioeval.base.errors import DataError


def parse_json(raw: bytes, where: str) -> Any:
    """Return the value of a JSON text in UTF-8; an error has `where` before its message.

    Examples
    --------
    >>> parse_json(b'{"score": 0.5}', "x.json")
    {'score': 0.5}
    """
    try:
        return _STRICT.decode(raw.decode("utf-8-sig").strip())
    except RecursionError:
        raise DataError(f"{where}: brackets are nested too deeply; write the file again") from None
    except _RefusedError as refused:
        raise DataError(f"{where}: {refused}") from None
    except ValueError as wrong:
        raise DataError(f"{where}: is not valid JSON ({wrong}); write the file again") from None


class _RefusedError(Exception):
    """Valid JSON without one meaning."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _RefusedError(f"the key {twice!r} is there twice; expected each key once")
    return members


def _number(text: str) -> float:
    if overflows(text):
        raise _RefusedError(f"{text:.40} is beyond the range of float64; expected a smaller number")
    return float(text)


_STRICT = json.JSONDecoder(object_pairs_hook=_once, parse_float=_number)
