"""Rules between the sections of a card with folds."""

from __future__ import annotations

from collections.abc import Mapping

from bioeval.protocol.card import SECTIONS
from bioeval.protocol.fields import SEARCHABLE, fields_of
from bioeval.protocol.problems import Problems

Values = dict[str, object]

#: Fields of [partition] without effect, by the kind of partition.
_NOT_BY = {
    "subject-folds": ("test_size", "column"),
    "sample-folds": ("test_size", "column"),
    "dev-eval": ("folds", "column"),
    "given-folds": ("folds", "repeats", "seed", "test_size", "stratify"),
}

#: Fields without effect in folds: only their defaults are accepted.
_NOT_IN_FOLDS = {
    "open_set": ("gallery", "max_rank"),
    "closed_set": ("gallery", "max_rank"),
    "thresholds": ("count", "values"),
    "report": ("far_targets", "priors"),
}


def check_folds(
    values: Mapping[str, Values],
    data: Mapping[str, object],
    layout: str | None,
    problems: Problems,
) -> None:
    """Check the sections about folds against each other and against the tasks.

    `values` holds the values that were accepted, by section; `data` is the card as it was read.
    """
    for name in ("threshold", "uncertainty"):
        if name in data and "partition" not in data:
            problems.add(
                (name,),
                f"[{name}] is about folds, but the card has no [partition]; expected both or none",
            )
    rule = values.get("threshold", {})
    for key, word in (("far", "far"), ("value", "fixed"), ("cost", "cost")):
        if rule and rule.get("rule") == word and rule.get(key) is None:
            problems.add(
                ("threshold",), f'[threshold] rule = "{word}" needs {key}, which is missing'
            )
    cost = rule.get("cost")
    if isinstance(cost, tuple) and len(cost) != 3:
        problems.add(
            ("threshold", "cost"),
            f"[threshold] cost holds {len(cost)} numbers; expected 3: prior, c_miss, c_fa",
        )
    for key, word in (("far", "far"), ("value", "fixed"), ("cost", "cost")):
        if rule.get(key) is not None and rule.get("rule") != word:
            problems.add_unused("threshold", key, rule[key], f'with rule = "{rule.get("rule")}"')
    if "partition" in values:
        _check_in_folds(values, layout, problems)


def _check_in_folds(values: Mapping[str, Values], layout: str | None, problems: Problems) -> None:
    """Refuse options that folds would silently ignore."""
    given = values["partition"]
    by = str(given.get("by"))
    unused = {"partition": (_NOT_BY.get(by, ()), f'with by = "{by}"')}
    unused |= {name: (keys, "in folds") for name, keys in _NOT_IN_FOLDS.items()}
    for name, (keys, why) in unused.items():
        for key in keys:
            default = fields_of(SECTIONS[name])[key].default_for(layout)
            if key in values.get(name, {}) and values[name][key] not in (default, None):
                problems.add_unused(name, key, values[name][key], why)
    if by == "given-folds" and layout in SEARCHABLE and given.get("column") is None:
        problems.add(
            ("partition",),
            '[partition] by = "given-folds" needs column, the metadata column that holds the fold '
            "of each template",
        )
    for name, key, value in (
        ("open_set", "ties", "expected"),
        ("closed_set", "ties", "expected"),
        ("closed_set", "unmated", "raise"),
    ):
        if values.get(name, {}).get(key) == value:
            problems.add_unused(name, key, value, "in folds")
    if values.get("uncertainty", {}).get("interval") == "subject-bootstrap":
        for name in ("open_set", "closed_set"):
            if name in values:
                problems.add(
                    ("uncertainty", "interval"),
                    f'[uncertainty] interval = "subject-bootstrap" is for verification only, but '
                    f'the card has [{name}]; expected "nadeau-bengio"',
                )
    if "reid" in values:
        problems.add(("reid",), "[reid] is not evaluated in folds; expected no [partition] with it")
