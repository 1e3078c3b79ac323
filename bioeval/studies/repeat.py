"""The numbers of a protocol for scores (``be.summary``), and in many partitions of one matrix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast, get_args

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.base.arguments import require_choice, require_flag
from bioeval.base.errors import (
    BioevalError,
    DataError,
    Message,
    ProtocolError,
    backquoted,
    counted,
    enumerated,
    message_attrs,
    messages_of,
)
from bioeval.base.options import require_memory
from bioeval.base.progress import Tell, reporter, rows_reported
from bioeval.counting.masks import (
    MaskedParts,
    PartsOfScores,
    SearchedParts,
    SelectedParts,
    batches,
    masks_pay,
)
from bioeval.counting.operating_points import COST_LABELS
from bioeval.counting.sorted_matrix import SortedMatrix
from bioeval.counting.threshold_rules import Rule, point_values
from bioeval.counting.thresholds import is_supported, with_rare_targets
from bioeval.counting.verification import Use
from bioeval.partition.any_splitter import ListedParts, SplitterLike, as_splitter, record_of
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import load
from bioeval.protocol.pairs import with_exclusions
from bioeval.protocol.tasks import ClosedSet, ImpostorProbes, OpenSet, PlainTies
from bioeval.results.attributes import about_attrs, tree_of
from bioeval.results.dataset import Scalars, Stack, dataset, in_order, in_units
from bioeval.results.identification import ClosedSetCounts, OpenSetAttempts, points_of_searches
from bioeval.results.support import all_beyond_scores, following_scores, note_asked_targets
from bioeval.results.variables import (
    GALLERY,
    QUERY_MEANS,
    RANKS,
    TASKS,
    averaged_over_folds,
    described,
)
from bioeval.scores.attempts import left_out
from bioeval.scores.blocks import is_few
from bioeval.scores.codes import present
from bioeval.scores.distances import FusionRule, parse_fusion
from bioeval.scores.labels import ids_of_no_person, is_written
from bioeval.scores.matrix import Scores, chosen_sides, require_all_scores, require_scores
from bioeval.scores.people import knows_people, marking
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import stated_memory_limit
from bioeval.showing.messages import warn_of, warns_of_doubts
from bioeval.showing.rows import OVER
from bioeval.stats.options import IntervalMethod
from bioeval.studies.cross_evaluate import (
    FoldOptions,
    FoldTask,
    evaluate_tasks,
    parse_ranks,
    parts_without_attempts,
    support_of_parts,
    undefined_in_parts,
)
from bioeval.studies.splits import SplitPlan, SplitSides
from bioeval.tasks.card_scores import check_systems, compared, resolve_card, thresholds_over
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.plan import CardTasks
from bioeval.tasks.reid.candidates import Candidates, convention_of
from bioeval.tasks.verification_task import VerificationTask, verification_numbers

# Results over many partitions: datasets over ``partition``, with messages that explain NaN.


def remarks_on_partitions(scalars: Scalars, node: str) -> Iterator[Message]:
    """Yield messages on numbers that are NaN, such as without attempts, or decided by ties."""
    numbers = {name: values for name, (_, values) in scalars.arrays().items()}
    partitions = len(scalars.labels[PARTITION])
    genuine = "attempts" if node == "closed_set" else "genuine_attempts"
    attempts = {
        f"{role}_attempts": numbers[count]
        for role, count in (("genuine", genuine), ("impostor", "impostor_attempts"))
        if count in numbers
    }
    yield from parts_without_attempts(attempts, partitions, "partition")
    # Targets that the smallest partition does not support.
    pairs, subjects = "impostor_pairs", "subjects"
    if node == "open_set":
        pairs, subjects = "impostor_attempts", "impostor_subjects"
    if pairs in numbers and (has_impostors := numbers["impostor_attempts"] > 0).any():
        counts = {*numbers} & {"genuine_attempts", pairs, subjects}
        smallest = {x: numbers[x][has_impostors].min() for x in counts}
        far, frr = (scalars.labels.get(x, np.empty(0)) for x in ("far_target", "frr_target"))
        genuine_attempts, impostor_attempts = (
            float(smallest[x]) for x in ("genuine_attempts", pairs)
        )
        people = int(smallest[subjects]) if subjects in smallest else None
        searched = node == "open_set"
        for message in support_of_parts(
            far.tolist(),
            frr.tolist(),
            genuine_attempts,
            impostor_attempts,
            people,
            searched=searched,
        ):
            yield message.concerning("the smallest partition")
    has_no_attempt = np.zeros(partitions, dtype=bool)
    for values in attempts.values():
        has_no_attempt |= values == 0
    if "queries" in numbers:
        has_no_attempt |= numbers["queries"] == 0
        if has_no_attempt.any():
            missing = int(has_no_attempt.sum())
            reason = "no query has a match"
            yield undefined_in_parts("all rates", missing, partitions, "partition", reason)
    if "tied" in numbers and (tied := int(np.nansum(numbers["tied"]))):
        probes = int(np.nansum(numbers[genuine if genuine in numbers else "queries"]))
        yield Message("ties-in-partitions", tied=tied, probes=probes, number=partitions)
    # In how many partitions a measure is NaN though all classes have attempts; the measures are
    # arguments of a message, with their labels and places.
    task = "verification" if node.startswith("verification") else "identification"
    arrays, labels = scalars.arrays(), scalars.labels
    shown = {name: x.label for name, x in averaged_over_folds().items() if x.label and not x.detail}
    undefined: list[dict[str, Any]] = []
    most = 0
    for name in filter(
        arrays.__contains__, dict.fromkeys((*shown, "min_dcf", "cmc", *QUERY_MEANS))
    ):
        dims, values = arrays[name]
        if "threshold" in dims:
            continue
        for reverse in np.ndindex(values.shape[:0:-1]):  # the targets of a rank together
            index = reverse[::-1]
            missing = int((np.isnan(values[(slice(None), *index)]) & ~has_no_attempt).sum())
            if missing:
                places = {
                    dim.replace("far_", "").replace("frr_", ""): labels[dim][k].item()
                    for dim, k in zip(dims[1:], index, strict=True)
                    if dim in labels
                }
                about = {"measure": name, "label": shown.get(name, name), "task": task}
                undefined.append(about | places)
                most = max(most, missing)
    if undefined:
        reason = "a rank may be beyond the gallery, and a class may have scores that are all alike"
        yield undefined_in_parts(undefined, most, partitions, "partition", reason)


# The default number of ranks of curves.
_CURVE_RANKS = 50


def summary(
    scores: Scores | Mapping[str, Scores],
    protocol: str | Protocol = "auto",
    *,
    far_targets: Sequence[float] | None = None,
    frr_targets: Sequence[float] | None = None,
    auc: bool = True,
) -> dict[str, Any]:
    """Return the scalars of every task of a protocol, as plain numbers by name.

    They are those of :func:`evaluate` to the last bit, without its curves and datasets, in a
    fraction of its time: for scripts that evaluate many small sets of scores.

    Parameters
    ----------
    scores : Scores, or mapping of str to Scores
        One system, or several by name.
    protocol, far_targets, frr_targets, auc
        As for :func:`evaluate`.

    Returns
    -------
    dict of str to dict
        By task, such as ``"verification/single"`` or ``"open_set"``, the variables of its dataset
        as floats and ints; of several systems, such a mapping for each. What depends on a target,
        a rank or the prior of a cost is a mapping by it: ``frr_at_far`` and ``far_at_frr`` of the
        targets, ``cms`` and ``cmc`` of the ranks that tables show, ``min_dcf`` of the card's
        priors; ``dir_at_far`` of the targets at rank 1. NaN where a number is not defined.

    Raises
    ------
    CardError, DataError
        As for :func:`evaluate`.
    ProtocolError
        As for :func:`evaluate`, and of a card with folds.

    Examples
    --------
    >>> import bioeval as be
    >>> found = be.summary(be.simulate(20, 4, random_state=1))
    >>> sorted(found)
    ['closed_set', 'open_set', 'verification/multi', 'verification/single']
    >>> sorted(found["closed_set"]["cms"])
    [1, 5, 10]
    >>> found["verification/single"]["genuine_attempts"]
    240
    """
    options = EvaluationOptions.parse(far_targets=far_targets, frr_targets=frr_targets, auc=auc)
    if isinstance(scores, Mapping):
        check_systems(scores)
    systems = scores if isinstance(scores, Mapping) else {"": scores}
    by_system = {}
    for name, system in systems.items():
        by_system[name] = scalars_of(system, protocol, options)
        warn_of(Provenance.from_scores(system).notes)
    return by_system if isinstance(scores, Mapping) else by_system[""]


def scalars_of(
    scores: Scores, protocol: str | Protocol, options: EvaluationOptions
) -> dict[str, dict[str, Any]]:
    """Return the scalars of every task of a protocol, at the ranks that its card shows."""
    tasks = tasks_of(scores, protocol, options)
    ranks = tasks.card.report.ranks
    counted = tasks.count(curves=False)
    return {node: task.scalars().plain(ranks) for node, task in counted.items()}


@warns_of_doubts
def repeat(
    scores: Scores,
    partitions: SplitterLike | Iterable[Any],
    protocol: str | Protocol = "auto",
    *,
    curves: bool = False,
    thresholds: Any = None,
    n_thresholds: int | None = None,
    max_rank: int | None = None,
    far_targets: Sequence[float] | None = None,
    frr_targets: Sequence[float] | None = None,
    auc: bool = True,
    ranks: Sequence[int] | None = None,
    fusion: FusionRule | None = None,
) -> xr.DataTree:
    """Evaluate every task of a protocol in many partitions of the same scores.

    Each partition has the same numbers as from :func:`evaluate`. Many partitions of a matrix
    in memory are picked from attempts that are sorted once, in tenths of a millisecond each.

    Parameters
    ----------
    scores : Scores
        A matrix with labels.
    partitions : splitter, or iterable
        A splitter, or for each partition the argument of ``scores.select``:

        - of a splitter: its galleries and probes (``ProbeGallerySplit``, ``EnrolledSplit``), or its
          test parts, of an ``Experiment`` with their own galleries
        - for each partition: a split of a splitter, such as
          ``be.partition.ProbesGallery(probes, gallery)``; a plain pair of index arrays, training
          and test, as scikit-learn yields them, of which the test part is evaluated; or a single
          index array for both sides
    protocol, far_targets, frr_targets, auc
        As for :func:`evaluate`; ``"auto"`` takes the course card for the layout of each partition.
        ``impostors = "auto"`` of open set is decided once: people who are not enrolled, if any
        partition has such a person.
    curves : bool
        Whether the tree also has variables over thresholds, and all ranks.
    thresholds : float or increasing array of float, optional
        Thresholds that all results share, with `curves`. None: about 1,000 from the smallest to the
        largest score of the whole matrix.
    n_thresholds : int, optional
        Number of thresholds in place of about 1,000, with `curves`.
    max_rank : int, optional
        Number of ranks of curves, with `curves`; None: 50, or as many as there are gallery
        templates. Beyond the list of a small gallery, a curve keeps its last value.
    ranks : sequence of int, optional
        Ranks of CMS, CMC and DIR that are reported, such as ``(1, 2, 3, 4, 5)``, in place of the
        card's.
    fusion : {"best", "mean", "worst", "median", "kth:K", "min", "max"}, optional
        How scores of templates of one subject are fused, in place of the card's rule.

    Returns
    -------
    xarray.DataTree
        The nodes and variables of :func:`evaluate`, with ``partition`` as the first dimension, in
        the order of the partitions: ``eer(partition)``, ``frr_at_far(partition, far_target)``,
        ``cms(partition, rank)``. :func:`aggregate` gives means, quantiles and bands.

        - A splitter of which each repeat tests each template once, such as K folds, gives
          ``repeat, fold`` in place of ``partition``.
        - Identification has the size of each gallery, ``gallery_templates`` and
          ``gallery_subjects``.
        - The attributes say what was done: the data, the rules of each task, and the splitter with
          its seed; :func:`bioeval.partition.splitter_of` returns this splitter.
        - A number that a partition lacks, such as CMS at a rank beyond its gallery, is NaN, and
          counts are float64 then; other dtypes are as in :func:`evaluate`.
        - Without `curves`, ``rank`` has the ranks that the card reports. With `curves`, all
          variables are there, at the same thresholds and ranks: ``gar far frr grr`` and their
          counts over ``partition, threshold``, ``dir`` and ``di`` over ``partition, threshold,
          rank``.

    Raises
    ------
    CardError
        If there is no such card, or it is not valid.
    DataError
        If there is no partition, an option is invalid, or curves are larger than the memory. Or if
        a partition, which is named by its place from 0, has an index out of range, one index for
        sides that are not the same templates, a gallery template twice, or NaN under
        ``nan="raise"``.
    ProtocolError
        For a list of pairs or top-K lists; if the card has folds; or if a partition, which is
        named, cannot support the protocol.

    Notes
    -----
    A band of quantiles shows how a curve depends on the partition of these very people, not how
    the curve would differ for other people. Means over ``partition`` are at the same threshold, not
    at the same FAR: "threshold averaging" of Fawcett, T. (2006). An introduction to ROC analysis.
    *Pattern Recognition Letters* 27, 861-874.

    Partitions are evaluated one by one if they have more than 262,144 scores, unless they have each
    score of a matrix in memory more than 64 times, with `curves`, and of claims, ranks of subjects,
    expected ties, single-template galleries and re-identification: ``docs/how-it-counts.md``. Only
    the last digits of d' may differ then.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(30, 4, random_state=1)
    >>> galleries = be.partition.ProbeGallerySplit(1, n_repeats=20, random_state=0)
    >>> tree = be.repeat(scores, galleries, curves=True)
    >>> tree["closed_set"]["recognition_rate"].sizes
    Frozen({'partition': 20})
    >>> tree["open_set"]["dir"].dims
    ('partition', 'threshold', 'rank')
    >>> rate = be.repeat(scores, galleries)["closed_set"]["cms"].mean("partition")
    >>> rate.sel(rank=[1, 5]).sizes
    Frozen({'rank': 2})
    >>> parts = [range(60), {"probes": range(60), "gallery": range(120)}]
    >>> be.repeat(scores, parts)["verification/single"]["genuine_attempts"].values
    array([180, 180])
    """
    options = EvaluationOptions.parse(
        thresholds=thresholds,
        n_thresholds=n_thresholds,
        max_rank=max_rank,
        far_targets=far_targets,
        frr_targets=frr_targets,
        auc=auc,
        ranks=None if ranks is None else tuple(parse_ranks(ranks).tolist()),
        fusion=fusion,
    )
    if fusion is not None:
        parse_fusion(fusion)
    if not require_flag("curves", curves):
        for name in options.set_among("thresholds", "n_thresholds", "max_rank"):
            raise DataError(f"`{name}` is of curves; give `curves=True`")
    tree = results_of_partitions(scores, partitions, protocol, options, curves=curves)
    if far_targets is not None:
        note_asked_targets(tree)
    return tree


def results_of_partitions(
    scores: Scores,
    partitions: Any,
    protocol: str | Protocol,
    options: EvaluationOptions,
    *,
    curves: bool = False,
) -> xr.DataTree:
    """Return the results of all partitions, with checked options; see :func:`repeat`."""
    require_scores(scores)
    if scores.layout == "pairs":
        raise ProtocolError("a list of pairs has no templates to divide; be.cross_evaluate does")
    require_all_scores(scores)
    if not isinstance(protocol, str) or protocol not in ("auto", "course-kfold"):
        protocol = load(protocol)
    junk_ids, distractor_ids = scores.junk_ids, scores.distractor_ids
    if not isinstance(protocol, str):
        for task in filter(None, (protocol.reid, protocol.gom)):
            junk_ids += tuple(task.junk_ids)
            if task.distractor_ids:
                distractor_ids = (*ids_of_no_person(distractor_ids), *task.distractor_ids)
    marked = marking(scores, distractor_ids, junk_ids)
    selections, record, plan_of_folds = _selections(marked, partitions)
    # Who are impostors of open set if a card says "auto"; None without people.
    role: ImpostorProbes | None = None
    if knows_people(marked):
        role = "leave-subject-out"
        if any(_has_unenrolled_probe(marked, selection) for selection in selections):
            role = "unenrolled"
    options = replace(options, impostors=role)
    user_thresholds = options.thresholds
    if curves:
        # Options with thresholds and ranks that all partitions share.
        ranks = options.max_rank or min(_CURVE_RANKS, scores.shape[1])
        thresholds = options.thresholds
        if thresholds is None and scores.kind == "order":
            thresholds = np.empty(0)
        elif thresholds is None:
            thresholds = thresholds_over(scores, options.n_thresholds)
        options = replace(options, thresholds=thresholds, n_thresholds=None, max_rank=ranks)
    provenance = Provenance.from_scores(scores)  # of the whole data
    by_node, cards, tasks = numbers_of_parts(
        scores, selections, protocol, options, provenance, curves=curves
    )
    excluded = ", ".join(left_out(with_exclusions(scores, cards[-1])))
    datasets = {}
    for node, scalars in by_node.items():
        about = replace(provenance, exclude=excluded)
        notes = [*remarks_on_partitions(scalars, node)]
        attrs_of_task: dict[str, Any]
        if (verification := tasks.verifying.get(node)) is not None:
            attrs_of_task = {**verification.use.attrs, "claims": verification.claims_of}
            if provenance.use_name and verification.use.templates == "single":
                attrs_of_task["fusion"] = provenance.use_fusion
        elif (search := tasks.searching.get(node)) is not None:
            about = about.searching(scores)
            of_task = "impostors" if isinstance(search, OpenSet) else "unmated"
            attrs_of_task = search.attrs | {of_task: search[of_task]}
        else:
            rules = convention_of(cards[-1], (node,))  # it is the same in all cards
            queries = Candidates(scores, rules)
            lists = queries.without_removed(queries.rules.removed).completeness
            notes += lists.of_probes(~queries.left_out).messages()
            attrs_of_task = {**rules.attrs(), "ties": rules.ties} if node == "reid" else {}
        title = node.replace("_", "-")
        ends = {"single": "-template", "multi": "-template", "set": " identification"}
        end = ends.get(re.split("[-/]", title)[-1], "")
        words = f"{title.replace('/', ', ')}{end}, over partitions"
        attrs = about_attrs(about, title.partition("/")[0], words, notes)
        attrs["protocol"] = " or ".join(dict.fromkeys(card.name for card in cards))
        attrs["threshold_units"] = "similarity" if about.kind == "similarity" else "distance"
        if cards[-1].report.ranks:
            attrs["report_ranks"] = " ".join(map(str, cards[-1].report.ranks))
        attrs |= {"partitions": len(selections), **attrs_of_task, **record}
        variables, labels = scalars.variables, scalars.labels
        if plan_of_folds is not None:  # over repeat and fold in place of partition
            variables = {**scalars.arrays()}
            for name, (dims, values) in variables.items():
                if dims[:1] == (PARTITION,):
                    in_folds = plan_of_folds.placed(values)
                    variables[name] = ("repeat", "fold", *dims[1:]), in_folds
            repeats, folds = map(np.arange, plan_of_folds.shape)
            labels = {"repeat": repeats, "fold": folds, **labels}
            del labels[PARTITION]
        table = {**TASKS[node.partition("/")[0]], **GALLERY}
        datasets[node] = dataset(variables, table, labels, attrs)
    tree = tree_of(datasets)
    if user_thresholds is not None:
        for leaf in tree.leaves:
            rates = leaf.to_dataset()
            messages = list[Message]()
            if {"far", "frr"} <= {*rates}:
                part_dims = [dim for dim in OVER if dim in rates.dims]
                far, frr = (rates[name].mean(part_dims).values for name in ("far", "frr"))
                following = following_scores(scores, user_thresholds)
                messages += all_beyond_scores(user_thresholds, far, frr, following)
            leaf.attrs.update(message_attrs([*messages, *messages_of(leaf.attrs)]))
    return tree


# ------------------------------------------------------------------------------- partitions


#: The arguments of :meth:`Scores.select`: probes and gallery, or one argument for both.
Selection = tuple[Any, ...]


def _selections(
    scores: Scores, partitions: Any
) -> tuple[list[Selection], Mapping[str, str | int], SplitPlan | None]:
    """Return the partitions, and the attributes that say who divided the data.

    Also the plan of folds, of which each repeat tests the same samples, each once; else None.
    """
    if isinstance(partitions, type) and hasattr(partitions, "split"):
        as_splitter(partitions)  # raises for a class in place of a splitter
    if hasattr(partitions, "split") and not isinstance(partitions, str | bytes):
        if not knows_people(scores):
            raise ProtocolError("partitions need the subjects of the templates. Give labels")
        sides = SplitSides(scores)
        plan = sides.plan(partitions, tests_alone=True)
        selections: list[Selection] = [sides.indices(x.test) for x in plan.splits.values()]
        return selections, record_of(plan.splitter), None if plan.codes is None else plan
    is_scalar = isinstance(partitions, np.ndarray) and not partitions.ndim
    is_no_list = isinstance(partitions, str | bytes | Mapping)
    if is_scalar or is_no_list or not isinstance(partitions, Iterable):
        raise DataError(
            f"partitions is {type(partitions).__name__}; expected a splitter, or for each "
            "partition a ProbesGallery, a pair (training, test) of index arrays, or one index "
            "array"
        )
    listed = [*partitions]
    tests = _test_parts(scores, [x for x in listed if _is_plain_pair(x)])
    selections = [next(tests) if _is_plain_pair(x) else (x,) for x in listed]
    for number, selection in enumerate(selections):
        if any(side is None for side in selection):  # `select` would take all templates
            raise DataError(f"partition {number}: a side is None; expected a list of indices")
    if not selections:
        raise DataError("there are no partitions; expected at least one")
    words = counted(len(selections), "listed partitions")
    return selections, {"splitter": words, "splitter_class": "list"}, None


def _has_unenrolled_probe(scores: Scores, selection: Selection) -> bool:
    """Whether a probe is of no enrolled person; False for a part that cannot be selected."""
    codes = scores.codes
    try:
        _, probes, gallery = chosen_sides(scores, selection, None, None)
        if probes is gallery:
            return False
        probe = codes.probe if probes is None else codes.probe[np.asarray(probes)]
        enrolled = codes.gallery if gallery is None else codes.gallery[np.asarray(gallery)]
    except (BioevalError, IndexError, TypeError, ValueError):
        return False
    is_enrolled = present(enrolled, len(codes.values)) & ~codes.no_person
    return not is_enrolled[probe].all()


def _is_plain_pair(partition: Any) -> bool:
    """Whether a partition is a pair of index arrays without names: training and test."""
    if hasattr(partition, "_fields") or not isinstance(partition, tuple | list):
        return False
    return len(partition) == 2 and not any(map(np.isscalar, partition))


def _test_parts(scores: Scores, pairs: list[Any]) -> Iterator[Selection]:
    """Yield the test parts of pairs (training, test) of samples, as :func:`cross_evaluate` does."""
    for number, pair in enumerate(pairs):
        if any(part is None for part in pair):
            raise DataError(f"pair {number}: a side is None; expected a list of indices")
    if not pairs:
        return
    if not knows_people(scores):
        raise ProtocolError(
            "pairs (training, test) need the subjects of the templates. Give labels"
        )
    sides = SplitSides(scores)
    for number, pair in enumerate(pairs):
        try:
            (split,) = sides.plan(ListedParts([pair]), tests_alone=True).splits.values()
        except DataError as error:
            raise DataError(
                f"pair {number} (training, test): {error}; probes and gallery are said by "
                "`be.partition.ProbesGallery(probes, gallery)`"
            ) from None
        yield sides.indices(split.test)


# The tasks of a card with folds, for :func:`bioeval.evaluate`.


# The prior at which both errors weigh the same.
_EVEN = 0.5


def evaluate_partition(scores: Scores, card: Protocol, options: EvaluationOptions) -> xr.DataTree:
    """Evaluate the tasks of a card with ``[partition]``, in its folds or its galleries."""
    assert card.partition is not None
    has_galleries = card.partition.by == "gallery-folds"
    unused = options.set_among("thresholds", "n_thresholds", "max_rank", "per_query", "interval")
    if unused:
        raise ProtocolError(
            f"protocol {card.name} divides the data, and no part has curves or intervals: leave "
            f"out {enumerated(map(backquoted, unused))} (intervals over folds are those of the "
            "card's [uncertainty])"
        )
    if has_galleries:
        card_of_part = replace(
            card, layout="probe-against-gallery", partition=None, decision=None, uncertainty=None
        )
        return results_of_partitions(scores, splitter_of(card, scores), card_of_part, options)
    options.refuse_unused(card)
    far_targets, frr_targets = options.targets(card.report)
    scores = compared(scores, card)
    splitter = splitter_of(card, scores)
    if card.partition.by == "subject-folds" and splitter.n_splits < card.partition.folds:
        about = {"usual": card.partition.folds, "there": len(scores.subjects), "what": "people"}
        scores = scores.with_remarks(Message("fewer-folds", folds=splitter.n_splits, **about))

    uncertainty = card.section("uncertainty")
    decision = card.section("decision")
    fold_options = partial(
        FoldOptions,
        rule=Rule("none") if decision.rule == "none" else Rule.parse(decision.as_rule()),
        interval=IntervalMethod(uncertainty.interval, uncertainty.confidence),
        ranks=parse_ranks(card.report.ranks),
        far_targets=far_targets,
    )
    claims = None
    if (drawn := card.claims) is not None:
        claims = partition.ClaimSampler(drawn.per_probe, drawn.genuine, drawn.seed)
    nodes: dict[str, FoldOptions] = {}
    if card.verification is not None:
        for templates in card.verification.templates:
            name = scores.claims_name if templates == "single" else ""
            nodes[f"verification/{name or templates}"] = fold_options(
                task="verification",
                use=Use(templates, card.verification.fusion),
                claims=claims,
                frr_targets=frr_targets,
                # At an even prior, the least cost is the smallest HTER, which tables leave out.
                priors=np.array([x for x in card.report.priors if x != _EVEN]),
            )
    for name, task in card.tasks.items():
        if name != "verification":
            names = ("rank_unit", "fusion", "ties", "impostors")
            search = {option: task[option] for option in names if hasattr(task, option)}
            nodes[name] = fold_options(task=cast("FoldTask", name), search=OpenSet(**search))
    datasets = evaluate_tasks(scores, splitter, list(nodes.values()))
    for result in datasets:
        result.attrs["protocol"] = card.name
    return tree_of(dict(zip(nodes, datasets, strict=True)))


def splitter_of(card: Protocol, scores: Scores) -> Any:
    """Return the splitter of a card with folds; each subject fold has at least two people."""
    section = card.partition
    if section is None:
        raise ProtocolError(f"protocol {card.name} has no [partition], so there are no folds")
    options = section.options()
    if section.by == "given-folds" and scores.layout == "pairs":
        if scores.pair_folds is None:
            raise DataError(
                f"protocol {card.name} takes the folds as given, but these pairs have none; give "
                "Scores.from_pairs(..., pair_folds=), an array or column fold in the file, or four "
                "columns of pairs with the fold as the third"
            )
        return partition.PredefinedPairFolds(scores.pair_folds)
    if section.by == "given-folds":
        options["fold_of_sample"] = _column(scores, section.column)
    if section.by == "experiment":
        # The option of the templates that are enrolled.
        if not isinstance(section.gallery_templates, str):
            options["gallery_templates"] = section.gallery_templates
        else:
            column, _, listed = section.gallery_templates.partition("=")
            column = column.strip()
            words = [word.strip() for word in listed.split(",")]
            values = dict.fromkeys(_column(scores, column).tolist())
            matching = [value for value in values if any(is_written(value, word) for word in words)]
            options["gallery_templates"] = {column: matching or words}
    if section.by == "subject-folds":
        options["n_splits"] = min(options["n_splits"], max(2, len(scores.subjects) // 2))
    if section.by in ("subject-folds", "sample-folds", "gallery-folds"):
        options["shuffle"] = True
    if section.by == "sample-folds":
        options["stratify"] = section.stratify or "subject"
    return getattr(partition, section.splitter)(**options)


def _column(scores: Scores, column: Any) -> np.ndarray:
    meta = SplitSides(scores).meta
    require_choice("the metadata column", column, meta)
    return meta[column]


# ----------------------------------------------------- parts whose points are found together

PARTITION = "partition"

#: Numbers as arrays by name, the parts first.
Numbers = dict[str, np.ndarray]


def _are_increasing(indices: Any, size: int) -> bool:
    if not isinstance(indices, np.ndarray) or indices.dtype != np.int64 or not len(indices):
        return False
    return indices[0] >= 0 and indices[-1] < size and bool((indices[1:] > indices[:-1]).all())


class TasksInParts:
    """The tasks of a card in parts of one layout, whose points are found together.

    `tasks` are the checked tasks of a card in the first of the parts; `places` are the arguments of
    :meth:`Scores.select` for each part, which must be increasing rows and columns.
    """

    def __init__(self, tasks: CardTasks, scores: Scores, places: Sequence[tuple[Any, ...]]):
        self.tasks, self.places = tasks, places
        self.scores = with_exclusions(scores, tasks.card)
        #: The FAR targets of all parts; rare targets, which only some parts support, come last.
        self.targets = tasks.far_targets
        if tasks.rare:
            self.targets = with_rare_targets(tasks.far_targets, np.inf)
        self.wanted = replace(tasks.wanted, targets=self.targets)

    def numbers(self, tell: Tell) -> dict[str, Scalars] | None:
        """Return the numbers of all tasks by node; None if a part must be evaluated by itself."""
        tasks, scores, card = self.tasks, self.scores, self.tasks.card
        searching = tasks.searching
        if (
            tasks.retrieval
            or card.claims is not None
            or tasks.options.extra_thresholds is not None
            or (card.verification is not None and card.verification.pairs != "ordered")
        ):
            return None
        for task in searching.values():
            has_plain_ties = task.ties in get_args(PlainTies)
            if task.gallery != "all" or task.rank_unit != "template" or not has_plain_ties:
                return None
        matrix = None
        if masks_pay(scores, self.places):
            matrix = SortedMatrix(scores)
        elif not all(is_few(len(rows) * len(columns)) for rows, columns in self.places):
            return None
        nodes: dict[str, list[tuple[Numbers, np.ndarray | None]]] = {}
        is_square = tasks.scores.layout == "all-against-all"
        for batch in batches(scores.shape, self.places):
            parts: PartsOfScores
            if matrix is not None:
                parts = MaskedParts(matrix, self.places[batch])
            else:
                views = [scores.select(*sides) for sides in self.places[batch]]
                parts = SelectedParts(views, tasks.about)
                parts.count([x.use.fused for x in tasks.verifying.values()], searching.values())
            # Another layout may have another card; and a part may be without people.
            if (parts.are_square != is_square).any() or not parts.people.every.all():
                return None
            for node, verification in tasks.verifying.items():
                nodes.setdefault(node, []).append((self._verification(parts, verification), None))
            searches_by_ties: dict[str, SearchedParts] = {}
            longest = np.ones(1)
            if searching:
                longest = np.maximum(parts.most_candidates(), 1)
            for node, task in searching.items():
                if task.ties not in searches_by_ties:
                    searches_by_ties[task.ties] = parts.searches(task)
                searches = searches_by_ties[task.ties]
                if isinstance(task, OpenSet):
                    numbers, is_reported = self._open_set(searches, task, longest)
                else:
                    may_skip = task.unmated == "skip" or (task.unmated == "auto" and is_square)
                    if not may_skip and (searches.of_people & ~searches.is_mated).any():
                        return None  # probes without a mate are an error
                    numbers, is_reported = self._closed_set(searches, task, longest)
                numbers["gallery_templates"] = parts.gallery_templates
                numbers["gallery_subjects"] = parts.people.enrolled
                nodes.setdefault(node, []).append((numbers, is_reported))
            tell(batch.stop, len(self.places))
        return {node: self._scalars(node, of_batches) for node, of_batches in nodes.items()}

    # -- verification

    def _verification(self, parts: PartsOfScores, verification: VerificationTask) -> Numbers:
        """Return the numbers of each part, (parts, ...), by the name of the variable."""
        fusion = verification.use.fused
        attempts, times = parts.attempts(fusion, self.wanted)
        # Which parts have pairs of templates that count in both directions.
        symmetric = parts.are_symmetric if fusion is None else np.zeros(len(attempts.defined), bool)
        _, points = point_values(attempts, self.wanted, symmetric, times)
        return verification_numbers(
            in_units(points, self.scores.kind),
            self.wanted,
            times * attempts.genuine_attempts,
            times * attempts.impostor_attempts,
            symmetric=symmetric,
            people=parts.compared,
            skipped_claims=np.zeros(len(symmetric)),
        )

    # -- identification: numbers, and whether a rank is reported, bool (parts, ranks)

    def _ranks_to_report(self, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ranks, and a mask (parts, ranks): the rank is reported and within the limit."""
        reported = self.tasks.card.report.ranks or RANKS
        ranks = np.union1d(reported, 1)
        is_reported = (ranks <= limit[:, None]) & np.isin(ranks, reported)
        is_reported[:, 0] |= ~is_reported.any(axis=1)
        return ranks, is_reported

    def _open_set(
        self, searches: SearchedParts, task: OpenSet, longest: np.ndarray
    ) -> tuple[Numbers, np.ndarray]:
        last = max(self.tasks.card.report.ranks, default=RANKS[-1])
        ranks, is_reported = self._ranks_to_report(
            np.minimum(longest, min(last, task.max_rank or last))
        )
        targets = self.tasks.far_targets
        roles = searches.roles(self.tasks.scores.layout, task.impostors)
        ranked = searches.attempts(searches.impostors(roles))
        error, at_far = ranked.first.equal_error(), ranked.dir_at_far(targets, ranks)
        points = points_of_searches(ranked, error, *at_far, self.scores.kind)
        attempts = OpenSetAttempts(
            genuine=ranked.every.genuine_attempts,
            impostor=ranked.every.impostor_attempts,
            tied=searches.number(searches.is_mated & (searches.tied > 0)),
            targets=searches.number(searches.is_enrolled),
            non_targets=searches.number(~searches.is_enrolled),
        )
        subjects = searches.people.both, searches.searching_people(roles)
        return attempts.scalars(targets, points, subjects).variables, is_reported

    def _closed_set(
        self, searches: SearchedParts, task: ClosedSet, longest: np.ndarray
    ) -> tuple[Numbers, np.ndarray]:
        limit = longest if task.max_rank is None else np.full_like(longest, task.max_rank)
        ranks, is_reported = self._ranks_to_report(limit)
        mated = searches.is_mated
        counts = ClosedSetCounts(
            identified=searches.found(ranks)[1],
            attempts=searches.number(mated),
            skipped=searches.number(~mated),
            tied=searches.number(mated & (searches.tied > 0)),
        )
        return counts.scalars(searches.people.both).variables, is_reported

    # -- all parts

    def _scalars(self, node: str, counted: list[tuple[Numbers, np.ndarray | None]]) -> Scalars:
        table = TASKS[node.partition("/")[0]]
        numbers = {name: np.concatenate([x[name] for x, _ in counted]) for name in counted[0][0]}
        labels: dict[str, np.ndarray] = {}
        costs: dict[str, Any] = {}
        # The labels that a part has, bool (parts, labels), by dimension; all if it is not there.
        have_labels: dict[str, np.ndarray] = {}
        if node.startswith("verification"):
            labels["far_target"] = self.targets
            # Rare targets are those of the parts that support them.
            pairs = numbers["impostor_pairs"]
            have_target = np.ones((len(pairs), len(self.targets)), dtype=bool)
            usual = len(self.tasks.far_targets)
            have_target[:, usual:] = is_supported(self.targets[usual:], pairs[:, None])
            have_labels["far_target"] = have_target
            if len(self.wanted.frr_targets):
                labels["frr_target"] = self.wanted.frr_targets
            if len(self.wanted.costs) and self.wanted.every_score:
                columns = zip(COST_LABELS, self.wanted.costs.T, strict=True)
                costs = {name: (("cost",), values) for name, values in columns}
        else:
            if node == "open_set":
                labels["far_target"] = self.tasks.far_targets
            labels["rank"], _ = self._ranks_to_report(np.ones(1, dtype=np.int64))
            have_labels["rank"] = np.concatenate([mask for _, mask in counted if mask is not None])
        # Labels of no part go; a value without its label is NaN, and counts are float64 then.
        for dim, is_there in have_labels.items():
            labels[dim] = labels[dim][is_there.any(axis=0)]
        variables: dict[str, Any] = {}
        for name, values in numbers.items():
            dims = described(table, name).dims if values.ndim > 1 else ()
            if dims and (have_label := have_labels.get(dims[-1])) is not None:
                remains = have_label.any(axis=0)
                values = values[..., remains]
                has_value = have_label[:, remains]
                if values.ndim == 3:  # (parts, targets, ranks)
                    has_value = has_value[:, None]
                if not has_value.all():
                    values = np.where(has_value, values, np.nan)
            variables[name] = (PARTITION, *dims), values
        labels[PARTITION] = np.arange(len(self.places))
        return Scalars(in_order(variables | costs), labels, table)


