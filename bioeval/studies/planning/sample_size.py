"""How large a test must be: subjects for a FAR, and for the width of the interval of an FRR."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.special
import xarray as xr

from bioeval.base.arguments import require_integer, require_number
from bioeval.base.errors import DataError, counted, received
from bioeval.base.messages import Message, message_attrs, messages_of
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.thresholds import to_internal, to_user
from bioeval.results.dataset import Variables, dataset, variables_over
from bioeval.results.support import RULES, RuleOf, people_with
from bioeval.results.variables import Variable
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores
from bioeval.scores.requirements import require_scores, require_subjects
from bioeval.scores.rows import blocks_of
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.limits import jackknife
from bioeval.stats.options import IntervalMethod
from bioeval.studies.assurance.assured import ASSURED, people_to_guarantee
from bioeval.studies.assurance.judged_rates import JudgedAttempts
from bioeval.tasks.threshold_choice import chosen_threshold
from bioeval.tasks.verification_task import verification

SAMPLE_SIZE = {
    "attempts_of_subject": Variable(
        "attempts of each subject", "attempts", label="attempts of each subject"
    ),
    "all_attempts": Variable("attempts of all these subjects", "attempts", label="all attempts"),
    "subjects": Variable("subjects for the width of the interval", "subjects", label="subjects"),
    "all_templates": Variable(
        "templates of all these subjects", "templates", label="all templates"
    ),
    "frr": Variable(
        "expected FRR", "proportion", "FNMR", label="{frr}, expected", direction="smaller"
    ),
    "subject_sd": Variable(
        "standard deviation of a subject's rate",
        "proportion",
        label="sd of a subject's rate",
        detail="verbose",
    ),
    "design_effect": Variable(
        "variance of the rate over that of as many independent genuine pairs",
        "1",
        label="design effect",
    ),
    "icc": Variable(
        "correlation of two genuine errors of a subject that share no template",
        "1",
        label="correlation of two genuine errors of a subject",
    ),
    "template_icc": Variable(
        "correlation of two genuine errors of a subject that share a template, minus icc",
        "1",
        label="added to it if they share a template",
    ),
    "pairs_for_far": Variable(
        "pairs of people that the FAR needs by the rule",
        "pairs",
        label="pairs of people for the {far}",
    ),
    "subjects_for_far": Variable(
        "people who make as many pairs, all compared with each other; templates do not count. A "
        "lower bound: pairs that share a person are not independent",
        "subjects",
        label="people for the {far}",
    ),
    "subjects_for_frr": Variable(
        "people with genuine attempts that the FRR needs by the rule",
        "subjects",
        label="people for the {frr}",
    ),
    "people_estimated": ASSURED["people_estimated"],
    "pilot_subjects": Variable(
        "subjects of the pilot with a genuine attempt", "subjects", label="subjects of the pilot"
    ),
}

#: Templates of each subject that are planned; attempts, where an attempt is a claim in use.
TEMPLATES, ATTEMPTS = (2, 3, 5, 10), (1, 2, 3, 5)

#: The rule of 30 takes more trials than int64 holds for a smaller FAR.
LEAST_FAR = 1e-17

#: Probability of an interval as narrow as planned. The intervals of simulated tests are so in 93 to
#: 97 % of them: see docs/uncertainty.md.
ASSURANCE = 0.92

#: By how many standard errors of a pilot's variance the plan is larger, as a part of the normal
#: quantile of `ASSURANCE`. Set by simulation (docs/uncertainty.md).
OF_PILOT = 0.7

# Fewer subjects of a pilot with an error say little about the spread between people.
_FEW = 20

#: More subjects than there are people.
MOST = 10_000_000_000


@warns_of_doubts
@leaves_out_attacks
def sample_size(
    pilot: Scores | None = None,
    *,
    far: float = 1e-4,
    frr_width: float = 0.01,
    threshold: Any = None,
    frr: float | None = None,
    icc: float | None = None,
    n_templates: int | Sequence[int] | None = None,
    confidence: float = IntervalMethod.CONFIDENCE,
) -> xr.Dataset:
    """Return how many subjects and templates a test of verification needs.

    Parameters
    ----------
    pilot : Scores, optional
        Scores of a first, small test with labels: the spread of genuine errors between people, and
        between the templates of a person, is taken from them, or scores of its claims
        (:func:`claim_scores`). Without it, from `frr` and `icc`.
    far : float
        FAR of the operating point. Of a pilot, FRR is taken at the loosest threshold that keeps it.
    frr_width : float
        Largest width of the interval of the FRR. It is kept with a probability of 92 %.
    threshold : float or str, optional
        Threshold of the pilot: a number, or a rule; the loosest that keeps the FAR by default. A
        rule is one of :func:`cross_evaluate`.
    frr : float, optional
        Without a pilot: expected FRR.
    icc : float, optional
        Without a pilot: correlation of two genuine errors of a subject.
    n_templates : int or sequence of int, optional
        Templates of each subject, all compared with each other; 2, 3, 5 and 10 by default. Of a
        pilot of :func:`claim_scores` with one score for each subject they are not given: 1, 2, 3
        and 5 attempts of each subject are planned.
    confidence : float
        Confidence of the interval, and of the rule of 3.

    Returns
    -------
    xarray.Dataset
        Over ``templates``: ``subjects all_templates subject_sd design_effect``, or over
        ``attempts_of_subject``: ``subjects all_attempts subject_sd design_effect``. Scalars:
        ``frr icc template_icc``. Over ``rule`` (3 and 30): people that the FAR needs,
        ``subjects_for_far``, all compared with each other, with ``pairs_for_far`` (a pair counts
        once, however many templates it has), and those that the FRR needs, ``subjects_for_frr``.
        Of a pilot, ``pilot_subjects``, and ``people_estimated``, about how many a guarantee of the
        FAR (:func:`study_threshold`) needs by a strict threshold.

    Raises
    ------
    DataError
        If an assumption is missing, not usable, or given beside a pilot; if the pilot has no
        error, or fewer than two subjects with a genuine attempt.
    ProtocolError
        If the pilot has no labels, or is a list of pairs.

    Notes
    -----
    Rule of 3: no false accept in ``3 / far`` independent trials shows the FAR at 95 % (``-ln(1 -
    confidence) / far`` at another confidence). Rule of 30: 30 errors are expected (ISO/IEC 19795-1;
    Mansfield and Wayman 2002). Both take pairs of people as independent, though they share people:
    the least to ask for, and no statement of how exact a rate will be. Widths are
    those of normal intervals by subject; model, components and simulation: ``docs/uncertainty.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> plan = be.sample_size(far=1e-3, frr=0.02, icc=0.2, frr_width=0.01)
    >>> plan.templates.values, plan.subjects.values
    (array([ 2,  3,  5, 10]), array([3514, 1741, 1082,  854]))
    >>> plan.subjects_for_far.to_series().to_dict()
    {3: 78, 30: 246}
    """
    far = require_number("far", far, low=LEAST_FAR, high=0.5)
    width = require_number("frr_width", frr_width, above=0.0, high=1.0)
    confidence = require_number("confidence", confidence, above=0.0, high=0.9999)
    if pilot is None:
        errors = _errors_from_rate(frr, icc, threshold, n_templates)
    else:
        if frr is not None or icc is not None:
            raise DataError(
                "`frr` and `icc` are assumed instead of a pilot; give one "
                "or the other"
            )  # fmt: skip
        errors = _errors_of_pilot(pilot, far, threshold, n_templates)
    components = errors.components
    sizes = errors.sizes
    rate = components.rate
    messages = [*errors.messages]
    if width > rate:
        reason = (
            "the interval may be wider than the rate itself, and is then far from normal; plan a "
            "smaller width with `frr_width`"
        )
        messages.append(Message("plan-uncertain", why=reason))
    planned, variables = _subjects_for_interval(errors, width, confidence)
    variables |= {
        "frr": rate,
        "icc": components.between / components.total,
        "template_icc": components.template / components.total,
    }
    variables |= _people_by_rule(far, rate, confidence)
    if pilot is not None:
        curve = JudgedAttempts(pilot, confidence).far_curve()
        variables["pilot_subjects"] = np.int64(errors.subjects)
        variables["people_estimated"], _ = people_to_guarantee(curve, far)
    attrs = {
        **(errors.attrs or {}),
        "result_type": "sample-size",
        "task": "sample size",
        "far": far,
        "frr_width": width,
        "confidence": confidence,
        "assurance": ASSURANCE,
    }
    coordinates = {planned: sizes, "rule": np.array(RULES)}
    result = dataset(variables, SAMPLE_SIZE, coordinates, attrs)
    return result.assign_attrs(message_attrs([*_people_needed(result, planned), *messages]))


def _people_by_rule(far: float, frr: float, confidence: float) -> Variables:
    pairs = [_trials_required(rule, far, confidence) for rule in RULES]
    return variables_over(
        ("rule",),
        pairs_for_far=pairs,
        subjects_for_far=[*map(people_with, pairs)],
        subjects_for_frr=[_trials_required(rule, frr, confidence) for rule in RULES],
    )


def _subjects_for_interval(
    errors: GenuineErrors, width: float, confidence: float
) -> tuple[str, Variables]:
    """Return the dimension that is planned, and the subjects that an interval of a width needs."""
    sizes, rate = errors.sizes, errors.components.rate
    subjects = np.array([errors.people(size, width, confidence) for size in sizes.tolist()])
    if (subjects >= MOST).any():
        raise DataError(
            f"`frr_width` is {width:g} and takes more than {MOST:,} subjects; expected a larger "
            "width"
        )
    variances = errors.variances(sizes)[0]
    planned, all_samples = "templates", "all_templates"
    if errors.of_attempts:
        planned, all_samples = "attempts_of_subject", "all_attempts"
    return planned, variables_over(
        (planned,),
        subjects=subjects,
        subject_sd=np.sqrt(variances),
        design_effect=variances / (rate * (1 - rate) / errors.pairs(sizes)),
        **{all_samples: subjects * sizes},
    )


def _people_needed(ds: xr.Dataset, planned: str) -> Iterator[Message]:
    confidence = float(ds.attrs["confidence"])
    people = ds["subjects"].values.tolist()
    sizes = ds[planned].values.tolist()
    largest: dict[str, Any] = {}
    if len(sizes) > 1:
        largest = {"fewest_people": people[-1], "most_of_each": sizes[-1]}
    yield Message(
        "people-for-interval",
        confidence=confidence,
        width=100 * float(ds.attrs["frr_width"]),
        people=people[0],
        **{planned: sizes[0]},
        **largest,
    )
    rule_of_3, rule_of_30 = ds["subjects_for_far"].values.tolist()
    guarantee: dict[str, Any] = {}
    if "people_estimated" in ds and ds["people_estimated"].notnull():
        guarantee = {"promise": int(ds["people_estimated"]), "confidence": confidence}
    yield Message(
        "people-needed",
        target=float(ds.attrs["far"]),
        rule_of_3=rule_of_3,
        rule_of_30=rule_of_30,
        **guarantee,
    )


class GenuineErrors(NamedTuple):
    """Genuine errors of people, assumed or of a pilot, and the tests that are planned with them."""

    components: Components
    sizes: np.ndarray  # templates of each person, or attempts where these are planned
    without: Sequence[Components] = ()  # the components without each subject of the pilot
    subjects: int = 0  # of the pilot
    of_attempts: bool = False
    attrs: dict[str, Any] | None = None
    messages: Sequence[Message] = ()

    def pairs(self, size: Any) -> Any:
        """Return the genuine attempts of a person with so many templates, or attempts."""
        return size if self.of_attempts else size * (size - 1) / 2

    def variances(self, size: Any) -> np.ndarray:
        """Return the variance of a person's rate, then the variances without each pilot subject."""
        pairs = self.pairs(size)
        all_components = (self.components, *self.without)
        return np.array([x.subject_variance(size, pairs) for x in all_components])

    def people(self, size: int, width: float, confidence: float) -> int:
        """Return the number of people that an interval of this width needs."""
        variances = self.variances(size)
        variance = float(variances[0])
        if self.without:  # the uncertainty of the variance, by the jackknife over the pilot
            quantile = float(scipy.special.ndtri(ASSURANCE))
            variance += OF_PILOT * quantile * math.sqrt(jackknife(variances)[0])
        tails = kurtosis(self.components.rate, variance)
        return subjects_for_width(variance, tails, width, confidence)


