"""Kinds of scores, and which of two scores is closer."""

from __future__ import annotations

from typing import Literal, get_args

#: Kinds whose scores can be compared across rows.
ValuedKind = Literal["distance", "similarity"]
VALUED: tuple[ValuedKind, ...] = get_args(ValuedKind)

#: Kinds of scores; in an order, only the rank within a row has a meaning.
Kind = Literal[ValuedKind, "order"]
KINDS: tuple[Kind, ...] = get_args(Kind)

#: The treatment of failed comparisons, NaN: an error, a rejection, or no attempt.
NanPolicy = Literal["raise", "reject", "exclude"]
NAN_POLICIES: tuple[NanPolicy, ...] = get_args(NanPolicy)

#: Lists of other programs, without the names of columns.
ListFormat = Literal["asvspoof", "bob", "kaldi", "lfw", "pyeer", "trec", "voxceleb"]
LIST_FORMATS: tuple[ListFormat, ...] = get_args(ListFormat)

#: Layouts of scores: two of matrices, a list of pairs, and the nearest templates of each probe.
Layout = Literal["all-against-all", "probe-against-gallery", "pairs", "top-k"]

#: Kinds whose larger scores are closer: a claim is accepted at or above the threshold.
LARGER_IS_CLOSER = ("similarity",)

#: Metrics of embeddings, which give distances.
MetricName = Literal["cosine", "l2", "l1", "linf", "bhattacharyya"]
METRICS: tuple[MetricName, ...] = get_args(MetricName)

#: Scores of each kind in words.
PLURALS = {"distance": "distances", "similarity": "similarities", "order": "orders"}
