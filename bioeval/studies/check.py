"""Checks of data before they are evaluated: labels, copies, failures, and the kind of scores.

Labels and metadata are checked without a score. One pass over blocks of rows (:class:`_Scan`) then
collects what the checks of scores need: failed and infinite comparisons, values that stand for a
failed comparison, and copies of a template.
"""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from bioeval.base.arguments import require_flag
from bioeval.base.errors import DataError, Message, backquoted
from bioeval.base.kinds import Kind
from bioeval.base.progress import reporter, rows_reported, stage
from bioeval.counting.threshold_rules import PointsWanted, Rule
from bioeval.counting.thresholds import check_targets
from bioeval.counting.verification import verify
from bioeval.protocol.card import Protocol
from bioeval.results.attributes import about_attrs
from bioeval.results.support import labels_doubtful, support_messages, without_attempts
from bioeval.scores.attempts import compared_cells
from bioeval.scores.cells import Mask
from bioeval.scores.claim_scores import incomplete_claims
from bioeval.scores.codes import Codes, spellings
from bioeval.scores.distances import as_distances, lattice_step
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, of_own_columns, require_all_scores, require_scores
from bioeval.scores.metadata import NAME_COLUMNS
from bioeval.scores.people import ComparedPeople, comparisons, knows_people
from bioeval.scores.provenance import (
    Provenance,
    counts_same,
    exclusion_notes,
    no_person_notes,
    pairs_of_same,
    transaction_notes,
)
from bioeval.scores.rows import attempted, rows_per_block, threads_for
from bioeval.scores.same import Copies
from bioeval.scores.sampled import find_copies, is_symmetric, judge_kind, mixed_bits
from bioeval.showing.blocks import Column, Fact, Facts, Paragraph, Section, Table
from bioeval.showing.cells import Count, Label
from bioeval.showing.header import data_fact, scores_in_words, sides_in_words
from bioeval.showing.printing import Shown
from bioeval.showing.text import Enumeration, Text, say
from bioeval.showing.writers.numbers import written
from bioeval.tasks.card_scores import compared, resolve_card

# The task whose rates findings mention.
_TASK = "verification"

