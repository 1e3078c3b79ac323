"""Say in plain words what a protocol does. The words come from the table of cards."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bioeval.cards.schema import LAYOUTS, SECTIONS

if TYPE_CHECKING:
    from bioeval.protocol import Protocol

_WIDTH = 92
_LABEL = 18


def explain(protocol: Protocol) -> str:
    """Say in plain words what a protocol counts, divides and leaves open."""
    layout = protocol.layout
    head = [
        *_paragraph(f"{layout}: {LAYOUTS[layout]}", "Layout"),
        *_paragraph(_source_line(protocol.source), "Source"),
    ]
    blocks = [[protocol.name, protocol.title], _paragraph(protocol.summary), head]
    for name, values in protocol.tasks.items():
        blocks.append(_task(name, values, layout))
    rule = (
        "Each rate divides by the attempts of its own class, never by all attempts. A rate whose "
        "class had no attempt is NaN, and its attempts say 0."
    )
    blocks.append(_paragraph(rule))
    for name, values in protocol.settings.items():
        if name != "source":
            blocks.append([*_paragraph(SECTIONS[name].doc), *_fields(name, values, layout)])
    if protocol.not_said:
        said = [line for text in protocol.not_said for line in _item(text)]
        blocks.append(["What this card does not say:", *said])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _source_line(source: Mapping[str, object]) -> str:
    text = str(source["text"])
    if source["year"] is not None:
        text += f" ({source['year']})"
    others = [str(source[key]) for key in ("section", "url") if source[key] is not None]
    return ". ".join([text, *others])


def _task(name: str, values: Mapping[str, object], layout: str) -> list[str]:
    section = SECTIONS[name]
    lines = _paragraph(section.doc)
    for label, sentence in section.says.get(layout, {}).items():
        lines += _paragraph(sentence, label, 2)
    for key, value in values.items():
        for word in value if isinstance(value, tuple) else (value,):
            choice = section.fields[key].choice(word)
            if choice is not None and layout in choice.says:
                lines += [f"  {word}: {choice.doc}"]
                for label, sentence in choice.says[layout].items():
                    lines += _paragraph(sentence, label, 4)
    for label, sentence in section.rates.items():
        lines += _paragraph(sentence, label, 2)
    return lines + _fields(name, values, layout)


def _fields(name: str, values: Mapping[str, object], layout: str) -> list[str]:
    section = SECTIONS[name]
    lines = []
    for key, field in section.fields.items():
        value = values[key]
        told = any(choice.says for choice in field.choices.values())
        dropped = value is None and key in section.only_one_of
        if told or dropped or layout not in field.layouts:
            continue
        choice = field.choice(value)
        if field.only_if is not None and not _holds(values[field.only_if[0]], field.only_if[1]):
            text = f'not used here (only with {field.only_if[0]} = "{field.only_if[1]}")'
        elif value is None:
            text = f"not fixed: {field.doc}"
        elif choice is not None:
            text = f"{value}: {choice.doc}"
        else:
            listed = ", ".join(map(str, value)) if isinstance(value, tuple) else value
            text = f"{listed}: {field.doc}"
        lines += _paragraph(text, key, 2)
    return lines


def _holds(value: object, word: str) -> bool:
    return word in value if isinstance(value, tuple) else value == word


def _item(text: str) -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()), _WIDTH, initial_indent="  - ", subsequent_indent="    "
    )


def _paragraph(text: str, label: str = "", indent: int = 0) -> list[str]:
    width = _LABEL + indent if label else 0
    return textwrap.wrap(
        " ".join(text.split()),
        _WIDTH,
        initial_indent=f"{' ' * indent}{label}".ljust(width),
        subsequent_indent=" " * width,
        break_on_hyphens=False,
    )
