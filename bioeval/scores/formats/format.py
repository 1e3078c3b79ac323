"""A format of files, as the registry knows it, and the options of reading, for every format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np

from bioeval.base.arguments import (
    require_flag,
    require_integer,
    require_list,
    require_path,
    require_text,
)
from bioeval.base.errors import (
    Argument,
    DataError,
    counted,
    enumerated,
    nearest_name,
    received,
    require_choice,
)
from bioeval.base.kinds import KINDS, METRICS, Kind, larger_is_closer
from bioeval.scores.embeddings import Metric, known_metric
from bioeval.scores.formats.files import COMPRESSED
from bioeval.scores.image_names import PATTERNS
from bioeval.scores.labelled_matrix import NAN_POLICIES, NanPolicy
from bioeval.scores.listed_templates import Kept, ListRules, subject_pattern
from bioeval.scores.matrix import Scores

#: What to do with pairs of a published list of which an image is not in the file.
MissingPairs = Literal["raise", "skip"]
MISSING: tuple[MissingPairs, ...] = get_args(MissingPairs)

#: What is said of scores whose kind neither the file nor an option says.
KIND_ASSUMED = "taken as distances: the file does not state the kind of its scores"

#: What a list of pairs is read as.
ReadAs = Literal["pairs", "matrix"]
READ_AS: tuple[ReadAs, ...] = get_args(ReadAs)

#: What plays a part in a file of arrays or in a table: keys of ``columns``; others are metadata.
ROLES = (
    *("scores", "genuine", "labels", "gallery_labels", "embeddings", "gallery_embeddings"),
    *("indices", "mask", "pairs"),
)

# Words that could be taken for metadata, and the role that they mean.
_MEANT = {f"{role.removesuffix('s')}": role for role in ROLES if role.endswith("s")} | {
    "probe_labels": "labels",
    "distances": "scores",
    "similarities": "scores",
}

#: Keys of ``lists``, each with the field of :class:`ReadOptions` that holds it.
LISTS = {
    "as": "as_",
    "keep": "keep",
    "unordered": "unordered",
    "missing_pairs": "missing_pairs",
    "first_index": "first_index",
    "leave_out_query": "leave_out_query",
}

#: What arguments of :class:`Scores` and of lists are called as arguments of :func:`load`.
LOAD_NAMES = {"gallery_labels": "gallery"} | {
    key: f"lists.{key}" for key in ("keep", "unordered", "first_index", "leave_out_query")
}

_FILES = ("labels", "gallery", "trials", "mask")

# The argument of `load` that gives what a field holds, where it has another name.
_ARGUMENT_OF = {
    "gallery_labels": "gallery",
    "gallery_embeddings": "gallery",
    "pairs": "trials",
    "impostor": "path",
    "meta": "columns",
}


@dataclass(frozen=True)
class ReadOptions:
    """The options of :func:`bioeval.load`, checked; None means not given.

    The argument `gallery` gives the labels or the embeddings of the gallery, and `trials` may be
    `pairs` in LFW's form, as their content shows. `columns` has the roles alone, and `meta` the
    metadata among them.
    """

    labels: Path | None = None
    gallery_labels: Path | None = None
    gallery_embeddings: Path | None = None
    trials: Path | None = None
    pairs: Path | None = None
    mask: Path | None = None
    impostor: Path | None = None
    kind: Kind | None = None
    nan: NanPolicy | None = None
    metric: Metric | None = None
    exclude: tuple[str, ...] = ()
    average: tuple[str, ...] | None = None
    subject_from: NamePattern | None = None
    names_of: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    meta: Mapping[str, str] = field(default_factory=dict)
    as_: ReadAs | None = None
    keep: tuple[Kept, ...] | None = None
    unordered: bool | None = None
    missing_pairs: MissingPairs | None = None
    first_index: int | None = None
    leave_out_query: bool | None = None
    format: str | None = None
    only_embeddings: bool = False  # distances are computed as they are read
    #: Columns that the reader chose for the subjects, in words.
    chosen_columns: list[str] = field(default_factory=list, init=False, compare=False)

    @classmethod
    def parse(cls, **arguments: Any) -> ReadOptions:
        """Check and convert the arguments of :func:`bioeval.load`."""
        given = {name: value for name, value in arguments.items() if value is not None}
        for name in _FILES:
            if name in given:
                given[name] = require_path(name, given[name])
        for name in ("exclude", "average"):
            if name in given:
                words = given[name]
                words = [words] if isinstance(words, str) else require_list(name, words)
                given[name] = tuple(require_text(name, word) for word in words)
        given |= _roles(given.pop("columns", None)) | _lists(given.pop("lists", None))
        for name, choices in _CHOICES.items():
            value = given.get(name)
            if name == "metric" and value is not None:
                given[name] = known_metric(value)
            elif value is not None:
                require_choice(name, value, choices)
        if "gallery" in given:
            given["gallery_labels"] = given.pop("gallery")
        if "missing_pairs" in given and "trials" not in given:
            raise DataError(
                f"{say('lists.missing_pairs')} is about pairs that are listed by name; expected "
                f"{say('trials')} with it"
            )
        if "subject_from" in given:
            given["subject_from"] = NamePattern.parse(given["subject_from"])
        return cls(**given)

    def in_use(self) -> dict[str, object]:
        """Return the options given about the file, without those of every format.

        A role is ``columns.scores``, and what concerns lists ``lists.keep``.
        """
        given = {}
        for name in OPTIONS:
            if name.startswith("columns."):
                value: object = self.columns.get(name.removeprefix("columns."))
            else:
                value = getattr(self, LISTS.get(name.removeprefix("lists."), name))
            if value is not None and value != {}:
                given[name] = value
        return given

    @property
    def names_arrays(self) -> bool:
        """Whether any array is named; the file is then not in bioeval's own layout."""
        return bool(self.columns)

    @property
    def lists_pairs(self) -> bool:
        """Whether only a list of pairs is evaluated."""
        return "pairs" in self.columns or self.pairs is not None

    def said(self, name: str) -> Argument:
        """Return an option that is given as an argument, for a message."""
        return say(f"columns.{next(iter(self.meta))}" if name == "meta" and self.meta else name)

    def allow(self, input_name: str, names: Iterable[str]) -> None:
        """Raise :class:`DataError` if an option is given that has no meaning for `input_name`."""
        names = list(names)
        for name in self.in_use():
            if name not in names:
                raise DataError(
                    f"{self.said(name)} has no meaning for {input_name}; it accepts "
                    f"{_listed(names)}"
                )

    def kind_of(self, declared: str = "", where: str = "") -> tuple[Kind, tuple[str, ...]]:
        """Return the kind of scores, and a note where it is not stated or refined.

        Raises
        ------
        DataError
            If the option contradicts what the file declares, which is its word `where`.
        """
        if declared and self.kind not in (None, "order", declared):
            stated = self.kind
            if declared != "order" and larger_is_closer(stated) != larger_is_closer(declared):
                raise DataError(
                    f"{where}: declares the kind {declared}; {say('kind', stated)} contradicts it; "
                    "leave it out, or mend this word of the file if it is wrong"
                )
            return stated, (f"taken as {stated}; the file declares {declared}",)
        kind = self.kind or cast(Kind, declared)
        if kind:
            return (kind, ())
        return ("distance", (KIND_ASSUMED,))

    def required_kind(self, path: Path, hint: str = "") -> Kind:
        """Return the kind of scores that no file declares; raise where it is not given."""
        if self.kind is not None:
            return self.kind
        raise DataError(
            f"{path}: does not state whether its scores are distances or similarities; give "
            f"{say('kind', 'distance')} or {say('kind', 'similarity')}{hint}"
        )

    def side_meta(self, side: str) -> dict[str, str]:
        """Return the metadata to read for the ``"probe"`` or the ``"gallery"`` side.

        A name with the prefix of a side belongs to that side, a plain name to both.
        """
        other = "gallery_" if side == "probe" else "probe_"
        columns = {}
        for name, column in self.meta.items():
            if not name.startswith(other):
                columns[name.removeprefix(f"{side}_")] = column
        return columns

    def from_zero(
        self, lists: np.ndarray, size: int, where: str, guess: bool = False
    ) -> np.ndarray:
        """Return the numbers of gallery entries as indices from 0; negative numbers stay.

        With `guess`, the option `first_index` is required unless the number 0 or `size` occurs.
        """
        first_index, listed = self.first_index, lists[lists >= 0]
        if first_index is None:
            from_0, from_1 = bool((listed == 0).any()), bool((listed == size).any())
            if guess and not (from_0 or from_1):
                raise DataError(
                    f"{where}: the numbers {int(listed.min())} to {int(listed.max())} of {size} "
                    "gallery entries do not show whether the first entry is 0 or 1; give "
                    f"{say('lists.first_index', 0)} or {say('lists.first_index', 1)}"
                )
            first_index = int(guess and from_1 and not from_0)
        if first_index and (listed == 0).any():
            row = int(np.argmax((lists == 0).any(axis=1)))
            raise DataError(f"{where}: list {row} holds 0, and the first entry is said to be 1")
        if first_index:
            return np.where(lists >= 0, lists - first_index, lists)
        return lists


