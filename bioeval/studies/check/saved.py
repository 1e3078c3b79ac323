"""A check as a dataset, which ``bioeval check --out`` saves, and the check of such a dataset."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import xarray as xr

from bioeval.base.messages import Message, as_json, from_json
from bioeval.base.version import __version__
from bioeval.document.text import Text
from bioeval.studies.check.confusions import ConfusedPair, Confusions, Side
from bioeval.studies.check.findings import TASK, DataCheck, Finding, LabelError
from bioeval.views.writers.lines import written

_TYPE = "data-check"


def dataset_of(check: DataCheck) -> xr.Dataset:
    """Return a check as the attributes of a dataset, all that was found as JSON."""
    found = check.confusions
    told = {
        "about": [check.data, check.kind, check.protocol],
        "findings": [
            [x.check, x.severity, _saved(x.found), x.count, written(x.places, TASK)] for x in check
        ],
        "confusions": found and asdict(found) | {"at": written(found.at, TASK)},
        "label_errors": [asdict(x) for x in check.label_errors],
    }
    attrs = {
        "result_type": _TYPE,
        "task": "data check",
        "system": check.system,
        "fingerprint": check.fingerprint,
        "bioeval_version": __version__,
        "check": json.dumps(told, default=str),
    }
    return xr.Dataset(attrs=attrs)


def _saved(found: Text) -> str:
    """Return a message as JSON, other text as words."""
    return as_json([found]) if isinstance(found, Message) else written(found, TASK)


def restored(dataset: xr.Dataset) -> DataCheck | None:
    """Return the check of a dataset; None of another result."""
    attrs = dataset.attrs
    if attrs.get("result_type") != _TYPE:
        return None
    told: dict[str, Any] = json.loads(attrs["check"])
    findings = []
    for name, severity, text, count, places in told["findings"]:
        found: Text = text if severity == "ok" else from_json(text)[0]
        findings.append(Finding(name, severity, found, count, places))
    confusions = told["confusions"]
    if confusions:
        pairs = tuple(ConfusedPair(**_with_sides(x)) for x in confusions["listed"])
        confusions = Confusions(**{**confusions, "listed": pairs})
    errors = tuple(LabelError(**_with_sides(x)) for x in told["label_errors"])
    of_scores = str(attrs["system"]), str(attrs["fingerprint"])
    data, kind, protocol = told["about"]
    return DataCheck(data, kind, protocol, tuple(findings), *of_scores, confusions, errors)


def _with_sides(told: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a pair with its templates as objects."""
    return {name: Side(**x) if isinstance(x, dict) else x for name, x in told.items()}
