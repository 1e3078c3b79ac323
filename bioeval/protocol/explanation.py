"""A protocol in plain words, taken from the sections and fields of its card."""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable

from bioeval.protocol.card import LAYOUTS, Protocol, SourceSection
from bioeval.protocol.fields import CardSection, Task, in_lecture_words, write_toml
from bioeval.scores.exclusions import exclusions_in_words

WIDTH = 92
_LABEL = 18
# The fewest columns for a text beside its label; with fewer, the text begins with the label.
_LEAST_COLUMNS = 24

_Wrap = Callable[..., list[str]]

#: Writes a template with terms, such as ``{far}``.
_Say = Callable[[str], str]

#: The same for the rates of a task, which may be none.
Say = Callable[[str, str], str]


def _in_lecture_words(template: str, task: str) -> str:
    return in_lecture_words(template)


def explain(protocol: Protocol, width: int = WIDTH, say: Say = _in_lecture_words) -> str:
    """Return a protocol in plain words, in lines of at most `width` columns.

    The title and the summary are as the card has them.
    """
    layout = protocol.layout
    wrap = functools.partial(_wrapped_lines, width)

    def say_of(task: str) -> _Say:
        return lambda template: say(template, task)

    source = protocol.source
    year = f" ({source.year})" if source.year is not None else ""
    layouts = [layout, *(x for x in protocol.layouts if x != layout)]
    head = [
        *wrap("; or ".join(f"{x}: {LAYOUTS[x]}" for x in layouts), "Layout"),
        *wrap(". ".join(filter(None, [source.text + year, source.section, source.url])), "Source"),
    ]
    if protocol.exclude:
        head += wrap(
            f"{exclusions_in_words(protocol.exclude)} (exclude: {', '.join(protocol.exclude)})",
            "Left out",
        )
    title = [*wrap(protocol.name), *wrap(protocol.title)]
    blocks = [title, wrap(protocol.summary), head]
    for name, task in protocol.tasks.items():
        blocks.append(_task(task, layout, wrap, say_of(name)))
    rule = (
        "Each rate divides by the attempts of its own class, never by all attempts. A rate "
        "without attempts is NaN, and its number of attempts is 0."
    )
    blocks.append(wrap(rule))
    for section in protocol.sections.values():
        if not isinstance(section, Task | SourceSection):
            blocks.append([*wrap(section.doc), *_fields(section, layout, wrap, say_of(""))])
    beyond = "Rules of the source beyond this card, for the preparation of the data:"
    for lead, texts in (
        ("What this card does not say:", protocol.not_said),
        (beyond, protocol.not_expressed),
    ):
        if texts:
            block = wrap(lead)
            for text in texts:
                words = " ".join(text.split())
                block += textwrap.wrap(
                    words, width, initial_indent="  - ", subsequent_indent="    "
                )
            blocks.append(block)
    return "\n\n".join(map("\n".join, blocks)) + "\n"


def _task(task: Task, layout: str, wrap: _Wrap, say: _Say) -> list[str]:
    lines = wrap(task.doc)
    for label, sentence in task.says.get(layout, {}).items():
        lines += wrap(sentence, label, 2)
    for key, field in task.fields().items():
        value = task[key]
        for word in value if isinstance(value, tuple) else (value,):
            choice = field.choice(word)
            if choice is not None and layout in choice.says:
                lines += wrap(f"{word}: {say(choice.doc)}", indent=2)
                for label, sentence in choice.says[layout].items():
                    lines += wrap(sentence, label, 4)
    for label, sentence in task.rates.items():
        lines += wrap(say(sentence), say(label), 2)
    return lines + _fields(task, layout, wrap, say)


def _fields(section: CardSection, layout: str, wrap: _Wrap, say: _Say) -> list[str]:
    lines = []
    for key, field in section.fields().items():
        value = section[key]
        # Its choice is explained with the attempts.
        explained = any(choice.says for choice in field.choices.values())
        dropped = value is None and key in section.only_one_of
        if explained or dropped or layout not in field.layouts or key in section.unused:
            continue
        choice = field.choice(value)
        if field.only_if is not None and not _holds(section[field.only_if[0]], field.only_if[1]):
            text = f'not used here (only with {field.only_if[0]} = "{field.only_if[1]}")'
        elif value is None:
            text = f"not fixed: {say(field.doc)}"
        elif choice is not None:
            text = f"{value}: {say(choice.doc)}"
        else:
            if isinstance(value, tuple):
                value = ", ".join(map(str, value)) or "none"
            elif isinstance(value, dict):
                value = write_toml(value)
            text = f"{value}: {say(field.doc)}"
        lines += wrap(text, key, 2)
    return lines


def _holds(value: object, word: str) -> bool:
    return word in value if isinstance(value, tuple) else value == word


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
