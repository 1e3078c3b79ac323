"""Expected performance: thresholds chosen on a development set, errors on a test set.

Of expected performance and spoofability, attacks are weighed among the negatives.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import xarray as xr

from bioeval import DataError, Scores
from bioeval.base import (
    Argument,
    Name,
    names_of,
    require_choice,
    require_increasing_proportions,
    require_number,
    rows_reported_to,
)
from bioeval.document import Message
from bioeval.results import about_attrs, along, build, doubt_of_kind, rate
from bioeval.scores import (
    BlockReader,
    FusionRule,
    Progress,
    Provenance,
    leaves_out_attacks,
    people_of_both_sets,
    require_scores,
    threads_for,
)
from bioeval.studies.attacks.attack_points import CountedBonaFide, count_bona_fide
from bioeval.studies.attacks.counts import AttackAttempts, attack_attempts
from bioeval.studies.attacks.scores import parted
from bioeval.tallies import (
    Attempts,
    Claim,
    PointFinder,
    PointsWanted,
    Templates,
    VerificationCounter,
    VerificationTally,
    count_together,
    count_with_points,
    require_values,
    to_user,
)
from bioeval.views import warn_of_kind

EPC: dict[str, Name] = {
    "alpha": Name("weight of FAR; 1 - alpha is that of FRR"),
    "threshold": Name(
        "strictest threshold that minimises alpha FAR + (1 - alpha) FRR on the development set",
        "score",
    ),
    "hter": Name("half total error rate on the test set: (FAR + FRR) / 2"),
    **names_of("verification", "far", "frr", "fa", "fr", "genuine_attempts", "impostor_attempts"),
    "dev_error": Name("smallest alpha FAR + (1 - alpha) FRR on the development set"),
    "dev_genuine_attempts": Name("genuine attempts of the development set", "attempts"),
    "dev_impostor_attempts": Name("impostor attempts of the development set", "attempts"),
}

# HTER on the test set at which a threshold of the development set decides nothing.
_USELESS = 0.45

#: Default weights of FAR: 0, 0.01 ... 1.
ALPHAS = tuple(k / 100 for k in range(101))


@leaves_out_attacks
def epc(
    dev: Scores,
    test: Scores,
    *,
    alphas: Sequence[float] = ALPHAS,
    templates: Templates = "single",
    fusion: FusionRule = "min",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate expected performance: errors on a test set at thresholds of a development set.

    Parameters
    ----------
    dev, test : Scores
        Development and test set of one system: the same kind of scores, a matrix or a list of pairs
        each; of other subjects, unless the threshold is to be used for these very subjects. A
        second system has two sets of its own.
    alphas : increasing sequence of float
        Weights of FAR, from 0 to 1. For each, the threshold minimises ``alpha FAR + (1 - alpha)
        FRR`` on the development set, the strictest in a tie.
    templates, fusion
        As for :func:`bioeval.verification`.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``, for one set after the other.

    Returns
    -------
    xarray.Dataset
        Over ``alpha``: ``threshold``, and at it ``hter far frr fa fr`` on the test set, with
        ``dev_error``, the weighted error on the development set. Scalars ``genuine_attempts
        impostor_attempts`` and, of the development set, ``dev_genuine_attempts
        dev_impostor_attempts``.

    Raises
    ------
    DataError
        If the kinds of scores differ, alphas do not increase, or an option is wrong.
    ProtocolError
        If scores hold only an order, or a list of pairs is to be multi-template.

    Notes
    -----
    Thresholds are the scores of the development set themselves and the one that rejects all
    (``-inf``; ``inf`` for similarities; NaN where a score has that very value). Ties are decided on
    exact fractions, `alphas` by their decimal values. Bengio and Mariethoz 2004, "The expected
    performance curve: a new assessment measure for person authentication", Odyssey.
    ``docs/groups.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> dev, test = be.simulate(40, 4, random_state=1), be.simulate(40, 4, random_state=2)
    >>> be.epc(dev, test, alphas=[0.1, 0.5, 0.9]).hter.values.round(3)
    array([0.04 , 0.036, 0.054])
    """
    chosen = require_increasing_proportions("alphas", alphas)
    claim = Claim(templates, fusion)
    dev_reader, test_reader = BlockReader(dev), BlockReader(test)
    for scores in (dev, test):
        require_values(scores, "an EPC")
    require_one_kind(dev, test)
    options = asdict(claim)
    half = Fraction(1, 2)  # twice the cost of which is the weighted error
    costs = np.array([[half, 1 - alpha, alpha] for alpha in chosen], dtype=object)
    counter = VerificationCounter(dev_reader, **options)
    wanted = PointsWanted(np.empty(0), costs, every_score=True)
    with rows_reported_to(progress):
        (made,), second_passes = count_with_points(dev_reader, [counter], wanted)
    with threads_for(dev):
        points = PointFinder.points_of(
            made,
            [counter],
            wanted,
            symmetric=False,
            second_pass=second_passes.get(counter),
        )
    at = points.min_cost_threshold
    known = np.unique(to_user(at[~np.isnan(at)], dev.kind))
    judge = VerificationCounter(test_reader, thresholds=known if len(known) else None, **options)
    with rows_reported_to(progress):
        (judged,) = count_together(test_reader, [judge])
    attempts = attempts_of(judged)
    attempts |= {f"dev_{name}": n for name, n in attempts_of(made).items()}
    fa, fr = errors_at(judged, at)
    defined = attempts["dev_genuine_attempts"] > 0 and attempts["dev_impostor_attempts"] > 0
    far = frr = np.full(len(at), np.nan)
    if defined and attempts["impostor_attempts"]:
        far = fa / attempts["impostor_attempts"]
    if defined and attempts["genuine_attempts"]:
        frr = fr / attempts["genuine_attempts"]
    alpha = np.array(chosen, dtype=np.float64)
    variables = {
        **along(
            ("alpha",),
            threshold=to_user(at, dev.kind),
            hter=(far + frr) / 2,
            far=far,
            frr=frr,
            fa=fa,
            fr=fr,
            dev_error=2 * points.min_cost,
        ),
        **attempts,
    }
    remarks = of_development(dev_reader.about)
    remarks += people_of_both_sets(dev, test, "test")
    remarks += without_attempts(attempts)
    doubt = doubt_of_kind(made, points.equal_error.eer)
    warn_of_kind(doubt)
    if doubt is not None:
        remarks.append(doubt.concerning("development set"))
    remarks += _of_one_system(alpha, points.min_cost, far, frr)
    attrs = about_attrs(
        test_reader.about, "epc", f"expected performance, {templates}-template", remarks
    )
    attrs |= claim.attrs | {"chosen_on": "the development set", "dev_fingerprint": dev.fingerprint}
    return build(variables, EPC, {"alpha": alpha}, attrs)


