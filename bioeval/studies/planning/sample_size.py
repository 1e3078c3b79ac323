"""How large a test must be: subjects, templates and sessions for a FAR and for a width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.special
import scipy.stats
import xarray as xr

from bioeval.attempts.counters import gather
from bioeval.attempts.threshold_rules import Rule
from bioeval.attempts.thresholds import to_internal, to_user
from bioeval.base.arguments import require_integer, require_number
from bioeval.base.errors import Argument, DataError, counted, received, require_choice
from bioeval.base.messages import Message, message_attrs
from bioeval.base.random import RandomState
from bioeval.base.scalars import Name
from bioeval.base.version import __version__
from bioeval.document.results import messages_of_result
from bioeval.results.dataset import Variables, along, build
from bioeval.results.support import ComparedPeople, RuleOf
from bioeval.scores.blocks import BlockReader, require_subjects
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores, codes_of, require_scores
from bioeval.stats.options import IntervalMethod
from bioeval.studies.assurance.assured import ASSURED, people_to_promise
from bioeval.studies.assurance.pairs_of_people import PairShares
from bioeval.tasks.threshold_choice import chosen_threshold
from bioeval.tasks.verification_task import verification

# Fewer subjects of a pilot with an error say little about the spread between people.
_FEW = 20


@dataclass(frozen=True)
class PlanBasis:
    """Starting point of a plan: the figures of a pilot, or assumed ones."""

    components: Components
    value: float  # of the measure
    subjects: float = math.inf  # in the pilot
    variance: float | None = None  # of a subject, where templates are those of the pilot
    #: Without each subject of the pilot.
    without: Sequence[Components] = ()
    threshold: float = math.nan
    messages: Sequence[Message] = ()

    def variance_of(self, templates: int) -> float:
        """Variance of the rate of a subject with a given number of templates."""
        if self.variance is not None:
            return self.variance
        return self.components.subject_variance(templates)

    def error_of_variance(self, templates: int) -> float:
        """Return the standard error of that variance: by the jackknife over the pilot's subjects.

        Of an EER, that of a beta distribution; 0 of assumed figures.
        """
        n = len(self.without)
        if self.variance is not None:
            degrees = freedom(self.subjects, kurtosis(self.value, self.variance))
            return self.variance * math.sqrt(2 / degrees)
        if not n:
            return 0.0
        left = np.array([x.subject_variance(templates) for x in self.without])
        return float(np.sqrt((n - 1) / n * ((left - left.mean()) ** 2).sum()))

    def subjects_needed(
        self, templates: int, width: float, confidence: float, assurance: float
    ) -> int:
        """Return the subjects that an interval of this width needs."""
        z = float(scipy.special.ndtri(assurance))
        variance = self.variance_of(templates) + OF_PILOT * z * self.error_of_variance(templates)
        tails = kurtosis(self.value, variance)
        return subjects_for_width(variance, tails, width, confidence, assurance)


def stated(frr: float | None, icc: float | None, template_icc: float) -> PlanBasis:
    """Return the assumed figures that replace a pilot."""
    if frr is None or icc is None:
        missing = Argument("frr" if frr is None else "icc")
        raise DataError(
            missing,
            " is missing; expected a pilot, or the FRR that is expected and the correlation of "
            "two genuine errors of a person (0.1 to 0.3 is usual)",
        )
    rate = require_number("frr", frr, above=0.0, high=0.5)
    between = require_number("icc", icc, low=0.0, high=1.0)
    template = require_number("template_icc", template_icc, low=0.0, high=0.5)
    if between + 2 * template > 1:
        raise DataError(
            Argument("icc"),
            " + 2 ",
            Argument("template_icc"),
            f" is {between + 2 * template:g}; expected at most 1, the whole variance",
        )
    components = assumed(rate, between, template)
    return PlanBasis(components, components.rate)


def of_pilot(
    pilot: Scores,
    measure: str,
    far: float,
    threshold: Any,
    confidence: float,
    random_state: RandomState,
) -> PlanBasis:
    """Return the figures of a pilot at its operating point."""
    require_scores(pilot, "pilot")
    require_subjects(pilot, "a pilot")
    point = _operating_point(pilot, measure, far, threshold, confidence, random_state)
    tables, shared = _errors(pilot, point.threshold)
    components = components_of(tables, symmetric=shared)
    subjects, value, variance = len(tables), components.rate, None
    messages = [*point.messages, *_doubts(tables, components)]
    if measure == "eer":
        z = float(scipy.special.ndtri(0.5 + confidence / 2))
        value, variance = point.eer, subjects * (point.width / (2 * z)) ** 2
    without = components_without_each(tables, symmetric=shared)
    if _is_of_attempts(pilot):
        components = AttemptComponents.of(components)
        without = [AttemptComponents.of(x) for x in without]
    return PlanBasis(components, value, subjects, variance, without, point.threshold, messages)


def _is_of_attempts(pilot: Scores) -> bool:
    """Whether each subject is claimed once by an attempt: claim scores of several templates."""
    return bool(pilot._claims) and pilot.shape[1] == len(np.unique(codes_of(pilot).gallery))


@dataclass
class _PilotPoint:
    """The threshold of a pilot; its EER and the width of the interval, if that is planned."""

    threshold: float
    messages: Sequence[Message] = ()
    eer: float = math.nan
    width: float = math.nan


def _operating_point(
    pilot: Scores,
    measure: str,
    far: float,
    threshold: Any,
    confidence: float,
    random_state: RandomState,
) -> _PilotPoint:
    """Return the pilot's threshold; for an EER also its value and interval width."""
    if measure == "eer":
        method = IntervalMethod("subject-bootstrap", confidence, random_state=random_state)
        ds = verification(pilot, auc=False, interval=method)
        width = float(ds["eer_high"] - ds["eer_low"])
        point = _PilotPoint(float(ds["eer_threshold"]), eer=float(ds["eer"]), width=width)
    else:
        ds = verification(pilot, far_targets=[far], thresholds=2, auc=False)
        point = _PilotPoint(float(ds["threshold_at_far"][0]))
    if threshold is None:
        point.messages = messages_of_result(ds)
    else:
        rule = Rule.parse(threshold)
        chosen = chosen_threshold(BlockReader(pilot), rule)
        point.threshold = to_user(chosen, pilot.kind)
        require_number("threshold", point.threshold)
    if math.isnan(point.threshold):
        raise DataError("the pilot has no threshold: it lacks genuine or impostor attempts")
    return point


