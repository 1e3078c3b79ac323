"""The identity of each probe, kept in a tally for means by identity."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.errors import MergeError, ProtocolError

# Labels that files and results hold as they are; others as Python writes them.
_PLAIN = "iuU"


@dataclass
class ProbeIdentities:
    """The label of each probe, and which probes are of nobody: distractors and junk."""

    labels: np.ndarray  # int or str (m,)
    nobody: np.ndarray  # bool (m,)

    @classmethod
    def of(cls, scores: Any, nobody: np.ndarray | None = None) -> ProbeIdentities:
        """Return the identities of the probes of scores.

        Raise :class:`ProtocolError` where a mask alone says who is whose mate: such people have
        no names by which tallies could merge.
        """
        if not scores._labelled:
            raise ProtocolError(
                "means by identity need the label of each probe, but these scores have a mask "
                "alone; give labels"
            )
        codes = scores._codes
        values = codes.values
        if values.dtype.kind not in _PLAIN:
            listed = values.tolist()
            all_text = all(isinstance(x, str) for x in listed)
            values = np.array(listed if all_text else [*map(repr, listed)], dtype=str)
        if nobody is None:
            nobody = scores._no_person[codes.probe]
        return cls(values[codes.probe], nobody)

    @cached_property
    def codes(self) -> np.ndarray:
        """The number of each probe's identity, from 0 in the order of the labels."""
        return np.unique(self.labels, return_inverse=True)[1].reshape(-1)

    def merge(self, other: ProbeIdentities) -> ProbeIdentities:
        """Return the probes of both."""
        if (self.labels.dtype.kind == "U") != (other.labels.dtype.kind == "U"):
            raise MergeError(
                "the identities of one tally are numbers, those of the other text; give both the "
                "same labels"
            )
        return ProbeIdentities(
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.nobody, other.nobody]),
        )


def merged_identities(
    mine: ProbeIdentities | None, theirs: ProbeIdentities | None
) -> ProbeIdentities | None:
    """Return the identities of the probes of two tallies, which both have some or none."""
    if mine is None and theirs is None:
        return None
    if mine is None or theirs is None:
        raise MergeError(
            "one tally knows the identity of each probe, the other does not; count both for means "
            "by identity, or none"
        )
    return mine.merge(theirs)
