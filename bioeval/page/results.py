"""The results of a page by system and task, and whether they belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import xarray as xr

from bioeval.base.errors import DataError, printable
from bioeval.results.variables import TASKS as VARIABLES_OF_TASKS
from bioeval.scores.provenance import exclusions_of
from bioeval.showing.cells import Label
from bioeval.showing.nodes import Node, nodes_of, value_of
from bioeval.showing.printing import Shown
from bioeval.showing.text import Text, say

#: The name of the system of results that name no system.
_UNNAMED = "results"

#: The type of results that are of several systems.
COMPARISON = "comparison"

#: Name of the attribute that says how a system's data differ from the other systems' data.
NOT_SHARED = "not_shared"

#: Dimensions of parts, and of statistics over parts, with the titles of their sections.
SUMMARIES = {"statistic": "Statistics", "fold": "Folds", "partition": "Partitions"}


class Document(NamedTuple):
    """A check of data, or an explained row, with the name of its system and a name of its own."""

    system: str
    name: str
    result: Any


class _Fingerprint(NamedTuple):
    """The fingerprint of the scores behind a result of a system."""

    title: str  # title of the result
    system: str
    fingerprint: str
    attrs: Mapping[Any, Any]  # attributes of the result; empty of a document or comparison


@dataclass(frozen=True)
class PageResults:
    """The datasets and the documents of a page; each system has results of the same scores only."""

    nodes: list[Node]
    documents: list[Document]

    @classmethod
    def collected(cls, results: Any) -> PageResults:
        """Return results as nodes and documents.

        Results that name no system belong to the only system that other results name, if any.
        """
        nodes: list[Node] = []
        documents: list[Document] = []
        try:
            for name, result in _named_results(results, ""):
                if isinstance(result, Shown):
                    documents.append(Document(printable(name), printable(name), result))
                else:
                    nodes += nodes_of({name: result})
        except RecursionError:
            text = "`results` contains itself; expected results, or lists of them"
            raise DataError(text) from None
        nodes = list(map(_with_system_name, nodes))
        named = {x.system for x in nodes if x.result_type != COMPARISON} - {_UNNAMED}
        if len(named) == 1:
            only = next(iter(named))
            nodes = [x._replace(system=only) if x.system == _UNNAMED else x for x in nodes]
        systems = _systems(nodes)
        page_results = cls(nodes, [_with_system(x, systems) for x in documents])
        if not nodes and not documents:
            raise DataError(
                "the results hold no dataset; expected the result of a function of bioeval"
            )
        _refuse_same_names(nodes)
        _refuse_other_data(page_results)
        return page_results

    @property
    def systems(self) -> list[str]:
        """The systems in their order; comparisons count only if there is nothing else."""
        return _systems(self.nodes, self.documents)

    @property
    def evaluated(self) -> list[Node]:
        """The tasks of evaluations."""
        return list(filter(is_evaluation, self.nodes))


def _systems(nodes: Sequence[Node], documents: Sequence[Document] = ()) -> list[str]:
    names = [x.system for x in nodes if x.result_type != COMPARISON]
    names += [x.system for x in documents]
    return list(dict.fromkeys(names or [x.system for x in nodes]))


def is_evaluation(node: Node) -> bool:
    """Whether a dataset is of a task of an evaluation, and neither of a study nor over parts."""
    is_over_parts = not SUMMARIES.keys().isdisjoint(node.dataset.dims)
    return not is_over_parts and node.task.partition("/")[0] in VARIABLES_OF_TASKS


def accepts_larger(dataset: xr.Dataset) -> bool:
    """Whether scores are accepted at or above the threshold."""
    return dataset.attrs.get("kind", "distance") == "similarity"


def doubts_of_systems(nodes: list[Node]) -> list[Text]:
    """Return a sentence on each system whose attempts differ from the first system's."""
    doubts: dict[str, Text] = {}
    first: dict[str, tuple[str, Text]] = {}
    for node in filter(is_evaluation, nodes):
        genuine = value_of(node.dataset, "genuine_attempts")
        impostor = value_of(node.dataset, "impostor_attempts")
        if genuine is None or impostor is None:
            continue
        counts = say(
            "{genuine:count} genuine and {impostor:count}", genuine=genuine, impostor=impostor
        )
        system, counts_of_first = first.setdefault(node.task, (node.system, counts))
        text: Text = str(node.dataset.attrs.get(NOT_SHARED, ""))
        if not text and counts != counts_of_first:
            text = say(
                "{a} and {b} have different attempts: {a} {of_a} impostor, {b} {of_b}",
                a=Label(system),
                b=Label(node.system),
                of_a=counts_of_first,
                of_b=counts,
            )
        if text:
            template = "{text}. Rates are of different data; bioeval compare uses the common data"
            doubts.setdefault(node.system, say(template, text=text))
    return list(doubts.values())


