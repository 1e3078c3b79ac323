"""Options of ``bioeval run`` that take the place of fields of the protocol card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.cli.arguments import Value, at_least, joined_lists
from bioeval.cli.command import option

if TYPE_CHECKING:
    from bioeval.protocol.card import Partition, Protocol
    from bioeval.protocol.tasks import Verification
    from bioeval.scores.matrix import Scores

Change = Callable[["Protocol", Any], "Protocol"]
"""Returns the card with the value of an option, or raises :class:`click.UsageError`."""


@dataclass(frozen=True)
class CardOption:
    """An option that changes the card."""

    name: str
    """Its name among the arguments of the command."""
    option: Callable[[Any], Any]
    change: Change
    of_experiment: bool = False


def resolve(protocol: str, scores: Scores, given_options: Mapping[str, Any]) -> str | Protocol:
    """Return the protocol with its values replaced by the options that were given."""
    if not given_options:
        return protocol
    from bioeval.protocol.check import mark_checked
    from bioeval.protocol.loading import for_layout, of_claims

    experiment = any(entry.of_experiment and entry.name in given_options for entry in CARD_OPTIONS)
    if protocol == "auto" and {"folds", "gallery_folds"} & given_options.keys():
        protocol = "course-kfold"
    elif protocol == "auto" and experiment:
        protocol = "course-experiment"
    card = for_layout(scores.layout, protocol)
    if protocol == "auto" and scores._claims:
        card = of_claims(card)
    for entry in CARD_OPTIONS:
        if entry.name in given_options:
            card = entry.change(card, given_options[entry.name])
    mark_checked(card)  # what uses a value of an option checks it, in the words of the option
    return card


def take_card_options(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of the card from a command's, and return those that were given."""
    taken = {entry.name: options.pop(entry.name) for entry in CARD_OPTIONS if entry.name != "seed"}
    given_options = {}
    for name, value in taken.items():
        if value is not None and value is not False:  # a flag that is not there
            given_options[name] = value
    seed = options["random_state"]  # also of intervals
    source = click.get_current_context().get_parameter_source("random_state")
    if source is ParameterSource.COMMANDLINE:
        given_options["seed"] = seed
    return given_options


# ------------------------------------------------------------------------------------------ tasks


def _require_verification(card: Protocol, option: str) -> Verification:
    if card.verification is None:
        raise click.UsageError(
            f"{option} of verification, and protocol {card.name} has no verification; leave it out"
        )
    return card.verification


def _searches(card: Protocol) -> dict[str, Any]:
    tasks = {"open_set": card.open_set, "closed_set": card.closed_set}
    return {name: task for name, task in tasks.items() if task is not None}


def _templates(card: Protocol, templates: str) -> Protocol:
    task = _require_verification(card, "--templates is")
    if templates == "multi" and task.pairs != "ordered":
        raise click.UsageError(
            f"--templates multi does not go with pairs = {task.pairs} of protocol {card.name}; "
            "leave it out"
        )
    return replace(card, verification=replace(task, templates=(templates,)))


def _rank_unit(card: Protocol, unit: str) -> Protocol:
    searches = _searches(card)
    if not searches:
        raise click.UsageError(
            f"--rank-unit is of identification, and protocol {card.name} has none; leave it out"
        )
    return replace(card, **{k: replace(task, rank_unit=unit) for k, task in searches.items()})


def _fusion(card: Protocol, fusion: str) -> Protocol:
    searches = _searches(card)
    if not searches and card.verification is None:
        raise click.UsageError(
            f"--fusion is of verification and identification, and protocol {card.name} has "
            "neither; leave it out"
        )
    fused = {name: task for name, task in searches.items() if task.rank_unit == "subject"}
    if card.verification is not None and "multi" in card.verification.templates:
        fused["verification"] = card.verification
    if not fused:
        raise click.UsageError(
            f"--fusion has no effect on protocol {card.name}; it needs --templates multi or "
            "--rank-unit subject"
        )
    return replace(card, **{name: replace(task, fusion=fusion) for name, task in fused.items()})


def _min_dcf(card: Protocol, priors: Sequence[float]) -> Protocol:
    _require_verification(card, "--min-dcf is")
    if click.get_current_context().params.get("no_auc"):
        raise click.UsageError("--min-dcf needs every impostor score; leave out --no-auc")
    return replace(card, report=replace(card.section("report"), priors=tuple(priors)))


# ------------------------------------------------------------------------------------- experiments


def _experiment(card: Protocol, word: str) -> Partition:
    """Return the partition of a card that is an experiment; `word` is the option that needs it."""
    if card.partition is not None and card.partition.by == "experiment":
        return card.partition
    options = click.get_current_context().params
    if card.reid or card.gom:
        size = "" if options["train"] is None else f", train_size={options['train']}"
        split = f"SubjectShuffleSplit({options['repeats'] or 10}{size}, random_state=0)"
        raise click.UsageError(
            f"{word} applies to experiments, and protocol {card.name} is re-identification; "
            f'in Python, be.show(be.repeat(be.load("FILE"), be.partition.{split}, '
            f'"{card.name}")) evaluates random parts of the subjects, with mean and sd'
        )
    raise click.UsageError(
        f"{word} applies to experiments, and protocol {card.name} is not one; give --protocol "
        "course-experiment, or none"
    )


