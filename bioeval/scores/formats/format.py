"""A format of files, as the registry knows it, and the options of reading, for every format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
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
    Part,
    enumerated,
    received,
    require_choice,
)
from bioeval.base.kinds import KINDS, METRICS, Kind, larger_is_closer
from bioeval.scores.embeddings import Metric
from bioeval.scores.formats.files import COMPRESSED
from bioeval.scores.image_names import NAMES_OF
from bioeval.scores.labelled_matrix import NAN_POLICIES, NanPolicy
from bioeval.scores.listed_templates import Kept, ListRules
from bioeval.scores.matrix import Scores

#: What to do with pairs of a published list of which an image is not in the file.
MissingPairs = Literal["raise", "skip"]
MISSING: tuple[MissingPairs, ...] = get_args(MissingPairs)

#: What is said of scores whose kind neither the file nor an option says.
KIND_ASSUMED = "taken as distances: the file does not state the kind of its scores"

#: What a list of pairs is read as.
ReadAs = Literal["pairs", "matrix"]
READ_AS: tuple[ReadAs, ...] = get_args(ReadAs)

_FILES = (
    *("gallery_embeddings", "labels", "gallery_labels", "pairs"),
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
    leave_out_query: bool | None = None
    labels_key: str | None = None
    gallery_labels_key: str | None = None
    labels: Path | None = None
    gallery_labels: Path | None = None
    names_of: str | None = None
    mask_key: str | None = None
    pairs_key: str | None = None
    pairs: Path | None = None
    missing_pairs: MissingPairs | None = None
    mask: Path | None = None
    trials: Path | None = None
    impostor: Path | None = None
    subject_from: str | None = None
    session_from: str | None = None
    as_: ReadAs | None = None
    keep: tuple[Kept, ...] | None = None
    unordered: bool | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    metric: Metric | None = None
    kind: Kind | None = None
    nan: NanPolicy | None = None
    exclude: tuple[str, ...] = ()
    format_: str | None = None
    average: tuple[str, ...] | None = None
    keep_embeddings: bool | None = None
    #: Columns that the reader chose for the subjects, in words.
    chosen_columns: list[str] = field(default_factory=list, init=False, compare=False)

    @classmethod
    def parse(cls, **arguments: Any) -> ReadOptions:
        """Check and convert the arguments of :func:`bioeval.load`."""
        for name in _FILES:
            if arguments[name] is not None:
                arguments[name] = require_path(name, arguments[name])
        for name in ("exclude", "average"):
            value = arguments[name]
            if value is not None:
                words = [value] if isinstance(value, str) else require_list(name, value)
                arguments[name] = tuple(require_text(name, word) for word in words)
        for name in arguments:
            if arguments[name] is not None and (name.endswith("_key") or name in _PATTERNS):
                require_text(name, arguments[name])
        if arguments.get("leave_out_query") is not None:
            require_flag("leave_out_query", arguments["leave_out_query"])
        arguments["unordered"] = require_flag("unordered", arguments["unordered"]) or None
        arguments["keep_embeddings"] = (
            require_flag("keep_embeddings", arguments["keep_embeddings"]) or None
        )
        keep = arguments["keep"]
        arguments["keep"] = ListRules.parse(keep, arguments["unordered"]).keep or None
        arguments["meta"] = _columns(arguments["meta"])
        options = cls(**arguments)
        for name, choices in _CHOICES.items():
            value = getattr(options, name)
            if value is not None and not (name == "metric" and callable(value)):
                require_choice(name, value, choices)
        if options.first_index is not None:
            require_integer("first_index", options.first_index, low=0, high=1)
        if options.pairs_key is not None and options.pairs is not None:
            raise DataError(
                say("pairs_key"), " and ", say("pairs"), " are both given; expected one"
            )
        if options.missing_pairs is not None and options.pairs is None and options.trials is None:
            raise DataError(
                say("missing_pairs"),
                " is about a list of pairs by name; expected ",
                say("pairs"),
                " or ",
                say("trials"),
                " with it",
            )
        for name, example in _PATTERNS.items():
            pattern = getattr(options, name)
            if pattern is None:
                continue
            try:
                groups = re.compile(pattern).groups
            except re.error as error:
                raise DataError(
                    say(name, pattern), f" is not a regular expression: {error}"
                ) from None
            if groups != 1:
                raise DataError(
                    say(name, pattern),
                    f" has {groups} groups; expected one, the {name.removesuffix('_from')}, as in "
                    f"'{example}'",
                )
        return options

    def in_use(self) -> dict[str, object]:
        """Return the options given about the file, without those of every format."""
        given = {}
        for name in FLAGS:
            value = getattr(self, name)
            if name not in EVERY_FORMAT and value is not None and value != {}:
                given[name] = value
        return given

    @property
    def names_arrays(self) -> bool:
        """Whether any array is named; the file is then not in bioeval's own layout."""
        return any(name.endswith("_key") for name in self.in_use())

    @property
    def lists_pairs(self) -> bool:
        """Whether only a list of pairs is evaluated."""
        return self.pairs_key is not None or self.pairs is not None

    def allow(self, input_name: str, names: Iterable[str]) -> None:
        """Raise :class:`DataError` if an option is given that has no meaning for `input_name`."""
        names = list(names)
        for name in self.in_use():
            if name not in names:
                accepted = enumerated(map(say, names)) if names else "no options"
                raise DataError(
                    say(name), f" has no meaning for {input_name}; it accepts ", accepted
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
                    f"{where}: declares the kind {declared}; ",
                    say("kind", stated),
                    " contradicts it; leave it out, or mend this word of the file if it is wrong",
                )
            return stated, (f"taken as {stated}; the file declares {declared}",)
        kind = self.kind or cast(Kind, declared)
        if kind:
            return (kind, ())
        return ("distance", (KIND_ASSUMED,))

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
                    "gallery entries do not show whether the first entry is 0 or 1; give ",
                    say("first_index", 0),
                    " or ",
                    say("first_index", 1),
                )
            first_index = int(guess and from_1 and not from_0)
        if first_index and (listed == 0).any():
            row = int(np.argmax((lists == 0).any(axis=1)))
            raise DataError(f"{where}: list {row} holds 0, and the first entry is said to be 1")
        if first_index:
            return np.where(lists >= 0, lists - first_index, lists)
        return lists


