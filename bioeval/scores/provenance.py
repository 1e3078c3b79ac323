"""Provenance of counts (`Provenance`): a part of all counts and results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bioeval.base.kinds import Kind, Layout, NanPolicy
from bioeval.base.messages import Message
from bioeval.scores.codes import present
from bioeval.scores.completeness import Completeness
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.score_notes import notes_on_scores, too_few_notes
from bioeval.scores.tries import claims_of_few_templates, incomplete_claims

# Separates the names of exclusions in the one attribute that a result has for them.
_BETWEEN_NAMES = ", "


def left_out(scores: Scores) -> list[str]:
    """Return the exclusions of scores; for claims also the exclusions of their tries."""
    return [*scores._excluded_before, *scores.exclude]


def exclusions_of(attrs: Mapping[Any, Any]) -> tuple[str, ...]:
    """Return the exclusions of a result, from its attributes."""
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
    tries: int = 1  # the most tries of an attempt
    failures: tuple[int, int] = (0, 0)  # genuine and impostor comparisons that failed
    incomplete: tuple[int, int] = (0, 0)  # genuine and impostor claims that lack tries
    too_few: tuple[int, int] = (0, 0)  # claims with too few templates for their fusion
    #: The scores that are searched, if any, and the probes that search; None: all probes.
    searched: Scores | None = field(default=None, compare=False, repr=False)
    searching_probes: np.ndarray | None = field(default=None, compare=False, repr=False)

    @classmethod
    def from_scores(cls, scores: Scores) -> Provenance:
        return cls(
            **_sizes(scores),
            name=scores.name or "",
            kind=scores.kind,
            nan=scores.nan,
            fingerprints=(scores.fingerprint,),
            notes=tuple(notes_on_scores(scores)),
            origin=scores.origin,
            metric=scores.metric,
            exclude=_BETWEEN_NAMES.join(left_out(scores)),
            reading=scores.reading,
            use=scores.claims,
            use_title=scores.claims_title,
            tries=scores.tries,
            failures=scores.failures if scores.nan != "raise" else (0, 0),
            incomplete=incomplete_claims(scores),
            too_few=claims_of_few_templates(scores),
        )

    def without_claims(
        self, genuine: int, impostor: int, needed: int, where: str = ""
    ) -> Provenance:
        """Return the provenance of counts without claims of people with too few templates."""
        notes = (*self.notes, *too_few_notes(genuine, impostor, needed, where))
        too_few = self.too_few[0] + genuine, self.too_few[1] + impostor
        return replace(self, too_few=too_few, notes=notes)

    def searching(self, scores: Scores, probes: np.ndarray | None = None) -> Provenance:
        """Return the provenance of searches, which state incomplete lists of candidates.

        The lists are counted only if a result is made of the searches.
        """
        return replace(self, searched=scores, searching_probes=probes)

    @property
    def lists(self) -> Completeness:
        """The completeness of the candidates that are searched."""
        assert self.searched is not None
        lists = self.searched.completeness
        return lists if self.searching_probes is None else lists.of_probes(self.searching_probes)

    def of_part(self, part: Scores) -> Provenance:
        return replace(self, **_sizes(part))


def _sizes(scores: Scores) -> dict[str, Any]:
    pairs = scores.layout == "pairs"
    enrolled = probing = np.zeros(0, dtype=bool)
    if knows_people(scores):
        codes = scores.codes
        people = ~scores.codes.no_person
        probing = present(codes.probe, len(people)) & people
        enrolled = present(codes.gallery, len(people)) & people
    probes, gallery = int(np.count_nonzero(probing)), int(np.count_nonzero(enrolled))
    on_both_sides = int(np.count_nonzero(enrolled & probing))
    return {
        "layout": scores.layout,
        "probes": scores.shape[0],
        "gallery_templates": 0 if pairs else scores.shape[1],
        "gallery_subjects": gallery,
        "probe_subjects": probes,
        "enrolled_subjects": on_both_sides,
        "people": (probes, gallery, probes + gallery - on_both_sides) if probes + gallery else None,
    }
