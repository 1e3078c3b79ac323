"""Checks of data before they are evaluated: labels, copies, failures, and the kind of scores.

A check looks at one aspect of the data and returns one finding::

    Finding("samples", "ok", "40 subjects with 4 templates each")
    Finding("zero-distance", "warning", Message("copies-of-two", ...), count=3)

Labels, names and people are checked without a score. The checks of scores count the attempts at the
ends of the range in one pass, and look for values that stand for a failed comparison in a sample of
rows. :func:`check_data` is followed by the result, these two sorts of checks, and the values that
stand for failures.
"""

from __future__ import annotations

import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import require_flag
from bioeval.base.errors import DataError, Message, backquoted
from bioeval.base.kinds import Kind
from bioeval.base.progress import rows_reported
from bioeval.counting.operating_points import Attempts
from bioeval.counting.threshold_rules import PointsWanted, Rule
from bioeval.counting.thresholds import check_targets
from bioeval.counting.verification import verify
from bioeval.protocol.card import Protocol
from bioeval.results.attributes import about_attrs
from bioeval.results.support import labels_doubtful, support_messages, without_attempts
from bioeval.scores.claim_scores import number_of_claims
from bioeval.scores.codes import Codes, spellings
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.metadata import NAME_COLUMNS
from bioeval.scores.people import ComparedPeople, comparisons, knows_people
from bioeval.scores.provenance import (
    Provenance,
    counts_same,
    exclusion_notes,
    no_person_notes,
    pairs_of_same,
)
from bioeval.scores.rows import attempted
from bioeval.scores.same import Copies
from bioeval.scores.sampled import find_copies, is_symmetric, judge_kind, sampled
from bioeval.showing.header import data_fact, scores_in_words, sides_in_words
from bioeval.showing.numbers import written
from bioeval.showing.printing import Shown
from bioeval.showing.text import (
    Column,
    Count,
    Enumeration,
    Facts,
    Label,
    Paragraph,
    Section,
    Table,
    Text,
    say,
)
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

# Number of rows that are sampled.
_SAMPLED_ROWS = 256

# An extreme value is suspicious if at least this number of scores share it.
_LEAST_SHARED = 10

# It must be more than this many times as frequent as any of its next values, and farther away from
# these neighbours than they extend.
_TIMES_AS_OFTEN = 10
_NEIGHBOURS = 8

# There must be more distinct values than this.
_LEAST_DISTINCT = 16

# Rounding of the score of a copy: of a similarity of 1, and of a distance of 0 beside the median
# distance of other people. A similarity above 1 by more than it has another scale, on which a
# copy's is not known.
_ROUNDING = 1e-6

