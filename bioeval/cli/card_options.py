"""Options of ``bioeval run`` that take the place of fields of the protocol card."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.cli.arguments import Value, at_least, joined_lists
from bioeval.cli.command import option
from bioeval.protocol.card import SECTIONS
from bioeval.protocol.fields import in_lecture_words

if TYPE_CHECKING:
    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores


@dataclass(frozen=True)
class CardOption:
    """An option that sets a field of the sections of the card that have and use it."""

    usage: str
    sections: tuple[str, ...]
    field: str
    option: Callable[[Any], Any]

    @property
    def word(self) -> str:
        """The option as it is typed."""
        return self.usage.partition(" ")[0]

    @property
    def name(self) -> str:
        """Its name among the arguments of the command."""
        return self.word.removeprefix("--").replace("-", "_")


def _option(
    usage: str, field: str, sections: str, type: Any = None, help: str = "", **more: Any
) -> CardOption:
    """Return the option of a field; its help is what the field decides, and the accepted words."""
    names = tuple(sections.split())
    described = SECTIONS[names[0]].fields()[field]
    if not help:
        doc = in_lecture_words(described.doc.partition(";")[0])
        if doc.startswith("with an experiment: "):  # which --train begins
            doc = f"{'' if field == 'train' else 'with --train: '}{doc.partition(': ')[2]}"
        help = f"{doc[0].upper()}{doc[1:]}."
        if described.choices and type is None:
            help = f"{help[:-1]}: {', '.join(described.choices)}."
        if "partition" not in names:
            help += "  [of the card]"
    return CardOption(usage, names, field, option(usage, help, type, **more))


CARD_OPTIONS = (
    _option("--train N", "train", "partition", Value.SIZE),
    _option("--gallery-templates N", "gallery_templates", "partition", Value.GALLERY),
    _option("--unenrolled N", "unenrolled", "partition", Value.SIZE),
    _option("--folds N", "folds", "partition", at_least(2)),
    _option("--repeats N", "repeats", "partition", at_least(1)),
    _option(
        "--target T|RULE",
        "rule",
        "decision",
        Value.TARGET,
        "With --folds or --train: the rule that chooses the threshold, such as eer or far=0.001.",
    ),
    _option("--templates", "templates", "verification", ["single", "multi"]),
    _option("--rank-unit", "rank_unit", "open_set closed_set", ["template", "subject"]),
    _option("--fusion RULE", "fusion", "open_set closed_set verification"),
    _option(
        "--single-gallery",
        "gallery",
        "open_set closed_set",
        bool,
        "Identification: enrol one template of each subject; exact means over all such galleries.",
    ),
    _option(
        "--min-dcf P,P", "priors", "report", Value.PRIORS, multiple=True, callback=joined_lists
    ),
)
"""The options in the order in which they change the card, which is that of the help."""


def take_card_options(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of the card from a command's, and return those that were given."""
    taken = {entry.name: options.pop(entry.name) for entry in CARD_OPTIONS}
    # A flag that is not there is False.
    given = {name: x for name, x in taken.items() if x is not None and x is not False}
    source = click.get_current_context().get_parameter_source("random_state")
    if source is ParameterSource.COMMANDLINE:
        given["seed"] = options["random_state"]  # also of intervals
    return given


#: Options of the parts of an experiment, and of one gallery that is chosen among all people.
_EXPERIMENT = ("train", "repeats")
_SELECTION = ("gallery_templates", "unenrolled")


def with_gallery(protocol: str, scores: Scores, given: dict[str, Any]) -> Scores:
    """Return scores divided into gallery and probes, if options say so and nothing is trained.

    The options are taken. Everything else that divides the people is an experiment.
    """
    selection = {name: given[name] for name in _SELECTION if name in given}
    others = {*_EXPERIMENT, "folds", "target"} & {*given}
    if protocol != "auto" or not selection or others or scores.layout != "all-against-all":
        return scores
    from bioeval.protocol.loading import for_layout
    from bioeval.studies.folds.splits import SplitSides
    from bioeval.studies.partitions.cards import splitter_of

    for name in selection:
        del given[name]
    card = for_layout(scores.layout, "course-experiment")
    assert card.partition is not None
    fields = {"train": None, "unenrolled": None, **selection, "repeats": 1}
    fields["seed"] = given.pop("seed", card.partition.seed)
    card = replace(card, partition=replace(card.partition, **fields))
    sides = SplitSides(scores)
    parts = next(splitter_of(card, scores).split(y=scores.probe_labels, meta=sides.meta))
    return scores.select(parts.probes, parts.gallery)


