"""Explains one row of scores under every task of a protocol, or a small matrix step by step."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval.attempts.counts import role_of
from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.attempts.passes import count_together
from bioeval.attempts.threshold_rules import Rule
from bioeval.attempts.thresholds import to_user
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.arguments import require_integer
from bioeval.base.errors import Argument, DataError, ProtocolError, nearest_name, received
from bioeval.base.kinds import larger_is_closer
from bioeval.document.results import rule_in_words
from bioeval.document.text import Enumeration, Text, say
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import for_layout
from bioeval.scores.blocks import BlockReader
from bioeval.scores.bona_fide import species_of, without_attacks
from bioeval.scores.labels import NAME_COLUMNS, template_names
from bioeval.scores.matrix import Scores, are_pairs, codes_of, knows_people
from bioeval.studies.explain.lists import (
    Candidate,
    Lister,
    QueryRow,
    RowCells,
    RowThreshold,
    adding,
    ahead_of_first,
    explain_query,
    matches_of,
    places,
    subjects,
    templates,
)
from bioeval.studies.explain.results import (
    GENUINE,
    IMPOSTOR,
    LEFT_OUT,
    TITLES,
    Count,
    Entry,
    Explanation,
    Steps,
    TaskExplanation,
    amounts,
    in_fractions,
    total,
)
from bioeval.tasks.plan import EvaluationOptions, Plan, resolve_card
from bioeval.tasks.task_counts import TaskCounts
from bioeval.tasks.threshold_choice import chosen_threshold

_RULES = {
    "single": "each comparison is an attempt: genuine if both templates are of the same subject",
    "multi": "the probe claims each subject once; the scores of its templates are fused into one",
}


def explain_verification(
    row: RowCells, i: int, counter: VerificationCounter, threshold: RowThreshold, ties: str
) -> TaskExplanation:
    """Return the explanation of row `i` under verification; `ties` only order the list."""
    multi = counter.templates == "multi"
    if multi:
        unit, candidates = "subject", subjects(row.of(i), counter.fusion)
    else:
        unit, candidates = "template", templates(row.of(i))
    group = {c.decides: c.group for c in candidates}
    claimed, enrolled = _claims(counter, i)
    listed = []
    remarks: tuple[Text, ...] = (
        f"No genuine attempt in this row: no {unit} with a usable genuine comparison.",
    )
    for entry in Lister(row, threshold, unit, counter.fusion).entries(candidates, ties):
        times = claimed.get(group[entry.column], 0) if claimed is not None else 1
        if entry.role != LEFT_OUT and not times:
            entry = replace(entry, role=LEFT_OUT, tied=False, reasons=("not claimed",))
        if entry.role == GENUINE:
            remarks = ()
        listed.append(_counted(entry, times, enrolled))
    rule = _RULES[counter.templates]
    if not knows_people(row.scores):
        rule = "each comparison is an attempt, which is genuine or impostor according to the mask"
    if claimed is not None:
        rule = (
            "only claims are attempts: a claim is compared with each template of the claimed "
            "subject"
        )
        if multi:
            rule = (
                "only claims are attempts: a claim is compared with all templates of the claimed "
                "subject, whose scores are fused into one"
            )
    if multi:
        rule += f" (fusion {counter.fusion})"
    return TaskExplanation(
        task=f"verification/{counter.templates}",
        unit=unit,
        rule=rule,
        entries=tuple(listed),
        remarks=remarks,
    )


def _counted(entry: Entry, times: int, enrolled: bool) -> Entry:
    """Return an entry with the counters that its attempt adds to."""
    if entry.role == LEFT_OUT:
        return entry
    if entry.role == GENUINE:
        accepted, rejected = "ga", "fr"
    else:
        accepted, rejected = "fa", "gr"
    if not enrolled:
        accepted, rejected = "fa_unenrolled", "gr_unenrolled"
    return adding(entry, (Count(accepted, None, times),), (Count(rejected, None, times),))


def _claims(counter: VerificationCounter, i: int) -> tuple[dict[int, int] | None, bool]:
    """Return how often row `i` claims each group (None: each once), and whether it is enrolled.

    Of drawn claims, those of a probe who is not enrolled have counters of their own.
    """
    if counter.claims is None:
        return None, True
    strangers = counter.unenrolled_probes
    unenrolled = [] if strangers is None else _of_row(strangers, i)
    return Counter(_of_row(counter.claims, i) + unenrolled), not unenrolled


def _of_row(claims: tuple[np.ndarray, np.ndarray], i: int) -> list[int]:
    probes, groups = claims
    return groups[probes == i].tolist()


@dataclass(frozen=True)
class BestMate:
    """The best mate of a probe: tied candidates, and its ranks with their weights."""

    candidate: Candidate
    tied: int
    ranks: tuple[tuple[int, float], ...]
    expected: tuple[tuple[int, float], ...]

    @classmethod
    def among(cls, candidates: Sequence[Candidate], ties: str) -> BestMate | None:
        """Return the best mate; None if no mate is usable."""
        mates = matches_of(candidates)
        if not mates:
            return None
        ahead = ahead_of_first(mates)
        ranks = tuple(places(ahead, ties))
        expected = tuple(places(ahead, "expected"))
        return cls(mates[0].candidate, mates[0].tied, ranks, expected)

    def counts(self, name: str) -> tuple[Count, ...]:
        """Return what it adds to a counter at each of its ranks."""
        return tuple(Count(name, rank, weight) for rank, weight in self.ranks)

    def says(self, ties: str) -> Text:
        """Return the effect of ties on the rank; empty without ties."""
        if not self.tied:
            return ""
        shares = []
        for rank, weight in self.expected:
            shares.append(
                say("{share} at rank {rank:count}", share=in_fractions(weight), rank=rank)
            )
        return say(
            "Tie: {tied:count entries} of {others} exactly as close as the nearest mate. Ties are "
            "{ties}{so}; the mean over all orders (expected) is {shares}.",
            tied=self.tied,
            others="another subject is" if self.tied == 1 else "other subjects are",
            ties=ties,
            so=_TIES[ties],
            shares=Enumeration(shares, ""),
        )


_TIES = {
    "pessimistic": ", so it ranks behind",
    "optimistic": ", so it ranks before",
    "stable": ", so the order of the columns decides",
    "expected": "",
}


@dataclass(frozen=True)
class SearchedRow:
    """One row under identification, with its counter and the options of its result."""

    row: RowCells
    i: int
    counter: IdentificationCounter
    options: dict[str, Any]
    threshold: RowThreshold

    @property
    def ties(self) -> str:
        """The rule for ties."""
        return str(self.options["ties"])

    @property
    def unit(self) -> str:
        """Unit of the list: templates or subjects."""
        return self.counter.rank_unit

    def candidates(self) -> list[Candidate]:
        """Return the candidates, usable or not."""
        cells = self.row.of(self.i)
        if self.unit == "subject":
            return subjects(cells, self.counter.fusion)
        return templates(cells)

    def entries(self, candidates: Sequence[Candidate]) -> list[Entry]:
        """Return the list of some candidates."""
        lister = Lister(self.row, self.threshold, self.unit, self.counter.fusion)
        return lister.entries(candidates, self.ties)

    def explained(
        self, role: str, entries: Sequence[Entry], remarks: Sequence[Text], *also: Count
    ) -> TaskExplanation:
        """Return the explanation of the row in a role of open-set identification."""
        return TaskExplanation(
            task="open_set",
            role=role,
            unit=self.unit,
            rule=_OPEN_SET[role],
            entries=tuple(entries),
            also=also,
            remarks=tuple(remarks),
        )

    @property
    def enrolled(self) -> bool:
        """Whether the probe's subject is in the gallery."""
        return bool(self.counter.reader.enrolled[self.i])