#: From harmless to serious: if a finding is an error, a result of the data would mislead.
Severity = Literal["ok", "note", "warning", "error"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

# Metadata columns that name a template.
_NAMES = (*NAME_COLUMNS, "key")

# With fewer subjects, intervals over subjects are rough.
_ENOUGH_SUBJECTS = 30

# Rows, columns or pairs that a finding looks at to name its places, at most.
_SHOWN = 20

# Rows are sampled that have about this number of values together, within these numbers of rows.
_SAMPLED_VALUES = 1 << 16
_FEWEST_ROWS, _MOST_ROWS = 8, 128

# Number of rows that are sampled if not all scores are read.
_SAMPLED_ROWS = 256

# The increment of SplitMix64.
_ODD = np.uint64(0x9E3779B97F4A7C15)

# A row or column of equal scores is suspicious from this number of comparisons on.
_LEAST_COMPARISONS = 20

# An extreme value is suspicious if at least this number of scores share it.
_LEAST_SHARED = 10

# It must be more than this many times as frequent as any of its next values, and farther away from
# these neighbours than they extend.
_TIMES_AS_OFTEN = 10
_NEIGHBOURS = 8

# There must be more distinct values than this.
_LEAST_DISTINCT = 16

# Digests of fewer columns may be equal by chance.
_LEAST_COLUMNS = 8

# A near copy is nearer than this fraction of the median distance.
_NEAR = 1e-3

# A near copy is nearer than this fraction of any distance that is not a near copy's.
_APART = 1e-2

# This many distinct scores in equal steps are whole numbers or codes, of which some may well be 0.
_LEAST_LATTICE = 16

# Similarities above 1 by more than rounding have another scale, on which a copy's is not known.
_ROUNDING = 1e-6


def check_data(
    scores: Scores,
    protocol: str | Protocol = "auto",
    *,
    far_targets: Sequence[float] | None = None,
    claims: Scores | None = None,
    read_scores: bool = True,
) -> DataCheck:
    """Check data before any evaluation: labels, copies, failures, kind, numbers of people.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, embeddings, a list of pairs, or top-K lists, of which labels and
        metadata are checked.
    protocol : str or Protocol
        Card of the later evaluation. What it leaves out is not checked.
    far_targets : sequence of float, optional
        FAR for which to check the number of subjects. Those of the card by default.
    claims : Scores, optional
        :func:`claim_scores` of these scores, whose incomplete attempts are counted; all else is
        about the scores themselves.
    read_scores : bool
        Whether the scores are looked at, in one pass over blocks of rows, or labels and metadata
        alone.

    Returns
    -------
    DataCheck
        - ``findings``: one for each check, with ``check severity code message count where``. The
          checks are ``samples layout labels names compared list people``, and of the scores
          ``failed sentinels duplicates zero-distance kind complete``. The severities are
          ``"error"`` (a result would mislead), ``"warning"`` (likely a fault), ``"note"`` (to be
          known) and ``"ok"`` (nothing found).
        - ``misleads``: whether any finding is an ``"error"``

    Raises
    ------
    ProtocolError
        If the scores are not of the layout of the protocol.

    Notes
    -----
    Each rule is in ``docs/checks.md``. Rows are compared by digests; values at either end are
    looked for in about 65,000 scores of evenly spaced rows.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(40, 4, random_state=1)
    >>> found = be.check_data(scores)
    >>> found.misleads, found["samples"].message
    (False, '40 subjects with 4 templates each')
    >>> wrong = be.Scores(scores.values, scores.probe_labels, kind="similarity")
    >>> be.check_data(wrong)["kind"].severity
    'error'
    """
    read_scores = require_flag("read_scores", read_scores)
    if claims is not None:
        require_scores(claims, "`claims`")
    card = resolve_card(scores, protocol)
    if scores.layout == "top-k":
        read_scores = False
    else:
        scores = compared(scores, card)
    # Cards of re-identification have left out junk and cameras already.
    convention = card.reid is not None or card.gom is not None
    if far_targets is None:
        far_targets = () if convention else card.report.far_targets
    targets = check_targets(far_targets).tolist()

    findings: list[Finding] = []
    with rows_reported():
        scanned = _scan(scores) if read_scores and scores.layout != "pairs" else None
        kind, impostors = None, None
        if read_scores and scores.kind != "order":
            kind, impostors = _kind(scores)
        copies = find_copies(scores) if read_scores else None
        # The findings that need no score.
        is_list, has_people = scores.layout == "pairs", knows_people(scores)
        if is_list:
            genuine, impostors = int(scores.genuine.sum()), int((~scores.genuine).sum())
            if genuine and impostors:
                text = "{genuine:count genuine pairs}, {impostor:count impostor pairs}"
                findings.append(
                    Finding("samples", "ok", say(text, genuine=genuine, impostor=impostors))
                )
            else:
                message = without_attempts("impostor" if genuine else "genuine")
                findings.append(Finding("samples", "error", message, scores.shape[0]))
        elif has_people:
            findings.append(_samples(scores))
            findings.append(_layout(scores, copies))
        if has_people and (is_list or not convention):
            findings.append(_doubtful_labels(scores))
        if has_people and not is_list:
            findings.append(_names(scores))
            if impostors is None:
                impostors = comparisons(scores)[1] // (1 + (scores.layout == "all-against-all"))
        if is_list or has_people:
            findings.append(_compared(scores, convention))
        if scores.remarks:
            notes = list(scores.remarks)
            findings.append(
                Finding("list", "note", Message("notes-of-list", notes=notes), len(notes))
            )
        if impostors is not None:
            findings.append(_people(scores, impostors, targets))
        if scanned is not None:
            repeated = _duplicates(scores, scanned)
            # The finding about failed comparisons, and templates whose comparisons all failed.
            rows = scanned.rows
            all_failed = (rows.finite == 0) & (rows.failed > 1)
            places: list[Text] = [
                say("all of row {row}", row=_place_in_words(i, scores.probe_meta))
                for i in np.flatnonzero(all_failed)[:_SHOWN].tolist()
            ]
            places.append(_listed_cells(scanned.failed))
            findings.append(
                _failures(scores, int(rows.failed.sum()), _listed(places), *scanned.infinite)
            )
            # The score of a copy is suspicious only if no template is a copy.
            findings.append(_sentinels(scores, scanned, copies=not repeated.count))
            findings.append(repeated)
            if scores.kind != "order":
                findings.append(_copies_of_matrix(scores, scanned))
        elif read_scores:
            findings += _pair_checks(scores)
        if kind is not None:
            findings.append(kind)
        if scanned is not None:
            findings.append(_complete(scores, card, claims))
    return DataCheck(
        data=sides_in_words(about_attrs(Provenance.from_scores(scores), "", "", ())),
        kind=scores.kind,
        protocol=card.name,
        findings=tuple(findings),
        system=scores.name or "",
        # Results of the same data have this fingerprint, too.
        fingerprint=(scores if claims is None else claims).fingerprint,
    )


def why_undefined(scores: Scores, protocol: str | Protocol) -> str:
    """Return the first error of a check of the data, in words; empty if there is none."""
    if scores.layout == "top-k":
        return ""
    for read_scores in (False, True):
        for finding in check_data(scores, protocol, read_scores=read_scores).with_severity("error"):
            return finding.message
    return ""


# ------------------------------------------------------------------------------------- the result


@dataclass(frozen=True)
class Finding:
    """One aspect of the data that was checked, and what was found.

    Attributes
    ----------
    check : str
        What was looked at, such as ``"duplicates"``.
    severity : {"ok", "note", "warning", "error"}
    found : Message or Text
        What was found, a message unless the severity is ``"ok"``: its ``code`` and ``arguments``.
    count : int
        In how many places; 0 where nothing was found.
    places : Text
        The first places: rows, columns, labels or names.
    code, message, where : str
        The code of what was found; what was found, and the first places, as plain text.
    """

    check: str
    severity: Severity
    found: Text
    count: int = 0
    places: Text = ""

    @property
    def code(self) -> str:
        """The code of the message; empty where nothing is wrong."""
        return self.found.code if isinstance(self.found, Message) else ""

    @property
    def message(self) -> str:
        """The message as plain text."""
        return written(self.found, _TASK)

    @property
    def where(self) -> str:
        """The first places, as plain text."""
        return written(self.places, _TASK)


def _passed(check: str) -> Finding:
    return Finding(check, "ok", "nothing found")


@dataclass(frozen=True, repr=False)
class DataCheck(Shown):
    """The findings of a check of data; see :func:`bioeval.check_data`.

    Attributes
    ----------
    data, kind : str
        What was checked, in words, and the kind of its scores.
    protocol : str
        The protocol card under which it was.
    findings : tuple of Finding
        One for each check, those without a fault included.
    system, fingerprint : str
        The name and the fingerprint of the scores; empty of other data.
    messages : list of Message
        What was found, but for what is without a fault; ``be.messages(check)`` has the sentences.
    """

    data: str
    kind: Kind
    protocol: str
    findings: tuple[Finding, ...]
    system: str
    fingerprint: str

    def _section(self) -> Section:
        facts_found: list[Text] = []
        for name in ("samples", "kind"):
            facts_found += [x.found for x in self.with_severity("ok") if x.check == name][:1]
        facts = Facts(
            (
                data_fact([self.system], self.data),
                Fact("Scores", scores_in_words(self.kind, self.protocol)),
                Fact("Found", Enumeration(facts_found, ";")),
            )
        )

        # A table of the findings, the most serious first.
        rows: list[tuple[Text, ...]] = []
        for finding in self._most_serious_first():
            if finding.severity == "ok":
                continue
            lines: list[Text] = [finding.found]
            if finding.places:
                lines.append(say("where: {places}", places=finding.places))
            rows += [(finding.severity, finding.check, line) for line in lines]
        if passed_checks := self.with_severity("ok"):
            names = Enumeration([Label(finding.check) for finding in passed_checks], "")
            rows.append(("ok", "", names))
        columns = (Column("severity"), Column("check"), Column("finding"))
        table = Table("lines", columns, rows, names=3)

        verdict = Paragraph(self.numbers, "answer")
        if self.misleads:
            text = "{findings}: results of these data would be misleading"
            verdict = Paragraph(say(text, findings=self.numbers), "warning")
        elif self.with_severity("warning", "note"):
            verdict = Paragraph(say("{findings}; no error", findings=self.numbers), "answer")
        return Section("check", "", (facts, table, verdict), task=_TASK)

    def _records(self) -> list[dict[str, Any]]:
        columns = "check", "severity", "code", "count", "message", "where"
        return [{name: getattr(x, name) for name in columns} for x in self.findings]

    def _document(self) -> dict[str, Any]:
        return {
            "system": self.system,
            "data": self.data,
            "kind": self.kind,
            "protocol": self.protocol,
            "misleads": self.misleads,
            **{f"{x}s": len(self.with_severity(x)) for x in SEVERITIES[1:]},
            "findings": self._records(),
        }

    def _numbers(self) -> list[dict[str, Any]]:
        counts = [{"measure": "count", "check": x.check, "value": x.count} for x in self.findings]
        return [
            {"measure": f"{x}s", "value": len(self.with_severity(x))} for x in SEVERITIES[1:]
        ] + counts

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, check: str) -> Finding:
        return {finding.check: finding for finding in self.findings}[check]

    def with_severity(self, *severities: Severity) -> list[Finding]:
        """Return the findings with these severities, in order."""
        return [finding for finding in self.findings if finding.severity in severities]

    def _most_serious_first(self) -> list[Finding]:
        return sorted(self, key=lambda x: -SEVERITIES.index(x.severity))

    @property
    def misleads(self) -> bool:
        """Whether a result of these data would mislead, because a finding is an error."""
        return bool(self.with_severity("error"))

    @property
    def messages(self) -> list[Message]:
        """The messages of all faults, the most serious first."""
        return [x.found for x in self._most_serious_first() if isinstance(x.found, Message)]

    @property
    def numbers(self) -> Text:
        """The number of findings of each severity, the most serious first."""
        parts = []
        for severity in reversed(SEVERITIES[1:]):
            number = len(self.with_severity(severity))
            if number:
                parts.append(Count(number, noun=f"{severity}s"))
        return Enumeration(parts, "") if parts else "nothing found"

    def __repr__(self) -> str:
        return f"<DataCheck: {written(self.numbers)}; print shows it>"


