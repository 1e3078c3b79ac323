"""Requirements of tasks and studies on scores: a matrix, subjects, templates to rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.scores.score_data import ScoreData


def require_scores(scores: Any, input_name: str = "scores") -> None:
    """Raise :class:`DataError` unless `scores` are :class:`bioeval.Scores`."""
    if not isinstance(scores, ScoreData):
        raise DataError(
            f"{input_name} is {type(scores).__name__}; expected bioeval.Scores(values, labels, "
            "gallery_labels), with the kind of the values"
        )


def require_all_scores(scores: Any) -> None:
    """Raise unless `scores` are :class:`bioeval.Scores` of the whole gallery: no top-K lists."""
    require_scores(scores)
    if scores.layout == "top-k":
        scores.lists.refuse_matrix()


def require_subjects(scores: ScoreData, input_name: str) -> None:
    """Raise :class:`ProtocolError` unless scores are a matrix of subjects, as a task needs."""
    if scores.layout == "pairs":
        raise ProtocolError(
            f"{input_name} needs a matrix of scores with labels; these are fixed pairs, for "
            "verification alone. A list that names both templates of a pair, in columns such as "
            'template_a and template_b, is read as a matrix with `lists={"as": "matrix"}`'
        )
    if not scores._labelled:
        raise ProtocolError(
            f"{input_name} needs the subjects of probes and gallery; a mask does not give the "
            "subjects of the templates. Give labels"
        )
    require_all_scores(scores)


def require_templates(scores: ScoreData, task: str) -> None:
    """Raise :class:`ProtocolError` of claim scores, which have no templates to rank."""
    if scores.claims:
        raise ProtocolError(
            f"{task} ranks the templates of a gallery, and these are claim scores, which are for "
            "verification; give the scores that the claims were made of"
        )


def require_kept(scores: ScoreData, column: Any, argument: str, *sides: Mapping[str, Any]) -> None:
    """Raise where an argument names a column that was left out of the metadata of both sides."""
    if not isinstance(column, str) or all(column in meta for meta in sides):
        return
    if column in scores._columns_left_out:
        raise DataError(
            f"`{argument}` is {received(column)}, and this column "
            f"{scores._columns_left_out[column]}; give each template one value"
        )
