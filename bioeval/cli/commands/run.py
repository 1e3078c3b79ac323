"""``bioeval run``: evaluate a file.

The command reads the scores, changes the protocol card by options, evaluates the scores under the
card, and adds failures, worst pairs, findings on the data, and queries where options ask for them.

Options of `_CARD_OPTIONS` change the card before it is used (`_resolved`): ``--folds 5 --target
far=0.001`` makes the card course-kfold with ``partition.folds = 5`` and the decision
``Decision(rule="far", far=0.001)``. A gallery that is drawn once, without training, is no
experiment, and divides the scores (`_with_gallery`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.base.errors import DataError, MissingDependencyError
from bioeval.cli.arguments import GALLERY, PRIORS, SIZE, TARGET, at_least, joined_lists
from bioeval.cli.command import option, option_group
from bioeval.cli.defined import require_rates
from bioeval.cli.shared import DATA, EVALUATED, TRIES_AND_ENROLMENT, rates, shared
from bioeval.cli.signatures import option_of

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.running import Output, Run
    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores
    from bioeval.studies.check import Finding

#: Queries that are listed, those with the lowest average precision.
_WORST = 10

_OF_FINDING = ("check", "severity", "code", "message")

# Seconds in which the scheduler of a cluster answers.
_PATIENCE = 10


def _connect(ctx: click.Context, param: click.Parameter, address: str | None) -> None:
    if address is None:
        return
    from bioeval.base.environment import how_to_install
    from bioeval.base.options import set_options

    try:
        from distributed import Client
    except ImportError:
        text = f"--cluster needs distributed: {how_to_install('cluster')}"
        raise MissingDependencyError(text) from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except Exception as error:  # another server may cause an error of any class
        text = f"--cluster {address}: no scheduler of a cluster answers within {_PATIENCE} seconds"
        raise DataError(text) from error
    ctx.with_resource(client)
    ctx.with_resource(set_options(client=client))


#: Options that take the place of fields of the protocol card.
_CARD_OPTIONS = option_group(
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


@DATA
@EVALUATED
@option_of("evaluate", "--max-rank N")
@rates("evaluate", "far_targets", "frr_targets")
@option_of(
    "evaluate",
    "--interval METHOD",
    ["people", "subject-bootstrap", "wilson", "clopper-pearson", "none"],
    more="; people by default where these are quick.",
)
@_CARD_OPTIONS
@option_of("with_failures", "--fta X", default=None)
@option_of("with_failures", "--fte X", default=None)
@option("--worst N", "List the N worst impostor and genuine pairs.", at_least(1))
@option(
    "--per-query",
    "Re-identification: list the worst queries; all of them with --json and --out.",
    bool,
)
@TRIES_AND_ENROLMENT
@shared(interval=True, plots=True, fails=("frr_at_far=1% > 20%",))
@option_group(
    option_of(
        "set_options",
        "--cluster ADDRESS",
        more=". The address is its scheduler's, such as tcp://10.0.0.5:8786.",
        name="client",
        callback=_connect,
        expose_value=False,
    ),
    option("--no-auc", "Leave out AUC, d' and similar measures: several times faster.", bool),
    heading="Size and speed",
)
def run_command(
    run: Run,
    data: str,
    protocol: str,
    no_auc: bool,
    second: str | None = None,
    interval: str | None = None,
    worst: int | None = None,
    **options: Any,
) -> Output:
    """Evaluate verification, identification or re-identification of DATA, scores or embeddings.

    bioeval run scores.npz --interval people --out results --plots
    bioeval run matrix.npy --kind similarity --labels people.csv
    bioeval run features.mat --protocol market1501

    `bioeval convert --list` lists the formats: .npz, .npy, .csv, .mat, .h5, .parquet and
    more. FRR is a proportion of the genuine attempts, FAR of the impostor attempts; the table gives
    the number of each. FILE is the mask, labels, impostor scores, trials or pairs of DATA. Several
    systems are for `bioeval compare`, or for `bioeval report`.
    """
    import xarray as xr

    from bioeval.counting.thresholds import check_thresholds
    from bioeval.evaluation import evaluate
    from bioeval.results.failures import with_failures
    from bioeval.scores.people import has_quick_limits
    from bioeval.showing.nodes import with_asked_thresholds
    from bioeval.tasks.card_scores import compared, galleries_of, resolve_card

    # Options that go together.
    options["auc"] = not no_auc
    if "min_dcf" in options and no_auc:
        raise click.UsageError("--min-dcf needs every impostor score; leave out --no-auc")
    if run.page is not None:  # all tasks share their thresholds there
        options["extra_thresholds"] = ()
    card_options, use = _take_card_options(run, options)
    failures = {name: options.pop(name, 0.0) for name in ("fta", "fte")}
    thresholds = options.get("thresholds")

    # The scores and the card.
    as_read, scores = run.read_system(data, second, use=use)
    divided = _with_gallery(protocol, scores, card_options)
    if divided is not scores:
        scores = as_read = divided
    card = _resolved(protocol, scores, card_options)
    resolved = resolve_card(scores, card)

    # The evaluation.
    if thresholds is not None and _has_curves(resolved) and galleries_of(scores, resolved) is None:
        # Rows besides those of the curves, which plots draw.
        options["extra_thresholds"] = check_thresholds(options.pop("thresholds"))
    is_quick = has_quick_limits(scores) and not resolved.has_folds
    method = interval or ("people" if is_quick else "none")
    limits = run.interval(None if method == "none" else method)
    tree = evaluate(scores, card, interval=limits, **options)
    run.stages("checking the scores")
    if thresholds is not None:
        tree = with_asked_thresholds(tree, thresholds)
    require_rates(tree, scores, card, thresholds is not None)

    # What is added to it.
    if any(failures.values()):
        tree = with_failures(tree, **failures)
    if worst is not None:
        from bioeval.studies.worst_pairs import worst_pairs

        run.stages("listing the worst pairs")
        listed = worst_pairs(compared(as_read, resolved), worst)
        tree = tree.assign(worst_pairs=xr.DataTree(listed))
    findings = _findings(as_read, protocol)
    lines = [*_lines_of(findings)]
    records: dict[str, list[dict[str, Any]]] = {}
    records["check"] = [{x: getattr(finding, x) for x in _OF_FINDING} for finding in findings]
    if options["per_query"]:
        queries = records["queries"] = _queries(tree["reid"].to_dataset(), scores)
        words = (f"{x['query']} ({x.get('template', x['label'])})" for x in queries[:_WORST])
        lines.append(f"Worst queries (rows, from 0): {', '.join(words)}")

    drawn = []
    if run.formats:
        from bioeval.tasks.plotted_scores import plotted

        # Plots show the scores that the card keeps, as the results do.
        kept = scores if scores.layout == "top-k" else compared(scores, resolved)
        drawn = [(tree, plotted(kept))]
    return run.write(tree, records=records, lines=lines, drawn=drawn)


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


def _take_card_options(run: Run, options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Remove the options of the card from all options; return them, and those of the use.

    Templates and their fusion are options of the card unless the system makes claims, which have
    one score.
    """
    card_options = {name: options.pop(name) for name in _FIELDS if name in options}
    if not card_options["single_gallery"]:  # a flag
        del card_options["single_gallery"]
    source = click.get_current_context().get_parameter_source("random_state")
    if source is ParameterSource.COMMANDLINE:
        card_options["seed"] = run.settings["random_state"]  # also of intervals
    if {"attempts", "enrol"} & run.use.keys():
        return card_options, run.use
    return card_options | run.use, {}