def _errors_from_rate(
    frr: float | None, icc: float | None, threshold: Any, n_templates: Any
) -> GenuineErrors:
    if threshold is not None:
        raise DataError("`threshold` needs a pilot; without one, state frr and icc")
    if frr is None or icc is None:
        missing = f"`{'frr' if frr is None else 'icc'}`"
        raise DataError(
            f"{missing} is missing; expected a pilot, or the FRR that is expected and the "
            "correlation of two genuine errors of a person (0.1 to 0.3 is usual)"
        )
    rate = require_number("frr", frr, above=0.0, high=0.5)
    between = require_number("icc", icc, low=0.0, high=1.0)
    components = Components(rate, between * rate * (1 - rate), 0.0, rate * (1 - rate))
    return GenuineErrors(components, np.array(_numbers_of_templates(n_templates)))


def _errors_of_pilot(pilot: Scores, far: float, threshold: Any, n_templates: Any) -> GenuineErrors:
    require_scores(pilot, "pilot")
    require_subjects(pilot, "a pilot")
    threshold_used, messages = _threshold_of_pilot(pilot, far, threshold)
    tables, symmetric = _genuine_errors(pilot, threshold_used)
    components = components_of(tables, symmetric=symmetric)
    messages += _doubts(tables, components)
    components_without = components_without_each(tables, symmetric=symmetric)
    templates_each = pilot.shape[1] / len(np.unique(pilot.codes.gallery))
    if pilot.claims and templates_each == 1:  # an attempt makes one claim of each subject
        if n_templates is not None:
            raise DataError(
                "a pilot of claims plans attempts for the interval of its FRR; leave out "
                "`n_templates`"
            )
        components, *components_without = (
            replace(x, template=0.0) for x in (components, *components_without)
        )
        attrs = {"use": pilot.claims, "most_tries": pilot.tries, "threshold": threshold_used}
        sizes = np.array(ATTEMPTS)
        return GenuineErrors(
            components, sizes, components_without, len(tables), True, attrs, messages
        )
    sizes = np.array(_numbers_of_templates(n_templates))
    if sizes[-1] > round(templates_each):
        reason = (
            f"the pilot has about {counted(round(templates_each), 'templates')} of each subject, "
            "and plans for more reach the width less often"
        )
        messages.append(Message("plan-uncertain", why=reason))
    return GenuineErrors(
        components,
        sizes,
        components_without,
        len(tables),
        False,
        {"threshold": threshold_used},
        messages,
    )


