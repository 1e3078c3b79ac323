"""What was counted, and messages on scores that are valid, but often mistakes.

A :class:`Provenance` is a part of all counts and results: the sizes of the data, how they were
read, and the messages on them. Of 300 probes of 100 people against a gallery of 120 people, 90 of
them also probes, the sizes are::

    probe_subjects=100, gallery_subjects=120, enrolled_subjects=90, people=(100, 120, 130)

The second half of the file has the messages, each made where the data give a reason for it; other
files ask for some of them alone, such as :func:`camera_notes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from bioeval.base.errors import Message, counted
from bioeval.base.kinds import Kind, Layout, NanPolicy
from bioeval.base.options import row_spans
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
        cached = _PROVENANCE_OF.get(scores)
        if cached is not None and cached.fingerprints == (fingerprint,):
            return cached
        incomplete = number_of_claims(scores, scores.claim_attempts.incomplete)
        too_few = number_of_claims(scores, scores.claim_attempts.too_few)
        provenance = cls(
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
            use_title=scores.claim_attempts.title,
            use_name=scores.claim_attempts.name,
            use_fusion=scores.claim_attempts.fusion,
            tries=scores.claim_attempts.most_tries,
            failures=scores.failures if scores.nan != "raise" else (0, 0),
            incomplete=incomplete,
            too_few=too_few,
        )
        _PROVENANCE_OF[scores] = provenance
        return provenance

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


# The provenance of scores that are in use; it goes with its scores.
_PROVENANCE_OF: WeakKeyDictionary[Scores, Provenance] = WeakKeyDictionary()


def _sizes(scores: Scores) -> dict[str, Any]:
    """Return the fields of a provenance that differ between the scores and a part of them."""
    sizes: dict[str, Any] = {
        "layout": scores.layout,
        "probes": scores.shape[0],  # of a list, its pairs
        "gallery_templates": 0 if scores.layout == "pairs" else scores.shape[1],
        "gallery_subjects": 0,
        "probe_subjects": 0,
        "enrolled_subjects": 0,
        "people": None,
    }
    if not knows_people(scores):
        return sizes
    codes = scores.codes
    probe_people, gallery_people = codes.people(codes.probe), codes.people(codes.gallery)
    people = np.union1d(probe_people, gallery_people)
    sizes["gallery_subjects"] = len(gallery_people)
    sizes["probe_subjects"] = len(probe_people)
    sizes["enrolled_subjects"] = len(probe_people) + len(gallery_people) - len(people)
    if len(people):  # else all templates are of no person
        sizes["people"] = (len(probe_people), len(gallery_people), len(people))
    return sizes


# ------------------------------------------------------------------------------- messages on scores


# The most groups of spellings that a message shows.
_EXAMPLES = 3


def _notes_on_scores(
    scores: Scores, incomplete: tuple[int, int], too_few: tuple[int, int]
) -> list[Message]:
    """Return the messages on scores; the numbers are of genuine and impostor claims."""
    _, doubt_of_kind = judge_kind(scores)
    notes = [] if doubt_of_kind is None else [doubt_of_kind]
    notes += scores.remarks
    # Claims and comparisons that are no attempts, or failed.
    if any(incomplete):
        genuine, impostor = incomplete
        notes.append(Message("transactions-incomplete", genuine=genuine, impostor=impostor))
    notes += too_few_notes(*too_few, scores.claim_attempts.templates_needed)
    notes += _failure_notes(scores)
    if scores.layout == "pairs" and scores.pairs.missing:
        listed = scores.pairs.missing + scores.shape[0]
        notes.append(Message("listed-pairs-missing", pairs=scores.pairs.missing, listed=listed))
    notes += copies_notes(scores)
    # The other messages are on labels and columns of both sides.
    if scores.layout != "pairs" and not scores.are_labelled:
        return notes
    if scores.layout == "probe-against-gallery":
        notes += _no_mate_notes(scores)
    if scores.doubt_of_square:
        notes.append(Message(scores.doubt_of_square))
    if counts_same(scores, "session"):
        notes.append(pairs_of_same("session"))
    if knows_people(scores):
        codes = scores.codes
        notes += look_alike(codes.in_many_spellings, "label", len(codes.values))
        notes += no_person_notes(scores)
    if scores.exclude:
        notes += exclusion_notes(scores)
    return notes


def _failure_notes(scores: Scores) -> list[Message]:
    """Return the message on failed comparisons, and of claims on those of their tries."""
    if scores.nan == "raise":
        return []
    meanings = {"reject": "attempts that are always rejected", "exclude": "no attempts"}
    meaning = meanings[scores.nan]
    genuine, impostor = scores.failures
    of_tries = failures_of_tries(scores)
    if of_tries is None:
        if not genuine and not impostor:
            return []
        return [Message("failures", genuine=genuine, impostor=impostor, meaning=meaning)]
    if not any(of_tries):
        return []
    about: dict[str, Any] = {"tries_genuine": of_tries[0], "tries_impostor": of_tries[1]}
    if genuine or impostor:  # a visit fails only if all its tries do
        about |= {"genuine": genuine, "impostor": impostor, "meaning": meaning}
    return [Message("failures-of-visits", **about)]


def _no_mate_notes(scores: Scores) -> list[Message]:
    """Return the message that no probe has a label of the gallery, if it is so.

    Gallery labels that count up, such as f0, f1, f2, may be the features of embeddings, which were
    read as scores; the message asks.
    """
    codes = scores.codes.labelled
    is_enrolled = present(codes.gallery, len(codes.values))
    if is_enrolled[codes.probe].any():
        return []
    about = {
        "probe_dtype": str(scores.probe_labels.dtype),
        "gallery_dtype": str(scores.gallery_labels.dtype),
    }
    first, *others = labels = [str(label) for label in scores.gallery_labels.tolist()]
    stem = first.rstrip("0123456789")
    digits = first.removeprefix(stem)
    if stem and digits:
        next_labels = [f"{stem}{int(digits) + i}" for i in range(1, len(labels))]
        if others == next_labels:
            about |= {"first": first, "last": labels[-1]}
    return [Message("no-mate-in-gallery", **about)]


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
    examples = []
    for group in spelt[:_EXAMPLES]:
        # Values in two Unicode forms look equal, and are shown by the numbers of their characters.
        differ_in_form = len({normal(str(value)) for value in group}) < len(group)
        shown = [ascii(value) if differ_in_form else repr(value) for value in group]
        examples.append(" and ".join(shown))
    about = {"column": column, "values": sum(map(len, spelt)), "of": number}
    return [Message("values-look-alike", **about, examples=", ".join(examples))]


def pairs_of_same(column: str) -> Message:
    advice = f'reading the scores with `exclude="{column}"`'
    return Message("same-value-counted", column=column, advice=advice)


def unknown_notes(codes: Codes, name: str) -> list[Message]:
    """Return the message on templates whose value in a compared column is unknown."""
    probes, templates = int((codes.probe < 0).sum()), int((codes.gallery < 0).sum())
    about = {"column": name, "probes": probes, "templates": templates}
    note = Message("unknown-values", **about, treatment="they equal no other")
    return [note] if probes or templates else []