#: Options of the parts of an experiment, and of one gallery that is chosen among all people.
_EXPERIMENT = ("train", "repeats")
_SELECTION = ("gallery_templates", "unenrolled")


def _with_gallery(protocol: str, scores: Scores, card_options: dict[str, Any]) -> Scores:
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
    from bioeval.studies.card_partition import splitter_of
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


def _resolved(protocol: str, scores: Scores, card_options: Mapping[str, Any]) -> str | Protocol:
    """Return the protocol with the values of options in place of its own."""
    if not card_options:
        return protocol
    from bioeval.protocol.loading import for_layout, mark_checked, of_claims

    # The card whose values are replaced: without --protocol, that of folds or of an experiment if
    # options say that there are some.
    is_automatic = protocol == "auto"
    has_folds = is_automatic and "folds" in card_options
    if has_folds:
        protocol = "course-kfold"
    elif is_automatic and not card_options.keys().isdisjoint((*_EXPERIMENT, *_SELECTION)):
        protocol = "course-experiment"
    card = for_layout(scores.layout, protocol)
    is_searched = "rank_unit" in card_options or "single_gallery" in card_options
    if has_folds and "templates" in card_options and not is_searched:
        # --templates is of verification alone.
        card = replace(card, open_set=None, closed_set=None)
    elif is_automatic and scores.claims:
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
        return _with_rule(card, value)
    if name == "unenrolled" and card.partition is not None:
        # The number of the others, who are enrolled, would contradict it.
        card = replace(card, partition=replace(card.partition, enrolled=None))
    if name == "single_gallery":  # a flag
        value = "single"
    option_name = f"--{name.replace('_', '-')}"
    # The sections in which the field has an effect.
    field, sections = _FIELDS[name]
    using: dict[str, Any] = {}
    for section_name in sections:
        section = getattr(card, section_name)
        if section is None or field in section.unused:
            continue
        # The only field of [report] with an option is minDCF, a measure of verification.
        is_shown = section_name != "report" or card.verification is not None
        if is_shown and section.has_effect(field):
            using[section_name] = section
    if not using:
        raise click.UsageError(
            f"{option_name} has no effect on protocol {card.name}: it sets {field} of "
            f"[{'], ['.join(sections)}], which this protocol does not use"
        )
    for section_name, section in using.items():
        fields = section.fields()
        is_one_of_many = fields[field].many and isinstance(value, str)
        changed: Any = replace(section, **{field: (value,) if is_one_of_many else value})
        # Fields that the new value leaves without effect may have only their defaults.
        for other_field, described in fields.items():
            if changed.has_effect(other_field) or changed[other_field] == described.default:
                continue
            if name != "rank_unit":
                raise click.UsageError(
                    f"{option_name} {value} does not go with {other_field} = "
                    f"{changed[other_field]} of protocol {card.name}"
                )
            # The rule of fusion, which candidate lists of templates do not have.
            changed = replace(changed, **{other_field: described.default})
        card = replace(card, **{section_name: changed})
    return card


