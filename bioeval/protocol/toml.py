"""TOML as text: read it with the line of every field, and write values back.

`tomllib` gives the values of a valid text. Error messages need more: the line of
each field, and a syntax error that begins with its line.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from bioeval.base.errors import CardError

Place = tuple[str, ...]
"""Place of a value in a card: ``("name",)``, ``("open_set",)`` or ``("open_set", "ties")``."""


def read(text: str, where: str) -> dict[str, object]:
    """Return the values of a TOML text; `where` names it in the error message."""
    import tomllib  # imported where a card is read, as all that is slow to import here

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


_KEY = r"(?:[A-Za-z0-9_-]+|\"(?:\\.|[^\"\\\n])*\"|'[^'\n]*')"
_DOTTED = rf"{_KEY}(?:[ \t]*\.[ \t]*{_KEY})*"
_HEADER = rf"[ \t]*\[\[?[ \t]*({_DOTTED})[ \t]*\]\]?"
_ASSIGNMENT = rf"[ \t]*({_DOTTED})[ \t]*="
_TOKEN = (
    r'"""(?:\\.|[^\\])*?"""(?!")'
    r"|'''.*?'''(?!')"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[^\"'#\[\]{}\n]+"
    r"|."
)


@functools.cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


def locate(text: str) -> dict[Place, int]:
    """Return the line of each section and of each field of a valid TOML text.

    Values are stepped over, so that brackets, quotes and equal signs inside of texts and lists of
    many lines are not taken for sections and fields. Of an inline table, the table is listed and
    its fields are not.
    """
    lines: dict[Place, int] = {}
    section: Place = ()
    position, line = 0, 1
    while position < len(text):
        if match := _pattern(_HEADER).match(text, position):
            section = found = _split_key(match[1])
        elif match := _pattern(_ASSIGNMENT).match(text, position):
            found = section + _split_key(match[1])
        if match:
            for length in range(1, len(found) + 1):
                lines.setdefault(found[:length], line)
            position = match.end()
        position, line = _next_statement(text, position, line)
    return lines


def _next_statement(text: str, position: int, line: int) -> tuple[int, int]:
    """Step over the rest of a value, to the next line that is not inside of it."""
    depth = 0
    for token in _pattern(_TOKEN).finditer(text, position):
        line += token[0].count("\n")
        depth += (token[0] in ("[", "{")) - (token[0] in ("]", "}"))
        if token[0] == "\n" and depth <= 0:
            return token.end(), line
    return len(text), line


def _split_key(dotted: str) -> Place:
    import tomllib

    parts: list[str] = []
    table: object = tomllib.loads(f"{dotted} = 0")
    while isinstance(table, dict):
        ((part, table),) = table.items()
        parts.append(part)
    return tuple(parts)


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
        return hex(value)  # Python refuses to write so many decimals
    return str(value)


def write_key(key: str) -> str:
    """Write the name of a field as TOML, in quotes where it needs them."""
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else write(key)


def shorten(value: object) -> str:
    """Write a value as TOML, cut to a length that a message can hold."""
    text = write(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
