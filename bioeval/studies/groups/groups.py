"""Verification by group: of people, or of attempts by a condition."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, counted
from bioeval.base.messages import Message, message_attrs
from bioeval.base.progress import report_rows, rows_reported
from bioeval.counting.fold_scores import Subset
from bioeval.counting.folds import FoldAttempts
from bioeval.counting.reduce import reduce
from bioeval.counting.threshold_rules import Rule, choose, no_such_threshold
from bioeval.counting.thresholds import require_values, to_user
from bioeval.results.dataset import threshold_with_next
from bioeval.results.support import beyond_scores
from bioeval.scores.codes import Codes, spellings
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.missing import no_value
from bioeval.scores.people import require_people
from bioeval.scores.provenance import Provenance
from bioeval.scores.requirements import require_scores
from bioeval.scores.rows import threads_for
from bioeval.scores.score_notes import look_alike
from bioeval.scores.symmetry import is_symmetric
from bioeval.scores.template_values import Sides, is_pair, with_known_values
from bioeval.showing.messages import warns_of_doubts
from bioeval.stats.options import IntervalMethod, interval_of
from bioeval.studies.groups.group_rates import (
    ALL,
    GroupRates,
    groups_dataset,
    has_enough_subjects,
)
from bioeval.studies.groups.intervals import condition_intervals, group_intervals

# More groups are refused: counts of all pairs of groups would take too much memory.
MOST_GROUPS = 256


@warns_of_doubts
def by_group(
    scores: Scores,
    group: Any,
    *,
    threshold: Any = "eer",
    interval: Literal["people"] | IntervalMethod | None = None,
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
    interval : {None, "people"}
        Add confidence intervals by the jackknife over the people of each group. The threshold of
        all groups stays.

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

        - ``frr_simultaneous_low`` ... ``far_simultaneous_high``: limits that hold for all groups
          together
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
    options = interval_of(interval, ["people"])
    rule = Rule.parse(threshold)
    require_scores(scores)
    require_values(scores, "verification by group")
    require_people(scores, "verification by group")
    groups, scores, messages = _grouped(scores, group)
    messages += look_alike(spellings(groups.labels), groups.name or "group", len(groups.labels))

    # One threshold for all groups, and the rates of the groups.
    codes = scores.codes
    distance_rule = rule.as_distance(scores.kind)
    counting = FoldAttempts(None, [groups.sides], [[(Subset(),)]], distance_rule, Rule("eer"))
    with rows_reported(passes=2):
        ((((attempts,),),),) = reduce(scores, counting)
        report_rows(scores.shape[0], scores.shape[0])  # the second pass may not be needed
    chosen = choose(distance_rule, attempts)
    counts = counting.by_fold(chosen.threshold)
    rates = GroupRates(chosen, groups.subjects(codes), groups.people is None, counts)
    ds = groups_dataset(rates, groups.labels, Provenance.from_scores(scores), is_symmetric(scores))
    if attempts.defined and not chosen.defined:
        messages.append(Message("no-threshold", why=no_such_threshold(rule, attempts)))
    if rule.name == "fixed":
        used = to_user(chosen.threshold, scores.kind)
        messages += beyond_scores(used, float(ds["far"].values.flat[-1]), float(ds["frr"][-1]))
    ds.attrs.update(
        by=groups.name or "given values",
        **rule.attrs(),
        **message_attrs([*_answers_on_rates(ds), *messages], ds.attrs),
    )

    # Intervals, and the answer of the test.
    if options is not None:
        with threads_for(scores):
            if groups.people is not None:
                group_of_person = groups.people[np.union1d(codes.probe, codes.gallery)]
                ds = group_intervals(ds, scores, group_of_person, options, defined=chosen.defined)
            elif chosen.defined:
                ds = condition_intervals(ds, scores, groups.sides[0], options)
    return ds.assign_attrs(message_attrs(_answer_of_test(ds), ds.attrs))


def _answers_on_rates(ds: xr.Dataset) -> Iterator[Message]:
    of_frr = _extremes(ds, ds["frr"].values)
    if not of_frr:
        return
    is_within = "claimed_group" in ds["far"].dims
    of_far = _extremes(ds, ds["far"].values.diagonal() if is_within else ds["far"].values)
    about = {f"far_{name}": x for name, x in of_far.items()}
    if of_far:
        about["within"] = "within groups" if is_within else "of groups"
    first = {
        "group_with_least": of_frr["groups_with_least"][0],
        "group_with_most": of_frr["groups_with_most"][0],
    }
    yield Message("errors-of-groups", **threshold_with_next(ds), **of_frr, **first, **about)


def _extremes(ds: xr.Dataset, rates: np.ndarray) -> dict[str, Any]:
    compared = [i for i in np.flatnonzero(has_enough_subjects(ds)) if not np.isnan(rates[i])]
    if len(compared) < 2:
        return {}
    least, most = rates[compared].min(), rates[compared].max()
    groups = ds["group"].values
    return {
        "least": float(least),
        "groups_with_least": [str(groups[i]) for i in compared if rates[i] == least],
        "most": float(most),
        "groups_with_most": [str(groups[i]) for i in compared if rates[i] == most],
    }


def _answer_of_test(ds: xr.Dataset) -> Iterator[Message]:
    p_values = {f"{rate}_p": float(ds.get(f"{rate}_groups_p", math.nan)) for rate in ("frr", "far")}
    if any(map(math.isnan, p_values.values())):
        return
    is_shown = min(p_values.values()) <= 1 - float(ds.attrs["confidence"])
    finding = "a significant difference" if is_shown else "no significant difference"
    about: dict[str, Any] = {}
    for rate in ("frr", "far"):
        limits = np.array([ds.get(f"{rate}_difference_{x}", math.nan) for x in ("low", "high")])
        if not is_shown and not np.isnan(limits).all():
            about[f"{rate}_points"] = 100 * float(np.nanmax(np.abs(limits)))
    yield Message("groups-tested", finding=finding, **p_values, **about)


class Groups(NamedTuple):
    """The groups of a column, which are groups of people or of attempts."""

    labels: np.ndarray  # sorted
    #: The group of each probe and of each gallery template, as an index of `labels`. In groups of
    #: attempts, the group of the probe alone decides.
    sides: Sides
    people: np.ndarray | None  # the group of each subject by its code; None of groups of attempts
    name: str  # name of the column; empty if values were given

    def subjects(self, codes: Codes) -> np.ndarray:
        """Return the number of people in each group, and in all groups, int64 (groups + 1,).

        In groups of people, templates of either side count; in groups of attempts, only probes.
        """
        subject, group = codes.probe.astype(np.int64), self.sides[0]
        if self.people is not None:
            subject = np.union1d(codes.probe, codes.gallery)
            group = self.people[subject]
        is_person, groups = ~codes.no_person[subject], len(self.labels)
        distinct = np.unique(subject[is_person] * groups + group[is_person])
        people = np.bincount(distinct % groups, minlength=groups)
        return np.append(people, len(np.unique(subject[is_person])))


class _Grouped(NamedTuple):
    groups: Groups
    scores: Scores  # the scores of templates with a known group
    messages: list[Message]


def _grouped(scores: Scores, group: Any) -> _Grouped:
    """Read the argument `group`.

    The groups are of people if each person's templates are all in one group, else of attempts.
    """
    of_probes = isinstance(group, (tuple, list)) and len(group) == 2 and group[1] is None
    values = group[0] if of_probes else group
    name = values if isinstance(values, str) else ""
    if name in scores.probe_meta:
        gallery = scores.gallery_meta.get(name)
        of_probes |= gallery is None or bool(no_value(gallery, "group").all())
    messages = list[Message]()
    if not of_probes:
        known_scores, sides = with_known_values(scores, values, "group")
        codes = known_scores.codes
        labels, groups_of_sides = _labels_of(*sides)
        group_of_subject = np.full(len(codes.values), -1, dtype=np.int64)
        group_of_subject[codes.probe], group_of_subject[codes.gallery] = groups_of_sides
        several = _in_several_groups(codes, groups_of_sides, labels)
        if several is None:
            groups = Groups(labels, groups_of_sides, group_of_subject, name)
            return _Grouped(groups, known_scores, [])
        if is_pair(values):
            raise several.error(scores)
        if 2 * several.number < several.people:  # it may be a mistake
            about: dict[str, Any] = {"several": several.number, "of": several.people}
            about |= {"subject": several.first, "groups": several.groups_of_first}
            messages.append(Message("groups-of-attempts", **about))

    # Groups of attempts.
    scores, (probe, _) = with_known_values(scores, values, "group", of_probes=True)
    labels, (group_of_probe, _) = _labels_of(probe, probe)
    # A tile of all-against-all embeddings is counted in both directions.
    is_square = scores.layout != "pairs" and np.array_equal(scores.probe_ids, scores.gallery_ids)
    group_of_column = group_of_probe if is_square else np.zeros(scores.shape[-1], dtype=np.int64)
    groups = Groups(labels, Sides(group_of_probe, group_of_column), None, name)
    return _Grouped(groups, scores, messages)


class _SeveralGroups(NamedTuple):
    """Subjects whose templates are in several groups."""

    first: Any
    groups_of_first: list[Any]
    number: int
    people: int  # number of all subjects

    def error(self, scores: Scores) -> DataError:
        further = f" ({counted(self.number, 'subjects')} have several)" if self.number > 1 else ""
        advice = ""
        if scores.layout == "pairs":
            advice = "; the first array is of the probes, which are the second names of the pairs"
        return DataError(
            f"`group`: subject {self.first!r} is in the groups "
            f"{', '.join(map(repr, self.groups_of_first))}{further}; expected one group for all "
            "templates of a subject, or of groups of attempts the values of the probes and None"
            f"{advice}"
        )


def _in_several_groups(
    codes: Codes, groups_of_sides: Sides, labels: np.ndarray
) -> _SeveralGroups | None:
    subject = np.append(codes.probe, codes.gallery)
    group = np.append(*groups_of_sides)
    last_group_of_subject = np.empty(len(codes.values), dtype=np.int64)
    last_group_of_subject[subject] = group
    in_several = subject[last_group_of_subject[subject] != group]
    if not len(in_several):
        return None
    first = in_several[0]
    groups_of_first = labels[np.unique(group[subject == first])].tolist()
    people = len(np.unique(subject))
    return _SeveralGroups(
        plain(codes.values[first]), groups_of_first, len(np.unique(in_several)), people
    )


def _labels_of(probe: np.ndarray, gallery: np.ndarray) -> tuple[np.ndarray, Sides]:
    """Return the labels of the groups in order, and the group of each template.

    A group is an index of the labels, int64 (m,) of the probes and (n,) of the gallery.
    """
    codes = Codes(probe, gallery, "`group`")
    used_codes = np.union1d(codes.probe, codes.gallery)
    labels, order = _sorted(codes.values[used_codes])
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
    return labels, Sides(group_of_code[codes.probe], group_of_code[codes.gallery])


def _sorted(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    plain_values = list(map(plain, values.tolist()))
    texts = np.array(list(map(str, plain_values)), dtype=str)
    order = np.argsort(texts, kind="stable")
    if all(isinstance(value, (int, float)) and abs(value) < 2**63 for value in plain_values):
        order = np.argsort(np.array(plain_values), kind="stable")
    return texts[order], order