def _listed(places: Iterable[Text | int]) -> Text:
    """Return the first three places in words."""
    texts = [Label(place) if isinstance(place, int) else place for place in places]
    if not texts:
        return ""
    if len(texts) > 3:
        texts[3:] = ["..."]
    return Enumeration(texts, "")


def _listed_pairs(places: Iterable[Any]) -> Text:
    """Return the first pairs of a list in words, by their index."""
    return _listed(say("pair {place:name}", place=int(i)) for i in places)


def _place_in_words(place: int, meta: Mapping[str, np.ndarray]) -> Text:
    """Return the row or column of a template, with its name if a metadata column has names."""
    for column in NAME_COLUMNS:
        if column in meta:
            return say("{place:name} ({name:name})", place=place, name=meta[column][place])
    return Label(place)


# ------------------------------------------------------------- labels, names and numbers of people


def _samples(scores: Scores) -> Finding:
    codes = scores.codes
    genuine, impostor = comparisons(scores)
    if not genuine:
        message = labels_doubtful("genuine")
        if scores.layout != "all-against-all":
            message = Message(
                "no-mate-in-gallery",
                probe_dtype=str(scores.probe_labels.dtype),
                gallery_dtype=str(scores.gallery_labels.dtype),
            )
        return Finding("samples", "error", message, scores.shape[0])
    if not impostor:
        return Finding("samples", "error", labels_doubtful("impostor"), scores.shape[0])

    gallery_sizes = _templates_by_subject(codes, codes.gallery)
    single = int((gallery_sizes == 1).sum())
    if scores.layout == "all-against-all" and single:
        sizes = np.bincount(codes.gallery, minlength=len(codes.values)) * ~codes.no_person
        where = _listed(Label(repr(plain(x))) for x in codes.values[sizes == 1])
        message = Message("subjects-with-one-template", subjects=single)
        return Finding("samples", "note", message, single, where)

    size = _templates_of_subjects(gallery_sizes)
    if scores.layout == "probe-against-gallery":
        probes = _templates_of_subjects(_templates_by_subject(codes, codes.probe))
        size = say("gallery: {gallery}; probes: {probes}", gallery=size, probes=probes)
    unenrolled = int((~np.isin(codes.probe, codes.gallery)).sum())
    if unenrolled:
        text = "{size}; {probes:count probes} of subjects that are not enrolled"
        size = say(text, size=size, probes=unenrolled)
    return Finding("samples", "ok", size)


def _templates_by_subject(codes: Codes, side: np.ndarray) -> np.ndarray:
    """Return the number of templates of each subject on a side; non-people are left out."""
    return np.unique(side[~codes.no_person[side]], return_counts=True)[1]