#: The field of [decision] that has the number of a rule; other rules have no number.
_NUMBER_OF_RULE = {"cost": "cost", "fixed": "value", "far": "far", "frr": "frr"}


def _with_rule(card: Protocol, target: Any) -> Protocol:
    """Return the card with the rule of ``--target``, such as far=0.001, and its number."""
    from bioeval.counting.threshold_rules import Rule
    from bioeval.protocol.card import Decision

    rule = Rule.parse(target, "target")
    if card.partition is None or card.partition.by == "gallery-folds":
        raise click.UsageError(
            f"--target {target} needs a part to choose a threshold on: --train 0.5, or "
            "--protocol course-kfold. For the rates at thresholds of your own give "
            f"--thresholds T,T; bioeval threshold FILE --target {target} chooses one on all "
            "data and tries it on other people"
        )
    numbers: dict[str, Any] = {}
    if rule.name in _NUMBER_OF_RULE:
        is_triple = rule.name == "cost"  # prior, c_miss, c_fa
        numbers[_NUMBER_OF_RULE[rule.name]] = rule.values if is_triple else rule.values[0]
    return replace(card, decision=Decision(rule=rule.name, **numbers))


def _has_curves(card: Protocol) -> bool:
    """Whether the results of all tasks have curves over thresholds."""
    if card.has_folds or card.reid is not None or card.gom is not None:
        return False
    return card.open_set is None or card.open_set.gallery == "all"


def _findings(scores: Scores, protocol: str) -> list[Finding]:
    """Return the findings on labels and metadata, under the card without its options."""
    from bioeval.studies.check import check_data, sampled_codes

    if scores.layout == "top-k":
        return []
    checked = check_data(scores, protocol, read_scores=False)
    findings = checked.with_severity("error", "warning", "note")
    codes = sampled_codes(scores)
    return findings if codes.severity == "ok" else [*findings, codes]


def _lines_of(findings: list[Finding]) -> Iterator[str]:
    """Yield the lines below the table: what to know of the scores, and that there is more."""
    for finding in findings:
        if finding.check == "sentinels":
            yield f"Scores: {finding.message}"
        if finding.check == "labels" and finding.severity == "warning":
            yield f"Labels: {finding.message} ({finding.where})"
    # The tables show what the people do not support.
    named = [x.check for x in findings if x.check not in ("people", "sentinels")]
    if named:
        yield f"bioeval check explains findings on labels and metadata: {', '.join(named)}"


def _queries(reid: xr.Dataset, scores: Scores) -> list[dict[str, Any]]:
    """Return the values of queries by rising average precision; undefined precision comes last."""
    import pandas as pd

    from bioeval.showing.data import rows_of

    about: dict[Any, Any] = {"query": reid["probe"].values, "label": scores.probe_labels}
    about |= scores.probe_meta
    measures = {
        name: measure.values
        for name, measure in reid.data_vars.items()
        if measure.dims == ("probe",) and name not in about
    }
    precision = "average_precision"
    if precision not in reid:  # of top-K lists
        precision = "rank_k_average_precision"
    table = pd.DataFrame({**about, **measures})
    return rows_of(table.sort_values(precision, kind="stable"))