def resolve(protocol: str, scores: Scores, given: Mapping[str, Any]) -> str | Protocol:
    """Return the protocol with its values replaced by the options that were given."""
    if not given:
        return protocol
    from bioeval.protocol.loading import for_layout, of_claims

    of_claim_scores = protocol == "auto" and scores.claims
    if protocol == "auto" and "folds" in given:
        protocol = "course-kfold"
        searched = {"rank_unit", "single_gallery"} & {*given}
        if "templates" in given and not searched:  # verification alone
            card = for_layout(scores.layout, protocol)
            return _resolved(replace(card, open_set=None, closed_set=None), given)
    elif protocol == "auto" and {*_EXPERIMENT, *_SELECTION} & {*given}:
        protocol = "course-experiment"
    card = for_layout(scores.layout, protocol)
    if of_claim_scores:
        card = of_claims(card)
    return _resolved(card, given)


def _resolved(card: Protocol, given: Mapping[str, Any]) -> Protocol:
    """Return a card with its values replaced by the options that were given."""
    from bioeval.protocol.check import mark_checked

    for entry in CARD_OPTIONS:
        if entry.name in given:
            card = _changed(card, entry, given[entry.name])
    if "seed" in given and card.partition is not None:
        card = replace(card, partition=replace(card.partition, seed=given["seed"]))
    mark_checked(card)  # what uses a value of an option checks it, in the words of the option
    return card


def _changed(card: Protocol, entry: CardOption, value: Any) -> Protocol:
    """Return the card with the value of an option; refuse it where nothing would use it."""
    if entry.name == "target":
        return _with_rule(card, value)
    if entry.name == "unenrolled" and card.partition is not None:
        card = replace(card, partition=replace(card.partition, enrolled=None))
    sections = {name: card.section(name) for name in entry.sections if _uses(card, name, entry)}
    if not sections:
        raise click.UsageError(
            f"{entry.word} has no effect on protocol {card.name}: it sets {entry.field} of "
            f"[{'], ['.join(entry.sections)}], which this protocol does not use"
        )
    if entry.name == "single_gallery":
        value = "single"
    for name, section in sections.items():
        described = section.fields()
        of_field = (value,) if described[entry.field].many and isinstance(value, str) else value
        changed: Any = replace(section, **{entry.field: of_field})
        for other, field in described.items():
            if not _holds(changed, field.only_if) and changed[other] != field.default:
                if entry.name == "rank_unit":  # the rule of fusion of subjects
                    changed = replace(changed, **{other: field.default})
                else:
                    raise click.UsageError(
                        f"{entry.word} {value} does not go with {other} = {changed[other]} of "
                        f"protocol {card.name}"
                    )
        card = replace(card, **{name: changed})
    return card


def _uses(card: Protocol, name: str, entry: CardOption) -> bool:
    """Whether a section of the card has the field of an option, and uses it."""
    if name == "report":
        return card.verification is not None
    section = getattr(card, name)
    if section is None or entry.field in section.unused:
        return False
    return _holds(section, section.fields()[entry.field].only_if)


def _holds(section: Any, only_if: tuple[str, str] | None) -> bool:
    """Whether the field of a section has the word that another field needs."""
    if only_if is None:
        return True
    field, word = only_if
    value = section[field]
    return word in value if isinstance(value, tuple) else word == value


def _with_rule(card: Protocol, target: str) -> Protocol:
    """Return the card with a rule for its threshold."""
    from bioeval.counting.threshold_rules import Rule
    from bioeval.protocol.card import Decision

    rule = Rule.parse(target, "target")
    if card.partition is None or card.partition.by == "gallery-folds":
        raise click.UsageError(
            f"--target {target} needs a part to choose a threshold on: --train 0.5, or --protocol "
            "course-kfold. For the rates at thresholds of your own give --thresholds T,T; "
            f"bioeval threshold FILE --target {target} chooses one on all data and tries it on "
            "other people"
        )
    fields: dict[str, Any] = {}
    if rule.name == "cost":
        fields["cost"] = rule.values
    elif rule.name == "fixed":
        fields["value"] = rule.values[0]
    elif rule.name in ("far", "frr"):
        fields[rule.name] = rule.values[0]
    return replace(card, decision=Decision(rule=rule.name, **fields))
