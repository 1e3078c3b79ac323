"""The zoo of a system: errors and mean scores of each subject, animals, and whether they exist.

The definition, at one threshold::

    for probe, template in attempts:
        a, b = subject_of[probe], subject_of[template]
        if a == b:
            errors["fr", a] += probe is not accepted
        else:
            errors["fa_as_probe", a] += probe is accepted  # many: a is a wolf
            errors["fa_as_claimed", b] += probe is accepted  # many: b is a lamb

Errors and attempts are ``(errors, subjects)``, and mean scores ``(subjects,)``. Subjects are those
with a template, by their codes; distractors and junk have the last codes: they are opponents, but
no subjects of results.

Scores that share a template are dependent, so that a test over scores finds differences between
people who are alike. So a test compares the mean scores of two halves of each subject's templates,
which share no template: they are correlated over subjects only if subjects differ. Means of halves
are ``(subjects, 2)`` for goats and, by a random group of the opponent, ``(subjects, 2, GROUPS)``
for wolves and lambs.

:func:`zoo` is followed by the variables and messages of its result, the count of attempts by
subject, and the tests.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy
import xarray as xr

from bioeval.base.arguments import require_integer, require_number
from bioeval.base.errors import DataError, Message, counted, message_attrs
from bioeval.base.kinds import Layout
from bioeval.base.progress import rows_reported, stage
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.thresholds import is_accepted, require_values, to_user
from bioeval.kernels.zoo import add_scores, permuted_products
from bioeval.results.attributes import about_attrs
from bioeval.results.beyond_scores import beyond_scores, following_scores
from bioeval.results.dataset import Variables, dataset, threshold_with_next, variables_over
from bioeval.results.support import ALL_REJECTED
from bioeval.results.variables import COORDINATES, Variable
from bioeval.scores.attempts import excludes_same
from bioeval.scores.codes import Codes, column_codes
from bioeval.scores.distances import farthest
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, require_all_scores, require_subjects
from bioeval.scores.provenance import Provenance, unknown_notes
from bioeval.scores.rows import among_distances, blocks_of, threads_for
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.weighted_sums import ratio
from bioeval.tasks.verification_task import chosen_threshold

#: The errors of a subject: false rejects, false accepts of its probes (a wolf has many), and false
#: accepts of claims to be the subject (a lamb has many).
ERRORS = ("fr", "fa_as_probe", "fa_as_claimed")

#: The animals whose existence is tested, in the order of :data:`ZooAttempts`, with their names in
#: messages.
TESTED = {"goat": "goats", "wolf": "wolves", "lamb": "lambs"}

# The fewest templates of a subject that make two halves: all-against-all; of probes and gallery.
_TEMPLATES_NEEDED = {
    "goats": ("4 templates", "2 probes and 2 gallery templates"),
    "wolves": ("2 templates", "2 probes"),
    "lambs": ("2 templates", "2 gallery templates"),
}

#: Animals exist if their p-value, corrected for the number of tests, is at most this.
LEVEL = 0.05

#: With fewer subjects there is no test.
LEAST_SUBJECTS = 8

#: A stratum of permuted subjects has at least this number of subjects.
LEAST_TOGETHER = 4

#: Number of groups into which the opponents of wolves and lambs are divided at random.
GROUPS = 16

#: Each animal, and whether it is best or worst by its genuine and by its impostor mean.
ANIMALS = {
    "dove": ("best", "best"),
    "worm": ("worst", "worst"),
    "chameleon": ("best", "worst"),
    "phantom": ("worst", "best"),
}

NO_ANIMAL = "none"

#: Means that differ by less than this part of the largest are equal.
TIED = 1e-10

#: Number of subjects that are named for each kind of error, and for each animal.
NAMED = 3

# About this number of columns is added up by one thread.
PIECE = 1024

#: Dimensions of a value of each subject, for each kind of error.
_EACH = ("error", "subject")


_rate = partial(Variable, units="proportion", direction="smaller")


def _mean(attempts: str, label: str) -> Variable:
    return Variable(f"mean finite score of {attempts}", "score", detail="data", label=label)


ZOO = {
    "animal": Variable(
        "animal of the zoo of Yager and Dunstone (2010)",
        label="animal",
        title="Animals by mean scores, not errors",
        labels={
            "dove": "dove: best genuine and impostor mean",
            "worm": "worm: worst genuine and impostor mean",
            "chameleon": "chameleon: best genuine, worst impostor mean",
            "phantom": "phantom: worst genuine, best impostor mean",
        },
    ),
    "subject": replace(
        COORDINATES["subject"],
        title="Subjects with the highest rates",
        shown="worst",
    ),
    "error": Variable(
        "kind of error: fr, false rejects of a subject; fa_as_probe, false accepts of its probes "
        "(a wolf has many); fa_as_claimed, false accepts that claim it (a lamb has many)",
        label="error",
        title="Concentration of errors",
        labels={
            "fr": "false rejects",
            "fa_as_probe": "false accepts by probe",
            "fa_as_claimed": "false accepts by claim",
            "fa_as_probe_fa_as_claimed": "false accepts by probe or claim",
        },
    ),
    "test": Variable(
        "animal whose existence is tested",
        label="animal",
        title="Do goats, wolves and lambs exist?",
        labels={
            "goat": "goats: do subjects differ in genuine scores?",
            "wolf": "wolves: in scores of their probes against others?",
            "lamb": "lambs: in scores of others' probes against them?",
        },
    ),
    "threshold": Variable(
        "threshold at which errors are counted",
        "score",
        "threshold T",
        shown="threshold",
        label="threshold",
    ),
    "genuine_mean": _mean("the genuine attempts of the subject", label="genuine mean"),
    "impostor_mean": _mean("all impostor attempts of the subject", label="impostor mean"),
    "impostor_mean_as_probe": _mean(
        "impostor attempts with probes of the subject", label="impostor mean as probe"
    ),
    "impostor_mean_as_claimed": _mean(
        "impostor attempts that claim the subject", label="impostor mean as claimed"
    ),
    "errors": Variable(
        "errors of the subject", "attempts", dims=_EACH, threshold="threshold", label="errors"
    ),
    "attempts": Variable(
        "attempts of the subject that may be such an error",
        "attempts",
        detail="verbose",
        label="attempts",
    ),
    "rate": _rate(
        "error rate of the subject",
        iso="FNMR, FMR",
        dims=_EACH,
        out_of="attempts",
        threshold="threshold",
        label="rate",
    ),
    "share": Variable(
        "proportion of all such errors that are the subject's",
        "proportion",
        label="share of all",
        out_of="all_errors",
    ),
    "half_of_errors": Variable(
        "fewest subjects that have half of the errors",
        "subjects",
        label="subjects with half of them",
    ),
    "all_errors": Variable(
        "errors of all subjects", "attempts", threshold="threshold", label="errors"
    ),
    "all_attempts": Variable("attempts of all subjects", "attempts", label="attempts"),
    "all_rate": _rate(
        "error rate of all subjects together",
        iso="FNMR, FMR",
        out_of="all_attempts",
        threshold="threshold",
        label="rate",
    ),
    "non_finite": Variable(
        "attempts that failed or have an infinite score, left out of means",
        "attempts",
        label="attempts that failed or have an infinite score, left out of means",
        detail="verbose",
    ),
    "animal_of_subject": Variable("animal of the subject, or none", label="animal", detail="data"),
    "animal_count": Variable("subjects that are of the kind", "subjects", label="subjects"),
    "animal_expected": Variable(
        "subjects expected if the two means were independent", "subjects", label="expected"
    ),
    "correlation": Variable(
        "correlation over subjects of their mean scores in two halves that share no template; of "
        "wolves and lambs, the halves share no opponent either; of goats, correlation of ranks",
        "1",
        label="correlation",
        detail="verbose",
    ),
    "p": Variable(
        "one-sided p-value by permutation: subjects differ, the animals exist",
        "p",
        label="p, uncorrected",
        detail="verbose",  # the answer has the corrected conclusion
    ),
}


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
        - ``all_errors``, ``all_attempts``, ``all_rate``: of all subjects together
        - ``half_of_errors``: the fewest subjects with half of the errors

        Over ``animal``: ``animal_count``, ``animal_expected``.

        Over ``test`` (``"goat"``, ``"wolf"``, ``"lamb"``): ``correlation`` between halves, and its
        p-value ``p``.

        Scalars: ``threshold`` and ``non_finite``.

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
      worst by the impostor mean, phantoms the reverse. Subjects whose means tie at the limit of the
      best or of the worst are no animals.
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
    >>> int(rejects.all_errors), int(rejects.half_of_errors)
    (44, 5)
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

    # Subjects are those with a template; their codes are numbered anew from 0.
    codes = scores.codes
    present, code = np.unique(np.concatenate([codes.probe, codes.gallery]), return_inverse=True)
    person = Codes.known(codes.values[present], *np.split(code, [len(codes.probe)]))
    people = int(np.count_nonzero(~codes.no_person[present]))

    # The attempts by subject, and what follows from them.
    halves = draw_halves(scores, person, Stream(seed, 0))
    with rows_reported():
        chosen = chosen_threshold(scores, rule)
        attempts = attempts_by_subject(scores, person, halves, chosen.threshold)
    provenance = Provenance.from_scores(scores)
    tests, messages = _tests(attempts, provenance.layout, permutations, seed)
    means = _means(attempts)
    animals = _animals(means["genuine_mean"], means["impostor_mean"], quantile)
    non_finite = sum(int((x.attempts - x.finite).sum()) for x in attempts[:2])

    # Messages on the threshold, and on what is left out.
    if math.isnan(chosen.threshold):
        messages.append(ALL_REJECTED)
    elif rule.name == "fixed":
        frr, far = (float(ratio(x.errors.sum(), x.attempts.sum())) for x in attempts[:2])
        used = to_user(chosen.threshold, scores.kind)
        messages += beyond_scores(used, far, frr, *following_scores(scores, [used]))
    if "session" in scores.probe_meta and not excludes_same(scores, "session"):
        messages += unknown_notes(sessions_of(scores), "session")
    failed = sum(scores.failures) if scores.nan == "reject" else 0
    if non_finite > failed:
        messages.append(Message("infinite-scores-left-out", attempts=non_finite - failed))

    variables: Variables = {
        **chosen.in_units(scores.kind),
        **{name: (("subject",), to_user(x, scores.kind)) for name, x in means.items()},
        "non_finite": non_finite,
        **_errors(attempts, people),
        **animals,
        **tests,
    }
    coordinates = {
        "subject": _labels_of(person.values),
        "error": np.array(ERRORS),
        "animal": np.array([*ANIMALS]),
        "test": np.array([*TESTED]),
    }
    attrs = about_attrs(provenance, "zoo", "zoo", messages)
    ds = dataset(variables, ZOO, coordinates, attrs).isel(subject=slice(people))
    settings = {
        **rule.attrs(),
        "quantile": float(quantile),
        "permutations": int(permutations),
        "halves": "whole sessions" if "session" in scores.probe_meta else "templates",
    }
    answers = [*_answer_on_errors(ds), *_answer_on_animals(ds)]
    return ds.assign_attrs(settings | message_attrs(answers, ds.attrs))


def _labels_of(values: np.ndarray) -> np.ndarray:
    """Return labels of subjects as a coordinate: numbers, texts, or texts of mixed labels."""
    labels = [plain(label) for label in values.tolist()]
    if all(type(label) is int and abs(label) < 2**63 for label in labels):
        return np.array(labels, dtype=np.int64)
    if all(isinstance(label, str) for label in labels):
        return np.array(labels, dtype=str)
    return np.array([repr(label) for label in labels], dtype=str)


# Variables of a result.


def _means(attempts: ZooAttempts) -> dict[str, np.ndarray]:
    """Return the mean finite distances of each subject, (subjects,); NaN without an attempt."""
    genuine, as_probe, as_claimed = attempts
    with np.errstate(over="ignore", invalid="ignore"):
        # An impostor attempt counts for the subject of its probe and for the claimed subject.
        impostor_sums = as_probe.sums + as_claimed.sums
    if not np.isfinite([genuine.sums, as_probe.sums, as_claimed.sums, impostor_sums]).all():
        raise DataError(
            "the scores are too large to be averaged: their sum exceeds the largest float64; "
            "divide all scores by a constant"
        )
    return {
        "genuine_mean": ratio(genuine.sums, genuine.finite),
        "impostor_mean_as_probe": ratio(as_probe.sums, as_probe.finite),
        "impostor_mean_as_claimed": ratio(as_claimed.sums, as_claimed.finite),
        "impostor_mean": ratio(impostor_sums, as_probe.finite + as_claimed.finite),
    }


def _animals(genuine_mean: np.ndarray, impostor_mean: np.ndarray, quantile: float) -> Variables:
    """Return the animal of each subject, and how many there are of each animal.

    The means are distances, (subjects,). Subjects without one of them are no animals.
    """
    compared = np.flatnonzero(~np.isnan(genuine_mean) & ~np.isnan(impostor_mean))
    most = number_of_best(quantile, len(compared))
    # It is best to be near to oneself, and far from others.
    by_genuine = _ends(genuine_mean[compared], most)
    by_impostor = _ends(-impostor_mean[compared], most)
    animal_of_subject = np.full(len(genuine_mean), NO_ANIMAL, dtype="<U9")
    count, expected = [], []
    for animal, (genuine_end, impostor_end) in ANIMALS.items():
        is_genuine_end = by_genuine[genuine_end]
        is_impostor_end = by_impostor[impostor_end]
        is_animal = is_genuine_end & is_impostor_end
        animal_of_subject[compared[is_animal]] = animal
        count.append(int(is_animal.sum()))
        # If both means were independent, n subjects would have n (a / n) (b / n) of the animal.
        product = is_genuine_end.sum() * is_impostor_end.sum()
        expected.append(product / len(compared) if len(compared) else np.nan)
    return {
        "animal_count": (("animal",), np.array(count)),
        "animal_expected": (("animal",), np.array(expected, dtype=float)),
        "animal_of_subject": (("subject",), animal_of_subject),
    }


def _ends(means: np.ndarray, most: int) -> dict[str, np.ndarray]:
    """Return which subjects are best (small means) and which are worst, by "best" and "worst".

    The number of best subjects is at most `most`, and so is that of worst ones. If several tie at
    this limit, none of them is. Means tie that differ by no more than sums are rounded.
    """
    if not most:
        return dict.fromkeys(("best", "worst"), np.zeros(len(means), dtype=bool))
    in_order = np.sort(means)
    rounding = TIED * np.abs(means).max()
    # The first mean that is not among the `most` best ones, and likewise of the worst ones.
    is_best = means < in_order[most] - rounding
    is_worst = means > in_order[-most - 1] + rounding
    return {"best": is_best, "worst": is_worst}


def number_of_best(quantile: float, subjects: int) -> int:
    """Return the most subjects that are best, which is also the most that are worst.

    It is the `quantile` of all subjects, rounded up.
    """
    number = math.ceil(Fraction(str(quantile)) * subjects)  # exact: 0.1 of 30 is 3
    if 2 * number > subjects:
        raise DataError(
            f"`quantile` {quantile:g} of {counted(subjects, 'subjects')} with both "
            f"genuine and impostor scores are {number} best and {number} worst, more than there "
            f"are; expected at least {2 * number} subjects, or a smaller quantile"
        )
    return number


def _errors(attempts: ZooAttempts, people: int) -> Variables:
    """Return attempts, errors, rates and shares of each subject, and the inequality of errors.

    Totals are over the first `people` subjects: the others are distractors and junk.
    """
    # Both (errors, subjects), the kinds of errors in the order of `ERRORS`.
    errors = np.stack([x.errors for x in attempts])
    number = np.stack([x.attempts for x in attempts])
    all_errors = errors[:, :people].sum(axis=1)
    all_attempts = number[:, :people].sum(axis=1)

    # The fewest subjects with half of the errors are those with most errors; 0 without an error.
    half_of_errors = []
    for errors_of_subject in errors[:, :people]:
        cumulative = np.sort(errors_of_subject)[::-1].cumsum()
        fewest = 0
        if cumulative[-1]:
            fewest = int(np.searchsorted(2 * cumulative, cumulative[-1])) + 1
        half_of_errors.append(fewest)
    return {
        **variables_over(
            ("error",),
            all_errors=all_errors,
            all_attempts=all_attempts,
            all_rate=ratio(all_errors, all_attempts),
            half_of_errors=half_of_errors,
        ),
        **variables_over(
            ("error", "subject"),
            errors=errors,
            attempts=number,
            rate=ratio(errors, number),
            share=ratio(errors, errors.sum(axis=1)[:, None]),
        ),
    }


@stage("testing whether subjects differ")
def _tests(
    attempts: ZooAttempts, layout: Layout, permutations: int, seed: np.random.SeedSequence
) -> tuple[Variables, list[Message]]:
    """Return the tests of goats, wolves and lambs, and messages on animals that are not tested."""
    correlations, p_values, messages = [], [], []
    # Each test has a stream of random numbers; stream 0 has drawn the halves.
    for key, (animals, in_role) in enumerate(zip(TESTED.values(), attempts, strict=True), start=1):
        test = goat_test if animals == "goats" else opponents_test
        stream = Stream(seed, key)
        correlation, p, subjects = test(
            in_role.half_means, in_role.second_half_sizes, permutations, stream
        )
        correlations.append(correlation)
        p_values.append(p)
        if subjects < LEAST_SUBJECTS:
            have = "has" if subjects == 1 else "have"
            why = (
                f"{counted(subjects, 'subjects')} {have} two halves, each with a finite score, "
                f"and {LEAST_SUBJECTS} are needed; halves take at least "
                f"{_templates_needed(animals, layout)} of a subject"
            )
            messages.append(Message("animals-not-tested", animals=animals, why=why))
        elif math.isnan(correlation):
            why = "all subjects are alike"
            messages.append(Message("animals-not-tested", animals=animals, why=why))
    variables = variables_over(("test",), correlation=correlations, p=p_values)
    return variables, messages


def _templates_needed(animals: str, layout: str) -> str:
    all_against_all, of_two_sides = _TEMPLATES_NEEDED[animals]
    return all_against_all if layout == "all-against-all" else of_two_sides


def highest_rates(errors: np.ndarray, rates: np.ndarray) -> list[int]:
    """Return the subjects with errors by decreasing rates; among equal rates, most errors first.

    Rates are compared, since a subject with more attempts has more errors.
    """
    order = np.lexsort((-errors, -np.where(errors > 0, rates, 0.0)))
    return order[errors[order] > 0].tolist()


def _answer_on_errors(ds: xr.Dataset) -> list[Message]:
    """Return which subjects have the highest FRR and FAR; no message without a false reject."""
    about: dict[str, Any] = {}
    for error, prefix in (("fr", ""), ("fa_as_probe", "far_")):
        of_error = ds.sel(error=error)
        errors, rates = of_error["errors"].values, of_error["rate"].values
        ranked = highest_rates(errors, rates)
        if not ranked:
            continue
        highest = [subject for subject in ranked if rates[subject] == rates[ranked[0]]]
        about |= {
            f"{prefix}subjects": ds["subject"].values[highest].tolist(),
            f"{prefix}number": len(highest),
            f"{prefix}rate": float(rates[highest[0]]),
            f"{prefix}errors": int(errors[highest].sum()),
            f"{prefix}attempts": int(of_error["attempts"].values[highest].sum()),
            f"{prefix}share": float(errors[highest].sum() / errors.sum()),
        }
    if "rate" not in about:
        return []
    return [Message("most-errors", **about, **threshold_with_next(ds))]


def _answer_on_animals(ds: xr.Dataset) -> list[Message]:
    """Return which animals exist, do not exist, and are not tested; no message without a test."""
    p_of = dict(zip(TESTED.values(), ds["p"].values.tolist(), strict=True))
    tested = [animals for animals, p in p_of.items() if not math.isnan(p)]
    untested = [animals for animals, p in p_of.items() if math.isnan(p)]
    if not tested:
        return []

    # Holm's step-down method: from the smallest p-value on, until one is not significant.
    tested.sort(key=p_of.__getitem__)
    exist = 0
    while exist < len(tested) and p_of[tested[exist]] * (len(tested) - exist) <= LEVEL:
        exist += 1
    about: dict[str, Any] = {"animals": tested[:exist] or ["none"]}
    if tested[exist:]:
        about["others"] = tested[exist:]
    if untested:
        templates = _templates_needed(untested[0], ds.attrs["layout"])
        tested_by = f"at least {LEAST_SUBJECTS} subjects who have {templates} each"
        if "use" in ds.attrs:  # a claim has no halves
            tested_by = "the scores of which the claims were made"
        about |= {"untested": untested, "tested_by": tested_by}
    return [Message("animals-tested", **about)]


# The attempts by subject are counted in one pass. Memory is of the size of the subjects and of the
# genuine and the accepted attempts.


def draw_halves(
    scores: Scores, person: Codes, stream: Stream
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Divide the templates of each subject into two halves at random.

    Return the half of each probe and of each gallery template, 0 or 1, and the group of each
    subject, from 0 to `GROUPS` - 1.

    Whole sessions are drawn where the data have a metadata column ``session``. A template or
    session on both sides is in the same half on both sides; otherwise the sides are drawn apart.
    """
    probes = len(person.probe)
    subjects = len(person.values)

    # The session of each template, probes first; a template without a session is one by itself.
    sessions = sessions_of(scores)
    number_of_template = np.concatenate([scores.probe_ids, scores.gallery_ids])
    session = np.concatenate([sessions.probe, sessions.gallery])
    session = np.where(session < 0, len(sessions.values) + number_of_template, session)

    # The sessions of a pool are drawn together. A subject with a session on both sides has one pool
    # (2 * owner); another has one of the gallery (2 * owner) and one of the probes (2 * owner + 1).
    owner = np.concatenate([person.probe, person.gallery])
    span = 1 + int(session.max(initial=0))
    session_of_owner = owner * span + session
    on_both_sides = np.intersect1d(session_of_owner[:probes], session_of_owner[probes:])
    owners_on_both_sides = on_both_sides // span
    pool_of_template = 2 * owner
    pool_of_template[:probes] += ~np.isin(owner[:probes], owners_on_both_sides)

    # A unit is a session of a pool. In random order, the units of a pool are of the halves 0 and 1
    # in turn. Units are sorted by their pools, so that those of a pool are neighbours.
    unit, unit_of_template = np.unique(pool_of_template * span + session, return_inverse=True)
    pool = unit // span
    random_order = np.lexsort((stream.uniforms(len(unit)), pool))
    place_in_pool = np.arange(len(unit)) - np.searchsorted(pool, pool)
    half = np.empty(len(unit), dtype=np.int64)
    half[random_order] = place_in_pool % 2
    half_of_template = half[unit_of_template.reshape(-1)]

    # Groups of opponents are of equal sizes, up to one subject.
    group = np.empty(subjects, dtype=np.int64)
    group[np.argsort(stream.uniforms(subjects), kind="stable")] = np.arange(subjects) % GROUPS
    return half_of_template[:probes], half_of_template[probes:], group


