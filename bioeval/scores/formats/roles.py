"""The arguments of load: each has an effect, or is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from bioeval.base.arguments import (
    require_choice,
    require_flag,
    require_integer,
    require_list,
    require_number,
    require_path,
    require_text,
)
from bioeval.base.errors import DataError, backquoted, nearest_name, received
from bioeval.base.kinds import KINDS, LIST_FORMATS, NAN_POLICIES, Kind
from bioeval.scores.embeddings import known_metric
from bioeval.scores.formats.texts import fault
from bioeval.scores.image_names import PATTERNS, subject_pattern
from bioeval.scores.labels import as_ids
from bioeval.scores.pairs import ListRules

#: Keys of ``columns`` that are no metadata, in files of arrays and in lists.
ROLES = (
    *("scores", "genuine", "labels", "gallery_labels", "embeddings", "gallery_embeddings"),
    *("indices", "mask"),
)
#: Keys of ``lists``.
LISTS = ("as", "keep", "unordered", "missing_pairs", "first_index", "leave_out_query")

#: The arguments of :func:`load` for arguments of :class:`Scores` and of lists, for messages.
LOAD_NAMES = {"gallery_labels": "gallery", "names": "columns.name"} | {
    key: f"lists.{key}" for key in ("keep", "unordered", "first_index", "leave_out_query")
}

# Words of ``columns`` that would be metadata, but are likely meant as a role.
_MEANT = {role.removesuffix("s"): role for role in ROLES if role.endswith("s")} | {
    "probe_labels": "labels",
    "distances": "scores",
    "similarities": "scores",
}
_CHOICES: dict[str, Any] = {
    "kind": KINDS,
    "nan": NAN_POLICIES,
    "format": LIST_FORMATS,
    "names_of": tuple(PATTERNS),
    "lists.as": ("pairs", "matrix"),
    "lists.missing_pairs": ("raise", "skip"),
}


# The mappings that messages show.
_EXAMPLES = {
    "columns": "{'scores': 'D', 'labels': 'y', 'camera': 'cam'}",
    "lists": "{'as': 'matrix'}",
}


class Arguments:
    """The arguments of :func:`load` for one reading; arguments that no reader takes are refused.

    A role of ``columns`` is an argument such as ``columns.scores``; a key of ``lists`` is one such
    as ``lists.keep``.

    - `values`: the arguments that are given, by name, checked and converted
    - `names`: ``"auto"``, or None if ``columns`` says that there are no names of templates
    - `meta`: the other entries of ``columns``, names of metadata
    - `ignored`: the keys of ``columns`` that are None
    - `notes`: remarks on columns that readers chose
    """

    def __init__(self, arguments: Mapping[str, Any]):
        columns = _mapping("columns", arguments)
        lists = _mapping("lists", arguments)
        for word, column in columns.items():
            if word in _MEANT:
                raise DataError(
                    f'`columns={{"{word}": "{column}"}}` names no role; did you mean '
                    f"{_MEANT[word]!r}? The roles are {', '.join(ROLES)}; any other word is the "
                    "name of a metadata column"
                )
        for key in lists:
            if key not in LISTS:
                raise DataError(
                    f"`lists` has the key {received(key)}; expected "
                    f"{', '.join(LISTS)}.{nearest_name(key, LISTS)}"
                )
        stated_columns = arguments.get("columns") or {}
        self.ignored = {word for word, column in stated_columns.items() if column is None}
        self.names = None if "name" in self.ignored else "auto"
        stated = {name: x for name, x in arguments.items() if name not in ("columns", "lists")}
        stated |= {f"columns.{word}": column for word, column in columns.items() if word in ROLES}
        stated |= {f"lists.{key}": x for key, x in lists.items()}
        self.values = {
            name: _checked(name, value) for name, value in stated.items() if value is not None
        }
        ListRules.parse(self.peek("lists.keep"), self.peek("lists.unordered"))
        self.meta = {word: column for word, column in columns.items() if word not in ROLES}
        self.notes: list[str] = []
        self._used: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def peek(self, name: str) -> Any:
        return self.values.get(name)

    def take(self, name: str, default: Any = None) -> Any:
        """Return the value of an argument, and mark it as used."""
        self._used.add(name)
        return self.values.get(name, default)

    @property
    def names_arrays(self) -> bool:
        """Whether ``columns`` names an array, which excludes bioeval's own layout."""
        return any(name.startswith("columns.") for name in self.values)

    @property
    def names_templates(self) -> bool:
        """Whether names of templates are looked up, by trials, a table or a pattern."""
        return any(name in self for name in ("trials", "labels", "subject_from"))

    def side_meta(self, side: str) -> dict[str, str]:
        """Return the metadata columns of a side: all columns without the other prefix."""
        self._used.add("meta")
        other_prefix = "gallery_" if side == "probe" else "probe_"
        return {
            name.removeprefix(f"{side}_"): column
            for name, column in self.meta.items()
            if not name.startswith(other_prefix)
        }

    def all_meta(self) -> dict[str, str]:
        self._used.add("meta")
        return self.meta

    def parts_of(
        self, names: Sequence[str], place_of: Callable[[str], str]
    ) -> dict[str, dict[str, str]]:
        """Return the ``subject`` and the metadata of each name by `subject_from`."""
        pattern = self.take("subject_from")
        by_group = dict[str, dict[str, str]]()
        for group in dict.fromkeys(("subject", *pattern.groupindex)):
            matched = dict[str, str]()
            for name in names:
                match = pattern.search(name)
                parts: Sequence[Any] = match.groups() if match else ()
                if match and group in pattern.groupindex:
                    parts = (match[group],)
                if parts and all(parts):
                    matched[name] = "/".join(parts)
            for name in (x for x in names if x not in matched):
                only = f", and does match {next(iter(matched))!r}" if matched else ""
                raise DataError(
                    f'{place_of(name)}: `subject_from="{pattern.pattern}"` does not match the '
                    f"name {name!r}{only}; expected a regular expression with a group, the "
                    f"{group}, in each name, such as '{subject_pattern(names)}'"
                )
            by_group[group] = matched
        return by_group

    def rules(self) -> dict[str, Any]:
        return {
            "keep": self.take("lists.keep", ()),
            "unordered": self.take("lists.unordered", False),
            "shared": self.take("shared"),
        }

    def with_failures(self, values: np.ndarray) -> np.ndarray:
        """Return scores with NaN in place of `failed`, the score of failed comparisons."""
        failed = self.take("failed")
        return values if failed is None else np.where(values == failed, np.nan, values)

    def refuse_unused(self, place: Any, content: str) -> None:
        """Raise if an argument was not used by any reader."""
        for name, value in self.values.items():
            if name not in self._used and value not in ((), False):
                raise self.no_meaning(place, name, content)
        if self.meta and "meta" not in self._used:
            raise self.no_meaning(place, f"columns.{next(iter(self.meta))}", content)

    def no_meaning(self, place: Any, name: str, content: str) -> DataError:
        return fault(place, f"{backquoted(name)} has no meaning for {content}", "leave it out")

    def kind_of(self, place: Any, declared: Kind | None, source: str, hint: Any = "") -> Kind:
        """Return the kind of scores: `declared` in the header of a text, or the argument `kind`."""
        kind: Kind | None = self.take("kind")
        if declared and kind not in (None, declared):
            raise DataError(
                f'{place}: {source} declares the kind {declared}; `kind="{kind}"` contradicts it'
            )
        if declared or kind:
            return cast(Kind, declared or kind)
        raise DataError(
            f"{place}: does not state whether its scores are distances or similarities; give "
            f'`kind="distance"` or `kind="similarity"`{hint}'
        )