def _listed(names: Sequence[str]) -> str:
    """Return options as an enumeration, with the keys of each mapping in brackets."""
    keys: dict[str, list[str]] = {}
    for name in names:
        argument, point, key = say(name).name.partition(".")
        keys.setdefault(argument, []).extend([key] if point else [])
    parts = [f"{say(x)} ({', '.join(y)})" if y else f"{say(x)}" for x, y in keys.items()]
    return enumerated(parts) if parts else "no options"


def _roles(columns: Any) -> dict[str, Any]:
    """Return the roles among `columns`, and the metadata."""
    if columns is None:
        return {"columns": {}}
    words = [*columns.keys(), *columns.values()] if isinstance(columns, Mapping) else [0]
    if not all(isinstance(word, str) and word for word in words):
        raise DataError(
            f"{say('columns')} is {received(columns)}; expected roles with names in the file, such "
            "as {'scores': 'D', 'labels': 'y', 'camera': 'cam'}"
        )
    for word in columns:
        if word in _MEANT:
            raise DataError(
                f"{say(f'columns.{word}', columns[word])} names no role; did you mean "
                f"{_MEANT[word]!r}? The roles are {', '.join(ROLES)}; any other word is the name "
                "of a metadata column"
            )
    roles = {role: name for role, name in columns.items() if role in ROLES}
    return {"columns": roles, "meta": {k: v for k, v in columns.items() if k not in roles}}


