"""A check as a dataset, which ``bioeval check --out`` saves, and the check of such a dataset."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import as_json, from_json
from bioeval.base.version import __version__
from bioeval.studies.check.confusions import ConfusedPair, Confusions, Side
from bioeval.studies.check.findings import TASK, DataCheck, Finding, LabelError
from bioeval.views.writers.lines import written

_TYPE = "data-check"

# What is known of a template with a wrong label; the templates are apart.
_OF_ERROR = ("side", "nearest_label", "own_score", "nearest_score", "certain")

# Numbers of each pair of people; the sides are apart.
_OF_PAIR = ("false_accepts", "attempts", "score")


def dataset_of(check: DataCheck) -> xr.Dataset:
    """Return a check as a dataset: its findings, wrong labels, and the pairs of people."""
    texts = {
        "check": [x.check for x in check],
        "severity": [x.severity for x in check],
        "found": [as_json([x.found]) for x in check],
        "places": [written(x.places, TASK) for x in check],
    }
    variables: dict[str, Any] = {
        "count": ("finding", np.array([x.count for x in check], dtype=np.int64))
    }
    for name, values in texts.items():
        variables[name] = ("finding", np.array(values, dtype=object))
    attrs: dict[str, Any] = {
        "result_type": _TYPE,
        "task": "data check",
        "data": check.data,
        "protocol": check.protocol,
        "system": check.system,
        "fingerprint": check.fingerprint,
        "bioeval_version": __version__,
    }
    found = check.confusions
    if found is not None:
        attrs |= {"kind": found.kind, "threshold_at": written(found.at, TASK)}
        if found.use:
            attrs["use"] = found.use
        for name in ("threshold", "false_accepts", "pairs"):
            variables[f"confusion_{name}"] = ((), getattr(found, name))
        for name in _OF_PAIR:
            numbers = np.array([getattr(x, name) for x in found.listed])
            variables[f"pair_{name}"] = ("pair", numbers)
        for side in ("probe", "claimed"):
            sides = _as_text([getattr(x, side) for x in found.listed])
            variables[f"pair_{side}"] = ("pair", sides)
    errors = check.label_errors
    if errors:
        for name in _OF_ERROR:
            values_of_errors = np.array([getattr(x, name) for x in errors])
            if name in ("side", "nearest_label"):
                values_of_errors = values_of_errors.astype(str).astype(object)
            variables[f"error_{name}"] = ("error", values_of_errors)
        for side in ("template", "nearest"):
            variables[f"error_{side}"] = ("error", _as_text([getattr(x, side) for x in errors]))
    return xr.Dataset(variables, attrs=attrs)


def _as_text(sides: list[Side]) -> np.ndarray:
    """Return templates as text, which a file can hold."""
    lines = [json.dumps([x.place, str(x.subject), dict(x.names)]) for x in sides]
    return np.array(lines, dtype=object)


def restored(dataset: xr.Dataset) -> DataCheck | None:
    """Return the check of a dataset; None of another result."""
    attrs = dataset.attrs
    if attrs.get("result_type") != _TYPE:
        return None
    findings = []
    for i in range(dataset.sizes["finding"]):
        row = {name: dataset[name].values[i] for name in ("check", "severity", "found", "places")}
        (found,) = from_json(str(row["found"]))
        texts = str(row["check"]), str(row["severity"])
        count = int(dataset["count"].values[i])
        findings.append(Finding(*texts, found, count, str(row["places"])))
    confusions = None
    if "confusion_threshold" in dataset:
        confusions = Confusions(
            float(dataset["confusion_threshold"]),
            str(attrs["kind"]),
            str(attrs["threshold_at"]),
            dataset["confusion_false_accepts"].item(),
            int(dataset["confusion_pairs"]),
            tuple(_pair(dataset, i) for i in range(dataset.sizes.get("pair", 0))),
            str(attrs.get("use", "")),
        )
    about = str(attrs["data"]), str(attrs["protocol"])
    of_scores = str(attrs["system"]), str(attrs["fingerprint"])
    errors = tuple(_label_error(dataset, i) for i in range(dataset.sizes.get("error", 0)))
    return DataCheck(*about, tuple(findings), *of_scores, confusions, errors)


def _label_error(dataset: xr.Dataset, i: int) -> LabelError:
    """Return a template with a wrong label of a dataset."""
    side, label, own, nearest, certain = (dataset[f"error_{x}"].values[i] for x in _OF_ERROR)
    template, other = (
        Side(*json.loads(str(dataset[f"error_{x}"].values[i]))) for x in ("template", "nearest")
    )
    return LabelError(
        str(side), template, str(label), float(own), float(nearest), bool(certain), other
    )


def _pair(dataset: xr.Dataset, i: int) -> ConfusedPair:
    """Return a pair of people of a dataset."""
    accepts, attempts, score = (dataset[f"pair_{name}"].values[i] for name in _OF_PAIR)
    sides = [Side(*json.loads(str(dataset[f"pair_{x}"].values[i]))) for x in ("probe", "claimed")]
    return ConfusedPair(accepts.item(), int(attempts), float(score), *sides)