def _errors(pilot: Scores, threshold: float) -> tuple[list[np.ndarray], bool]:
    """Return the genuine errors of each subject, and whether both sides have the same templates.

    An error of (i, j) and of (j, i) is that of one pair, their mean.
    """
    reader = BlockReader(pilot)
    limit = to_internal(np.array([threshold]), pilot.kind)[0]
    shared = bool(np.isin(pilot.probe_ids, pilot.gallery_ids).any())
    attempts = []
    for block in reader:
        value, row, position = gather(
            block.values, block.mate_start, block.mate_stop, block.probe_position
        )
        row, column = row + block.low, reader.gallery.columns[0, position]
        who, ids = codes_of(pilot).probe[row], pilot.probe_ids[row]
        attempts.append(np.stack([who, ids, pilot.gallery_ids[column], value > limit]))
    subject, left, right, wrong = np.concatenate(attempts, axis=1)
    tables = []
    for who in np.unique(subject):
        mine = subject == who
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
    """Return messages about a pilot; raise where nothing can be planned from it."""
    wrong = int(np.count_nonzero(list(map(np.nansum, tables))))
    if not wrong or components.rate >= 1 or not components.total:
        statement = "nothing but genuine errors" if wrong else "no genuine error"
        raise DataError(
            f"the pilot has {statement} at the threshold, so their variation is unknown; give "
            "another ",
            Argument("threshold"),
            ", or ",
            Argument("frr"),
            " and ",
            Argument("icc"),
            " instead of the pilot",
        )
    if wrong < _FEW:
        return [Message("few-pilot-errors", subjects=wrong)]
    return []


_PEOPLE = (
    "people who make as many pairs, all compared with each other, rule of {rule}; templates do not "
    "count"
)
_GENUINE_PEOPLE = "people with genuine attempts that the FRR needs, rule of {rule}"