def _lists(lists: Any) -> dict[str, Any]:
    if lists is None:
        return {}
    if not isinstance(lists, Mapping):
        raise DataError(
            f"{say('lists')} is {received(lists)}; expected a mapping such as {{'as': 'matrix'}}"
        )
    for key in lists:
        if key not in LISTS:
            raise DataError(
                f"{say('lists')} has the key {received(key)}; expected "
                f"{', '.join(LISTS)}.{nearest_name(key, LISTS)}"
            )
    given = {key: value for key, value in lists.items() if value is not None}
    for key in given.keys() & {"unordered", "leave_out_query"}:
        require_flag(say(f"lists.{key}"), given[key])
    if "first_index" in given:
        require_integer(say("lists.first_index"), given["first_index"], low=0, high=1)
    for key, choices in (("as", READ_AS), ("missing_pairs", MISSING)):
        if key in given:
            require_choice(say(f"lists.{key}"), given[key], choices)
    unordered = given.pop("unordered", False)
    if keep := ListRules.parse(given.pop("keep", None), unordered).keep:
        given["keep"] = keep
    if unordered:
        given["unordered"] = True
    return {LISTS[key]: value for key, value in given.items()}


@dataclass(frozen=True)
class NamePattern:
    """What a regular expression takes out of the name of a template: its subject, and metadata."""

    pattern: re.Pattern[str]

    @classmethod
    def parse(cls, text: Any) -> NamePattern:
        """Compile the text of ``subject_from``: one group, or groups with names."""
        require_text("subject_from", text)
        try:
            pattern = re.compile(text)
        except re.error as error:
            raise DataError(
                f"{say('subject_from', text)} is not a regular expression: {error}"
            ) from None
        if pattern.groups != 1 and "subject" not in pattern.groupindex:
            raise DataError(
                f"{say('subject_from', text)} has {counted(pattern.groups, 'groups')}; expected "
                "one, the subject, as in 'id(\\d+)/', or named ones, as in "
                "'(?P<subject>\\w+)_day(?P<session>\\d+)'"
            )
        return cls(pattern)

    def __str__(self) -> str:
        """Return its text."""
        return self.pattern.pattern

    @property
    def metadata(self) -> list[str]:
        """The names of the metadata that it takes."""
        return [name for name in self.pattern.groupindex if name != "subject"]

    def part(self, name: str, group: str = "subject") -> str | None:
        """Return a part of a name; None where the pattern does not match."""
        match = self.pattern.search(name)
        if match is None:
            return None
        return match[group if group in self.pattern.groupindex else 1] or None

    def parts(
        self, names: Sequence[str], group: str, where: Callable[[int], str], known: Sequence[str]
    ) -> list[str]:
        """Return a part of each name; `where` says where a name stands, `known` are all names."""
        parts = [self.part(name, group) for name in names]
        if None not in parts:
            return [part for part in parts if part is not None]
        place = parts.index(None)
        raise DataError(
            f"{where(place)}: {say('subject_from', str(self))} does not match the name "
            f"{names[place]!r}; expected a regular expression with one group, the {group}, such as "
            f"'{subject_pattern(known)}'"
        )


