"""Every task of a protocol in many partitions of one matrix (``be.repeat``), and ``be.summary``.

A partition is a selection of probes and of gallery templates. The definition::

    for part, selection in enumerate(selections):  # the arguments of scores.select
        for node, task in CardTasks(scores.select(*selection), card, options).count().items():
            numbers[node][part] = task.scalars()

Numbers are by node, such as ``"verification/single"``, and ``partition`` is their first dimension.
Many partitions of a matrix are not evaluated one by one, as in this loop: :class:`TasksInParts`
finds the numbers of all of them together, with the same results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_flag
from bioeval.base.errors import (
    BioevalError,
    DataError,
    Message,
    ProtocolError,
    counted,
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
from bioeval.counting.threshold_rules import point_values
from bioeval.counting.thresholds import is_supported, with_rare_targets
from bioeval.counting.verification import Verifying
from bioeval.partition.any_splitter import ListedParts, SplitterLike, as_splitter, record_of
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import load
from bioeval.protocol.pairs import with_exclusions
from bioeval.protocol.tasks import ClosedSet, ImpostorProbes, OpenSet, PlainTies
from bioeval.results.attributes import about_attrs, tree_of
from bioeval.results.beyond_scores import all_beyond_scores, following_scores
from bioeval.results.closed_set import ClosedSetCounts
from bioeval.results.dataset import Scalars, Stack, Variables, dataset, in_order, in_units
from bioeval.results.open_set import OpenSetAttempts, points_of_searches
from bioeval.results.support import note_asked_targets
from bioeval.results.variables import (
    GALLERY,
    QUERY_MEANS,
    RANKS,
    TARGETS,
    TASKS,
    averaged_over_folds,
    described,
)
from bioeval.scores.attempts import left_out
from bioeval.scores.blocks import is_few
from bioeval.scores.codes import present
from bioeval.scores.distances import FusionRule, parse_fusion
from bioeval.scores.labels import ids_of_no_person
from bioeval.scores.matrix import Scores, chosen_sides, require_all_scores, require_scores
from bioeval.scores.people import knows_people, marking
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import stated_memory_limit
from bioeval.showing.messages import warn_of, warns_of_doubts
from bioeval.showing.nodes import OVER
from bioeval.studies.fold_results import (
    parse_ranks,
    parts_without_attempts,
    support_of_parts,
    undefined_in_parts,
)
from bioeval.studies.splits import SplitPlan, SplitSides
from bioeval.tasks.card_scores import check_systems, resolve_card, thresholds_over
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.plan import CardTasks
from bioeval.tasks.reid.candidates import Candidates, convention_of
from bioeval.tasks.verification_task import verification_numbers

#: The dimension of the results.
PARTITION = "partition"

#: Numbers as arrays by name, the parts first.
Numbers = dict[str, np.ndarray]

#: The arguments of :meth:`Scores.select`: probes and gallery, or one argument for both.
Selection = tuple[Any, ...]

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
    if not isinstance(scores, Mapping):
        scalars = scalars_of(scores, protocol, options)
        warn_of(Provenance.from_scores(scores).notes)
        return scalars
    check_systems(scores)
    by_system = {}
    for name, system in scores.items():
        by_system[name] = scalars_of(system, protocol, options)
        warn_of(Provenance.from_scores(system).notes)
    return by_system


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
    # The cards of these names are others for each layout.
    if not isinstance(protocol, str) or protocol not in ("auto", "course-kfold"):
        protocol = load(protocol)
    marked = _marked_by_card(scores, protocol)
    selections, record, plan_of_folds = _selections(marked, partitions)
    user_thresholds = options.thresholds
    options = replace(options, impostors=_impostors(marked, selections))
    if curves:
        options = _with_shared_points(options, scores)
    provenance = Provenance.from_scores(scores)  # of the whole data
    by_node, cards, tasks = numbers_of_parts(
        scores, selections, protocol, options, provenance, curves=curves
    )

    # The cards of several layouts have the same exclusions.
    excluded = ", ".join(left_out(with_exclusions(scores, cards[-1])))
    provenance = replace(provenance, exclude=excluded)

    # The datasets, which are over repeat and fold in place of partition if there are folds.
    datasets = {}
    for node, scalars in by_node.items():
        attrs = _attrs_of_node(node, scalars, scores, cards, tasks, provenance, record)
        variables, labels = scalars.variables, scalars.labels
        if plan_of_folds is not None:
            variables, labels = _over_folds(scalars, plan_of_folds)
        table = {**TASKS[node.partition("/")[0]], **GALLERY}
        datasets[node] = dataset(variables, table, labels, attrs)
    tree = tree_of(datasets)
    if user_thresholds is not None:
        _note_thresholds_beyond_scores(tree, scores, user_thresholds)
    return tree


def _marked_by_card(scores: Scores, protocol: str | Protocol) -> Scores:
    """Return the scores with the templates that a card of re-identification has as no person."""
    junk_ids, distractor_ids = scores.junk_ids, scores.distractor_ids
    if isinstance(protocol, Protocol):
        for task in (protocol.reid, protocol.gom):
            if task is None:
                continue
            junk_ids += tuple(task.junk_ids)
            if task.distractor_ids:
                distractor_ids = (*ids_of_no_person(distractor_ids), *task.distractor_ids)
    return marking(scores, distractor_ids, junk_ids)


def _impostors(scores: Scores, selections: Sequence[Selection]) -> ImpostorProbes | None:
    """Return who are impostors of open set if a card says "auto"; None without people.

    It is the same in all partitions, so that their rates can be averaged.
    """
    if not knows_people(scores):
        return None
    if any(_has_unenrolled_probe(scores, selection) for selection in selections):
        return "unenrolled"
    return "leave-subject-out"


def _with_shared_points(options: EvaluationOptions, scores: Scores) -> EvaluationOptions:
    """Return options with the thresholds and ranks of curves, which all partitions share."""
    ranks = options.max_rank or min(_CURVE_RANKS, scores.shape[1])
    thresholds = options.thresholds
    if thresholds is None and scores.kind == "order":
        thresholds = np.empty(0)
    elif thresholds is None:
        thresholds = thresholds_over(scores, options.n_thresholds)
    return replace(options, thresholds=thresholds, n_thresholds=None, max_rank=ranks)


def _attrs_of_node(
    node: str,
    scalars: Scalars,
    scores: Scores,
    cards: Sequence[Protocol],
    tasks: CardTasks,
    provenance: Provenance,
    record: Mapping[str, str | int],
) -> dict[str, Any]:
    """Return the attributes of a result: on the data, the task, and the splitter (`record`)."""
    card = cards[-1]  # the cards of several layouts have the same rules and ranks
    about = provenance
    notes = [*remarks_on_partitions(scalars, node)]
    attrs_of_task: dict[str, Any] = {}
    if node in tasks.verifying:
        verification = tasks.verifying[node]
        attrs_of_task = {**verification.use.attrs, "claims": verification.claims_of}
        if provenance.use_name and verification.use.templates == "single":
            attrs_of_task["fusion"] = provenance.use_fusion
    elif node in tasks.searching:
        search = tasks.searching[node]
        about = about.searching(scores)
        option = "impostors" if isinstance(search, OpenSet) else "unmated"
        attrs_of_task = {**search.attrs, option: search[option]}
    else:
        rules = convention_of(card, (node,))
        queries = Candidates(scores, rules)
        lists = queries.without_removed(queries.rules.removed).completeness
        notes += lists.of_probes(~queries.left_out).messages()
        if node == "reid":
            attrs_of_task = {**rules.attrs(), "ties": rules.ties}

    # In words: "verification, single-template, over partitions", or "open-set identification, ...".
    title = node.replace("_", "-")
    words = title.replace("/", ", ")
    if title.endswith(("single", "multi")):
        words += "-template"
    elif title.endswith("-set"):
        words += " identification"
    attrs = about_attrs(about, title.partition("/")[0], f"{words}, over partitions", notes)
    attrs["protocol"] = " or ".join(dict.fromkeys(card.name for card in cards))
    attrs["threshold_units"] = "similarity" if about.kind == "similarity" else "distance"
    if card.report.ranks:
        attrs["report_ranks"] = " ".join(map(str, card.report.ranks))
    attrs["partitions"] = len(scalars.labels[PARTITION])
    return {**attrs, **attrs_of_task, **record}


def _over_folds(scalars: Scalars, plan: SplitPlan) -> tuple[Variables, dict[str, np.ndarray]]:
    """Return variables and labels over repeat and fold in place of partition."""
    variables: Variables = {}
    for name, (dims, values) in scalars.arrays().items():
        if dims[:1] == (PARTITION,):
            dims, values = ("repeat", "fold", *dims[1:]), plan.placed(values)
        variables[name] = dims, values
    repeats, folds = plan.shape
    labels = {"repeat": np.arange(repeats), "fold": np.arange(folds), **scalars.labels}
    del labels[PARTITION]
    return variables, labels


def _note_thresholds_beyond_scores(
    tree: xr.DataTree, scores: Scores, thresholds: np.ndarray
) -> None:
    """Add messages to each result on thresholds that accept all scores or none."""
    for leaf in tree.leaves:
        rates = leaf.to_dataset()
        messages: list[Message] = []
        if "far" in rates and "frr" in rates:
            part_dims = [dim for dim in OVER if dim in rates.dims]
            far = rates["far"].mean(part_dims).values
            frr = rates["frr"].mean(part_dims).values
            following = following_scores(scores, thresholds)
            messages += all_beyond_scores(thresholds, far, frr, following)
        leaf.attrs.update(message_attrs([*messages, *messages_of(leaf.attrs)]))


# The partitions as selections of probes and of gallery templates.


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
        has_folds = plan.codes is not None
        return selections, record_of(plan.splitter), plan if has_folds else None
    is_no_list = isinstance(partitions, str | bytes | Mapping)
    is_scalar = isinstance(partitions, np.ndarray) and not partitions.ndim
    if is_no_list or is_scalar or not isinstance(partitions, Iterable):
        raise DataError(
            f"partitions is {type(partitions).__name__}; expected a splitter, or for each "
            "partition a ProbesGallery, a pair (training, test) of index arrays, or one index "
            "array"
        )
    listed = list(partitions)
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


# The numbers of all partitions.


def numbers_of_parts(
    scores: Scores,
    selections: Sequence[Selection],
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
    # The points of parts that are rows and columns of a matrix are found together.
    if not curves and knows_people(scores) and _are_rows_and_columns(scores, selections):
        try:
            first_part = scores.select(*selections[0])
            tasks = tasks_of(first_part, protocol, options, provenance)
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
                tasks = tasks_of(scores.select(*selection), protocol, options, provenance)
                numbers_of_part = _numbers_of_part(tasks, curves=curves)
            except BioevalError as error:
                raise error.preceded_by(f"partition {part}: ") from error
            if part == 0:
                _require_memory_for(len(selections), numbers_of_part, scores)
            for node, scalars in numbers_of_part.items():
                table = TASKS[node.partition("/")[0]]
                stacks.setdefault(node, Stack(len(selections), table)).put(part, scalars)
            if tasks.card not in cards:
                cards.append(tasks.card)
            tell(part + 1, len(selections))
    labels = np.arange(len(selections))
    by_node = {node: stack.result(PARTITION, labels) for node, stack in stacks.items()}
    return by_node, cards, tasks


def _are_rows_and_columns(scores: Scores, selections: Sequence[Selection]) -> bool:
    """Whether each part is increasing rows and increasing columns of the scores."""
    rows, columns = scores.shape
    return all(
        len(sides) == 2 and _are_increasing(sides[0], rows) and _are_increasing(sides[1], columns)
        for sides in selections
    )


def _are_increasing(indices: Any, size: int) -> bool:
    if not isinstance(indices, np.ndarray) or indices.dtype != np.int64 or not len(indices):
        return False
    return indices[0] >= 0 and indices[-1] < size and bool((indices[1:] > indices[:-1]).all())


def _numbers_of_part(tasks: CardTasks, *, curves: bool) -> dict[str, Scalars]:
    """Return the numbers of the tasks of a single part, by node."""
    about = tasks.about
    numbers: dict[str, Scalars] = {}
    for node, task in tasks.count(curves=curves).items():
        if curves:
            scalars = Scalars.of_dataset(task.dataset(), curves=True)
        else:
            scalars = task.scalars().at_ranks(tasks.card.report.ranks)
        if not node.startswith("verification"):
            scalars.variables["gallery_templates"] = np.int64(about.gallery_templates)
            if about.people is not None:
                scalars.variables["gallery_subjects"] = np.int64(about.gallery_subjects)
        numbers[node] = scalars
    return numbers


def _require_memory_for(parts: int, numbers: Mapping[str, Scalars], scores: Scores) -> None:
    """Raise an error if the memory cannot hold `parts` times the numbers of the first part."""
    size = 0
    for scalars in numbers.values():
        size += sum(values.size for _, values in scalars.arrays().values())
    require_memory(
        8 * parts * size,
        f"the results of {parts:,} partitions",
        "expected fewer `n_thresholds` or `thresholds`, or a smaller `max_rank`",
        limit=stated_memory_limit(scores),
    )


def scalars_of(
    scores: Scores, protocol: str | Protocol, options: EvaluationOptions
) -> dict[str, dict[str, Any]]:
    """Return the scalars of every task of a protocol, at the ranks that its card shows."""
    tasks = tasks_of(scores, protocol, options)
    ranks = tasks.card.report.ranks
    counted = tasks.count(curves=False)
    return {node: task.scalars().plain(ranks) for node, task in counted.items()}


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


class NumbersOfBatch(NamedTuple):
    """The numbers of a task in some parts."""

    numbers: Numbers
    #: bool (parts, ranks): which of the ranks are reported; None of verification.
    is_reported: np.ndarray | None = None


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
        tasks, scores, places = self.tasks, self.scores, self.places
        if not self._can_be_together():
            return None
        matrix = None
        if masks_pay(scores, places):
            matrix = SortedMatrix(scores)
        elif not all(is_few(len(rows) * len(columns)) for rows, columns in places):
            return None
        is_square = tasks.scores.layout == "all-against-all"
        batches_of_node: dict[str, list[NumbersOfBatch]] = {}
        for batch in batches(scores.shape, places):
            parts: PartsOfScores
            if matrix is not None:
                parts = MaskedParts(matrix, places[batch])
            else:
                views = [scores.select(*sides) for sides in places[batch]]
                parts = SelectedParts(views, tasks.about)
                fusions = [verification.use.fused for verification in tasks.verifying.values()]
                parts.count(fusions, tasks.searching.values())
            # Another layout may have another card; and a part may be without people.
            if (parts.are_square != is_square).any() or not parts.people.every.all():
                return None
            for node, verification in tasks.verifying.items():
                of_batch = NumbersOfBatch(self._verification(parts, verification))
                batches_of_node.setdefault(node, []).append(of_batch)
            searched = self._searches(parts)
            if searched is None:
                return None
            for node, of_batch in searched.items():
                batches_of_node.setdefault(node, []).append(of_batch)
            tell(batch.stop, len(places))
        return {
            node: self._scalars(node, of_batches) for node, of_batches in batches_of_node.items()
        }

    def _can_be_together(self) -> bool:
        """Whether the tasks are among those that :class:`PartsOfScores` can count."""
        tasks, card = self.tasks, self.tasks.card
        if tasks.retrieval or card.claims is not None:
            return False
        if tasks.options.extra_thresholds is not None:
            return False
        if card.verification is not None and card.verification.pairs != "ordered":
            return False
        return all(
            task.gallery == "all"
            and task.rank_unit == "template"
            and task.ties in get_args(PlainTies)
            for task in tasks.searching.values()
        )

    # -- verification

    def _verification(self, parts: PartsOfScores, verification: Verifying) -> Numbers:
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

    # -- identification

    def _searches(self, parts: PartsOfScores) -> dict[str, NumbersOfBatch] | None:
        """Return the numbers of each task of identification, by node.

        None if a part has a probe without a mate, which is an error.
        """
        numbers_of_nodes: dict[str, NumbersOfBatch] = {}
        if not self.tasks.searching:
            return numbers_of_nodes
        candidates = np.maximum(parts.most_candidates(), 1)
        searches_by_ties: dict[str, SearchedParts] = {}  # tasks with the same ties share searches
        for node, task in self.tasks.searching.items():
            if task.ties not in searches_by_ties:
                searches_by_ties[task.ties] = parts.searches(task)
            searches = searches_by_ties[task.ties]
            if isinstance(task, OpenSet):
                of_batch = self._open_set(searches, task, candidates)
            else:
                is_square = self.tasks.scores.layout == "all-against-all"
                may_skip = task.unmated == "skip" or (task.unmated == "auto" and is_square)
                if not may_skip and (searches.of_people & ~searches.is_mated).any():
                    return None
                of_batch = self._closed_set(searches, task, candidates)
            of_batch.numbers["gallery_templates"] = parts.gallery_templates
            of_batch.numbers["gallery_subjects"] = parts.people.enrolled
            numbers_of_nodes[node] = of_batch
        return numbers_of_nodes

    def _ranks_to_report(self, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ranks, and a mask (parts, ranks): the rank is reported and within the limit."""
        reported = self.tasks.card.report.ranks or RANKS
        ranks = np.union1d(reported, 1)
        is_reported = (ranks <= limit[:, None]) & np.isin(ranks, reported)
        is_reported[:, 0] |= ~is_reported.any(axis=1)
        return ranks, is_reported

    def _open_set(
        self, searches: SearchedParts, task: OpenSet, candidates: np.ndarray
    ) -> NumbersOfBatch:
        """Return the numbers; `candidates` (parts,) is the length of the longest list of a part."""
        last = max(self.tasks.card.report.ranks, default=RANKS[-1])
        if task.max_rank:
            last = min(last, task.max_rank)
        ranks, is_reported = self._ranks_to_report(np.minimum(candidates, last))
        targets = self.tasks.far_targets
        roles = searches.roles(self.tasks.scores.layout, task.impostors)
        ranked = searches.attempts(searches.impostors(roles))
        error = ranked.first.equal_error()
        points = points_of_searches(
            ranked, error, *ranked.dir_at_far(targets, ranks), self.scores.kind
        )
        attempts = OpenSetAttempts(
            genuine=ranked.every.genuine_attempts,
            impostor=ranked.every.impostor_attempts,
            tied=searches.number(searches.is_mated & (searches.tied > 0)),
            targets=searches.number(searches.is_enrolled),
            non_targets=searches.number(~searches.is_enrolled),
        )
        subjects = searches.people.both, searches.searching_people(roles)
        numbers = attempts.scalars(targets, points, subjects).variables
        return NumbersOfBatch(numbers, is_reported)

    def _closed_set(
        self, searches: SearchedParts, task: ClosedSet, candidates: np.ndarray
    ) -> NumbersOfBatch:
        limit = candidates
        if task.max_rank is not None:
            limit = np.full_like(candidates, task.max_rank)
        ranks, is_reported = self._ranks_to_report(limit)
        mated = searches.is_mated
        counts = ClosedSetCounts(
            identified=searches.found(ranks)[1],
            attempts=searches.number(mated),
            skipped=searches.number(~mated),
            tied=searches.number(mated & (searches.tied > 0)),
        )
        return NumbersOfBatch(counts.scalars(searches.people.both).variables, is_reported)

    # -- all parts

    def _scalars(self, node: str, of_batches: Sequence[NumbersOfBatch]) -> Scalars:
        """Join the numbers of all batches; a label that a part lacks has the value NaN there."""
        table = TASKS[node.partition("/")[0]]
        numbers = {}
        for name in of_batches[0].numbers:
            numbers[name] = np.concatenate([batch.numbers[name] for batch in of_batches])
        labels: dict[str, np.ndarray] = {}
        costs: Variables = {}
        # The dimension whose labels differ between parts, and which part has which label, bool
        # (parts, labels).
        if node.startswith("verification"):
            varying = "far_target"
            labels["far_target"] = self.targets
            # Rare targets are those of the parts that support them.
            pairs = numbers["impostor_pairs"]
            usual = len(self.tasks.far_targets)
            has_label = np.ones((len(pairs), len(self.targets)), dtype=bool)
            has_label[:, usual:] = is_supported(self.targets[usual:], pairs[:, None])
            if len(self.wanted.frr_targets):
                labels["frr_target"] = self.wanted.frr_targets
            if len(self.wanted.costs) and self.wanted.every_score:
                columns = zip(COST_LABELS, self.wanted.costs.T, strict=True)
                costs = {name: (("cost",), values) for name, values in columns}
        else:
            varying = "rank"
            if node == "open_set":
                labels["far_target"] = self.tasks.far_targets
            labels["rank"], _ = self._ranks_to_report(np.ones(1, dtype=np.int64))
            masks = [batch.is_reported for batch in of_batches if batch.is_reported is not None]
            has_label = np.concatenate(masks)

        # A label of no part is left out.
        remains = has_label.any(axis=0)
        has_label = has_label[:, remains]
        labels[varying] = labels[varying][remains]
        variables: Variables = {}
        for name, values in numbers.items():
            dims = described(table, name).dims if values.ndim > 1 else ()
            if dims and dims[-1] == varying:
                values = values[..., remains]
                has_value = has_label
                if values.ndim == 3:  # (parts, targets, ranks)
                    has_value = has_label[:, None]
                if not has_value.all():  # counts are float64 then
                    values = np.where(has_value, values, np.nan)
            variables[name] = (PARTITION, *dims), values
        labels[PARTITION] = np.arange(len(self.places))
        return Scalars(in_order(variables | costs), labels, table)


