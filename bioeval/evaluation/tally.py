"""The public :class:`Tally`: the counts of all tasks of a protocol, merged, saved, and shown."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError, MergeError, bad_choice
from bioeval.evaluation.tally_file import complaint
from bioeval.results.closed_set import closed_set_dataset
from bioeval.results.open_set import open_set_dataset
from bioeval.results.random_galleries import closed_set_expected, open_set_expected
from bioeval.results.reid import reid_dataset
from bioeval.results.verification import verification_dataset
from bioeval.scores.about import About
from bioeval.scores.formats.damage import guarded
from bioeval.scores.formats.files import existing_file, replacing
from bioeval.tallies.counts import (
    CellCounts,
    IdentificationTally,
    TaskTally,
    ThresholdCounts,
    VerificationTally,
)
from bioeval.tallies.points import FAR_TARGETS, EqualError, VerificationPoints
from bioeval.tallies.random_galleries.counts import GalleryTally
from bioeval.tallies.random_galleries.exact_sum import FixedSums
from bioeval.tallies.reid_counts import MatchLists, ReidTally

if TYPE_CHECKING:
    import xarray as xr

SCHEMA = 1

_CLASSES = {
    c.__name__: c
    for c in (
        About,
        CellCounts,
        EqualError,
        FixedSums,
        GalleryTally,
        IdentificationTally,
        MatchLists,
        ReidTally,
        ThresholdCounts,
        VerificationPoints,
        VerificationTally,
    )
}


@dataclass
class Part:
    """One task's tally, with the options that turn it into a result."""

    tally: TaskTally | GalleryTally | ReidTally
    options: dict[str, Any]