# All finite distances are up to this one.
_LARGEST = float(np.finfo(np.float64).max)


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
          ``failed sentinels zero-distance kind complete``. The severities are
          ``"error"`` (a result would mislead), ``"warning"`` (likely a fault), ``"note"`` (to be
          known) and ``"ok"`` (nothing found).
        - ``misleads``: whether any finding is an ``"error"``

    Raises
    ------
    ProtocolError
        If the scores are not of the layout of the protocol.

    Notes
    -----
    Each rule is in ``docs/checks.md``. Values at either end are looked for in 256 evenly spaced
    rows, or in all pairs of a list.

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
    is_reid = card.reid is not None or card.gom is not None
    if far_targets is None:
        far_targets = () if is_reid else card.report.far_targets
    targets = check_targets(far_targets).tolist()

    findings: list[Finding] = []
    with rows_reported():
        findings_on_scores: list[Finding] = []
        impostors: int | None = None  # number of impostor comparisons, if it is known
        copies: Copies | None = None
        if read_scores:
            findings_on_scores, impostors = _of_scores(scores)
            copies = find_copies(scores)

        # The findings that need no score; what is said of people needs their labels.
        has_people = knows_people(scores)
        if scores.layout == "pairs":
            impostors = int(np.count_nonzero(~scores.genuine))
            findings.append(_samples_of_list(scores))
            if has_people:
                findings.append(_doubtful_labels(scores))
            findings.append(_compared(scores, is_reid))
        elif has_people:
            findings.append(_samples(scores))
            findings.append(_layout(scores, copies))
            if not is_reid:
                findings.append(_doubtful_labels(scores))
            findings.append(_names(scores))
            findings.append(_compared(scores, is_reid))
            if impostors is None:
                _, impostors = comparisons(scores)
                if scores.layout == "all-against-all":  # each pair of templates once
                    impostors //= 2
        if scores.remarks:
            notes = list(scores.remarks)
            message = Message("notes-of-list", notes=notes)
            findings.append(Finding("list", "note", message, len(notes)))
        if impostors is not None:
            findings.append(_people(scores, impostors, targets))

        findings += findings_on_scores
        if read_scores and scores.layout != "pairs":
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
        What was looked at, such as ``"zero-distance"``.
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
        passed = {finding.check: finding.found for finding in self.with_severity("ok")}
        facts_found = [passed[check] for check in ("samples", "kind") if check in passed]
        facts = Facts(
            (
                data_fact([self.system], self.data),
                ("Scores", scores_in_words(self.kind, self.protocol)),
                ("Found", Enumeration(facts_found, ";")),
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
        if passed:
            names = Enumeration([Label(check) for check in passed], "")
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
            **self._counts(),
            "findings": self._records(),
        }

    def _numbers(self) -> list[dict[str, Any]]:
        counts = [{"measure": "count", "check": x.check, "value": x.count} for x in self.findings]
        return [{"measure": x, "value": number} for x, number in self._counts().items()] + counts

    def _counts(self) -> dict[str, int]:
        """Return the number of findings of each severity but ok, the most serious last."""
        return {f"{x}s": len(self.with_severity(x)) for x in SEVERITIES[1:]}

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
        counts = reversed(self._counts().items())
        parts = [Count(number, noun=noun) for noun, number in counts if number]
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


# ------------------------------------------------------------- labels, names and numbers of people


def _samples_of_list(scores: Scores) -> Finding:
    genuine = int(np.count_nonzero(scores.genuine))
    impostor = len(scores.genuine) - genuine
    if not genuine or not impostor:
        message = without_attempts("impostor" if genuine else "genuine")
        return Finding("samples", "error", message, scores.shape[0])
    text = "{genuine:count genuine pairs}, {impostor:count impostor pairs}"
    return Finding("samples", "ok", say(text, genuine=genuine, impostor=impostor))


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
    if copies is not None and copies.found:
        return Finding("layout", "warning", copies.message(scores.layout), count=copies.found)
    if copies is None and scores.layout == "probe-against-gallery":
        labels = scores.codes.labelled
        has_mates = np.bincount(scores.codes.gallery).max() > 1
        if has_mates and np.array_equal(labels.probe, labels.gallery):
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
    repeated = _names_twice_on_a_side(scores)
    if repeated is not None:
        return repeated
    # If no template is known to be on both sides, those with one name are compared.
    if not np.isin(scores.probe_ids, scores.gallery_ids).any():
        on_both_sides = _names_on_both_sides(scores)
        if on_both_sides is not None:
            return on_both_sides
    return _passed("names")


def _names_twice_on_a_side(scores: Scores) -> Finding | None:
    sides = [("row", scores.probe_meta)]
    if scores.gallery_meta is not scores.probe_meta:
        sides.append(("column", scores.gallery_meta))
    for line, meta in sides:
        for column in _NAMES:
            if column not in meta or not _holds_texts(meta[column]):
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
                number = len(repeated)
                message = Message("names-repeated", values=number, column=column, how="repeated")
                copies = sum(len(places) - 1 for places in repeated.values())
                return Finding("names", "warning", message, copies, where)
    return None


def _names_on_both_sides(scores: Scores) -> Finding | None:
    """Return the finding on names on both sides, by the first column of names of both sides."""
    for column in _NAMES:
        if column not in scores.probe_meta or column not in scores.gallery_meta:
            continue
        probe, gallery = scores.probe_meta[column], scores.gallery_meta[column]
        if not _holds_texts(probe) or not _holds_texts(gallery):
            continue
        shared = sorted({*map(str, probe)} & {*map(str, gallery)})
        if not shared:
            return None
        where = _listed(Label(repr(name)) for name in shared)
        how = "on both sides, and compared"
        message = Message("names-repeated", values=len(shared), column=column, how=how)
        return Finding("names", "warning", message, len(shared), where)
    return None


def _holds_texts(column: np.ndarray) -> bool:
    return column.dtype.kind == "U" or all(isinstance(x, str) for x in column.tolist())


def _compared(scores: Scores, is_reid: bool) -> Finding:
    if scores.layout != "pairs":
        for note in exclusion_notes(scores):
            if note.code != "unknown-values":
                return Finding("compared", "warning", note, scores.shape[0])
    if not is_reid and counts_same(scores, "session"):
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


def _of_scores(scores: Scores) -> tuple[list[Finding], int | None]:
    """Return the findings on scores, and the number of impostor comparisons if it is known.

    In a symmetric matrix, each pair of templates counts once.
    """
    codes_of_failures = sampled_codes(scores)
    failed = sum(scores.failures)
    failures = _passed("failed")
    if failed:
        severity: Severity = "error" if scores.nan == "raise" else "note"
        about = {"comparisons": failed, "treatment": _TREATMENT[scores.nan]}
        failures = Finding("failed", severity, Message("comparisons-failed", **about), failed)
    if scores.kind == "order":
        return [failures, codes_of_failures], None

    # Count the attempts around the score of a copy, and at the ends. Failures without a policy
    # have the finding above.
    without_failures = scores.replace(nan="exclude") if scores.nan == "raise" else scores
    below_copy, copy = _distances_around_copies(without_failures)
    wanted = replace(
        PointsWanted.of_rule(Rule.parse("eer")),
        thresholds=np.array([-np.inf, below_copy, copy, _LARGEST]),
    )
    try:
        attempts = verify(without_failures, wanted=wanted).attempts
    except DataError as error:  # whole numbers may not be exact in float64, for example
        kind = Finding("kind", "error", Message("scores-not-counted", why=str(error)))
        return [failures, codes_of_failures, _passed("zero-distance"), kind], None
    if not failed:
        failures = _infinite_scores(attempts)
    directions = 2 if is_symmetric(scores) else 1
    below = _numbers_upto(attempts, below_copy)
    zero_distance = _passed("zero-distance")
    if scores.kind == "distance" or not below.any():  # nothing is known of similarities above 1
        genuine, impostor = (_numbers_upto(attempts, copy) - below) // directions
        zero_distance = _copies_by_score(int(genuine), int(impostor), scores.kind)
    findings = [failures, codes_of_failures, zero_distance, _kind(scores, attempts)]
    return findings, attempts.impostor_attempts // directions


def _distances_around_copies(scores: Scores) -> tuple[float, float]:
    """Return the largest distance below the score of a copy, and the largest that may be of one."""
    if scores.kind == "similarity":
        of_copy, rounding = -1.0, _ROUNDING
    else:
        of_copy, rounding = 0.0, 0.0
        sample = sampled(scores)
        if sample is not None and len(sample.impostor):
            usual = abs(float(np.median(sample.impostor)))
            rounding = _ROUNDING * usual if math.isfinite(usual) else 0.0
    return np.nextafter(of_copy - rounding, -np.inf), of_copy + rounding


def _numbers_upto(attempts: Attempts, distance: float) -> np.ndarray:
    """Return the numbers of genuine and of impostor attempts up to a distance, int64 (2,)."""
    accepted_impostors, rejected_genuine = attempts.errors_at(distance)
    return np.array([attempts.genuine_attempts - rejected_genuine, accepted_impostors])


def _infinite_scores(attempts: Attempts) -> Finding:
    nearest = int(_numbers_upto(attempts, -np.inf).sum())
    if nearest:
        message = Message("infinite-scores", scores=nearest, accepted="every", first="")
        return Finding("failed", "warning", message, nearest)
    finite = int(_numbers_upto(attempts, _LARGEST).sum())
    farthest = attempts.genuine_attempts + attempts.impostor_attempts - finite
    if farthest:
        message = Message("infinite-scores", scores=farthest, accepted="no", first="")
        return Finding("failed", "note", message, farthest)
    return _passed("failed")


def _copies_by_score(genuine: int, impostor: int, kind: Kind) -> Finding:
    """Return the finding on copies under two labels, or else under one, by their scores."""
    at = "at distance 0" if kind == "distance" else "at similarity 1"
    if impostor:
        message = Message("copies-of-two", copies={"impostor pairs": impostor}, at=at)
        return Finding("zero-distance", "warning", message, impostor)
    if genuine:
        message = Message("copies-of-one", copies={"genuine pairs": genuine}, at=at)
        return Finding("zero-distance", "note", message, genuine)
    return _passed("zero-distance")


def _kind(scores: Scores, attempts: Attempts) -> Finding:
    genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
    if not genuine or not impostor:
        return Finding("kind", "ok", "not checked without both classes")
    severity, doubt = judge_kind(scores)
    eer = float(attempts.points.equal_error().eer[0])
    found = doubt or say("EER {eer:rate} over all attempts", eer=eer)
    return Finding("kind", severity, found, genuine + impostor if severity == "error" else 0)


def _complete(scores: Scores, card: Protocol, claims: Scores | None) -> Finding:
    claims = scores if claims is None else claims
    if claims.claims:
        genuine, impostor = number_of_claims(claims, claims.claim_attempts.incomplete)
        number = genuine + impostor
        if not number:
            return _passed("complete")
        message = Message("transactions-incomplete", genuine=genuine, impostor=impostor)
        return Finding("complete", "note", message, number)
    lists = scores.completeness
    ranks_gallery = not {"open_set", "closed_set", "reid", "gom"}.isdisjoint(card.tasks)
    if lists.incomplete and ranks_gallery:
        return Finding("complete", "note", lists.messages()[0], lists.incomplete)
    return _passed("complete")


# --------------------------------------------------- failed comparisons, and values that mean them


def _end_value(scores: np.ndarray, kind: Kind, *, accepted: bool) -> tuple[float, str] | None:
    """Return the value at the accepted, or the rejected end, if suspiciously many scores share it.

    Beside it, how it differs from the other values, in words.
    """
    # With this sign, the end is the largest value: small distances are accepted, and large
    # similarities.
    sign = 1.0 if accepted == (kind == "similarity") else -1.0
    values, counts = np.unique(sign * scores, return_counts=True)
    # If most scores share the value, it is a usual score.
    if len(values) < 2 or counts[-1] < _LEAST_SHARED or 2 * counts[-1] >= counts.sum():
        return None
    value = float(0.0 + sign * values[-1])  # 0.0 in place of -0.0
    # Distances are not below 0, and few similarities are.
    if sign < 0 and values[-1] > 0 >= values[-2]:
        return value, "the only value below 0"
    if len(values) <= _LEAST_DISTINCT:
        return None
    # Halving the values keeps all differences finite.
    largest, next_largest, neighbour = values[[-1, -2, -1 - _NEIGHBOURS]] / 2
    is_frequent = counts[-1] > _TIMES_AS_OFTEN * counts[-1 - _NEIGHBOURS : -1].max()
    if is_frequent and largest - next_largest > next_largest - neighbour:
        return value, "apart from all others"
    return None


#: How failed comparisons are treated, in words, by the policy of NaN.
_TREATMENT = {
    "reject": ": rejected at every threshold",
    "exclude": ": left out",
    "raise": '; choose how to treat them: `nan="reject"` (as attempts that no threshold accepts) '
    'or `nan="exclude"` (no attempt)',
}


def sampled_codes(scores: Scores) -> Finding:
    """Return the finding about values at the ends of the range, of pairs or of sampled rows."""
    if scores.kind == "order":
        return _passed("sentinels")
    if scores.layout == "pairs":
        values = np.asarray(scores.values, dtype=np.float64)
        impostor = ~scores.genuine
    else:
        templates = scores.shape[0]
        number = min(templates, _SAMPLED_ROWS)
        rows = np.unique(np.linspace(0, templates - 1, number).astype(np.int64))
        part = scores.select(probes=rows)
        sign = -1.0 if scores.kind == "similarity" else 1.0
        values = 0.0 + sign * attempted(part, 0, len(rows))
        impostor = np.ones(values.shape, dtype=bool)  # all, if people are unknown
        if knows_people(part):
            impostor = part.codes.probe[:, None] != part.codes.gallery
    is_known = np.isfinite(values)
    rejected = _end_value(values[is_known], scores.kind, accepted=False)
    # Genuine scores at the accepted end may well be equal, and copies have a finding of their own.
    accepted = _end_value(values[is_known & impostor], scores.kind, accepted=True)
    if accepted is not None and accepted[0] == {"distance": 0.0, "similarity": 1.0}[scores.kind]:
        accepted = None
    ends = [end for end in (rejected, accepted) if end is not None]
    if not ends:
        return _passed("sentinels")
    numbers = [int((values == value).sum()) for value, _ in ends]
    value = ends[0][0]
    noun = "pairs" if scores.layout == "pairs" else "sampled comparisons"
    message = Message(
        "values-of-failures",
        comparisons=numbers,
        compared={noun: int(is_known.sum())},
        values=[value for value, _ in ends],
        how=" and ".join(dict.fromkeys(how for _, how in ends)),
        # The argument by which a file is read with its failures, as ``failed=-1``.
        option=backquoted("failed", int(value) if value.is_integer() else value),
    )
    severity: Severity = "warning" if accepted is None else "error"
    return Finding("sentinels", severity, message, sum(numbers))