# Messages on the results.


def remarks_on_partitions(scalars: Scalars, node: str) -> Iterator[Message]:
    """Yield messages on numbers that are NaN, such as without attempts, or decided by ties."""
    numbers = {name: values for name, (_, values) in scalars.arrays().items()}
    partitions = len(scalars.labels[PARTITION])
    genuine = "attempts" if node == "closed_set" else "genuine_attempts"
    attempts = {}
    if genuine in numbers:
        attempts["genuine_attempts"] = numbers[genuine]
    if "impostor_attempts" in numbers:
        attempts["impostor_attempts"] = numbers["impostor_attempts"]
    yield from parts_without_attempts(attempts, partitions, "partition")
    yield from _messages_on_targets(numbers, scalars.labels, node)

    # Partitions in which every rate is NaN; measures are also NaN for other reasons.
    has_no_attempt = np.zeros(partitions, dtype=bool)
    for values in attempts.values():
        has_no_attempt |= values == 0
    if "queries" in numbers:
        has_no_attempt |= numbers["queries"] == 0
        if has_no_attempt.any():
            missing = int(has_no_attempt.sum())
            reason = "no query has a match"
            yield undefined_in_parts("all rates", missing, partitions, "partition", reason)
    tied = int(np.nansum(numbers.get("tied", 0)))
    if tied:
        probes = int(np.nansum(numbers[genuine if genuine in numbers else "queries"]))
        yield Message("ties-in-partitions", tied=tied, probes=probes, number=partitions)
    measures, missing = _undefined_measures(scalars, node, has_no_attempt)
    if measures:
        reason = "a rank may be beyond the gallery, and a class may have scores that are all alike"
        yield undefined_in_parts(measures, missing, partitions, "partition", reason)


