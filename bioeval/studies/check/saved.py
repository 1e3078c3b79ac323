"""A check as a dataset, which ``bioeval check --out`` saves, and the check of such a dataset."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import xarray as xr

from bioeval import __version__
from bioeval.document import as_json, from_json
from bioeval.studies.check.confusions import ConfusedPair, Confusions, Side
from bioeval.studies.check.findings import TASK, DataCheck, Finding
from bioeval.views import written

_TYPE = "data-check"

# Numbers of each pair of people; the sides are apart.
_OF_PAIR = ("false_accepts", "attempts", "score")


def dataset_of(check: DataCheck) -> xr.Dataset:
    """Return a check as a dataset: its findings, and the pairs of people that are confused."""
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
        attrs["attempts_are"] = written(found.attempts, TASK)
        for name in ("threshold", "false_accepts", "pairs"):
            variables[f"confusion_{name}"] = ((), getattr(found, name))
        for name in _OF_PAIR:
            numbers = np.array([getattr(x, name) for x in found.listed])
            variables[f"pair_{name}"] = ("pair", numbers)
        for side in ("probe", "claimed"):
            sides = [getattr(x, side) for x in found.listed]
            lines = [json.dumps([x.place, str(x.subject), dict(x.names)]) for x in sides]
            variables[f"pair_{side}"] = ("pair", np.array(lines, dtype=object))
    return xr.Dataset(variables, attrs=attrs)


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
            str(attrs.get("attempts_are", "")),
        )
    about = str(attrs["data"]), str(attrs["protocol"])
    of_scores = str(attrs["system"]), str(attrs["fingerprint"])
    return DataCheck(*about, tuple(findings), *of_scores, confusions)


def _pair(dataset: xr.Dataset, i: int) -> ConfusedPair:
    """Return a pair of people of a dataset."""
    accepts, attempts, score = (dataset[f"pair_{name}"].values[i] for name in _OF_PAIR)
    sides = [Side(*json.loads(str(dataset[f"pair_{x}"].values[i]))) for x in ("probe", "claimed")]
    return ConfusedPair(accepts.item(), int(attempts), float(score), *sides)
