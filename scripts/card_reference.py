"""The reference of all fields of a card, for ``docs/protocol-cards.md``.

``scripts/page_tables.py`` writes it into the page; a test compares the page with it.
"""

from __future__ import annotations

from bioeval.protocol.card import HEAD, SECTIONS
from bioeval.protocol.fields import EVERY_LAYOUT, Field, Section, fields_of
from bioeval.protocol.toml import write


def reference() -> str:
    """Return a table of the fields of each section, in Markdown, with the accepted words."""
    blocks = []
    homes: dict[str, str] = {}  # where the words of a field were explained first
    parts = [("", "The card itself.", HEAD)]
    for name, section in SECTIONS.items():
        parts.append((name, " ".join([section.doc, *_rules(section)]), fields_of(section)))
    for name, intro, fields in parts:
        blocks += [f"### `[{name}]`" if name else "### Above the first section", intro]
        rows = [_row(key, field) for key, field in fields.items()]
        blocks.append("\n".join(["| field | value | default | what it decides |", _LINE, *rows]))
        for key, field in fields.items():
            if field.choices:
                home = homes.setdefault(repr(field.choices), name)
                blocks.append(_words(key, field) if home == name else f"`{key}`: as in `[{home}]`.")
    return "\n\n".join(blocks) + "\n"


_LINE = "|---|---|---|---|"


def _rules(section: type[Section]) -> list[str]:
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


def _row(key: str, field: Field) -> str:
    if field.choices:
        value = "a list of the words below" if field.many else "one of the words below"
    else:
        value = field.expected()
    if field.required:
        default = "must be given"
    elif field.default is None:
        default = "not fixed"
    else:
        default = f"`{write(field.default)}`"
    doc = field.doc
    if field.only_if is not None:
        doc += f" (only with `{field.only_if[0]}` = `{field.only_if[1]}`)"
    if field.layouts != EVERY_LAYOUT:
        doc += f"; {_limits(field.layouts)}"
    return f"| `{key}` | {value} | {default} | {doc} |"


def _words(key: str, field: Field) -> str:
    lines = [f"`{key}`:", ""]
    for word, choice in field.choices.items():
        limits = _limits(choice.layouts)
        lines.append(f"- `{word}`: {choice.doc}{f' ({limits})' if limits else ''}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(reference(), end="")
