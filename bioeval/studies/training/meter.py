"""``be.Meter``: the numbers of a protocol, from embeddings that come batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError
from bioeval.base.kinds import Kind, NanPolicy
from bioeval.base.messages import Message
from bioeval.evaluation import evaluate
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import load
from bioeval.scores.bona_fide import without_attacks
from bioeval.scores.embedding_arrays import as_embeddings
from bioeval.scores.joining import RowOrder
from bioeval.scores.labels import as_labels, as_subjects, concatenated, missing_values
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import as_meta
from bioeval.scores.metrics import FloatType, Metric, kind_of_metric
from bioeval.scores.names import as_names
from bioeval.scores.score_notes import notes_on_scores
from bioeval.showing.messages import warn_of
from bioeval.studies.partitions.repeat import scalars_of
from bioeval.tasks.options import EvaluationOptions

if TYPE_CHECKING:
    import xarray as xr

#: The side of the comparisons that templates are on.
Role = Literal["both", "probe", "gallery"]

#: Two embeddings of one template may differ by rounding errors; if they differ by more than this
#: fraction of their length, they come from different states of a model.
ROUNDING = 0.05


@dataclass(frozen=True, eq=False)
class _Batch:
    """The templates of one batch, copied from the caller's arrays."""

    embeddings: np.ndarray  # (n, f), in the dtype that was given
    labels: np.ndarray
    meta: dict[str, np.ndarray]
    index: np.ndarray | None  # the name of each template, by which repeated templates are found

    @property
    def number_repeated(self) -> int:
        if self.index is not None:
            return 0
        row = np.dtype((np.void, self.embeddings[0].nbytes))
        _, first, distinct = np.unique(
            np.ascontiguousarray(self.embeddings).view(row).reshape(-1),
            return_index=True,
            return_inverse=True,
        )
        original = first[distinct.reshape(-1)]
        has_original = original != np.arange(len(original))
        return int(np.count_nonzero(has_original & (self.labels == self.labels[original])))

    def require_fit(self, batch: _Batch) -> None:
        features = batch.embeddings.shape[1]
        expected = self.embeddings.shape[1]
        if features != expected:
            raise DataError(
                f"embeddings have {features} features, but those of earlier batches have "
                f"{expected}; call reset() before templates of another model"
            )
        if batch.meta.keys() != self.meta.keys():
            new, old = (", ".join(sorted(x.meta)) or "none" for x in (batch, self))
            raise DataError(
                f"the metadata of this batch are {new}, those of earlier batches {old}; give the "
                "same columns with every batch"
            )
        if (batch.index is None) != (self.index is None):
            raise DataError(
                "index is given for some batches only; give it with every batch, or with none"
            )


