"""What was counted, and messages on scores that are valid, but often mistakes.

A :class:`Provenance` is a part of all counts and results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from bioeval.base.errors import Message, counted
from bioeval.base.kinds import Kind, Layout, NanPolicy
from bioeval.scores.arrays import row_spans
from bioeval.scores.attempts import Completeness, Exclusion, excludes_same, left_out, left_out_rows
from bioeval.scores.claim_scores import failures_of_tries, number_of_claims
from bioeval.scores.codes import Codes, present
from bioeval.scores.labels import normal
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import known_texts
from bioeval.scores.people import knows_people, mate_cells
from bioeval.scores.sampled import copies_notes, judge_kind

# Separates the names of exclusions in the one attribute that a result has for them.
_BETWEEN_NAMES = ", "


def exclusions_of(attrs: Mapping[Any, Any]) -> tuple[str, ...]:
    return tuple(filter(None, str(attrs.get("exclude", "")).split(_BETWEEN_NAMES)))


@dataclass(frozen=True)
class Provenance:
    """What was counted, and how it was read; a part of the attributes of every result."""

    name: str
    layout: Layout
    kind: Kind
    nan: NanPolicy
    probes: int
    gallery_templates: int
    gallery_subjects: int
    probe_subjects: int
    enrolled_subjects: int  # enrolled subjects of the probes
    #: Subjects of the probes, of the gallery and of both sides together; None if unknown.
    people: tuple[int, int, int] | None
    fingerprints: tuple[str, ...]
    notes: tuple[Message, ...] = ()
    origin: str = ""
    metric: str = ""  # bioeval's metric, if scores were computed from embeddings
    exclude: str = ""
    reading: tuple[str, ...] = ()  # how files were read
    use: str = ""  # what an attempt of claim scores is
    use_title: str = ""  # the same for a title
    use_name: str = ""  # the same in a word, visits or claims
    use_fusion: str = "none"  # the rule that fused the templates of a claim
    tries: int = 1  # the most tries of an attempt
    failures: tuple[int, int] = (0, 0)  # genuine and impostor comparisons that failed
    incomplete: tuple[int, int] = (0, 0)  # genuine and impostor claims that lack tries
    too_few: tuple[int, int] = (0, 0)  # claims with too few templates for their fusion
    #: The scores that are searched, if any, and the probes that search; None: all probes.
    searched: Scores | None = field(default=None, compare=False, repr=False)
    searching_probes: np.ndarray | None = field(default=None, compare=False, repr=False)

    @classmethod
    def from_scores(cls, scores: Scores) -> Provenance:
        """Return the provenance of scores: found once, and anew where the values have changed."""
        fingerprint = scores.fingerprint
        known = _KNOWN.get(scores)
        if known is not None and known.fingerprints == (fingerprint,):
            return known
        incomplete = number_of_claims(scores, scores._incomplete)
        too_few = number_of_claims(scores, scores._too_few)
        known = _KNOWN[scores] = cls(
            **_sizes(scores),
            name=scores.name or "",
            kind=scores.kind,
            nan=scores.nan,
            fingerprints=(fingerprint,),
            notes=tuple(_notes_on_scores(scores, incomplete, too_few)),
            origin=scores.origin,
            metric=scores.metric,
            exclude=_BETWEEN_NAMES.join(left_out(scores)),
            reading=scores.reading,
            use=scores.claims,
            use_title=scores.claims_title,
            use_name=scores.claims_name,
            use_fusion=scores._claims_fusion,
            tries=scores.tries,
            failures=scores.failures if scores.nan != "raise" else (0, 0),
            incomplete=incomplete,
            too_few=too_few,
        )
        return known

    def without_claims(
        self, genuine: int, impostor: int, needed: int, where: str = ""
    ) -> Provenance:
        notes = (*self.notes, *too_few_notes(genuine, impostor, needed, where))
        too_few = self.too_few[0] + genuine, self.too_few[1] + impostor
        return replace(self, too_few=too_few, notes=notes)

    def searching(self, scores: Scores, probes: np.ndarray | None = None) -> Provenance:
        """Return the provenance of searches, whose lists are counted if a result is made."""
        return replace(self, searched=scores, searching_probes=probes)

    @property
    def lists(self) -> Completeness:
        """The completeness of the candidates that are searched."""
        assert self.searched is not None
        lists = self.searched.completeness
        return lists if self.searching_probes is None else lists.of_probes(self.searching_probes)

    def of_part(self, part: Scores) -> Provenance:
        return replace(self, **_sizes(part))


# The provenance of scores that are in use.
_KNOWN: WeakKeyDictionary[Scores, Provenance] = WeakKeyDictionary()


def _sizes(scores: Scores) -> dict[str, Any]:
    pairs = scores.layout == "pairs"
    probes = gallery = on_both_sides = 0
    if knows_people(scores):
        codes = scores.codes
        probing, enrolled = codes.people(codes.probe), codes.people(codes.gallery)
        probes, gallery = len(probing), len(enrolled)
        on_both_sides = len(np.intersect1d(probing, enrolled, assume_unique=True))
    return {
        "layout": scores.layout,
        "probes": scores.shape[0],
        "gallery_templates": 0 if pairs else scores.shape[1],
        "gallery_subjects": gallery,
        "probe_subjects": probes,
        "enrolled_subjects": on_both_sides,
        "people": (probes, gallery, probes + gallery - on_both_sides) if probes + gallery else None,
    }


# ------------------------------------------------------------------------------- messages on scores


# Spellings of values that a message shows.
_EXAMPLES = 3


def _notes_on_scores(
    scores: Scores, incomplete: tuple[int, int], too_few: tuple[int, int]
) -> list[Message]:
    """Return the messages on scores; the numbers are of genuine and impostor claims."""
    _, doubt = judge_kind(scores)
    notes = [*([] if doubt is None else [doubt]), *scores.remarks]
    # Attempts that are none, or failed.
    genuine, impostor = incomplete
    if genuine or impostor:
        notes.append(Message("transactions-incomplete", genuine=genuine, impostor=impostor))
    notes += too_few_notes(*too_few, scores._needed)
    of_tries = failures_of_tries(scores)
    if scores.nan != "raise" and any(scores.failures if of_tries is None else of_tries):
        genuine, impostor = scores.failures
        meanings = {"reject": "attempts that are always rejected", "exclude": "no attempts"}
        about: dict[str, Any] = {"genuine": genuine, "impostor": impostor}
        about["meaning"] = meanings[scores.nan]
        if of_tries is not None:
            of_visits = about if genuine or impostor else {}
            about = {"tries_genuine": of_tries[0], "tries_impostor": of_tries[1], **of_visits}
        notes.append(Message("failures" if of_tries is None else "failures-of-visits", **about))
    if scores.layout == "pairs" and scores.pairs.missing:
        listed = scores.pairs.missing + scores.shape[0]
        notes.append(Message("listed-pairs-missing", pairs=scores.pairs.missing, listed=listed))
    notes += copies_notes(scores)
    if scores.layout != "pairs" and not scores._labelled:
        return notes
    # Labels and columns of both sides.
    if scores.layout == "probe-against-gallery":
        codes = scores.codes.labelled
        if not present(codes.gallery, len(codes.values))[codes.probe].any():
            dtypes = str(scores.probe_labels.dtype), str(scores.gallery_labels.dtype)
            about = dict(zip(("probe_dtype", "gallery_dtype"), dtypes, strict=True))
            first, *others = map(str, scores.gallery_labels.tolist())
            stem = first.rstrip("0123456789")
            start = int(first.removeprefix(stem) or -1)
            if (
                stem
                and start >= 0
                and others == [f"{stem}{start + i + 1}" for i in range(len(others))]
            ):
                about |= {"first": first, "last": [first, *others][-1]}
            notes.append(Message("no-mate-in-gallery", **about))
    if scores.doubt_of_square:
        notes.append(Message(scores.doubt_of_square))
    if counts_same(scores, "session"):
        notes.append(pairs_of_same("session"))
    if knows_people(scores):
        codes = scores.codes
        notes += look_alike(codes.in_many_spellings, "label", len(codes.values))
        notes += no_person_notes(scores)
    return notes + exclusion_notes(scores) if scores.exclude else notes


def no_person_notes(scores: Scores) -> list[Message]:
    """Return the message on templates of no person, if there are any."""
    codes = scores.codes
    probes, gallery = (int(codes.no_person[x].sum()) for x in (codes.probe, codes.gallery))
    if not probes and not gallery:
        return []
    numbers = [(probes, "probes"), (gallery, "gallery templates")]
    treatment = "impostors to every person, and no attempt against each other"
    if scores.layout == "pairs":
        numbers = [(probes, "probes of pairs"), (gallery, "enrolled templates of pairs")]
        treatment = "no subjects, and the class of a pair decides"
    elif scores.layout == "all-against-all" and probes == gallery:
        numbers = [(probes, "templates")]
    templates = " and ".join(counted(number, noun) for number, noun in numbers if number)
    labels = codes.labels_of_no_person(scores.no_person_ids)
    return [Message("no-person", templates=templates, labels=labels, treatment=treatment)]


def too_few_notes(genuine: int, impostor: int, needed: int, where: str = "") -> list[Message]:
    numbers = {"genuine": genuine, "impostor": impostor, "templates": needed}
    return [Message("too-few-templates", **numbers, where=where)] if genuine or impostor else []


def exclusion_notes(scores: Scores) -> list[Message]:
    stated = (x for x in scores.exclusions if x.text)
    return [note for exclusion in stated for note in rule_notes(scores, exclusion)]


def rule_notes(scores: Scores, rule: Exclusion) -> list[Message]:
    """Return messages on an exclusion that leaves out nothing, or less than it seems to."""
    notes = []
    if not rule.number(scores.codes, scores.probe_ids, scores.gallery_ids):
        notes.append(Message("exclusion-without-effect", exclusion=rule.text))
    column, codes = rule.column, rule.codes
    notes += look_alike(codes.in_many_spellings, column, len(codes.values))
    return notes + unknown_notes(codes, column)


def counts_same(scores: Scores, column: str) -> bool:
    """Whether genuine comparisons with the same value of a column of several are counted."""
    probe, gallery = scores.probe_meta.get(column), scores.gallery_meta.get(column)
    if probe is None or gallery is None or excludes_same(scores, column):
        return False
    if len(known_texts(probe, column) | known_texts(gallery, column)) < 2:
        return False
    rule = Exclusion.parse(column).of_sides(scores.probe_meta, scores.gallery_meta)
    if scores.layout == "pairs":
        return bool((rule.holds(slice(None), slice(None)) & scores.genuine).any())
    if not rule.number(scores.codes, scores.probe_ids, scores.gallery_ids):
        return False
    if not scores.exclude and not scores.has_mask:
        return True
    for low, high in row_spans(scores.shape[0], scores.shape[1], 1 << 22):
        rows, columns = mate_cells(scores, np.arange(low, high))
        is_same = rule.holds(rows + low, columns)
        rows, columns = rows[is_same], columns[is_same]
        left_out = left_out_rows(scores, low, high)
        if left_out is None or not left_out[rows, columns].all():
            return True
    return False


def camera_notes(scores: Scores) -> list[Message]:
    """Return a message if the data have cameras and no convention states their use."""
    if scores.layout == "pairs" or not knows_people(scores) or scores.has_mask:
        return []
    probe, gallery = scores.probe_meta.get("camera"), scores.gallery_meta.get("camera")
    if probe is None or gallery is None or excludes_same(scores, "camera"):
        return []
    if len(known_texts(probe, "camera") | known_texts(gallery, "camera")) < 2:
        return []
    if scores.layout == "probe-against-gallery":
        return [Message("cameras-not-used", column="camera")]
    return [pairs_of_same("camera")]


def look_alike(spelt: list[list[Any]], column: str, number: int) -> list[Message]:
    """Return the message on groups of values that differ only in spelling, if there are any."""
    if not spelt:
        return []
    # Texts in two Unicode forms look equal.
    examples = ", ".join(
        " and ".join(map(ascii if len({*map(normal, map(str, same))}) < len(same) else repr, same))
        for same in spelt[:_EXAMPLES]
    )
    about = {"column": column, "values": sum(map(len, spelt)), "of": number}
    return [Message("values-look-alike", **about, examples=examples)]


def pairs_of_same(column: str) -> Message:
    advice = f'reading the scores with `exclude="{column}"`'
    return Message("same-value-counted", column=column, advice=advice)


def unknown_notes(codes: Codes, name: str) -> list[Message]:
    """Return the message on templates whose value in a compared column is unknown."""
    probes, templates = int((codes.probe < 0).sum()), int((codes.gallery < 0).sum())
    about = {"column": name, "probes": probes, "templates": templates}
    note = Message("unknown-values", **about, treatment="they equal no other")
    return [note] if probes or templates else []
