"""``bioeval tally``: count at one site, for a merged result."""

from __future__ import annotations

from typing import Any

import click

from bioeval.base.errors import Argument, DataError
from bioeval.cli.arguments import NUMBERS, ThresholdsOption, card
from bioeval.cli.cluster_options import cluster_options, executor_from_options
from bioeval.cli.options import Command, far_option, read_scores, take_reading
from bioeval.cli.site_options import secret, show_written, site_options, take_out

_OF_SHARING = ("salt", "min_count")


@click.command("tally", cls=Command)
@click.argument("data")
@site_options
@click.option(
    "--name",
    metavar="NAME",
    help="Name of the system; tallies of the same name merge.  [the file's name]",
)
@click.option(
    "--thresholds",
    type=ThresholdsOption(),
    help="Thresholds, or a file with one threshold per line; the same at all sites.  [the card's]",
)
@far_option
@click.option(
    "--normalize",
    type=NUMBERS,
    metavar="LOW,HIGH",
    help="GOM: distances that are scaled to 0 and 1.",
)
@click.option(
    "--points",
    is_flag=True,
    help="Keep impostor scores around operating points, so that a merged tally has exact "
    "operating points.",
)
@click.option(
    "--mates",
    metavar="FILE",
    help="Merged file of bioeval best-mates, if DATA is one part of a gallery.",
)
@click.option(
    "--fold",
    is_flag=True,
    help="Write counts by threshold and rank instead of facts per probe: a small file.",
)
@click.option(
    "--share",
    is_flag=True,
    help="Write counts only, to share: no score, no name, no fact about one subject.",
)
@click.option(
    "--salt-file",
    "salt",
    metavar="FILE",
    help="With --share: hash the digests of subjects and probes with this secret.  [omit them]",
)
@click.option(
    "--min-count",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="With --share: leave out thresholds and ranks until no count is between 1 and N - 1.",
)
@cluster_options()
def command(
    data: str,
    protocol: str,
    out: str,
    force: bool,
    mates: str | None,
    fold: bool,
    share: bool,
    as_json: bool,
    name: str | None,
    **options: Any,
) -> None:
    """Count DATA under a protocol, and write counts that other sites can add to.

    `bioeval merge` adds the counts of several sites, and prints the rates of all their data. The
    command prints what the file discloses about people.
    """
    place = take_out(out, force, (data,))
    sharing = {name: options.pop(name) for name in _OF_SHARING}
    if not share and any(sharing.values()):
        raise click.UsageError("--salt-file and --min-count belong to --share")
    sharing["salt"] = secret(sharing["salt"])
    max_rank, thresholds = options["max_rank"], options["thresholds"]
    reading = take_reading(data, options)
    protocol = card(protocol)
    options["key"] = secret(options["key"])
    if isinstance(thresholds, int) and (share or fold):
        raise DataError(f"{Argument('thresholds')} is a number; a fixed grid is a list or a file")
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.gallery_parts import BestMates
        from bioeval.evaluation.tally import tally

        if mates is not None:
            options["mates"] = BestMates.load(mates)
        scores = read_scores(data, reading, stages)
        scores.name = name or scores.name
        stages("counting")
        with executor_from_options(options, stages, scores) as where:
            found = tally(scores, protocol, **options, **where, progress=stages.counting)
        grid = {} if max_rank is None else {"max_rank": max_rank}
        if share:
            found = found.share(thresholds, **grid, **sharing)
        elif fold:
            found = found.folded(thresholds, **grid)
        stages(f"writing {place}")
        found.save(place)
    show_written(found, place, as_json, protocol=found.protocol, tasks=list(found.parts))
