"""Rates over time, of re-identification too, and the ageing of templates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import xarray as xr

from bioeval import DataError, Protocol, ProtocolError, Scores
from bioeval.base import (
    Argument,
    Bootstrap,
    Client,
    Name,
    RandomState,
    names_of,
    require_choice,
    require_integer,
    require_list,
    rows_reported_to,
    scalar_registry,
)
from bioeval.document import Message, message_attrs
from bioeval.evaluation import ResultThreshold, distributable
from bioeval.protocol import Search
from bioeval.results import (
    QueryMean,
    Variables,
    about_attrs,
    along,
    build,
)
from bioeval.scores import (
    NOT_ENROLLED,
    FusionRule,
    Progress,
    Provenance,
    codes_of,
    leaves_out_attacks,
    require_scores,
    require_subjects,
)
from bioeval.stats import IntervalOptions, SubjectMeans, linear_forms, ratio
from bioeval.studies.reid.reid import Named, plan_gom
from bioeval.studies.reid.results import REID, gom_measures
from bioeval.studies.time.counts import (
    AttemptsOverTime,
    Counting,
    SharedReader,
    TimeBins,
    attempts_over_time,
)
from bioeval.studies.time.in_use import claims_over_time
from bioeval.tallies import (
    Claim,
    IdentificationTally,
    RankUnit,
    Rule,
    Templates,
    Ties,
    is_accepted,
    require_values,
    to_user,
)

_AT, _OPEN_SET = names_of("verification", "frr", "fr", "genuine_attempts"), names_of("open_set")

_THRESHOLD = Name("decision threshold", "score", "threshold T")

OVER_TIME = {
    "time": Name("time at which probes were seen: start of the bin", ""),
    "time_end": Name("end of the bin (not included)", ""),
    "probes": Name("probes seen in the bin", "probes"),
    "probes_outside": Name("probes in no bin, or without a time", "probes"),
    **_AT,
    **names_of("verification", "far", "fa", "impostor_attempts"),
    "gallery_templates": Name("templates enrolled when a probe is seen, mean", "templates"),
    "gallery_subjects": Name("subjects enrolled when a probe is seen, mean", "subjects"),
    "threshold": _THRESHOLD,
    "dir": scalar_registry()["dir"],
    "dir_count": Name("mated searches identified within threshold and rank", "probes"),
    **names_of("closed_set", "cms", "cms_count"),
    "mated_searches": _OPEN_SET["genuine_attempts"],
    "open_set_far": _OPEN_SET["far"],
    "open_set_fa": _OPEN_SET["fa"],
    "non_mated_searches": _OPEN_SET["impostor_attempts"],
    "mean_ap": REID["mean_ap"],
    "mrep": Name("mean re-identification precision within the threshold: sqrt(VP RP)"),
    "mfr": Name("mean false rate within the threshold, of queries not enrolled: min(FP / B, 1)"),
    "reid_queries": Name("queries that mAP and mReP are over", "queries"),
    "open_queries": Name("queries not enrolled when seen (denominator of mFR)", "queries"),
}

AGEING = {
    "age": Name("age of the template when the probe was seen: start of the bin", ""),
    "age_end": Name("end of the bin (not included)", ""),
    **_AT,
    "genuine_mean": Name("mean of the finite genuine scores", "score"),
    "genuine_sd": Name("standard deviation (ddof 0) of the finite genuine scores", "score"),
    "threshold": _THRESHOLD,
    "non_finite": Name("genuine scores that are not finite, left out of means", "attempts"),
    "slope": Name("change of the genuine score with a unit of age, over all pairs", "score"),
    "intercept": Name("genuine score at age 0, by the same least squares", "score"),
    "slope_within": Name(
        "change of the genuine score with a unit of age, within subjects (fixed effects)", "score"
    ),
    "subjects": Name("subjects with a genuine score: independent trials", "subjects"),
}

for _name in ("frr", "dir", "cms"):
    OVER_TIME |= OVER_TIME[_name].ends_of(_name)

for _name in ("frr", "slope", "slope_within"):
    AGEING |= AGEING[_name].ends_of(_name)


def by_bin(codes: np.ndarray, bins: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the number, or the sum of weights, in each bin; -1 marks what is in no bin."""
    inside = codes >= 0
    if weights is None:
        return np.bincount(codes[inside], minlength=bins)
    sums = np.bincount(codes[inside], weights[inside], bins)
    if weights.dtype.kind in "biu":
        return sums.astype(np.int64)
    return sums


