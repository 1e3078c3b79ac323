"""The option ``--threshold-of``: the threshold of a saved study, with what it was chosen for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.base.errors import DataError
from bioeval.cli.command import option

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.evaluation.threshold_of_result import ResultThreshold

#: The option of each command that evaluates at one threshold.
THRESHOLD_OF = option(
    "--threshold-of STUDY",
    "Threshold of a study: the folder or results.nc of bioeval threshold --out; its assured "
    "threshold if there is one, with its templates, fusion and exclusions.",
)

_STUDY = "the study of bioeval threshold --out"


def take_threshold_of(options: dict[str, Any]) -> None:
    """Put the study of ``--threshold-of`` in the place of a command's threshold."""
    path = options.pop("threshold_of", None)
    if path is None:
        return
    _refuse(options, "threshold", "far_target", "alarms_per_day")
    study = read_study(path)
    found = _threshold_of(study)
    own = {"templates": found.templates, "rank_unit": found.rank_unit}
    if found.templates == "multi" or found.task == "open_set":
        own["fusion"] = found.fusion
    for name, value in own.items():
        if name in options and _is_given(name) and options[name] != value:
            raise click.UsageError(
                f"--{name.replace('_', '-')} is {options[name]}, and the study of --threshold-of "
                f"has {value}; leave it out"
            )
    options["threshold"] = study


def threshold_of_study(options: dict[str, Any]) -> ResultThreshold | None:
    """Take ``--threshold-of`` from options, and return its threshold; None without one."""
    path = options.pop("threshold_of")
    return None if path is None else _threshold_of(read_study(path))


def options_of_study(study: ResultThreshold, card_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of ``bioeval run`` at the threshold of a study.

    `card_options` are those given, which must agree with the study.
    """
    if "target" in card_options:
        raise click.UsageError("--target and --threshold-of both name the threshold; give one")
    study.require_one_gallery()
    options: dict[str, Any] = {"target": f"fixed={study.value!r}"}
    if study.task == "open_set":
        if study.rank_unit == "subject":
            options |= {"rank_unit": study.rank_unit, "fusion": study.fusion}
    else:
        if study.in_use:
            options["templates"] = study.templates
        if study.templates == "multi":
            options |= {"templates": study.templates, "fusion": study.fusion}
        options["attempts"] = study.attempts
    options["enrol"] = study.enrol
    for name, value in options.items():
        if card_options.get(name, value) != value:
            raise click.UsageError(
                f"--{name.replace('_', '-')} is {card_options[name]}, and the study of "
                f"--threshold-of has {'none' if value is None else value}; leave it out"
            )
    return {name: value for name, value in options.items() if value is not None}


def at_study(study: ResultThreshold, card: Any) -> Any:
    """Return a card with the tasks that the threshold of a study is for.

    Claims of several tries, and of some templates, are no searches.
    """
    if study.task == "open_set" or not study.in_use:
        return card
    return replace(card, open_set=None, closed_set=None)


def _threshold_of(study: xr.Dataset) -> ResultThreshold:
    from bioeval.evaluation.threshold_of_result import ResultThreshold

    found = ResultThreshold.of(study)
    assert found is not None  # of a dataset
    return found


def _refuse(options: dict[str, Any], *names: str) -> None:
    """Refuse other options of the operating point."""
    flags = {"far_target": "--far"}
    for name in names:
        if name in options and _is_given(name):
            flag = flags.get(name, f"--{name.replace('_', '-')}")
            raise click.UsageError(f"{flag} and --threshold-of both name the threshold; give one")


def _is_given(name: str) -> bool:
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def is_study(text: str) -> bool:
    """Whether a text is the path of a saved study, and not a rule."""
    return text.endswith(".nc") or Path(text).is_dir()


def read_study(path: str) -> xr.Dataset:
    """Return a saved study, from its folder or its file."""
    from bioeval.results.saved import read_results

    tree = read_results(path, _STUDY)
    for node in ("threshold_study", "/"):
        if node in tree.groups or f"/{node}" in tree.groups:
            dataset = tree[node].to_dataset()
            if "threshold" in dataset and not dataset["threshold"].dims:
                return dataset
    raise DataError(f"{path}: has no threshold of a study; expected {_STUDY}")
