"""Numbers of a protocol from embeddings that come batch by batch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bioeval.base.arguments import require_path, require_text
from bioeval.base.errors import DataError, ProtocolError, received, require_choice
from bioeval.base.kinds import Kind
from bioeval.evaluation import evaluate
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import load
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.embeddings import FloatType, Metric, kind_of_metric
from bioeval.scores.labelled_matrix import NanPolicy
from bioeval.scores.matrix import Scores
from bioeval.studies.training.names import flat_numbers
from bioeval.studies.training.templates import Batch, Templates
from bioeval.tasks.plan import EvaluationOptions, Plan, resolve_card

if TYPE_CHECKING:
    import xarray as xr

#: On which side of the comparisons templates are.
Role = Literal["both", "probe", "gallery"]


class Meter:
    """The numbers of a protocol, from embeddings that come batch by batch.

    The numbers are those of :func:`summary` of all templates (:meth:`scores`), to the last bit.
    They are the same in whichever batches, and in whichever order, the templates come.

    Parameters
    ----------
    protocol : str or Protocol
        As for :func:`evaluate`.
    metric : {"cosine", "l2", "l1", "linf", "bhattacharyya"} or callable
        As for :meth:`Scores.from_embeddings`.
    far_targets, frr_targets, auc
        As for :func:`evaluate`.
    kind, metric_name, dtype, nan, exclude, average, distractor_ids, name
        As for :meth:`Scores.from_embeddings`.
    spill : path, optional
        A folder in which the embeddings wait until :meth:`compute` reads them, in files that are
        deleted with the meter. By default they wait in memory.

    Raises
    ------
    CardError, DataError
        If there is no such protocol or metric, or an option is wrong.

    Notes
    -----
    The memory is that of the embeddings in the dtype in which they are given: float16 stays
    float16. They are brought into the order of their `index`; without one, into an order of labels
    and values. So if the index is the position in the data set, the numbers are those of the data
    set in its order. Without an index, d' and thresholds may differ from these in their last digit,
    since sums and products of floats depend on the order. Conventions with ``ties="stable"`` count
    equal distances in the order of the gallery, and need an index to count them in the order of the
    data set.

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
        metric_name: str | None = None,
        dtype: FloatType = "float64",
        nan: NanPolicy = "raise",
        exclude: Sequence[str] = (),
        average: Sequence[str] = (),
        distractor_ids: Sequence[int] = (),
        name: str | None = None,
        spill: str | os.PathLike[str] | None = None,
    ):
        """Check the options; there are no templates yet."""
        if not isinstance(protocol, str) or protocol != "auto":
            protocol = load(protocol)
        kind_of_metric(metric, kind)
        if metric_name is not None:
            require_text("metric_name", metric_name)
        require_choice("dtype", dtype, get_args(FloatType))
        require_choice("nan", nan, get_args(NanPolicy))
        EvaluationOptions.parse(far_targets=far_targets, frr_targets=frr_targets, auc=auc)
        self._protocol = protocol
        self._metric = metric
        self._evaluation: dict[str, Any] = {
            "far_targets": far_targets, "frr_targets": frr_targets, "auc": auc
        }  # fmt: skip
        self._comparison: dict[str, Any] = {
            "kind": kind, "metric_name": metric_name, "dtype": dtype, "nan": nan,
            "exclude": exclude, "average": average, "distractor_ids": distractor_ids, "name": name,
        }  # fmt: skip
        self._spill = None
        if spill is not None:
            self._spill = require_path("spill", spill)
            self._spill.mkdir(parents=True, exist_ok=True)
        self._templates: dict[str, Templates] = {}

    def __repr__(self) -> str:
        numbers = {role: len(templates) for role, templates in self._templates.items()}
        protocol = self._protocol if isinstance(self._protocol, str) else self._protocol.name
        return f"Meter(protocol={protocol!r}, metric={self._metric_in_words!r}, given={numbers})"

    def update(
        self,
        embeddings: Any,
        labels: Any,
        *,
        role: Role = "both",
        index: Any = None,
        **meta: Any,
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
        self._take({role: Batch.checked(embeddings, labels, index, meta)})

    def scores(self) -> Scores:
        """Return the comparisons of all templates, in their order.

        Raises
        ------
        DataError
            If there are no templates, or none of one side; if a name of the index is of different
            templates.
        """
        if not self._templates:
            raise DataError("there are no templates yet; call update() with the batches")
        if "both" in self._templates:
            every = self._templates["both"].joined()
            return Scores.from_embeddings(
                every.embeddings,
                every.labels,
                metric=self._metric,
                probe_meta=every.meta,
                **self._comparison,
            )
        for role in ("probe", "gallery"):
            if role not in self._templates:
                raise DataError(
                    f"there are no templates of the role {role!r}; call update() with them, or "
                    "without a role to compare all templates with each other"
                )
        probes = self._templates["probe"].joined()
        gallery = self._templates["gallery"].joined()
        return Scores.from_embeddings(
            probes.embeddings,
            probes.labels,
            gallery.embeddings,
            gallery.labels,
            metric=self._metric,
            probe_meta=probes.meta,
            gallery_meta=gallery.meta,
            **self._comparison,
        )

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
        return flat_numbers(_numbers_of_tasks(self.scores(), self._protocol, options))

    def result(self, **options: Any) -> xr.DataTree:
        """Return the results of all templates so far, as :func:`evaluate` does.

        Parameters
        ----------
        **options
            Further options of :func:`evaluate`, such as ``interval="subject-bootstrap"``.

        Returns
        -------
        xarray.DataTree
        """
        return evaluate(self.scores(), self._protocol, **(self._evaluation | options))

    def reset(self) -> None:
        """Forget all templates, before those of another epoch."""
        self._templates = {}

    def merge(self, other: Meter | Mapping[str, Any]) -> None:
        """Take the templates of another meter as well; it stays as it is.

        Parameters
        ----------
        other : Meter or dict
            A meter, or its :meth:`state_dict` from another process. A template of the same `index`
            in both counts once; without an index, each counts.

        Raises
        ------
        DataError
            If the templates do not fit each other.
        DataError
            If the metrics differ, or `other` is no meter.
        """
        if other is self:
            raise DataError("a meter cannot be merged with itself")
        self._take(self._batches_of(other))

    def state_dict(self) -> dict[str, Any]:
        """Return all templates as NumPy arrays, and the metric by name.

        Returns
        -------
        dict
            ``"metric"``, and ``"templates"`` by role: ``"embeddings"``, ``"labels"``, ``"index"``
            (None without one) and ``"meta"``, in their order.
        """
        state: dict[str, Any] = {"metric": self._metric_in_words, "templates": {}}
        for role, templates in self._templates.items():
            every = templates.joined()
            state["templates"][role] = {
                "embeddings": np.array(every.embeddings),
                "labels": every.labels.copy(),
                "index": None if every.index is None else every.index.copy(),
                "meta": {name: column.copy() for name, column in every.meta.items()},
            }
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take the templates of a :meth:`state_dict` in place of those that are here.

        Raises
        ------
        DataError
            If the state is none of a meter.
        DataError
            If it is of another metric.
        """
        batches = self._batches_of(state)
        self.reset()
        self._take(batches)

    @property
    def _metric_in_words(self) -> str:
        """The name of the metric; empty for a function without a name."""
        if callable(self._metric):
            return self._comparison["metric_name"] or ""
        return self._metric

    def _batches_of(self, other: Any) -> dict[str, Batch]:
        """Return the templates of a meter or of a state as a batch of each role."""
        state = other.state_dict() if isinstance(other, Meter) else other
        if not isinstance(state, Mapping):
            raise DataError(f"a Meter cannot be merged with {received(other)}")
        batches = {}
        try:
            metric, templates = state["metric"], state["templates"]
            for role, part in templates.items():
                require_choice("role", role, get_args(Role))
                batches[role] = Batch.checked(
                    part["embeddings"], part["labels"], part["index"], part["meta"]
                )
        except (KeyError, AttributeError, TypeError) as error:
            raise DataError(f"this is no state of a Meter: {error!r}") from None
        if metric != self._metric_in_words:
            raise DataError(
                f"these templates were to be compared by the metric {metric!r}, those here by "
                f"{self._metric_in_words!r}"
            )
        return batches

    def _take(self, batches: Mapping[str, Batch]) -> None:
        """Take a batch of each role, or none if one does not fit."""
        roles = {*self._templates, *batches}
        if "both" in roles and len(roles) > 1:
            raise DataError(
                "some templates have a role and some have none; give all with role='probe' or "
                "role='gallery', or all without"
            )
        for role, batch in batches.items():
            if role in self._templates:
                self._templates[role].require_fit(batch)
        for role, batch in batches.items():
            if role not in self._templates:
                self._templates[role] = Templates(self._spill)
            self._templates[role].add(batch)


@leaves_out_attacks
def _numbers_of_tasks(
    scores: Scores, protocol: str | Protocol, options: EvaluationOptions
) -> dict[str, dict[str, Any]]:
    """Return the numbers of every task of a protocol, those of :func:`summary`."""
    card = resolve_card(scores, protocol)
    if card.has_folds:
        raise ProtocolError(
            f"protocol {card.name} has folds, and each fold has rates of its own: use result()"
        )
    _, counted = Plan.counted(scores, card, options, automatic=protocol == "auto")
    return {node: part.scalars(node).plain(card.report.ranks) for node, part in counted.items()}