def _named_results(results: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(results, xr.Dataset | xr.DataTree | Shown):
        yield name, results
    elif isinstance(results, list | tuple):
        for result in results:
            yield from _named_results(result, name)
    elif isinstance(results, Mapping):
        for key, result in results.items():
            yield from _named_results(result, str(key))
    else:
        raise DataError(
            f"a report got {type(results).__name__}; expected a Dataset or a DataTree of "
            "results, a check of data, a row of be.explain, or a mapping of name to these"
        )


def _with_system_name(node: Node) -> Node:
    system = node.system or str(node.dataset.attrs.get("system", "")) or _UNNAMED
    return node._replace(system=printable(system))


def _with_system(document: Document, systems: Sequence[str]) -> Document:
    """Return a document with its system.

    The system is the first of these that there is: the system under whose name the document was
    given, if it is one of the `systems`; the system that the document states; the only system of
    the page; and the name of the document.
    """
    if document.system in systems:
        return document._replace(name="")
    only = systems[0] if len(systems) == 1 else ""
    system = str(getattr(document.result, "system", "")) or only or document.name or _UNNAMED
    return document._replace(system=printable(system))


def _refuse_same_names(nodes: list[Node]) -> None:
    names = set()
    for node in nodes:
        name = node.system, node.task, "fold" in node.dataset.dims
        if name in names:
            raise DataError(
                f"two results are called {node.task!r} of {node.system!r}; name the systems in a "
                "mapping of name to result, or with --name"
            )
        names.add(name)


def _refuse_other_data(results: PageResults) -> None:
    """Raise :class:`DataError` unless all results of a system are of the same scores.

    Results without a fingerprint are not checked.
    """
    first_of_system: dict[str, _Fingerprint] = {}
    for other in _fingerprints(results):
        first = first_of_system.setdefault(other.system, other)
        # Documents and comparisons state no exclusions: only their fingerprints are compared.
        has_same_exclusions = "exclude" not in other.attrs or (
            {*exclusions_of(other.attrs)} == {*exclusions_of(first.attrs)}
        )
        if not has_same_exclusions or other.fingerprint != first.fingerprint:
            raise DataError(
                f"results of {other.system!r} do not belong on one page: {other.title!r} has other "
                f"scores, labels or excluded comparisons than {first.title!r}. Make both from "
                "the same scores, or name them as two systems in a mapping of name to results"
            )


def _fingerprints(results: PageResults) -> Iterator[_Fingerprint]:
    """Yield the fingerprints of all results.

    Comparisons, which have a fingerprint of each system, come last.
    """
    compared: list[_Fingerprint] = []
    for node in results.nodes:
        attrs = node.dataset.attrs
        title = str(attrs.get("task", "")) or node.task.replace("_", " ")
        title = title[:1].upper() + title[1:]
        fingerprint = str(attrs.get("fingerprint", ""))
        if node.result_type == COMPARISON:
            systems = node.dataset["system"].values.tolist()
            fingerprints = fingerprint.split("; ")
            # Comparisons of results that lack fingerprints are not checked.
            if len(systems) == len(fingerprints):
                compared += [
                    _Fingerprint(title, system, text, {})
                    for system, text in zip(systems, fingerprints, strict=True)
                ]
        elif fingerprint:
            yield _Fingerprint(title, node.system, fingerprint, attrs)
    for document in results.documents:
        if fingerprint := getattr(document.result, "fingerprint", ""):
            yield _Fingerprint(document.name or "Results", document.system, fingerprint, {})
    yield from compared