def over_time_dataset(
    attempts: AttemptsOverTime,
    bins: TimeBins,
    sizes: tuple[np.ndarray, np.ndarray],
    about: Provenance,
    ranks: Sequence[int],
    ties: str,
    of_queries: Variables,
) -> xr.Dataset:
    """Return the rates of each bin; `sizes` are the templates and subjects enrolled.

    `of_queries` are further variables, of re-identification.
    """
    over, codes, count = ("time",), bins.codes, len(bins)
    bin_of = codes[attempts.row]
    genuine = by_bin(bin_of, count)
    fr = genuine - by_bin(bin_of, count, is_accepted(attempts.values, attempts.threshold))
    probes = by_bin(codes, count)
    variables = {
        **along(
            over,
            time_end=_stored(bins.edges[1:]),
            probes=probes,
            frr=ratio(fr, genuine),
            fr=fr,
            genuine_attempts=genuine,
            far=ratio(attempts.false_accepts, attempts.impostor_attempts),
            fa=attempts.false_accepts,
            impostor_attempts=attempts.impostor_attempts,
            gallery_templates=ratio(by_bin(codes, count, sizes[0]), probes),
            gallery_subjects=ratio(by_bin(codes, count, sizes[1]), probes),
        ),
        "threshold": to_user(np.float64(attempts.threshold), about.kind),
        "probes_outside": (codes < 0).sum(),
        **of_queries,
    }
    coordinates = {"time": _stored(bins.edges[:-1])}
    if attempts.ranks is not None:
        variables |= _searches(attempts, codes, count, ranks, ties)
        coordinates["rank"] = np.asarray(ranks, dtype=np.int64)
    attrs = about_attrs(about, "over-time", "rates over time", [])
    return build(variables, OVER_TIME, coordinates, attrs)


def _searches(
    attempts: AttemptsOverTime, codes: np.ndarray, count: int, ranks: Sequence[int], ties: str
) -> Variables:
    """Return identification in each bin."""
    tally = attempts.ranks
    assert tally is not None
    mated, weights = identified(tally, attempts.threshold, ranks, ties)
    searches = by_bin(codes[mated], count)
    rates, hits = {}, {}
    for name, each in weights.items():
        number = np.stack([by_bin(codes[mated], count, by_rank) for by_rank in each], axis=1)
        rates[name] = ratio(number, searches[:, None])
        hits[f"{name}_count"] = number
    impostors = tally.impostor_probes(tally.impostor_role("auto"))
    accepted = is_accepted(tally.other[impostors], attempts.threshold)
    non_mated = by_bin(codes[impostors], count)
    fa = by_bin(codes[impostors], count, accepted)
    return {
        **along(("time", "rank"), **rates, **hits),
        **along(
            ("time",),
            mated_searches=searches,
            open_set_far=ratio(fa, non_mated),
            open_set_fa=fa,
            non_mated_searches=non_mated,
        ),
    }