def numbers_of_parts(
    scores: Scores,
    selections: Sequence[tuple[Any, ...]],
    protocol: str | Protocol,
    options: EvaluationOptions,
    provenance: Provenance,
    *,
    curves: bool = False,
) -> tuple[dict[str, Scalars], list[Protocol], CardTasks]:
    """Return the numbers of every task in each part of the scores, ``partition`` first, by node.

    Also the distinct cards by which parts were evaluated, and the tasks of one part.

    `selections` has the arguments of :meth:`Scores.select` for each part. Variables and their other
    dimensions are the same as in a single evaluation:

    - without `curves`: at the ranks that the card reports
    - with `curves`: over the thresholds and the ranks of the options
    - the prior and the costs of ``cost``: without ``partition``
    - a variable, or a label of a dimension, that a part lacks: NaN; counts are then float64
    """
    with rows_reported():
        tell = reporter()

    def tasks_of_part(selection: tuple[Any, ...]) -> CardTasks:
        return tasks_of(scores.select(*selection), protocol, options, provenance)

    # The points of parts that are rows and columns of a matrix are found together.
    are_places = knows_people(scores) and all(
        len(sides) == 2 and all(map(_are_increasing, sides, scores.shape)) for sides in selections
    )
    if are_places and not curves:
        try:
            tasks = tasks_of_part(selections[0])
            with rows_reported(to=None):
                numbers = TasksInParts(tasks, scores, selections).numbers(tell)
        except BioevalError:
            numbers = None  # the part itself raises the error again, with its number
        if numbers is not None:
            return numbers, [tasks.card], tasks

    # Other parts are evaluated one by one.
    stacks: dict[str, Stack] = {}
    cards: list[Protocol] = []
    with rows_reported(to=None):
        for part, selection in enumerate(selections):
            try:
                tasks = tasks_of_part(selection)
                about = tasks.about
                numbers_of_part: dict[str, Scalars] = {}
                for node, task in tasks.count(curves=curves).items():
                    if curves:
                        scalars = Scalars.of_dataset(task.dataset(), curves=True)
                    else:
                        scalars = task.scalars().at_ranks(tasks.card.report.ranks)
                    numbers_of_part[node] = scalars
                    if not node.startswith("verification"):
                        scalars.variables["gallery_templates"] = np.int64(about.gallery_templates)
                        if about.people is not None:
                            scalars.variables["gallery_subjects"] = np.int64(about.gallery_subjects)
            except BioevalError as error:
                raise error.preceded_by(f"partition {part}: ") from error
            if not part:
                parts = len(selections)
                number = sum(
                    values.size
                    for scalars in numbers_of_part.values()
                    for _, values in scalars.arrays().values()
                )
                require_memory(
                    8 * parts * number,
                    f"the results of {parts:,} partitions",
                    "expected fewer `n_thresholds` or `thresholds`, or a smaller `max_rank`",
                    limit=stated_memory_limit(scores),
                )
            for node, scalars in numbers_of_part.items():
                table = TASKS[node.partition("/")[0]]
                stacks.setdefault(node, Stack(len(selections), table)).put(part, scalars)
            if tasks.card not in cards:
                cards.append(tasks.card)
            tell(part + 1, len(selections))
    labels = np.arange(len(selections))
    by_node = {node: stack.result(PARTITION, labels) for node, stack in stacks.items()}
    return by_node, cards, tasks


def tasks_of(
    scores: Scores,
    protocol: str | Protocol,
    options: EvaluationOptions,
    whole: Provenance | None = None,
) -> CardTasks:
    """Return the tasks of a protocol; `whole` describes the whole data if `scores` are a part."""
    require_scores(scores)
    card = options.applied_to(resolve_card(scores, protocol))
    if card.has_folds:
        raise ProtocolError(
            f"protocol {card.name} has folds, and each fold has rates of its own: use be.evaluate"
        )
    return CardTasks(scores, card, options, automatic=protocol == "auto", whole=whole)
