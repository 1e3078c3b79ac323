"""A simulated population: its people, their templates and their embeddings.

People are enrolled subjects first, then those that are not enrolled. Every part of a population
has its own stream of random numbers, so that two populations of the same seed differ only where
their arguments do: more templates, more noise or another camera leave the persons as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import require_array, require_integer, require_number, require_numbers
from bioeval.base.errors import Argument, DataError, received, require_choice
from bioeval.base.memory import require_memory
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.scores.matrix import Scores

PopulationLayout = Literal["all-against-all", "probe-against-gallery"]
LAYOUTS: tuple[PopulationLayout, ...] = get_args(PopulationLayout)

# An int, a range (low, high), or a count for each person.
Counts = int | tuple[int, int] | Sequence[int] | np.ndarray

# Keys of the streams. A number, once given, is never given to something else: that would change
# every population already made.
_TEMPLATE_COUNTS, _PROBE_COUNTS, _CENTRES, _SESSIONS, _CAMERAS = 0, 1, 2, 3, 4
_TEMPLATE_NOISE, _PROBE_NOISE, SCORES = 5, 6, 7
OFFSETS = 8  # of goats; 9 and 10 of wolves and lambs

# Bytes of a template without its features: its person, place, labels and what they are made of.
TEMPLATE_BYTES = 64

# What to do where a population does not fit into memory.
FEWER = "expected fewer subjects or templates"

#: The largest spread, beyond which distances of float32 embeddings overflow.
MOST_SD = 1e15

# Random numbers turned into float32 at a time: 8 MiB of float64.
BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class Samples:
    """One side, sorted by person, enrolled ones first, with ``session`` and ``camera`` if there."""

    person: np.ndarray
    meta: dict[str, np.ndarray]
    first: int  # number of the first subject

    @property
    def labels(self) -> np.ndarray:
        """Subject numbers, above 0: in re-identification 0 and -1 are distractors and junk."""
        return self.person + self.first

    def __len__(self) -> int:
        return len(self.person)


@dataclass(frozen=True)
class Design:
    """The numbers of templates and probes of each person, with their sessions and cameras."""

    people: int
    gallery: Samples
    probes: Samples | None  # None: all against all
    sessions: int
    cameras: int
    seed: np.random.SeedSequence


@dataclass(frozen=True, eq=False)
class Population:
    """Embeddings of a population with known truth.

    Attributes
    ----------
    embeddings : ndarray of float32, shape (n, dimensions)
        One row a template: the gallery's first, then the probes', each sorted by person.
    labels : ndarray of int64, shape (n,)
        The person of each row, by number, enrolled subjects first.
    enrolled : ndarray of bool, shape (n,)
        Whether the row is a gallery template; all are in an all-against-all layout.
    meta : dict of str to ndarray of int64
        ``session`` and ``camera`` of each row, where there are any.
    centres : ndarray of float64, shape (people, dimensions)
        Where each person's templates scatter around, without sessions and cameras.
    layout : str
    """

    embeddings: np.ndarray
    labels: np.ndarray
    enrolled: np.ndarray
    meta: dict[str, np.ndarray]
    centres: np.ndarray
    layout: str

    def scores(self, metric: Any = "l2") -> Scores:
        """Compare the embeddings.

        Parameters
        ----------
        metric : str or callable
            As for :meth:`bioeval.Scores.from_embeddings`; the closed forms hold for ``"l2"``.

        Returns
        -------
        Scores
            Distances of each template to all, or of each probe to the gallery.
        """
        rows: Any = slice(None)
        gallery = {}
        if self.layout != "all-against-all":
            enrolled = self.enrolled
            rows = ~enrolled
            gallery = {
                "gallery": self.embeddings[enrolled],
                "gallery_labels": self.labels[enrolled],
                "gallery_meta": {k: column[enrolled] for k, column in self.meta.items()},
            }
        return Scores.from_embeddings(
            self.embeddings[rows],
            self.labels[rows],
            metric=metric,
            kind="distance",
            probe_meta={name: column[rows] for name, column in self.meta.items()},
            name="simulated",
            **gallery,
        )


def draw_design(
    n_subjects: int,
    n_templates: Counts,
    layout: str,
    probes: Counts | None,
    unenrolled: int | float,
    sessions: int | None,
    cameras: int | None,
    first_subject: int,
    random_state: RandomState,
) -> Design:
    """Check the numbers of people and samples, and draw those given as ranges."""
    seed = seed_sequence(random_state)
    subjects = require_integer("n_subjects", n_subjects, low=1)
    require_integer("first_subject", first_subject, low=1, high=2**52)
    require_choice("layout", layout, LAYOUTS)
    for name, value in (("sessions", sessions), ("cameras", cameras)):
        if value is not None:
            require_integer(name, value, low=1, high=2**31)
    unenrolled_people = _unenrolled(unenrolled, subjects)
    # A number of templates, a label, and a place among the rows, at the least.
    require_memory(
        24 * (subjects + unenrolled_people), f"{subjects + unenrolled_people:,} subjects", FEWER
    )
    stream = Stream(seed, _TEMPLATE_COUNTS)
    template_counts = _counts("n_templates", n_templates, subjects, 1, stream)
    if layout == "all-against-all":
        if probes is not None:
            raise DataError(
                f"{Argument('probes')} is {received(probes)}; in layout 'all-against-all' every "
                f"template is a probe. Expected {Argument('layout', LAYOUTS[1])} with it"
            )
        if unenrolled_people:
            raise DataError(
                f"unenrolled is {received(unenrolled)}; in layout 'all-against-all' everyone is "
                "enrolled. Expected 0, or layout='probe-against-gallery'"
            )
        gallery = _samples(template_counts, sessions, cameras, first_subject)
        return Design(subjects, gallery, None, sessions or 1, cameras or 1, seed)
    people = subjects + unenrolled_people
    stream = Stream(seed, _PROBE_COUNTS)
    probe_counts = _counts("probes", 5 if probes is None else probes, people, 0, stream)
    if not probe_counts.any():
        raise DataError(f"{Argument('probes')} is 0 for everyone; expected at least one probe")
    before = np.zeros(people, dtype=np.int64)
    before[:subjects] = template_counts
    return Design(
        people,
        _samples(template_counts, sessions, cameras, first_subject, part="enrolment"),
        _samples(probe_counts, sessions, cameras, first_subject, part="later", before=before),
        sessions or 1,
        cameras or 1,
        seed,
    )


def draw_embeddings(
    design: Design,
    dimensions: int,
    between: float,
    within: Any,
    session_sd: float,
    camera_sd: float,
) -> Population:
    """Draw person, session and camera offsets and noise, and add them up."""
    dimensions = require_integer("dimensions", dimensions, low=1)
    between = require_number("between", between, low=0.0, high=MOST_SD)
    session_sd = require_number("session_sd", session_sd, low=0.0, high=MOST_SD)
    camera_sd = require_number("camera_sd", camera_sd, low=0.0, high=MOST_SD)
    spread = _within(within, design.people)
    people, sessions, cameras = design.people, design.sessions, design.cameras
    samples = len(design.gallery.person) + (len(design.probes.person) if design.probes else 0)
    # Centres and offsets in float64; embeddings in float32, one side after the other, then joined,
    # and in float64 where they are compared.
    values = 8 * people * (1 + sessions) + 16 * samples
    needed = values * dimensions + TEMPLATE_BYTES * samples
    require_memory(needed, f"embeddings of {samples:,} templates", FEWER)
    centres = between * Stream(design.seed, _CENTRES).normals(people, dimensions)
    days = Stream(design.seed, _SESSIONS).normals(people, sessions, dimensions) * session_sd
    views = Stream(design.seed, _CAMERAS).normals(cameras, dimensions) * camera_sd

    def embed(samples: Samples, noise: Stream) -> np.ndarray:
        """Return the embeddings of samples, block by block."""
        out = np.empty((len(samples), dimensions), dtype=np.float32)
        session = samples.meta.get("session", np.ones(len(samples), dtype=np.int64)) - 1
        camera = samples.meta.get("camera", np.ones(len(samples), dtype=np.int64)) - 1
        step = max(1, BLOCK // dimensions)
        for low in range(0, len(samples), step):
            rows = slice(low, low + step)
            who = samples.person[rows]
            block = spread[who, None] * noise.normals(len(who), dimensions)
            # Added one after the other: the order is part of what makes the numbers the same.
            block += centres[who]
            block += days[who, session[rows]]
            block += views[camera[rows]]
            out[rows] = block
        return out

    gallery, probes = design.gallery, design.probes
    embeddings = embed(gallery, Stream(design.seed, _TEMPLATE_NOISE))
    enrolled = np.ones(len(gallery), dtype=bool)
    if probes is None:
        return Population(
            embeddings, gallery.labels, enrolled, dict(gallery.meta), centres, LAYOUTS[0]
        )
    probe_embeddings = embed(probes, Stream(design.seed, _PROBE_NOISE))
    meta = {}
    for name, column in gallery.meta.items():
        meta[name] = np.concatenate([column, probes.meta[name]])
    return Population(
        embeddings=np.concatenate([embeddings, probe_embeddings]),
        labels=np.concatenate([gallery.labels, probes.labels]),
        enrolled=np.append(enrolled, np.zeros(len(probes), dtype=bool)),
        meta=meta,
        centres=centres,
        layout=LAYOUTS[1],
    )


def _samples(
    counts: np.ndarray,
    sessions: int | None,
    cameras: int | None,
    first: int,
    *,
    part: str = "all",
    before: np.ndarray | None = None,
) -> Samples:
    """Lay out samples over sessions (of a part: all, the first, the later) and cameras, in turn.

    `before` is how many samples each person has on the other side already.
    """
    total = int(counts.sum(dtype=np.float64))
    require_memory(TEMPLATE_BYTES * total, f"{total:,} templates", FEWER)
    person = np.repeat(np.arange(len(counts)), counts)
    start = np.cumsum(counts) - counts
    index = np.arange(len(person)) - start[person]
    meta = {}
    low, high = {"all": (1, sessions or 1), "enrolment": (1, 1), "later": (2, sessions or 1)}[part]
    low = min(low, high)
    each = high - low + 1
    if sessions is not None:
        meta["session"] = low + index % each
    if cameras is not None:
        earlier = 0 if before is None else before[person]
        meta["camera"] = 1 + (earlier + index // each) % cameras
    return Samples(person, meta, first)


def _counts(name: str, value: Any, people: int, low: int, stream: Stream) -> np.ndarray:
    """Return the number of samples of each person, from an int, a (low, high) range or a list."""
    expected = (
        f"expected an integer >= {low}, a range (low, high) of them, or a list of {people} counts"
    )
    array = require_array(name, value)
    if array.dtype.kind not in "iu" or array.ndim > 1 or array.size == 0 or (array < low).any():
        raise DataError(f"{name} is {received(value)}; {expected}")
    least = int(array.max()) * (people if array.ndim == 0 else 1)
    require_memory(TEMPLATE_BYTES * least, f"{least:,} templates", FEWER)
    if array.ndim == 0:
        return np.full(people, array, dtype=np.int64)
    if isinstance(value, tuple) and len(value) == 2:
        if value[0] > value[1]:
            raise DataError(f"{name} is {received(value)}, a range that runs backwards; {expected}")
        return stream.integers(int(value[0]), int(value[1]), people)
    if len(array) != people:
        raise DataError(f"{name} has {len(array)} counts; {expected}")
    return array.astype(np.int64)


def _unenrolled(value: Any, subjects: int) -> int:
    """Return the number of subjects without templates in the gallery."""
    if isinstance(value, float | np.floating) and 0.0 < value < 1.0:
        return max(1, round(float(value) * subjects))
    whole = int(value) if isinstance(value, float) and value == 0.0 else value
    try:
        return require_integer("unenrolled", whole, low=0)
    except DataError:
        raise DataError(
            f"{Argument('unenrolled')} is {received(value)}; expected an integer >= 0, or a "
            "fraction of the subjects in (0, 1)"
        ) from None


def _within(value: Any, people: int) -> np.ndarray:
    """Return the spread of each person, checked."""
    try:
        array = require_numbers("within", value)
    except DataError:
        array = np.array(np.nan)
    if array.ndim > 1 or not ((array >= 0.0) & (array <= MOST_SD)).all():
        raise DataError(
            f"{Argument('within')} is {received(value)}; expected numbers in [0, {MOST_SD:g}]"
        )
    if array.ndim == 1 and len(array) != people:
        raise DataError(
            f"{Argument('within')} has {len(array)} values; expected 1, or {people}, one per person"
        )
    return np.broadcast_to(array, (people,))
