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
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, Message, counted, message_attrs, nearest_name, received
from bioeval.base.progress import report_rows, rows_reported, stage
from bioeval.base.random import Stream
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
from bioeval.scores.people import has_quick_limits, mates_among, require_people
from bioeval.scores.provenance import Provenance, look_alike
from bioeval.scores.rows import threads_for
from bioeval.scores.sampled import is_symmetric
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.jackknife import limits_of_sum
from bioeval.stats.options import IntervalMethod, interval_of, trials_of
from bioeval.stats.people import PeopleCounts, people_counts
from bioeval.stats.rate_limits import Sample, limits_of_rate
from bioeval.stats.simultaneous import Differences, discordant, least_discordant, letters_of
from bioeval.stats.weighted_sums import rates_without_each, ratio

#: The last label of the dimension `group`: all groups together.
ALL = "all"

#: Groups with fewer subjects are flagged, and are not compared.
FEW_SUBJECTS = 30

# More groups are refused: counts of all pairs of groups would take too much memory.
MOST_GROUPS = 256

#: With fewer people, intervals that nobody asked for would be too narrow.
LEAST_PEOPLE = 20

#: Number of permutations of the test.
PERMUTATIONS = 2000

#: With more people FAR is not tested: a permutation needs the counts of all their pairs.
MOST_TESTED = 3000

# Number of values in memory that are permuted at once.
_MOST_VALUES = 1 << 22

# Rates that differ by less are equal but for rounding errors.
_EQUAL = 1e-12

# Deviations that differ by at most this share are equal: a permutation may add the same counts in
# another order, and differ in the last digit.
_REORDERED = 1e-9


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


# The attempts of each person, and the limits of one rate.


class PeopleOfRate(NamedTuple):
    """Errors and attempts of one group, or between two groups, in total and by person."""

    errors: int
    attempts: int
    errors_of: np.ndarray  # int64 (n,): errors that are left out with each person
    attempts_of: np.ndarray  # int64 (n,): attempts that are left out with each person
    trials: int  # number of independent trials: people, or disjoint pairs of people
    person: np.ndarray  # int64 (n,): index of each person among all people

    @property
    def rate(self) -> float:
        """The rate; NaN without attempts."""
        return self.errors / self.attempts if self.attempts else np.nan

    def limits(self, level: float) -> tuple[float, float]:
        """Return the limits of the rate; NaN without a trial."""
        if not self.attempts:
            return np.nan, np.nan
        totals = np.array(self.errors), np.array(self.attempts)
        rates = rates_without_each(self.errors_of, self.attempts_of, *totals)
        # The number of people with whom an attempt is left out: 1 or 2.
        sides = max(round(float(self.attempts_of.sum() / self.attempts)), 1)
        shares = self.attempts_of / self.attempts
        sample = Sample(
            self.attempts, self.trials, sides, shares, least=self.trials, most=self.trials
        )
        low, high = limits_of_rate(rates, sample, level)
        return float(low), float(high)


def genuine_of_groups(counts: PeopleCounts, group: np.ndarray, groups: int) -> list[PeopleOfRate]:
    """Return the genuine attempts of each group; a trial is a subject with a genuine attempt."""
    of_groups = []
    for g in range(groups):
        person = np.flatnonzero((group == g) & (counts.genuine_attempts > 0))
        attempts = counts.genuine_attempts[person]
        errors = attempts - counts.genuine_accepted[0, person]
        totals = int(errors.sum()), int(attempts.sum())
        of_groups.append(PeopleOfRate(*totals, errors, attempts, trials_of(len(person)), person))
    return of_groups


def impostors_of_groups(
    counts: PeopleCounts, group: np.ndarray, groups: int
) -> Iterator[PeopleOfRate]:
    """Yield the impostor attempts of each two groups, by the group of the probe, then the other's.

    A trial is one of as many pairs of people as have no person in common.
    """
    # (2, people, groups): attempts of each person as probe against the people of each group, the
    # accepted ones and all; then the same of attempts that claim each person.
    everyone = np.arange(len(group))
    (accepted,), attempts = counts.of_groups(everyone, group)
    as_probe = np.stack([accepted, attempts])
    (accepted,), attempts = counts.of_groups(group, everyone)
    as_claimed = np.stack([accepted.T, attempts.T])
    pairs = _disjoint_pairs(counts, group, groups)
    for g, h in np.ndindex(groups, groups):
        # What is left out with each person as probe, and as claimed subject, (2, people).
        probes = np.flatnonzero(group == g)
        enrolled = np.flatnonzero(group == h)
        probing = as_probe[:, probes, h]
        claimed = as_claimed[:, enrolled, g]
        if g == h:  # a person is left out on both sides
            left_out = probing + claimed
            person = probes
        else:
            left_out = np.concatenate([probing, claimed], axis=1)
            person = np.append(probes, enrolled)
        has_attempt = (left_out[1] > 0) & ~counts.no_person[person]
        errors_left_out, attempts_left_out = left_out[:, has_attempt]
        errors_of_pair, attempts_of_pair = probing.sum(axis=1).tolist()
        yield PeopleOfRate(
            errors=errors_of_pair,
            attempts=attempts_of_pair,
            errors_of=errors_left_out,
            attempts_of=attempts_left_out,
            trials=int(pairs[g, h]),
            person=person[has_attempt],
        )