def _columns(meta: Any) -> dict[str, str]:
    """Return names of metadata and of their columns from text."""
    if meta is None:
        return {}
    if isinstance(meta, list | tuple) and all(isinstance(word, str) for word in meta):
        meta = dict(zip(meta, meta, strict=True))
    words = [*meta.keys(), *meta.values()] if isinstance(meta, Mapping) else [0]
    if not all(isinstance(word, str) for word in words):
        raise DataError(say("meta"), f" is {received(meta)}; expected names and columns, as text")
    return dict(meta)


# Patterns of a part of a template's name, each with an example.
_PATTERNS = {"subject_from": r"id(\d+)/", "session_from": r"_day(\d+)"}


#: The flag of each option on the command line.
FLAGS = {
    f.name: "--" + f.name.removesuffix("_key").strip("_").replace("_", "-")
    for f in fields(ReadOptions)
    if f.init
}

#: The options that hold for every format.
EVERY_FORMAT = ("exclude", "format_", "keep_embeddings")

#: The options of files with named arrays.
_NOT_OF_ARRAYS = ("mask", "trials", "impostor", *_PATTERNS, "as_", *EVERY_FORMAT)
ARRAYS = tuple(name for name in FLAGS if name not in _NOT_OF_ARRAYS)

_CHOICES = {
    "kind": KINDS,
    "nan": NAN_POLICIES,
    "metric": METRICS,
    "names_of": NAMES_OF,
    "missing_pairs": MISSING,
    "as_": READ_AS,
}


def say(name: str, value: object = None) -> Argument:
    """Return an option as an argument of :func:`bioeval.load`, for a message."""
    return Argument(name, value)


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
    def is_text(self) -> bool:
        """Whether it is text, or a compressed file (read if it has text)."""
        return self.content == "text" or self.content in COMPRESSED


def keeps_everything(scores: Scores) -> list[Part]:
    """Return no losses: the file keeps everything of scores that it can hold."""
    return []