def _templates_of_subjects(sizes: np.ndarray) -> Text:
    counts = sizes if len(sizes) else np.zeros(1, dtype=np.int64)
    spread = [int(counts.min()), float(np.median(counts)), int(counts.max())]
    text = "{subjects:count subjects} with {templates:spread templates}"
    return say(text, subjects=len(sizes), templates=spread)


def _layout(scores: Scores, copies: Copies | None) -> Finding:
    templates = scores.shape[0]
    if doubt := scores.doubt_of_square:
        severity: Severity = "error" if doubt == "half-matrix" else "warning"
        return Finding("layout", severity, Message(doubt), count=templates)
    _, sizes = np.unique(scores.codes.gallery, return_counts=True)
    if copies is not None and copies.found:
        return Finding("layout", "warning", copies.message(scores.layout), count=copies.found)
    labels = scores.codes.labelled
    are_equal = scores.layout == "probe-against-gallery" and np.array_equal(
        labels.probe, labels.gallery
    )
    if copies is None and are_equal and sizes.max() > 1:
        return Finding("layout", "note", Message("same-labels-twice"), count=templates)
    return _passed("layout")


def _doubtful_labels(scores: Scores) -> Finding:
    codes = scores.codes
    variants = []
    for labels in spellings(codes.values[codes.people(codes.probe, codes.gallery)]):
        forms = {unicodedata.normalize("NFC", str(label)) for label in labels}
        # Labels of one Unicode form look alike, unless their code points are shown.
        texts = map(repr if len(forms) == len(labels) else ascii, labels)
        variants.append(Enumeration(list(map(Label, texts))))
    if variants:
        message = Message("labels-in-several-spellings", labels=len(variants))
        return Finding("labels", "warning", message, len(variants), _listed(variants))
    for message in no_person_notes(scores):
        where = _listed(map(Label, codes.labels_of_no_person(scores.no_person_ids)))
        return Finding("labels", "note", message, int(codes.no_person.sum()), where)
    return _passed("labels")


def _names(scores: Scores) -> Finding:
    def is_text(column: np.ndarray) -> bool:
        return column.dtype.kind == "U" or all(isinstance(x, str) for x in column.tolist())

    # A name twice on one side.
    sides = [("row", scores.probe_meta)]
    if scores.gallery_meta is not scores.probe_meta:
        sides.append(("column", scores.gallery_meta))
    for line, meta in sides:
        for column in _NAMES:
            if column not in meta or not is_text(meta[column]):
                continue
            places_of_name = defaultdict[str, list[int]](list)
            for place, name in enumerate(map(str, meta[column].tolist())):
                places_of_name[name].append(place)
            repeated = {name: x for name, x in places_of_name.items() if len(x) > 1}
            if repeated:
                where = _listed(
                    say("{name:name} ({side}s {rows})", name=repr(name), side=line, rows=_listed(x))
                    for name, x in repeated.items()
                )
                about = {"values": len(repeated), "column": column, "how": "repeated"}
                copies = sum(len(x) - 1 for x in repeated.values())
                return Finding(
                    "names", "warning", Message("names-repeated", **about), copies, where
                )

    # A name on both sides, though all templates are compared.
    if np.isin(scores.probe_ids, scores.gallery_ids).any():
        return _passed("names")
    for column in _NAMES:
        if column in scores.probe_meta and column in scores.gallery_meta:
            probe, gallery = scores.probe_meta[column], scores.gallery_meta[column]
            if not (is_text(probe) and is_text(gallery)):
                continue
            if shared := sorted({*map(str, probe)} & {*map(str, gallery)}):
                where = _listed(Label(repr(name)) for name in shared)
                how = "on both sides, and compared"
                message = Message("names-repeated", values=len(shared), column=column, how=how)
                return Finding("names", "warning", message, len(shared), where)
            break
    return _passed("names")


def _compared(scores: Scores, convention: bool) -> Finding:
    for note in [] if scores.layout == "pairs" else exclusion_notes(scores):
        if note.code != "unknown-values":
            return Finding("compared", "warning", note, scores.shape[0])
    if not convention and counts_same(scores, "session"):
        return Finding("compared", "note", pairs_of_same("session"), scores.shape[0])
    return _passed("compared")


def _people(scores: Scores, impostors: int, far_targets: Sequence[float]) -> Finding:
    subjects = len(scores.subjects) if scores.layout == "pairs" or knows_people(scores) else 0
    people = ComparedPeople.from_scores(scores)
    size = {"subjects": subjects} if subjects else {}
    size["impostor attempts"] = impostors
    short = support_messages(far_targets, impostors, False, "frr at far", people)
    if short:
        targets = sum(len(x.arguments["targets"]) for x in short)
        return Finding("people", "note", short[-1], count=targets)
    if 0 < subjects < _ENOUGH_SUBJECTS:
        return Finding("people", "note", Message("people-few", size=size), count=subjects)
    return _passed("people")


# ------------------------------------------------------------------------------ what scores count


def _kind(scores: Scores) -> tuple[Finding, int | None]:
    """Return the finding on the kind, and the number of impostor comparisons if it is known.

    In a symmetric matrix, each pair of templates counts once.
    """
    # Failures without a policy have a finding of their own.
    without_failures = scores.replace(nan="exclude") if scores.nan == "raise" else scores
    wanted = PointsWanted.of_rule(Rule.parse("eer"))
    try:
        attempts = verify(without_failures, wanted=wanted).attempts
    except DataError as error:  # whole numbers may not be exact in float64, for example
        message = Message("scores-not-counted", why=str(error))
        return Finding("kind", "error", message), None
    genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
    impostors = impostor // (1 + is_symmetric(scores))
    if not genuine or not impostor:
        return Finding("kind", "ok", "not checked without both classes"), impostors
    eer = float(attempts.points.equal_error().eer[0])
    severity, doubt = judge_kind(scores)
    count = genuine + impostor if severity == "error" else 0
    found = doubt or say("EER {eer:rate} over all attempts", eer=eer)
    return Finding("kind", severity, found, count), impostors