def _messages_on_targets(
    numbers: Numbers, labels: Mapping[str, np.ndarray], node: str
) -> list[Message]:
    """Return messages on targets that the smallest partition does not support."""
    searched = node == "open_set"
    # Impostor attempts that count: of verification, two directions of a pair are one.
    impostors, people = "impostor_pairs", "subjects"
    if searched:
        impostors, people = "impostor_attempts", "impostor_subjects"
    if impostors not in numbers:
        return []
    has_impostors = numbers["impostor_attempts"] > 0
    if not has_impostors.any():
        return []

    def smallest(name: str) -> float:
        return float(numbers[name][has_impostors].min())

    messages = support_of_parts(
        labels.get("far_target", np.empty(0)).tolist(),
        labels.get("frr_target", np.empty(0)).tolist(),
        smallest("genuine_attempts"),
        smallest(impostors),
        int(smallest(people)) if people in numbers else None,
        searched=searched,
    )
    return [message.concerning("the smallest partition") for message in messages]


def _undefined_measures(
    scalars: Scalars, node: str, has_no_attempt: np.ndarray
) -> tuple[list[dict[str, Any]], int]:
    """Return the measures that are NaN in a partition with attempts of all classes.

    They are arguments of a message, with their labels and places. Also the largest number of
    partitions in which one of them is NaN.
    """
    task = "verification" if node.startswith("verification") else "identification"
    arrays, labels = scalars.arrays(), scalars.labels
    shown = {name: x.label for name, x in averaged_over_folds().items() if x.label and not x.detail}
    undefined: list[dict[str, Any]] = []
    most_missing = 0
    for name in dict.fromkeys((*shown, "min_dcf", "cmc", *QUERY_MEANS)):
        if name not in arrays or "threshold" in arrays[name][0]:
            continue
        (_, *inner_dims), values = arrays[name]
        # The index runs through the last axis in the outer loop: the targets of a rank together.
        for reversed_index in np.ndindex(values.shape[:0:-1]):
            index = reversed_index[::-1]
            is_missing = np.isnan(values[(slice(None), *index)]) & ~has_no_attempt
            if not is_missing.any():
                continue
            measure = {"measure": name, "label": shown.get(name, name), "task": task}
            for dim, i in zip(inner_dims, index, strict=True):
                if dim in labels:
                    place = "target" if dim in TARGETS else dim
                    measure[place] = labels[dim][i].item()
            undefined.append(measure)
            most_missing = max(most_missing, int(is_missing.sum()))
    return undefined, most_missing