def _set_part(word: str, field: str) -> Change:
    """Return the change of a field of ``[partition]`` by the option `word`."""

    def change(card: Protocol, value: Any) -> Protocol:
        return replace(card, partition=replace(_experiment(card, word), **{field: value}))

    return change


def _unenrolled(card: Protocol, number: float) -> Protocol:
    partition = replace(_experiment(card, "--unenrolled"), unenrolled=number, enrolled=None)
    return replace(card, partition=partition)


def _folds(card: Protocol, number: int) -> Protocol:
    if card.partition is None or "folds" in card.partition.unused:
        raise click.UsageError(
            f"--folds divides all data, and protocol {card.name} has no such folds; give "
            "--protocol course-kfold, or none, and leave out the options of experiments"
        )
    return replace(card, partition=replace(card.partition, folds=number))


def _gallery_folds(card: Protocol, number: int) -> Protocol:
    from bioeval.protocol.card import Decision, Partition

    if card.layout != "all-against-all" or card.reid or card.gom:
        of = "re-identification" if card.reid or card.gom else f"{card.layout} scores"
        raise click.UsageError(
            "--gallery-folds divides one set of templates, compared all against all, into gallery "
            f"and probes, and protocol {card.name} is for {of}; leave out --gallery-folds, or give "
            "a protocol for all-against-all scores"
        )
    partition = Partition(by="gallery-folds", folds=number)
    return replace(card, partition=partition, decision=Decision(rule="none"), uncertainty=None)


def _single_gallery(card: Protocol, wanted: bool) -> Protocol:
    searches = _searches(card)
    if not searches:
        raise click.UsageError(
            f"--single-gallery is of identification, and protocol {card.name} has none; leave it "
            "out"
        )
    return replace(card, **{k: replace(task, gallery="single") for k, task in searches.items()})


def _repeats(card: Protocol, number: int) -> Protocol:
    partition = card.partition
    if partition is None or "repeats" in partition.unused:
        partition = _experiment(card, "--repeats")
    return replace(card, partition=replace(partition, repeats=number))


def _seed(card: Protocol, seed: int) -> Protocol:
    if card.partition is None:
        return card
    return replace(card, partition=replace(card.partition, seed=seed))


def _chooses(card: Protocol) -> bool:
    """Whether there is a part on which a threshold is chosen."""
    return card.partition is not None and card.partition.by != "gallery-folds"


def _target(card: Protocol, target: str) -> Protocol:
    from bioeval.attempts.threshold_rules import Rule
    from bioeval.protocol.card import Decision

    rule = Rule.parse(target, "target")
    if not _chooses(card):
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


def _entry(usage: str, help: str, type: Any, change: Change, **more: Any) -> CardOption:
    return CardOption(_name(usage), option(usage, help, type, **more), change)


def _part(
    usage: str, help: str, type: Any = None, change: Change | None = None, field: str = ""
) -> CardOption:
    """Return an option of experiments, which sets a field of ``[partition]``: that of its name."""
    change = change or _set_part(usage.partition(" ")[0], field or _name(usage))
    return replace(_entry(usage, help, type, change), of_experiment=True)


def _name(usage: str) -> str:
    return usage.partition(" ")[0].removeprefix("--").replace("-", "_")


CARD_OPTIONS = (
    _part(
        "--train",
        "Proportion or number of subjects for choosing the threshold; the others are tested.",
        Value.SIZE,
    ),
    _part(
        "--gallery-templates",
        "With --train: templates of each subject to enrol: number, proportion, or session=1.",
        Value.GALLERY,
    ),
    _part(
        "--unenrolled",
        "With --train: test subjects who are not enrolled.",
        Value.SIZE,
        _unenrolled,
    ),
    _entry(
        "--folds N",
        "Folds of subjects: each is tested with a threshold that is chosen on the others.",
        at_least(2),
        _folds,
    ),
    _part(
        "--repeats N",
        "Number of random experiments, or of divisions into folds.",
        at_least(1),
        _repeats,
    ),
    CardOption("seed", lambda command: command, _seed),  # the command has --seed for intervals
    _entry(
        "--gallery-folds K",
        "Enrol each of K folds of a subject's templates in turn; the others probe.",
        at_least(2),
        _gallery_folds,
    ),
    _entry(
        "--target T|RULE",
        "With --folds or --train: the rule that chooses the threshold, such as eer or far=0.001.",
        Value.TARGET,
        _target,
    ),
    _entry(
        "--templates",
        "Verification: compare a claim with one template of the subject, or with all.  "
        "[of the card]",
        ["single", "multi"],
        _templates,
    ),
    _entry(
        "--rank-unit",
        "Identification: rank templates, or subjects by their fused score.  [of the card]",
        ["template", "subject"],
        _rank_unit,
    ),
    _entry(
        "--fusion RULE",
        "Fusion of the scores of a subject's templates: min, mean, max, median or kth:K.  "
        "[of the card]",
        None,
        _fusion,
    ),
    _entry(
        "--single-gallery",
        "Identification: enrol one template of each subject; exact means over all such galleries.",
        bool,
        _single_gallery,
    ),
    _entry(
        "--min-dcf P,P",
        "Verification: priors of a genuine attempt at which to report minDCF.  [of the card]",
        Value.PRIORS,
        _min_dcf,
        multiple=True,
        callback=joined_lists,
    ),
)
"""The options in the order in which they change the card, which is that of the help."""
