"""Rates against the number of templates that each subject has in the gallery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import xarray as xr

from bioeval import DataError, ProtocolError, Scores
from bioeval.base import (
    Argument,
    Name,
    RandomState,
    counted,
    larger_is_closer,
    names_of,
    received,
    reporter,
    rows_reported_to,
    seed_sequence,
)
from bioeval.document import Message
from bioeval.protocol import OpenSet
from bioeval.results import (
    ClosedSetCounts,
    about_attrs,
    build,
    decisions,
    rate,
)
from bioeval.scores import (
    Block,
    BlockReader,
    FusionRule,
    Progress,
    leaves_out_attacks,
    require_subjects,
    threads_for,
)
from bioeval.studies.galleries.drawn import Drawn, check_sizes, parse_drawn, refuse_interval
from bioeval.studies.galleries.random_claims import (
    ChoiceCells,
    DrawnChoices,
    EveryChoice,
    ExpectedClaims,
    NearestCells,
    are_few,
)
from bioeval.studies.galleries.random_galleries import GalleryCounter, thresholds_over
from bioeval.studies.galleries.results import expected_accepts, expected_ranks
from bioeval.tallies import (
    DRAWS,
    FAR_TARGETS,
    MOST_CHOICES,
    Claim,
    Counter,
    Counts,
    ImpostorProbes,
    Rule,
    Ties,
    check_targets,
    count_together,
    require_values,
    role_of,
    to_user,
)

_AT = "at the threshold of all rows"

GALLERY_TEMPLATES = {
    **names_of("verification", "frr", "far", "eer", "eer_threshold", "frr_at_far"),
    **names_of("verification", "threshold_at_far", "genuine_attempts", "impostor_attempts"),
    "frr_se": Name("standard error of FRR over the drawn galleries"),
    "far_se": Name("standard error of FAR over the drawn galleries"),
    "threshold_used": Name("threshold of all rows", "score", "threshold T"),
    "frr_at_threshold": Name(f"FRR {_AT}", iso="FNMR"),
    "far_at_threshold": Name(f"FAR {_AT}", iso="FMR"),
    "open_set_far": names_of("open_set")["far"],
    **names_of("open_set", "dir"),
    **names_of("closed_set", "cms"),
    "mated_searches": Name("probes with a mate in the gallery", "probes"),
    "non_mated_searches": Name("probes searched without their subject", "probes"),
    "fewer": Name("subjects with fewer templates, all of which are enrolled", "subjects"),
    "draws": Name("galleries drawn for each probe; 0: exact means over all", "galleries"),
}

# Default number of thresholds, each with a table of ranks; and of those between which operating
# points are looked for.
THRESHOLDS, INNER = 100, 1000

# Default numbers of templates, at most.
SIZES = 6


@dataclass(eq=False)
class _Part(Counter["_Part"]):
    """The counts of some numbers of templates, of blocks or, where these are made, of choices."""

    reader: BlockReader
    sizes: list[int]
    claims: ExpectedClaims
    galleries: list[GalleryCounter]
    choices: EveryChoice | None = None

    def fresh(self) -> Self:
        """Return the same part before it has counted anything."""
        galleries = [counter.fresh() for counter in self.galleries]
        return replace(self, claims=self.claims.fresh(), galleries=galleries)

    def counts(self, low: int, high: int) -> dict[str, Counts]:
        """Return the counts of rows ``low:high``; see :mod:`bioeval.tallies.parts`."""
        galleries = {str(i): x.counts(low, high) for i, x in enumerate(self.galleries)}
        return {"claims": self.claims.counts(), "galleries": galleries}

    def merge(self, other: dict[str, Counts], low: int, high: int) -> None:
        """Add the counts of other rows."""
        self.claims.merge(other["claims"])
        for i, counter in enumerate(self.galleries):
            counter.merge(other["galleries"][str(i)], low, high)

    def add(self, block: Block) -> None:
        """Add a block, or choices of its templates."""
        blocks: Iterable[Block] = [block]
        if self.choices is not None:
            blocks = self.choices.blocks(block)
        first = self.claims.wanted is None
        for one in blocks:
            self.claims.add(one)
            if first:
                for counter in self.galleries:
                    counter.add(one)

    def result(self) -> _Part:
        """Return the part itself."""
        return self


@dataclass
class _Request:
    """Options of drawing and fusing, checked."""

    fusion: str
    drawn: Drawn
    seed: np.random.SeedSequence

    @classmethod
    def parse(cls, reader: BlockReader, fusion: str, drawn: Drawn) -> _Request:
        """Return a checked request of scores that may be drawn from."""
        scores = reader.scores
        require_subjects(scores, "a gallery of some templates of each subject")
        require_values(scores, "a rate against the number of templates")
        return cls(fusion, drawn, seed_sequence(drawn.random_state))

    def parts(
        self, reader: BlockReader, sizes: Sequence[int], grid: np.ndarray, **ranking: Any
    ) -> list[_Part]:
        """Return the parts that count some numbers of templates; with `ranking` searches, too."""
        if self.fusion == "min" and not self.drawn.repeats:
            claims = ExpectedClaims(NearestCells(reader, sizes), grid)
            galleries = []
            if ranking:
                galleries = [GalleryCounter(reader, size=size, **ranking) for size in sizes]
            return [_Part(reader, [*sizes], claims, galleries)]
        return [self._of_choices(reader, size, grid, ranking) for size in sizes]

    def _of_choices(
        self, reader: BlockReader, size: int, grid: np.ndarray, ranking: dict[str, Any]
    ) -> _Part:
        """Return the part of one number of templates, by its choices."""
        method, order = Claim("multi", self.fusion).rule
        if method == "kth" and order > size:
            are = "are" if size > 1 else "is"
            raise DataError(
                Argument("fusion"),
                f" is {self.fusion!r}, but {counted(size, 'templates')} of each subject {are} "
                f"enrolled; expected kth:{size} or less, or more templates",
            )
        by_row = ranking.get("ties") == "stable"
        draws = self.drawn.repeats
        if not draws and not are_few(reader, size):
            draws = DRAWS
        if not draws:
            choices = EveryChoice(reader, size, self.fusion, by_row=by_row)
        else:
            choices = DrawnChoices(
                reader, size, self.fusion, draws=draws, seed=self.seed, by_row=by_row
            )
        claims = ExpectedClaims(ChoiceCells(choices), grid, draws)
        galleries = []
        if ranking:
            alike = {"starts": choices.starts, "in_order": choices.in_order, **ranking}
            galleries.append(GalleryCounter(reader, size=1, **alike))
        return _Part(reader, [size], claims, galleries, choices)


@leaves_out_attacks
def gallery_templates(
    scores: Scores,
    sizes: int | Sequence[int] | None = None,
    *,
    fusion: FusionRule = "min",
    thresholds: Any = None,
    threshold: Any = "eer",
    max_rank: int | None = None,
    ties: Ties = "pessimistic",
    impostors: ImpostorProbes = "auto",
    far_targets: Sequence[float] = FAR_TARGETS,
    sampling: Literal["exact"] | int = "exact",
    random_state: RandomState = None,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate all tasks against the number of templates that each subject has in the gallery.

    The nearest of more templates is nearer: at the same threshold FRR falls, and FAR rises. Each
    rate is the mean over **all** choices of `n` templates of each subject, drawn without
    repetition for each probe and subject by itself.

    Parameters
    ----------
    scores : Scores
        A matrix of either layout.
    sizes : int or increasing sequence of int, optional
        Templates of each subject, at most as many as the largest subject has. A subject with
        fewer enrols all. Default: up to six numbers that at least half of the subjects have.
    fusion : str
        As for :func:`bioeval.verification`. Of the nearest template (``"min"``) the means are
        known in closed form. Of others all choices are made where no subject has more than 10,000;
        else 200 galleries are drawn, which the variable ``draws`` and a warning say.
    thresholds : None, int or increasing array of float
        Of the curves; default: about 100.
    threshold : float, str or tuple
        The threshold at which all numbers of templates are compared: a number, or ``"eer"`` or
        ``("far", x)`` of the smallest number of templates.
    max_rank : int, optional
        Number of ranks; None gives every attainable one while the table stays small, else 100.
    ties, impostors
        As for :func:`bioeval.open_set`. Ranks count subjects.
    far_targets : sequence of float
        For each, the smallest FRR with FAR at most the target, on the mean curves.
    sampling : {"exact"} or int
        The number of galleries to draw for each probe in place of all of them.
    random_state : int, SeedSequence, Generator or RandomState, optional
        Seed of the draws.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        Over ``gallery_templates``: of verification ``frr far`` (by ``threshold``), ``eer
        eer_threshold``, ``frr_at_far threshold_at_far`` (by ``far_target``), and
        ``frr_at_threshold far_at_threshold`` at ``threshold_used``; ``open_set_far`` (by
        ``threshold``) and ``dir`` (by ``threshold`` and ``rank``) of open-set, ``cms`` (by
        ``rank``) of closed-set identification; ``fewer``, the subjects with fewer enrolled
        templates, before those that failed or are the probe itself leave; ``draws``. Operating
        points are those of the mean curves, at the scores themselves. Where galleries are drawn,
        ``frr_se far_se`` (NaN where means are exact) say how far the means may be off. Scalars
        ``genuine_attempts impostor_attempts`` of verification, ``mated_searches
        non_mated_searches`` of identification.

    Raises
    ------
    DataError
        Bad options; more templates than any subject has; NaN under ``nan="raise"``.
    ProtocolError
        If the scores have no subjects, or only an order, or another gallery for each probe.

    Notes
    -----
    A subject with `N` usable templates, of which `k` lie within a threshold, is accepted with
    chance ``1 - C(N - k, n) / C(N, n)``. ``docs/exact-galleries.md`` derives all formulas.

    Examples
    --------
    >>> import bioeval as be
    >>> ds = be.gallery_templates(be.simulate(50, 4, random_state=1), [1, 2, 3])
    >>> ds.frr_at_threshold.values.round(3), ds.far_at_threshold.values.round(3)
    (array([0.033, 0.002, 0.   ]), array([0.033, 0.056, 0.072]))
    """
    drawn = parse_drawn("single", sampling, random_state)
    search = OpenSet(
        rank_unit="subject", fusion=fusion, ties=ties, impostors=impostors, max_rank=max_rank
    )
    targets, rule = check_targets(far_targets), _rule(threshold)
    reader = BlockReader(scores)
    request = _Request.parse(reader, fusion, drawn)
    chosen = _sizes(sizes, np.diff(reader.gallery.starts))
    grid = thresholds_over(reader, thresholds, THRESHOLDS)
    subjects = len(reader.gallery.subjects)
    most = len(chosen) * (len(grid) + 1)
    count, notes = ClosedSetCounts.max_ranks(subjects, search.max_rank, most)
    inner = np.union1d(grid, thresholds_over(reader, None, INNER))
    parts = request.parts(reader, chosen, inner, ties=search.ties, thresholds=grid, ranks=count)
    wanted = np.append(targets, rule.values) if rule.name == "far" else targets
    with rows_reported_to(progress):
        _count(reader, parts, wanted, rule)
    rule = rule.as_distance(scores.kind)
    variables = {**_verification(parts, grid, targets), **_fixed(parts, wanted, rule)}
    variables |= _identification(parts, search.impostors)
    held = np.diff(reader.gallery.starts)
    fewer = np.count_nonzero(held < np.array(chosen)[:, None], axis=1)
    draws = np.array([claims.draws for claims, _ in _of_each(parts)])
    variables |= {"fewer": fewer, "draws": draws}
    kind = scores.kind
    coordinates = {
        "gallery_templates": np.array(chosen),
        "threshold": to_user(grid, kind),
        "rank": np.arange(1, count + 1),
        "far_target": targets,
    }
    first = parts[0].claims
    asked = bool(drawn.repeats)
    remarks: list[Message] = [*notes]
    remarks += _remarks(chosen, fewer.tolist(), draws.tolist(), asked, first.numbers)
    attrs = about_attrs(
        reader.about, "gallery-templates", "rates against templates in the gallery", remarks
    ) | {
        "fusion": fusion,
        "rank_unit": search.rank_unit,
        "ties": search.ties,
        "sampling": str(drawn.repeats or "exact"),
        "threshold_rule": str(_rule(threshold)),
        "impostors": role_of(reader.about.layout, search.impostors, bool(reader.enrolled.all())),
        "draw": "uniformly without replacement, independently for each probe and subject",
    }
    over: dict[str, Any] = {}
    for name, values in variables.items():
        over[name] = (_DIMS.get(name, ("gallery_templates",)), values)
    over["genuine_attempts"], over["impostor_attempts"] = first.numbers
    dataset = build(over, GALLERY_TEMPLATES, coordinates, attrs)
    for name in ("eer_threshold", "threshold_at_far", "threshold_used"):
        dataset[name].values = to_user(dataset[name].values, kind)
    if larger_is_closer(kind):
        return dataset.isel(threshold=slice(None, None, -1))
    return dataset