def explain_open_set(search: SearchedRow) -> list[TaskExplanation]:
    """Return the explanations of a row in each role that it plays in open-set identification."""
    candidates = search.candidates()
    explanations = []
    best = BestMate.among(candidates, search.ties)
    everyone = search.counter.reader.enrolled
    role = role_of(search.row.scores.layout, search.options["impostors"], bool(everyone.all()))
    impostor = role == "both" or search.enrolled == (role == "leave-subject-out")
    if best is not None:
        explanations.append(_as_genuine(search, candidates, best))
    elif search.enrolled:
        note = "No usable mate is left: no genuine attempt."
        explanations.append(search.explained(GENUINE, search.entries(candidates), [note]))
    if impostor:
        explanations.append(_as_impostor(search, candidates))
    elif not explanations:
        note = f"Its subject is not enrolled, and impostors = {role}: the probe makes no attempt."
        explanations.append(search.explained(IMPOSTOR, search.entries(candidates), [note]))
    return explanations


_OPEN_SET = {
    GENUINE: "the nearest mate decides: its rank among all, and whether it is within the threshold",
    IMPOSTOR: "the nearest entry of another subject decides; the probe's own subject leaves the "
    "gallery",
}


def _as_genuine(
    search: SearchedRow, candidates: Sequence[Candidate], best: BestMate
) -> TaskExplanation:
    """Return the explanation of a probe whose subject is enrolled."""
    miss = 1 - sum(weight for rank, weight in best.ranks if rank == 1)
    accepted = best.counts("di")
    if miss > 0:
        accepted += (Count("fr", None, miss),)
    rank = best.ranks[0][0]
    listed = []
    for entry in search.entries(candidates):
        if entry.column == best.candidate.decides and entry.role == GENUINE:
            at_rank = f", at rank {rank}" if len(best.ranks) == 1 else ""
            late: Text = ""
            if miss == 1:
                late = say(" (not first: always a {false reject})", task="identification")
            reason = say("nearest mate{at_rank}{late}", at_rank=at_rank, late=late)
            entry = adding(entry, accepted, (Count("fr"),), reason)
        elif entry.role == GENUINE:
            entry = adding(entry, (), (), "a nearer mate decides")
        listed.append(_ahead(entry, best))
    ties = best.says(search.ties)
    remarks = [ties] if ties else []
    return search.explained(GENUINE, listed, remarks, Count("genuine_attempts"))


