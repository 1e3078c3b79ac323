"""Pairs of templates, as of IJB: cells of a matrix of scores, or distances between features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.embeddings import EmbeddingSource, as_embeddings, describe_metric
from bioeval.scores.formats.media_lists import MediaList, read_media, read_template_pairs
from bioeval.scores.formats.options import ReadOptions, say
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairScores
from bioeval.scores.template_averages import average_embeddings


def pairs_of_matrix(path: Path, values: np.ndarray, options: ReadOptions) -> PairScores:
    """Return listed pairs of templates, whose rows and columns are as `labels` first names them."""
    listed = read_media(options.labels or Path())
    count = len(listed.templates)
    if values.shape != (count, count):
        features = f"; features need {say('metric')}" if values.shape[0] != values.shape[1] else ""
        raise DataError(
            f"{path}: has shape {values.shape}, and {options.labels} names {count:,} "
            "templates; expected a row and a column for each, in the order in which they are first "
            f"named{features}"
        )
    pairs = read_template_pairs(listed, options)
    who = listed.subjects()
    kind, notes = options.kind_of()
    how: dict[str, Any] = {"kind": kind, "nan": options.nan or "raise"}
    if who is None:
        _refuse_itself(pairs.a, pairs.b, options)
        values = values[pairs.a, pairs.b]
        found = Scores.from_pairs(values, pairs.genuine, name=path.stem, **how)
    else:
        scores = Scores(values, np.array(who), name=path.stem, **how)
        found = scores.at_pairs(pairs.a, pairs.b, pairs.genuine)
    found.reading = notes
    return found


def pairs_of_features(path: Path, values: np.ndarray, options: ReadOptions) -> PairScores:
    """Return the distances of listed pairs of templates, of features of images or of templates.

    With `average`, each row is an image of `labels`, in its order; without it, each row is a
    template, in the order in which they are first named.
    """
    if options.labels is None:
        raise DataError(
            f"{path}: the templates of its {len(values):,} rows are missing; give the list of "
            f"images with their templates and media as {say('labels')}"
        )
    features = as_embeddings(values, str(path))
    listed = read_media(options.labels)
    names = options.average or ()
    _expect_rows(path, len(features), listed, names)
    pairs = read_template_pairs(listed, options)
    _refuse_itself(pairs.a, pairs.b, options)
    if names:
        if names[0] != "template":
            raise DataError(
                f"{say('average', names[0])}: the pairs are of templates; expected 'template' "
                "first, as in template,media"
            )
        features, _ = average_embeddings(features, listed.columns, names, "template")
    metric = options.metric or "cosine"
    who = listed.subjects()
    subjects = None
    if who is not None:
        owner = np.array(who, dtype=object)
        subjects = np.column_stack([owner[pairs.a], owner[pairs.b]])
    genuine = pairs.genuine
    if genuine is None and subjects is not None:
        genuine = subjects[:, 0] == subjects[:, 1]
    found = Scores.from_pairs(
        EmbeddingSource(features, features, metric).pairs(pairs.a, pairs.b),
        genuine,
        nan=options.nan or "raise",
        subjects=subjects,
        name=path.stem,
    )
    found.pair_ids = np.column_stack([pairs.a, pairs.b])
    found.origin = describe_metric(metric, features)
    if names:
        found.origin += f", means by {' and '.join(names)} of {len(values)} embeddings"
    return found


def _expect_rows(path: Path, count: int, listed: MediaList, names: tuple[str, ...]) -> None:
    """Raise unless there is a row for each image or, with no average, for each template."""
    images, templates = len(listed.columns["template"]), len(listed.templates)
    if count == (images if names else templates):
        return
    advice = ""
    if names and count == templates:
        advice = f"; its rows are templates, so leave out {say('average')}"
    elif not names and count == images:
        every = ",".join(name for name in ("template", "media") if name in listed.columns)
        advice = f"; its rows are images, so say {say('average', every)}"
    raise DataError(
        f"{path}: has {count:,} rows, and {listed.path} names {images:,} images of {templates:,} "
        f"templates; expected a row for each {'image' if names else 'template'}{advice}"
    )


def _refuse_itself(a: np.ndarray, b: np.ndarray, options: ReadOptions) -> None:
    same = a == b
    if same.any():
        raise DataError(
            f"{options.trials}: {int(same.sum())} pairs compare a template with itself, the first "
            f"is pair {int(np.argmax(same)) + 1}"
        )