def identified(
    tally: IdentificationTally, threshold: float, ranks: Sequence[int], ties: str
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the mated probes, and whether each is identified by each rank (``cms``, ``dir``).

    ``dir`` is within the threshold too. Under expected ties they are probabilities.
    """
    mated = np.nonzero(tally.mates > 0)[0]
    probe, rank, weight = tally.rank_weights(mated, ties)
    place = np.searchsorted(mated, probe)
    cms = np.stack([np.bincount(place, weight * (rank <= k), len(mated)) for k in ranks])
    if ties != "expected":
        cms = cms.astype(np.int64)
    return mated, {"dir": cms * is_accepted(tally.mate[mated], threshold), "cms": cms}


def ageing_dataset(
    attempts: AttemptsOverTime, bins: TimeBins, about: Provenance, fitted: Variables
) -> xr.Dataset:
    """Return genuine scores by bin of age; the codes give the bin of each genuine score."""
    over, codes, count = ("age",), bins.codes, len(bins)
    genuine = by_bin(codes, count)
    fr = genuine - by_bin(codes, count, is_accepted(attempts.values, attempts.threshold))
    finite = np.isfinite(attempts.values)
    score = to_user(attempts.values, about.kind)
    inside = np.where(finite, codes, -1)
    number = by_bin(inside, count)
    mean = ratio(by_bin(inside, count, score), number)
    away = np.where(finite, score - mean[inside], 0.0) if count else score
    spread = np.sqrt(ratio(by_bin(inside, count, away**2), number))
    variables = {
        **along(
            over,
            age_end=bins.edges[1:].astype(np.float64),
            genuine_attempts=genuine,
            fr=fr,
            frr=ratio(fr, genuine),
            genuine_mean=mean,
            genuine_sd=spread,
        ),
        "threshold": to_user(np.float64(attempts.threshold), about.kind),
        "non_finite": (~finite).sum(),
        **fitted,
    }
    attrs = about_attrs(about, "ageing", "ageing of templates", [])
    return build(variables, AGEING, {"age": bins.edges[:-1].astype(np.float64)}, attrs)


#: What a result says of the sizes of its data.
_SIZES = ("probes", "probe_subjects", "gallery_templates", "gallery_subjects")


def threshold_attrs(
    rule: Rule, study: ResultThreshold | None, scores: Scores
) -> tuple[dict[str, Any], list[Message]]:
    """Return the attributes of a threshold, and a message where it was chosen on these data.

    The `scores` leave out what is not enrolled, which the study may have compared.
    """
    if study is not None:
        given: dict[str, Any] = {"threshold_rule": str(rule), "chosen_on": "given"}
        if study.in_use:  # the claims are of these scores
            about = about_attrs(Provenance.of(scores), "", "", [])
            given |= {x: about[x] for x in _SIZES if x in about}
        as_studied = scores.excluding(*study.exclude)
        return given | study.attrs(scores), study.messages(as_studied)
    if rule.name == "fixed":
        return {"threshold_rule": str(rule), "chosen_on": "given"}, []
    message = Message("threshold-chosen-on-these-data", rule=str(rule))
    return {"threshold_rule": str(rule), "chosen_on": "all data"}, [message]


def outside_bins(number: int, total: int, of: str) -> list[Message]:
    """Return a message of the number of probes or pairs that are in no bin."""
    return [Message("outside-bins", outside=number, total=total, of=of)] if number else []


def _stored(edges: np.ndarray) -> np.ndarray:
    """Return edges as they are stored in files: float64, or dates in nanoseconds."""
    if edges.dtype.kind == "M":
        return edges.astype("datetime64[ns]")
    return edges.astype(np.float64)


_DAY = np.timedelta64(1, "D")


@leaves_out_attacks
@distributable
def over_time(
    scores: Scores,
    bins: Any = 10,
    *,
    threshold: Any = "eer",
    templates: Templates = "single",
    fusion: FusionRule = "min",
    ranks: Sequence[int] = (1,),
    rank_unit: RankUnit = "template",
    ties: Ties = "pessimistic",
    reid: str | os.PathLike[str] | Protocol | None = None,
    budget: int | None = None,
    interval: Bootstrap | None = None,
    confidence: float = IntervalOptions.CONFIDENCE,
    replicates: int = IntervalOptions.REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """Evaluate a gallery over time: the rates of the probes that were seen in each bin of time.

    Each probe is compared with the templates enrolled when it was seen, as with
    ``exclude="not-enrolled"`` of :class:`Scores`.

    Parameters
    ----------
    scores : Scores
        With the metadata ``seen_at`` of the probes; ``enrolled_at`` and ``withdrawn_at`` of the
        gallery.
    bins : int, {"year", "month", "day", "hour"} or increasing array
        That many bins of equal width from the first time to the last; of dates, calendar units;
        or the edges. A bin begins at its first edge and ends before its last.
    threshold : float, str or tuple
        A threshold in the units of the scores; or a rule that chooses one on all data, as
        :func:`bioeval.cross_evaluate` takes it: ``"eer"``, ``("far", 0.001)``, ``"far=0.001"``. Or
        the result of :func:`study_threshold`: its threshold, the assured one if there is one, with
        its templates, fusion and exclusions.
    templates, fusion
        Verification, as for :func:`verification`. The threshold is chosen on it.
    ranks : sequence of int
        Ranks of identification; none leaves it out.
    rank_unit, ties
        Identification, as for :func:`open_set`, at the same threshold.
    reid : str, path or Protocol, optional
        A card with ``[gom]`` or ``[reid]``: also mAP, and mReP and mFR at the same threshold, of
        the queries of each bin, with its removal, junk and ties as for :func:`gom`.
    budget : int, optional
        B of mFR. None: the card's, or 3000.
    interval : None or str
        ``"subject-bootstrap"`` (also ``"...-bca"``, ``"...-logit"``): intervals of FRR, DIR and
        CMS, by resampling the subjects of the probes while gallery and threshold stay.
    confidence, replicates, random_state
        As for :func:`verification`.
    progress, client, checkpoint
        As for :func:`tally`.

    Returns
    -------
    xarray.Dataset
        Over ``time``, the start of each bin, with ``time_end``: ``frr far`` with the counts
        ``fr fa genuine_attempts impostor_attempts``; ``dir cms`` over ``time, rank`` with
        ``dir_count cms_count mated_searches``; ``open_set_far`` with ``open_set_fa
        non_mated_searches``; ``probes``, and the mean number of templates and subjects enrolled
        when they were seen, ``gallery_templates gallery_subjects``; with `reid` ``mean_ap mrep
        mfr reid_queries open_queries``. Scalars ``threshold`` and
        ``probes_outside``. NaN where a bin has no attempt.

    Raises
    ------
    DataError
        If times or bins are wrong, or there is no ``seen_at``.
    ProtocolError
        If the scores have no labels, or a rule has no attempt of a class to choose on.

    Notes
    -----
    All bins are counted in one pass over the scores. A threshold that is chosen takes a second
    look. Definitions: ``docs/time.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[1, 4], [2, 3], [5, 2], [6, 1]]
    >>> scores = be.Scores(
    ...     d, ["ann", "bob", "ann", "bob"], ["ann", "bob"],
    ...     probe_meta={"seen_at": [2020, 2020, 2021, 2021]},
    ...     gallery_meta={"enrolled_at": [2019, 2021]})
    >>> ds = be.over_time(scores, [2020, 2021, 2022], threshold=3)
    >>> ds.frr.values, ds.gallery_subjects.values
    (array([0. , 0.5]), array([1., 2.]))
    """
    limits = _interval(interval, confidence, replicates, random_state)
    study, enrolled = ResultThreshold.of(threshold), None
    if study is None:
        view, times = _checked(scores, templates, fusion)
        of_study, rule = view, Rule.parse(threshold)
    else:
        of_study = study.compared(scores, besides=[NOT_ENROLLED])
        study.require(of_study, in_use=True)
        study.require_single_scores(of_study)
        rule = study.fixed
        if study.in_use:
            study.require_use({"templates": templates, "fusion": fusion})
        else:
            templates, fusion = study.claim(templates, fusion)
        of_study, times = _checked(of_study, study.templates, study.fusion)
        view = of_study
        if study.in_use:
            view, enrolled = claims_over_time(of_study, study)
            templates, fusion = "single", "min"
            times = view._enrolment_times
    search = Search(rank_unit=rank_unit, fusion=fusion, ties=ties)
    stated = [require_integer("ranks", x, low=1) for x in require_list("ranks", ranks)]
    if budget is not None and reid is None:
        raise DataError(
            Argument("budget"),
            " is an option of mFR, and mFR needs a card: give ",
            Argument("reid"),
            ", such as 'gom-market1501', or leave it out",
        )
    time = TimeBins.of(times.columns["seen_at"], bins, times.parsed)
    reader = SharedReader(view)
    rule_of_distances = rule.as_distance(view.kind)
    counting = Counting(templates, fusion, rule_of_distances, search if stated else None)
    with rows_reported_to(progress):
        attempts = attempts_over_time(reader, time.codes, len(time), counting)
    if enrolled is None:
        enrolled = times.sizes()
    sizes = enrolled, times.subject_sizes(codes_of(view).gallery)
    of_queries: Variables = {}
    rule_attrs, messages = threshold_attrs(rule, study, of_study)
    if reid is not None:
        with rows_reported_to(progress):
            of_queries, rules = reid_over_time(
                view, reid, budget, attempts.threshold, time.codes, len(time)
            )
        rule_attrs |= rules
    ds = over_time_dataset(attempts, time, sizes, reader.about, stated, ties, of_queries)
    messages += outside_bins(int(ds["probes_outside"]), view.shape[0], "probes")
    ds = _described(ds, {"templates": templates, "fusion": fusion} | rule_attrs, messages)
    if stated:
        ds.attrs |= {"rank_unit": rank_unit, "ties": ties}
    if limits is None:
        return ds
    person = np.unique(codes_of(view).probe, return_inverse=True)[1].reshape(-1)
    weights = limits.weights(int(person.max()) + 1)
    accepted = is_accepted(attempts.values, attempts.threshold)[None]
    low, high = _limits_by_bin(
        1 - accepted, time.codes[attempts.row], person[attempts.row], len(time), weights, limits
    )
    ends = {"frr": (low[:, 0], high[:, 0])}
    if attempts.ranks is not None:
        mated, hits = identified(attempts.ranks, attempts.threshold, stated, ties)
        for name, by_rank in hits.items():
            ends[name] = _limits_by_bin(
                by_rank, time.codes[mated], person[mated], len(time), weights, limits
            )
    here = limits.for_this_gallery
    return here.added_to(ds, ends, OVER_TIME, here.few_people(len(weights)))


@leaves_out_attacks
@distributable
def ageing(
    scores: Scores,
    bins: Any = 10,
    *,
    threshold: Any = "eer",
    confidence: float = IntervalOptions.CONFIDENCE,
    replicates: int = IntervalOptions.REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """Evaluate the ageing of templates: genuine scores and FRR by the age of the template.

    The age of a template is ``seen_at - enrolled_at``, of dates in days; templates that are not
    enrolled when the probe is seen are not compared with it. A claim against several templates has
    the age of the newest of them, and counts once that one is enrolled.

    Parameters
    ----------
    scores : Scores
        With the metadata ``seen_at`` of the probes and ``enrolled_at`` of the gallery.
    bins : int or increasing array
        Bins of age: that many of equal width, or the edges (of dates in days).
    threshold
        As for :func:`over_time`, of single-template verification; of a study of several templates,
        or of several tries, the genuine scores are those of its claims (:func:`claim_scores`).
    confidence, replicates, random_state, progress, client, checkpoint
        As for :func:`over_time`; the intervals are by the subject bootstrap (percentiles).

    Returns
    -------
    xarray.Dataset
        Over ``age``, the start of each bin, with ``age_end``: ``genuine_mean genuine_sd`` of the
        finite genuine scores, ``frr`` with the counts ``fr genuine_attempts``, ``frr_low
        frr_high``. Scalars: ``slope`` and ``intercept`` of the least squares line of the genuine
        score over age, ``slope_within`` of the same within subjects, each slope with ``_low
        _high``; ``subjects``, ``non_finite``, ``threshold``.

    Raises
    ------
    DataError
        If times or bins are wrong, or ``seen_at`` or ``enrolled_at`` is missing.
    ProtocolError
        As for :func:`over_time`.

    Notes
    -----
    The slope over all pairs mixes ageing with whatever makes the people who were enrolled early
    differ from others. ``slope_within`` compares each subject with itself (fixed effects), which
    longitudinal studies of faces and fingerprints do with mixed-effects models: Best-Rowden and
    Jain (2018), "Longitudinal study of automatic face recognition", IEEE TPAMI 40(1); Yoon and
    Jain (2015), PNAS 112(28). Pairs share templates and subjects: the intervals resample subjects.
    Definitions: ``docs/time.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[1, 9], [2, 9], [3, 9], [9, 5]]
    >>> scores = be.Scores(
    ...     d, ["ann", "ann", "ann", "bob"], ["ann", "bob"],
    ...     probe_meta={"seen_at": [1, 2, 3, 1]}, gallery_meta={"enrolled_at": [0, 0]})
    >>> ds = be.ageing(scores, [1, 2, 4], threshold=4)
    >>> ds.genuine_mean.values, ds.frr.values, float(ds.slope_within)
    (array([3. , 2.5]), array([0.5, 0. ]), 1.0)
    """
    limits = _interval("subject-bootstrap", confidence, replicates, random_state)
    assert limits is not None
    study = ResultThreshold.of(threshold)
    if study is None:
        rule = Rule.parse(threshold)
        of_study, times = _checked(scores, "single", "min")
        view = of_study
    else:
        of_study = study.compared(scores, besides=[NOT_ENROLLED])
        study.require(of_study, in_use=True)
        study.require_single_scores(of_study)
        rule = study.fixed
        of_study, times = _checked(of_study, "single", "min")
        view = of_study
        if not study.is_of_single_comparisons:
            view, times = _checked(study.claims_of(of_study), "single", "min")
    if "enrolled_at" not in times.columns:
        raise DataError(
            "the gallery has no metadata column enrolled_at, and the age of a template is seen_at "
            "of the probe less enrolled_at; add the column to the file, or name another one: ",
            Argument("meta", "enrolled_at=COLUMN"),
        )
    reader = SharedReader(view)
    counting = Counting("single", "min", rule.as_distance(view.kind))
    everyone = np.zeros(view.shape[0], dtype=np.int64)
    with rows_reported_to(progress):
        attempts = attempts_over_time(reader, everyone, 1, counting)
    seen, enrolled = times.columns["seen_at"], times.columns["enrolled_at"]
    age = seen[attempts.row] - enrolled[attempts.column]
    age = age / _DAY if age.dtype.kind == "m" else age.astype(np.float64)
    known = ~np.isnan(age)
    if not known.any():
        raise ProtocolError("no genuine pair has a template of known age; ages are not defined")
    total, age = len(age), age[known]
    attempts = replace(
        attempts,
        values=attempts.values[known],
        row=attempts.row[known],
        column=attempts.column[known],
    )
    person = np.unique(codes_of(view).probe[attempts.row], return_inverse=True)[1].reshape(-1)
    weights = limits.weights(int(person.max()) + 1)
    time = TimeBins.of(age, bins, times.parsed)
    line, ends = _lines(age, to_user(attempts.values, view.kind), person, weights, limits)
    line["subjects"] = len(weights)
    ds = ageing_dataset(attempts, time, reader.about, line)
    rule_attrs, messages = threshold_attrs(rule, study, of_study)
    lost = total - int((time.codes >= 0).sum())
    rule_attrs["age_unit"] = "days" if seen.dtype.kind == "M" else "as given"
    ds = _described(ds, rule_attrs, messages + outside_bins(lost, total, "genuine pairs"))
    rejected = ~is_accepted(attempts.values, attempts.threshold)[None]
    low, high = _limits_by_bin(rejected, time.codes, person, len(time), weights, limits)
    ends["frr"] = low[:, 0], high[:, 0]
    return limits.added_to(ds, ends, AGEING, limits.few_people(len(weights)))


def _checked(scores: Scores, templates: str, fusion: str) -> tuple[Scores, Any]:
    """Return the scores with galleries over time, and their times."""
    require_scores(scores)
    Claim(templates, fusion)
    require_values(scores, "a threshold over time")
    require_subjects(scores, "evaluation over time")
    if "seen_at" not in scores.probe_meta:
        raise DataError(
            "the probes have no metadata column seen_at, when each of them was seen (numbers or "
            "dates); add the column to the file, or name another one: ",
            Argument("meta", "seen_at=COLUMN"),
            ". Ages of templates need enrolled_at of the gallery, too",
        )
    view = scores.excluding(*dict.fromkeys([*scores.exclude, NOT_ENROLLED]))
    return view, view._enrolment_times


def _interval(method: str | None, *options: Any) -> IntervalOptions | None:
    if method is not None:
        require_choice("interval", method, get_args(Bootstrap))
    return IntervalOptions.parse(method, *options)


def _described(ds: xr.Dataset, attrs: dict[str, Any], messages: list[Message]) -> xr.Dataset:
    """Return a dataset with additional attributes and messages."""
    ds.attrs |= {**attrs, **message_attrs(messages, ds.attrs)}
    return ds


def _limits_by_bin(
    values: np.ndarray,
    codes: np.ndarray,
    person: np.ndarray,
    bins: int,
    weights: np.ndarray,
    options: IntervalOptions,
) -> tuple[np.ndarray, np.ndarray]:
    """Return limits of means of values, shape (k, attempts), in each bin: shape (bins, k)."""
    low, high = np.empty((2, bins, len(values)))
    for b in range(bins):
        inside = codes == b
        who, people = person[inside], len(weights)
        sums = np.stack([by_bin(who, people, x[inside].astype(np.float64)) for x in values])
        means = SubjectMeans(by_bin(who, people), weights, options)
        low[b], high[b] = means.limits(sums, cumulative=False)
    return low, high


def _lines(
    age: np.ndarray,
    score: np.ndarray,
    person: np.ndarray,
    weights: np.ndarray,
    options: IntervalOptions,
) -> tuple[Variables, dict[str, tuple[np.ndarray, np.ndarray]]]:
    """Return the least squares lines of score over age, and the limits of their slopes."""
    finite = np.isfinite(score)
    who, people = person[finite], len(weights)
    # Around the means, so that no digit is lost; the slope is the same.
    mean_age, mean_score = age[finite].mean(), np.nan
    if finite.any():
        mean_score = score[finite].mean()
    x, y = age[finite] - mean_age, score[finite] - mean_score
    n = by_bin(who, people, np.ones(len(x)))
    sx = by_bin(who, people, x)
    sy = by_bin(who, people, y)
    sxx = by_bin(who, people, x * x)
    sxy = by_bin(who, people, x * y)
    count = np.maximum(n, 1)
    within = np.maximum(sxx - sx * sx / count, 0.0), sxy - sx * sy / count
    sums = linear_forms(np.stack([n, sx, sy, sxx, sxy, *within]), weights)
    n, sx, sy, sxx, sxy, wxx, wxy = sums
    slopes = {
        "slope": _quotient(n * sxy - sx * sy, n * sxx - sx * sx, n * sxx),
        "slope_within": _quotient(wxy, wxx, sxx),
    }
    slope = slopes["slope"][0]
    variables = {name: np.float64(value[0]) for name, value in slopes.items()}
    variables["intercept"] = np.float64(mean_score - slope * mean_age)
    return variables, {name: options.limits(value) for name, value in slopes.items()}


def _quotient(part: np.ndarray, whole: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return a quotient, NaN where the ages do not differ but for rounding."""
    return ratio(part, np.where(whole > 1e-12 * np.abs(scale), whole, 0.0))


