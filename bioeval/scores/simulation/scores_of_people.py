"""Simulated scores and embeddings of people with known true error rates, and attacks on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import number_in, require_integer, require_number
from bioeval.base.errors import Argument, DataError, received, require_choice
from bioeval.base.kinds import PlainKind
from bioeval.base.memory import require_memory
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.scores.bona_fide import species_of
from bioeval.scores.embeddings import Metric
from bioeval.scores.labels import ATTACK
from bioeval.scores.matrix import Scores
from bioeval.scores.simulation.closed_forms import GaussianScores
from bioeval.scores.simulation.population import (
    BLOCK,
    FEWER,
    OFFSETS,
    SCORES,
    Counts,
    Design,
    Population,
    PopulationLayout,
    draw_design,
    draw_embeddings,
)

#: Presentations of each species against each enrolled subject.
PRESENTATIONS = 5

# Keys of the streams, after those of the population.
_ATTACKERS, _NOISE, _ATTACK_SCORES = 11, 12, 13


def parse_attacks(attacks: Any) -> dict[str, float]:
    """Return the strength of each species, from a mapping or ``"print=0.6,mask=0.9"``."""
    expected = "expected species with their strength from 0 to 1, such as print=0.6,mask=0.9"
    if isinstance(attacks, str):
        parts = [part.partition("=") for part in attacks.split(",")]
        try:
            attacks = {name.strip(): number_in(value) for name, _, value in parts}
        except ValueError:
            attacks = None
        if attacks is None or len(attacks) < len(parts):
            raise DataError(
                Argument("attacks"), f" names a species twice, or no number; {expected}"
            )
    if not isinstance(attacks, Mapping) or not attacks:
        raise DataError(Argument("attacks"), f" is {received(attacks)}; {expected}")
    if (species_of(np.array([*attacks], dtype=object), "attacks") == "").any():
        raise DataError(Argument("attacks"), f" has a species without a name; {expected}")
    strengths = {}
    for name, strength in attacks.items():
        strengths[str(name)] = require_number("attacks", strength, low=0.0, high=1.0)
    return strengths


@dataclass(frozen=True)
class AttackRows:
    """Attack presentations: species, strength, target and attacker of each, by person."""

    species: np.ndarray
    strength: np.ndarray
    target: np.ndarray
    attacker: np.ndarray
    seed: np.random.SeedSequence

    @classmethod
    def draw(
        cls, attacks: dict[str, float], presentations: Any, enrolled: int, seed: Any
    ) -> AttackRows:
        """Present each species `presentations` times against each enrolled subject, by others."""
        each = require_integer("presentations", presentations, low=1)
        if enrolled < 2:
            raise DataError(
                Argument("attacks"), " needs two enrolled subjects, an attacker and a target"
            )
        number = enrolled * each
        target = np.tile(np.repeat(np.arange(enrolled), each), len(attacks))
        attacker = Stream(seed, _ATTACKERS).integers(0, enrolled - 2, len(target))
        attacker += attacker >= target
        names, strengths = np.array([*attacks]), np.array([*attacks.values()])
        return cls(np.repeat(names, number), np.repeat(strengths, number), target, attacker, seed)

    def meta(self, bona_fide: Mapping[str, np.ndarray], rows: int) -> dict[str, np.ndarray]:
        """Return metadata of bona fide rows and of attacks in the last session."""
        columns = {}
        for name, column in bona_fide.items():
            last = np.full(len(self.target), column.max(initial=1))
            columns[name] = np.concatenate([column, last])
        columns[ATTACK] = np.concatenate([np.full(rows, ""), self.species])
        return columns

    def of_embeddings(self, population: Population, within: Any, metric: Any) -> Scores:
        """Return scores of a population and of attacks on the way from attacker to target."""
        centres, s = population.centres, self.strength[:, None]
        spread = np.broadcast_to(np.asarray(within, dtype=np.float64), (len(centres),))
        noise = Stream(self.seed, _NOISE).normals(len(self.target), centres.shape[1])
        sd = (1 - s) * spread[self.attacker, None] + s * spread[self.target, None]
        made = (1 - s) * centres[self.attacker] + s * centres[self.target] + sd * noise
        made = made.astype(np.float32)
        embeddings, labels, meta = population.probes
        return population.compared(
            np.concatenate([embeddings, made]),
            np.concatenate([labels, self.target + 1]),
            self.meta(meta, len(labels)),
            metric,
        )

    def of_scores(self, scores: Scores, truth: GaussianScores) -> Scores:
        """Return scores with attacks; their means and deviations lie between the two classes."""
        m, n = scores.shape
        square = scores.probe_ids is scores.gallery_ids
        number = len(self.target)
        labels = np.concatenate([scores.probe_labels, self.target + 1])
        columns = scores.gallery_labels if not square else labels
        values = np.empty((m + number, len(columns)), dtype=np.float32)
        values[:m, :n] = scores.values
        stream = Stream(self.seed, _ATTACK_SCORES)
        drawn = stream.normals(number, len(columns))
        s = self.strength[:, None]
        on_target = drawn * (1 + s * (truth.genuine_sd - 1)) - s * truth.shift
        distances = np.where(labels[m:, None] == columns, on_target, drawn)
        if truth.kind == "distance":
            values[m:] = distances
        else:
            values[m:] = -distances
        if square:
            values[:m, n:] = values[m:, :m].T
        else:
            values[:m, n:] = 0
        return Scores(
            values,
            labels,
            None if square else columns,
            kind=truth.kind,
            probe_meta=self.meta(scores.probe_meta, m),
            gallery_meta=None if square else scores.gallery_meta,
            name="simulated",
        )


Model = Literal["gaussian-embeddings", "gaussian-scores"]
MODELS: tuple[Model, ...] = get_args(Model)


def simulate(
    subjects: int = 100,
    templates: Counts = 10,
    *,
    model: Model = "gaussian-embeddings",
    layout: PopulationLayout = "all-against-all",
    probes: Counts | None = None,
    unenrolled: int | float = 0,
    kind: PlainKind = "distance",
    dimensions: int | None = None,
    between: float | None = None,
    within: Any = None,
    metric: Metric | None = None,
    sessions: int | None = None,
    session_sd: float | None = None,
    cameras: int | None = None,
    camera_sd: float | None = None,
    d_prime: float | None = None,
    genuine_sd: float | None = None,
    goat_sd: float | None = None,
    wolf_sd: float | None = None,
    lamb_sd: float | None = None,
    attacks: Mapping[str, float] | str | None = None,
    presentations: int | None = None,
    random_state: RandomState = 0,
) -> Scores:
    """Simulate the scores of a population whose true rates are known.

    Parameters
    ----------
    subjects : int
        Number of enrolled subjects.
    templates : int, (low, high) or list of int
        Templates of each subject: the same number for all; a tuple of two, from which each
        subject's number is drawn, both ends included; or a list with each subject's number.
    model : {"gaussian-embeddings", "gaussian-scores"}
        ``"gaussian-embeddings"``: each person is a cloud of points, and points are compared.
        Attempts of one person are correlated, as they are in real data.
        ``"gaussian-scores"``: every score is drawn by itself, genuine and impostor scores from
        a normal distribution each. Every rate then has a closed form.
    layout : {"all-against-all", "probe-against-gallery"}
    probes : int, (low, high) or list of int
        Probes of each person, for probe-against-gallery; given as `templates` is, a list with
        the enrolled subjects first. 5 unless given.
    unenrolled : int or float
        People who only probe, for probe-against-gallery: their number, or a fraction of
        `subjects` (at least one then). They come on top of the subjects and are never in the
        gallery.
    kind : {"distance", "similarity"}
        ``"similarity"`` for gaussian-scores only: the exact mirror image of the distances.
    dimensions : int
        Of the embeddings; 16 unless given. This and the next three: gaussian-embeddings only.
    between : float
        Standard deviation of the persons' centres, in each dimension; 1 unless given.
    within : float or list of float
        Standard deviation of a person's templates around the centre, in each dimension; 0.6
        unless given. A list gives each person's own (goats are large, sheep are small).
    metric : str or callable
        As for :meth:`Scores.from_embeddings`; ``"l2"`` unless given.
    sessions : int
        Number of days on which everyone was seen; adds the metadata column ``session``, from 1.
        All against all, a person's templates take the sessions in turn. In probe-against-gallery
        session 1 enrols and the later sessions probe.
    session_sd : float
        Standard deviation of the person's offset of the day, in each dimension; 0.3 unless given.
        gaussian-embeddings only.
    cameras : int
        Number of cameras; adds the metadata column ``camera``, from 1. Cameras are taken in turn
        within each session, the probes of a person going on where the templates ended.
    camera_sd : float
        Standard deviation of a camera's offset, the same for all its pictures, in each dimension;
        0.3 unless given. gaussian-embeddings only.
    d_prime : float
        Decidability: the distance of genuine and impostor mean, over the root of the mean
        variance; 2 unless given. This and the next four: gaussian-scores only.
    genuine_sd : float
        Standard deviation of genuine scores, where impostor scores are N(0, 1); 1 unless given.
    goat_sd, wolf_sd, lamb_sd : float
        Standard deviations of normal offsets of each person, 0 unless given: all genuine scores of
        a goat are farther, all scores of a wolf's probes against others nearer, and all scores of
        others' probes against a lamb nearer. The closed forms are without them.
    attacks : mapping of str to float, or str, optional
        Attack instrument species with their strength, ``{"print": 0.6}`` or ``"print=0.6"``: the
        proportion of the way from another subject, the attacker, to the target at which a
        presentation lies; 0 is an impostor, 1 the target. Adds rows after all others, labelled by
        the target, with their species in the metadata column ``attack``, for
        :func:`bioeval.vulnerability`. Of gaussian-scores, the way from the impostor to the genuine
        distribution: ``iapar(t) = Phi((t + s Delta) / (1 + s (genuine_sd - 1)))`` of strength s.
    presentations : int
        Presentations of each species against each enrolled subject; 5 unless given.
    random_state : int, None, numpy SeedSequence, Generator or RandomState
        The same integer gives the same embeddings, or scores of gaussian-scores, bit for bit on
        every platform. (Distances of embeddings are computed from them by the metric, and may
        differ in the last digit.) None gives another population each time.

    Returns
    -------
    Scores
        Labels are integers from 1. The true rates are in ``bioeval.scores.simulation``.

    Raises
    ------
    DataError
        If an argument is outside its range, or belongs to the other model or layout.

    See Also
    --------
    simulate_embeddings : the embeddings themselves.
    bioeval.scores.simulation.closed_forms.GaussianScores : true rates of gaussian-scores.
    bioeval.scores.simulation.closed_forms.GaussianEmbeddings : those of
        gaussian-embeddings.

    Notes
    -----
    Scores of gaussian-scores are float32, independent from cell to cell, ``(i, j)`` from
    ``(j, i)`` too; they may be negative, as only their order matters. Sessions and cameras are
    labels without an effect there.

    Subjects of gaussian-embeddings differ: a subject near the common centre is near to all others,
    and :func:`bioeval.zoo` finds it as a wolf and a lamb. Subjects of gaussian-scores are alike
    unless `goat_sd`, `wolf_sd` or `lamb_sd` is above 0.

    Examples
    --------
    >>> import bioeval as be
    >>> be.simulate(subjects=20, templates=4).shape
    (80, 80)

    Everyone enrols once and probes twice, beside 5 people who are not enrolled:

    >>> scores = be.simulate(
    ...     20, 1, layout="probe-against-gallery", probes=2, unenrolled=5,
    ...     model="gaussian-scores", d_prime=3.0, random_state=1,
    ... )
    >>> scores.shape
    (50, 20)
    """
    require_choice("model", model, MODELS)
    require_choice("kind", kind, get_args(PlainKind))
    of_embeddings = {
        "dimensions": dimensions,
        "between": between,
        "within": within,
        "metric": metric,
        "session_sd": session_sd,
        "camera_sd": camera_sd,
    }
    animals = {"goat_sd": goat_sd, "wolf_sd": wolf_sd, "lamb_sd": lamb_sd}
    of_scores = {"d_prime": d_prime, "genuine_sd": genuine_sd, **animals}
    options, refused, other = of_embeddings, of_scores, MODELS[1]
    if model == "gaussian-scores":
        options, refused, other = of_scores, of_embeddings, MODELS[0]
    for name, value in refused.items():
        if value is not None:
            raise DataError(
                Argument(name),
                f" is {received(value)}, an option of model {other!r}, not of {model!r}",
            )
    rows = None
    if attacks is None and presentations is not None:
        raise DataError(Argument("presentations"), " is given without ", Argument("attacks"))
    random_state = seed_sequence(random_state)
    if attacks is not None:
        each = PRESENTATIONS if presentations is None else presentations
        enrolled = require_integer("subjects", subjects, low=1)
        rows = AttackRows.draw(parse_attacks(attacks), each, enrolled, random_state)
    options_given = {name: value for name, value in options.items() if value is not None}
    if model == "gaussian-scores":
        design = draw_design(
            subjects, templates, layout, probes, unenrolled, sessions, cameras, random_state
        )
        offsets = {}
        for key, name in enumerate(animals, OFFSETS):
            sd = require_number(name, options_given.pop(name, 0.0), low=0.0)
            offsets[name] = sd * Stream(design.seed, key).normals(design.people)
        truth = GaussianScores(**options_given, kind=kind)
        scores = _gaussian_scores(design, truth, offsets)
        if rows is None:
            return scores
        return rows.of_scores(scores, truth)
    if kind != "distance":
        raise DataError(
            Argument("kind"),
            f" is {received(kind)}; embeddings are compared by distances. Expected 'distance', or ",
            Argument("model", "gaussian-scores"),
        )
    options_given.pop("metric", None)
    population = simulate_embeddings(
        subjects,
        templates,
        layout=layout,
        probes=probes,
        unenrolled=unenrolled,
        sessions=sessions,
        cameras=cameras,
        random_state=random_state,
        **options_given,
    )
    chosen = "l2" if metric is None else metric
    if rows is None:
        return population.scores(chosen)
    return rows.of_embeddings(population, 0.6 if within is None else within, chosen)


def simulate_embeddings(
    subjects: int = 100,
    templates: Counts = 10,
    *,
    layout: PopulationLayout = "all-against-all",
    probes: Counts | None = None,
    unenrolled: int | float = 0,
    dimensions: int = 16,
    between: float = 1.0,
    within: Any = 0.6,
    sessions: int | None = None,
    session_sd: float | None = None,
    cameras: int | None = None,
    camera_sd: float | None = None,
    random_state: RandomState = 0,
) -> Population:
    """Simulate the embeddings of a population: person + session + camera + noise.

    Parameters
    ----------
    subjects, templates, layout, probes, unenrolled, dimensions, between, within, sessions, \