class Tally:
    """What one sweep counted, for every task of a protocol.

    Attributes
    ----------
    protocol : str
        The name of the protocol card.
    parts : dict of str to Part
        The counts of each node, such as ``"verification/single"``.
    """

    def __init__(
        self,
        protocol: str,
        parts: dict[str, Part],
        far_targets: Sequence[float] | np.ndarray = FAR_TARGETS,
        ranks: Sequence[int] = (1, 5, 10),
    ):
        self.protocol = protocol
        self.parts = parts
        self.far_targets = np.asarray(far_targets, dtype=np.float64)
        self.ranks = tuple(int(k) for k in ranks)

    def __repr__(self) -> str:
        about = next(iter(self.parts.values())).tally.about
        return f"<Tally {self.protocol}, {about.probes} probes, {', '.join(self.parts)}>"

    def merge(self, other: Tally) -> Tally:
        """Return the tally of both sets of probes, which must be disjoint.

        Raises
        ------
        MergeError
            If protocols, options, kinds of score or thresholds differ.
        """
        if not isinstance(other, Tally):
            raise MergeError(f"a Tally cannot be merged with {type(other).__name__}")
        if other is self:
            raise MergeError("a Tally cannot be merged with itself: its probes would count twice")
        mine, theirs = self.parts, other.parts
        options = {k: (v.options, theirs[k].options) for k, v in mine.items() if k in theirs}
        differ = [k for k, (a, b) in options.items() if not _equal_options(a, b)]
        if self.protocol != other.protocol or set(mine) != set(theirs) or differ:
            raise MergeError(self._difference(other, differ))
        merged: dict[tuple[int, int], TaskTally | GalleryTally | ReidTally] = {}
        parts = {}
        for node, part in mine.items():
            key = (id(part.tally), id(theirs[node].tally))
            if key not in merged:
                merged[key] = part.tally.merge(theirs[node].tally)  # type: ignore[arg-type]
            parts[node] = Part(merged[key], part.options)
        return Tally(self.protocol, parts, self.far_targets, self.ranks)

    def _difference(self, other: Tally, differ: list[str]) -> str:
        """Say why two tallies do not belong together."""
        if self.protocol != other.protocol:
            return f"tallies of different protocols: {self.protocol} and {other.protocol}"
        if set(self.parts) != set(other.parts):
            return f"tallies of different tasks: {list(self.parts)} and {list(other.parts)}"
        node = differ[0]
        mine, theirs = _plain(self.parts[node].options), _plain(other.parts[node].options)
        names = [k for k in {**mine, **theirs} if mine.get(k) != theirs.get(k)]
        return f"tallies of {node} with different {', '.join(names)}; count both with the same"

    def dataset(self, node: str | None = None) -> xr.Dataset:
        """Return the result of one task; `node` may be left out where there is only one."""
        if node is None:
            if len(self.parts) > 1:
                listed = ", ".join(self.parts)
                raise DataError(f"the tally holds several tasks ({listed}); name one, or use tree")
            (node,) = self.parts
        if node not in self.parts:
            raise DataError(bad_choice("node", node, self.parts))
        part = self.parts[node]
        if isinstance(part.tally, VerificationTally):
            result = verification_dataset(part.tally)
        elif isinstance(part.tally, GalleryTally):
            expected = open_set_expected if node == "open_set" else closed_set_expected
            result = expected(part.tally, **part.options)
        elif isinstance(part.tally, ReidTally):
            result = reid_dataset(part.tally, **part.options)
        elif node == "open_set":
            result = open_set_dataset(part.tally, **part.options)
        else:
            result = closed_set_dataset(part.tally, **part.options)
        result.attrs["protocol"] = self.protocol
        result.attrs["report_ranks"] = " ".join(map(str, self.ranks))
        return result

    def tree(self) -> xr.DataTree:
        """Return the results of all tasks as a DataTree."""
        import xarray as xr

        return xr.DataTree.from_dict({f"/{node}": self.dataset(node) for node in self.parts})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tally as an ``.npz`` file of plain arrays and one JSON header.

        The file appears whole or not at all.
        """
        arrays: dict[str, np.ndarray] = {}
        tallies: list[TaskTally | GalleryTally | ReidTally] = []
        nodes = {}
        for node, part in self.parts.items():
            if not any(t is part.tally for t in tallies):
                tallies.append(part.tally)
            number = next(i for i, t in enumerate(tallies) if t is part.tally)
            nodes[node] = {"tally": number, "options": _plain(part.options)}
        header = {
            "bioeval_tally": SCHEMA,
            "protocol": self.protocol,
            "far_targets": self.far_targets.tolist(),
            "ranks": list(self.ranks),
            "nodes": nodes,
            "tallies": [_pack(t, f"{i}", arrays) for i, t in enumerate(tallies)],
        }
        text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        with replacing(path) as part_path, open(part_path, "wb") as file:
            np.savez(file, header=text, **arrays)  # type: ignore[arg-type]

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Tally:
        """Read a tally that :meth:`save` wrote.

        Raises
        ------
        DataError
            If the file is missing, truncated, or no tally.
        """
        path = existing_file(path, "a saved tally")
        with guarded(path, expected="a saved tally"):
            with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            header = json.loads(arrays["header"].tobytes())
            version = header["bioeval_tally"]
        if version != SCHEMA:
            raise DataError(f"{path}: is a tally of layout {version}; this version reads {SCHEMA}")
        try:
            tallies = [_unpack(x, arrays) for x in header["tallies"]]
            found = {
                node: (tallies[x["tally"]], x["options"]) for node, x in header["nodes"].items()
            }
            protocol, targets, ranks = (header[k] for k in ("protocol", "far_targets", "ranks"))
            wrong = complaint(found) or _wrong_header(protocol, targets, ranks)
        except (
            KeyError,
            TypeError,
            IndexError,
            ValueError,
            AttributeError,
            OverflowError,
        ) as error:
            raise DataError(f"{path}: the tally is damaged ({error})") from None
        if wrong:
            raise DataError(f"{path}: the tally is damaged: {wrong}")
        parts = {node: Part(tally, dict(options)) for node, (tally, options) in found.items()}
        return Tally(protocol, parts, targets, ranks)


def _wrong_header(protocol: Any, targets: Any, ranks: Any) -> str:
    right = isinstance(protocol, str) and isinstance(targets, list) and isinstance(ranks, list)
    right = right and all(isinstance(x, (int, float)) and 0 <= x <= 1 for x in targets)
    right = right and all(isinstance(k, int) and k >= 1 for k in ranks)
    return "" if right else "its header names no protocol, FAR targets or ranks"


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    scalars = (np.ndarray, np.generic)
    return {k: v.tolist() if isinstance(v, scalars) else v for k, v in options.items()}


def _equal_options(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return json.dumps(_plain(a), sort_keys=True) == json.dumps(_plain(b), sort_keys=True)


def _pack(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Turn a tally into JSON, its arrays put into `arrays` by name."""
    if type(value).__name__ in _CLASSES:
        inner = {f.name: _pack(getattr(value, f.name), f"{name}.{f.name}", arrays)
                 for f in fields(value)}  # fmt: skip
        return {"class": type(value).__name__, **inner}
    if isinstance(value, np.ndarray):
        arrays[name] = value
        return {"array": name}
    if isinstance(value, frozenset):
        return {"set": sorted(value)}
    if isinstance(value, tuple):
        return {"tuple": list(value)}
    return value


def _unpack(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if not isinstance(value, dict):
        return value
    if "class" in value:
        inner = {k: _unpack(v, arrays) for k, v in value.items() if k != "class"}
        return _CLASSES[value["class"]](**inner)
    if "array" in value:
        return arrays[value["array"]]
    if "set" in value:
        return frozenset(value["set"])
    return tuple(value["tuple"])
