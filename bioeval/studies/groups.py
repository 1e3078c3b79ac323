"""Verification by group: of people, or of attempts by a condition.

The definition, at one threshold for all groups::

    for probe, template in attempts:
        g, h = group_of[probe], group_of[template]
        if same person:
            genuine_attempts[g] += 1
            fr[g] += probe is not accepted
        else:
            impostor_attempts[g, h] += 1  # groups of attempts: [g], the group of the probe alone
            fa[g, h] += probe is accepted
    frr, far = fr / genuine_attempts, fa / impostor_attempts

In results and in the arrays of :func:`_rates`, a last row and a last column are all groups
together, ``(groups + 1,)`` and ``(groups + 1, groups + 1)``: the group of the probe, then the group
of the claimed subject. In intervals, groups are ``g`` and ``h`` from 0, without this last one.

Rates have limits by leaving out each person, who takes part in an attempt as probe or as claimed
subject. Groups of people have no person in common: their rates are independent, and whether they
differ is tested by permuting people among groups. Groups of attempts share people: their
differences are paired. Nothing is concluded about groups of fewer than 30 subjects.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, Message, counted, message_attrs, nearest_name, received
from bioeval.base.progress import report_rows, rows_reported, stage
from bioeval.counting.folds import FoldAttempts, FoldCounts, Subset
from bioeval.counting.reduce import reduce
from bioeval.counting.threshold_rules import ChosenThreshold, Rule, choose, no_such_threshold
from bioeval.counting.thresholds import require_values, to_user
from bioeval.results.attributes import about_attrs
from bioeval.results.beyond_scores import beyond_scores
from bioeval.results.dataset import dataset, threshold_with_next
from bioeval.results.support import RuleOf
from bioeval.results.variables import VERIFICATION, Variable, entries
from bioeval.scores.codes import Codes, spellings
from bioeval.scores.joining import InOrder, in_order
from bioeval.scores.labels import no_value, one_dimensional, plain
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.metadata import require_kept
from bioeval.scores.people import has_quick_limits, require_people
from bioeval.scores.provenance import Provenance, look_alike
from bioeval.scores.rows import threads_for
from bioeval.scores.sampled import is_symmetric
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import IntervalMethod, interval_of
from bioeval.stats.people import people_counts
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.group_differences import (
    PeopleOfRate,
    differences_of_groups,
    genuine_of_groups,
    impostors_of_groups,
    p_values_of_groups,
    paired_differences,
)

#: The last label of the dimension `group`: all groups together.
ALL = "all"

#: Groups with fewer subjects are flagged, and are not compared.
FEW_SUBJECTS = 30

# More groups are refused: counts of all pairs of groups would take too much memory.
MOST_GROUPS = 256

#: With fewer people, intervals that nobody asked for would be too narrow.
LEAST_PEOPLE = 20

_FEW_ERRORS = "1 where there are fewer than 30 subjects, or than 30 expected {}, else 0"


def _compared(rate: str, words: str, label: str, attempts: str) -> dict[str, Variable]:
    """Describe the comparison of groups by one rate, which `words` name in texts."""
    statistic = partial(Variable, measure=rate)
    return {
        f"{rate}_groups_p": Variable(
            f"p-value by permutation: people of all groups have the same distribution ({words})",
            "p",
            label=f"{label}, p of a permutation test of equal groups",
            detail="verbose",  # the answer has it
        ),
        f"{rate}_letters": Variable(
            f"groups that share a letter are not significantly different in {words}; empty: not "
            "compared",
            label=f"{label}, letters",
            detail="data",  # the differences have limits
        ),
        f"{rate}_difference": statistic(
            f"{words}: the group minus the other group",
            "proportion",
            label=f"{label}, difference",
            statistic="difference",
        ),
        f"{rate}_difference_low": statistic(
            f"lower limit of {rate}_difference; the limits hold for all pairs of groups together",
            "proportion",
            statistic="difference_low",
        ),
        f"{rate}_difference_high": statistic(
            f"upper limit of {rate}_difference; the limits hold for all pairs of groups together",
            "proportion",
            statistic="difference_high",
        ),
        f"{rate}_p_value": statistic(
            f"two-sided p-value of {rate}_difference, paired over people and adjusted for the "
            "number of pairs of groups",
            "p",
            label=f"p value of {label}",
            statistic="p_value",
        ),
        f"{rate}_discordant": statistic(
            f"people, at least, whose {rate.upper()} is another one in the other group",
            "subjects",
            statistic="discordant",
            detail="data",
        ),
        f"{rate}_separated": statistic(
            f"1 where {words} is shown to be larger in the group than in the other group, -1 "
            "where it is shown to be smaller, else 0",
            "1",
            statistic="separated",
            detail="data",
        ),
    }


GROUPS: dict[str, Variable] = {
    "claimed_group": Variable(
        "group of the claimed subject; all: any subject",
        title="{far} by groups of probe and claimed subject",
    ),
    "other_group": Variable(
        "group whose rate is subtracted", title="Differences: the group minus the other group"
    ),
    "group": Variable("group of the probe; all: all groups together"),
    "threshold": Variable("threshold of all groups", "score", label="threshold", shown="threshold"),
    "subjects": Variable(
        "subjects of the group: of groups of people on either side, else with a probe of it",
        "subjects",
        label="subjects",
    ),
    "genuine_attempts": Variable("genuine attempts", "attempts", label="genuine attempts"),
    **entries(VERIFICATION, "frr", "fr"),
    "impostor_attempts": Variable("impostor attempts", "attempts", label="impostor attempts"),
    **entries(VERIFICATION, "far", "fa"),
    "expected_fr": Variable(
        "false rejects expected at the FRR of all groups", "attempts", detail="data"
    ),
    "expected_fa": Variable(
        "false accepts expected at the FAR of all groups", "attempts", detail="data"
    ),
    "few_subjects": Variable(
        "1 where the group has fewer than 30 subjects, else 0", "1", detail="data"
    ),
    "frr_flagged": Variable(_FEW_ERRORS.format("false rejects"), "1"),
    "far_flagged": Variable(_FEW_ERRORS.format("false accepts"), "1"),
    **_compared("frr", "FRR", "{frr}", "genuine_attempts"),
    **_compared("far", "FAR within groups", "{far} within", "impostor_attempts"),
}


@warns_of_doubts
def by_group(
    scores: Scores,
    group: Any,
    *,
    threshold: Any = "eer",
    interval: Literal["auto", "people"] | IntervalMethod | None = "auto",
) -> xr.Dataset:
    """Evaluate verification by group at one threshold: groups of people, or of attempts.

    Groups of people (women and men) have an FRR each, and each pair of groups has a FAR. Groups of
    attempts (by day and by night) have an FRR and a FAR each: the probe decides the group of an
    attempt, and differences are paired over people.

    Parameters
    ----------
    scores : Scores
        A matrix with labels, or a list of pairs with the subjects of both sides.
    group : str, array_like, or pair of array_like
        Metadata column of the groups, or the groups themselves.

        - a column, ``"sex"``: groups are of attempts if only probes have it, or if templates of a
          subject differ in it
        - one value a template of all-against-all scores
        - a pair, the values of the probes and of the gallery (of listed pairs, of the second and of
          the first names): all templates of a subject must be of one group
        - ``("light", None)``, a column of the probes, or their values, and None: groups of attempts
    threshold : float or str
        Threshold: a number, or a rule applied to all groups together. A rule is ``"eer"``,
        ``"far=0.001"`` (the loosest threshold), ``"hter"``, ``"cost=prior,c_miss,c_fa"``.
    interval : {"auto", "people", None}
        Add confidence intervals by the jackknife over the people of each group. The threshold of
        all groups stays. ``"auto"``: add them for 20 to 1,000 people and up to ten million
        comparisons, where they are quick. None: add none.

    Returns
    -------
    xarray.Dataset
        Over ``group``, sorted, and ``"all"``, all groups together:

        - ``subjects``, ``genuine_attempts``, ``frr``, ``fr``
        - ``expected_fr``: false rejects expected at the rate of all groups
        - ``few_subjects``: 1 where there are fewer than 30 subjects
        - ``frr_flagged``: 1 where there are fewer than 30 subjects, or fewer than 30 false rejects
          are expected: too little to rank groups by

        Over ``group`` (of the probe) and ``claimed_group``:

        - ``impostor_attempts``, ``far``, ``fa``: FAR within a group is where both are the group;
          ``"all"`` as ``claimed_group`` is any subject, and FAR of all attempts is where both are
          ``"all"``
        - ``expected_fa`` and ``far_flagged``, in the same way

        The scalar ``threshold``, of all groups.

        Labels are texts, and ``.drop_sel(group="all")`` leaves the totals out.

        With an interval, each has ``_low`` and ``_high``: NaN for all groups together, whose limits
        :func:`verification` has. Also the following, in which groups of fewer than 30 subjects
        have no part:

        - ``frr_groups_p``, ``far_groups_p``: p-values by permutation, that people of all groups
          have one distribution
        - ``frr_difference`` over ``group, other_group``: the group minus the other group, with
          limits that hold for all pairs together; likewise ``far_`` for FAR within groups
        - ``frr_separated`` over ``group, other_group``, and ``frr_letters`` over ``group``;
          likewise ``far_``

        Groups of attempts have no ``claimed_group``: ``impostor_attempts``, ``far`` and ``fa`` are
        over ``group``, and ``subjects`` are the
        subjects with a probe of the group. With an interval, the differences compare each person's
        attempts in two groups, as :func:`bioeval.compare` compares systems: ``frr_p_value`` and
        ``far_p_value`` are adjusted for the number of pairs (Holm 1979), and ``separated`` follows
        from them.

    Raises
    ------
    DataError
        If a column is unknown, a subject is in two groups of people, a group is called ``"all"``,
        or an option is wrong; NaN under ``nan="raise"``.
    ProtocolError
        If subjects are unknown, or scores hold only an order.

    Notes
    -----
    Terms: ISO/IEC 19795-10, differential performance of demographic groups. ``docs/groups.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(80, 4, random_state=1)
    >>> group = ["f" if subject % 2 else "m" for subject in scores.probe_labels]
    >>> ds = be.by_group(scores, group, threshold="far=0.01")
    >>> ds.frr.to_series().round(3).to_dict()
    {'f': 0.121, 'm': 0.146, 'all': 0.133}
    >>> ds.far.drop_sel(group="all", claimed_group="all").values.round(3)
    array([[0.009, 0.011],
           [0.011, 0.009]])

    Each person's first two images are taken by day, and the others by night:

    >>> import numpy as np
    >>> light = np.where(np.arange(320) % 4 < 2, "day", "night")
    >>> ds = be.by_group(scores, light, threshold="far=0.01", interval="people")
    >>> ds.frr_p_value.sel(group="night", other_group="day").round(2).item()
    0.22
    """
    rule = Rule.parse(threshold)
    require_scores(scores)
    require_values(scores, "verification by group")
    require_people(scores, "verification by group")
    if isinstance(interval, str) and interval == "auto":
        is_quick = len(scores.subjects) >= LEAST_PEOPLE and has_quick_limits(scores)
        interval = "people" if is_quick else None
    options = interval_of(interval, ["people"])
    groups = _read_groups(scores, group)
    labels = groups.labels
    scores = groups.scores
    messages = [
        *groups.messages,
        *look_alike(spellings(labels), groups.name or "group", len(labels)),
    ]

    # One threshold for all groups, and the attempts of each two groups, (groups, groups).
    distance_rule = rule.as_distance(scores.kind)
    counting = FoldAttempts(None, [groups.sides], [[(Subset(),)]], distance_rule, Rule("eer"))
    with rows_reported(passes=2):
        # One division has one fold of one subset, which is all attempts.
        (((attempts,),),) = reduce(scores, counting)
        report_rows(scores.shape[0], scores.shape[0])  # the second pass may not be needed
    chosen = choose(distance_rule, attempts)
    ds = _rates(groups, counting.by_fold(chosen.threshold), chosen)
    if attempts.defined[0] and not chosen.defined:
        messages.append(Message("no-threshold", why=no_such_threshold(rule, attempts)))
    if rule.name == "fixed":
        used = to_user(chosen.threshold, scores.kind)
        rates = float(ds["far"].values.flat[-1]), float(ds["frr"][-1])
        messages += beyond_scores(
            used, *rates, float(attempts.next_scores(np.array([chosen.threshold]))[0])
        )
    ds.attrs.update(
        by=groups.name or "given values",
        **rule.attrs(),
        **message_attrs([*_answer_on_rates(ds), *messages], ds.attrs),
    )

    # Intervals, and the answer of the test.
    if options is not None:
        with threads_for(scores):
            if groups.of_person is not None:
                codes = scores.codes
                group_of_person = groups.of_person[np.union1d(codes.probe, codes.gallery)]
                ds = _with_intervals_of_people(
                    ds, scores, group_of_person, options, defined=chosen.defined
                )
            elif chosen.defined:
                ds = _with_intervals_of_attempts(ds, scores, groups.sides[0], options)
    return ds.assign_attrs(message_attrs(_answer_of_test(ds), ds.attrs))


class Groups(NamedTuple):
    """The groups of people or of attempts, as the argument `group` gives them."""

    labels: np.ndarray  # text (groups,), sorted
    #: The group of each probe and of each gallery template, as an index of `labels`. In groups of
    #: attempts, the group of the probe alone decides.
    sides: Sides
    of_person: np.ndarray | None  # group of each subject by its code; None of groups of attempts
    name: str  # name of the column; empty if values were given
    scores: Scores  # the scores of templates with a known group
    messages: list[Message]


def _read_groups(scores: Scores, group: Any) -> Groups:
    """Read the argument `group`.

    The groups are of people if each person's templates are all in one group, else of attempts.
    """
    of_probes = isinstance(group, (tuple, list)) and len(group) == 2 and group[1] is None
    values = group[0] if of_probes else group
    name = values if isinstance(values, str) else ""
    if name in scores.probe_meta:
        gallery = scores.gallery_meta.get(name)
        if gallery is None or no_value(gallery, "group").all():
            of_probes = True
    messages: list[Message] = []
    if not of_probes:
        groups, messages = _groups_of_people(scores, values, name)
        if groups is not None:
            return groups

    # Groups of attempts.
    scores, (probe, _) = with_known_values(scores, values, of_probes=True)
    labels, (group_of_probe, _) = _labels_of(probe, probe)
    # A tile of all-against-all embeddings is counted in both directions.
    is_square = scores.layout != "pairs" and np.array_equal(scores.probe_ids, scores.gallery_ids)
    group_of_column = group_of_probe if is_square else np.zeros(scores.shape[-1], dtype=np.int64)
    return Groups(labels, (group_of_probe, group_of_column), None, name, scores, messages)


def _groups_of_people(
    scores: Scores, values: Any, name: str
) -> tuple[Groups | None, list[Message]]:
    """Return groups of people; None, with remarks, if a subject is in several groups."""
    scores, columns = with_known_values(scores, values)
    codes = scores.codes
    labels, sides = _labels_of(*columns)
    group_of_template = np.concatenate(sides)
    # A subject has the group of its last template; a template in another group tells that the
    # subject is in several.
    group_of_person = np.full(len(codes.values), -1, dtype=np.int64)
    group_of_person[codes.probe] = sides[0]
    group_of_person[codes.gallery] = sides[1]
    person = np.append(codes.probe, codes.gallery)
    in_several = person[group_of_person[person] != group_of_template]
    if not len(in_several):
        return Groups(labels, sides, group_of_person, name, scores, []), []

    first = in_several[0]
    groups_of_first = labels[np.unique(group_of_template[person == first])].tolist()
    first_name = plain(codes.values[first])
    several = len(np.unique(in_several))
    if is_pair(values):
        raise _in_several_groups(scores, first_name, groups_of_first, several)
    people = len(np.unique(person))
    if 2 * several >= people:
        return None, []
    # Most subjects are in one group: the others may be a mistake.
    about = {"subject": first_name, "groups": groups_of_first}
    return None, [Message("groups-of-attempts", several=several, of=people, **about)]


def _in_several_groups(scores: Scores, subject: Any, groups: list[str], several: int) -> DataError:
    """Return the error that a subject, one of `several`, is in groups, given of both sides."""
    further = f" ({counted(several, 'subjects')} have several)" if several > 1 else ""
    advice = ""
    if scores.layout == "pairs":
        advice = "; the first array is of the probes, which are the second names of the pairs"
    return DataError(
        f"`group`: subject {subject!r} is in the groups "
        f"{', '.join(map(repr, groups))}{further}; expected one group for all "
        "templates of a subject, or of groups of attempts the values of the probes and None"
        f"{advice}"
    )


def _labels_of(probe: np.ndarray, gallery: np.ndarray) -> tuple[np.ndarray, Sides]:
    """Return the labels of the groups in order, and the group of each template.

    A group is an index of the labels, int64 (m,) of the probes and (n,) of the gallery. Numbers are
    in order of their size, though labels are texts.
    """
    codes = Codes(probe, gallery, "`group`")
    used_codes = np.union1d(codes.probe, codes.gallery)
    values = [plain(value) for value in codes.values[used_codes].tolist()]
    texts = np.array([str(value) for value in values], dtype=str)
    order = np.argsort(texts, kind="stable")
    if all(isinstance(value, (int, float)) and abs(value) < 2**63 for value in values):
        order = np.argsort(np.array(values), kind="stable")
    labels = texts[order]
    group_of_code = np.full(len(codes.values), -1, dtype=np.int64)
    group_of_code[used_codes[order]] = np.arange(len(order))
    if len(labels) > MOST_GROUPS:
        raise DataError(
            f"`group` has {len(labels):,} groups; expected at most {MOST_GROUPS}: a "
            "group is of many subjects"
        )
    if ALL in labels:
        raise DataError(
            f"there is a group {ALL!r}, and results call all groups together {ALL!r}; write the "
            "group in another way"
        )
    return labels, (group_of_code[codes.probe], group_of_code[codes.gallery])


def _rates(groups: Groups, counts: FoldCounts, chosen: ChosenThreshold) -> xr.Dataset:
    """Return the rates by group and of all groups together, and flags.

    `counts` (groups, groups) are by the groups of probe and gallery template.
    """
    labels = groups.labels
    scores = groups.scores
    of_people = groups.of_person is not None
    symmetric = is_symmetric(scores)

    # The group of the probe alone decides a genuine attempt, and all groups of attempts.
    genuine_attempts = _with_totals(counts.genuine_attempts)[:, -1]
    genuine_once = _with_totals(counts.genuine_attempts, once=symmetric)[:, -1]
    fr = _with_totals(counts.genuine_attempts - counts.genuine_accepted)[:, -1]
    impostor_attempts = _with_totals(counts.impostor_attempts)
    impostor_once = _with_totals(counts.impostor_attempts, once=symmetric)
    fa = _with_totals(counts.impostor_accepted)
    if not of_people:
        impostor_attempts = impostor_attempts[:, -1]
        impostor_once = impostor_once[:, -1]
        fa = fa[:, -1]
    frr = ratio(fr, genuine_attempts * chosen.defined)
    far = ratio(fa, impostor_attempts * chosen.defined)

    # Too little to rank groups by: few subjects, or few errors expected at the rate of all groups.
    subjects = _subjects(groups)
    is_small = subjects < FEW_SUBJECTS
    involves_small = is_small[:, None] | is_small if of_people else is_small
    expected_fr = genuine_once * float(frr[-1])
    expected_fa = impostor_once * float(far.flat[-1])
    lacks_rejects = ~(expected_fr >= RuleOf(30))  # also where the rate is NaN
    lacks_accepts = ~(expected_fa >= RuleOf(30))

    by_group = ("group",)
    by_pair = ("group", "claimed_group") if of_people else by_group
    variables: dict[str, Any] = {
        "subjects": (by_group, subjects),
        "genuine_attempts": (by_group, genuine_attempts),
        "frr": (by_group, frr),
        "fr": (by_group, fr),
        "impostor_attempts": (by_pair, impostor_attempts),
        "far": (by_pair, far),
        "fa": (by_pair, fa),
        "expected_fr": (by_group, expected_fr),
        "expected_fa": (by_pair, expected_fa),
        "few_subjects": (by_group, is_small.astype(np.int64)),
        "frr_flagged": (by_group, (is_small | lacks_rejects).astype(np.int64)),
        "far_flagged": (by_pair, (involves_small | lacks_accepts).astype(np.int64)),
        **chosen.in_units(scores.kind),
    }

    # Remarks leave out all groups together. Groups of few subjects have a remark of their own.
    remarks = _remarks_on_undefined(labels, frr, far, defined=chosen.defined)
    if is_small[:-1].any():
        listed = labels[is_small[:-1]].tolist()
        remarks.append(Message("groups-of-few-subjects", needed=FEW_SUBJECTS, groups=listed))
    lacks_only_rejects = lacks_rejects & ~is_small
    lacks_only_accepts = lacks_accepts & ~involves_small
    remarks += _remarks_on_few_errors(labels, "frr", frr[-1], lacks_only_rejects, symmetric)
    remarks += _remarks_on_few_errors(labels, "far", far.flat[-1], lacks_only_accepts, symmetric)

    provenance = Provenance.from_scores(scores)
    attrs = about_attrs(provenance, "groups", "verification by group", remarks)
    attrs["groups_of"] = "people" if of_people else "attempts"
    coordinates = dict.fromkeys(by_pair, np.append(labels, ALL))
    return dataset(variables, GROUPS, coordinates, attrs)


def _subjects(groups: Groups) -> np.ndarray:
    """Return the number of subjects of each group and of all, int64 (groups + 1,).

    In groups of people, templates of either side count; in groups of attempts, only probes.
    """
    codes = groups.scores.codes
    count = len(groups.labels)
    if groups.of_person is not None:
        person = np.union1d(codes.probe, codes.gallery)
        group_of_person = groups.of_person[person]
    else:
        person = codes.probe.astype(np.int64)
        group_of_person = groups.sides[0]
    is_person = ~codes.no_person[person]
    subject_in_group = np.unique(person[is_person] * count + group_of_person[is_person])
    subjects = np.bincount(subject_in_group % count, minlength=count)
    return np.append(subjects, len(np.unique(person[is_person])))


def _remarks_on_undefined(
    labels: np.ndarray, frr: np.ndarray, far: np.ndarray, *, defined: bool
) -> list[Message]:
    """Return remarks on groups without attempts of one kind, or on all if no rate is `defined`.

    FAR (groups + 1, groups + 1) is of groups of people, of which rates within groups are judged.
    """
    if not defined:
        why = "there is no genuine or no impostor attempt to choose a threshold on"
        about = {"what": "rates are", "why": why, "advice": "; give a number as `threshold`"}
        return [Message("rates-of-groups-undefined", **about, groups=labels.tolist())]
    name_of_far = "{far}"
    if far.ndim == 2:
        far = far.diagonal()
        name_of_far = "{far} within groups"
    remarks = []
    for rate, rates, attempts in (("{frr}", frr, "genuine"), (name_of_far, far, "impostor")):
        listed = labels[np.isnan(rates[:-1])].tolist()
        if listed:
            about = {"what": f"{rate} is", "why": f"groups without {attempts} attempts"}
            remarks.append(Message("rates-of-groups-undefined", **about, groups=listed, advice=""))
    return remarks


def _remarks_on_few_errors(
    labels: np.ndarray, rate: str, overall: float, is_listed: np.ndarray, symmetric: bool
) -> list[Message]:
    """Return the remark on groups, or pairs of groups, with few expected errors; empty without any.

    `is_listed` has a last row, and a last column, of all groups together, which are left out.
    `overall` is the rate of all groups, by which errors are expected; NaN expects none.
    """
    if math.isnan(overall):
        return []
    if is_listed.ndim == 1:
        listed = labels[is_listed[:-1]].tolist()
    else:
        pairs = np.argwhere(is_listed[:-1, :-1])
        listed = [f"{labels[g]} against {labels[h]}" for g, h in pairs]
    if not listed:
        return []
    errors = {"frr": "false rejects", "far": "false accepts"}[rate]
    about: dict[str, Any] = {"needed": int(RuleOf(30)), "errors": errors, "rate": rate}
    about["overall"] = float(overall)
    if symmetric:
        about["once"] = "each pair of templates counts once"
    return [Message("few-expected-errors-in-groups", **about, groups=listed)]


def _with_totals(counts: np.ndarray, *, once: bool = False) -> np.ndarray:
    """Return counts (groups, groups) with a last row and a last column of sums.

    If `once`, the data are symmetric, and each pair of templates is counted once: pairs within a
    group are twice on the diagonal, and pairs of two groups once on each side of it.
    """
    pairs = counts - np.diag(counts.diagonal() // 2) if once else counts
    rows = np.column_stack([pairs, pairs.sum(axis=1)])
    totals = np.vstack([rows, rows.sum(axis=0)])
    if once:
        totals[-1, -1] = counts.sum() // 2
    return totals


def _answer_on_rates(ds: xr.Dataset) -> list[Message]:
    """Return which groups have the smallest and the largest rates, of those with enough people."""
    is_compared = ds["few_subjects"].values[:-1] == 0
    is_within = "claimed_group" in ds["far"].dims
    labels = ds["group"].values
    about: dict[str, Any] = {}
    for rate, prefix in (("frr", ""), ("far", "far_")):
        rates = ds[rate].values
        if rates.ndim == 2:
            rates = rates.diagonal()
        compared = [g for g in np.flatnonzero(is_compared) if not np.isnan(rates[g])]
        if len(compared) < 2:
            if rate == "frr":
                return []
            continue
        least, most = rates[compared].min(), rates[compared].max()
        groups_with_least = [str(labels[g]) for g in compared if rates[g] == least]
        groups_with_most = [str(labels[g]) for g in compared if rates[g] == most]
        about[f"{prefix}least"] = float(least)
        about[f"{prefix}groups_with_least"] = groups_with_least
        about[f"{prefix}most"] = float(most)
        about[f"{prefix}groups_with_most"] = groups_with_most
        if rate == "frr":
            about["group_with_least"] = groups_with_least[0]
            about["group_with_most"] = groups_with_most[0]
        else:
            about["within"] = "within groups" if is_within else "of groups"
    return [Message("errors-of-groups", **threshold_with_next(ds), **about)]


def _answer_of_test(ds: xr.Dataset) -> list[Message]:
    """Return whether groups of people differ; if not, the largest difference within limits."""
    p_values = {f"{rate}_p": float(ds.get(f"{rate}_groups_p", math.nan)) for rate in ("frr", "far")}
    if any(map(math.isnan, p_values.values())):
        return []
    if min(p_values.values()) <= 1 - float(ds.attrs["confidence"]):
        return [Message("groups-tested", finding="a significant difference", **p_values)]
    about: dict[str, Any] = {}
    for rate in ("frr", "far"):
        limits = np.array([ds.get(f"{rate}_difference_{x}", math.nan) for x in ("low", "high")])
        if not np.isnan(limits).all():
            about[f"{rate}_points"] = 100 * float(np.nanmax(np.abs(limits)))
    return [Message("groups-tested", finding="no significant difference", **p_values, **about)]


# Intervals and comparisons.


@stage("leaving people out")
def _with_intervals_of_people(
    ds: xr.Dataset,
    scores: Scores,
    group: np.ndarray,
    options: IntervalMethod,
    *,
    defined: bool,
) -> xr.Dataset:
    """Return a result by group of people with confidence intervals, if rates are `defined`.

    `group` (int64 (people,)) has the group of each person, in the order of the people's codes.
    """
    confidence = options.confidence
    is_compared = ds["few_subjects"].values[:-1] == 0
    groups = len(is_compared)
    counts = people_counts(scores, ds["threshold"].values[None])

    # Lower and upper limits of FRR by group, and of FAR by groups of probe and claimed person. The
    # rates that are compared are FRR and FAR within a group; None for a group that is too small.
    limits = {"frr": np.full((2, groups), np.nan), "far": np.full((2, groups, groups), np.nan)}
    variables: dict[str, Any] = {}
    notes: list[Message] = []
    if defined:
        compared: dict[str, list[PeopleOfRate | None]] = {"far": [], "frr": []}
        for g, genuine in enumerate(genuine_of_groups(counts, group, groups)):
            limits["frr"][:, g] = genuine.limits(confidence)
            compared["frr"].append(genuine if is_compared[g] else None)
        for k, impostor in enumerate(impostors_of_groups(counts, group, groups)):
            g, h = divmod(k, groups)
            limits["far"][:, g, h] = impostor.limits(confidence)
            if g == h:
                compared["far"].append(impostor if is_compared[g] else None)
        p_values = {"far": math.nan, "frr": math.nan}
        if is_compared.sum() > 1:
            p_values, notes = p_values_of_groups(counts, group, is_compared, options)
        for rate, people in compared.items():
            variables[f"{rate}_groups_p"] = np.array(p_values[rate])
            for statistic, values in differences_of_groups(people, confidence).items():
                variables[f"{rate}_{statistic}"] = values
    people_in_data = int((~counts.no_person).sum())
    return _with_limits(ds, options, is_compared, people_in_data, limits, variables, notes)


@stage("leaving people out")
def _with_intervals_of_attempts(
    ds: xr.Dataset, scores: Scores, group: np.ndarray, options: IntervalMethod
) -> xr.Dataset:
    """Return a result by group of attempts, (probes,), with limits and differences."""
    is_compared = ds["few_subjects"].values[:-1] == 0
    codes = scores.codes
    everyone = np.union1d(codes.probe, codes.gallery)
    index_of_person = {name: i for i, name in enumerate(codes.values[everyone].tolist())}

    # The attempts of each group, counted as if its probes were alone. The people of a group are
    # then named by their index among the people of all groups.
    attempts_of_groups: dict[str, list[PeopleOfRate]] = {"frr": [], "far": []}
    for g in range(len(is_compared)):
        probes = scores.select(probes=np.flatnonzero(group == g))
        counts = people_counts(probes, ds["threshold"].values[None])
        index = np.array([index_of_person[name] for name in counts.people])
        one_group = np.zeros(len(index), dtype=np.int64)
        (genuine,) = genuine_of_groups(counts, one_group, 1)
        (impostor,) = impostors_of_groups(counts, one_group, 1)
        attempts_of_groups["frr"].append(genuine._replace(person=index[genuine.person]))
        attempts_of_groups["far"].append(impostor._replace(person=index[impostor.person]))

    limits: dict[str, np.ndarray] = {}
    variables: dict[str, np.ndarray] = {}
    for rate, groups in attempts_of_groups.items():
        limits[rate] = np.array([people.limits(options.confidence) for people in groups]).T
        # An impostor attempt is of two people, and a genuine attempt of one.
        people_per_attempt = {"frr": 1, "far": 2}[rate]
        differences = paired_differences(
            groups, len(everyone), people_per_attempt, is_compared, options.confidence
        )
        for statistic, values in differences.items():
            variables[f"{rate}_{statistic}"] = values
    people_in_data = int((~codes.no_person[everyone]).sum())
    return _with_limits(ds, options, is_compared, people_in_data, limits, variables, [])


def _with_limits(
    ds: xr.Dataset,
    options: IntervalMethod,
    is_compared: np.ndarray,
    people: int,
    limits: dict[str, np.ndarray],
    variables: dict[str, np.ndarray],
    notes: Sequence[Message],
) -> xr.Dataset:
    """Return a result with limits of its rates, and with variables by group or by pair of groups.

    `people` is the number of all people; `limits` are the lower and the upper ones of each rate.
    The label of all groups together has none of these values: they are NaN, empty or 0 there.
    """
    remarks = options.few_people(people)
    if len(is_compared) > 1 and is_compared.sum() < 2:
        why = (
            f"fewer than two groups have {FEW_SUBJECTS} subjects, so there are no limits and no "
            "p-values"
        )
        remarks.append(Message("groups-not-compared", what="groups differ", why=why))
    padded = {}
    for name, ends in limits.items():
        low, high = (np.pad(x, (0, 1), constant_values=np.nan) for x in ends)
        padded[name] = low, high
    result = options.added_to(ds, padded, GROUPS, [*remarks, *notes])
    for name in GROUPS:  # in the order of the table
        if name not in variables:
            continue
        values = variables[name]
        dims = ("group", "other_group")[: values.ndim]
        if dims:
            missing = {"f": np.nan, "O": ""}.get(values.dtype.kind, 0)
            last_row = np.full((1, *values.shape[1:]), missing, dtype=values.dtype)
            values = np.concatenate([values, last_row])
        result[name] = dims, values, GROUPS[name].attrs
    if variables:
        other_groups = "other_group", ds["group"].values[:-1], GROUPS["other_group"].attrs
        result = result.assign_coords(other_group=other_groups).assign_attrs(
            interval_of_differences="limits that hold for all pairs of groups together"
        )
    return result


# ------------------------------------------------------------------------- groups of templates


#: A value for each template of both sides: of the probes, (probes,), and of the gallery, (n,), of
#: listed pairs of the enrolled templates; empty without values.
Sides = tuple[np.ndarray, np.ndarray]


def _joined(scores: Scores, values: Any, side: int) -> InOrder:
    length = (scores.shape[0], scores.shape[-1])[side]
    brought = in_order(values, scores.keys(side), "`group`")
    array = one_dimensional(brought.values, "`group`")
    if len(array) != length:
        raise DataError(
            f"`group` has {counted(len(array), 'values')}; expected {length}, one per template"
        )
    return brought._replace(values=array)


def with_known_values(
    scores: Scores, columns: Any, *, of_probes: bool = False
) -> tuple[Scores, Sides]:
    """Return the scores of templates with a known value, with a remark on the rest, and the values.

    If the values are `of_probes`, all gallery templates stay. Raise :class:`DataError` if no
    template of a side has a known value.
    """
    (probe_values, gallery_values), remarks = _values_of_sides(scores, columns, of_probes)
    if remarks:
        scores = scores.with_remarks(*remarks)
    is_known_probe = ~no_value(probe_values, "group")
    is_known_template = ~no_value(gallery_values, "group")
    if is_known_probe.all() and is_known_template.all():
        return scores, (probe_values, gallery_values)

    column = columns if isinstance(columns, str) else None
    remark = Message(
        "unknown-values",
        column="group" if column is None else column,
        probes=int((~is_known_probe).sum()),
        templates=int((~is_known_template).sum()),
        treatment="they are left out",
    )
    is_pairs = scores.layout == "pairs"
    if is_pairs and not of_probes:  # a pair stays if both of its templates are known
        is_known_probe &= is_known_template
        is_known_template = is_known_probe
    _require_known(probe_values, is_known_probe, "probe", column)
    _require_known(gallery_values, is_known_template, "gallery template", column)

    # Of pairs, the probes select both sides.
    keeps_gallery = is_pairs or of_probes
    known = scores.select(
        probes=np.flatnonzero(is_known_probe),
        gallery=None if keeps_gallery else np.flatnonzero(is_known_template),
    )
    known_values = probe_values[is_known_probe], gallery_values[is_known_template]
    return known._with(remarks=(*scores.remarks, remark)), known_values


def _values_of_sides(
    scores: Scores, columns: Any, of_probes: bool
) -> tuple[Sides, tuple[Message, ...]]:
    """Return the values of both sides, known or not, and remarks on how they were brought in order.

    `columns` is the name of a column, a pair of arrays, or one array: of the probes, or of the
    templates of both sides, if they are the same ones.
    """
    if isinstance(columns, str):
        return _column(scores, columns, of_probes), ()
    if is_pair(columns) and not of_probes:
        probe = _joined(scores, columns[0], 0)
        gallery = _joined(scores, columns[1], 1)
        remarks = tuple(dict.fromkeys(probe.remarks + gallery.remarks))  # each once
        return (probe.values, gallery.values), remarks
    is_one_set = scores.layout != "pairs" and scores.probe_ids is scores.gallery_ids
    if not of_probes and not is_one_set:
        raise DataError(
            f"`group` is {type(columns).__name__}; expected the name of a metadata "
            f"column, or a pair of arrays: {_lengths(scores)}"
        )
    probe = _joined(scores, columns, 0)
    gallery_values = np.empty(0) if of_probes else probe.values
    return (probe.values, gallery_values), probe.remarks


def _require_known(values: np.ndarray, is_kept: np.ndarray, noun: str, column: str | None) -> None:
    """Raise :class:`DataError` if no template of a side is kept, and one of it has no value.

    `noun` is what a template of the side is called; `column` is None if values were given.
    """
    if is_kept.any():
        return
    missing = no_value(values, "group")
    if not missing.any():
        return
    of_column = "" if column is None else f" of the column {column!r}"
    raise DataError(
        f"`group`: {counted(int(missing.sum()), 'missing values')}{of_column} "
        f"(None, NaN or empty), the first that of {noun} {int(np.argmax(missing))}; "
        "leave those templates out, or give them a separate value"
    )


def is_pair(column: Any) -> bool:
    """Whether values are a pair of arrays, and not two values of two templates."""
    if not isinstance(column, (tuple, list)) or len(column) != 2:
        return False
    return all(hasattr(x, "__len__") and not isinstance(x, (str, bytes)) for x in column)


def _column(scores: Scores, name: str, of_probes: bool) -> Sides:
    """Return a metadata column of both sides, or of the probes alone."""
    probe = scores.probe_meta
    gallery = scores.gallery_meta
    if of_probes:
        require_kept(scores, name, "group", probe)
    else:
        require_kept(scores, name, "group", probe, gallery)
    if scores.layout == "pairs" and not probe:
        raise DataError(
            f"`group` is {received(name)}, but this list of pairs has no metadata; give the "
            "table of its templates as `labels`, with a column template, name a column of the list "
            f"by `columns`, or give in Python a pair of arrays: {_lengths(scores)}"
        )
    usable_columns = [column for column in probe if of_probes or column in gallery]
    if name not in usable_columns:
        raise _unknown_column(scores, name, usable_columns, of_probes)
    return probe[name], np.empty(0) if of_probes else gallery[name]


def _unknown_column(
    scores: Scores, name: str, usable_columns: Sequence[str], of_probes: bool
) -> DataError:
    """Return the error that a column is missing, with the side that lacks it and what there is."""
    sides = "probes have" if of_probes else "both sides have"
    existing = f"{sides}: {', '.join(usable_columns)}"
    if not usable_columns:
        existing = "probes and gallery have no column in common"
    if name in scores.probe_meta:
        side = "the gallery"
    elif name in scores.gallery_meta:
        side = "the probe"
    else:
        side = "the"
    return DataError(
        f"`group` is {received(name)}, but {side} metadata have no such column; "
        f"{existing}.{nearest_name(name, usable_columns)} Metadata are read with `meta`"
    )


def _lengths(scores: Scores) -> str:
    if scores.layout == "pairs":
        pairs = counted(scores.shape[0], "pairs")
        return f"of the probes (the second names) and of the enrolled templates of the {pairs}"
    probes = counted(scores.shape[0], "probes")
    return f"of the {probes} and of the {counted(scores.shape[1], 'gallery templates')}"
