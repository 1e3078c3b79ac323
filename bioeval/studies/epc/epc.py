"""Expected performance: thresholds chosen on a training set, errors on a test set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_increasing_proportions
from bioeval.base.progress import rows_reported
from bioeval.counting.sorted_attempts import PointsWanted, points_of
from bioeval.counting.thresholds import require_two_sets, to_user
from bioeval.counting.verification import verify
from bioeval.document.blocks import Block, Column, Fact, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Label
from bioeval.document.results import attempts_of, cell_of, data_facts, result_messages, table_of
from bioeval.document.text import Term, Text, say
from bioeval.results.dataset import about_attrs, along, dataset
from bioeval.results.support import beyond_scores, without_attempts
from bioeval.results.variables import VERIFICATION, Variable, entries
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, require_all_scores
from bioeval.scores.people import LearntFrom
from bioeval.scores.provenance import Provenance
from bioeval.stats.people import ratio
from bioeval.views.messages import warns_of_doubts

EPC: dict[str, Variable] = {
    "alpha": Variable("weight of FAR; 1 - alpha is that of FRR", "1"),
    "threshold": Variable(
        "strictest threshold that minimises alpha FAR + (1 - alpha) FRR on the training set",
        "score",
        shown="threshold",
    ),
    "hter": Variable("half total error rate on the test set: (FAR + FRR) / 2", "proportion"),
    **entries(VERIFICATION, "far", "frr", "fa", "fr", "genuine_attempts", "impostor_attempts"),
    "least_error": Variable(
        "smallest alpha FAR + (1 - alpha) FRR on the training set", "proportion"
    ),
}

#: Default weights of FAR: 0, 0.01 ... 1.
ALPHAS = tuple(k / 100 for k in range(101))


@warns_of_doubts
@leaves_out_attacks
def epc(train: Scores, test: Scores, *, alphas: Sequence[float] = ALPHAS) -> xr.Dataset:
    """Evaluate expected performance: errors on a test set at thresholds of a training set.

    Parameters
    ----------
    train, test : Scores
        Training and test set of one system: the same kind of scores, a matrix or a list of pairs
        each; of other subjects, unless the threshold is to be used for these very subjects. A
        second system has two sets of its own.
    alphas : increasing sequence of float
        Weights of FAR, from 0 to 1. For each, the threshold minimises ``alpha FAR + (1 - alpha)
        FRR`` on the training set, the strictest in a tie.

    Returns
    -------
    xarray.Dataset
        Over ``alpha``: ``threshold``, and at it ``hter far frr fa fr`` on the test set, with
        ``least_error``, the weighted error on the training set. Over ``part``, ``"train"`` and
        ``"test"``: ``genuine_attempts impostor_attempts``.

    Raises
    ------
    DataError
        If the kinds of scores differ, alphas do not increase, or an option is wrong.
    ProtocolError
        If scores hold only an order.

    Notes
    -----
    Thresholds are the scores of the training set themselves and the one that rejects all
    (``-inf``; ``inf`` for similarities; NaN where a score has that very value). Ties are decided on
    exact fractions, `alphas` by their decimal values. Bengio and Mariethoz 2004, "The expected
    performance curve: a new assessment measure for person authentication", Odyssey.
    ``docs/groups.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> train, test = be.simulate(40, 4, random_state=1), be.simulate(40, 4, random_state=2)
    >>> be.epc(train, test, alphas=[0.1, 0.5, 0.9]).hter.values.round(3)
    array([0.04 , 0.036, 0.054])
    """
    chosen = require_increasing_proportions("alphas", alphas)
    require_all_scores(train)
    require_all_scores(test)
    require_two_sets(train, test, "an EPC")
    half = Fraction(1, 2)  # twice the cost of which is the weighted error
    costs = np.array([[half, 1 - alpha, alpha] for alpha in chosen], dtype=object)
    wanted = PointsWanted(np.empty(0), costs, every_score=True)
    with rows_reported():
        made = verify(train, wanted=wanted)
    points = points_of(made.attempts, wanted, symmetric=False, with_rows=False)
    at = points.values["min_cost_threshold"]
    known = np.unique(to_user(at[~np.isnan(at)], train.kind))
    with rows_reported():
        judged = verify(test, given=known if len(known) else None).attempts
    after = np.minimum(made.attempts.next_scores(at), judged.next_scores(at))
    attempts = {
        f"{role}_attempts": [getattr(x, f"{role}_attempts") for x in (made.attempts, judged)]
        for role in ("genuine", "impostor")
    }
    fa = np.zeros(len(at), dtype=np.int64)
    fr = np.full(len(at), judged.genuine_attempts, dtype=np.int64)
    some = ~np.isnan(at)  # NaN rejects all
    if some.any():
        fa[some], fr[some] = judged.false_accepts(at[some]), judged.false_rejects(at[some])
    defined = made.attempts.defined
    far = ratio(fa, np.array(judged.impostor_attempts * defined))
    frr = ratio(fr, np.array(judged.genuine_attempts * defined))
    variables = {
        **along(
            ("alpha",),
            threshold=to_user(at, train.kind),
            threshold_next=to_user(after, train.kind),
            hter=(far + frr) / 2,
            far=far,
            frr=frr,
            fa=fa,
            fr=fr,
            least_error=2 * points.values["min_cost"],
        ),
        **along(("part",), **attempts),
    }
    remarks = [note.concerning("training set") for note in Provenance.of(train).notes]
    remarks += LearntFrom.of(train).people_in(test)
    remarks += [
        without_attempts(role).concerning(f"{name} set")
        for part, name in ((1, "test"), (0, "training"))
        for role in ("genuine", "impostor")
        if not attempts[f"{role}_attempts"][part]
    ]
    chosen_at = to_user(at[some], train.kind).tolist()
    beyond = [beyond_scores(*x) for x in zip(chosen_at, far[some], frr[some], strict=True)]
    if beyond and all(beyond):  # for some alphas, the threshold may be at either end
        remarks += beyond[len(beyond) // 2]
    attrs = about_attrs(Provenance.of(test), "epc", "expected performance", remarks)
    attrs |= {"chosen_on": "the training set", "train_fingerprint": train.fingerprint}
    coordinates = {"alpha": np.array(chosen, dtype=float), "part": np.array(["train", "test"])}
    return dataset(variables, EPC, coordinates, attrs)


# Points that are shown of a longer curve.
_SHOWN = 11

_RATES: dict[str, Text] = {"hter": "HTER", "far": Term("far"), "frr": Term("frr")}

_COLUMNS = (
    Column("alpha", "alpha"),
    Column("threshold", "threshold"),
    *(Column(name, heading) for name, heading in _RATES.items()),
    Column("fa", only="data"),
    Column("fr", only="data"),
    Column("least_error", only="data"),
)


def epc_section(results: ResultsBySystem) -> Section:
    """Return the errors of a system at some weights, or those of several side by side."""
    several, facts = len(results) > 1, []
    (first, *_) = results.values()
    if not several:
        for part, name in (("train", "Training set"), ("test", "Test set")):
            facts.append(Fact(name, attempts_of(first.sel(part=part))))
    minimised = say(
        "Thresholds minimise alpha {far} + (1 - alpha) {frr} on {sets}; errors are of the test "
        "set.",
        sets="the training set of each system" if several else "the training set",
    )
    places = np.linspace(0, first.sizes["alpha"] - 1, min(first.sizes["alpha"], _SHOWN))
    shown: list[int] = np.unique(places.round().astype(int)).tolist()
    curve = table_of(results if several else first, "curve", _COLUMNS, "alpha", shown=shown)
    blocks: list[Block] = [data_facts(results, *facts), Paragraph(minimised, "note")]
    blocks.append(replace(curve, shown=0) if several else curve)
    if several:
        blocks += [_compared(results, name, shown) for name in _RATES]
    blocks.append(result_messages(results))
    return Section("expected-performance", "Expected performance", blocks, task="verification")


def _compared(results: ResultsBySystem, rate: str, shown: list[int]) -> Table:
    """Return one rate of several systems side by side, at some weights."""
    (first, *_) = results.values()
    columns = [Column("alpha", "alpha", only="readers")]
    columns += [Column(system, Label(system), only="readers") for system in results]
    rows = []
    for i in shown:
        cells = [cell_of(ds, rate, {"alpha": i}) for ds in results.values()]
        rows.append([cell_of(first, "alpha", {"alpha": i}), *cells])
    title = say("{rate} on the test set", rate=_RATES[rate])
    return Table(f"compared_{rate}", columns, rows, title=title)