_BY_THRESHOLD = ("gallery_templates", "threshold")
_DIMS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("frr", "far", "frr_se", "far_se", "open_set_far"), _BY_THRESHOLD),
    **dict.fromkeys(("frr_at_far", "threshold_at_far"), ("gallery_templates", "far_target")),
    "dir": ("gallery_templates", "threshold", "rank"),
    "cms": ("gallery_templates", "rank"),
    **dict.fromkeys(("threshold_used", "mated_searches", "non_mated_searches"), ()),
}


def _sizes(sizes: Any, counts: np.ndarray, name: str = "sizes") -> list[int]:
    """Return the numbers of templates; of subjects with `counts` templates."""
    if sizes is None:
        usual = max(1, int(np.quantile(counts, 0.5, method="lower")))
        return np.unique(np.rint(np.geomspace(1, usual, SIZES)).astype(np.int64)).tolist()
    array = check_sizes(sizes, "templates")
    most = int(counts.max())
    if array[-1] > most:
        raise DataError(
            Argument(name),
            f" has {array[-1]}, but no subject has more than {counted(most, 'templates')} in the "
            f"gallery; expected at most {most}",
        )
    return array.tolist()


def _rule(threshold: Any) -> Rule:
    rule = Rule.parse(threshold)
    if rule.name not in ("eer", "far", "fixed"):
        raise DataError(
            Argument("threshold"),
            f" is {received(threshold)}; expected a number, 'eer' or ('far', x)",
        )
    return rule