def _ahead(entry: Entry, best: BestMate) -> Entry:
    """Return an entry of another subject, perhaps ahead of the nearest mate."""
    if entry.role != IMPOSTOR or entry.place is None or entry.place >= best.ranks[0][0]:
        return entry
    return adding(entry, (), (), "ahead of the nearest mate")


def _as_impostor(search: SearchedRow, candidates: Sequence[Candidate]) -> TaskExplanation:
    """Return the explanation of a probe whose subject is not in the gallery, or leaves it."""
    gone = "the probe's own subject leaves the gallery"
    placed: list[Entry] = []
    left_out = []
    for entry in search.entries(candidates):
        if entry.role == GENUINE:
            entry = replace(entry, place=None, role=LEFT_OUT, accepted=None, reasons=(gone,))
        entry = replace(entry, tied=False)
        if entry.place is None:
            left_out.append(entry)
            continue
        if placed:
            entry = replace(entry, reasons=entry.reasons or ("a nearer one decides",))
        else:
            decides = "nearest of all other subjects"
            entry = adding(entry, (Count("fa"),), (Count("gr"),), decides)
        placed.append(replace(entry, place=len(placed) + 1))
    if not placed:
        note = "No usable entry of another subject: no impostor attempt."
        return search.explained(IMPOSTOR, left_out, [note])
    return search.explained(IMPOSTOR, [*placed, *left_out], [], Count("impostor_attempts"))


def _unmated(search: SearchedRow) -> Text:
    """Return the outcome of a probe without a usable mate in closed-set identification."""
    unmated, layout = search.options["unmated"], search.row.scores.layout
    if unmated == "skip" or (unmated == "auto" and layout == "all-against-all"):
        left_out = "No usable mate is left: the probe is left out of {cms}, and counted."
        return say(left_out, task="identification")
    return (
        f"No usable mate is left: under unmated = {unmated}, closed-set identification of these "
        "data is an error."
    )


def explain_closed_set(search: SearchedRow) -> TaskExplanation:
    """Return the explanation of a row under closed-set identification."""
    search = replace(search, threshold=replace(search.threshold, distance=None))
    candidates = search.candidates()
    listed = search.entries(candidates)
    best = BestMate.among(candidates, search.ties)
    if best is None:
        note, counted = _unmated(search), "skipped"
    else:
        note, counted = best.says(search.ties), "attempts"
        for k, entry in enumerate(listed):
            if entry.role == GENUINE and entry.column == best.candidate.decides:
                adds = best.counts("cms_count")
                reason = say("nearest mate: {cms} from this rank on", task="identification")
                entry = adding(entry, adds, adds, reason)
            elif entry.role == GENUINE:
                entry = adding(entry, (), (), "a nearer mate decides")
            listed[k] = _ahead(entry, best)
    return TaskExplanation(
        task="closed_set",
        unit=search.unit,
        rule="no threshold: the rank of the nearest mate decides",
        entries=tuple(listed),
        also=(Count(counted),),
        remarks=(note,) if note else (),
    )


