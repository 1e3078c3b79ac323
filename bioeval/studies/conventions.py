"""``be.conventions``: the same scores evaluated by every protocol card that fits them.

A row for each card, with the measures of all its tasks::

    card         eer    cmc@1   mean_ap  why_not
    market1501   -      0.50    0.43
    vehicleid    -      0.525   0.61
    frte-11      0.08   -       -
    lfw-blufr    -      -       -        it needs a column that is missing
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_list
from bioeval.base.errors import BioevalError, CardError, Message
from bioeval.base.progress import reporter, rows_reported
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import available, load
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import dataset
from bioeval.results.support import RatesAtTargets, support_messages
from bioeval.results.variables import SUPPORTED, VARIABLES, Variable
from bioeval.scores.attempts import Exclusion
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.metadata import known_texts
from bioeval.scores.people import ComparedPeople
from bioeval.scores.provenance import Provenance
from bioeval.showing.messages import warns_of_doubts
from bioeval.showing.records import MEASURES_OF_CARDS
from bioeval.studies.repeat import scalars_of
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.reid.candidates import has_cameras

FAR_TARGETS = (0.01, 0.001)
RANKS = (1, 5, 10)
_RATES: dict[str, RatesAtTargets] = {"verification": "frr at far", "open_set": "dir at far"}

# The labels of each dimension of a measure besides the card.
_LABELS_OF: dict[str, tuple[float, ...]] = {"far_target": FAR_TARGETS, "rank": RANKS}

# The names of the measures that come from searches of a gallery.
_SEARCH_MEASURES = {
    *MEASURES_OF_CARDS["open_set"],
    *MEASURES_OF_CARDS["closed_set"],
    *MEASURES_OF_CARDS["reid"],
}


@warns_of_doubts
def conventions(scores: Scores, *, cards: Sequence[str | Protocol] | None = None) -> xr.Dataset:
    """Evaluate scores by every protocol card that fits, with a row for each card.

    Parameters
    ----------
    scores : Scores
    cards : sequence of str or Protocol, optional
        Cards to evaluate; by default, all shipped cards that are for the layout and divide the data
        into no parts. Cards of re-identification need a metadata column ``camera`` on both sides.

    Returns
    -------
    xarray.Dataset
        - over ``card``: ``eer auc`` of verification with single templates (with all templates where
          a card has no other verification), and ``mean_ap mean_inp queries`` of re-identification
        - over ``card, far_target``: ``frr_at_far dir_at_far`` (at rank 1)
        - over ``card, rank``: ``cms cmc``
        - ``why_not``: why a card could not be evaluated, such as a column that is missing

        NaN where the card does not have the task. Measures that no card has are left out.

    Raises
    ------
    CardError
        If a card of `cards` is unknown, has none of these tasks or does not fit the scores.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(20, 3, layout="probe-against-gallery", probes=2, cameras=4,
    ...     within=1.1, random_state=2)
    >>> ds = be.conventions(scores, cards=["market1501", "vehicleid"])
    >>> ds.cmc.sel(rank=1).round(3).to_series().to_dict()
    {'market1501': 0.5, 'vehicleid': 0.525}
    """
    require_scores(scores)
    is_chosen = cards is not None
    if cards is None:
        evaluated = _cards_for(scores)
    else:
        evaluated = [load(card, "cards") for card in require_list("cards", cards)]
        if not evaluated:
            raise CardError("`cards` is empty; expected the names of cards")

    # Of each card the numbers, or lists of numbers over FAR targets or ranks, by measure; and why
    # the card could not be evaluated.
    measures_of_cards: list[dict[str, Any]] = []
    why_not: list[str] = []
    messages: dict[Message, None] = {}  # each once
    with rows_reported():
        report_row = reporter()
        for number, card in enumerate(evaluated, start=1):
            measures: dict[str, Any] = {}
            reason = "" if _has_task(card) else "it has no task of this table"
            if not reason and not is_chosen:
                # A card that the user has not chosen must be for these cameras.
                reason = _why_cameras_differ(scores, card)
            if not reason:
                try:
                    with rows_reported(to=None):
                        measures, notes = _measured(scores, card)
                    messages |= dict.fromkeys(notes)
                except BioevalError as error:
                    reason = str(error).rstrip(".")
            if reason and is_chosen:
                raise CardError(f"the card {card.name} does not fit: {reason}")
            measures_of_cards.append(measures)
            why_not.append(reason)
            report_row(number, len(evaluated))

    # The table: each measure that a card has, over the cards, and over FAR targets or ranks.
    variables: dict[str, Any] = {"why_not": (("card",), np.array(why_not, dtype=object))}
    names = {
        "card": Variable("protocol card", label="card"),
        "why_not": Variable("why the card could not be evaluated", label="not evaluated"),
    }
    dimension_of_measure = {
        name: dimension
        for of_task in MEASURES_OF_CARDS.values()
        for name, dimension in of_task.items()
    }
    for name, dimension in dimension_of_measure.items():
        if not any(name in measures for measures in measures_of_cards):
            continue
        missing: Any = [np.nan] * len(_LABELS_OF[dimension]) if dimension else np.nan
        dims = ("card", dimension) if dimension else ("card",)
        for variable in (name, f"{name}{SUPPORTED}"):
            if any(variable in measures for measures in measures_of_cards):
                values = [measures.get(variable, missing) for measures in measures_of_cards]
                variables[variable] = dims, np.array(values, dtype=float)
        is_measure = name != "queries"
        names[name] = VARIABLES[name] if is_measure else Variable(name, name, label=name)
    coordinates: dict[str, Any] = {
        "card": np.array(([card.name for card in evaluated]), dtype=object)
    }
    for dimension, labels in _LABELS_OF.items():
        if any(dimension in dims for dims, _ in variables.values()):
            coordinates[dimension] = np.array(labels)

    about = Provenance.from_scores(scores)
    if not _SEARCH_MEASURES.isdisjoint(variables):
        about = about.searching(scores)
    attrs = about_attrs(about, "conventions", "conventions", messages)
    return dataset(variables, names, coordinates, attrs)


def _measured(scores: Scores, card: Protocol) -> tuple[dict[str, Any], list[Message]]:
    """Return the measures by a card, and messages on FAR targets without support."""
    has_far = {"verification", "open_set"} & set(card.tasks)
    options = EvaluationOptions.parse(far_targets=FAR_TARGETS if has_far else None)
    card = replace(card, report=replace(card.report, ranks=RANKS))
    scalars_of_nodes = scalars_of(scores, card, options)
    measured: dict[str, Any] = {}
    messages: list[Message] = []
    for node, scalars in scalars_of_nodes.items():
        task, _, templates = node.partition("/")
        # Verification with several templates is shown where the card has no other.
        if templates == "multi" and f"{task}/single" in scalars_of_nodes:
            continue

        # In a symmetric matrix, each pair of templates is one attempt.
        symmetric = "impostor_pairs" in scalars
        attempts = scalars["impostor_pairs"] if symmetric else scalars.get("impostor_attempts")
        if attempts:
            people: ComparedPeople | int | None = scalars.get("impostor_subjects") or None
            if people is None and task == "verification":
                people = ComparedPeople.from_scores(scores)
            messages += support_messages(FAR_TARGETS, attempts, symmetric, _RATES[task], people)

        for name, dimension in MEASURES_OF_CARDS.get(task, {}).items():
            value = scalars.get(name, np.nan)
            if dimension:  # a mapping by labels
                value = [value.get(label, np.nan) for label in _LABELS_OF[dimension]]
            if dimension == "far_target":
                support = scalars.get(f"{name}{SUPPORTED}", {})
                measured[f"{name}{SUPPORTED}"] = [support.get(x, np.nan) for x in FAR_TARGETS]
            measured[name] = value
    return measured, messages


def _cards_for(scores: Scores) -> list[Protocol]:
    cards = []
    for card in map(load, available()):
        in_parts = card.has_folds or card.galleries is not None
        fits = has_cameras(scores) if "reid" in card.tasks else card.layout == scores.layout
        if fits and not in_parts and _has_task(card):
            cards.append(card)
    return cards


def _has_task(card: Protocol) -> bool:
    return any(task in card.tasks for task in MEASURES_OF_CARDS)


def _why_cameras_differ(scores: Scores, card: Protocol) -> str:
    """Return why the card is for other cameras; empty if the card may fit.

    A card for infrared queries against a visible gallery names both values. Queries, and they
    alone, must have the first value, and gallery templates alone the second one.
    """
    for exclusion in map(Exclusion.parse, card.exclude):
        if exclusion.values is None or exclusion.column not in scores.probe_meta:
            continue
        sides = scores.probe_meta, scores.gallery_meta
        probe, gallery = (known_texts(meta[exclusion.column], exclusion.column) for meta in sides)
        probe_value, gallery_value = exclusion.values
        if probe_value not in probe - gallery or gallery_value not in gallery - probe:
            return (
                f"it is for queries of {exclusion.column} {probe_value} against a gallery of "
                f"{exclusion.column} {gallery_value}"
            )
    return ""