def _threshold_of_pilot(pilot: Scores, far: float, threshold: Any) -> tuple[float, list[Message]]:
    messages = []
    if threshold is None:
        ds = verification(pilot, far_targets=[far], n_thresholds=2, auc=False)
        used = float(ds["threshold_at_far"][0])
        messages = messages_of(ds.attrs)
    else:
        rule = Rule.parse(threshold)
        used = require_number(
            "threshold", to_user(chosen_threshold(pilot, rule).threshold, pilot.kind)
        )
    if math.isnan(used):
        raise DataError("the pilot has no threshold: it lacks genuine or impostor attempts")
    return used, messages


def _genuine_errors(pilot: Scores, threshold: float) -> tuple[list[np.ndarray], bool]:
    """Return the genuine errors of each subject, and whether both sides have the same templates.

    The errors of (i, j) and of (j, i) are one pair, whose error is their mean.
    """
    limit = to_internal(np.array([threshold]), pilot.kind)[0]
    shared = bool(np.isin(pilot.probe_ids, pilot.gallery_ids).any())
    attempts = []
    for block in blocks_of(pilot, reported=False):
        row, column, value = block.genuine()
        person, ids = pilot.codes.probe[row], pilot.probe_ids[row]
        attempts.append(np.stack([person, ids, pilot.gallery_ids[column], value > limit]))
    subject, left, right, wrong = np.concatenate(attempts, axis=1)
    tables = []
    for person in np.unique(subject):
        mine = subject == person
        if shared:
            rows = columns = np.unique(np.concatenate([left[mine], right[mine]]))
        else:
            rows, columns = np.unique(left[mine]), np.unique(right[mine])
        places = np.searchsorted(rows, left[mine]), np.searchsorted(columns, right[mine])
        shape = len(rows), len(columns)
        total, number = np.zeros(shape), np.zeros(shape)
        np.add.at(total, places, wrong[mine])
        np.add.at(number, places, 1)
        if shared:
            total, number = total + total.T, number + number.T
        tables.append(np.divide(total, number, out=np.full(shape, np.nan), where=number > 0))
    if len(tables) < 2:
        raise DataError(
            f"the pilot has {counted(len(tables), 'subjects')} with a genuine attempt; the spread "
            "between people needs two or more"
        )
    return tables, shared