class RowExplainer:
    """Explains the rows of some scores under a protocol."""

    def __init__(
        self, scores: Scores, protocol: str | Protocol, threshold: Any, *, claim: Any = None
    ):
        """Choose the threshold; refuse what has no rows, or rates that are no sums over rows."""
        BlockReader(scores)  # which says what is not Scores
        if are_pairs(scores):
            raise ProtocolError(
                "a list of pairs has no rows to explain: each pair is one attempt, accepted or not"
            )
        self.card = resolve_card(scores, protocol)
        _require_explainable(self.card)
        self.ordered = scores.kind == "order"
        if self.ordered and threshold is not None:
            raise ProtocolError(
                Argument("threshold"),
                " is given, but these scores are only the order within each row; leave it out to "
                "see what each comparison adds if it is accepted, and what if not",
            )
        self.original = scores
        if self.ordered:  # within one row, an order is a distance
            scores = scores.replace(kind="distance")
        self.plan = Plan(scores, self.card, EvaluationOptions(), automatic=protocol == "auto")
        self.scores = self.plan.scores
        self.cells = RowCells(self.plan.reader, scores, self.card)
        self.names = template_names(self.scores.probe_meta, self.scores.shape[0])
        self.claim = claim
        if claim is not None:
            self._require_verification()
        self.threshold, self.chosen = self._threshold(threshold)

    def row_of(self, probe: int | str) -> int:
        """Return the position of a probe, given by position or by name."""
        m = self.scores.shape[0]
        if not isinstance(probe, str):
            i = require_integer("probe", probe, low=0)
        elif probe in self.names:
            if self.names.count(probe) > 1:
                raise DataError(
                    Argument("probe"),
                    f" is {received(probe)}, the name of {self.names.count(probe)} templates; "
                    "give a position",
                )
            return self.names.index(probe)
        elif probe.isdecimal() and len(probe) < 19:
            i = int(probe)
        else:
            raise DataError(
                Argument("probe"),
                f" is {received(probe)}; expected a position from 0 to {m - 1}, or the name of a "
                f"template.{nearest_name(probe, self.names[:10000])}",
            )
        if i >= m:
            raise DataError(
                Argument("probe"),
                f" is {i}; expected a position from 0 to {m - 1}: there are {m} probes",
            )
        return i

    def row(self, i: int) -> Explanation:
        """Return the explanation of row `i`."""
        scores, threshold = self.scores, RowThreshold(self.threshold, self.scores.kind)
        tasks = []
        remarks = list[Text]()
        for node, (counter, options) in self.plan.tasks.items():
            if isinstance(counter, VerificationCounter):
                if self.claim is not None:  # the one claim of the row
                    counter = VerificationCounter(
                        self.plan.reader,
                        templates=counter.templates,
                        fusion=counter.fusion,
                        claims=(np.array([i]), [self.claim]),
                    )
                tasks.append(explain_verification(self.cells, i, counter, threshold, self._ties()))
            elif not isinstance(counter, IdentificationCounter):
                remarks.append(
                    f"{TITLES[node]} is not explained: its counts are means over galleries of one "
                    "template per subject"
                )
            elif self.claim is None:
                search = SearchedRow(self.cells, i, counter, options, threshold)
                if node == "open_set":
                    tasks += explain_open_set(search)
                else:
                    tasks.append(explain_closed_set(search))
        searches = self.plan.searches
        if self.claim is None and "reid" in searches:
            retrieval = searches["reid"].study_pass
            query = RowCells(BlockReader(retrieval.scores), self.original, self.card)
            tasks += explain_query(QueryRow(query, i, retrieval.lists))
        if "gom" in searches:
            remarks.append("GOM is not explained row by row; be.gom(per_query=True) has its values")
        named = self.names[i] if self.names[i] != str(i) else ""
        return Explanation(
            probe=i,
            name=named,
            subject=str(scores.probe_labels[i]) if knows_people(scores) else "",
            probes=scores.shape[0],
            layout=scores.layout,
            kind=self.original.kind,
            protocol=self.card.name,
            system=self.original.name or "",
            threshold=None if self.threshold is None else to_user(self.threshold, scores.kind),
            threshold_source=self.chosen,
            tasks=tuple(tasks),
            remarks=tuple(remarks),
        )

    def _ties(self) -> str:
        """Return the order of tied entries, as in identification; it changes no count."""
        for task in self.plan.tasks.values():
            if ties := task.options.get("ties"):
                return str(ties)
        return "pessimistic"

    def _verification(self) -> VerificationCounter | None:
        """Return the first verification of the protocol; None without one."""
        for task in self.plan.tasks.values():
            if isinstance(task.counter, VerificationCounter):
                return task.counter
        return None

    def _require_verification(self) -> None:
        """Take the claimed subject as the scores have it, or refuse scores without claims."""
        if self._verification() is None:
            raise ProtocolError(
                Argument("claim"), f" needs verification, and protocol {self.card.name} has none"
            )
        known = {str(label): label for label in codes_of(self.scores).values.tolist()}
        if knows_people(self.scores) and isinstance(self.claim, str):
            self.claim = known.get(self.claim, self.claim)

    def _threshold(self, threshold: Any) -> tuple[float | None, Text]:
        """Return the threshold as a distance (None without one), and its source."""
        if self.ordered:
            return None, "none: the scores are only the order within each row"
        rule = Rule.parse("eer" if threshold is None else threshold)
        if rule.name == "fixed":
            return rule.as_distance(self.scores.kind).values[0], "as given"
        counter = self._verification()
        if counter is not None:
            try:
                distance = chosen_threshold(
                    self.plan.reader, rule, templates=counter.templates, fusion=counter.fusion
                )
            except ProtocolError:
                if threshold is not None:
                    raise
                return None, "none: there are no genuine, or no impostor attempts to choose it on"
            return distance, say(
                "where {templates}-template verification has {rule}, on these data",
                templates=str(counter.templates),
                rule=rule_in_words(rule),
            )
        search = self.plan.tasks.get("open_set")
        if search is not None and isinstance(search.counter, IdentificationCounter):
            return self._of_open_set(search.counter, search.options, rule.name)
        if threshold is not None:
            raise ProtocolError(
                f"protocol {self.card.name} has no task with a threshold; leave out ",
                Argument("threshold"),
            )
        return None, ""

    def _of_open_set(
        self, counter: IdentificationCounter, options: dict[str, Any], rule: str
    ) -> tuple[float | None, Text]:
        """Return the EER threshold of open-set identification, as a distance."""
        if rule != "eer":
            raise ProtocolError(
                f"protocol {self.card.name} has no verification for a rule to choose on; give ",
                Argument("threshold"),
                " as a number, or eer",
            )
        (tally,) = count_together(self.plan.reader, [counter])
        scalars = TaskCounts(tally, options).scalars("open_set").variables
        if math.isnan(float(scalars["eer"][1])):
            return None, "none: there are no genuine, or no impostor attempts to choose it on"
        value = float(scalars["eer_threshold"][1])
        sign = -1 if larger_is_closer(self.scores.kind) else 1
        return sign * value, "where open-set identification has the equal error rate, on these data"