class Meter:
    """The numbers of a protocol, from embeddings that come batch by batch.

    The numbers are those of :func:`summary` of all templates (:meth:`scores`), to the last bit.
    They are the same in whichever batches the templates come, and with an `index` in whichever
    order.

    Parameters
    ----------
    protocol : str or Protocol
        As for :func:`evaluate`.
    metric : {"cosine", "l2", "l1", "linf", "bhattacharyya"} or callable
        As for :meth:`Scores.from_embeddings`.
    far_targets, frr_targets, auc
        As for :func:`evaluate`.
    kind, dtype, nan, exclude, average, distractor_ids, name
        As for :meth:`Scores.from_embeddings`.

    Raises
    ------
    CardError, DataError
        If there is no such protocol or metric, or an option is wrong.

    Notes
    -----
    - Embeddings are kept in the dtype in which they are given: float16 stays float16.
    - Templates are brought into the order of their `index`. If it is the position in the data set,
      the numbers are those of the data set in its order, to the last bit. Without an index,
      templates stay in the order in which they come.

    Examples
    --------
    >>> import bioeval as be
    >>> people = be.simulate_embeddings(20, 4, random_state=1)
    >>> meter = be.Meter(metric="l2")
    >>> for low in range(0, 80, 32):
    ...     batch = slice(low, low + 32)
    ...     meter.update(people.embeddings[batch], people.labels[batch], index=range(80)[batch])
    >>> numbers = meter.compute()
    >>> numbers["verification/single/genuine_attempts"]
    240
    >>> numbers["closed_set/recognition_rate"] == be.summary(people.scores("l2"))["closed_set"][
    ...     "recognition_rate"
    ... ]
    True
    """

    def __init__(
        self,
        protocol: str | Protocol = "auto",
        metric: Metric = "cosine",
        *,
        far_targets: Sequence[float] | None = None,
        frr_targets: Sequence[float] | None = None,
        auc: bool = True,
        kind: Kind | None = None,
        dtype: FloatType = "float64",
        nan: NanPolicy = "raise",
        exclude: Sequence[str] = (),
        average: Sequence[str] = (),
        distractor_ids: Sequence[int | str] | None = None,
        name: str | None = None,
    ):
        """Check the options."""
        if not isinstance(protocol, str) or protocol != "auto":
            protocol = load(protocol)
        kind_of_metric(metric, kind)
        require_choice("dtype", dtype, get_args(FloatType))
        require_choice("nan", nan, get_args(NanPolicy))
        EvaluationOptions.parse(far_targets=far_targets, frr_targets=frr_targets, auc=auc)
        self._protocol = protocol
        self._metric = metric
        self._evaluation: dict[str, Any] = {
            "far_targets": far_targets, "frr_targets": frr_targets, "auc": auc
        }  # fmt: skip
        self._comparison: dict[str, Any] = {
            "kind": kind, "dtype": dtype, "nan": nan,
            "exclude": exclude, "average": average, "distractor_ids": distractor_ids, "name": name,
        }  # fmt: skip
        self._batches: dict[str, list[_Batch]] = {}

    def __repr__(self) -> str:
        numbers = {role: sum(len(x.labels) for x in of) for role, of in self._batches.items()}
        protocol = self._protocol if isinstance(self._protocol, str) else self._protocol.name
        return f"Meter(protocol={protocol!r}, given={numbers})"

    def update(
        self, embeddings: Any, labels: Any, *, role: Role = "both", index: Any = None, **meta: Any
    ) -> None:
        """Take a batch of templates.

        Parameters
        ----------
        embeddings : array_like, shape (n, f)
            One embedding a row. They are copied. A batch without rows is none.
        labels : sequence, shape (n,)
            The subject of each template.
        role : {"both", "probe", "gallery"}
            ``"both"``: all templates are compared with each other. Where the protocol has probes
            and a gallery, the batches of each are given with their role.
        index : sequence, shape (n,), optional
            The name of each template in its role, such as its position in the data set. A template
            that comes again counts once: several processes may pad the data set to batches of one
            size.
        **meta : sequence, shape (n,)
            Metadata columns, such as ``camera=...``.

        Raises
        ------
        DataError
            If lengths, features, columns or roles do not fit each other or earlier batches; then
            the batch is not taken.
        """
        require_choice("role", role, get_args(Role))
        if np.shape(embeddings)[:1] == (0,):
            return
        values = np.array(as_embeddings(embeddings, "embeddings"), order="C")
        number = len(values)
        order = RowOrder(embeddings, templates="the embeddings")
        labels = order.bring(labels, "`labels`")
        index = order.bring(index, "`index`")
        meta = order.bring_each(meta, "meta")
        columns = {name: x.copy() for name, x in as_meta(meta, number, "meta").items()}
        names = None if index is None else _of_length(as_labels(index, "index"), "index", number)
        subjects = _of_length(as_subjects(labels, "labels"), "labels", number)
        batch = _Batch(values, subjects, columns, names)
        roles = {*self._batches, role}
        if "both" in roles and len(roles) > 1:
            raise DataError(
                "some templates have a role and some have none; give all with role='probe' or "
                "role='gallery', or all without"
            )
        batches = self._batches.get(role, [])
        if batches:
            batches[0].require_fit(batch)
        self._batches[role] = [*batches, batch]

    def scores(self) -> Scores:
        """Return the comparisons of all templates, in their order.

        Raises
        ------
        DataError
            If there are no templates, or none of one side; if a name of the index is of different
            templates.
        """
        if not self._batches:
            raise DataError("there are no templates yet; call update() with the batches")
        sides = ["both"] if "both" in self._batches else ["probe", "gallery"]
        for role in sides:
            if role not in self._batches:
                raise DataError(
                    f"there are no templates of the role {role!r}; call update() with them, or "
                    "without a role to compare all templates with each other"
                )
        probes, *gallery = (_joined(self._batches[role]) for role in sides)
        options = {"metric": self._metric, "probe_meta": probes.meta, **self._comparison}
        gallery_arguments: tuple[np.ndarray, ...] = ()
        if gallery:
            options["gallery_meta"] = gallery[0].meta
            gallery_arguments = gallery[0].embeddings, gallery[0].labels
        scores = Scores.from_embeddings(
            probes.embeddings, probes.labels, *gallery_arguments, **options
        )
        repeated = sum(batch.number_repeated for batch in (probes, *gallery))
        if not repeated:
            return scores
        return scores.with_remarks(Message("templates-again", templates=repeated))

    def compute(self) -> dict[str, float | int]:
        """Return the numbers of all templates so far.

        Returns
        -------
        dict of str to float or int
            The numbers of :func:`summary` by flat names, as loggers take them:
            ``"verification/single/eer"``, ``"verification/single/frr_at_far_0.01"``,
            ``"closed_set/cms_rank_5"``, ``"reid/mean_ap"``.

        Raises
        ------
        DataError, ProtocolError
            As for :func:`summary` and :meth:`scores`.
        """
        options = EvaluationOptions.parse(**self._evaluation)
        flat: dict[str, float | int] = {}
        scores = without_attacks(self.scores())
        numbers = scalars_of(scores, self._protocol, options)
        warn_of(notes_on_scores(scores))
        for task, scalars in numbers.items():
            for name, value in scalars.items():
                if not isinstance(value, Mapping):
                    flat[f"{task}/{name}"] = value
                    continue
                for label, number in value.items():
                    word = f"rank_{label}" if isinstance(label, int) else str(label)
                    flat[f"{task}/{name}_{word}"] = number
        return flat

    def result(self, **options: Any) -> xr.DataTree:
        """Return the results of all templates so far, as :func:`evaluate` does.

        Parameters
        ----------
        **options
            Further options of :func:`evaluate`, such as ``interval="people"``.

        Returns
        -------
        xarray.DataTree
        """
        return evaluate(self.scores(), self._protocol, **(self._evaluation | options))

    def reset(self) -> None:
        """Forget all templates, before the templates of another epoch."""
        self._batches = {}


