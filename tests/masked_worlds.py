"""Random matrices with ties, failures, exclusions and unequal people; splitters of them."""

from typing import Any

import numpy as np

import bioeval as be

STEPS = ("floats", "float32", "float16", "halves", "integers")


def random_scores(rng: np.random.Generator) -> be.Scores:
    """Scores of a random world of either layout."""
    max_templates = int(rng.choice([1, 2, 4, 7]))
    subjects = int(rng.integers(3, 16))
    square = rng.random() < 0.6
    labels = _labels(rng, subjects, max_templates)
    columns = labels if square else _labels(rng, subjects, max_templates)
    shape = len(labels), len(columns)
    values = rng.normal(size=shape)
    values += rng.choice([0.5, 2.0, 4.0]) * ~np.equal.outer(labels, columns)
    steps = str(rng.choice(STEPS))
    values = _in_steps(values, steps)
    symmetric = square and rng.random() < 0.6
    if symmetric:
        values = _mirrored(values)
    kind = str(rng.choice(["distance", "similarity"]))
    if kind == "similarity":
        values = -values
    nan = str(rng.choice(["raise", "exclude", "reject"]))
    if nan != "raise":
        values = _with_gaps(values, rng, symmetric=symmetric, infinite=steps == "floats")
    meta: dict[str, Any] = {}
    if rng.random() < 0.3:
        meta["exclude"] = rng.choice(["session", "all:session"])
        meta["probe_meta"] = {"session": rng.integers(0, 3, shape[0])}
        if not square:
            meta["gallery_meta"] = {"session": rng.integers(0, 3, shape[1])}
    elif rng.random() < 0.2:
        mask = rng.random(shape) < 0.9
        meta["mask"] = mask & mask.T if symmetric else mask
    if rng.random() < 0.15:
        meta["distractor_ids"] = (int(labels[0]),)
    sides = (labels,) if square else (labels, columns)
    return be.Scores(values, *sides, kind=kind, nan=nan, **meta)


def _in_steps(values: np.ndarray, steps: str) -> np.ndarray:
    if steps == "halves":
        return np.round(2 * values) / 2
    if steps == "integers":
        return np.round(2 * values).astype(np.int16)
    return values.astype({"floats": np.float64}.get(steps, steps))


def _labels(rng: np.random.Generator, subjects: int, most: int) -> np.ndarray:
    """The subjects of templates, unequal numbers of each, in any order."""
    subjects_in_use = rng.permutation(subjects)[: max(3, int(subjects * rng.choice([0.7, 1.0])))]
    labels = np.repeat(subjects_in_use, rng.integers(1, most + 1, len(subjects_in_use)))
    return rng.permutation(labels) if rng.random() < 0.5 else labels


def _mirrored(values: np.ndarray) -> np.ndarray:
    return np.where(np.tri(len(values), dtype=bool), values, values.T)


def _with_gaps(
    values: np.ndarray, rng: np.random.Generator, *, symmetric: bool, infinite: bool
) -> np.ndarray:
    """Values with NaN, and perhaps some infinite values."""
    values = values.astype(np.result_type(values, np.float16))
    gaps = rng.random(values.shape) < rng.choice([0.02, 0.15, 0.5])
    if infinite and rng.random() < 0.3:
        values[rng.random(values.shape) < 0.05] = rng.choice([-np.inf, np.inf])
        if symmetric:
            values = _mirrored(values)
    values[gaps | gaps.T if symmetric else gaps] = np.nan
    return values


def random_splitter(rng: np.random.Generator, layout: str) -> Any:
    """A splitter with a few parts."""
    seed = int(rng.integers(1 << 30))
    splitters = [
        be.partition.SubjectShuffleSplit(12, test_size=0.5, random_state=seed),
        be.partition.SubjectKFold(3, n_repeats=4, shuffle=True, random_state=seed),
        be.partition.SampleShuffleSplit(12, test_size=0.6, random_state=seed),
    ]
    if layout == "all-against-all":
        too_few = {"too_few": str(rng.choice(["enrol", "probe", "drop"]))}
        drawn = {"n_repeats": 6, "random_state": seed, **too_few}
        splitters += [
            be.partition.ProbeGallerySplit(1, **drawn),
            be.partition.ProbeGallerySplit(2, **drawn),
            be.partition.ProbeGallerySplit(0.5, **drawn),
            be.partition.EnrolledSplit(
                be.partition.ProbeGallerySplit(1, **too_few),
                unenrolled=0.3,
                n_repeats=6,
                random_state=seed,
            ),
            be.partition.Experiment(
                train=0.4,
                gallery_templates=1,
                unenrolled=0.3,
                repeats=6,
                random_state=seed,
                **too_few,
            ),
        ]
    return splitters[rng.integers(len(splitters))]


def random_places(
    rng: np.random.Generator, scores: be.Scores, parts: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows and columns of parts: of some people, of some templates, of one set or of two."""
    places = []
    people = np.unique([*scores.probe_labels, *scores.gallery_labels])
    for _ in range(parts):
        chosen = people[rng.random(len(people)) < 0.6]
        sides = [np.isin(x, chosen) for x in (scores.probe_labels, scores.gallery_labels)]
        way = rng.integers(3)
        if way == 1:
            sides = [rng.random(n) < 0.5 for n in scores.shape]
        if way == 2 and scores.shape[0] == scores.shape[1]:
            sides[1] = sides[0] = rng.random(len(sides[0])) < 0.6
        if sides[0].any() and sides[1].any():
            places.append(tuple(map(np.flatnonzero, sides)))
    return places


def random_folds(rng: np.random.Generator, layout: str) -> Any:
    """A splitter into training and test."""
    seed = int(rng.integers(1 << 30))
    plans = [
        be.partition.SubjectKFold(3, n_repeats=3, shuffle=True, random_state=seed),
        be.partition.SubjectShuffleSplit(6, test_size=0.5, random_state=seed),
        be.partition.SampleKFold(3, stratify="subject", shuffle=True, random_state=seed),
        be.partition.TrainValidationTest(0.4, 0.3, random_state=seed),
    ]
    if layout == "all-against-all":
        plans.append(
            be.partition.Experiment(
                train=0.4, gallery_templates=1, unenrolled=0.3, repeats=6, random_state=seed
            )
        )
    return plans[rng.integers(len(plans))]