@dataclass(frozen=True)
class Written:
    """Another way to write a format, for files whose names end in one of `endings`."""

    endings: tuple[str, ...]
    write: Callable[[Scores, Path], None]
    losses: Callable[[Scores], list[Part]]


@dataclass(frozen=True)
class Format:
    """A file format: how its files are recognised, read and written.

    Attributes
    ----------
    name, holds : str
        Its name (the suffix, or other words), and what such a file holds.
    looks, expected : str
        What the bytes are, as ``"a zip file"``, and what to call the file where one was
        expected, as ``"a .npz file"``; what it `holds` unless given.
    recognise : callable
        Whether a file has this format, by its content and the options given. It may raise a
        :class:`bioeval.DataError` with advice where the file is a near miss.
    read : callable
        Reads a file. It may raise anything on damaged bytes; the registry turns it into a
        :class:`bioeval.DataError` that names the file.
    options : sequence of str
        The fields of :class:`ReadOptions` with a meaning for it.
    suffixes : tuple of str
        Suffixes that promise this format, in lower case.
    needs : str
        For text, which has no magic bytes: how a file is recognised, for the error message.
    written : str
        What is written, as ``"everything in one"``; empty where the format is only read.
    written_as : tuple of str
        How the names of files to write end; `suffixes` unless given.
    otherwise : tuple of Written
        Other ways to write it, by longer endings of the name.
    write, losses, files : callable
        Writes scores; what a file cannot hold of them, a sentence each, which a format that is
        written has to declare (`keeps_everything` where there is nothing); and all files that
        writing one may replace.
    """

    name: str
    holds: str
    recognise: Callable[[FileFacts], bool]
    read: Callable[[Path, ReadOptions], Scores]
    options: Sequence[str] = ()
    looks: str = "text"
    expected: str = ""
    suffixes: tuple[str, ...] = ()
    needs: Part = ""
    written: str = ""
    written_as: tuple[str, ...] = ()
    otherwise: tuple[Written, ...] = ()
    write: Callable[[Scores, Path], None] = lambda scores, path: None
    losses: Callable[[Scores], list[Part]] | None = None
    files: Callable[[Path], list[Path]] = lambda path: [path]

    def __post_init__(self) -> None:
        """Raise unless a format that is written declares what it loses."""
        if not self.expected:
            object.__setattr__(self, "expected", self.holds)
        if self.written and self.losses is None:
            raise TypeError(
                f"the format {self.name} is written and does not declare its losses; give it a "
                "function, or keeps_everything"
            )

    @property
    def word(self) -> str:
        """The name of the format as the value of an option."""
        return self.name.strip("`.").replace(" ", "-")

    @property
    def holds_arrays(self) -> bool:
        """Whether it has named arrays, with everything that bioeval writes."""
        return {*ARRAYS} <= {*self.options}

    def written_to(self, path: Path) -> Format:
        """Return the format with the way to write that the name of a file chooses."""
        for way in self.otherwise:
            if path.name.endswith(way.endings):
                return replace(self, write=way.write, losses=way.losses)
        return self


def metadata_losses(scores: Scores) -> list[Part]:
    """Say which metadata columns a format leaves out."""
    names = sorted({*scores.probe_meta, *scores.gallery_meta})
    statement = "columns {} are" if len(names) > 1 else "column {} is"
    if not names:
        return []
    return [f"the metadata {statement.format(', '.join(names))} left out"]


def text_losses(columns: Sequence[np.ndarray], input_name: str) -> list[Part]:
    """Return the loss that `input_name`, as ``"labels"``, becomes text, if not all are."""
    for column in columns:
        if column.dtype.kind != "U" and {*map(type, column.reshape(-1).tolist())} - {str}:
            return [f"{input_name} become text"]
    return []


def is_square(scores: Scores) -> bool:
    """Whether both sides have the same templates in the same order, with equal metadata."""
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        return False
    rows, columns = scores.probe_meta, scores.gallery_meta
    if rows.keys() != columns.keys():
        return False
    for name, column in rows.items():
        other = columns[name]
        missing = column.dtype.kind in "fM" and other.dtype.kind in "fM"
        if not np.array_equal(column, other, equal_nan=missing):
            return False
    return True
