"""``bioeval compare`` and ``bioeval fuse``: several systems that compared the same templates.

Both name each system (``run.names``: by ``--name``, or else by its file), read its file as scores
(``run.read``), and hand the scores by name to the library. ``run.write`` writes the result where
``--out`` and ``--report`` say, and returns what is printed. The options that `shared` adds are in
``run``; those of the other decorators are the arguments of the function, as ``--measure`` is
``measures``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import BioevalWarning, DataError, counted
from bioeval.cli.arguments import ENTRIES, joined_entries
from bioeval.cli.command import option
from bioeval.cli.defined import require_defined
from bioeval.cli.outputs import take_out
from bioeval.cli.shared import rates, shared
from bioeval.cli.signatures import option_of

if TYPE_CHECKING:
    from bioeval.cli.running import Output, Run
    from bioeval.scores.matrix import Scores


@click.argument("data", nargs=-1, required=True)
@option_of("compare", "--measure M", name="measures", multiple=True)
@option_of("compare", "--protocol CARD")
@rates("compare", "far_targets", "frr_targets")
@option_of("compare", "--adjust")
@shared(use=True, interval=True, plots=True, names=True, fails=("eer > 5%", "worse"))
def compare_command(run: Run, data: tuple[str, ...], **options: Any) -> Output:
    """Compare systems on the same templates, with intervals and tests of their differences.

    bioeval compare old.npz new.npz
    bioeval compare old.npz new.npz others.npz --measure eer --out results --plots
    bioeval compare old.mat new.mat --protocol market1501

    DATA are two files or more as `bioeval run` reads them, with the same templates in the same
    order, or with names of the templates. Differences are paired by person. Each line of the
    differences says whether two systems differ; of three and more, systems are ranked by each
    measure, and those that share a letter do not differ significantly. Options apply to all
    systems. A system that was chosen because it is the best on these data,
    such as the best of several epochs, looks better than it is: choose it on other people. Where
    the last of DATA is a list of trials without scores, it has the trials of all systems.
    """
    from bioeval.evaluation import evaluate
    from bioeval.scores.formats.trials import lists_trials
    from bioeval.studies.compare import compare

    # The last file may be a list of trials, of all systems.
    files, trials = list(data), None
    if len(files) > 1 and lists_trials(files[-1]):
        trials = files.pop()
    if len(files) == 1:
        raise click.UsageError(f"one system is given, {files[0]}; expected two or more")

    # `compare` calls these functions one after another, so that the scores of one system are in
    # memory at a time; what follows reads them anew.
    readers: dict[str, Callable[[], Scores]] = {}
    for name, file in zip(run.names(files), files, strict=True):
        readers[name] = partial(run.read, file, trials, name)
    comparison = compare(readers, interval=run.interval("people"), **options)
    if "measures" in options:
        comparison = comparison.assign_attrs(measures=" ".join(options["measures"]))

    # A comparison without any value has a reason, which is looked for in the scores.
    protocol = options.get("protocol", "auto")
    measures = [comparison[x] for x in comparison if f"{x}_difference" in comparison]
    require_defined(measures, (read() for read in readers.values()), protocol)

    # Plots show the curves of each system, too.
    drawn: list[tuple[Any, Any]] = [(comparison, ())]
    if run.formats:
        evaluated = {name: evaluate(read(), protocol) for name, read in readers.items()}
        drawn.append((evaluated, ()))
    return run.write(comparison, drawn=drawn, name=f"{len(readers)} systems")


@click.argument("systems", nargs=-1, required=True, metavar="A B [C ...]")
@option_of("fuse", "--method RULE")
@option_of("fuse", "--normalise")
@option_of(
    "fuse",
    "--weights NAME=W",
    ENTRIES,
    more="; once per system.",
    multiple=True,
    callback=joined_entries,
)
@option_of("fuse", "--train FILE", str, more="; once per system, in order.", multiple=True)
@rates("verification", "far_targets", "frr_targets")
@option("--out FILE", "Write the fused scores, as .npz.", name="save_to")
@option("--force", "Replace FILE and HTML if they exist.", bool)
@shared(use=True, files=False, names=True, fails=("eer@system=fused > 5%",))
def fuse_command(
    run: Run,
    systems: tuple[str, ...],
    method: Any,
    normalise: Any,
    weights: dict[str, str],
    train: tuple[str, ...] = (),
    save_to: str | None = None,
    **options: Any,
) -> Output:
    """Fuse systems A, B ... of the same templates in the same order.

    bioeval fuse face.npz finger.npz --normalise z --out fused.npz

    Each system is a file as `bioeval run` reads it; options for reading apply to all files. The
    table shows each system beside the fused system. Scales (--normalise) are those of the scores of
    --train, or else of the data themselves.
    """
    from bioeval.scores.formats import save
    from bioeval.studies.fuse import fuse
    from bioeval.tasks.verification_task import verification

    place = None if save_to is None else take_out(save_to, run.force)
    if len(systems) < 2:
        raise click.UsageError("one system is nothing to fuse; give two files or more")
    if train and len(train) != len(systems):
        times = counted(len(train), "times")
        raise click.UsageError(f"--train is given {times} for {len(systems)} systems")
    weight_of = _as_numbers(weights)
    names = run.names(systems)
    if "fused" in names:
        raise click.UsageError(
            "'fused' is the name of the fused system; give each system another --name"
        )
    if place is not None and place.suffix.lower() != ".npz":
        raise DataError(f"{place}: fused scores are written as .npz")

    scores_of = {name: run.read(file, name=name) for name, file in zip(names, systems, strict=True)}
    train_scores_of = None
    if train:
        train_scores_of = {
            name: run.read(file, name=name) for name, file in zip(names, train, strict=True)
        }
    run.stages("fusing")
    with warnings.catch_warnings():  # the messages of the results have the same
        warnings.simplefilter("ignore", BioevalWarning)
        fused = fuse(
            scores_of,
            method,
            normalise=normalise,
            weights=weight_of or None,
            train=train_scores_of,
        )

    run.stages("counting")
    shown = {**scores_of, "fused": fused}
    results = {name: verification(scores, **options) for name, scores in shown.items()}
    require_defined([result["eer"] for result in results.values()], shown.values())
    remarks = []
    if place is not None:
        run.stages(f"writing {place}")
        save(fused, place)
        remarks.append(f"wrote {place}: {fused!r}")
    return run.write(results, remarks=remarks)


def _as_numbers(weights: dict[str, str]) -> dict[str, float]:
    """Return the weight of each system; the words of ``--weights`` are texts."""
    try:
        return {name: float(value) for name, value in weights.items()}
    except ValueError:
        # A word without "=" is read as the entry WORD=WORD, and shown as it was given.
        words = ", ".join(x if x == y else f"{x}={y}" for x, y in weights.items())
        raise click.BadParameter(
            f"{words!r}; expected NAME=NUMBER", param_hint="'--weights'"
        ) from None
