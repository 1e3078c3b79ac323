"""What is said of an explained visit: which tries it has, and which try decided each claim."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bioeval.base.errors import enumerated
from bioeval.scores.claim_scores import deciding_tries
from bioeval.scores.matrix import Scores
from bioeval.scores.names import in_words
from bioeval.scores.rows import attempted
from bioeval.scores.tries import Tries
from bioeval.showing.cells import Label
from bioeval.showing.text import Enumeration, Text, say
from bioeval.studies.explain.row import GENUINE, IMPOSTOR, Entry, RankedList

#: The most tries of a visit that are named.
_MOST_NAMED = 10

#: The most claims of a visit whose deciding try is named.
_MOST_CLAIMS = 3


class Visits:
    """The tries behind scores of claims, each of which a visit makes by several tries."""

    def __init__(self, claims: Scores):
        """Find the names of the tries, and of the templates that they are compared with."""
        self.claims = claims
        self.tries: Tries = claims._tries
        enrolled = self.tries.enrolled
        self.try_names = in_words(enrolled.probe_names, enrolled.shape[0])
        self.template_names = in_words(enrolled.gallery_names, enrolled.shape[1])

    def row_of(self, name: str) -> int | None:
        """Return the row of the visit with a try; None unless exactly one try has the name."""
        if self.try_names.count(name) != 1:
            return None
        visit = self.tries.attempt[self.try_names.index(name)] + self.tries.first_id
        rows = np.flatnonzero(self.claims.probe_ids == visit)
        return int(rows[0]) if len(rows) else None

    def remarks(self, row: int, ranked: RankedList) -> Iterator[Text]:
        """Yield the names of the tries of a visit, and the tries that decided its first claims.

        The first claims are genuine ones, then the nearest impostor claims.
        """
        visit = self.claims.probe_ids[row] - self.tries.first_id
        names = [self.try_names[i] for i in np.flatnonzero(self.tries.attempt == visit)]
        listed = enumerated(names[:_MOST_NAMED]) + (" ..." if len(names) > _MOST_NAMED else "")
        yield say(
            "The visit has {number:count tries}: {tries}.", number=len(names), tries=Label(listed)
        )
        scored = [x for x in ranked.entries if x.score is not None]
        claims = [x for role in (GENUINE, IMPOSTOR) for x in scored if x.role == role]
        decided = []
        for claim in claims[:_MOST_CLAIMS]:
            deciding = self._deciding_try(row, claim)
            decided.append(say("that of {who:name} by {how}", who=claim.subject, how=deciding))
        if decided:
            yield say("Of the claims, {decided}.", decided=Enumeration(decided))

    def _deciding_try(self, row: int, claim: Entry) -> Text:
        deciding = deciding_tries(self.claims, np.array([row]), np.array([claim.column]))
        assert deciding is not None  # claims of visits have tries
        scores, enrolled = self.tries.scores, self.tries.enrolled
        i = int(np.flatnonzero(enrolled.probe_ids == scores.probe_ids[deciding[0][0]])[0])
        name = Label(self.try_names[i])
        if self.tries.templates == "single":
            return say("{tried} with {template:name}", tried=name, template=claim.template)
        if self.tries.fusion != "best":
            return name
        # The nearest template of the claimed person decided.
        claimed = enrolled.codes.gallery[self._enrolled_column(claim.column)]
        is_claimed = enrolled.codes.gallery == claimed
        distance = np.where(is_claimed, attempted(enrolled, i, i + 1)[0], np.nan)
        template = self.template_names[int(np.nanargmin(distance))]
        return say("{tried} with {template:name}", tried=name, template=template)

    def _enrolled_column(self, column: int) -> int:
        labels = self.tries.enrolled.gallery_labels
        return int(np.flatnonzero(labels == self.claims.gallery_labels[column])[0])