def _doubts(tables: list[np.ndarray], components: Components) -> list[Message]:
    wrong = int(np.count_nonzero(list(map(np.nansum, tables))))
    if not wrong or components.rate >= 1 or not components.total:
        statement = "nothing but genuine errors" if wrong else "no genuine error"
        raise DataError(
            f"the pilot has {statement} at the threshold, so their variation is unknown; give "
            "another `threshold`, or `frr` and `icc` instead "
            "of the pilot"
        )
    if wrong < _FEW:
        reason = f"only {counted(wrong, 'subjects')} of the pilot have a genuine error"
        return [Message("plan-uncertain", why=reason)]
    return []


def _trials_required(rule: RuleOf, rate: float, confidence: float) -> int:
    if rule == 3:
        errors = 3 if confidence == 0.95 else -math.log1p(-confidence)  # 3 / rate at 95 %
        return math.ceil(errors / rate - 1e-9)
    return rule.attempts_for(rate)


def _numbers_of_templates(n_templates: Any) -> list[int]:
    if n_templates is None:
        return list(TEMPLATES)
    try:
        template_numbers = np.atleast_1d(np.asarray(n_templates)).tolist()
    except ValueError:  # of unequal lengths
        template_numbers = [n_templates]
    sizes = [require_integer("n_templates", x, low=2) for x in template_numbers]
    if not sizes or sizes != sorted(set(sizes)):
        raise DataError(f"`n_templates` is {received(n_templates)}; expected increasing numbers")
    return sizes


