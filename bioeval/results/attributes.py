"""Attributes that every result has: on the data and the task, the schema, and messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bioeval.base.errors import DataError
from bioeval.base.messages import Message, message_attrs
from bioeval.results.support import labels_doubtful
from bioeval.scores.provenance import Provenance

#: The schema of results, an attribute of each, from which readers of saved results know its form.
SCHEMA = 1


def about_attrs(
    about: Provenance, result_type: str, task: str, warnings: Iterable[Message]
) -> dict[str, str | int | float]:
    """Return the attributes that every result has: on the data, and messages.

    The code `result_type` tells which result it is; `task` is the title that is shown.
    """
    fingerprints = list(about.fingerprints[:4])
    if len(about.fingerprints) > 4:
        fingerprints.append(f"and {len(about.fingerprints) - 4} more")
    attrs: dict[str, str | int | float] = {
        "result_type": result_type,
        "task": task,
        "system": about.name,
        "layout": about.layout,
        "kind": about.kind,
        "nan_policy": about.nan,
        "exclude": about.exclude,
        "probes": about.probes,
    }
    if about.people is not None:  # a list of trials, and a mask, may not name the people
        attrs["probe_subjects"] = about.probe_subjects
        attrs["enrolled_subjects"] = about.enrolled_subjects
        attrs["gallery_subjects"] = about.gallery_subjects
    if about.gallery_templates:
        attrs["gallery_templates"] = about.gallery_templates
    attrs |= {"fingerprint": "; ".join(fingerprints), "origin": about.origin}
    if about.metric:
        attrs["metric"] = about.metric
    if about.use:
        attrs |= {"use": about.use, "most_tries": about.tries}
    if any(about.incomplete):
        attrs["incomplete_genuine"], attrs["incomplete_impostor"] = about.incomplete
    if any(about.too_few):
        attrs["too_few_genuine"], attrs["too_few_impostor"] = about.too_few
    incomplete: list[Message] = []
    if about.searched is not None and (lists := about.lists).incomplete:
        attrs |= lists.attrs
        incomplete = lists.messages()
    if about.reading:
        attrs["reading"] = "; ".join(about.reading)
    if about.nan != "raise":
        attrs["failed_genuine"], attrs["failed_impostor"] = about.failures
    return attrs | message_attrs(
        [*about.notes, *incomplete, *_messages_on_labels(about), *warnings]
    )


def _messages_on_labels(about: Provenance) -> list[Message]:
    people = about.probe_subjects, about.enrolled_subjects, about.gallery_subjects
    if people == (1, 1, 1) and about.layout in ("all-against-all", "probe-against-gallery"):
        return [labels_doubtful("impostor")]
    if about.layout == "all-against-all" and about.gallery_templates == about.gallery_subjects:
        return [labels_doubtful("genuine")]
    return []


def require_schema(attrs: Mapping[Any, Any]) -> None:
    """Raise :class:`DataError` for results that a newer version of bioeval saved."""
    schema = int(attrs.get("schema", SCHEMA))
    if schema != SCHEMA:
        raise DataError(
            f"the results are of schema {schema}; this version of bioeval reads schema {SCHEMA}. "
            "Use a newer bioeval"
        )