def _mapping(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries of ``columns`` or ``lists`` that are not None; raise where one is no text.

    The values of ``lists`` are checked later.
    """
    value = arguments.get(name)
    if value is None:
        return {}
    if isinstance(value, Mapping):
        entries = {key: entry for key, entry in value.items() if entry is not None}
        if name == "columns":  # a column may have a number, which is handled as text
            for key, entry in entries.items():
                if isinstance(entry, int) and not isinstance(entry, bool):
                    entries[key] = str(entry)
        words = [*value, *entries.values()]
        if name == "lists" or all(isinstance(x, str) and x for x in words):
            return entries
    raise DataError(
        f"`{name}` is {received(value)}; expected a mapping of names, such as {_EXAMPLES[name]}"
    )


def _checked(name: str, value: Any) -> Any:
    """Return the value of an argument, checked and converted; `name` is as in ``lists.keep``."""
    noun = backquoted(name)
    if name in _CHOICES:
        require_choice(noun, value, _CHOICES[name])
    elif name in ("shared", "lists.unordered", "lists.leave_out_query"):
        return require_flag(noun, value)
    elif name in ("labels", "gallery", "trials"):
        return require_path(name, value)
    elif name in ("exclude", "average"):
        words = [value] if isinstance(value, str) else require_list(name, value)
        return tuple(require_text(name, word) for word in words)
    elif name == "metric":
        return known_metric(value)
    elif name == "lists.first_index":
        return require_integer(noun, value, low=0, high=1)
    elif name == "failed":
        return require_number(name, value)
    elif name == "distractor_ids":
        return as_ids(value)
    elif name == "lists.keep":
        return ListRules.parse(value, False).keep
    elif name == "subject_from":
        try:
            pattern = re.compile(require_text(name, value))
        except re.error as error:
            raise DataError(
                f'`subject_from="{value}"` is not a regular expression: {error}'
            ) from None
        if not pattern.groups or pattern.groupindex and "subject" not in pattern.groupindex:
            raise DataError(
                f'`subject_from="{value}"` has no group for the subject; expected one, as in '
                "'id(\\d+)/', several that are the subject together, or named ones, as in "
                "'(?P<subject>\\w+)_day(?P<session>\\d+)'"
            )
        return pattern
    return value