session_sd, cameras, camera_sd, random_state
        As for :func:`simulate`.

    Returns
    -------
    Population
        ``embeddings`` (float32), ``labels``, ``enrolled``, ``meta`` and the true ``centres``;
        its method ``scores(metric)`` compares them.

    Raises
    ------
    DataError
        If an argument is outside its range.

    Examples
    --------
    >>> import bioeval as be
    >>> population = be.simulate_embeddings(3, 2, dimensions=4, sessions=2)
    >>> population.embeddings.shape, population.labels.tolist()
    ((6, 4), [1, 1, 2, 2, 3, 3])
    >>> population.meta["session"].tolist()
    [1, 2, 1, 2, 1, 2]
    """
    design = draw_design(
        subjects, templates, layout, probes, unenrolled, sessions, cameras, random_state
    )
    offsets = {
        "session_sd": _offset_sd("session_sd", session_sd, "sessions", sessions),
        "camera_sd": _offset_sd("camera_sd", camera_sd, "cameras", cameras),
    }
    return draw_embeddings(design, dimensions, between, within, **offsets)


def _offset_sd(name: str, sd: float | None, things: str, number: int | None) -> float:
    """Return the spread of sessions or of cameras; none without them, 0.3 unless given."""
    if number is None and sd is not None:
        raise DataError(f"{name} is {received(sd)} without {things}; expected both or neither")
    if number is None:
        return 0.0
    if sd is None:
        return 0.3
    return sd


def _gaussian_scores(
    design: Design, truth: GaussianScores, offsets: dict[str, np.ndarray]
) -> Scores:
    """Draw scores; the offsets of each person are called as their spreads."""
    goat, wolf, lamb = offsets["goat_sd"], offsets["wolf_sd"], offsets["lamb_sd"]
    rows = design.gallery if design.probes is None else design.probes
    columns = design.gallery
    size = f"{len(rows):,} x {len(columns):,} scores"
    require_memory(4 * len(rows) * len(columns), size, FEWER)
    values = np.empty((len(rows), len(columns)), dtype=np.float32)
    stream = Stream(design.seed, SCORES)
    step = max(1, BLOCK // len(columns))
    for low in range(0, len(rows), step):
        who = rows.person[low : low + step, None]
        distances = stream.normals(len(who), len(columns))
        genuine = who == columns.person
        distances[genuine] = distances[genuine] * truth.genuine_sd - truth.shift
        distances += np.where(genuine, goat[who], -wolf[who] - lamb[columns.person])
        # Of the same draws, a similarity is the negative distance.
        if truth.kind == "distance":
            values[low : low + step] = distances
        else:
            values[low : low + step] = -distances
    square = design.probes is None
    return Scores(
        values,
        rows.labels,
        None if square else columns.labels,
        kind=truth.kind,
        probe_meta=rows.meta,
        gallery_meta=None if square else columns.meta,
        name="simulated",
    )
