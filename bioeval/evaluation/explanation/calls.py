"""The public calls: one row explained, and a small matrix step by step."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import Argument, DataError
from bioeval.evaluation.explanation.entries import template_names
from bioeval.evaluation.explanation.rows import RowExplainer
from bioeval.protocol.card import Protocol
from bioeval.results.explanation import Count, RowExplanation, StepByStep, total
from bioeval.scores.attacks import filled, without_attacks
from bioeval.scores.formats.label_files import NAME_COLUMNS
from bioeval.scores.labels import ATTACK
from bioeval.scores.matrix import Scores, are_pairs

if TYPE_CHECKING:
    from bioeval.views.plots.score_plots import RowWalkDisplay

#: Step by step, more rows or comparisons are refused, being too long to read.
MOST_ROWS, MOST_CELLS = 100, 10_000


@dataclass(frozen=True, kw_only=True, repr=False)
class Explanation(RowExplanation):
    """Result of :func:`explain`: a :class:`RowExplanation` that can be printed and drawn."""

    def __str__(self) -> str:
        from bioeval.views.tables import plain
        from bioeval.views.tables.explanation import ExplanationTable

        return plain(ExplanationTable(self), 100)

    def __repr__(self) -> str:
        return f"<Explanation of {self.title}, protocol {self.protocol}; print shows it>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def plot(self, ax: Any = None, **options: Any) -> RowWalkDisplay:
        """Draw the row; see :func:`bioeval.plot.row_walk`."""
        from bioeval.views.plots.score_plots import row_walk

        return row_walk(self, ax, **options)


@dataclass(frozen=True, kw_only=True, repr=False)
class Steps(StepByStep):
    """Result of :func:`step_by_step`: a :class:`StepByStep` that prints as text."""

    def __str__(self) -> str:
        from bioeval.views.tables import plain
        from bioeval.views.tables.explanation import StepsTable

        return plain(StepsTable(self), 100)

    def __repr__(self) -> str:
        return f"<Steps of {len(self.walks)} probes; print shows them>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


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
        In the units of the scores. A rule (``"eer"``, ``("far", 0.01)`` ...) chooses it on all
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
        ``print`` shows it as text, ``.plot()`` as a picture. `tasks` are one
        :class:`~bioeval.results.explanation.TaskExplanation` for each task and role, with `entries`
        in order and `counts`, the sum of what the row adds to each counter; ``.document()`` is all
        of it as plain values.

    Raises
    ------
    DataError
        No such probe, threshold or claim; NaN under ``nan="raise"``.
    ProtocolError
        Lists of pairs, top-K lists, and protocols whose rates are not of single rows: folds,
        several galleries, transactions.

    Notes
    -----
    The rows sum to the counts of :func:`evaluate`: see :func:`step_by_step`. Definitions:
    ``docs/definitions.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 2], [6, 3, 2, 0]]
    >>> found = be.explain(be.Scores(d, ["ann", "ann", "bob", "bob"]), 1, threshold=3)
    >>> for entry in found.tasks[0].entries:
    ...     print(entry.place, entry.template, entry.subject, entry.score, entry.role,
    ...           *(count.name for count in entry.counts))
    1 0 ann 1 genuine ga
    2 3 bob 3 impostor fa
    3 2 bob 5 impostor gr
    None 1 ann None left out
    """
    scores, probe = _bona_fide(scores, probe)
    explainer = RowExplainer(scores, protocol, threshold, claim=claim)
    return Explanation(**explainer.row(explainer.row_of(probe)))


def _bona_fide(scores: Scores, probe: Any = None) -> tuple[Scores, Any]:
    """Return scores without attack presentations, named by their places, and the probe's place."""
    kept = without_attacks(scores) if isinstance(scores, Scores) else scores
    if kept is scores or are_pairs(scores):
        return kept, probe
    sides = (kept.probe_meta, scores.probe_meta), (kept.gallery_meta, scores.gallery_meta)
    attacks = [filled(meta, ATTACK, n) for (_, meta), n in zip(sides, scores.shape, strict=True)]
    for (own, meta), rows in zip(sides, attacks, strict=True):
        if {"template", *NAME_COLUMNS}.isdisjoint(meta):
            own["template"] = np.flatnonzero(~rows).astype(str).astype(object)
    names = template_names(kept.probe_meta, kept.shape[0])
    if isinstance(probe, str) and probe.isdecimal() and len(probe) < 19 and probe not in names:
        probe = int(probe)
    if isinstance(probe, int | np.integer) and 0 <= probe < len(attacks[0]):
        if attacks[0][probe]:
            raise DataError(
                f"{Argument('probe')} is {probe}, an attack presentation (column {ATTACK!r}); "
                "be.vulnerability (bioeval vulnerability) counts it"
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
    walks = tuple(Explanation(**explainer.row(i)) for i in range(m))
    unclear = {task.task for explained in walks for task in explained.tasks if task.conditional}
    sums: dict[str, dict[Count, float]] = {}
    totals = []
    for explained in walks:
        for task in explained.tasks:
            if task.task in unclear:
                continue
            known = [k._replace(amount=v) for k, v in sums.get(task.task, {}).items()]
            added = [k._replace(amount=v) for k, v in task.counts.items()]
            sums[task.task] = total(known + added)
        totals.append({task: dict(counts) for task, counts in sums.items()})
    return Steps(walks=walks, totals=tuple(totals))