def reid_over_time(
    scores: Scores,
    convention: Named,
    budget: int | None,
    threshold: float,
    codes: np.ndarray,
    bins: int,
) -> tuple[Variables, dict[str, Any]]:
    """Return the measures of re-identification of each bin, and their attributes.

    As :func:`bioeval.gom` gives them of the queries of a bin, at one distance that is not
    normalised; `codes` are the bins of the queries, -1 for none.
    """
    taus = [to_user(threshold, scores.kind)]
    counter, options = plan_gom(scores, convention, taus, False, {"budget": budget})
    measures = gom_measures(counter.run(), options).means
    names = "mean_ap", "mrep", "mfr"
    variables = along(
        ("time",),
        **{name: _means(measures[name], codes, bins) for name in names},
        reid_queries=by_bin(codes[measures["mrep"].counted], bins),
        open_queries=by_bin(codes[measures["mfr"].counted], bins),
    )
    rules = counter.convention
    return variables, {
        "reid_convention": rules.name,
        "reid_removes": rules.removed,
        "reid_junk": rules.junk_in_words,
        "reid_ties": options.ties,
        "reid_variant": options.variant,
        "budget": options.budget,
    }


def _means(mean: QueryMean, codes: np.ndarray, bins: int) -> np.ndarray:
    """Return the mean over the queries of each bin, NaN where there are none."""
    bin_of = codes[mean.query]
    order = np.argsort(bin_of, kind="stable")
    starts = np.searchsorted(bin_of[order], np.arange(bins + 1))
    values = mean.values.reshape(len(bin_of))[order]
    sums = [values[low:high].sum() for low, high in zip(starts, starts[1:], strict=False)]
    return ratio(np.array(sums), by_bin(codes[mean.counted], bins))
