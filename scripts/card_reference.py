"""The reference of all fields of a card, which the site shows on ``docs/protocol-cards.md``."""

from __future__ import annotations

from bioeval.protocol.card import HEAD, SECTIONS
from bioeval.protocol.fields import (
    EVERY_LAYOUT,
    CardSection,
    Field,
    fields_of,
    in_lecture_words,
    write_toml,
)


def reference() -> str:
    """Return the fields of each section as lists, in Markdown, with the accepted words."""
    blocks = []
    homes: dict[str, str] = {}  # the section in which a field, or its words, came first
    parts = [("", "The card itself.", HEAD)]
    for name, section in SECTIONS.items():
        parts.append((name, " ".join([section.doc, *_rules(section)]), fields_of(section)))
    for name, intro, fields in parts:
        blocks += [f"### `[{name}]`" if name else "### Above the first section", intro]
        lines: list[str] = []
        again: dict[str, list[str]] = {}
        for key, field in fields.items():
            line = _line(key, field)
            words = repr(field.choices) if field.choices else ""
            if homes.setdefault(line + words, name) != name:
                again.setdefault(homes[line + words], []).append(f"`{key}`")
            elif words and homes.setdefault(words, name) != name:
                lines.append(f"{line}; words as in `[{homes[words]}]`")
            else:
                lines += [line, *_words(field)]
        lines += [f"- {', '.join(keys)}: as in `[{home}]`" for home, keys in again.items()]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _rules(section: type[CardSection]) -> list[str]:
    rules = []
    if section.required:
        rules.append("Every card must have it.")
    if section.layouts != EVERY_LAYOUT:
        rules.append(f"{_limits(section.layouts).capitalize()}.")
    if section.only_one_of:
        rules.append(f"Give only one of {' and '.join(f'`{key}`' for key in section.only_one_of)}.")
    return rules


def _limits(layouts: tuple[str, ...]) -> str:
    """Return the layouts in words; an empty string where all are meant."""
    missing = [f"`{layout}`" for layout in EVERY_LAYOUT if layout not in layouts]
    if not missing:
        return ""
    if len(layouts) == 1:
        return f"only with layout `{layouts[0]}`"
    return f"not with layout {', '.join(missing)}"


def _line(key: str, field: Field) -> str:
    about = "" if field.choices else field.expected()
    if field.choices and field.many:
        about = "a list"
    if field.required:
        about = f"required; {about}" if about else "required"
    default = "" if field.required or field.default is None else f" = `{write_toml(field.default)}`"
    doc = in_lecture_words(field.doc)
    if field.only_if is not None:
        doc += f" (only with `{field.only_if[0]}` = `{field.only_if[1]}`)"
    if field.layouts != EVERY_LAYOUT:
        doc += f"; {_limits(field.layouts)}"
    return f"- `{key}`{default}{f' ({about})' if about else ''}: {doc}"


def _words(field: Field) -> list[str]:
    lines = []
    for word, choice in (field.choices or {}).items():
        limits, doc = _limits(choice.layouts), in_lecture_words(choice.doc)
        lines.append(f"  - `{word}`: {doc}{f' ({limits})' if limits else ''}")
    return lines
