"""A protocol as its card describes it, with the defaults filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from bioeval.protocol import toml as toml_text
from bioeval.protocol.schema import SCHEMA_VERSION, SECTIONS


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
        return rebuild, (self.as_dict(),)

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


def rebuild(values: dict[str, Any]) -> Protocol:
    """Make a protocol of plain dictionaries, as :meth:`Protocol.as_dict` returns them."""
    return Protocol(**{key: _freeze(value) for key, value in values.items()})
