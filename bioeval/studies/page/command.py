"""``bioeval report``: one HTML page with the answer, curves, and a threshold to move."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import BioevalError, DataError
from bioeval.base.variables import INTERVALS
from bioeval.cli.arguments import card
from bioeval.cli.cluster_options import cluster_options, executor_from_options
from bioeval.cli.command import Command, flag, option, progress_shown
from bioeval.cli.console import note
from bioeval.cli.options import (
    band_option,
    far_option,
    frr_option,
    images_option,
    interval_by_default,
    interval_options,
    margin_option,
    protocol_option,
    read_scores,
    reading_options,
    take_reading,
    terms_option,
    thresholds_option,
)
from bioeval.cli.outputs import image_folder, require_images, take_out, write_page
from bioeval.cli.study_command import checked

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.progress import Stages
    from bioeval.scores.matrix import Scores
    from bioeval.studies.explain.explain import Explanation

# Saved results, beside files of scores.
_SAVED = (".nc",)


@click.command("report", cls=Command)
@click.argument("data", nargs=-1, required=True)
@option("--out HTML", "Page to write.", required=True)
@flag("--force", "Replace HTML if it exists.")
@option("--title TEXT", "Title of the page.  [names of the systems]", str, "")
@option(
    "--name NAME",
    "Name of a system; repeatable, in the order of DATA.  [the files' names]",
    multiple=True,
    name="names",
)
@protocol_option
@option(
    "--interval METHOD",
    "Method of the confidence intervals: subject-bootstrap, subject-bootstrap-bca, "
    "subject-bootstrap-logit, analytic, wilson, clopper-pearson or none.  "
    "[subject-bootstrap, or wilson for pairs without subjects]",
    [*INTERVALS, "none"],
)
@interval_options
@band_option
@option(
    "--folds N",
    "Folds of subjects, for the rates to expect for new subjects; 0 leaves them out.",
    click.IntRange(0),
    10,
)
@option(
    "--worst N",
    "List the N nearest impostor pairs and the N farthest genuine pairs.",
    click.IntRange(min=1),
)
@images_option
@margin_option("the first of DATA is worse than each of the others")
@option(
    "--explain N|NAME",
    "Explain this row as bioeval explain does: its position, from 0, or the name of its "
    "template; repeatable.",
    multiple=True,
    name="probes",
)
@thresholds_option
@far_option
@frr_option
@terms_option
@reading_options
@cluster_options(checkpoint=False)
def command(
    data: tuple[str, ...], out: str, force: bool, names: tuple[str, ...], **options: Any
) -> None:
    """Evaluate DATA and write one HTML page that needs no network or other file.

    DATA are files as `bioeval run` reads them, one per system, or the results.nc that it writes.
    The page has the answer in a few sentences, rates that follow the threshold and the rank,
    curves, all figures with their intervals, and the provenance of the data.
    """
    if len(names) > len(data):
        raise click.UsageError(f"{len(names)} names for {len(data)} files")
    page = take_out(out, force)
    title, terms = options.pop("title"), options.pop("terms")
    images, folder = options.pop("images") or "", options.pop("images_root")
    if (images or folder) and options["worst"] is None and not options["probes"]:
        raise click.UsageError("--images needs --worst N or --explain")
    folder = image_folder(folder, data[0])
    options["protocol"] = card(options["protocol"])
    probes, margin = options.pop("probes"), options.pop("margin")
    if margin is not None:
        from bioeval.studies.compare.margins import check_margin

        if len(data) == 1:
            raise click.UsageError("--margin compares systems, and there is one; name several")
        check_margin(margin, options["confidence"])
    for word, needed in (("--explain", probes), ("--margin", margin is not None)):
        if saved := [file for file in data if needed and Path(file).suffix.lower() in _SAVED]:
            raise click.UsageError(f"{word} needs scores; {saved[0]} holds results")
    where = {name: options.pop(name) for name in ("workers", "scheduler")}
    readings = []
    for file in data:
        of_file = dict(options)
        readings.append((take_reading(file, of_file), of_file))
    with progress_shown() as stages:
        from bioeval.studies.compare.paired_systems import Named
        from bioeval.views import in_terms

        found: dict[str, Any] = {}
        named: dict[str, Any] = {}
        rows: dict[str, Any] = {}
        called_by = _names(data, names)
        read = {}
        for file, called, (reading, _) in zip(data, called_by, readings, strict=True):
            if Path(file).suffix.lower() in _SAVED:
                found[called] = _saved(file)
            else:
                read[called] = found[called] = read_scores(file, reading, stages)
                read[called].name = called
                require_images(read[called], images)
                named[called] = Named.of(read[called]) if len(data) > 1 else None
        with executor_from_options(where, stages, *read.values()) as place:
            for called, (_, of_file) in zip(called_by, readings, strict=True):
                if called in read:
                    of_file["extra_thresholds"] = ()  # all tasks of a system share their thresholds
                    results = _evaluated(read[called], of_file, place, stages)
                    for probe in probes:
                        stages(f"explaining {probe}")
                        row = _explained(read[called], probe, results, options["protocol"])
                        rows[f"{called}, probe {probe}"] = row
                    found[called] = results
                found[called] = in_terms(found[called], terms)
            compared = {}
            if len(read) == len(data) > 1:
                names = ("confidence", "replicates", "random_state", "far_targets", "frr_targets")
                given = {x: options[x] for x in names if options[x] is not None} | place
                given["margin"] = margin
                compared = _compared(read, found, options["protocol"], given, stages)
        said = _doubts(found, named) if len(data) > 1 else []
        stages(f"writing {page}")
        left_out = write_page(
            page,
            {**found, **compared, **rows},
            data,
            title=title,
            images=images,
            image_folder=folder,
        )
    for line in [*said, *left_out]:
        note(f"bioeval: warning: {line}")
    note(f"wrote {page}")


def _doubts(found: dict[str, Any], named: dict[str, Any]) -> list[str]:
    """Return warnings that the systems cannot be compared directly; the page shows them, too."""
    from bioeval.studies.compare.paired_systems import differences
    from bioeval.studies.page.parts import NOT_SHARED, doubts_of_systems, parts_of

    for called, text in differences(named).items():
        for node in found[called].leaves:
            node.attrs[NOT_SHARED] = text
    return [*dict.fromkeys(x["text"] for x in doubts_of_systems(parts_of(found)))]


def _names(data: tuple[str, ...], given: tuple[str, ...]) -> list[str]:
    """Return the name of each system: the one given, else that of its file, or its path."""
    stems = [Path(file).stem for file in data]
    own = [stem if stems.count(stem) == 1 else file for file, stem in zip(data, stems, strict=True)]
    return [*given, *own[len(given) :]]


def _compared(
    read: dict[str, Scores], found: dict[str, Any], protocol: Any, given: dict[str, Any],
    stages: Stages,
) -> dict[str, xr.Dataset]:  # fmt: skip
    """Return paired comparisons of the best of several systems with each of the others.

    The best has the smallest FRR at the FAR that the page opens with. Nothing where the systems
    cannot be compared, as those that have different attempts: the page says so. Of two systems, and
    with a margin, which is set beforehand, it is the first that is compared, as by bioeval compare.
    With a margin an error says why not.
    """
    from bioeval.evaluation.plan import resolve_card
    from bioeval.studies.compare.compare import compare
    from bioeval.studies.page.parts import LiveState, parts_of

    chosen = LiveState(parts_of(found)).chosen
    target = None if chosen is None else chosen.target

    def frr(name: str) -> float:
        tree = found[name]
        ds = tree["verification/single"] if "verification" in tree.children else {}
        if "frr_at_far" not in ds:
            return 0.0  # in the order given
        return float(ds["eer"] if target is None else ds["frr_at_far"].sel(far_target=target))

    margin = given["margin"]
    first = margin is not None or len(read) == 2
    best = next(iter(read)) if first else min(read, key=frr)
    compared = {}
    for other in read:
        if other == best:
            continue
        stages(f"comparing {best} and {other}")
        card = resolve_card(read[best], protocol)
        with contextlib.suppress(*([BioevalError] if margin is None else [])):
            compared[f"{best} and {other}"] = compare(
                read[best], read[other], protocol=card if card.reid is not None else None,
                progress=stages.counting, **given,
            )  # fmt: skip
    return compared


def _saved(file: str) -> xr.DataTree:
    """Return results that were saved, as a tree."""
    import xarray as xr

    try:
        with xr.open_datatree(file, engine="h5netcdf") as tree:
            return tree.load()
    except (OSError, ValueError, KeyError) as error:
        if not Path(file).exists():
            raise DataError(f"{file}: no such file") from error
        raise DataError(f"{file}: cannot be read as netCDF results ({error})") from error


def _evaluated(
    scores: Scores, options: dict[str, Any], place: dict[str, Any], stages: Stages
) -> xr.DataTree:
    """Return the results of a system: the tasks of the card, limits for new people, worst pairs."""
    import xarray as xr

    from bioeval.evaluation.evaluate import evaluate
    from bioeval.evaluation.plan import resolve_card
    from bioeval.studies.thresholds.threshold_study import study_threshold
    from bioeval.studies.worst_pairs.worst_pairs import worst_pairs

    folds, worst = options.pop("folds"), options.pop("worst")
    protocol = options.pop("protocol")
    stages("counting")
    if options["interval"] == "none":
        options["interval"] = None
    elif options["interval"] is not None or not resolve_card(scores, protocol).has_folds:
        options["interval"] = interval_by_default(scores, options["interval"])
    tree = evaluate(scores, protocol, **options, **place, progress=stages.counting)
    tree = checked(tree, scores, protocol, stages, options["thresholds"] is not None)
    target = _target(tree)
    if folds > 1 and target is not None and "verification" in tree.children:
        stages("trying the threshold on other people")
        try:
            study = study_threshold(
                scores, target, folds=None if scores.layout == "pairs" else folds,
                random_state=options["random_state"], progress=stages.counting, **place,
            )  # fmt: skip
        except BioevalError:
            pass  # too few people: the page says that it was not estimated
        else:
            tree = tree.assign({"threshold_study": xr.DataTree(study)})
    if worst is not None:
        stages("listing the worst pairs")
        pairs = worst_pairs(scores, worst, progress=stages.counting)
        tree = tree.assign({"worst_pairs": xr.DataTree(pairs)})
    return tree


def _target(tree: xr.DataTree) -> str | None:
    """Return the rule of the threshold that the page opens with; None where it has none."""
    from bioeval.studies.page.parts import LiveState, parts_of

    chosen = LiveState(parts_of(tree)).chosen
    if chosen is None:
        return None
    return "eer" if chosen.target is None else f"far={chosen.target!r}"


def _explained(scores: Scores, probe: str, tree: xr.DataTree, protocol: Any) -> Explanation:
    """Return a row at the operating point that the page opens with."""
    from bioeval.studies.explain.explain import explain

    target = _target(tree) if "verification" in tree.children else None
    return explain(scores, probe, threshold=target, protocol=protocol)