def _joined(batches: Sequence[_Batch]) -> _Batch:
    """Return all templates; with an index, each template once, in the order of the index."""
    embeddings = np.concatenate([batch.embeddings for batch in batches])
    labels = concatenated([batch.labels for batch in batches])
    meta = {x: concatenated([batch.meta[x] for batch in batches]) for x in batches[0].meta}
    if batches[0].index is None:
        return _Batch(embeddings, labels, meta, None)
    names = [batch.index for batch in batches if batch.index is not None]
    index, first_of_name, name = np.unique(
        _integers_or_texts(as_names(concatenated(names))), return_index=True, return_inverse=True
    )
    name = name.reshape(-1)
    _require_same_templates(embeddings, [labels, *meta.values()], index[name], first_of_name[name])
    meta = {name: column[first_of_name] for name, column in meta.items()}
    return _Batch(embeddings[first_of_name], labels[first_of_name], meta, index)


def _require_same_templates(
    embeddings: np.ndarray, columns: Sequence[np.ndarray], names: np.ndarray, original: np.ndarray
) -> None:
    """Refuse a repeated template with other labels, metadata or embedding than its original.

    `names` has the name of each template, and `original` the index of the first of this name.
    """
    for column in columns:
        are_missing = missing_values(column) & missing_values(column[original])
        differs = (column != column[original]) & ~are_missing
        if differs.any():
            raise DataError(
                f"template {names[np.argmax(differs)].item()!r} of the index was given "
                "twice, with different labels or metadata; expected one name for each template"
            )
    repeated = np.flatnonzero(original != np.arange(len(original)))
    vectors, original_vectors = (
        embeddings[x].astype(np.float64) for x in (repeated, original[repeated])
    )
    distance = np.linalg.norm(vectors - original_vectors, axis=1)
    if (differs := distance > ROUNDING * np.linalg.norm(original_vectors, axis=1)).any():
        raise DataError(
            f"template {names[repeated[np.argmax(differs)]].item()!r} of the index was given "
            "twice, with different embeddings; call reset() before templates of another model"
        )


def _integers_or_texts(names: Any) -> np.ndarray:
    return np.array(names.tolist() if names.inferred_type == "integer" else [*map(str, names)])


def _of_length(column: np.ndarray, name: str, number: int) -> np.ndarray:
    if len(column) != number:
        raise DataError(
            f"{name} has {len(column)} values, but there are {number} embeddings; expected one for "
            "each"
        )
    return column.copy()
