"""``bioeval run``: evaluate a file."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bioeval.base.studies import hooks
from bioeval.base.variables import INTERVALS
from bioeval.cli.arguments import Value
from bioeval.cli.cluster_options import executor_from_options
from bioeval.cli.command import Command, naming, option, option_group, progress_shown
from bioeval.cli.options import (
    output_options,
    read_scores,
    require_assure,
    require_method,
    shared_options,
    system_name,
    take_reading,
)
from bioeval.cli.outputs import Output
from bioeval.cli.study_command import checked

if TYPE_CHECKING:
    from bioeval.protocol.card import Protocol, Threshold
    from bioeval.protocol.tasks import Verification
    from bioeval.scores.matrix import Scores

PARTS = (
    *("train", "validation", "gallery_templates", "unenrolled", "enrolled", "probe_templates"),
    *("too_few", "unit", "unseen", "stratify", "repeats"),
)

#: Options of the whole experiment.
experiment_options = option_group(
    option(
        "--train",
        "Proportion or number of subjects for choosing the threshold; the others are "
        "tested. Other options default to those of course-experiment.",
        Value.SIZE,
    ),
    option(
        "--validation",
        "Subjects for choosing the threshold, apart from those of --train.",
        Value.SIZE,
    ),
    option(
        "--gallery-templates",
        "Templates of each subject to enrol: number, proportion, or session=1.",
        Value.GALLERY,
    ),
    option(
        "--gallery-quality COLUMN",
        "Enrol the templates with the largest values in this metadata column, instead of "
        "random ones.",
    ),
    option(
        "--by",
        "Unit of --train: subjects, or the templates of each subject.  [subject]",
        ["subject", "sample"],
    ),
    option("--unseen", "With --by sample: subjects that are only tested.", Value.SIZE),
    option(
        "--stratify COLUMN",
        "Keep the proportions of this metadata column in the training part; numbers are "
        "taken by quartile.",
    ),
    option("--unenrolled", "Test subjects that are not enrolled.", Value.SIZE),
    option("--enrolled", "Test subjects that are enrolled, instead of --unenrolled.", Value.SIZE),
    option(
        "--probe-templates N",
        "Largest number of probes of an enrolled subject.  [all other templates]",
        click.IntRange(1),
    ),
    option(
        "--too-few",
        "How to treat subjects with too few templates.  [raise]",
        ["raise", "enrol", "probe", "drop"],
    ),
    option("--repeats N", "Number of random experiments.", click.IntRange(1)),
    option(
        "--target RULE",
        "Rule for choosing the threshold, with folds or --train: eer, far=0.001, hter, "
        "accuracy, cost=P,M,A, fixed=T.",
        Value.TARGET,
    ),
    shared_options(assure="With --target far=X: choose a threshold on each training part"),
    option(
        "--claims",
        "Draw the claims of verification at random: genuine=0.5,per_probe=1 (defaults).",
        Value.CLAIMS,
    ),
    option(
        "--attempts COLUMN",
        "Verification: all probes of a subject with the same value in this metadata column "
        "make one attempt, accepted if any probe is accepted.",
    ),
)

#: Options of the tasks, in place of fields of the card.
TASKS = ("templates", "fusion", "rank_unit")
task_options = option_group(
    option(
        "--templates",
        "Verification attempts: one per gallery template (single), or one per subject (multi), "
        "alone.  [those of the card]",
        ["single", "multi"],
    ),
    option(
        "--fusion RULE",
        "Fusion of the scores of a subject's templates: min, mean, max, median or kth:K.  [that "
        "of the card, or min]",
    ),
    option(
        "--rank-unit",
        "Identification: rank templates, or subjects by their fused score.  [that of the card, or "
        "template]",
        ["template", "subject"],
    ),
)


def _take(options: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Remove options from a command's, and return those that were given."""
    given = {}
    for name in names:
        value = options.pop(name)
        if value is not None:
            given[name] = value
    return given


