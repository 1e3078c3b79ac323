"""Options of ``bioeval run`` that take the place of fields of the protocol card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.cli.arguments import GALLERY, PRIORS, SIZE, TARGET, at_least, joined_lists
from bioeval.cli.command import option, option_group

if TYPE_CHECKING:
    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores

CARD_OPTIONS = option_group(
    option(
        "--train N",
        "The proportion or number of subjects on which the threshold is chosen, if there is no "
        "validation part, while the others are tested.",
        SIZE,
    ),
    option(
        "--gallery-templates N",
        "The templates of each subject that are enrolled, as a number, a proportion, or metadata "
        "such as session=1.",
        GALLERY,
    ),
    option(
        "--unenrolled N", "The proportion or number of (test) subjects that are not enrolled.", SIZE
    ),
    option(
        "--folds N",
        "The number of folds, each tested at a threshold chosen on the others.",
        at_least(2),
    ),
    option("--repeats N", "How often folds or experiments are drawn.", at_least(1)),
    option(
        "--target T|RULE",
        "With --folds or --train: the rule that chooses the threshold, such as eer or far=0.001.",
        TARGET,
    ),
    option(
        "--templates",
        "Whether a claim is compared with one template of the claimed subject or with all.  [of "
        "the card]",
        ["single", "multi"],
    ),
    option(
        "--rank-unit",
        "Whether the candidate list has templates, or subjects at their fused scores.  [of the "
        "card]",
        ["template", "subject"],
    ),
    option(
        "--fusion RULE",
        "How the scores of one subject's templates become one score: best, mean, worst, median, "
        "kth:K, min, max.  [of the card]",
    ),
    option(
        "--single-gallery",
        "Identification: enrol one template of each subject; exact means over all such galleries.",
        bool,
    ),
    option(
        "--min-dcf P,P",
        "The proportions of genuine attempts at which minDCF of verification is given.  [of the "
        "card]",
        PRIORS,
        multiple=True,
        callback=joined_lists,
    ),
)

#: The field of each option, and the sections of the card that may have it, in the order in which
#: options change a card.
_OF_PARTITION = ("train", "gallery_templates", "unenrolled", "folds", "repeats")
_FIELDS = {
    **{name: (name, ["partition"]) for name in _OF_PARTITION},
    "target": ("rule", ["decision"]),
    "templates": ("templates", ["verification"]),
    "rank_unit": ("rank_unit", ["open_set", "closed_set"]),
    "fusion": ("fusion", ["open_set", "closed_set", "verification"]),
    "single_gallery": ("gallery", ["open_set", "closed_set"]),
    "min_dcf": ("priors", ["report"]),
}


def take_card_options(options: dict[str, Any], seed: int) -> dict[str, Any]:
    """Remove the options of the card from all options, and return them."""
    card_options = {name: options.pop(name) for name in _FIELDS if name in options}
    if not card_options["single_gallery"]:  # a flag
        del card_options["single_gallery"]
    source = click.get_current_context().get_parameter_source("random_state")
    if source is ParameterSource.COMMANDLINE:
        card_options["seed"] = seed  # also of intervals
    return card_options


#: Options of the parts of an experiment, and of one gallery that is chosen among all people.
_EXPERIMENT = ("train", "repeats")
_SELECTION = ("gallery_templates", "unenrolled")


def with_gallery(protocol: str, scores: Scores, card_options: dict[str, Any]) -> Scores:
    """Return scores divided into gallery and probes, if options say so and nothing is trained.

    Options that are used are removed from `card_options`. Everything else that divides the people
    is an experiment.
    """
    selection = {name: card_options[name] for name in _SELECTION if name in card_options}
    experiment_options = {*_EXPERIMENT, "folds", "target"} & {*card_options}
    is_all_pairs = protocol == "auto" and scores.layout == "all-against-all"
    if not is_all_pairs or not selection or experiment_options:
        return scores
    from bioeval.protocol.loading import for_layout
    from bioeval.studies.repeat import splitter_of
    from bioeval.studies.splits import SplitSides

    for name in selection:
        del card_options[name]
    card = for_layout(scores.layout, "course-experiment")
    assert card.partition is not None
    fields = {"train": None, "unenrolled": None, **selection, "repeats": 1}
    fields["seed"] = card_options.pop("seed", card.partition.seed)
    card = replace(card, partition=replace(card.partition, **fields))
    sides = SplitSides(scores)
    parts = next(splitter_of(card, scores).split(y=scores.probe_labels, meta=sides.meta))
    return scores.select(parts.probes, parts.gallery)


def resolve(protocol: str, scores: Scores, card_options: Mapping[str, Any]) -> str | Protocol:
    """Return the protocol with the values of options in place of its own."""
    if not card_options:
        return protocol
    from bioeval.protocol.loading import for_layout, mark_checked, of_claims

    is_of_verification = False
    of_claim_scores = protocol == "auto" and scores.claims
    if protocol == "auto" and "folds" in card_options:
        protocol = "course-kfold"
        searched = {"rank_unit", "single_gallery"} & {*card_options}
        is_of_verification = "templates" in card_options and not searched
    elif protocol == "auto" and {*_EXPERIMENT, *_SELECTION} & {*card_options}:
        protocol = "course-experiment"
    card = for_layout(scores.layout, protocol)
    if is_of_verification:
        card = replace(card, open_set=None, closed_set=None)
    elif of_claim_scores:
        card = of_claims(card)
    for name in _FIELDS:
        if name in card_options:
            card = _changed(card, name, card_options[name])
    if "seed" in card_options and card.partition is not None:
        card = replace(card, partition=replace(card.partition, seed=card_options["seed"]))
    mark_checked(card)  # what uses a value of an option checks it, in the words of the option
    return card


def _changed(card: Protocol, name: str, value: Any) -> Protocol:
    """Return the card with an option's value; raise UsageError where the option has no effect."""
    if name == "target":
        from bioeval.counting.threshold_rules import Rule
        from bioeval.protocol.card import Decision

        rule = Rule.parse(value, "target")
        if card.partition is None or card.partition.by == "gallery-folds":
            raise click.UsageError(
                f"--target {value} needs a part to choose a threshold on: --train 0.5, or "
                "--protocol course-kfold. For the rates at thresholds of your own give "
                f"--thresholds T,T; bioeval threshold FILE --target {value} chooses one on all "
                "data and tries it on other people"
            )
        number = rule.values if rule.name == "cost" else next(iter(rule.values), None)
        key = {"cost": "cost", "fixed": "value", "far": "far", "frr": "frr"}.get(rule.name)
        numbers: dict[str, Any] = {key: number} if key else {}
        return replace(card, decision=Decision(rule=rule.name, **numbers))
    if name == "unenrolled" and card.partition is not None:
        card = replace(card, partition=replace(card.partition, enrolled=None))
    if name == "single_gallery":
        value = "single"
    option_name = f"--{name.replace('_', '-')}"
    field, sections = _FIELDS[name]
    using: dict[str, Any] = {}
    for section_name in sections:
        section = getattr(card, section_name)
        if section is None or field in section.unused:
            continue
        is_shown = section_name != "report" or card.verification is not None
        if is_shown and _holds(section, section.fields()[field].only_if):
            using[section_name] = section
    if not using:
        raise click.UsageError(
            f"{option_name} has no effect on protocol {card.name}: it sets {field} of "
            f"[{'], ['.join(sections)}], which this protocol does not use"
        )
    for section_name, section in using.items():
        described = section.fields()
        of_field = (value,) if described[field].many and isinstance(value, str) else value
        changed: Any = replace(section, **{field: of_field})
        for other_field, about in described.items():
            if _holds(changed, about.only_if) or changed[other_field] == about.default:
                continue
            if name != "rank_unit":
                raise click.UsageError(
                    f"{option_name} {value} does not go with {other_field} = "
                    f"{changed[other_field]} of protocol {card.name}"
                )
            # The rule of fusion of subjects.
            changed = replace(changed, **{other_field: about.default})
        card = replace(card, **{section_name: changed})
    return card


def _holds(section: Any, only_if: tuple[str, str] | None) -> bool:
    if only_if is None:
        return True
    field, word = only_if
    value = section[field]
    return word in value if isinstance(value, tuple) else word == value
