"""The tries of a visit that is explained: which are its own, and which decided its claims."""

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

#: Tries of a visit that are named, and claims whose try is said.
_NAMED, _CLAIMS = 10, 3


class Visits:
    """The tries of claims of visits, by name."""

    def __init__(self, claims: Scores):
        """Find the names of the tries, and of the templates that they are compared with."""
        self.claims = claims
        self.tries_of_claims: Tries = claims._tries
        enrolled = self.tries_of_claims.enrolled
        self.tries = in_words(enrolled.probe_names, enrolled.shape[0])
        self.templates = in_words(enrolled.gallery_names, enrolled.shape[1])

    def row_of(self, name: str) -> int | None:
        """Return the visit of the try with a name; None if no try, or several, have the name."""
        if self.tries.count(name) != 1:
            return None
        visit = self.tries_of_claims.attempt[self.tries.index(name)] + self.tries_of_claims.first_id
        rows = np.flatnonzero(self.claims.probe_ids == visit)
        return int(rows[0]) if len(rows) else None

    def remarks(self, row: int, ranked: RankedList) -> Iterator[Text]:
        """Yield the names of the tries of a visit, and which of them decided its nearest claims."""
        visit = self.claims.probe_ids[row] - self.tries_of_claims.first_id
        tries = [self.tries[i] for i in np.flatnonzero(self.tries_of_claims.attempt == visit)]
        named = enumerated(tries[:_NAMED]) + (" ..." if len(tries) > _NAMED else "")
        yield say(
            "The visit has {number:count tries}: {tries}.", number=len(tries), tries=Label(named)
        )
        scored = [x for x in ranked.entries if x.score is not None]
        claims = [x for role in (GENUINE, IMPOSTOR) for x in scored if x.role == role]
        decided = []
        for claim in claims[:_CLAIMS]:
            deciding = self._deciding_try(row, claim)
            decided.append(say("that of {who:name} by {how}", who=claim.subject, how=deciding))
        if decided:
            yield say("Of the claims, {decided}.", decided=Enumeration(decided))

    def _deciding_try(self, row: int, claim: Entry) -> Text:
        deciding = deciding_tries(self.claims, np.array([row]), np.array([claim.column]))
        assert deciding is not None  # claims of visits have tries
        scores, enrolled = self.tries_of_claims.scores, self.tries_of_claims.enrolled
        place = int(np.flatnonzero(enrolled.probe_ids == scores.probe_ids[deciding[0][0]])[0])
        tried = Label(self.tries[place])
        if self.tries_of_claims.templates == "single":
            return say("{tried} with {template:name}", tried=tried, template=claim.template)
        if self.tries_of_claims.fusion != "best":
            return tried
        own = enrolled.codes.gallery == enrolled.codes.gallery[self._column(claim.column)]
        distance = np.where(own, attempted(enrolled, place, place + 1)[0], np.nan)
        template = self.templates[int(np.nanargmin(distance))]
        return say("{tried} with {template:name}", tried=tried, template=template)

    def _column(self, column: int) -> int:
        labels = self.tries_of_claims.enrolled.gallery_labels
        return int(np.flatnonzero(labels == self.claims.gallery_labels[column])[0])