def _require_explainable(card: Protocol) -> None:
    """Raise :class:`ProtocolError` where the rates of a card are not sums over rows."""
    if card.has_folds:
        raise ProtocolError(
            f"protocol {card.name} has folds with different thresholds and templates; explain the "
            f"row under {for_layout(card.layout).name}, with ",
            Argument("threshold"),
            " as a number",
        )


#: Step by step, more rows or comparisons are refused, being too long to read.
MOST_ROWS, MOST_CELLS = 100, 10_000


def explain(
    scores: Scores,
    probe: int | str,
    *,
    threshold: Any = None,
    protocol: str | Protocol = "auto",
    claim: Any = None,
) -> Explanation:
    """Explain one row: which counter each comparison adds to, and why others are left out.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout.
    probe : int or str
        The row: its position, from 0, or the name of its template, of a metadata column
        ``template``, ``name``, ``image`` or ``file``. A text is read as a name first.
    threshold : float, or a rule, optional
        In the units of the scores. A rule (``"eer"``, ``"far=0.01"`` ...) chooses it on all
        these data. None is ``"eer"`` where the data have one; otherwise, and of the mere order
        within rows, each entry says what it adds if it is accepted, and what if it is rejected.
    protocol : str or Protocol
        As for :func:`evaluate`; every task of the card is explained.
    claim : optional
        A subject: the probe claims it alone, as on the slides of the lecture. Without one, the
        claims are those of the protocol.

    Returns
    -------
    Explanation
        ``print`` shows it as text. `tasks` are one
        :class:`~bioeval.studies.explain.results.TaskExplanation` for each task and role, with
        `entries` in order and `counts`, the sum of what the row adds to each counter;
        ``.document()`` is all of it as plain values.

    Raises
    ------
    DataError
        No such probe, threshold or claim; NaN under ``nan="raise"``.
    ProtocolError
        Lists of pairs, top-K lists, and protocols whose rates are not of single rows: folds,
        several galleries.

    Notes
    -----
    The rows sum to the counts of :func:`evaluate`: see :func:`step_by_step`. Definitions:
    ``docs/definitions.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 2], [6, 3, 2, 0]]
    >>> result = be.explain(be.Scores(d, ["ann", "ann", "bob", "bob"]), 1, threshold=3)
    >>> for entry in result.tasks[0].entries:
    ...     print(entry.place, entry.template, entry.subject, entry.score, entry.role,
    ...           *(count.name for count in entry.counts))
    1 0 ann 1 genuine ga
    2 3 bob 3 impostor fa
    3 2 bob 5 impostor gr
    None 1 ann None left out
    """
    scores, probe = _bona_fide(scores, probe)
    explainer = RowExplainer(scores, protocol, threshold, claim=claim)
    return explainer.row(explainer.row_of(probe))


