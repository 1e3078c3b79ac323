"""TOML as text: read it with the line of every field, and write values back.

`tomllib` gives the values of a valid text. Error messages need more: the line of
each field, and a syntax error that begins with its line.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from pathlib import Path

from bioeval.base.errors import CardError

MAX_BYTES = 1 << 16
"""A card has some dozens of lines; a file beyond this size is something else."""

_MOST_DOTS = 1000  # in a line; the parser takes quadratic time for dotted keys
_MOST_SIGNS = 100  # equal signs at which the key of a line may end
_MOST_PARSED = 1 << 20  # characters in which the lines of the fields are looked for

Place = tuple[str, ...]
"""Place of a value in a card: ``("name",)``, ``("open_set",)`` or ``("open_set", "ties")``."""


def read_file(path: str) -> str:
    """Return the text of a card, or raise :class:`CardError` with the reason."""
    file = Path(path)
    try:
        if not file.exists():
            raise CardError(f"{path}: there is no such file; expected a protocol card (.toml)")
        if not file.is_file():
            kind = "a folder" if file.is_dir() else "not a regular file"
            raise CardError(f"{path} is {kind}; expected a protocol card (a .toml file)")
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise CardError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(raw) > MAX_BYTES:
        raise CardError(f"{path} is not a protocol card: it is larger than {MAX_BYTES // 1024} KiB")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        byte = raw[error.start]
        raise CardError(
            f"{path}, line {line}: the byte {byte:#04x} is not UTF-8; expected a text in UTF-8"
        ) from error


def read(text: str, where: str) -> dict[str, object]:
    """Return the values of a TOML text; `where` names it in the error message."""
    import tomllib  # imported where a card is read, as all that is slow to import here

    for number, row in enumerate(text.split("\n"), 1):
        if row.count(".") > _MOST_DOTS:
            raise CardError(
                f"{where}, line {number}: has {row.count('.'):,} dots; expected at most "
                f"{_MOST_DOTS:,}"
            )
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise CardError(f"{where}: not valid TOML: brackets are nested too deeply") from None
    except ValueError as error:
        message = str(error)
        found = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", message)
        if found is None:
            raise CardError(f"{where}: not valid TOML: {message}") from error
        message = message[: found.start()]
        line, column = found.groups()
        if line is None:
            line, column = text.rstrip().count("\n") + 1, "at the end of the text"
        else:
            column = f"at column {column}"
        raise CardError(f"{where}, line {line}: not valid TOML: {message}, {column}") from error


# A line that may begin a section or a field; inside of a value of many lines it does not.
_START = re.compile(r"[ \t]*(\[|[^#\s].*=)")


def locate(text: str) -> dict[Place, int]:
    """Return the line of each section and of each field of a valid TOML text.

    Of an inline table, the table is listed and its fields are not; after values of very many
    lines, fields may be missing.
    """
    lines: dict[Place, int] = {}
    section: Place = ()
    rows = text.split("\n")
    starts = [i for i, row in enumerate(rows) if _START.match(row)]
    first, left = None, _MOST_PARSED
    for here, end in itertools.pairwise([*starts, len(rows)]):
        first = here if first is None else first
        statement = "\n".join(rows[first:end])
        left -= len(statement)
        if left < 0:
            break
        table = _parsed(statement)
        if table is None:
            continue  # the next lines belong to the same value
        if statement.lstrip().startswith("["):
            section = found = _keys(table)
        else:
            found = section + _assigned(statement)
        for length in range(1, len(found) + 1):
            lines.setdefault(found[:length], first + 1)
        first = None
    return lines


def _assigned(statement: str) -> Place:
    """Return the keys of an assignment: what is before the first equal sign outside of quotes."""
    signs = itertools.islice(re.finditer("=", statement), _MOST_SIGNS)
    parts = (_parsed(statement[: sign.start()] + "= 0") for sign in signs)
    return _keys(next((part for part in parts if part is not None), {}))


def _keys(table: object) -> Place:
    """Return the nested keys of a table that has one key at each level."""
    parts: list[str] = []
    while isinstance(table, dict) and table:
        ((part, table),) = table.items()
        parts.append(part)
    return tuple(parts)


def _parsed(text: str) -> dict[str, object] | None:
    """Return the values of a TOML text; None if it is not valid."""
    import tomllib

    try:
        return tomllib.loads(text)
    except ValueError:
        return None


def write(value: object) -> str:
    """Write a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t"}
        chars = (
            escapes.get(char) or (char if char.isprintable() else f"\\U{ord(char):08x}")
            for char in value
        )
        return f'"{"".join(chars)}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(write(item) for item in value)}]"
    if isinstance(value, Mapping):
        items = (f"{write_key(key)} = {write(item)}" for key, item in value.items())
        return f"{{ {', '.join(items)} }}"
    if isinstance(value, int) and value.bit_length() > 10_000:
        return hex(value)  # Python refuses to write it in decimals
    return str(value)


def write_key(key: str) -> str:
    """Write the name of a field as TOML, in quotes where it needs them."""
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else write(key)


def shorten(value: object) -> str:
    """Write a value as TOML, cut to a length that a message can hold."""
    text = write(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