SAMPLE_SIZE = {
    "attempts_of_subject": Name("attempts of each subject", "attempts"),
    "all_attempts": Name("attempts of all these subjects", "attempts"),
    "subjects": Name("subjects for the width of the interval", "subjects"),
    "sessions": Name("sessions of each subject, at least two", "sessions"),
    "all_templates": Name("templates of all these subjects", "templates"),
    "value": Name("expected FRR or EER"),
    "subject_sd": Name("standard deviation of a subject's rate"),
    "design_effect": Name("variance of the rate over that of as many independent genuine pairs"),
    "icc": Name("correlation of two genuine errors of a subject that share no template"),
    "template_icc": Name("the same of two that share a template, less icc"),
    "trials_rule_of_3": Name("pairs of people without a false accept that show the FAR", "pairs"),
    "trials_rule_of_30": Name("pairs of people with 30 false accepts expected at the FAR", "pairs"),
    "subjects_rule_of_3": Name(_PEOPLE.format(rule=3), "subjects"),
    "subjects_rule_of_30": Name(_PEOPLE.format(rule=30), "subjects"),
    "people_estimated": ASSURED["people_estimated"],
    "subjects_rule_of_3_frr": Name(_GENUINE_PEOPLE.format(rule=3), "subjects"),
    "subjects_rule_of_30_frr": Name(_GENUINE_PEOPLE.format(rule=30), "subjects"),
    "pilot_subjects": Name("subjects of the pilot with a genuine attempt", "subjects"),
}

TEMPLATES = (2, 3, 5, 10)

#: Attempts of each subject that are planned, where an attempt is a claim in use.
ATTEMPTS = (1, 2, 3, 5)

PlannedRate = Literal["frr", "eer"]

#: The rule of 30 takes more trials than int64 holds for a smaller FAR.
LEAST_FAR = 1e-17

#: Probability of an interval as narrow as planned. The intervals of simulated tests are so in 93 to
#: 97 % of them: see docs/planning.md.
ASSURANCE = 0.92