@dataclass(frozen=True)
class Components:
    """Variance components of the error of a genuine pair.

    `between` is the covariance of two errors of a subject that share no template, and `template`
    what it grows by if they share one.
    """

    rate: float
    between: float
    template: float
    total: float  # variance of one error: rate (1 - rate), if each is 0 or 1

    def subject_variance(self, templates: Any, pairs: Any) -> Any:
        """Return the variance of a subject's mean over its pairs.

        ``between + 4 template / templates + (total - between - 2 template) / pairs``. The pairs are
        all pairs of the subject's templates, or attempts, which share no template of the same day.
        """
        residual = self.total - self.between - 2 * self.template
        return self.between + 4 * self.template / templates + residual / pairs


def components_of(errors: Iterable[np.ndarray], *, symmetric: bool) -> Components:
    """Return unbiased estimates of the components, cut off at 0.

    `errors` are those of the pairs of each subject, templates of one side by those of the other,
    NaN where there is none; `symmetric`, each pair is there twice. Every pair of errors weighs the
    same. Where no subject has two pairs without a shared template, what they would have in common
    is taken from those that share one.
    """
    return _components_of_sums(np.sum([_sums(table, symmetric) for table in errors], axis=0))


def components_without_each(errors: Sequence[np.ndarray], *, symmetric: bool) -> list[Components]:
    """Return the components without each subject in turn; not cut off at 0.

    Empty if some subjects left have no pair to estimate a component from.
    """
    sums = np.array([_sums(table, symmetric) for table in errors])
    left = sums.sum(axis=0) - sums
    if len(sums) < 3 or not (left[:, 2] > 0).all():
        return []
    return [_components_of_sums(x, cut_off=False) for x in left]


