"""A check as a dataset, which ``bioeval check --out`` saves, and the check of such a dataset."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import Message, as_json, from_json
from bioeval.base.version import __version__
from bioeval.document.text import Text
from bioeval.scores.labels import plain
from bioeval.studies.check.confusions import ConfusedPair, Confusions, Side
from bioeval.studies.check.findings import TASK, DataCheck, Finding, LabelError
from bioeval.views.writers.lines import written

_TYPE = "data-check"


def dataset_of(check: DataCheck) -> xr.Dataset:
    """Return a check as a dataset: its findings; wrong labels and confusions as JSON."""
    columns = {
        "check": [x.check for x in check],
        "severity": [x.severity for x in check],
        "found": [_saved(x.found) for x in check],
        "places": [written(x.places, TASK) for x in check],
        "count": [x.count for x in check],
    }
    found = check.confusions
    more = {
        "label_errors": json.dumps([asdict(x) for x in check.label_errors], default=str),
        "confusions": "",
    }
    if found is not None:
        at = written(found.at, TASK)
        more["confusions"] = json.dumps(asdict(found) | {"at": at}, default=str)
    variables = {
        name: ("finding", np.array(values, dtype=np.int64 if name == "count" else object))
        for name, values in columns.items()
    }
    return xr.Dataset(
        variables,
        attrs={
            "result_type": _TYPE,
            "task": "data check",
            "data": check.data,
            "protocol": check.protocol,
            "system": check.system,
            "fingerprint": check.fingerprint,
            "bioeval_version": __version__,
            **more,
        },
    )


def _saved(found: Text) -> str:
    """Return a message as JSON, other text as words."""
    return as_json([found]) if isinstance(found, Message) else written(found, TASK)


def restored(dataset: xr.Dataset) -> DataCheck | None:
    """Return the check of a dataset; None of another result."""
    attrs = dataset.attrs
    if attrs.get("result_type") != _TYPE:
        return None
    findings = []
    for i in range(dataset.sizes["finding"]):
        row = {name: plain(dataset[name].values[i]) for name in map(str, dataset.data_vars)}
        found: Text = str(row["found"])
        if row["severity"] != "ok":
            (found,) = from_json(str(row["found"]))
        place = str(row["places"])
        findings.append(
            Finding(str(row["check"]), str(row["severity"]), found, int(row["count"]), place)
        )
    confusions = None
    if attrs["confusions"]:
        told: dict[str, Any] = json.loads(attrs["confusions"])
        pairs = tuple(ConfusedPair(**_with_sides(x)) for x in told["listed"])
        confusions = Confusions(**{**told, "listed": pairs})
    errors = tuple(LabelError(**_with_sides(x)) for x in json.loads(attrs["label_errors"]))
    about = str(attrs["data"]), str(attrs["protocol"])
    of_scores = str(attrs["system"]), str(attrs["fingerprint"])
    return DataCheck(*about, tuple(findings), *of_scores, confusions, errors)


def _with_sides(told: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a pair with its templates as objects."""
    return {name: Side(**x) if isinstance(x, dict) else x for name, x in told.items()}