@leaves_out_attacks
def sample_size(
    pilot: Scores | None = None,
    *,
    far: float = 1e-4,
    frr_width: float = 0.01,
    measure: PlannedRate = "frr",
    threshold: Any = None,
    frr: float | None = None,
    icc: float | None = None,
    template_icc: float = 0.0,
    templates: int | Sequence[int] | None = None,
    templates_per_session: int = 1,
    confidence: float = IntervalMethod.CONFIDENCE,
    assurance: float = ASSURANCE,
    random_state: RandomState = 0,
) -> xr.Dataset:
    """Return how many subjects, templates and sessions a test of verification needs.

    Parameters
    ----------
    pilot : Scores, optional
        Scores of a first, small test with labels: the spread of genuine errors between people, and
        between the templates of a person, is taken from them, or scores of its claims
        (:func:`claim_scores`). Without it, from `frr` and `icc`.
    far : float
        The FAR that the test is to show; of a pilot, FRR is taken at the loosest threshold that
        keeps it.
    frr_width : float
        The interval's ends are to be at most so far apart.
    measure : {"frr", "eer"}
        Whose interval it is. The EER needs a pilot, with as many templates a subject as planned.
    threshold : float or str, optional
        Of the pilot, in place of the one at `far`: a number, or a rule as for
        :func:`cross_evaluate`.
    frr, icc, template_icc : float, optional
        Without a pilot: the FRR that is expected; the correlation of two genuine errors of a
        subject that share no template, and what it grows by where they share one.
    templates : int or sequence of int, optional
        Templates of each subject, all compared with each other; 2, 3, 5 and 10 by default. Of a
        pilot of :func:`claim_scores` with one score for each subject they are not given: 1, 2, 3
        and 5 attempts of each subject are planned.
    templates_per_session : int
        Templates that a subject gives in one visit.
    confidence : float
        Of the interval, and of the rule of 3.
    assurance : float
        Planned probability that the interval is as narrow as wanted.
    random_state : int, None, numpy SeedSequence, Generator or RandomState
        Of the interval of a pilot's EER.

    Returns
    -------
    xarray.Dataset
        Over ``templates``: ``subjects sessions all_templates subject_sd design_effect``, or over
        ``attempts_of_subject``: ``subjects all_attempts subject_sd design_effect``. Scalars:
        ``value icc template_icc``; people that the FAR needs: ``subjects_rule_of_3
        subjects_rule_of_30``, all compared with each other, with ``trials_rule_of_3
        trials_rule_of_30`` pairs of people (a pair counts once, however many templates it has);
        people that the FRR needs: ``subjects_rule_of_3_frr subjects_rule_of_30_frr``. Of a pilot,
        ``pilot_subjects``, and ``people_estimated``, about how many a promise of the FAR
        (:func:`study_threshold`) needs by a strict threshold.

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
    those of intervals by subject; model, components and simulation: ``docs/planning.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> plan = be.sample_size(far=1e-3, frr=0.02, icc=0.2, frr_width=0.01)
    >>> plan.templates.values, plan.subjects.values
    (array([ 2,  3,  5, 10]), array([3514, 1741, 1082,  854]))
    >>> int(plan.subjects_rule_of_3), int(plan.subjects_rule_of_30)
    (78, 246)
    """
    far = require_number("far", far, low=LEAST_FAR, high=0.5)
    width = require_number("frr_width", frr_width, above=0.0, high=1.0)
    require_choice("measure", measure, get_args(PlannedRate))
    confidence = require_number("confidence", confidence, above=0.0, high=0.9999)
    assurance = require_number("assurance", assurance, low=0.5, high=0.9999)
    each = require_integer("templates_per_session", templates_per_session, low=1, high=10**9)
    attrs: dict[str, Any] = {
        "result_type": "sample-size",
        "task": "sample size",
        "measure": measure,
        "far": far,
        "frr_width": width,
        "confidence": confidence,
        "assurance": assurance,
        "templates_per_session": each,
        "bioeval_version": __version__,
    }
    of_attempts = False
    messages: list[Message] = []
    if pilot is None:
        if measure == "eer" or threshold is not None:
            argument = Argument("threshold")
            if measure == "eer":
                argument = Argument("measure", "eer")
            raise DataError(argument, " needs a pilot; without one, state frr and icc")
        basis = stated(frr, icc, template_icc)
    else:
        if frr is not None or icc is not None or template_icc:
            raise DataError(
                Argument("frr"),
                ", ",
                Argument("icc"),
                " and ",
                Argument("template_icc"),
                " are assumed instead of a pilot; give one or the other",
            )
        basis = of_pilot(pilot, measure, far, threshold, confidence, random_state)
        of_attempts = _is_of_attempts(pilot)
        if of_attempts:
            if templates is not None or measure != "frr":
                raise DataError(
                    "a pilot of claims plans attempts for the interval of its FRR; leave out ",
                    Argument("templates") if measure == "frr" else Argument("measure", measure),
                )
            attrs |= {"use": pilot._claims, "most_tries": pilot._tries}
        attrs["threshold"] = basis.threshold
        if measure == "eer":
            if templates is not None:
                raise DataError(
                    Argument("templates"),
                    " cannot be varied with ",
                    Argument("measure", "eer"),
                    ": the plan is for as many as in the pilot",
                )
            templates = max(2, round(pilot.shape[1] / len(np.unique(codes_of(pilot).gallery))))
    sizes = np.array(ATTEMPTS if of_attempts else _sizes(templates))
    variables: Variables = {"value": basis.value}
    variables |= _subjects(
        basis, sizes, each, width, confidence, assurance, of_attempts=of_attempts
    )
    variables |= {
        "icc": basis.components.between / basis.components.total,
        "template_icc": basis.components.template / basis.components.total,
    }
    variables |= _rules(far, basis.value if measure == "frr" else 0.0, confidence)
    if pilot is not None:
        variables["pilot_subjects"] = np.int64(basis.subjects)
        shares = PairShares(pilot, far, templates="single", fusion="min")
        variables["people_estimated"] = people_to_promise(shares, far, confidence).people
    messages += basis.messages
    if pilot is not None and measure == "frr" and not of_attempts:
        each = round(pilot.shape[1] / len(np.unique(codes_of(pilot).gallery)))
        if sizes[-1] > each:
            messages.append(Message("more-templates-than-pilot", templates=each))
    if width > basis.value:
        messages.append(Message("width-above-rate", rate=float(basis.value)))
    attrs |= message_attrs(messages)
    over = "attempts_of_subject" if of_attempts else "templates"
    return build(variables, SAMPLE_SIZE, {over: sizes}, attrs)


