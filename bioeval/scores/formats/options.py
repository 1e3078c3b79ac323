"""What a caller may say about a file: which array is which, and how to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from bioeval.base.errors import Argument, DataError


@dataclass(frozen=True)
class Options:
    """The options of :func:`bioeval.load`; None means not given."""

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
    labels: str | Path | None = None
    probe_labels: str | Path | None = None
    gallery_labels: str | Path | None = None
    names_of: str | None = None
    mask_key: str | None = None
    pairs_key: str | None = None
    pairs: Path | None = None
    missing_pairs: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    metric: str | None = None
    kind: str | None = None
    nan: str | None = None

    def given(self) -> dict[str, object]:
        """Return the options that were given."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in values.items() if value is not None and value != {}}

    @property
    def names_arrays(self) -> bool:
        """Whether any array is named: the file is then not in bioeval's own layout."""
        return any(name.endswith("_key") for name in self.given())

    def allow(self, what: str, *names: str) -> None:
        """Raise :class:`DataError` if an option is given that has no meaning for `what`."""
        for name in self.given():
            if name not in names:
                accepted = ", ".join(say(n) for n in names)
                raise DataError(
                    f"{say(name)} has no meaning for {what}; it accepts {accepted or 'no options'}"
                )


def say(name: str, value: str | int | None = None) -> str:
    """Return an option as an argument of :func:`bioeval.load`, for a message."""
    return str(Argument(name, value))


def side_meta(options: Options, prefix: str) -> dict[str, str]:
    """Return the metadata asked for on one side: by its prefix, or on both by a plain name."""
    other = {"probe_": "gallery_", "gallery_": "probe_"}[prefix]
    return {
        name.removeprefix(prefix): column
        for name, column in options.meta.items()
        if not name.startswith(other)
    }