def _count(
    reader: BlockReader, parts: Sequence[_Part], targets: np.ndarray, rule: Rule | None
) -> None:
    """Count all parts, and pass again over the scores around their operating points."""
    fixed: Sequence[float] = ()
    if rule is not None and rule.name == "fixed":
        fixed = rule.as_distance(reader.scores.kind).values
    with threads_for(reader.scores), rows_reported_to(reporter(), passes=2):
        count_together(reader, parts)
        for part in parts:
            part.claims.want(targets, fixed)
        if rule is not None:
            of_first = parts[0].claims.wanted
            for part in parts[1:]:  # the threshold of all is of the first
                assert part.claims.wanted is not None and of_first is not None
                part.claims.wanted |= of_first
        count_together(reader, parts)


def _of_each(parts: Sequence[_Part]) -> Iterator[tuple[ExpectedClaims, int]]:
    """Yield the claims of each number of templates, and its place in them."""
    for part in parts:
        for s in range(len(part.sizes)):
            yield part.claims, s


def _verification(
    parts: Sequence[_Part], grid: np.ndarray, targets: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the variables of verification; thresholds are distances."""
    rates: dict[str, list[Any]] = {}
    for claims, s in _of_each(parts):
        genuine, impostor = claims.numbers
        fr, fa = claims.errors(s, grid)
        points = claims.points(s, targets)
        one = {
            "frr": rate(fr, genuine),
            "far": rate(fa, impostor),
            "eer": points.equal_error.eer,
            "eer_threshold": points.equal_error.eer_threshold,
            "frr_at_far": points.frr_at_far,
            "threshold_at_far": points.threshold_at_far,
        }
        if any(part.claims.draws for part in parts):
            one["frr_se"] = one["far_se"] = np.full(len(grid), np.nan)
            if claims.draws:
                one["frr_se"], one["far_se"] = claims.spread(grid)
        for name, value in one.items():
            rates.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in rates.items()}


def _fixed(parts: Sequence[_Part], targets: np.ndarray, rule: Rule) -> dict[str, np.ndarray]:
    """Return the rates of all numbers of templates at one threshold."""
    claims, s = next(_of_each(parts))
    if rule.name == "fixed":
        at = rule.values[0]
    else:
        points = claims.points(s, targets)
        if rule.name == "eer":
            at = points.equal_error.eer_threshold
        else:
            at = points.threshold_at_far[-1]
    rates = np.array([claims.rates_at(s, float(at)) for claims, s in _of_each(parts)])
    return {
        "threshold_used": np.float64(at),  # type: ignore[dict-item]
        "frr_at_threshold": rates[:, 0],
        "far_at_threshold": rates[:, 1],
    }


def _identification(parts: Sequence[_Part], impostors: str) -> dict[str, Any]:
    """Return the variables of open-set and closed-set identification."""
    rates: dict[str, list[np.ndarray]] = {"open_set_far": [], "dir": [], "cms": []}
    tallies = []
    for part in parts:
        tallies += [counter.result() for counter in part.galleries]
    for tally in tallies:
        role = role_of(tally.about.layout, impostors, not tally.non_targets)
        accepted, non_mated = expected_accepts(tally, role)
        identified = rate(expected_ranks(tally), tally.genuine)
        rates["open_set_far"].append(rate(accepted, non_mated))
        rates["dir"].append(identified[:-1])
        rates["cms"].append(identified[-1])
    searches = {"mated_searches": tally.genuine, "non_mated_searches": non_mated}
    return {name: np.array(values) for name, values in rates.items()} | searches


def _remarks(
    sizes: Sequence[int],
    fewer: Sequence[int],
    draws: Sequence[int],
    asked: bool,
    attempts: tuple[int, int],
) -> Iterator[Message]:
    """Yield messages on the limits of the rates."""
    genuine, impostor = attempts
    if not genuine:
        yield Message("no-genuine-attempt", rates=["frr"])
    if not impostor:
        yield Message("no-impostor-attempt", rates=["far"])
    for size, number in zip(sizes, fewer, strict=True):
        if number:
            yield Message("fewer-templates-than-drawn", subjects=number, templates=size)
    many = [size for size, number in zip(sizes, draws, strict=True) if number]
    if many and not asked:
        yield Message("choices-drawn", limit=MOST_CHOICES, templates=many, draws=DRAWS)


def drawn_verification(
    scores: Scores,
    gallery: Any,
    drawn: Drawn,
    templates: str,
    unsupported: dict[str, Any],
    *,
    fusion: str,
    thresholds: Any,
    far_targets: np.ndarray,
) -> xr.Dataset:
    """Return multi-template verification against galleries of some templates of each subject.

    Counts are expected counts, and operating points those of the expected curves; see
    :func:`bioeval.verification`, whose `unsupported` options may not be given.
    """
    Claim(templates, fusion)
    if templates == "single":
        raise DataError(
            Argument("gallery"),
            f" is {received(gallery)}, but single templates are attempts by themselves, however "
            "many are enrolled; give ",
            Argument("templates", "multi"),
        )
    refuse_interval(unsupported["interval"])
    if unsupported["frr_targets"] is not None:
        raise ProtocolError(
            Argument("frr_targets"),
            " and ",
            Argument("gallery"),
            " are both given, but mean curves over drawn galleries have no FAR at a FRR; give one "
            "of them",
        )
    if unsupported["max_fars"] is not None:
        raise ProtocolError(
            Argument("max_fars"),
            " and ",
            Argument("gallery"),
            " are both given, but mean curves over drawn galleries have no partial AUC; give one "
            "of them",
        )
    for name in ("claims", "attempts", "enrol"):
        if unsupported[name] is not None:
            raise ProtocolError(
                Argument(name),
                " and ",
                Argument("gallery"),
                " are both given, but galleries are drawn for all claims of single probes; give "
                "one of them",
            )
    reader = BlockReader(scores)
    request = _Request.parse(reader, fusion, drawn)
    (size,) = _sizes(drawn.size, np.diff(reader.gallery.starts), "gallery")
    grid = thresholds_over(reader, thresholds)
    if thresholds is None:
        inner = grid
    else:
        inner = np.union1d(grid, thresholds_over(reader, None))
    parts = request.parts(reader, [size], inner)
    _count(reader, parts, far_targets, None)
    claims, kind = parts[0].claims, scores.kind
    genuine, impostor = claims.numbers
    fr, fa = claims.errors(0, grid)
    points = claims.points(0, far_targets)
    variables = {
        **decisions(genuine - fr, genuine, fa, impostor),
        "fr": (("threshold",), fr),
        "frr": (("threshold",), rate(fr, genuine)),
        **points.equal_error.variables(kind),
        "frr_at_far": (("far_target",), points.frr_at_far),
        "threshold_at_far": (("far_target",), to_user(points.threshold_at_far, kind)),
        "genuine_attempts": genuine,
        "impostor_attempts": impostor,
    }
    if claims.draws:
        fr_error, fa_error = claims.spread(grid)
        variables |= {"frr_se": (("threshold",), fr_error), "far_se": (("threshold",), fa_error)}
    fewer = [int(np.count_nonzero(np.diff(reader.gallery.starts) < drawn.size))]
    asked = bool(drawn.repeats)
    remarks = _remarks([drawn.size], fewer, [claims.draws], asked, claims.numbers)
    attrs = about_attrs(reader.about, "verification", "verification, multi-template", remarks) | {
        "templates": "multi",
        "fusion": fusion,
        "claims": "all",
        "gallery": drawn.gallery,
        "sampling": str(claims.draws or "exact"),
        "draw": "uniformly without replacement, independently for each probe and subject",
    }
    coordinates = {"threshold": to_user(grid, kind), "far_target": far_targets}
    names = {**names_of("verification"), **names_of(GALLERY_TEMPLATES, "frr_se", "far_se")}
    dataset = build(variables, names, coordinates, attrs)
    if larger_is_closer(kind):
        return dataset.isel(threshold=slice(None, None, -1))
    return dataset
