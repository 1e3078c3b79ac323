"""The options of reading: the roles of arrays, and how to read them, for every format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from bioeval.base.arguments import (
    require_flag,
    require_integer,
    require_list,
    require_path,
    require_text,
)
from bioeval.base.errors import Argument, DataError, require_choice
from bioeval.base.kinds import KINDS, larger_is_closer
from bioeval.base.memory import require_bytes
from bioeval.scores.embeddings import METRICS
from bioeval.scores.formats.image_names import NAMES_OF
from bioeval.scores.labelled_matrix import NAN_POLICIES
from bioeval.scores.listed_templates import ListRules

#: What to do with pairs of a published list of which an image is not in the file.
MISSING = ("raise", "skip")

#: What is said of scores whose kind neither the file nor an option says.
KIND_ASSUMED = "taken as distances: the file does not state the kind of its scores"

#: What a list of pairs is read as.
READ_AS = ("pairs", "matrix")

_FILES = (
    *("gallery_embeddings", "labels", "probe_labels", "gallery_labels", "pairs"),
    *("mask", "trials", "impostor"),
)


@dataclass(frozen=True)
class ReadOptions:
    """The options of :func:`bioeval.load`, checked; None means not given."""

    scores_key: str | None = None
    genuine_key: str | None = None
    embeddings_key: str | None = None
    gallery_embeddings_key: str | None = None
    gallery_embeddings: Path | None = None
    indices_key: str | None = None
    first_index: int | None = None
    labels_key: str | None = None
    probe_labels_key: str | None = None
    gallery_labels_key: str | None = None
    labels: Path | None = None
    probe_labels: Path | None = None
    gallery_labels: Path | None = None
    names_of: str | None = None
    mask_key: str | None = None
    pairs_key: str | None = None
    pairs: Path | None = None
    missing_pairs: str | None = None
    mask: Path | None = None
    trials: Path | None = None
    impostor: Path | None = None
    subject_from: str | None = None
    session_from: str | None = None
    as_: str | None = None
    keep: tuple[str, ...] | None = None
    unordered: bool | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    metric: str | None = None
    kind: str | None = None
    nan: str | None = None
    exclude: tuple[str, ...] = ()
    format_: str | None = None
    average: tuple[str, ...] | None = None
    memory_limit: int | None = None
    keep_embeddings: bool | None = None
    #: Columns that the reader chose for the subjects, in words.
    chosen_columns: list[str] = field(default_factory=list, init=False, compare=False)

    @classmethod
    def parse(cls, **given: Any) -> ReadOptions:
        """Check and convert the arguments of :func:`bioeval.load`."""
        for name in _FILES:
            if given[name] is not None:
                given[name] = require_path(name, given[name])
        for name in ("exclude", "average"):
            value = given[name]
            if value is not None:
                words = [value] if isinstance(value, str) else require_list(name, value)
                given[name] = tuple(require_text(name, word) for word in words)
        for name in (*(x for x in given if x.endswith("_key")), *_PATTERNS):
            if given[name] is not None:
                require_text(name, given[name])
        given["unordered"] = require_flag("unordered", given["unordered"]) or None
        given["keep_embeddings"] = require_flag("keep_embeddings", given["keep_embeddings"]) or None
        keep = given["keep"]
        given["keep"] = ListRules.parse(keep, given["unordered"]).keep or None
        given["meta"] = _columns(given["meta"])
        if given.get("memory_limit") is not None:
            given["memory_limit"] = require_bytes("memory_limit", given["memory_limit"])
        options = cls(**given)
        for name, choices in _CHOICES.items():
            value = getattr(options, name)
            if value is not None and not (name == "metric" and callable(value)):
                require_choice(name, value, choices)
        if options.first_index is not None:
            require_integer("first_index", options.first_index, low=0, high=1)
        if options.pairs_key is not None and options.pairs is not None:
            raise DataError(f"{say('pairs_key')} and {say('pairs')} are both given; expected one")
        if options.missing_pairs is not None and options.pairs is None and options.trials is None:
            raise DataError(
                f"{say('missing_pairs')} is about a list of pairs by name; expected "
                f"{say('pairs')} or {say('trials')} with it"
            )
        for name, example in _PATTERNS.items():
            if (pattern := getattr(options, name)) is not None:
                _check_pattern(name, pattern, example)
        return options

    def given(self) -> dict[str, object]:
        """Return the options given about the file, without those of every format."""
        values = {name: getattr(self, name) for name in FLAGS if name not in EVERY_FORMAT}
        return {name: value for name, value in values.items() if value is not None and value != {}}

    @property
    def names_arrays(self) -> bool:
        """Whether any array is named; the file is then not in bioeval's own layout."""
        return any(name.endswith("_key") for name in self.given())

    @property
    def lists_pairs(self) -> bool:
        """Whether only a list of pairs is evaluated."""
        return self.pairs_key is not None or self.pairs is not None

    def allow(self, what: str, names: Iterable[str]) -> None:
        """Raise :class:`DataError` if an option is given that has no meaning for `what`."""
        names = list(names)
        for name in self.given():
            if name not in names:
                accepted = ", ".join(say(n) for n in names)
                raise DataError(
                    f"{say(name)} has no meaning for {what}; it accepts {accepted or 'no options'}"
                )

    def kind_of(self, declared: str = "", where: str = "") -> tuple[str, tuple[str, ...]]:
        """Return the kind of scores, and a note where it is not stated or refined.

        Raises
        ------
        DataError
            If the option contradicts what the file declares, which is its word `where`.
        """
        if declared and self.kind not in (None, "order", declared):
            given = str(self.kind)
            if declared != "order" and larger_is_closer(given) != larger_is_closer(declared):
                raise DataError(
                    f"{where}: declares the kind {declared}; {say('kind', given)} contradicts "
                    "it; leave it out, or mend this word of the file if it is wrong"
                )
            return given, (f"taken as {given}; the file declares {declared}",)
        kind = self.kind or declared
        return (kind, ()) if kind else ("distance", (KIND_ASSUMED,))

    def side_meta(self, side: str) -> dict[str, str]:
        """Return the metadata to read for the ``"probe"`` or the ``"gallery"`` side.

        A name with the prefix of a side belongs to that side, a plain name to both.
        """
        prefix, other = ("probe_", "gallery_") if side == "probe" else ("gallery_", "probe_")
        return {
            name.removeprefix(prefix): column
            for name, column in self.meta.items()
            if not name.startswith(other)
        }