def _sums(table: np.ndarray, symmetric: bool) -> np.ndarray:
    """Return nine sums over the errors of a subject, which add up over subjects.

    The sum of errors, the sum of squares and the number; the squares of the sum and of the number;
    the sum of products of two errors that share a template and the number of products; the sum of
    products of two errors that share no template and the number of products.
    """
    is_pair = ~np.isnan(table)
    errors = np.where(is_pair, table, 0.0)
    weight = 0.5 if symmetric else 1.0
    total, squares, number = (weight * x.sum() for x in (errors, errors**2, is_pair))
    together = _sharing(errors, symmetric), _sharing(is_pair.astype(float), symmetric)
    separate = total**2 - squares - together[0], number * (number - 1) - together[1]
    return np.array([total, squares, number, total**2, number**2, *together, *separate])


def _components_of_sums(sums: np.ndarray, *, cut_off: bool = True) -> Components:
    total, squares, number, squared_totals, squared_numbers, *products = sums
    shared, separate = products[:2], products[2:]
    rate = total / number
    # The product of errors of two different subjects.
    pairs = number**2 - squared_numbers
    squared = (total**2 - squared_totals) / pairs if pairs else rate**2
    total_variance = max(0.0, squares / number - squared)
    joint = shared[0] / shared[1] - squared if shared[1] else math.nan
    within = separate[0] / separate[1] - squared if separate[1] else joint
    between = 0.0 if math.isnan(within) else within
    if cut_off:
        between = min(max(0.0, between), total_variance)
    template = joint - between if not math.isnan(joint) and separate[1] else 0.0
    if cut_off:
        template = min(max(0.0, template), (total_variance - between) / 2)
    return Components(float(rate), float(between), float(template), float(total_variance))


def _sharing(table: np.ndarray, symmetric: bool) -> float:
    """Return the sum of the products of two different entries that share a template."""
    alone = (table**2).sum()
    products = (table.sum(axis=0) ** 2).sum() - alone
    if symmetric:
        return float(products)
    return float(products + ((table.sum(axis=1) ** 2).sum() - alone))


def kurtosis(rate: float, variance: float) -> float:
    """Return the kurtosis of a beta distribution with this mean and variance."""
    size = max(rate * (1 - rate) / variance - 1, 1e-9)
    return 3 + float(scipy.stats.beta.stats(rate * size, (1 - rate) * size, moments="k"))


def subjects_for_width(variance: float, kurtosis: float, width: float, confidence: float) -> int:
    """Return the smallest number of subjects that gives an interval of the width wanted.

    - `variance`, `kurtosis`: of a subject's mean
    - `width`: both ends of the interval apart

    The interval is at most so wide with the probability `ASSURANCE`. The test will find another
    variance than the plan: the ratio of the variances is taken as a chi-squared distribution, with
    ``2 n / (kurtosis - 1)`` degrees of freedom.
    """
    from scipy.stats import chi2  # slow to import: only here

    quantile = float(scipy.special.ndtri(0.5 + confidence / 2))

    def narrow(n: int) -> bool:
        degrees = 2 * n / max(kurtosis - 1, 1e-9)
        ratio = chi2.ppf(ASSURANCE, degrees) / degrees
        return bool(2 * quantile * math.sqrt(variance * ratio / n) <= width)

    return 2 + bisect_left(range(2, MOST), True, key=narrow)