def _subjects(
    basis: PlanBasis,
    sizes: np.ndarray,
    per_session: int,
    width: float,
    confidence: float,
    assurance: float,
    *,
    of_attempts: bool,
) -> Variables:
    """Return the subjects that an interval of this width needs, for each number of templates.

    Or for each number of attempts of a subject, `of_attempts`.
    """
    numbers, deviations, effects = [], [], []
    for size in sizes.tolist():
        variance = basis.variance_of(size)
        subjects = basis.subjects_needed(size, width, confidence, assurance)
        if subjects >= MOST:
            raise DataError(
                Argument("frr_width"),
                f" is {width:g} and takes more than {MOST:,} subjects; expected a larger width",
            )
        pairs = size if of_attempts else size * (size - 1) / 2
        independent = basis.value * (1 - basis.value) / pairs
        numbers.append(subjects)
        deviations.append(math.sqrt(variance))
        effects.append(variance / independent)
    number = np.array(numbers, dtype=np.int64)
    if of_attempts:
        return along(
            ("attempts_of_subject",),
            subjects=number,
            all_attempts=number * sizes,
            subject_sd=np.array(deviations),
            design_effect=np.array(effects),
        )
    return along(
        ("templates",),
        subjects=number,
        sessions=np.maximum(2, -(-sizes // per_session)),
        all_templates=number * sizes,
        subject_sd=np.array(deviations),
        design_effect=np.array(effects),
    )


def _rules(far: float, frr: float, confidence: float) -> Variables:
    """Return the pairs of people and the people that rates need, by rules."""
    variables: Variables = {}
    for rule, trials in _trials(far, confidence).items():
        variables |= {
            f"trials_rule_of_{rule}": trials,
            f"subjects_rule_of_{rule}": ComparedPeople.least_with(trials),
        }
    if frr > 0:
        for rule, people in _trials(frr, confidence).items():
            variables[f"subjects_rule_of_{rule}_frr"] = people
    return variables


def _trials(rate: float, confidence: float) -> dict[int, int]:
    """Return the independent trials that the rules of 3 and 30 require."""
    errors = RuleOf(3) if confidence == 0.95 else -math.log1p(-confidence)  # 3 / rate at 95 %
    return {
        RuleOf(3): math.ceil(errors / rate - 1e-9),
        RuleOf(30): RuleOf(30).attempts_for(rate),
    }


def _sizes(templates: Any) -> list[int]:
    """Return the numbers of templates to plan for, checked."""
    if templates is None:
        return list(TEMPLATES)
    try:
        template_numbers = np.atleast_1d(np.asarray(templates)).tolist()
    except ValueError:  # of unequal lengths
        template_numbers = [templates]
    sizes = [require_integer("templates", x, low=2) for x in template_numbers]
    if not sizes or sizes != sorted(set(sizes)):
        raise DataError(
            Argument("templates"), f" is {received(templates)}; expected increasing numbers"
        )
    return sizes


#: By how many standard errors of a pilot's variance the plan is larger, as a part of the normal
#: quantile of `assurance`. Set by simulation (docs/planning.md).
OF_PILOT = 0.7

#: More subjects than there are people.
MOST = 10_000_000_000


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

    def subject_variance(self, templates: int) -> float:
        """Return the variance of a subject's mean over all pairs of its templates."""
        pairs = templates * (templates - 1) / 2
        rest = self.total - self.between - 2 * self.template
        return self.between + 4 * self.template / templates + rest / pairs


class AttemptComponents(Components):
    """The components of the error of an attempt: of the subject, and of the attempt itself."""

    @classmethod
    def of(cls, components: Components) -> AttemptComponents:
        """Return those of attempts, two of which share no template of the same day."""
        return cls(components.rate, components.between, 0.0, components.total)

    def subject_variance(self, templates: int) -> float:
        """Return the variance of a subject's mean over this number of attempts."""
        return self.between + (self.total - self.between) / templates


def assumed(rate: float, icc: float, template_icc: float) -> Components:
    """Return the components of 0-or-1 errors from their correlations."""
    total = rate * (1 - rate)
    return Components(rate, icc * total, template_icc * total, total)


def components_of(errors: Iterable[np.ndarray], *, symmetric: bool) -> Components:
    """Return unbiased estimates of the components, cut off at 0.

    Parameters
    ----------
    errors : iterable of float arrays, shape (t, u)
        For each subject the errors of its pairs, templates of one side by those of the other; NaN
        where there is none.
    symmetric : bool
        Whether the same templates are on both sides, so that each pair is in its array twice.

    Returns
    -------
    Components
        Every pair of errors weighs the same. Where no subject has two pairs without a shared
        template, what they would have in common is taken from those that share one.
    """
    return _of_sums(np.sum([_sums(table, symmetric) for table in errors], axis=0))


def components_without_each(errors: Sequence[np.ndarray], *, symmetric: bool) -> list[Components]:
    """Return the components of all subjects but one, for each of them; not cut off at 0.

    None where a part of them has nothing to be estimated from.
    """
    sums = np.array([_sums(table, symmetric) for table in errors])
    left = sums.sum(axis=0) - sums
    if len(sums) < 3 or not (left[:, 2] > 0).all():
        return []
    return [_of_sums(x, cut_off=False) for x in left]


def _sums(table: np.ndarray, symmetric: bool) -> np.ndarray:
    """Return what the components need of one subject; that of several is the sum.

    The sum of errors, of their squares, their number; the squares of the sum and of the number;
    and the sum of products of two errors, and their number, of those that share a template and of
    those that do not.
    """
    there = ~np.isnan(table)
    y, weight = np.where(there, table, 0.0), 0.5 if symmetric else 1.0
    total, squares, number = (weight * x.sum() for x in (y, y**2, there))
    together = _sharing(y, symmetric), _sharing(there.astype(float), symmetric)
    apart = total**2 - squares - together[0], number * (number - 1) - together[1]
    return np.array([total, squares, number, total**2, number**2, *together, *apart])


def _of_sums(sums: np.ndarray, *, cut_off: bool = True) -> Components:
    """Return the components of some subjects by their sums."""
    total, squares, number, squared_totals, squared_numbers, *products = sums
    shared, apart = products[:2], products[2:]
    rate = total / number
    # The product of errors of two different subjects.
    pairs = number**2 - squared_numbers
    squared = (total**2 - squared_totals) / pairs if pairs else rate**2
    whole = max(0.0, squares / number - squared)
    joint = shared[0] / shared[1] - squared if shared[1] else math.nan
    within = apart[0] / apart[1] - squared if apart[1] else joint
    between = 0.0 if math.isnan(within) else within
    if cut_off:
        between = min(max(0.0, between), whole)
    template = joint - between if not math.isnan(joint) and apart[1] else 0.0
    if cut_off:
        template = min(max(0.0, template), (whole - between) / 2)
    return Components(float(rate), float(between), float(template), float(whole))


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
    a, b = rate * size, (1 - rate) * size
    top = (a - b) ** 2 * (size + 1) - a * b * (size + 2)
    return 3 + 6 * top / (a * b * (size + 2) * (size + 3))


def freedom(subjects: float, kurtosis: float) -> float:
    """Return the degrees of freedom of the variance between subjects, from its own variance."""
    return 2 * subjects / max(kurtosis - 1, 1e-9)


def subjects_for_width(
    variance: float,
    kurtosis: float,
    width: float,
    confidence: float,
    assurance: float,
) -> int:
    """Return the smallest number of subjects that gives an interval of the width wanted.

    - `variance`, `kurtosis`: of a subject's mean
    - `width`: both ends of the interval apart
    - `assurance`: the probability that the interval is at most so wide. The variance that the test
      will find is not that of the plan: their ratio is taken as a chi-squared distribution, with
      degrees of freedom by the kurtosis
    """
    z = float(scipy.special.ndtri(0.5 + confidence / 2))

    def narrow(n: int) -> bool:
        degrees = freedom(n, kurtosis)
        ratio = scipy.stats.chi2.ppf(assurance, degrees) / degrees
        return bool(2 * z * math.sqrt(variance * ratio / n) <= width)

    low, high = 1, 2
    while not narrow(high):
        low, high = high, 2 * high
        if high > MOST:
            return MOST
    while high - low > 1:
        middle = (low + high) // 2
        if narrow(middle):
            high = middle
        else:
            low = middle
    return high
