"""The checks that need no score: of labels, names, metadata and numbers of people."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from bioeval.base.messages import Message
from bioeval.results.support import labels_doubtful, support_messages, without_attempts
from bioeval.scores.codes import Codes, spellings
from bioeval.scores.compared_people import ComparedPeople
from bioeval.scores.diagonal import same_labels
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import NAME_COLUMNS
from bioeval.scores.people import comparisons, knows_people
from bioeval.scores.score_notes import counts_same, exclusion_notes, no_person_notes, pairs_of_same
from bioeval.showing.cells import Label
from bioeval.showing.text import Enumeration, Text, say
from bioeval.studies.check.findings import Finding, Severity, listed, passed

# Metadata columns that name a template.
_NAMES = (*NAME_COLUMNS, "key")

# With fewer subjects, intervals over subjects are rough.
_ENOUGH_SUBJECTS = 30


def label_checks(
    scores: Scores,
    far_targets: Sequence[float],
    impostors: int | None = None,
    convention: bool = False,
    self_compared: bool | None = None,
) -> Iterator[Finding]:
    """Yield the findings that need no score.

    - `impostors`: number of impostor comparisons, if they were counted; in a symmetric matrix, each
      pair of templates once
    - `convention`: whether a card of re-identification has left out junk and cameras already
    - `self_compared`: whether the diagonal has scores of templates with themselves; None if scores
      were not read
    """
    is_list, has_people = scores.layout == "pairs", knows_people(scores)
    if is_list:
        yield _pairs(scores)
        impostors = int((~scores.genuine).sum())
    elif has_people:
        yield _samples(scores)
        yield _layout(scores, self_compared)
    if has_people and (is_list or not convention):
        yield _doubtful_labels(scores)
    if has_people and not is_list:
        yield _names(scores)
        if impostors is None:
            impostors = comparisons(scores)[1] // (1 + (scores.layout == "all-against-all"))
    if is_list or has_people:
        yield _compared(scores, convention)
    if scores.remarks:
        notes = list(scores.remarks)
        yield Finding("list", "note", Message("notes-of-list", notes=notes), len(notes))
    if impostors is not None:
        yield _people(scores, impostors, far_targets)


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
        where = listed(Label(repr(plain(x))) for x in codes.values[sizes == 1])
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


def _layout(scores: Scores, self_compared: bool | None) -> Finding:
    templates = scores.shape[0]
    if doubt := scores.doubt_of_square:
        severity: Severity = "error" if doubt == "half-matrix" else "warning"
        return Finding("layout", severity, Message(doubt), count=templates)
    _, sizes = np.unique(scores.codes.gallery, return_counts=True)
    if self_compared:
        return Finding("layout", "warning", Message("diagonal-counted"), count=templates)
    if self_compared is None and sizes.max() > 1 and same_labels(scores):
        return Finding("layout", "note", Message("same-labels-twice"), count=templates)
    return passed("layout")


def _forms_that_differ(labels: Sequence[object]) -> Text:
    forms = {unicodedata.normalize("NFC", str(label)) for label in labels}
    texts = map(repr if len(forms) == len(labels) else ascii, labels)
    return Enumeration(list(map(Label, texts)))


def _doubtful_labels(scores: Scores) -> Finding:
    codes = scores.codes
    variants = list(
        map(_forms_that_differ, spellings(codes.values[codes.people(codes.probe, codes.gallery)]))
    )
    if variants:
        message = Message("labels-in-several-spellings", labels=len(variants))
        return Finding("labels", "warning", message, len(variants), listed(variants))
    for message in no_person_notes(scores):
        where = listed(map(Label, codes.labels_of_no_person(scores.no_person_ids)))
        return Finding("labels", "note", message, int(codes.no_person.sum()), where)
    return passed("labels")


def _names(scores: Scores) -> Finding:
    sides = [("row", scores.probe_meta)]
    if scores.gallery_meta is not scores.probe_meta:
        sides.append(("column", scores.gallery_meta))
    for line, meta in sides:
        for column in _NAMES:
            if column in meta and _is_text(meta[column]):
                places_of_name = _repeated(meta[column])
                if places_of_name:
                    return _repeated_names(line, column, places_of_name)

    # A name on both sides, though all templates are compared.
    column, shared = _names_on_both_sides(scores)
    if shared:
        where = listed(Label(repr(name)) for name in shared)
        how = "on both sides, and compared"
        message = Message("names-repeated", values=len(shared), column=column, how=how)
        return Finding("names", "warning", message, len(shared), where)
    return passed("names")


def _repeated(names: np.ndarray) -> dict[str, list[int]]:
    places_of_name = defaultdict[str, list[int]](list)
    for place, name in enumerate(map(str, names.tolist())):
        places_of_name[name].append(place)
    return {name: places for name, places in places_of_name.items() if len(places) > 1}


def _repeated_names(line: str, column: str, places_of_name: dict[str, list[int]]) -> Finding:
    """Return the finding on names of one side; its templates are rows or columns (`line`)."""
    where = listed(
        say("{name:name} ({side}s {rows})", name=repr(name), side=line, rows=listed(places))
        for name, places in places_of_name.items()
    )
    copies = sum(map(len, places_of_name.values())) - len(places_of_name)
    about = {"values": len(places_of_name), "column": column, "how": "repeated"}
    return Finding("names", "warning", Message("names-repeated", **about), copies, where)


def _names_on_both_sides(scores: Scores) -> tuple[str, list[str]]:
    if np.isin(scores.probe_ids, scores.gallery_ids).any():
        return "", []
    for column in _NAMES:
        if column in scores.probe_meta and column in scores.gallery_meta:
            probe, gallery = scores.probe_meta[column], scores.gallery_meta[column]
            if _is_text(probe) and _is_text(gallery):
                return column, sorted({*map(str, probe)} & {*map(str, gallery)})
    return "", []


def _compared(scores: Scores, convention: bool) -> Finding:
    for note in [] if scores.layout == "pairs" else exclusion_notes(scores):
        if note.code != "unknown-values":
            return Finding("compared", "warning", note, scores.shape[0])
    if not convention and counts_same(scores, "session"):
        return Finding("compared", "note", pairs_of_same("session"), scores.shape[0])
    return passed("compared")


def _is_text(column: np.ndarray) -> bool:
    return column.dtype.kind == "U" or all(isinstance(x, str) for x in column.tolist())


def _pairs(scores: Scores) -> Finding:
    genuine, impostor = int(scores.genuine.sum()), int((~scores.genuine).sum())
    if not genuine or not impostor:
        message = without_attempts("impostor" if genuine else "genuine")
        return Finding("samples", "error", message, scores.shape[0])
    text = "{genuine:count genuine pairs}, {impostor:count impostor pairs}"
    summary = say(text, genuine=genuine, impostor=impostor)
    return Finding("samples", "ok", summary)


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
    return passed("people")