def take_experiment(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the experiment's options that were given from a command's, with their seed."""
    require_assure(options)
    options["unit"] = options.pop("by")
    given = _take(options, (*PARTS, "gallery_quality", "target", "assure", "claims", "attempts"))
    assurance = options.pop("assurance")
    if "assure" in given:
        given["assurance"] = assurance
    return given


def resolve(protocol: str, scores: Scores, given: dict[str, Any], seed: int) -> str | Protocol:
    """Return the protocol with its values replaced by the options that were given."""
    parts = {name: given[name] for name in (*PARTS, "gallery_quality") if name in given}
    source = click.get_current_context().get_parameter_source("random_state")
    seeded = source is ParameterSource.COMMANDLINE
    if not given and not seeded:
        return protocol
    from bioeval.protocol.card import Claims
    from bioeval.protocol.loading import for_layout

    name = protocol
    if protocol == "auto" and parts:
        name = "course-experiment"
    card = for_layout(scores.layout, name)
    drawn = card.partition
    if parts and (drawn is None or drawn.by != "experiment"):
        option = "--by"
        if "unit" not in parts:
            option = f"--{next(iter(parts)).replace('_', '-')}"
        of_folds = ""
        if card.reid or card.gom:
            size = ""
            if "train" in parts:
                size = f", train_size={parts['train']}"
            split = f"SubjectShuffleSplit({parts.get('repeats', 10)}{size}, random_state=0)"
            raise click.UsageError(
                f"{option} applies to experiments, and protocol {card.name} is re-identification; "
                f'in Python, be.show(be.summaries(be.load("FILE"), be.partition.{split}, '
                f'"{name}")) evaluates random parts of the subjects, with mean and sd'
            )
        if option == "--repeats" and drawn is not None and drawn.by != "given-folds":
            of_folds = (
                f". For folds, write [partition] repeats = {given['repeats']} in a card (bioeval "
                "protocols course-kfold --toml > my.toml copies one)"
            )
        raise click.UsageError(
            f"{option} applies to experiments, and protocol {card.name} is not one; give "
            f"--protocol course-experiment, or none{of_folds}"
        )
    if seeded and drawn is not None:
        parts["seed"] = seed
    for one, other in (("enrolled", "unenrolled"), ("unenrolled", "enrolled")):
        if one in parts:
            parts.setdefault(other, None)
    if drawn is not None and "gallery_quality" in parts:
        column, number = parts.pop("gallery_quality"), drawn.gallery_templates
        number = parts.get("gallery_templates", number)
        if not isinstance(number, int | float):
            raise click.UsageError(
                "--gallery-quality needs the number of templates that are enrolled, such as "
                f"--gallery-templates 2; found {number!r}"
            )
        parts["gallery_templates"] = {"quality": column, "number": number}
    if drawn is not None and parts:
        card = replace(card, partition=replace(drawn, **parts))
    if "target" in given:
        if drawn is None:
            raise click.UsageError(
                "--target needs a part to choose a threshold on: --train 0.5, or --protocol "
                "course-kfold"
            )
        card = replace(card, threshold=_threshold(given["target"]))
    if "assure" in given:
        if drawn is None:
            raise click.UsageError(
                "--assure needs folds: --protocol course-kfold or --train 0.5; bioeval threshold "
                "assures one threshold on all data"
            )
        threshold = card.section("threshold")
        assured = replace(threshold, assure=given["assure"], assurance=given["assurance"])
        card = replace(card, threshold=assured)
    if "claims" in given:
        _require_verification(card, "--claims are")
        card = replace(card, claims=Claims(**given["claims"], seed=seed))
    if "attempts" in given:
        task = _require_verification(card, "--attempts is")
        card = replace(card, verification=replace(task, attempts=given["attempts"]))
    return _with_tasks(card, given)


def _with_tasks(card: Protocol, given: dict[str, Any]) -> Protocol:
    """Return a card with other templates of verification, another fusion or unit of ranks."""
    if "templates" in given:
        task = _require_verification(card, "--templates is")
        if given["templates"] == "multi" and task.pairs != "ordered":
            raise click.UsageError(
                f"--templates multi does not go with pairs = {task.pairs} of protocol "
                f"{card.name}; leave it out"
            )
        card = replace(card, verification=replace(task, templates=(given["templates"],)))
    searches = {x: getattr(card, x) for x in ("open_set", "closed_set") if getattr(card, x)}
    if "rank_unit" in given:
        if not searches:
            raise click.UsageError(
                f"--rank-unit is of identification, and protocol {card.name} has none; leave it out"
            )
        searches = {k: replace(x, rank_unit=given["rank_unit"]) for k, x in searches.items()}
        card = replace(card, **searches)
    if "fusion" in given:
        if not searches and card.verification is None:
            raise click.UsageError(
                f"--fusion is of verification and identification, and protocol {card.name} has "
                "neither; leave it out"
            )
        fused = {k: x for k, x in searches.items() if x.rank_unit == "subject"}
        if card.verification is not None and "multi" in card.verification.templates:
            fused["verification"] = card.verification
        if not fused:
            raise click.UsageError(
                f"--fusion has no effect on protocol {card.name}; it needs --templates multi or "
                "--rank-unit subject"
            )
        for name, task in fused.items():
            card = replace(card, **{name: replace(task, fusion=given["fusion"])})
    return card


def _threshold(target: str) -> Threshold:
    """Return the section of a card with the rule of an option."""
    from bioeval.protocol.card import Threshold
    from bioeval.tallies.threshold_rules import Rule

    rule = Rule.parse(target, "target")
    if rule.name == "cost":
        return Threshold(rule="cost", cost=rule.values)
    if rule.name == "far":
        return Threshold(rule="far", far=rule.values[0])
    if rule.name == "frr":
        return Threshold(rule="frr", frr=rule.values[0])
    if rule.name == "fixed":
        return Threshold(rule="fixed", value=rule.values[0])
    return Threshold(rule=rule.name)


def _require_verification(card: Protocol, option: str) -> Verification:
    if card.verification is None:
        raise click.UsageError(
            f"{option} of verification, and protocol {card.name} has no verification; leave it out"
        )
    return card.verification


@click.command("run", cls=Command)
@click.argument("data")
@click.argument("second", required=False, metavar="[FILE]")
@output_options(
    "results.nc, summary.json, table.txt and curves",
    "draw the plots",
    " instead of a table: rates are fractions, undefined values are null, and infinite "
    'thresholds are the words "inf" and "-inf"',
    report=True,
)
@option(
    "--plot-format",
    "File format of the plots; repeatable.  [png]",
    ["png", "pdf", "svg"],
    multiple=True,
    name="plot_formats",
)
@shared_options(
    protocol=True,
    thresholds=True,
    max_rank=True,
    far=True,
    frr=True,
    interval=True,
    band=True,
    name=True,
    terms=True,
    reading=True,
    workers=True,
    checkpoint=True,
)
@task_options
@experiment_options
@option(
    "--interval METHOD",
    "Add confidence intervals: subject-bootstrap (recommended), subject-bootstrap-bca, "
    "subject-bootstrap-logit, analytic, wilson or clopper-pearson.  [none]",
    INTERVALS,
)
@option(
    "--fta P",
    "Verification: add rates that include this failure-to-acquire rate (ISO/IEC 19795-1).  [0]",
    float,
)
@option("--fte P", "Verification: add rates that include this failure-to-enrol rate.  [0]", float)
@option(
    "--per-query",
    "Re-identification: list the worst queries. With --out, write queries.csv; with --json, "
    "list all queries, the worst first.",
    bool,
)
@option_group(*itertools.chain.from_iterable(more.add_options for more in hooks("run_outputs")))
@option("--no-auc", "Leave out AUC, d' and similar measures: several times faster.", bool)
def command(
    data: str,
    protocol: str,
    name: str | None,
    terms: str,
    plot_formats: tuple[str, ...],
    **options: Any,
) -> None:
    """Evaluate DATA: scores or embeddings in a file, a zarr store or a web address.

    `bioeval convert --list` lists the formats: .npz, .npy, .csv, .mat, .h5, .zarr, .parquet and
    more. FRR is a proportion of the genuine attempts, FAR of the impostor attempts; the table gives
    the number of each.

    KEY names an array in a file that has several arrays, such as .npz or .mat.
    """
    options["auc"] = not options.pop("no_auc")
    options["plots"] = options["plots"] or bool(plot_formats)
    failures = {name: options.pop(name) or 0.0 for name in ("fta", "fte")}
    experiment = take_experiment(options)
    tasks = _take(options, TASKS)
    require_method(options["interval"], seed_of_draws=bool(experiment))
    output = Output.take(options)
    more = [add(options, data, output) for add in hooks("run_outputs")]
    read = [data, options.get("second")]
    reading = take_reading(data, options)
    with progress_shown() as stages:
        from bioeval.cli.run_outputs import Evaluation
        from bioeval.evaluation.all_tasks import evaluate

        scores = read_scores(data, reading, stages).replace(name=system_name(data, name, reading))
        for one in more:
            one.require(scores)
        resolved = resolve(protocol, scores, experiment | tasks, options["random_state"])
        stages("counting")
        # On a page all tasks share their thresholds; a checkpoint is the same with or without it.
        if output.page is not None and options["checkpoint"] is None:
            options["extra_thresholds"] = ()
        with executor_from_options(options, stages, scores) as place:
            tree = evaluate(scores, resolved, **options, **place, progress=stages.counting)
        stages("checking the scores")
        given = options["thresholds"] is not None
        tree = checked(tree, scores, resolved, stages, given)
        if any(failures.values()):
            from bioeval.results.failures import with_failures

            tree = with_failures(tree, **failures)
        per_query = options["per_query"]
        evaluation = Evaluation(tree, scores, protocol, data, per_query, naming(), terms, more)
        for one in more:
            one.stages = stages
            one.make(scores, protocol, resolved)
        formats = (plot_formats or ("png",)) if output.plots else ()
        document = evaluation.document() if output.documented else {}
        tell = output.remarks.append
        files = output.write(
            document, lambda folder: evaluation.write(folder, formats, tell), stages
        )
        page_options: dict[str, Any] = {}
        for one in more:
            page_options |= one.page_options
        output.write_page(evaluation.shown_by_name(), read, stages, **page_options)
    if evaluation.queries and document:
        document["tasks"]["reid"]["worst_first"] = evaluation.queries
    output.show(evaluation.table(), document, files)