def sessions_of(scores: Scores) -> Codes:
    """Return the sessions of both sides as codes; -1 without a column, or without a value."""
    probes, templates = scores.shape
    probe = scores.probe_meta.get("session", np.full(probes, None))
    gallery = scores.gallery_meta.get("session", np.full(templates, None))
    return column_codes(probe, gallery, "session")


class AttemptsInRole(NamedTuple):
    """The attempts of each subject in one role: genuine, as probe, or as the claimed subject.

    Arrays are (subjects,), but for `half_means`: (subjects, 2), or (subjects, 2, GROUPS) of
    impostors, by the group of the opponent.
    """

    errors: np.ndarray  # int64
    attempts: np.ndarray  # int64
    sums: np.ndarray  # float64: sums of finite distances
    finite: np.ndarray  # int64: numbers of finite distances
    half_means: np.ndarray  # mean finite distances over each half of the subject's templates
    second_half_sizes: np.ndarray  # int64: number of attempts (genuine), or templates, of this half


#: The genuine attempts, and the impostor attempts of each subject as probe and as claimed.
ZooAttempts = tuple[AttemptsInRole, AttemptsInRole, AttemptsInRole]


def attempts_by_subject(
    scores: Scores,
    person: Codes,
    halves: tuple[np.ndarray, np.ndarray, np.ndarray],
    threshold: float,
) -> ZooAttempts:
    """Return the attempts by subject, the codes of `person`.

    `threshold` is a distance; NaN accepts nothing.
    """
    subjects = len(person.values)
    probes, templates = scores.shape
    half_of_probe, half_of_template, group = halves
    # Blocks have the gallery in the order of its subjects.
    order = scores.gallery_order.columns[0]
    claimed = person.gallery[order]
    half_of_claimed = half_of_template[order]
    group_of_probe = group[person.probe]
    group_of_claimed = group[claimed]
    threshold = float(among_distances(scores, threshold))

    genuine_of_blocks: list[tuple[np.ndarray, ...]] = []
    fa_as_probe = np.zeros(subjects, dtype=np.int64)
    fa_as_claimed = np.zeros(subjects, dtype=np.int64)
    # Sums of the finite scores of each template against each group of opponents. Of those that are
    # lacking, the numbers by group of scores that are not finite, and last of infinite scores.
    probe_sums = np.zeros((probes, GROUPS))
    probe_lacking = np.zeros((probes, GROUPS + 1), dtype=np.int64)
    claimed_sums = np.zeros((GROUPS, templates))
    claimed_lacking = np.zeros((GROUPS + 1, templates), dtype=np.int64)
    pieces = -(-templates // PIECE)  # rounded up
    with threads_for(scores), np.errstate(over="ignore", invalid="ignore"):
        for block in blocks_of(scores):
            rows = block.probes

            # Genuine attempts, and the half that both templates are of; -1 if they differ.
            row, column, distance = block.genuine()
            half = half_of_probe[row]
            half[half != half_of_template[column]] = -1
            genuine_of_blocks.append((distance, person.probe[row], half))

            # False accepts.
            distances = block.impostors().values
            cells = np.flatnonzero(is_accepted(distances, threshold))
            accepted_row, accepted_column = np.divmod(cells, templates)
            fa_as_probe += np.bincount(person.probe[rows][accepted_row], minlength=subjects)
            fa_as_claimed += np.bincount(claimed[accepted_column], minlength=subjects)

            # Sums by row in pieces of columns, and sums by column over all blocks.
            if block.rejected:
                distances = farthest(distances)
            sums = np.zeros((pieces, len(distances), GROUPS))
            lacking = np.zeros((pieces, len(distances), GROUPS + 1), dtype=np.int64)
            groups = group_of_probe[rows], group_of_claimed
            add_scores(distances, *groups, sums, lacking, claimed_sums, claimed_lacking)
            probe_sums[rows] = sums.sum(axis=0)
            probe_lacking[rows] = lacking.sum(axis=0)

        as_probe = _impostors(
            person.probe, half_of_probe, group_of_claimed, fa_as_probe, probe_sums, probe_lacking
        )
        as_claimed = _impostors(
            claimed,
            half_of_claimed,
            group_of_probe,
            fa_as_claimed,
            claimed_sums.T,
            claimed_lacking.T,
        )
        distance, owner, half = map(np.concatenate, zip(*genuine_of_blocks, strict=True))
        rejected = np.bincount(owner[~is_accepted(distance, threshold)], minlength=subjects)
        if scores.nan == "reject":
            distance = farthest(distance)
        genuine = _genuine(distance.astype(np.float64), owner, half, rejected)
    return genuine, as_probe, as_claimed


def _genuine(
    distance: np.ndarray, owner: np.ndarray, half: np.ndarray, rejected: np.ndarray
) -> AttemptsInRole:
    """Add up the genuine attempts by subject.

    Each attempt has a distance, a subject and the half of both templates, -1 if they are of two
    halves. `rejected` (subjects,) is of the subjects.
    """
    subjects = len(rejected)
    # In increasing order, so that sums do not depend on the order of the templates.
    by_distance = np.argsort(distance)
    distance, owner, half = distance[by_distance], owner[by_distance], half[by_distance]
    is_finite = np.isfinite(distance)
    in_one_half = is_finite & (half >= 0)
    half_of_subject = 2 * owner[in_one_half] + half[in_one_half]
    half_sums = np.bincount(half_of_subject, distance[in_one_half], 2 * subjects)
    half_finite = np.bincount(half_of_subject, minlength=2 * subjects)
    return AttemptsInRole(
        errors=rejected,
        attempts=np.bincount(owner, minlength=subjects),
        sums=np.bincount(owner[is_finite], distance[is_finite], subjects),
        finite=np.bincount(owner[is_finite], minlength=subjects),
        half_means=ratio(half_sums, half_finite).reshape(-1, 2),
        second_half_sizes=np.bincount(owner[half == 1], minlength=subjects),
    )


def _impostors(
    person: np.ndarray,
    half: np.ndarray,
    group_of_opponent: np.ndarray,
    accepted: np.ndarray,
    template_sums: np.ndarray,
    template_lacking: np.ndarray,
) -> AttemptsInRole:
    """Add up the attempts of the templates of one side, (templates, ...), by subject.

    `person` and `half` (templates,) are of this side, `group_of_opponent` of the other side's
    templates, and `accepted` (subjects,) is of the subjects.
    """
    subjects = len(accepted)
    sums = np.zeros((subjects, 2, GROUPS))
    finite = np.zeros((subjects, 2, GROUPS), dtype=np.int64)
    infinite = np.zeros(subjects, dtype=np.int64)
    group_sizes = np.bincount(group_of_opponent, minlength=GROUPS)
    np.add.at(sums, (person, half), template_sums)
    np.add.at(finite, (person, half), group_sizes - template_lacking[:, :GROUPS])
    np.add.at(infinite, person, template_lacking[:, GROUPS])
    finite_of_subject = finite.sum(axis=(1, 2))
    return AttemptsInRole(
        errors=accepted,
        attempts=finite_of_subject + infinite,
        sums=sums.sum(axis=(1, 2)),
        finite=finite_of_subject,
        half_means=ratio(sums, finite),
        second_half_sizes=np.bincount(person[half == 1], minlength=subjects),
    )


# The tests of two halves.


#: The correlation of two halves over subjects, its one-sided p-value, and the number of subjects
#: with both halves. Correlation and p-value are NaN of fewer than `LEAST_SUBJECTS` subjects.
HalvesTest = tuple[float, float, int]


def goat_test(means: np.ndarray, size: np.ndarray, permutations: int, stream: Stream) -> HalvesTest:
    """Test Spearman's correlation of the means of two halves, shape (subjects, 2).

    The means of the second halves are permuted among subjects with second halves of one `size`: if
    subjects do not differ, these means have one distribution, and the test is exact. Subjects with
    a mean that is NaN are left out.
    """
    has_both_means = ~np.isnan(means).any(axis=1)
    subjects = int(has_both_means.sum())
    if subjects < LEAST_SUBJECTS:
        return math.nan, math.nan, subjects
    order, ends = _strata(size[has_both_means])
    # Twice the ranks are whole numbers, and so are sums of their products: ties are exact.
    ranks = scipy.stats.rankdata(means[has_both_means], axis=0)[order]
    doubled_ranks = (2 * ranks.T).astype(np.int64) - 1
    first = np.ascontiguousarray(doubled_ranks[0])
    second = np.ascontiguousarray(doubled_ranks[1])
    observed = int(first @ second)

    products = np.empty(permutations, dtype=np.int64)
    permuted_products(first, second, ends, stream.words(2), products)
    p_value = (1 + int((products >= observed).sum())) / (1 + permutations)
    covariance = observed / subjects - float(first.mean() * second.mean())
    spread = math.sqrt(first.var() * second.var())
    return covariance / spread if spread > 0 else math.nan, p_value, subjects


def opponents_test(
    means: np.ndarray, size: np.ndarray, permutations: int, stream: Stream
) -> HalvesTest:
    """Test products of the means of two halves against groups, shape (subjects, 2, groups).

    The statistic is a sum over subjects: products of the mean of the first half against one group
    and the mean of the second half against a *different* group, which share no template and no
    opponent. It varies for two reasons, and a replicate adds both:

    - Some templates happen to be near to everyone: second halves are permuted among subjects with
      second halves of one `size`.
    - Some opponents happen to be near to some subjects: the signs of the groups change at random.
    """
    has_both_halves = ~np.isnan(means).all(axis=2).any(axis=1)
    subjects = int(has_both_halves.sum())
    if subjects < LEAST_SUBJECTS:
        return math.nan, math.nan, subjects
    order, ends = _strata(size[has_both_halves])
    means = means[has_both_halves][order]
    means = means[:, :, ~np.isnan(means).all(axis=(0, 1))]  # groups with a mean
    groups = means.shape[2]
    first = _deviations(means[:, 0])
    second = _deviations(means[:, 1])

    # (groups, groups): the products summed over subjects, without those of a group with itself.
    products_of_groups = first.T @ second
    np.fill_diagonal(products_of_groups, 0)
    observed = int(products_of_groups.sum())

    # A replicate permutes subjects and, independently, changes the signs of groups.
    products = np.empty(permutations, dtype=np.int64)
    first_sums = first.sum(axis=1)
    second_sums = second.sum(axis=1)
    permuted_products(first_sums, second_sums, ends, stream.words(2), products)
    signs = np.where(stream.uniforms(permutations * groups) < 0.5, -1, 1).reshape(-1, groups)
    products += ((signs @ products_of_groups) * signs).sum(axis=1)
    p_value = (1 + int((products >= observed).sum())) / (1 + permutations)

    spread = math.sqrt(float(first_sums @ first_sums) * float(second_sums @ second_sums))
    correlation = math.nan
    if spread > 0:
        # Only pairs of different groups were summed: all pairs would give more, by this factor.
        correlation = observed / spread * groups / (groups - 1)
    return float(np.clip(correlation, -1, 1)), p_value, subjects


def _strata(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the subjects in order of their sizes, and where each stratum of this order ends.

    A stratum is one size. A stratum of fewer than `LEAST_TOGETHER` subjects is joined with the
    next, and the last one with the stratum before it.
    """
    _, counts = np.unique(size, return_counts=True)
    ends: list[int] = []
    start = 0
    for end in np.cumsum(counts).tolist():
        if end - start >= LEAST_TOGETHER:
            ends.append(end)
            start = end
    ends[-1:] = [len(size)]  # sizes after the last stratum belong to it
    return np.argsort(size, kind="stable"), np.array(ends, dtype=np.int64)


def _deviations(means: np.ndarray) -> np.ndarray:
    """Return the deviations of means (subjects, groups) from the mean over subjects, as integers.

    The largest deviation becomes 2^18, and the deviation of an unknown mean is 0. Sums of integers
    do not depend on their order.
    """
    is_known = ~np.isnan(means)
    sums = np.where(is_known, means, 0.0).sum(axis=0)
    mean_over_subjects = sums / np.maximum(is_known.sum(axis=0), 1)
    deviations = np.where(is_known, means - mean_over_subjects, 0.0)
    largest = np.abs(deviations).max()
    scale = 2**18 / largest if largest > 0 else 0.0
    return np.rint(deviations * scale).astype(np.int64)