def _bona_fide(scores: Scores, probe: Any = None) -> tuple[Scores, Any]:
    """Return scores without attack presentations, named by their places, and the probe's place."""
    kept = without_attacks(scores) if isinstance(scores, Scores) else scores
    if kept is scores or are_pairs(scores):
        return kept, probe
    attacks = []
    kept_meta = []
    sides = (kept.probe_meta, scores.probe_meta), (kept.gallery_meta, scores.gallery_meta)
    for (columns, meta), number in zip(sides, scores.shape, strict=True):
        columns = dict(columns)
        of_side = np.zeros(number, dtype=bool)
        if "attack" in meta:
            of_side = species_of(meta["attack"]) != ""
        if set(NAME_COLUMNS).isdisjoint(meta):
            columns["template"] = np.flatnonzero(~of_side).astype(str).astype(object)
        attacks.append(of_side)
        kept_meta.append(columns)
    kept = kept._with(_probe_meta=kept_meta[0], _gallery_meta=kept_meta[1])
    names = template_names(kept.probe_meta, kept.shape[0])
    if isinstance(probe, str) and probe.isdecimal() and len(probe) < 19 and probe not in names:
        probe = int(probe)
    if isinstance(probe, int | np.integer) and 0 <= probe < len(attacks[0]):
        if attacks[0][probe]:
            raise DataError(
                Argument("probe"),
                f" is {probe}, an attack presentation (column 'attack'); be.vulnerability "
                "(bioeval vulnerability) counts it",
            )
        probe = int((~attacks[0][:probe]).sum())
    return kept, probe


def step_by_step(
    scores: Scores, *, threshold: Any = None, protocol: str | Protocol = "auto"
) -> Steps:
    """Explain every row of a small matrix, with the running totals of each counter.

    Parameters
    ----------
    scores, threshold, protocol
        As for :func:`explain`; at most 100 rows and 10,000 comparisons.

    Returns
    -------
    Steps
        ``print`` shows it as text; `walks` are the rows, `totals` the sums after each of them, and
        `rates` those of :func:`evaluate` at the threshold.

    Raises
    ------
    DataError
        A matrix that is too large; otherwise as for :func:`explain`.
    ProtocolError
        As for :func:`explain`.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 2], [6, 3, 2, 0]]
    >>> steps = be.step_by_step(be.Scores(d, ["ann", "ann", "bob", "bob"]), threshold=3)
    >>> steps.rates["verification/single"]["far"], steps.rates["open_set"]["far"]
    (0.25, 0.5)
    """
    explainer = RowExplainer(_bona_fide(scores)[0], protocol, threshold)
    m, n = explainer.scores.shape
    if m > MOST_ROWS or m * n > MOST_CELLS:
        raise DataError(
            f"step by step, {m:,} x {n:,} comparisons are too many to read; expected at most "
            f"{MOST_ROWS} rows and {MOST_CELLS:,} comparisons. Take some by scores.select(...), or "
            "explain one probe"
        )
    walks = tuple(map(explainer.row, range(m)))
    unclear = set()
    for explained in walks:
        for task in explained.tasks:
            if task.conditional:
                unclear.add(task.task)
    sums: dict[str, dict[Count, float]] = {}
    totals = []
    for explained in walks:
        for task in explained.tasks:
            if task.task not in unclear:
                known = amounts(sums.get(task.task, {}))
                sums[task.task] = total(known + amounts(task.counts))
        totals.append(dict(sums))
    return Steps(walks=walks, totals=tuple(totals), scores=explainer.original)
