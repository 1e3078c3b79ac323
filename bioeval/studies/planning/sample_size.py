"""How large a test must be: subjects for a FAR, and for an interval of an FRR of some width."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
from bioeval.scores.matrix import Scores
from bioeval.scores.requirements import require_scores, require_subjects
from bioeval.scores.rows import blocks_of
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.limits import jackknife
from bioeval.stats.options import IntervalMethod
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.assurance.assured import ASSURED, people_to_guarantee
from bioeval.studies.assurance.judged_rates import JudgedAttempts
from bioeval.studies.planning.variance_components import (
    ASSURANCE,
    MOST_SUBJECTS,
    Components,
    beta_kurtosis,
    components_of,
    components_without_each,
    subjects_for_width,
)
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

#: The templates of each subject that are planned by default.
TEMPLATES = (2, 3, 5, 10)

#: The attempts of each subject that are planned with a pilot of claims.
ATTEMPTS = (1, 2, 3, 5)

#: The rule of 30 takes more trials than int64 holds for a smaller FAR.
LEAST_FAR = 1e-17

#: The plan adds ``OF_PILOT * z`` standard errors to the variance of a pilot, where ``z`` is the
#: normal quantile of `ASSURANCE`. Set by simulation (docs/uncertainty.md).
OF_PILOT = 0.7

# With fewer erring subjects, a pilot says little about the spread between people.
_FEW = 20


@warns_of_doubts
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
        Labelled scores of a small first test, or scores of its claims (:func:`claim_scores`). The
        spread of genuine errors between people, and between the templates of a person, is
        estimated from them; without a pilot, `frr` and `icc` state it.
    far : float
        FAR of the operating point. The FRR of a pilot is taken at the loosest threshold that keeps
        this FAR.
    frr_width : float
        Largest width of the interval of the FRR. The interval is as narrow with a probability of
        92 %.
    threshold : float or str, optional
        Threshold of the pilot: a number, or a rule of :func:`cross_evaluate`. By default, the
        loosest threshold that keeps the FAR.
    frr : float, optional
        Without a pilot: expected FRR.
    icc : float, optional
        Without a pilot: correlation of two genuine errors of a subject.
    n_templates : int or sequence of int, optional
        Templates of each subject, all compared with each other; 2, 3, 5 and 10 by default. Leave
        them out if the pilot is of :func:`claim_scores` with one score for each subject: 1, 2, 3
        and 5 attempts of each subject are then planned.
    confidence : float
        Confidence of the interval, and of the rule of 3.

    Returns
    -------
    xarray.Dataset
        - ``subjects``, ``all_templates``, ``subject_sd`` and ``design_effect`` over ``templates``;
          or over ``attempts_of_subject``, with ``all_attempts`` in place of ``all_templates``
        - ``frr``, ``icc`` and ``template_icc``
        - ``pairs_for_far`` over ``rule`` (3 and 30): the pairs of people that the FAR needs; a pair
          counts once, however many templates it has
        - ``subjects_for_far`` over ``rule``: the people who form as many pairs if all are compared
        - ``subjects_for_frr`` over ``rule``: the people that the FRR needs

        With a pilot, also:

        - ``pilot_subjects``
        - ``people_estimated``: about how many people a guarantee of the FAR
          (:func:`study_threshold`) needs with a strict threshold

    Raises
    ------
    DataError
        If `frr` or `icc` is missing, not usable, or given together with a pilot; if the pilot has
        no error, or fewer than two subjects with a genuine attempt.
    ProtocolError
        If the pilot has no labels, or is a list of pairs.

    Notes
    -----
    - Rule of 3: no false accept in ``3 / far`` independent trials shows the FAR at 95 % (``-ln(1 -
      confidence) / far`` at another confidence).
    - Rule of 30: 30 errors are expected (ISO/IEC 19795-1; Mansfield and Wayman 2002).
    - Both rules take pairs of people as independent, although pairs share people. Their numbers are
      lower bounds, and do not say how exact a rate will be.
    - Widths are of normal intervals by subject.
    - ``docs/uncertainty.md`` has the model, its components and the simulation.

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
            raise DataError("`frr` and `icc` are assumed instead of a pilot; give one or the other")
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
    pairs = [_trials_required(rule, far, confidence) for rule in RULES]
    variables |= variables_over(
        ("rule",),
        pairs_for_far=pairs,
        subjects_for_far=[*map(people_with, pairs)],
        subjects_for_frr=[_trials_required(rule, rate, confidence) for rule in RULES],
    )
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


def _subjects_for_interval(
    errors: GenuineErrors, width: float, confidence: float
) -> tuple[str, Variables]:
    sizes = errors.sizes
    rate = errors.components.rate
    subjects = np.array([errors.people(size, width, confidence) for size in sizes.tolist()])
    if (subjects >= MOST_SUBJECTS).any():
        raise DataError(
            f"`frr_width` is {width:g} and takes more than {MOST_SUBJECTS:,} subjects; "
            "expected a larger width"
        )
    variances = errors.variances(sizes)[0]
    planned = "attempts_of_subject" if errors.of_attempts else "templates"
    all_samples = "all_attempts" if errors.of_attempts else "all_templates"
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
    """Genuine errors of people, assumed or of a pilot, and the sizes that are planned."""

    components: Components
    sizes: np.ndarray  # templates of each person, or attempts of each person
    without: Sequence[Components] = ()  # the components without each subject of the pilot
    subjects: int = 0  # subjects of the pilot
    of_attempts: bool = False  # whether sizes are attempts
    attrs: dict[str, Any] | None = None  # attributes of the result
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
        if self.without:  # the jackknife over the subjects of the pilot
            quantile = float(scipy.special.ndtri(ASSURANCE))
            variance += OF_PILOT * quantile * math.sqrt(jackknife(variances)[0])
        kurtosis = beta_kurtosis(self.components.rate, variance)
        return subjects_for_width(variance, kurtosis, width, confidence)


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
        return GenuineErrors(
            components,
            np.array(ATTEMPTS),
            without=components_without,
            subjects=len(tables),
            of_attempts=True,
            attrs=attrs,
            messages=messages,
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
        without=components_without,
        subjects=len(tables),
        attrs={"threshold": threshold_used},
        messages=messages,
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
    """Return a table of genuine errors of each subject, and whether both sides share templates.

    A table is templates of one side by templates of the other, with NaN where two templates are not
    compared. If both sides share templates, it is symmetric, and the error of a pair is the mean of
    its two comparisons.
    """
    limit = to_internal(np.array([threshold]), pilot.kind)[0]
    shares_templates = bool(np.isin(pilot.probe_ids, pilot.gallery_ids).any())
    attempts_of_blocks = []
    for block in blocks_of(pilot, reported=False):
        row, column, value = block.genuine()
        person = pilot.codes.probe[row]
        probe, template = pilot.probe_ids[row], pilot.gallery_ids[column]
        attempts_of_blocks.append(np.stack([person, probe, template, value > limit]))
    attempts = np.concatenate(attempts_of_blocks, axis=1)
    tables = [
        _error_table(attempts[1:, attempts[0] == person], shares_templates)
        for person in np.unique(attempts[0])
    ]
    if len(tables) < 2:
        raise DataError(
            f"the pilot has {counted(len(tables), 'subjects')} with a genuine attempt; the spread "
            "between people needs two or more"
        )
    return tables, shares_templates


def _error_table(attempts: np.ndarray, symmetric: bool) -> np.ndarray:
    """Return the errors of one subject as a table; see :func:`_genuine_errors`.

    `attempts` (3, n) are the probe, the gallery template, and 1 for an error.
    """
    probe, template, is_error = attempts
    rows, columns = np.unique(probe), np.unique(template)
    if symmetric:
        rows = columns = np.union1d(probe, template)
    cells = np.searchsorted(rows, probe), np.searchsorted(columns, template)
    errors, attempts = np.zeros((2, len(rows), len(columns)))
    np.add.at(errors, cells, is_error)
    np.add.at(attempts, cells, 1)
    if symmetric:
        errors = errors + errors.T
        attempts = attempts + attempts.T
    return ratio(errors, attempts)


def _doubts(tables: list[np.ndarray], components: Components) -> list[Message]:
    wrong = int(np.count_nonzero(list(map(np.nansum, tables))))
    if not wrong or components.rate >= 1 or not components.total:
        statement = "nothing but genuine errors" if wrong else "no genuine error"
        raise DataError(
            f"the pilot has {statement} at the threshold, so their variation is unknown; "
            "give another `threshold`, or `frr` and `icc` instead of the pilot"
        )
    if wrong < _FEW:
        reason = f"only {counted(wrong, 'subjects')} of the pilot have a genuine error"
        return [Message("plan-uncertain", why=reason)]
    return []


def _trials_required(rule: RuleOf, rate: float, confidence: float) -> int:
    if rule == 3:
        errors = 3 if confidence == 0.95 else -math.log1p(-confidence)  # 3 / rate at 95 %
        return math.ceil(errors / rate - 1e-9)  # rounding errors require no trial
    return rule.attempts_for(rate)


def _numbers_of_templates(n_templates: Any) -> list[int]:
    if n_templates is None:
        return list(TEMPLATES)
    try:
        template_numbers = np.atleast_1d(np.asarray(n_templates)).tolist()
    except ValueError:  # lengths differ
        template_numbers = [n_templates]
    sizes = [require_integer("n_templates", x, low=2) for x in template_numbers]
    if not sizes or sizes != sorted(set(sizes)):
        raise DataError(f"`n_templates` is {received(n_templates)}; expected increasing numbers")
    return sizes
