"""A protocol in plain words, taken from the sections and fields of its card."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable

from bioeval.protocol.card import LAYOUTS, Protocol, SourceSection
from bioeval.protocol.fields import CardSection, Field, Task, in_lecture_words, write_toml
from bioeval.scores.attempts import exclusions_in_words

#: Columns of a line.
WIDTH = 92
# Columns of a label, in front of its text.
_LABEL = 18
# The fewest columns for a text beside its label; with fewer, the text begins with the label.
_LEAST_COLUMNS = 24

# Breaks a text into lines: `_wrapped_lines` of a width.
_Wrap = Callable[..., list[str]]


def explain(protocol: Protocol, width: int = WIDTH) -> str:
    """Return a protocol in plain words, in lines of at most `width` columns.

    The title and the summary are as the card has them.
    """
    layout = protocol.layout
    wrap = functools.partial(_wrapped_lines, width)

    title = [*wrap(protocol.name), *wrap(protocol.title)]
    layouts = [protocol.layout, *(x for x in protocol.layouts if x != protocol.layout)]
    source = protocol.source
    year = f" ({source.year})" if source.year is not None else ""
    lines = [
        *wrap("; or ".join(f"{x}: {LAYOUTS[x]}" for x in layouts), "Layout"),
        *wrap(". ".join(filter(None, [source.text + year, source.section, source.url])), "Source"),
    ]
    if protocol.exclude:
        lines += wrap(
            f"{exclusions_in_words(protocol.exclude)} (exclude: {', '.join(protocol.exclude)})",
            "Left out",
        )
    blocks = [title, wrap(protocol.summary), lines]
    for task in protocol.tasks.values():
        blocks.append(_task(task, layout, wrap))
    rule = (
        "Each rate divides by the attempts of its own class, never by all attempts. A rate "
        "without attempts is NaN, and its number of attempts is 0."
    )
    blocks.append(wrap(rule))
    for section in protocol.sections.values():
        if not isinstance(section, Task | SourceSection):
            blocks.append([*wrap(section.doc), *_fields(section, layout, wrap)])
    beyond = "Rules of the source beyond this card, for the preparation of the data:"
    for lead, texts in (
        ("What this card does not say:", protocol.not_said),
        (beyond, protocol.not_expressed),
    ):
        if texts:
            items = wrap(lead)
            for text in texts:
                words = " ".join(text.split())
                items += textwrap.wrap(
                    words, width, initial_indent="  - ", subsequent_indent="    "
                )
            blocks.append(items)
    return "\n\n".join(map("\n".join, blocks)) + "\n"


def _task(task: Task, layout: str, wrap: _Wrap) -> list[str]:
    lines = wrap(task.doc)
    for label, sentence in task.says.get(layout, {}).items():
        lines += wrap(sentence, label, 2)
    for key, field in task.fields().items():
        value = task[key]
        for word in value if isinstance(value, tuple) else (value,):
            choice = field.choice(word)
            if choice is not None and layout in choice.says:
                lines += wrap(f"{word}: {in_lecture_words(choice.doc)}", indent=2)
                for label, sentence in choice.says[layout].items():
                    lines += wrap(sentence, label, 4)
    for label, sentence in task.rates.items():
        lines += wrap(in_lecture_words(sentence), in_lecture_words(label), 2)
    return lines + _fields(task, layout, wrap)


def _fields(section: CardSection, layout: str, wrap: _Wrap) -> list[str]:
    lines = []
    for key, field in section.fields().items():
        value = section[key]
        # A field whose choices say what an attempt is, is explained with the attempts.
        is_explained = any(choice.says for choice in field.choices.values())
        is_dropped = value is None and key in section.only_one_of or key in section.unused
        if not (is_explained or is_dropped) and layout in field.layouts:
            lines += wrap(_field_in_words(section, key, field), key, 2)
    return lines


def _field_in_words(section: CardSection, key: str, field: Field) -> str:
    value = section[key]
    if field.only_if is not None and not section.has_effect(key):
        name, word = field.only_if
        return f'not used here (only with {name} = "{word}")'
    if value is None:
        return f"not fixed: {in_lecture_words(field.doc)}"
    choice = field.choice(value)
    if choice is not None:
        return f"{value}: {in_lecture_words(choice.doc)}"
    if isinstance(value, tuple):
        value = ", ".join(map(str, value)) or "none"
    elif isinstance(value, dict):
        value = write_toml(value)
    return f"{value}: {in_lecture_words(field.doc)}"


def _wrapped_lines(width: int, text: str, label: str = "", indent: int = 0) -> list[str]:
    hanging = indent + _LABEL if label else indent
    if label and width - hanging < _LEAST_COLUMNS:
        text = f"{label}: {text}"
        label = ""
        hanging = indent + 2
    return textwrap.wrap(
        " ".join(text.split()),
        width,
        initial_indent=f"{' ' * indent}{label}".ljust(hanging if label else indent),
        subsequent_indent=" " * hanging,
        break_on_hyphens=False,
    )