def _complete(scores: Scores, card: Protocol, claims: Scores | None) -> Finding:
    claims = scores if claims is None else claims
    if claims.claims:
        notes = transaction_notes(claims)
        number = sum(incomplete_claims(claims))
        return Finding("complete", "note", notes[0], number) if notes else _passed("complete")
    lists = scores.completeness
    if lists.incomplete and not {"open_set", "closed_set", "reid", "gom"}.isdisjoint(card.tasks):
        return Finding("complete", "note", lists.messages()[0], lists.incomplete)
    return _passed("complete")


# -------------------------------------------------------------------- the pass over all the scores


class _Lines(NamedTuple):
    """The comparisons of each row, or of each column, without a template with itself."""

    nearest: np.ndarray  # float64: smallest finite distance, inf without one
    farthest: np.ndarray  # float64: largest finite distance, -inf without one
    failed: np.ndarray  # int64: number of failed comparisons
    finite: np.ndarray  # int64: number of comparisons with a finite score

    @classmethod
    def none(cls, size: int) -> Self:
        """Return arrays to which the comparisons of `size` rows or columns can be added."""
        counts = np.zeros((2, size), dtype=np.int64)
        return cls(np.full(size, np.inf), np.full(size, -np.inf), *counts)

    def add(self, lines: slice, values: np.ndarray, failed: np.ndarray, axis: int) -> None:
        """Add comparisons along an axis to these lines; `values` that are not finite are NaN."""
        nearest = np.fmin.reduce(values, axis=axis, initial=np.inf)
        farthest = np.fmax.reduce(values, axis=axis, initial=-np.inf)
        self.nearest[lines] = np.minimum(self.nearest[lines], nearest)
        self.farthest[lines] = np.maximum(self.farthest[lines], farthest)
        self.failed[lines] += failed.sum(axis=axis)
        self.finite[lines] += (~np.isnan(values)).sum(axis=axis)


