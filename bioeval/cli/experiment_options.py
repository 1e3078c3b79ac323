"""Options of the whole experiment, and the protocol card that they make."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.cli.arguments import CLAIMS, GALLERY, SIZE
from bioeval.cli.options import option_group

if TYPE_CHECKING:
    from bioeval.protocol.card import Protocol, Threshold
    from bioeval.protocol.tasks import Verification
    from bioeval.scores.matrix import Scores

PARTS = (
    *("train", "validation", "gallery_templates", "unenrolled", "enrolled", "probe_templates"),
    *("too_few", "repeats"),
)

#: Options of the whole experiment.
experiment_options = option_group(
    click.option(
        "--train",
        type=SIZE,
        help="Divide by subject: proportion or number of subjects for choosing the threshold; "
        "the others are tested. Options not given are those of course-experiment.",
    ),
    click.option(
        "--validation", type=SIZE, help="Subjects for choosing the threshold, beside --train."
    ),
    click.option(
        "--gallery-templates",
        type=GALLERY,
        help="Templates of each subject that are enrolled: number, proportion, or session=1.",
    ),
    click.option("--unenrolled", type=SIZE, help="Test subjects who are not enrolled."),
    click.option(
        "--enrolled", type=SIZE, help="Test subjects who are enrolled, in place of --unenrolled."
    ),
    click.option(
        "--probe-templates",
        type=click.IntRange(1),
        metavar="N",
        help="At most so many templates of an enrolled subject probe.  [all others]",
    ),
    click.option(
        "--too-few",
        type=click.Choice(["raise", "enrol", "probe", "drop"]),
        help="What becomes of subjects with too few templates.  [raise]",
    ),
    click.option(
        "--repeats", type=click.IntRange(1), metavar="N", help="How often all this is drawn."
    ),
    click.option(
        "--target",
        metavar="RULE",
        help="With folds or --train: how the threshold is chosen: eer, far=0.001, hter, accuracy, "
        "cost=P,M,A, fixed=T.",
    ),
    click.option(
        "--claims",
        type=CLAIMS,
        help="Draw the claims of verification: genuine=0.5,per_probe=1 (defaults).",
    ),
    click.option(
        "--attempts",
        metavar="COLUMN",
        help="Verification: all probes of a subject with the same value in this metadata column "
        "make one attempt, accepted if any is.",
    ),
)


def take_experiment(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options that were given out of a command's, with the seed if it is theirs."""
    given = {name: options.pop(name) for name in (*PARTS, "target", "claims", "attempts")}
    return {name: value for name, value in given.items() if value is not None}


def resolve(protocol: str, scores: Scores, given: dict[str, Any], seed: int) -> str | Protocol:
    """Return the protocol with what was given in place of its own."""
    parts = {name: given[name] for name in PARTS if name in given}
    source = click.get_current_context().get_parameter_source("random_state")
    seeded = source is ParameterSource.COMMANDLINE
    if not given and not seeded:
        return protocol
    from bioeval.protocol import for_layout
    from bioeval.protocol.card import Claims

    name = protocol
    if protocol == "auto" and parts:
        name = "course-experiment"
    card = for_layout(scores.layout, name)
    drawn = card.partition
    if parts and (drawn is None or drawn.by != "experiment"):
        option = f"--{next(iter(parts)).replace('_', '-')}"
        raise click.UsageError(
            f"{option} is of an experiment, which protocol {card.name} is not; give --protocol "
            "course-experiment, or none"
        )
    if seeded and drawn is not None:
        parts["seed"] = seed
    for one, other in (("enrolled", "unenrolled"), ("unenrolled", "enrolled")):
        if one in parts:
            parts.setdefault(other, None)
    if drawn is not None and parts:
        card = replace(card, partition=replace(drawn, **parts))
    if "target" in given:
        if drawn is None:
            raise click.UsageError(
                "--target needs a part to choose a threshold on: --train 0.5, or --protocol "
                "course-kfold"
            )
        card = replace(card, threshold=_threshold(given["target"]))
    if "claims" in given:
        _require_verification(card, "--claims are")
        card = replace(card, claims=Claims(**given["claims"], seed=seed))
    if "attempts" in given:
        task = _require_verification(card, "--attempts is")
        card = replace(card, verification=replace(task, attempts=given["attempts"]))
    return card


def _threshold(target: str) -> Threshold:
    from bioeval.protocol.card import Threshold
    from bioeval.tallies.threshold_rules import parse_rule

    rule = parse_rule(target, "target")
    first = rule.values[0] if rule.values else None
    return Threshold(
        rule=rule.name,
        far=first if rule.name == "far" else None,
        cost=rule.values if rule.name == "cost" else None,
        value=first if rule.name == "fixed" else None,
    )


def _require_verification(card: Protocol, option: str) -> Verification:
    if card.verification is None:
        raise click.UsageError(
            f"{option} of verification, which protocol {card.name} has not; leave it out"
        )
    return card.verification