def _of_one_system(
    alphas: np.ndarray, dev_cost: np.ndarray, far: np.ndarray, frr: np.ndarray
) -> list[Message]:
    """Warn that the sets may be of different systems if the threshold has no effect."""
    i = int(np.argmin(np.abs(alphas - 0.5)))
    hter = (far[i] + frr[i]) / 2
    if not (hter >= _USELESS and 2 * dev_cost[i] <= hter / 2):
        return []
    return [
        Message(
            "sets-of-different-systems",
            alpha=float(alphas[i]),
            test_far=float(far[i]),
            test_frr=float(frr[i]),
            dev_error=float(2 * dev_cost[i]),
        )
    ]


def of_development(about: Provenance) -> list[Message]:
    """Return the notes on the development set, as those of that set."""
    of_set = list[Message]()
    for note in about.notes:
        if isinstance(note, Message):
            of_set.append(note.concerning("development set"))
        else:
            of_set.append(f"development set: {note}")
    return of_set


def without_attempts(attempts: Mapping[str, Any]) -> list[Message]:
    """Warn of classes without attempts, by the names of their numbers."""
    remarks = []
    for name, number in attempts.items():
        if number:
            continue
        part = "development" if name.startswith("dev") else "test"
        attempt = name.removeprefix("dev_").removesuffix("_attempts")
        remarks.append(Message("set-without-attempts", set=part, attempts=attempt))
    return remarks