class _Scan:
    """Facts on the `m` rows and `n` columns of a matrix."""

    def __init__(self, scores: Scores):
        """Make room for the facts on a matrix, of which no row is read yet."""
        rows, columns = scores.shape
        self.rows, self.columns = _Lines.none(rows), _Lines.none(columns)
        #: (m, 2): the nearest distance to the same label, and to another one.
        self.nearest = np.empty((rows, 2))
        #: The numbers of infinitely near, and of infinitely far comparisons.
        self.infinite = np.zeros(2, dtype=np.int64)
        #: Row and column of the first failed comparisons.
        self.failed: list[list[int]] = []

        #: (m,): the column of each probe itself, -1 for none.
        gallery = scores.gallery_order
        position = gallery.probe_position
        self.own_column = np.where(position >= 0, gallery.columns[0, position], -1)
        #: (m,): a digest of each row. If the probe is a gallery template, the digest leaves out its
        #: own column, and the columns at the nearest distance, since one would be its copy.
        self.row_digests = np.empty(rows, dtype=np.uint64)
        #: (m,): the number of columns in the digest of each row.
        self.digested = np.empty(rows, dtype=np.int64)
        #: (n,): a digest of each column, over the probes that are no gallery templates.
        self.column_digests = np.zeros(columns, dtype=np.uint64)

        #: (k,): the rows of a sample, and (k, n) their finite distances, NaN where there is none.
        number = min(rows, _MOST_ROWS, max(_FEWEST_ROWS, _SAMPLED_VALUES // columns))
        self.sampled = np.unique(np.linspace(0, rows - 1, number)).astype(np.int64)
        self.sample = np.full((len(self.sampled), columns), np.nan)

    def add_rows(self, scores: Scores, low: int, high: int) -> None:
        """Add rows ``low:high``."""
        lines = slice(low, high)
        raw = scores.cells.read(low, high)  # raw scores need not be exact in float64
        values = as_distances(raw, scores.kind, lambda: np.ones(raw.shape, dtype=bool))
        values = np.ascontiguousarray(values, dtype=np.float64)
        column, own_column = np.arange(values.shape[1]), self.own_column[lines, None]
        is_attempt = compared_cells(scores, low, high)

        # Failed, infinite, nearest and farthest comparisons.
        failed = is_attempt & np.isnan(values)
        finite = np.where(is_attempt & np.isfinite(values), values, np.nan)
        self.failed += (np.argwhere(failed)[: _SHOWN - len(self.failed)] + [low, 0]).tolist()
        self.infinite += [np.count_nonzero(is_attempt & (values == x)) for x in (-np.inf, np.inf)]
        self.rows.add(lines, finite, failed, axis=1)
        self.columns.add(slice(None), finite, failed, axis=0)
        if knows_people(scores):
            genuine = scores.codes.probe[lines, None] == scores.codes.gallery
        else:
            genuine = scores.cells.read_mask(low, high) == Mask.GENUINE
        for i, is_compared in enumerate((genuine, ~genuine)):
            distances = np.where(is_compared, finite, np.nan)
            self.nearest[lines, i] = np.fmin.reduce(distances, axis=1, initial=np.inf)

        # The rows of the sample.
        first, last = np.searchsorted(self.sampled, [low, high])
        self.sample[first:last] = finite[self.sampled[first:last] - low]

        # Digests, by which copies are found: sums of hashes, each multiplied by an odd factor of
        # its position, so that the order of the scores matters. All NaN and both zeros are alike.
        is_in_gallery = own_column >= 0
        is_nearest = values == self.rows.nearest[lines, None]
        is_used = ~is_in_gallery | ((column != own_column) & ~is_nearest)
        numbers = np.where(np.isnan(values), np.nan, values) + 0.0
        hashes = mixed_bits(numbers.view(np.uint64) + _ODD)
        factor = 2 * column.astype(np.uint64) + np.uint64(1)
        self.row_digests[lines] = (hashes * factor * is_used).sum(axis=1)
        self.digested[lines] = is_used.sum(axis=1)
        factor = 2 * np.arange(low, high).astype(np.uint64) + np.uint64(1)
        self.column_digests += (hashes * factor[:, None])[~is_in_gallery[:, 0]].sum(axis=0)


@stage("reading the scores")
def _scan(scores: Scores) -> _Scan:
    """Read every score of a matrix once."""
    require_all_scores(scores)
    scanned = _Scan(scores)
    rows = scores.shape[0]
    with threads_for(scores):
        rows_at_once = rows_per_block(scores)
        for low in range(0, rows, rows_at_once):
            high = min(low + rows_at_once, rows)
            scanned.add_rows(scores, low, high)
            reporter()(high, rows)
    return scanned


def _sign_of(kind: Kind) -> float:
    """Return the factor between scores and distances: -1 where larger scores are closer, else 1."""
    return -1.0 if kind == "similarity" else 1.0


# --------------------------------------------------- failed comparisons, and values that mean them


class _EndValue(NamedTuple):
    """A value at one end of the range that suspiciously many scores share."""

    value: float
    how: str  # how it differs from the other values, in words
    accepted: bool  # whether it is at the end that is accepted


def _end_values(
    scores: np.ndarray, impostor: np.ndarray, kind: Kind, copies: bool = False
) -> list[_EndValue]:
    """Return the least and the most similar score, if suspiciously many comparisons share them.

    At the end that is accepted, only `impostor` scores are counted: genuine scores may well be
    equal. The score of a copy (distance 0, similarity 1) is reported only with `copies`.
    """
    if kind == "order":
        return []
    rejected = _end_value(scores, kind, accepted=False)
    accepted = _end_value(scores[impostor], kind, accepted=True)
    score_of_copy = {"distance": 0.0, "similarity": 1.0}.get(kind)
    if accepted is not None and accepted.value == score_of_copy and not copies:
        accepted = None
    return [end for end in (rejected, accepted) if end is not None]


def _end_value(scores: np.ndarray, kind: Kind, *, accepted: bool) -> _EndValue | None:
    # With this sign, the end is the largest value.
    sign = -1.0 if accepted != (kind == "similarity") else 1.0
    values, counts = np.unique(sign * scores, return_counts=True)
    if len(values) < 2 or counts[-1] < _LEAST_SHARED or 2 * counts[-1] >= counts.sum():
        return None
    value = float(0.0 + sign * values[-1])
    # Distances are not below 0, and few similarities are.
    if sign < 0 and values[-1] > 0 >= values[-2]:
        return _EndValue(value, "the only value below 0", accepted)
    if len(values) <= _LEAST_DISTINCT:
        return None
    # Halving the values keeps all differences finite.
    largest, next_largest, neighbour = values[[-1, -2, -1 - _NEIGHBOURS]] / 2
    is_frequent = counts[-1] > _TIMES_AS_OFTEN * counts[-1 - _NEIGHBOURS : -1].max()
    if is_frequent and largest - next_largest > next_largest - neighbour:
        return _EndValue(value, "apart from all others", accepted)
    return None


#: How failed comparisons are treated, in words, by the policy of NaN.
_TREATMENT = {
    "reject": ": rejected at every threshold",
    "exclude": ": left out",
    "raise": '; choose how to treat them: `nan="reject"` (as attempts that no threshold accepts) '
    'or `nan="exclude"` (no attempt)',
}


def _failures(scores: Scores, number: int, where: Text, nearest: int, farthest: int) -> Finding:
    """Return the finding about numbers of failed and infinite comparisons."""
    if number:
        severity: Severity = "error" if scores.nan == "raise" else "note"
        message = Message(
            "comparisons-failed", comparisons=number, treatment=_TREATMENT[scores.nan]
        )
        return Finding("failed", severity, message, number, where)
    for infinite, accepted, severity in ((nearest, "every", "warning"), (farthest, "no", "note")):
        if infinite:
            message = Message("infinite-scores", scores=int(infinite), accepted=accepted, first="")
            return Finding("failed", severity, message, int(infinite))
    return _passed("failed")


def _sentinels(scores: Scores, scanned: _Scan, copies: bool) -> Finding:
    """Return the finding about rows, columns and values that stand for failed comparisons.

    `copies` says whether the score of a copy is suspicious, because no template is a copy.
    """
    constant_rows, constant_columns = (
        np.flatnonzero((x.nearest == x.farthest) & (x.finite >= _LEAST_COMPARISONS))
        for x in (scanned.rows, scanned.columns)
    )
    is_in_varied_lines = ~np.isnan(scanned.sample)
    is_in_varied_lines[np.isin(scanned.sampled, constant_rows)] = False
    is_in_varied_lines[:, constant_columns] = False
    varied = scanned.sample[is_in_varied_lines]
    places, values_of_lines = list[str](), set[float]()
    for line, of_lines, constant in (
        ("row", scanned.rows, constant_rows),
        ("column", scanned.columns, constant_columns),
    ):
        for place in constant.tolist():
            distance = of_lines.nearest[place]
            # If most other scores have this value, it is an ordinary score.
            if len(varied) and np.mean(varied == distance) < 0.5:
                places.append(f"{line} {place}")
                values_of_lines.add(0.0 + _sign_of(scores.kind) * float(distance))
    if not places:
        # Values at the ends of the range, in the sampled rows.
        sample = 0.0 + _sign_of(scores.kind) * scanned.sample
        is_impostor = _is_impostor(scores, scanned.sampled)
        values, impostor = sample[is_in_varied_lines], is_impostor[is_in_varied_lines]
        ends = _end_values(values, impostor, scores.kind, copies)
        cells = [np.argwhere(sample == end.value) for end in ends]
        where = _listed_cells(
            [scanned.sampled[row], column] for x in cells for row, column in x[:_SHOWN]
        )
        compared = {"sampled comparisons": int((~np.isnan(sample)).sum())}
        return _end_finding(ends, [*map(len, cells)], compared, where)
    message = Message(
        "values-of-failures",
        comparisons=[len(places)],
        compared={"templates": scores.shape[0] + scores.shape[1]},
        values=sorted(values_of_lines)[:_SHOWN],
        how="in every comparison of the template",
        option=_read_as_failed(min(values_of_lines)),
    )
    return Finding("sentinels", "error", message, len(places), _listed(places))


def _is_impostor(scores: Scores, rows: np.ndarray) -> np.ndarray:
    """Return whether comparisons of some rows are impostor ones; all are if people are unknown."""
    if not knows_people(scores):
        return np.ones((len(rows), scores.shape[1]), dtype=bool)
    return scores.codes.probe[rows, None] != scores.codes.gallery


def sampled_codes(scores: Scores) -> Finding:
    """Return the finding about values at the ends of the range, of pairs or of sampled rows.

    Scores of copies and rows of equal scores are not looked for.
    """
    if scores.kind == "order":
        return _passed("sentinels")
    if scores.layout == "pairs":
        values = np.asarray(scores.values, dtype=np.float64)
        impostor = ~scores.genuine
    else:
        templates = scores.shape[0]
        number = min(templates, _SAMPLED_ROWS)
        rows = np.unique(np.linspace(0, templates - 1, number).astype(np.int64))
        sampled = of_own_columns(scores.select(probes=rows))
        values = 0.0 + _sign_of(scores.kind) * attempted(sampled, 0, len(rows))
        impostor = _is_impostor(sampled, np.arange(len(rows)))
    is_known = np.isfinite(values)
    ends = _end_values(values[is_known], impostor[is_known], scores.kind)
    numbers = [int((values == end.value).sum()) for end in ends]
    return _end_finding(ends, numbers, {"sampled comparisons": int(is_known.sum())}, "")


def _read_as_failed(value: float) -> str:
    """Return the argument by which a file is read with its failures, as ``failed=-1``."""
    return backquoted("failed", int(value) if float(value).is_integer() else value)


def _end_finding(
    ends: list[_EndValue], numbers: list[int], compared: dict[str, int], where: Text
) -> Finding:
    """Return the finding of values at the ends of the range; `numbers` of scores have each value.

    `compared` is the number of all comparisons, by their name.
    """
    if not ends:
        return _passed("sentinels")
    message = Message(
        "values-of-failures",
        comparisons=numbers,
        compared=compared,
        values=[end.value for end in ends],
        how=" and ".join(dict.fromkeys(end.how for end in ends)),
        option=_read_as_failed(ends[0].value),
    )
    severity: Severity = "error" if any(end.accepted for end in ends) else "warning"
    return Finding("sentinels", severity, message, sum(numbers), where)


def _listed_cells(cells: Iterable[Iterable[int]]) -> Text:
    return _listed(
        say("row {row:name} column {column:name}", row=int(i), column=int(j)) for i, j in cells
    )


def _pair_checks(scores: Scores) -> Iterator[Finding]:
    values = scores.values.astype(np.float64)
    distances = _sign_of(scores.kind) * values
    is_finite = np.isfinite(values)
    nan = np.flatnonzero(np.isnan(values))
    infinite = (int((distances == end).sum()) for end in (-np.inf, np.inf))
    yield _failures(scores, len(nan), _listed_pairs(nan[:_SHOWN]), *infinite)
    ends = _end_values(values[is_finite], ~scores.genuine[is_finite], scores.kind, copies=True)
    pairs_at_ends = [np.flatnonzero(values == end.value) for end in ends]
    places = _listed_pairs(np.concatenate([np.empty(0, int), *pairs_at_ends]))
    yield _end_finding(ends, [*map(len, pairs_at_ends)], {"pairs": len(values)}, places)
    if scores.kind == "order":
        return

    # Copies.
    finite = distances[is_finite]
    copy = _distance_of_copy(scores.kind, finite)
    classes = np.stack([scores.genuine, ~scores.genuine])
    from_copy = np.where(classes, abs(distances - copy), np.inf)

    def places_of(copies: np.ndarray, limit: float, under_two_labels: bool) -> Text:
        return _listed_pairs(copies)

    usual, lattice = finite - copy, _is_lattice(finite)
    yield _copies(scores.kind, from_copy, usual, "pairs", places_of, lattice=lattice)


# ----------------------------------------------------------------------------------------- copies


def _copies_of_matrix(scores: Scores, scanned: _Scan) -> Finding:
    """Return the finding of comparisons at the distance of a copy, or nearly so."""
    codes = scores.codes
    copy = _distance_of_copy(scores.kind, scanned.rows.nearest)
    sample = scanned.sample[~np.isnan(scanned.sample)]

    def places_of(copies: np.ndarray, limit: float, under_two_labels: bool) -> Text:
        cells = list[Text]()
        for row in copies.tolist():
            is_copy = abs(attempted(scores, row, row + 1)[0] - copy) <= limit
            if knows_people(scores):
                is_copy &= (codes.gallery != codes.probe[row]) == under_two_labels
            for column in np.flatnonzero(is_copy).tolist():
                cell = say(
                    "row {row} column {column}",
                    row=_place_in_words(row, scores.probe_meta),
                    column=_place_in_words(column, scores.gallery_meta),
                )
                if knows_people(scores):
                    cell = say(
                        "{place} ({probe:name}, {gallery:name})",
                        place=cell,
                        probe=repr(plain(scores.probe_labels[row])),
                        gallery=repr(plain(scores.gallery_labels[column])),
                    )
                cells.append(cell)
        return _listed(cells)

    from_copy, lattice = abs(scanned.nearest - copy).T, _is_lattice(scanned.sample)
    return _copies(scores.kind, from_copy, sample - copy, "templates", places_of, lattice=lattice)


def _copies(
    kind: Kind,
    from_copy: np.ndarray,
    usual: np.ndarray,
    noun: str,
    places_of: Callable[[np.ndarray, float, bool], Text],
    *,
    lattice: bool,
) -> Finding:
    """Return the finding of copies, those under two labels if there are any.

    - `from_copy` (2, k): how far the comparison of each row, or the pair, is from the distance of a
      copy: under one label, and under two labels; not finite where there is none
    - `usual`: the same of any comparisons
    - `noun`: what the `k` are
    - `places_of`: the places of some copies, with the largest distance and whether they are under
      two labels
    - `lattice`: whether scores are few, or in equal steps
    """
    limits = [_largest_of_copies(x, usual) for x in from_copy]
    copies = [np.flatnonzero(x <= limit) for x, limit in zip(from_copy, limits, strict=True)]
    under_two_labels = len(copies[1]) > 0
    indices, limit = copies[under_two_labels], limits[under_two_labels]
    if not len(indices):
        return _passed("zero-distance")
    copy = "distance 0" if kind == "distance" else "similarity 1"
    label = {"label": "a template with another label" if under_two_labels else "one label"}
    if noun == "pairs":  # whose classes may be known without labels
        noun, label = f"{'impostor' if under_two_labels else 'genuine'} pairs", {}
    message = Message(
        "copies-of-two" if under_two_labels else "copies-of-one",
        copies={noun: len(indices)},
        at=f"within {limit:.3g} of {copy}" if limit else f"at {copy}",
        **label,
    )
    # Comparisons under one label may be as near without being copies if half of all are, or if
    # scores are a lattice, where 0 is an ordinary distance.
    is_common = 2 * len(indices) >= np.isfinite(from_copy[0]).sum()
    severity: Severity = "warning"
    if not under_two_labels and (lattice or is_common):
        severity = "note"
    places = places_of(indices[:_SHOWN], limit, under_two_labels)
    return Finding("zero-distance", severity, message, len(indices), places)


def _distance_of_copy(kind: Kind, distances: np.ndarray) -> float:
    """Return the distance between copies, NaN where unknown; `distances` include the smallest.

    It is 0 for distances, and -1 for similarities, unless one is above 1.
    """
    copy = {"distance": 0.0, "similarity": -1.0}.get(kind, math.nan)
    if kind == "similarity" and (distances < copy - _ROUNDING).any():
        return math.nan
    return copy


def _largest_of_copies(from_copy: np.ndarray, usual: np.ndarray) -> float:
    """Return how far near copies are from the distance of a copy at most; -1 if there are none.

    `from_copy` is a row of that of :func:`_copies`, and `usual` is as there.
    """
    if not len(usual):
        return -1.0
    ordered = np.append(np.sort(from_copy[np.isfinite(from_copy)]), np.inf)
    is_near = ordered[:-1] <= _NEAR * np.median(abs(usual))
    is_before_gap = ordered[:-1] < _APART * ordered[1:]
    return float(ordered[:-1][is_near & is_before_gap].max(initial=-1.0))


def _is_lattice(sample: np.ndarray) -> bool:
    """Whether scores are few, or in equal steps: 0 is then an ordinary distance."""
    values = np.unique(sample[np.isfinite(sample)])
    return len(values) < _LEAST_LATTICE or lattice_step(values, _LEAST_LATTICE) > 0


def _duplicates(scores: Scores, scanned: _Scan) -> Finding:
    """Return the finding of equal rows and columns: templates that occur twice."""
    rows, columns = scanned.rows, scanned.columns
    has_digest = scanned.digested >= max(_LEAST_COLUMNS, (scores.shape[1] - 2) // 2)
    # Groups of equal lines: the side of each, and its rows or columns.
    is_varied = (rows.nearest < rows.farthest) & has_digest
    groups = [("row", x) for x in _places_of_equal_digests(scanned.row_digests, is_varied)]
    if (scanned.own_column < 0).sum() >= _LEAST_COLUMNS:
        is_varied = columns.nearest < columns.farthest
        equal = _places_of_equal_digests(scanned.column_digests, is_varied)
        groups += [("column", x) for x in equal]
    if not groups:
        return _passed("duplicates")
    severity: Severity = "warning"
    listed, labels_in_words = groups, ""
    if knows_people(scores):
        codes = {"row": scores.codes.probe, "column": scores.codes.gallery}
        labels = {"row": scores.probe_labels, "column": scores.gallery_labels}
        mislabelled = [(line, x) for line, x in groups if np.ptp(codes[line][x])]
        if mislabelled:
            severity, listed = "error", mislabelled
            line, places = mislabelled[0]
            names = dict.fromkeys(repr(plain(label)) for label in labels[line][places])
            labels_in_words = f" under different labels ({', '.join(names)})"
    repeated = sum(len(places) - 1 for _, places in groups)
    message = Message("templates-repeated", templates=repeated, labels=labels_in_words)
    meta = {"row": scores.probe_meta, "column": scores.gallery_meta}
    where = _listed(
        say(
            "{side}s {places}",
            side=line,
            places=_listed(_place_in_words(i, meta[line]) for i in places.tolist()),
        )
        for line, places in listed
    )
    return Finding("duplicates", severity, message, repeated, where)


def _places_of_equal_digests(digests: np.ndarray, is_compared: np.ndarray) -> list[np.ndarray]:
    places = np.flatnonzero(is_compared)
    order = places[np.argsort(digests[places], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(digests[order])) + 1)
    return sorted((x for x in groups if len(x) > 1), key=lambda places: places[0])