def _disjoint_pairs(counts: PeopleCounts, group: np.ndarray, groups: int) -> np.ndarray:
    """Return the number of disjoint pairs of people of each two groups, int64 (groups, groups)."""
    if counts.listed:
        pairs = np.zeros((groups, groups), dtype=np.int64)
        # Not everyone is compared: disjoint pairs are looked for among the pairs compared.
        are_people = ~(counts.no_person[counts.probe] | counts.no_person[counts.claimed])
        probe, claimed = counts.probe[are_people], counts.claimed[are_people]
        code = group[probe] * groups + group[claimed]
        for k in np.unique(code):
            partner = mates_among(probe[code == k], claimed[code == k], len(counts.people))
            pairs.flat[k] = (partner >= 0).sum() // 2
        return pairs
    # If everyone is compared, the numbers of people on both sides decide.
    probes, enrolled = (np.flatnonzero(size * ~counts.no_person) for size in counts.sizes)
    probes_of = np.bincount(group[probes], minlength=groups)
    enrolled_of = np.bincount(group[enrolled], minlength=groups)
    everyone_of = np.bincount(group[np.union1d(probes, enrolled)], minlength=groups)
    pairs = np.minimum.outer(probes_of, enrolled_of)
    np.fill_diagonal(pairs, np.minimum(pairs.diagonal(), everyone_of // 2))
    return pairs


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
            p_values, notes = _p_values(counts, group, is_compared, options)
        for rate, people in compared.items():
            variables[f"{rate}_groups_p"] = np.array(p_values[rate])
            for statistic, values in differences_of_groups(people, confidence).items():
                variables[f"{rate}_{statistic}"] = values
    people_in_data = int((~counts.no_person).sum())
    return _with_limits(ds, options, is_compared, people_in_data, limits, variables, notes)


def differences_of_groups(
    groups: Sequence[PeopleOfRate | None], confidence: float
) -> dict[str, np.ndarray]:
    """Return the comparison of each two groups by one rate, by the ends of the names of variables.

    A group that is too small to be compared is None. Groups have no person in common, so that their
    errors are independent. The limits hold for all pairs together (Bonferroni). Pairs are compared
    in steps (Holm 1979): by limits that hold together for the pairs without a significant
    difference yet, until no further pair has one.
    """
    rates = np.array([np.nan if people is None else people.rate for people in groups])
    difference = rates[:, None] - rates
    low = np.full(difference.shape, np.nan)
    high = np.full(difference.shape, np.nan)
    separated = np.zeros(difference.shape, dtype=np.int64)

    # Each pair of groups with a rate, (2, pairs), then in the other order.
    compared = np.flatnonzero(~np.isnan(rates))
    pairs = compared[np.stack(np.triu_indices(len(compared), 1))]
    if pairs.size:
        lower, upper, larger = _compared_in_steps(groups, pairs, confidence)
        first, second = pairs
        low[first, second] = lower
        high[first, second] = upper
        separated[first, second] = larger
        low[second, first] = -upper
        high[second, first] = -lower
        separated[second, first] = -larger

    # Letters go from the smallest rate to the largest one.
    smaller_groups = (difference > 0).sum(axis=1)
    order = sorted(compared.tolist(), key=lambda group: (smaller_groups[group], group))
    return {
        "difference": difference,
        "difference_low": low,
        "difference_high": high,
        "separated": separated,
        "letters": np.array(letters_of(separated != 0, order), dtype=object),
    }


def _compared_in_steps(
    groups: Sequence[PeopleOfRate | None], pairs: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return limits of the first group minus the second one, and Holm's decision, each (pairs,).

    The limits hold for all pairs together. The decision is 1 where the first group is shown to have
    the larger rate, -1 where the second one is, else 0.
    """
    lower, upper = _limits_of_differences(groups, pairs, confidence, together=len(pairs[0]))
    larger = (lower > 0).astype(np.int64) - (upper < 0)

    # A step is for the pairs that are open yet, and none follows a step that decided no pair.
    open_before = len(larger)
    open_pairs = int(np.count_nonzero(larger == 0))
    while 0 < open_pairs < open_before:
        narrower = _limits_of_differences(groups, pairs, confidence, together=open_pairs)
        larger_in_step = (narrower[0] > 0).astype(np.int64) - (narrower[1] < 0)
        larger = np.where(larger == 0, larger_in_step, larger)
        open_before = open_pairs
        open_pairs = int(np.count_nonzero(larger == 0))
    return lower, upper, larger


def _limits_of_differences(
    groups: Sequence[PeopleOfRate | None], pairs: np.ndarray, confidence: float, *, together: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return limits of the first group minus the second one, (pairs,), of two independent rates.

    They hold for as many pairs `together`. They are not symmetric, since limits of rates of few
    errors are not.
    """
    level = 1 - (1 - confidence) / together
    rate, low, high = np.full((3, len(groups)), np.nan)
    for g, people in enumerate(groups):
        if people is not None:
            rate[g] = people.rate
            low[g], high[g] = people.limits(level)
    first, second = pairs
    negated = -rate[second], -high[second], -low[second]
    return limits_of_sum((rate[first], low[first], high[first]), negated)


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
        differences = _paired_differences(
            groups, len(everyone), people_per_attempt, is_compared, options.confidence
        )
        for statistic, values in differences.items():
            variables[f"{rate}_{statistic}"] = values
    people_in_data = int((~codes.no_person[everyone]).sum())
    return _with_limits(ds, options, is_compared, people_in_data, limits, variables, [])


def _paired_differences(
    groups: Sequence[PeopleOfRate],
    people: int,
    people_per_attempt: int,
    is_compared: np.ndarray,
    confidence: float,
) -> dict[str, np.ndarray]:
    """Return the comparison of each two groups by one rate, by the ends of the names of variables.

    The groups share people, whom the differences are paired over: each person is left out of all
    groups at once. `people` is the number of all people.
    """
    # (groups, people): a person without attempts in a group has 0 there.
    errors = np.zeros((len(groups), people))
    attempts = np.zeros((len(groups), people))
    for g, of_group in enumerate(groups):
        errors[g, of_group.person] = of_group.errors_of
        attempts[g, of_group.person] = of_group.attempts_of
    has_attempt = attempts.any(axis=0)
    errors = errors[:, has_attempt]
    attempts = attempts[:, has_attempt]

    # Pairs that too few people tell apart are not tested.
    person_rates = list(np.nan_to_num(ratio(errors, attempts)))  # without attempts, no error
    no_rates = [np.empty(0)] * len(groups)
    if people_per_attempt == 1:
        discordant_people = discordant(own=person_rates, shared=no_rates)
    else:
        discordant_people = discordant(own=no_rates, shared=person_rates)
    is_tested = discordant_people >= least_discordant(confidence)
    is_tested &= is_compared[:, None] & is_compared

    # Column 0 is the rate with everybody.
    all_errors = np.array([of_group.errors for of_group in groups], dtype=np.float64)
    all_attempts = np.array([of_group.attempts for of_group in groups], dtype=np.float64)
    columns = rates_without_each(errors, attempts, all_errors, all_attempts)
    between = Differences.from_columns(columns, is_tested, confidence, widest=1.0)

    # Letters go from the smallest rate to the largest one.
    rates = columns[:, 0]
    with_rate = np.flatnonzero(is_compared & ~np.isnan(rates))
    order = with_rate[np.argsort(rates[with_rate], kind="stable")]
    letters = between.letters(order.tolist())
    return {
        "difference": between.difference,
        "difference_low": between.low,
        "difference_high": between.high,
        "discordant": discordant_people,
        "p_value": between.p,
        "separated": between.larger,
        "letters": np.array(letters, dtype=object),
    }


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


# The permutation test of groups of people.


def _p_values(
    counts: PeopleCounts, group: np.ndarray, is_compared: np.ndarray, options: IntervalMethod
) -> tuple[dict[str, float], list[Message]]:
    """Return the p-value of a permutation test of each rate; NaN if it is not tested."""
    is_tested = is_compared[group] & ~counts.no_person
    rejected = counts.genuine_attempts - counts.genuine_accepted[0]
    stream_of_frr = Stream(options.seed, 1)
    frr_p = _p_value(rejected, counts.genuine_attempts, group, is_tested, stream_of_frr)
    if len(group) > MOST_TESTED:
        why = f"this is tested only with up to {MOST_TESTED:,} subjects"
        note = Message("groups-not-compared", what="{far} within groups differs", why=why)
        return {"frr": frr_p, "far": math.nan}, [note]

    # Attempts of each two people, (people, people), summed over both directions.
    everyone = np.arange(len(group))
    (accepted,), claims = counts.of_groups(everyone, everyone)
    stream_of_far = Stream(options.seed, 2)
    far_p = _p_value(accepted + accepted.T, claims + claims.T, group, is_tested, stream_of_far)
    return {"frr": frr_p, "far": far_p}, []


def _p_value(
    errors: np.ndarray,
    attempts: np.ndarray,
    group: np.ndarray,
    is_tested: np.ndarray,
    stream: Stream,
) -> float:
    """Return the p-value of one rate among the people tested; NaN if they are of one group or none.

    `errors` and `attempts` are counts of all people, (people,) or (people, people). A person
    without attempts has no rate, and is not permuted.
    """
    has_attempt = attempts != 0 if attempts.ndim == 1 else attempts.any(axis=0)
    person = np.flatnonzero(is_tested & has_attempt)
    group_of_tested = np.unique(group[person], return_inverse=True)[1].reshape(-1)  # from 0
    if not group_of_tested.any():
        return math.nan
    tested: Any = person if attempts.ndim == 1 else np.ix_(person, person)
    tested_errors = errors[tested].astype(np.float64)
    tested_attempts = attempts[tested].astype(np.float64)
    return permutation_p_value(tested_errors, tested_attempts, group_of_tested, stream)


def permutation_p_value(
    errors: np.ndarray, attempts: np.ndarray, group: np.ndarray, stream: Stream
) -> float:
    """Return the p-value that a rate differs between groups, permuted among people.

    It is ``(1 + permutations with as large a deviation) / (1 + PERMUTATIONS)``; `errors` and
    `attempts` are those of :func:`largest_deviation`, and `group` (people,) is from 0.
    """
    people = len(group)
    group_count = int(group.max()) + 1
    values_of_permutation = people * group_count if errors.ndim == 2 else people
    most_columns = max(1, _MOST_VALUES // values_of_permutation)
    observed = largest_deviation(errors, attempts, group[:, None])[0]
    as_large = 0
    remaining = PERMUTATIONS
    while remaining:
        columns = min(most_columns, remaining)
        groups = np.stack([group[stream.permutation(people)] for _ in range(columns)], axis=1)
        deviation = largest_deviation(errors, attempts, groups)
        as_large += int((deviation >= observed * (1 - _REORDERED)).sum())
        remaining -= columns
    return (1 + as_large) / (1 + PERMUTATIONS)


def largest_deviation(errors: np.ndarray, attempts: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return ``max_g |rate_g - rate| / se_g`` for each column of `groups`, int64 (people, columns).

    ``rate`` is the rate of all groups, and ``se_g^2`` is the sum of the squares of ``errors_a -
    rate_g attempts_a`` over the people of the group, divided by the square of its attempts. If it
    is 0 and ``rate_g`` is not ``rate``, the deviation is infinite.

    `errors` and `attempts`, float64, are the own attempts of each person (FRR), (people,), or the
    attempts of each two people, (people, people), of which those within a group count (FAR).
    """
    # The counts of each person, (people, columns), or (people, 1) if they are alike in all columns.
    group_count = int(groups.max()) + 1
    if errors.ndim == 1:
        people_per_attempt = 1
        person_errors = errors[:, None]
        person_attempts = attempts[:, None]
    else:
        people_per_attempt = 2  # an attempt is counted with both of its people
        # One product serves all columns: membership is (people, columns * groups).
        is_member_of = groups[:, :, None] == np.arange(group_count)
        membership = is_member_of.reshape(len(groups), -1).astype(np.float64)
        person_errors = _with_own_group(errors, membership, groups)
        person_attempts = _with_own_group(attempts, membership, groups)

    # The rates of each group, (groups, columns), and of all groups together, (columns,).
    is_member = [groups == g for g in range(group_count)]
    summed_errors = np.stack([(is_in * person_errors).sum(axis=0) for is_in in is_member])
    summed_attempts = np.stack([(is_in * person_attempts).sum(axis=0) for is_in in is_member])
    group_errors = summed_errors / people_per_attempt
    group_attempts = summed_attempts / people_per_attempt
    rates = ratio(group_errors, group_attempts)
    overall = ratio(group_errors.sum(axis=0), group_attempts.sum(axis=0))

    largest = np.zeros(groups.shape[1])
    for is_in, rate, total in zip(is_member, rates, group_attempts, strict=True):
        squares = (is_in * (person_errors - rate * person_attempts) ** 2).sum(axis=0)
        distance = np.abs(rate - overall)
        with np.errstate(divide="ignore", invalid="ignore"):
            deviation = np.where(distance > _EQUAL, distance * total / np.sqrt(squares), 0.0)
        largest = np.fmax(largest, deviation)  # a group without attempts, NaN, does not count
    return largest


def _with_own_group(counts: np.ndarray, membership: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the sum of each person's `counts` with the people of the same group, as `groups`.

    `membership` (people, columns * groups) is 1 where a person is in a group of a column.
    """
    with_each_group = (counts @ membership).reshape(*groups.shape, -1)
    return np.take_along_axis(with_each_group, groups[:, :, None], axis=2)[:, :, 0]


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
