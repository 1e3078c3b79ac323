"""The zoo of a system: errors and mean scores of each subject, animals, and whether they exist."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr
from scipy.stats import hypergeom

from bioeval.base.arguments import require_integer, require_number
from bioeval.base.errors import DataError, counted
from bioeval.base.kinds import Kind, Layout
from bioeval.base.messages import Message, message_attrs
from bioeval.base.progress import rows_reported, stage
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.thresholds import is_accepted, require_values, to_user
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import Variables, dataset, variables_over
from bioeval.results.support import ALL_REJECTED, beyond_scores
from bioeval.scores.codes import Codes
from bioeval.scores.distances import farthest
from bioeval.scores.excluded import excludes_same
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.scores.requirements import require_all_scores, require_subjects
from bioeval.scores.rows import among_distances, blocks_of, threads_for
from bioeval.scores.score_notes import unknown_notes
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.zoo.existence import (
    GROUPS,
    LEAST_SUBJECTS,
    Halves,
    draw_halves,
    goat_test,
    kruskal_p,
    opponents_test,
    sessions_of,
)
from bioeval.studies.zoo.kernel import add_scores
from bioeval.studies.zoo.results import (
    ANIMALS,
    ERRORS,
    NO_ANIMAL,
    TESTED,
    ZOO,
    answers_of_zoo,
    number_of_best,
)
from bioeval.tasks.threshold_choice import chosen_threshold


@warns_of_doubts
def zoo(
    scores: Scores,
    *,
    threshold: Any = "eer",
    quantile: float = 0.25,
    permutations: int = 2000,
    random_state: RandomState = 0,
) -> xr.Dataset:
    """Evaluate verification by subject: scores, errors, animals, and whether subjects differ.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout, with the subjects of probes and gallery.
    threshold : float or str
        Threshold at which errors are counted: a number, or a rule applied to these data. A rule is
        ``"eer"``, ``"far=0.001"``, ``"cost=prior,c_miss,c_fa"``, ``"hter"`` or ``"accuracy"``,
        which reads the scores once more.
    quantile : float
        Proportion of subjects that count as best, and as worst. By each of two means, of which the
        animals are made: above 0, at most 0.5.
    permutations : int
        Number of permutations of the tests.
    random_state : int, None, numpy SeedSequence, Generator or RandomState
        Seed of the halves and permutations. The same integer gives the same on every platform.

    Returns
    -------
    xarray.Dataset
        Over ``subject``:

        - ``genuine_mean``, ``impostor_mean``, ``impostor_mean_as_probe``,
          ``impostor_mean_as_claimed``: means of finite scores
        - ``animal_of_subject``

        Over ``error`` (``"fr"``, ``"fa_as_probe"``, ``"fa_as_claimed"``):

        - ``errors``, ``attempts`` and their ``rate``, over ``subject``, too
        - ``share``, over ``subject``, too: the subject's share of all such errors
        - ``rate_without``, over ``subject``, too: the rate of all attempts without the subject
        - ``all_errors``, ``all_attempts``, ``all_rate``: of all subjects together
        - ``gini``: the Gini coefficient
        - ``half_of_errors``: the fewest subjects with half of the errors

        Over ``animal``: ``animal_count``, ``animal_expected``, ``animal_p_more``,
        ``animal_p_fewer``.

        Over ``test`` (``"goat"``, ``"wolf"``, ``"lamb"``): ``correlation`` between halves, and its
        p-value ``p``.

        Scalars: ``threshold``, ``non_finite``, and ``kruskal_p``, which assumes independent scores.

    Raises
    ------
    DataError
        Bad options; fewer than two subjects, or too few for the quantile; NaN under
        ``nan="raise"``; scores too large to be averaged.
    ProtocolError
        If the scores have no subjects, only an order, or no attempts to choose a threshold on.

    Notes
    -----
    - A genuine attempt counts for its subject. An impostor attempt counts for the subject of its
      probe (the wolf's side) and for the subject that it claims (the lamb's side).
    - Animals: Yager and Dunstone (2010), "The biometric menagerie", IEEE TPAMI 32(2). Doves are
      best by genuine and impostor mean, worms worst by both, chameleons best by the genuine and
      worst by the impostor mean, phantoms the reverse.
    - Goats, lambs and wolves: Doddington and others (1998), "Sheep, goats, lambs and wolves",
      ICSLP, whose test takes all scores as independent.
    - The tests here compare means over two halves of each subject's templates (whole sessions, if
      there is a metadata column ``session``), drawn at random. The halves have no template in
      common: if subjects do not differ, the means are independent.
    - Subjects are permuted among those whose second halves are of one size, which makes the test of
      goats exact. ``docs/who-fails.md`` has the measured level and power.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.zoo(be.simulate(40, 6, random_state=1))
    >>> rejects = ds.sel(error="fr")
    >>> int(rejects.all_errors), float(rejects.gini.round(2))
    (44, 0.68)
    >>> rejects.share.to_series().nlargest(2).round(2).to_dict()
    {12: 0.14, 14: 0.09}
    """
    require_number("quantile", quantile, above=0.0, high=0.5)
    require_integer("permutations", permutations, low=1, of_draws=True)
    seed = seed_sequence(random_state)
    rule = Rule.parse(threshold)
    require_all_scores(scores)
    require_subjects(scores, "a zoo")
    require_values(scores, "a zoo")
    if len(scores.subjects) < 2:
        raise DataError("there is only one subject; a zoo compares at least two")

    # Attempts by subject, of the subjects with a template.
    codes = scores.codes
    present, code = np.unique(np.concatenate([codes.probe, codes.gallery]), return_inverse=True)
    person = Codes.known(codes.values[present], *np.split(code, [len(codes.probe)]))
    halves = draw_halves(scores, person, Stream(seed, 0))
    with rows_reported():
        chosen = chosen_threshold(scores, rule)
        attempts = attempts_by_subject(scores, person, halves, chosen.threshold)
    tests, messages = _tests(attempts, Provenance.from_scores(scores).layout, permutations, seed)
    messages += _messages_on_threshold(attempts, rule, chosen.threshold, scores.kind)
    if "session" in scores.probe_meta and not excludes_same(scores, "session"):
        messages += unknown_notes(sessions_of(scores), "session")
    means = _means(attempts)
    if means.infinite:
        messages.append(Message("infinite-scores-left-out", attempts=means.infinite))

    # Distractors and junk have the last codes: they are opponents, but no subjects.
    people = int(np.count_nonzero(~codes.no_person[present]))
    variables = {
        **chosen.in_units(scores.kind),
        **means.variables(scores.kind),
        **_errors(attempts, people),
        **_animals(means, quantile),
        **tests,
    }
    coordinates = {
        "subject": _integers_or_texts(person),
        "error": np.array(ERRORS),
        "animal": np.array([*ANIMALS]),
        "test": np.array(TESTED),
    }
    attrs = about_attrs(Provenance.from_scores(scores), "zoo", "zoo", messages)
    ds = dataset(variables, ZOO, coordinates, attrs).isel(subject=slice(people))
    settings = {
        **rule.attrs(),
        "quantile": float(quantile),
        "permutations": int(permutations),
        "halves": "whole sessions" if "session" in scores.probe_meta else "templates",
    }
    return ds.assign_attrs(settings | message_attrs([*answers_of_zoo(ds)], ds.attrs))


def _messages_on_threshold(
    attempts: ZooAttempts, rule: Rule, distance: float, kind: Kind
) -> list[Message]:
    if math.isnan(distance):
        return [ALL_REJECTED]
    if rule.name != "fixed":
        return []
    genuine, as_probe = attempts.genuine, attempts.as_probe
    far = ratio(as_probe.accepted.sum(), as_probe.attempts.sum())
    frr = np.mean(~genuine.accepted) if len(genuine.accepted) else np.nan
    return beyond_scores(to_user(distance, kind), float(far), float(frr))


class _Means(NamedTuple):
    """The mean finite distances of each subject, (subjects,); NaN without an attempt."""

    genuine: np.ndarray
    as_probe: np.ndarray
    as_claimed: np.ndarray
    impostor: np.ndarray  # in both roles
    infinite: int  # number of attempts with an infinite score, which are left out

    def variables(self, kind: Kind) -> Variables:
        genuine, as_probe, as_claimed, impostor = (to_user(x, kind) for x in self[:4])
        return variables_over(
            ("subject",),
            genuine_mean=genuine,
            impostor_mean_as_probe=as_probe,
            impostor_mean_as_claimed=as_claimed,
            impostor_mean=impostor,
        ) | {"non_finite": self.infinite}


def _means(attempts: ZooAttempts) -> _Means:
    genuine, as_probe, as_claimed = attempts
    subjects = len(as_probe.attempts)
    finite = np.isfinite(genuine.distance)
    person = genuine.person[finite]
    with np.errstate(over="ignore", invalid="ignore"):
        sums = [
            np.bincount(person, genuine.distance[finite], subjects),
            as_probe.sums.sum(axis=(1, 2)),
            as_claimed.sums.sum(axis=(1, 2)),
        ]
        # An impostor attempt counts for the subject of its probe and for the claimed subject.
        sums.append(sums[1] + sums[2])
    if not all(np.isfinite(x).all() for x in sums):
        raise DataError(
            "the scores are too large to be averaged: their sum exceeds the largest float64; "
            "divide all scores by a constant"
        )
    probing = as_probe.finite.sum(axis=(1, 2))
    claimed = as_claimed.finite.sum(axis=(1, 2))
    counts = [np.bincount(person, minlength=subjects), probing, claimed, probing + claimed]
    infinite = int((~finite).sum() + (as_probe.attempts - probing).sum())
    of_genuine, of_probe, of_claimed, of_both_roles = map(ratio, sums, counts)
    return _Means(of_genuine, of_probe, of_claimed, of_both_roles, infinite)


def _errors(attempts: ZooAttempts, people: int) -> Variables:
    """Return attempts, errors, rates and shares of each subject, and the inequality of errors.

    Totals are over the first `people` subjects: the others are distractors and junk.
    """
    genuine, as_probe, as_claimed = attempts
    subjects = len(as_probe.attempts)
    # Both (errors, subjects), the kinds of errors in the order of `ERRORS`.
    rejects = np.bincount(genuine.person[~genuine.accepted], minlength=subjects)
    errors = np.stack([rejects, as_probe.accepted, as_claimed.accepted])
    genuine_attempts = np.bincount(genuine.person, minlength=subjects)
    number = np.stack([genuine_attempts, as_probe.attempts, as_claimed.attempts])
    # Without a subject: an impostor attempt has two subjects, and is left out with either of them.
    own, own_number = (np.stack([x[0], x[1] + x[2], x[1] + x[2]]) for x in (errors, number))
    total, total_number = errors.sum(axis=1), number.sum(axis=1)
    all_errors = errors[:, :people].sum(axis=1)
    all_attempts = number[:, :people].sum(axis=1)
    return {
        **variables_over(
            ("error",),
            all_errors=all_errors,
            all_attempts=all_attempts,
            all_rate=ratio(all_errors, all_attempts),
            gini=[gini(x[:people][n[:people] > 0]) for x, n in zip(errors, number, strict=True)],
            half_of_errors=[fewest_with_half(x[:people]) for x in errors],
        ),
        **variables_over(
            ("error", "subject"),
            errors=errors,
            attempts=number,
            rate=ratio(errors, number),
            share=ratio(errors, total[:, None]),
            rate_without=ratio(total[:, None] - own, total_number[:, None] - own_number),
        ),
    }


def gini(counts: np.ndarray) -> float:
    """Return the Gini coefficient, ``sum_ij |x_i - x_j| / (2 n^2 mean)``; NaN where all are 0."""
    # In increasing order, the i-th count is subtracted from n - i counts, and i - 1 from it.
    weights = 2 * np.arange(1, len(counts) + 1) - len(counts) - 1
    return float(ratio(weights @ np.sort(counts), len(counts) * counts.sum()))


def fewest_with_half(counts: np.ndarray) -> int:
    """Return the smallest number of counts that add up to half of all; 0 if all are 0."""
    sums = np.sort(counts)[::-1].cumsum()
    return int(np.searchsorted(2 * sums, sums[-1]) + 1) if sums[-1] else 0


def _animals(means: _Means, quantile: float) -> Variables:
    # The best and the worst subjects, by the genuine mean and by the impostor mean.
    subjects = np.flatnonzero(~np.isnan(means.genuine) & ~np.isnan(means.impostor))
    best = number_of_best(quantile, len(subjects))
    by_mean = []
    for distance in (means.genuine[subjects], -means.impostor[subjects]):
        order = subjects[np.argsort(distance, kind="stable")]
        by_mean.append({"best": order[:best], "worst": order[len(subjects) - best :]})
    animal_of_subject = np.full(len(means.genuine), NO_ANIMAL, dtype="<U9")
    for animal, (by_genuine, by_impostor) in ANIMALS.items():
        members = np.intersect1d(by_mean[0][by_genuine], by_mean[1][by_impostor])
        animal_of_subject[members] = animal
    count = np.array([(animal_of_subject == animal).sum() for animal in ANIMALS])
    expected = p_more = p_fewer = np.full(len(ANIMALS), np.nan)
    if len(subjects):
        chance = hypergeom(len(subjects), best, best)
        expected = np.full(len(ANIMALS), best**2 / len(subjects))
        p_more, p_fewer = chance.sf(count - 1), chance.cdf(count)
    return {
        **variables_over(
            ("animal",),
            animal_count=count,
            animal_expected=expected,
            animal_p_more=p_more,
            animal_p_fewer=p_fewer,
        ),
        "animal_of_subject": (("subject",), animal_of_subject),
    }


#: The templates that a subject needs for two halves, all-against-all, and with probes and gallery.
_NEEDED = {
    "goat": ("4 templates", "2 probes and 2 gallery templates"),
    "wolf": ("2 templates", "2 probes"),
    "lamb": ("2 templates", "2 gallery templates"),
}


@stage("testing whether subjects differ")
def _tests(
    attempts: ZooAttempts, layout: Layout, permutations: int, seed: np.random.SeedSequence
) -> tuple[Variables, list[Message]]:
    genuine = attempts.genuine
    as_probe = attempts.as_probe
    as_claimed = attempts.as_claimed
    subjects = len(as_probe.attempts)
    streams = [Stream(seed, key) for key in (1, 2, 3)]
    tests = {
        "goat": goat_test(
            genuine.means(subjects), genuine.second_half_sizes(subjects), permutations, streams[0]
        ),
        "wolf": opponents_test(
            as_probe.means, as_probe.second_half_sizes, permutations, streams[1]
        ),
        "lamb": opponents_test(
            as_claimed.means, as_claimed.second_half_sizes, permutations, streams[2]
        ),
    }
    variables: Variables = {"kruskal_p": kruskal_p(genuine.distance, genuine.person)}
    variables |= variables_over(
        ("test",),
        correlation=[tests[animal].correlation for animal in TESTED],
        p=[tests[animal].p for animal in TESTED],
    )
    messages = []
    for animal, test in tests.items():
        animals = {"wolf": "wolves"}.get(animal, f"{animal}s")
        if test.subjects < LEAST_SUBJECTS:
            templates = _NEEDED[animal][layout != "all-against-all"]
            reason = (
                f"{counted(test.subjects, 'subjects')} have two halves, each with a finite score, "
                f"and {LEAST_SUBJECTS} are needed; halves take at least {templates} of a subject"
            )
            messages.append(Message("animals-not-tested", animals=animals, why=reason))
        elif math.isnan(test.correlation):
            reason = "all subjects are alike"
            messages.append(Message("animals-not-tested", animals=animals, why=reason))
    return variables, messages


def _integers_or_texts(person: Codes) -> np.ndarray:
    names = list(map(plain, person.values.tolist()))
    if all(type(name) is int and abs(name) < 2**63 for name in names):
        return np.array(names, dtype=np.int64)
    if not all(isinstance(name, str) for name in names):
        names = list(map(repr, names))
    return np.array(names, dtype=str)


# The attempts by subject are counted in one pass. Memory is of the size of the subjects and of the
# genuine and the accepted attempts.

# About this number of columns is added up by one thread.
PIECE = 1024


class Genuine(NamedTuple):
    """The genuine attempts, (attempts,), in increasing order of their distances."""

    distance: np.ndarray  # float64
    person: np.ndarray
    half: np.ndarray  # 0 or 1 if both templates are in this half, else -1
    accepted: np.ndarray

    def means(self, subjects: int) -> np.ndarray:
        """Return the mean distances of each subject over each half, shape (subjects, 2)."""
        used = (self.half >= 0) & np.isfinite(self.distance)
        index = 2 * self.person[used] + self.half[used]
        sums = np.bincount(index, self.distance[used], 2 * subjects)
        return ratio(sums, np.bincount(index, minlength=2 * subjects)).reshape(subjects, 2)

    def second_half_sizes(self, subjects: int) -> np.ndarray:
        """Return the number of attempts in the second half of each subject."""
        return np.bincount(self.person[self.half == 1], minlength=subjects)


class Impostors(NamedTuple):
    """The impostor attempts of each subject in one role: as probe, or as the claimed subject."""

    attempts: np.ndarray  # int64 (subjects,)
    accepted: np.ndarray  # int64 (subjects,): false accepts
    second_half_sizes: np.ndarray  # int64 (subjects,): number of templates in the second half
    #: (subjects, 2, groups): sums and numbers of finite distances, by the half of the subject's
    #: template and the group of the opponent.
    sums: np.ndarray
    finite: np.ndarray

    @property
    def means(self) -> np.ndarray:
        """The mean distances, shape (subjects, 2, groups)."""
        return ratio(self.sums, self.finite)


class ZooAttempts(NamedTuple):
    """The genuine attempts, and the impostor attempts of each subject in both roles."""

    genuine: Genuine
    as_probe: Impostors
    as_claimed: Impostors


def attempts_by_subject(
    scores: Scores, person: Codes, halves: Halves, threshold: float
) -> ZooAttempts:
    """Return the attempts by subject, the codes of `person`.

    `threshold` is a distance; NaN accepts nothing.
    """
    # Blocks have the gallery in the order of its subjects.
    order = scores.gallery_order.columns[0]
    claimed = person.gallery[order]
    subjects = len(person.values)
    probes = _Side(person.probe, halves.probe, halves.group[person.probe], subjects, order="C")
    templates = _Side(claimed, halves.gallery[order], halves.group[claimed], subjects, order="F")
    threshold = float(among_distances(scores, threshold))
    columns = scores.shape[1]
    pieces = -(-columns // PIECE)
    genuine_of_blocks = []
    with threads_for(scores), np.errstate(over="ignore", invalid="ignore"):
        for block in blocks_of(scores):
            rows = block.probes
            row, column, value = block.genuine()
            half = halves.probe[row]
            half[half != halves.gallery[column]] = -1
            genuine_of_blocks.append((value, person.probe[row], half))

            distances = block.impostors().values
            accepted_cells = np.flatnonzero(is_accepted(distances, threshold))
            row, column = np.divmod(accepted_cells, columns)
            probes.count_accepted(np.arange(len(probes.person))[rows][row])
            templates.count_accepted(column)
            if block.rejected:
                distances = farthest(distances)
            sums = np.zeros((pieces, len(distances), GROUPS))
            lacking = np.zeros((pieces, len(distances), GROUPS + 1), dtype=np.int64)
            groups = probes.group[rows], templates.group
            add_scores(distances, *groups, sums, lacking, templates.sums.T, templates.lacking.T)
            probes.sums[rows] = sums.sum(axis=0)
            probes.lacking[rows] = lacking.sum(axis=0)
        as_probe = probes.impostors(templates.group)
        as_claimed = templates.impostors(probes.group)

    # The genuine attempts in increasing order: sums do not depend on the order of the templates.
    distance, owner, half = map(np.concatenate, zip(*genuine_of_blocks, strict=True))
    by_distance = np.argsort(distance)
    distance = distance[by_distance]
    is_genuine_accepted = is_accepted(distance, threshold)
    if scores.nan == "reject":
        distance = farthest(distance)
    distance = distance.astype(np.float64)
    genuine = Genuine(distance, owner[by_distance], half[by_distance], is_genuine_accepted)
    return ZooAttempts(genuine, as_probe, as_claimed)


class _Side:
    """The impostor attempts of each template of one side, as a pass over the scores adds them up.

    - `person`, `half`, `group` (templates,): the subject of each template, its half, and the group
      of the subject
    - `accepted` (subjects,): false accepts
    - `sums` (templates, GROUPS): sums of the finite scores against each group of opponents
    - `lacking` (templates, GROUPS + 1): numbers of scores that are not finite, by group, and of
      infinite scores
    """

    def __init__(
        self,
        person: np.ndarray,
        half: np.ndarray,
        group: np.ndarray,
        subjects: int,
        order: Literal["C", "F"],
    ):
        self.person, self.half, self.group = person, half, group
        self.accepted = np.zeros(subjects, dtype=np.int64)
        self.sums = np.zeros((len(person), GROUPS), order=order)
        self.lacking = np.zeros((len(person), GROUPS + 1), dtype=np.int64, order=order)

    def count_accepted(self, template: np.ndarray) -> None:
        self.accepted += np.bincount(self.person[template], minlength=len(self.accepted))

    def impostors(self, group_of_opponent: np.ndarray) -> Impostors:
        subjects = len(self.accepted)
        sums = np.zeros((subjects, 2, GROUPS))
        finite = np.zeros((subjects, 2, GROUPS), dtype=np.int64)
        infinite = np.zeros(subjects, dtype=np.int64)
        group_sizes = np.bincount(group_of_opponent, minlength=GROUPS)
        np.add.at(sums, (self.person, self.half), self.sums)
        np.add.at(finite, (self.person, self.half), group_sizes - self.lacking[:, :GROUPS])
        np.add.at(infinite, self.person, self.lacking[:, GROUPS])
        attempts = finite.sum(axis=(1, 2)) + infinite
        second_half_sizes = np.bincount(self.person[self.half == 1], minlength=subjects)
        return Impostors(attempts, self.accepted, second_half_sizes, sums, finite)
