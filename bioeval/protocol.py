"""Protocol cards: list, read, check and explain them.

A protocol says who is enrolled, who claims what, how ties and missing mates are treated, and what
is reported. A card is a TOML file with one protocol. The cards that ship with bioeval are in its
``protocols`` folder, and anybody can write another: ``docs/protocol-cards.md`` tells how.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bioeval.cards import toml_text
from bioeval.cards.check import check
from bioeval.cards.model import PAIRS, RECTANGULAR, SQUARE
from bioeval.cards.schema import SCHEMA_VERSION, SECTIONS
from bioeval.errors import CardError, bad_choice

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["Protocol", "available", "explain", "for_layout", "load", "parse"]

MAX_BYTES = 1 << 20
"""A card has some dozens of lines; a file beyond this size is something else."""

CARD_OF_LAYOUT = {
    SQUARE: "course-all-vs-all",
    RECTANGULAR: "course-probe-vs-gallery",
    PAIRS: "pairs",
}


@dataclass(frozen=True)
class Protocol:
    """One protocol, as its card says, with the defaults filled in.

    Attributes
    ----------
    name, title, summary
        What it is called and what it does, in plain words.
    layout
        ``all-against-all``, ``probe-against-gallery`` or ``pairs``.
    tasks
        For each task of the card (``verification``, ``open_set``, ``closed_set``), its options by
        name. An option that the card does not fix, such as ``max_rank``, is None.
    settings
        The same for the sections that are no tasks: ``source``, ``thresholds``, ``report``; and
        ``partition``, ``threshold`` and ``uncertainty``, of cards with folds.
    not_said
        What the card leaves open, one sentence each.
    not_expressed
        What the protocol's source fixes and the card cannot say.
    path
        The file it was read from, or None.
    """

    name: str
    title: str
    summary: str
    layout: str
    tasks: Mapping[str, Mapping[str, Any]]
    settings: Mapping[str, Mapping[str, Any]]
    not_said: tuple[str, ...] = ()
    not_expressed: tuple[str, ...] = ()
    path: str | None = field(default=None, compare=False)

    @property
    def source(self) -> Mapping[str, Any]:
        """Where the protocol is defined: ``text``, ``year``, ``section``, ``url``."""
        return self.settings["source"]

    @property
    def thresholds(self) -> Mapping[str, Any]:
        """``count`` or ``values``; the other one is None."""
        return self.settings["thresholds"]

    @property
    def report(self) -> Mapping[str, Any]:
        """``far_targets``, ``priors`` and ``ranks``."""
        return self.settings["report"]

    @property
    def has_folds(self) -> bool:
        """Whether the tasks are evaluated in folds."""
        return "partition" in self.settings

    def __hash__(self) -> int:
        return hash((self.name, self.title, self.layout, tuple(self.tasks)))

    def __reduce__(self) -> tuple[Any, ...]:
        # Read-only mappings do not pickle, and protocols travel to worker processes.
        return _rebuild, (self.as_dict(),)

    def as_dict(self) -> dict[str, Any]:
        """Return the protocol as plain dictionaries, for JSON and the like."""
        return {item.name: _thaw(getattr(self, item.name)) for item in fields(self)}

    def to_toml(self) -> str:
        """Return the card as text, with every default written out; it reads back as equal."""
        lines = [f"schema = {SCHEMA_VERSION}"]
        for key in SECTIONS[""].fields:
            if key != "schema":
                lines.append(f"{key} = {toml_text.write(getattr(self, key))}")
        values = {**self.settings, **self.tasks}
        for name, section in SECTIONS.items():
            if name not in values:
                continue
            lines += ["", f"[{name}]"]
            for key, spec in section.fields.items():
                value = values[name][key]
                if value is not None and self.layout in spec.layouts:
                    lines.append(f"{key} = {toml_text.write(value)}")
        return "\n".join(lines) + "\n"


def _freeze(value: Any) -> Any:
    if isinstance(value, Mapping):
        return MappingProxyType({key: _freeze(item) for key, item in value.items()})
    return value


def _thaw(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thaw(item) for key, item in value.items()}
    return value


def _rebuild(values: dict[str, Any]) -> Protocol:
    return Protocol(**{key: _freeze(value) for key, value in values.items()})


def available() -> list[str]:
    """Return the names of the cards that ship with bioeval."""
    return sorted(_shipped_cards())


def load(name_or_path: str | os.PathLike[str] | Protocol) -> Protocol:
    """Return a protocol by the name of a shipped card, or by the path of a card.

    A text is a path if it ends in ``.toml`` or holds a path separator. A `Protocol` is returned
    as it is.

    Raises
    ------
    CardError
        If there is no such card, or if it is not valid: then the message has a line for each
        problem.

    Examples
    --------
    >>> load("course-all-vs-all").tasks["open_set"]["ties"]
    'pessimistic'
    """
    if isinstance(name_or_path, Protocol):
        return name_or_path
    if not isinstance(name_or_path, str | os.PathLike):
        raise CardError(f"a protocol is the name or the path of a card, not {name_or_path!r}")
    path = os.fspath(name_or_path)
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    if (
        isinstance(name_or_path, os.PathLike)
        or path.endswith(".toml")
        or any(separator in path for separator in separators)
    ):
        return _protocol(_read_file(path), path, path)
    if path not in available():
        raise CardError(
            f"{bad_choice('the protocol', path, available())} The path of a card ends in .toml."
        )
    return _load_shipped(path)


def for_layout(layout: str) -> Protocol:
    """Return the card that ``protocol="auto"`` stands for, by the layout of the scores."""
    if layout not in CARD_OF_LAYOUT:
        raise CardError(bad_choice("the layout", layout, CARD_OF_LAYOUT))
    return _load_shipped(CARD_OF_LAYOUT[layout])


def parse(text: str, where: str = "card") -> Protocol:
    """Return the protocol of a card's text; `where` names the text in error messages."""
    return _protocol(text, where, None)


def explain(protocol: Protocol, width: int | None = None) -> str:
    """Say in plain words what a protocol counts, what it divides by, and what it leaves open.

    Lines have at most `width` columns, 92 unless given.
    """
    from bioeval.cards.explain import WIDTH, explain

    return explain(protocol, width or WIDTH)


def _shipped_cards() -> dict[str, Traversable]:
    from importlib.resources import files  # slow to import, and seldom needed

    folder = files("bioeval") / "protocols"
    if not folder.is_dir():
        raise CardError(
            f"{folder} is not a folder, so the protocol cards that ship with bioeval cannot be "
            "read; in a checkout it is a symbolic link (git config core.symlinks true)"
        )
    return {
        item.name.removesuffix(".toml"): item
        for item in folder.iterdir()
        if item.name.endswith(".toml")
    }


@functools.cache
def _load_shipped(name: str) -> Protocol:
    card = _shipped_cards()[name]
    return _protocol(card.read_text(encoding="utf-8"), card.name, str(card))


def _read_file(path: str) -> str:
    from pathlib import Path

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


def _protocol(text: str, where: str, path: str | None) -> Protocol:
    values = check(text.replace("\r\n", "\n"), where)
    head = values.pop("")
    return _rebuild(
        {
            **{key: value for key, value in head.items() if key != "schema"},
            "tasks": {name: given for name, given in values.items() if SECTIONS[name].task},
            "settings": {name: given for name, given in values.items() if not SECTIONS[name].task},
            "path": path,
        }
    )