#: The options about a file, with roles and what concerns lists.
OPTIONS = (
    *("labels", "gallery_labels", "gallery_embeddings", "trials", "pairs", "mask", "impostor"),
    *("kind", "nan", "metric", "average", "subject_from", "names_of", "meta"),
    *map("columns.{}".format, ROLES),
    *map("lists.{}".format, LISTS),
)

#: The options of files with named arrays.
_NOT_OF_ARRAYS = ("mask", "trials", "impostor", "subject_from", "lists.as")
ARRAYS = tuple(name for name in OPTIONS if name not in _NOT_OF_ARRAYS)

_CHOICES = {"kind": KINDS, "nan": NAN_POLICIES, "metric": METRICS, "names_of": tuple(PATTERNS)}


def say(name: str, value: object = None) -> Argument:
    """Return an option as an argument of :func:`bioeval.load`, for a message."""
    return Argument(_ARGUMENT_OF.get(name, name), value)


@dataclass(frozen=True)
class FileFacts:
    """Facts about a file before it is read; `content` is the kind that its first bytes show."""

    path: Path
    content: str
    options: ReadOptions

    @property
    def suffix(self) -> str:
        """The suffix of the file in lower case."""
        return self.path.suffix.lower()

    @property
    def looks(self) -> str:
        """What the bytes are, in words."""
        words = {"npy": "a NumPy array", "zip": "a zip file", "mat": "a MATLAB file"}
        return words.get(self.content, self.content)

    @property
    def is_text(self) -> bool:
        """Whether it is text, or a compressed file (read if it has text)."""
        return self.content == "text" or self.content in COMPRESSED


@dataclass(frozen=True)
class Format:
    """A file format: how its files are recognised, read and written.

    - `name`, `holds`: its name (the suffix, or other words), and what such a file holds
    - `recognise`: whether a file has this format; it may raise advice for a near miss
    - `read`: may raise anything on damaged bytes, which becomes an error that names the file
    - `expected`: what to call the file where one was expected
    - `options`: the fields of :class:`ReadOptions` with a meaning for it
    - `needs`: for text, which has no magic bytes, how a file is recognised
    - `written`, `written_as`: what is written (nothing: it is only read), and how the names of
      files to write end, if not as `suffixes`
    - `losses`: what a file cannot hold of scores, a sentence each
    """

    name: str
    holds: str
    recognise: Callable[[FileFacts], bool]
    read: Callable[[Path, ReadOptions], Scores]
    expected: str
    options: Sequence[str] = ()
    suffixes: tuple[str, ...] = ()
    needs: str = ""
    written: str = ""
    written_as: tuple[str, ...] = ()
    write: Callable[[Scores, Path], None] = lambda scores, path: None
    losses: Callable[[Scores], list[str]] = lambda scores: []

    @property
    def word(self) -> str:
        """The name of the format as the value of an option."""
        return self.name.strip("`.").replace(" ", "-")

    @property
    def holds_arrays(self) -> bool:
        """Whether it has named arrays, with everything that bioeval writes."""
        return {*ARRAYS} <= {*self.options}