def _columns(meta: Any) -> dict[str, str]:
    """Return names of metadata and of their columns from text."""
    found = {} if meta is None else meta
    if not isinstance(found, Mapping) or not all(
        isinstance(x, str) for pair in found.items() for x in pair
    ):
        raise DataError(f"{say('meta')} is {meta!r}; expected names and columns, as text")
    return dict(found)


# Patterns of a part of a template's name, each with an example.
_PATTERNS = {"subject_from": r"id(\d+)/", "session_from": r"_day(\d+)"}


def _check_pattern(name: str, pattern: str, example: str) -> None:
    """Raise :class:`DataError` unless a pattern is a regular expression with one group."""
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise DataError(f"{say(name, pattern)} is not a regular expression: {error}") from None
    if groups != 1:
        what = name.removesuffix("_from")
        raise DataError(
            f"{say(name, pattern)} has {groups} groups; expected one, the {what}, as in {example!r}"
        )


#: The flag of each option on the command line.
FLAGS = {
    f.name: "--" + f.name.removesuffix("_key").strip("_").replace("_", "-")
    for f in fields(ReadOptions)
    if f.init
} | {"memory_limit": "--memory"}

#: The options that hold for every format.
EVERY_FORMAT = ("exclude", "format_", "memory_limit", "keep_embeddings")

#: The options of files with named arrays.
ARRAYS = tuple(
    name
    for name in FLAGS
    if name not in (*EVERY_FORMAT, "mask", "trials", "impostor", *_PATTERNS, "as_")
)

_CHOICES = {
    "kind": KINDS,
    "nan": NAN_POLICIES,
    "metric": METRICS,
    "names_of": NAMES_OF,
    "missing_pairs": MISSING,
    "as_": READ_AS,
}


def say(name: str, value: object = None) -> str:
    """Return an option as an argument of :func:`bioeval.load`, for a message."""
    return str(Argument(name, value))
