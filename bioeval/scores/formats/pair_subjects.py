"""The subjects and the metadata of listed pairs: columns, a table of templates, parts of names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from bioeval.scores.formats.faults import fault
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.pair_table import PairTable, TwoColumns, have_equal_words, renamed
from bioeval.scores.formats.tables import Words
from bioeval.scores.formats.template_tables import read_templates

# Names whose subjects are shown.
_EXAMPLES = 3


class Described(NamedTuple):
    """What a list, and the arguments, say of the templates of all its rows."""

    subjects: TwoColumns | None
    meta: dict[str, TwoColumns]
    columns_left_out: dict[str, str]  # columns of a table of templates, and why
    reading: tuple[str, ...]  # phrases on the source of the subjects


def described_pairs(pairs: PairTable, arguments: Arguments, *, has_classes: bool) -> Described:
    """Return the subjects and the metadata of both sides.

    `has_classes` is whether genuine pairs are known, so that subjects are not needed.
    """
    meta = _listed_metadata(pairs, arguments)
    listed: TwoColumns | None = None
    if pairs.layout.subjects:
        enrolled, probe = pairs.layout.subjects
        listed = pairs.table.words[enrolled], pairs.table.words[probe]
    by_name: TwoColumns | None = None
    columns_left_out = dict[str, str]()
    reading: tuple[str, ...] = ()
    for option in (x for x in ("labels", "subject_from") if x in arguments):
        names = pairs.names(f"`{option}`")
        if option == "labels":
            needs_subjects = listed is None and "subject_from" not in arguments
            found = _by_table(pairs, arguments, needs_subjects, has_classes)
        else:
            found = _by_pattern(pairs, arguments)
        meta |= {name: renamed(names, value_of) for name, value_of in found.meta.items()}
        columns_left_out |= found.columns_left_out
        reading += found.reading
        if found.subject is not None:
            by_name = renamed(names, found.subject)
            if listed is not None:
                _require_agreement(pairs, listed, by_name, option)
    if listed is not None and reading:
        reading = ("subjects as listed, equal to those from names",)
    return Described(listed or by_name, meta, columns_left_out, reading)


def _listed_metadata(pairs: PairTable, arguments: Arguments) -> dict[str, TwoColumns]:
    """Return the columns of the list that are metadata; a side without a column is unknown."""
    layout = pairs.layout
    if "labels" not in arguments and not layout.may_have_metadata and arguments.meta:
        name = next(iter(arguments.meta))
        raise fault(
            pairs.table.path,
            f'`columns={{"{name}": ...}}` names metadata, and a list of pairs without names of '
            "columns has none",
            "give the numbers of all columns, or the table of its templates as `labels`",
        )
    row_count = len(pairs.table.numbers[layout.score])
    unknown = Words.from_codes(np.zeros(row_count, dtype=np.int8), [""])
    meta = {}
    for name, columns in layout.meta.items():
        enrolled, probe = (unknown if i is None else pairs.table.words[i] for i in columns)
        meta[name] = enrolled, probe
    return meta


class _ByName(NamedTuple):
    """What a table, or a pattern, says of the names of templates."""

    subject: Mapping[str, str] | None  # by name; None: a table without subjects
    meta: Mapping[str, Mapping[str, str]]  # by column, and by name
    columns_left_out: Mapping[str, str] = MappingProxyType({})
    reading: tuple[str, ...] = ()


def _by_table(
    pairs: PairTable, arguments: Arguments, needs_subjects: bool, has_classes: bool
) -> _ByName:
    """Read the table `labels`; raise where it lacks a template, or subjects that are needed.

    Where genuine pairs are known, a table of metadata alone does.
    """
    templates = read_templates(arguments)
    meta_names = {
        name: column
        for name, column in arguments.all_meta().items()
        if name not in pairs.layout.named
    }
    meta, columns_left_out = templates.metadata(meta_names)
    if not needs_subjects or has_classes and templates.metadata_columns:
        subject = templates.subjects_if_stated()
    else:
        subject = templates.subjects()
    templates.require(pairs.every_name(), pairs.table.path)
    return _ByName(subject, meta, columns_left_out)


def _by_pattern(pairs: PairTable, arguments: Arguments) -> _ByName:
    parts = arguments.take("subject_from").parts(pairs.every_name(), pairs.place_of_name)
    subject = parts.pop("subject")
    enrolled, _ = pairs.names("`subject_from`")
    first_names = [enrolled.values[code] for code in enrolled.codes[:_EXAMPLES]]
    examples = [f"{name} -> {subject[name]}" for name in dict.fromkeys(first_names)]
    return _ByName(subject, parts, reading=(f"subjects from names: {', '.join(examples)}",))


def _require_agreement(
    pairs: PairTable, listed: TwoColumns, by_name: TwoColumns, option: str
) -> None:
    """Raise where a row lists another subject than the option gives its name."""
    for stated, by_option in zip(listed, by_name, strict=True):
        differs = ~have_equal_words(by_option, stated)
        for row in np.flatnonzero(differs)[:1].tolist():
            raise fault(
                pairs.table.place_of(row),
                f"the subject is {stated.values[stated.codes[row]]!r}, and by "
                f"`{option}` it is {by_option.values[by_option.codes[row]]!r}",
                "correct one of the two",
            )