def require_one_kind(dev: Scores, test: Scores) -> None:
    """Raise :class:`DataError` unless a threshold of one set means something to the other."""
    if dev.kind != test.kind:
        raise DataError(
            Argument("dev"),
            f" holds {dev.kind} scores and ",
            Argument("test"),
            f" {test.kind} scores; a threshold of one means nothing to the other",
        )


def attempts_of(tally: VerificationTally) -> dict[str, int]:
    """Return the numbers of genuine and of impostor attempts."""
    return {"genuine_attempts": len(tally.genuine), "impostor_attempts": tally.impostor.total}


def errors_at(tally: VerificationTally, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return false accepts and false rejects at thresholds (distances); NaN rejects all."""
    number = attempts_of(tally)
    fa = np.zeros(len(at), dtype=np.int64)
    fr = np.full(len(at), number["genuine_attempts"], dtype=np.int64)
    known = ~np.isnan(at)
    if known.any():
        assert tally.given is not None
        fa[known] = tally.given.at_most(at[known])
        fr[known] -= np.searchsorted(tally.genuine, at[known], side="right")
    return fa, fr


Criterion = Literal["eer", "wer"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)

# How much worse a threshold may seem, for rounding.
SLACK = 1e-9

_WEIGHED = "(1 - omega) FAR + omega IAPAR"
EPSC: dict[str, Name] = {
    "omega": Name("weight of attacks among the negatives; 1 - omega is that of impostors"),
    "threshold": Name(
        "strictest threshold that meets the criterion best on the development set", "score"
    ),
    "far_w": Name(f"weighted false accept rate on the test set: {_WEIGHED}"),
    "wer": Name("weighted error rate on the test set: beta far_w + (1 - beta) frr"),
    "hter_w": Name("weighted half total error rate on the test set: (far_w + frr) / 2"),
    **names_of("verification", "far", "frr", "fa", "fr"),
    "iapar_pooled": Name("proportion of all attack attempts accepted, whatever their species"),
    "ia": Name("attack attempts accepted", "attempts"),
    **names_of("verification", "genuine_attempts", "impostor_attempts"),
    "attack_attempts": Name("attack attempts", "attempts"),
    "dev_far_w": Name(f"weighted false accept rate on the development set: {_WEIGHED}"),
    "dev_frr": Name("false reject rate on the development set"),
    "dev_genuine_attempts": EPC["dev_genuine_attempts"],
    "dev_impostor_attempts": EPC["dev_impostor_attempts"],
    "dev_attack_attempts": Name("attack attempts of the development set", "attempts"),
}


def epsc(
    dev: Scores,
    test: Scores,
    *,
    omegas: Sequence[float] | None = None,
    beta: float = 0.5,
    criterion: Criterion = "eer",
    templates: Templates = "single",
    fusion: FusionRule = "min",
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate expected performance and spoofability: errors at thresholds that weigh attacks.

    Parameters
    ----------
    dev, test : Scores
        Development and test set of one system, each with attack presentations, as for
        :func:`bioeval.vulnerability`: rows with a filled metadata column ``attack``, or a list of
        pairs with class words.
    omegas : increasing sequence of float, optional
        Weights of attacks among the negatives, from 0 to 1. None: 0, 0.01 ... 1. With ``far_w =
        (1 - omega) FAR + omega IAPAR``, IAPAR over the attempts of all species, each has a
        threshold.
    beta : float
        Weight of ``far_w``, from 0 to 1; that of FRR is the rest.
    criterion : {"eer", "wer"}
        The threshold minimises ``|beta far_w - (1 - beta) FRR|`` or ``beta far_w + (1 - beta) FRR``
        on the development set, the strictest in a tie.
    templates, fusion
        As for :func:`bioeval.verification`, for attempts of all three classes.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``, for one set after the other.

    Returns
    -------
    xarray.Dataset
        Over ``omega``: ``threshold``, and at it ``far_w wer hter_w far frr iapar_pooled fa fr ia``
        on the test set, and ``dev_far_w dev_frr`` on the development set. Scalars
        ``genuine_attempts impostor_attempts attack_attempts`` of the test set and, with ``dev_``,
        of the development set.

    Raises
    ------
    DataError
        If the kinds of scores differ, a set has no attack or no bona fide presentation, omegas do
        not increase, or an option is wrong.
    ProtocolError
        If scores hold only an order, or a list of pairs is to be multi-template.

    Notes
    -----
    Thresholds are the scores of the development set themselves, of all three classes, and the one
    that rejects all (``-inf``; ``inf`` for similarities; NaN where a score has that very value).
    Ties are decided on exact fractions, `omegas` and `beta` by their decimal values. With ``omega =
    0`` and the criterion ``"wer"`` the threshold is that of :func:`bioeval.epc` with ``alpha =
    beta``. Chingovska, Anjos and Marcel 2014, "Biometrics evaluation under spoofing attacks", IEEE
    Transactions on Information Forensics and Security 9. ``docs/attacks.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> dev, test = (be.simulate(40, 4, attacks="print=0.6", random_state=i) for i in (1, 2))
    >>> be.epsc(dev, test, omegas=[0, 0.5, 1]).iapar_pooled.values.round(3)
    array([0.714, 0.384, 0.284])
    """
    if omegas is None:
        omegas = ALPHAS
    chosen = require_increasing_proportions("omegas", omegas)
    weight = Fraction(repr(require_number("beta", beta, low=0.0, high=1.0)))
    require_choice("criterion", criterion, CRITERIA)
    claim = Claim(templates, fusion)
    for scores in (dev, test):
        require_scores(scores)
        require_values(scores, "an EPSC")
    require_one_kind(dev, test)
    options = asdict(claim)
    dev_parts = parted(dev, None, "attack")
    test_parts = parted(test, None, "attack")
    dev_attacks = attack_attempts(dev_parts, None, options)
    test_attacks = attack_attempts(test_parts, None, options)
    with rows_reported_to(progress):
        made = count_bona_fide(dev_parts.bona_fide, None, options, None)
    search = _Search(made, dev_attacks, chosen, weight, criterion)
    at = search.thresholds()
    known = np.unique(to_user(at[~np.isnan(at)], dev.kind))
    thresholds = known if len(known) else None
    with rows_reported_to(progress):
        judged = count_bona_fide(test_parts.bona_fide, None, options, thresholds)
    attempts = _numbers(judged, test_attacks)
    fa, fr = errors_at(judged.tally, at)
    ia = test_attacks.at_most(at).sum(axis=1)
    far = frr = iapar = np.full(len(at), np.nan)
    if all(search.number.values()):
        far = rate(fa, attempts["impostor_attempts"])
        frr = rate(fr, attempts["genuine_attempts"])
        iapar = rate(ia, attempts["attack_attempts"])
    omega, part = np.array(chosen, dtype=np.float64), float(weight)
    far_w = _weighted(omega, far, iapar)
    variables = along(
        ("omega",),
        threshold=to_user(at, dev.kind),
        far_w=far_w,
        wer=part * far_w + (1 - part) * frr,
        hter_w=(far_w + frr) / 2,
        far=far,
        frr=frr,
        iapar_pooled=iapar,
        fa=fa,
        fr=fr,
        ia=ia,
        dev_far_w=search.far_w,
        dev_frr=search.frr,
    )
    attempts |= {f"dev_{name}": n for name, n in search.number.items()}
    variables |= {name: np.int64(n) for name, n in attempts.items()}
    remarks = of_development(made.about)
    remarks += people_of_both_sets(dev, test, "test")
    remarks += without_attempts(attempts)
    task = f"expected performance and spoofability, {templates}-template"
    attrs = about_attrs(judged.about, "epsc", task, remarks) | claim.attrs
    attrs |= {
        "criterion": criterion,
        "beta": part,
        "chosen_on": "the development set",
        "dev_fingerprint": dev.fingerprint,
    }
    return build(variables, EPSC, {"omega": omega}, attrs)


def _weighted(omega: np.ndarray, far: np.ndarray, iapar: np.ndarray) -> np.ndarray:
    return (1 - omega) * far + omega * iapar


def _numbers(bona_fide: CountedBonaFide, attacks: AttackAttempts) -> dict[str, int]:
    """Return the attempts of each class."""
    return {**attempts_of(bona_fide.tally), "attack_attempts": int(attacks.number.sum())}


@dataclass(eq=False)
class _Search:
    """The thresholds of a development set, as distances, from as few scores as decide them."""

    bona_fide: CountedBonaFide
    attacks: AttackAttempts
    omegas: list[Fraction]
    beta: Fraction
    criterion: str

    def __post_init__(self) -> None:
        """Take the scores of the small classes, and the numbers of attempts."""
        self.genuine, self.attack = self.bona_fide.tally.genuine, self.attacks.pooled
        self.number = _numbers(self.bona_fide, self.attacks)
        self.cheap: np.ndarray | None = None

    @cached_property
    def _weights(self) -> list[tuple[int, int, int]]:
        """Weights of a false reject, a false accept and an accepted attack, in whole numbers."""
        genuine = self.number["genuine_attempts"]
        impostor = self.number["impostor_attempts"]
        attack = self.number["attack_attempts"]
        weights = []
        for omega in self.omegas:
            scale = omega.denominator * self.beta.denominator
            a = scale * (1 - self.beta) * impostor * attack
            b = scale * self.beta * (1 - omega) * genuine * attack
            c = scale * self.beta * omega * genuine * impostor
            weights.append((int(a), int(b), int(c)))
        return weights

    def thresholds(self) -> np.ndarray:
        """Return the threshold of each weight; NaN where a class has no attempts."""
        nothing = np.full(len(self.omegas), np.nan)
        self.far_w = self.frr = nothing
        if not all(self.number.values()):
            return nothing
        wanted = PointsWanted(np.empty(0), np.empty((0, 3)), False, bins=self._bins)
        finder = self.bona_fide.finder(self.bona_fide.tally, wanted, self.bona_fide.second_pass)
        with threads_for(self.bona_fide.reader.scores):
            while (another := finder.next_second_pass()) is not None:
                PointFinder.take([(self.bona_fide.counter, another)])
            attempts = finder.attempts()
        lowest_accepts = (
            self.bona_fide.tally.impostor.negative_infinite
            or -np.inf in self.genuine[:1]
            or -np.inf in self.attack[:1]
        )
        self.reject_all = np.nan if lowest_accepts else -np.inf
        choose = self._equal if self.criterion == "eer" else self._least
        at = np.array([choose(attempts, a, b, c) for a, b, c in self._weights])
        fr, fa, ia = self._errors(attempts, at)
        far = fa / self.number["impostor_attempts"]
        iapar = ia / self.number["attack_attempts"]
        # Where omega is 1, the false accepts at the threshold may not be known.
        self.far_w = _weighted(np.array(self.omegas, dtype=np.float64), far, iapar)
        self.frr = fr / self.number["genuine_attempts"]
        return at

    def _errors(
        self, attempts: Attempts, at: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return errors of each class at thresholds in known bins; NaN rejects all."""
        known = np.where(np.isnan(at), -np.inf, at)
        fa = np.where(np.isnan(at), 0, attempts.false_accepts(known))
        accepted = np.searchsorted(self.genuine, known, side="right")
        fr = self.number["genuine_attempts"] - np.where(np.isnan(at), 0, accepted)
        return fr, fa, self.attacks.at_most(at).sum(axis=1)

    def _bins(self, attempts: Attempts) -> np.ndarray:
        """Return the bins in which the threshold of a weight can lie, as flags."""
        wanted = np.zeros(len(attempts.counts), dtype=bool)
        if self.criterion == "eer":
            for a, b, c in self._weights:
                if b:
                    wanted |= attempts.up_to(self._crossing_bin(attempts, a, b, c))
            return wanted
        scores = np.unique(self.genuine.astype(np.float64))
        cheap = np.zeros(len(scores), dtype=bool)
        bins = attempts.bin_of(scores)
        fr, _, ia = self._errors(attempts, scores)
        for a, b, c in self._weights:
            cost = float(a) * fr + float(c) * ia
            lows = cost + float(b) * attempts.below[bins]
            highs = cost + float(b) * attempts.below[bins + 1]
            best = min(float(a * self.number["genuine_attempts"]), highs.min(initial=np.inf))
            cheap |= lows <= best * (1 + SLACK)
        self.cheap = scores[cheap]
        wanted[bins[cheap]] = True
        return wanted

    # -- the least cost

    def _least(self, attempts: Attempts, a: int, b: int, c: int) -> float:
        """Return the threshold with the least weighted errors: a genuine score, or reject-all."""
        cheap = self.cheap
        if cheap is None:
            cheap = np.unique(self.genuine.astype(np.float64))
        fr, fa, ia = self._errors(attempts, cheap)
        cost = float(a) * fr + float(b) * fa + float(c) * ia
        near = np.flatnonzero(cost <= cost.min(initial=np.inf) * (1 + SLACK))
        least = a * self.number["genuine_attempts"]
        at = self.reject_all
        for i in near.tolist():
            exact = a * int(fr[i]) + b * int(fa[i]) + c * int(ia[i])
            if exact < least:
                least, at = exact, float(cheap[i])
        return at

    # -- where weighted errors are equal

    def _crossing_bin(self, attempts: Attempts, a: int, b: int, c: int) -> int:
        """Return the first bin at whose upper edge false accepts weigh as much as false rejects."""

        def crossed(k: int) -> bool:
            fr, _, ia = self._errors(attempts, attempts.edges[k : k + 1])
            return b * int(attempts.below[k + 1]) + c * int(ia[0]) >= a * int(fr[0])

        return bisect_left(range(len(attempts.counts) - 1), True, key=crossed)

    def _equal(self, attempts: Attempts, a: int, b: int, c: int) -> float:
        """Return the threshold at which weighted errors differ least.

        Scores of a class without weight change nothing, and a stricter point goes before them: of
        the others each point weighs more than the one before.
        """
        low, high, points = -np.inf, np.inf, [np.empty(0)]
        if b:
            k = self._crossing_bin(attempts, a, b, c)
            first, last = int(attempts.first_value(k)), int(attempts.first_value(k + 1))
            points.append(attempts.values[max(first - 1, 0) : last])
            high = attempts.edges[k]
            if first:
                low = points[-1][0]
        for weight, scores in ((a, self.genuine), (c, self.attack)):
            if weight:
                start = int(np.searchsorted(scores, low))
                stop = int(np.searchsorted(scores, high, side="right"))
                points.append(scores[start:stop].astype(np.float64))
        at = np.append(self.reject_all, np.unique(np.concatenate(points)))

        def excess(i: int) -> int:
            fr, fa, ia = self._errors(attempts, at[i : i + 1])
            return b * int(fa[0]) + c * int(ia[0]) - a * int(fr[0])

        i = bisect_left(range(len(at) - 1), 0, key=excess)
        if i and -excess(i - 1) <= abs(excess(i)):
            i -= 1
        return float(at[i])
