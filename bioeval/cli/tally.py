"""``bioeval tally``: count at one site, for a merged result."""

from __future__ import annotations

from typing import Any

import click

from bioeval.base.errors import Argument, DataError
from bioeval.cli.arguments import NUMBERS, ThresholdsOption, card
from bioeval.cli.cluster_options import cluster_options, executor_from_options
from bioeval.cli.options import Command, far_option, read_scores, take_reading
from bioeval.cli.site_options import secret, show_tally, site_options, take_out

_OF_SHARING = ("salt", "min_count")


@click.command("tally", cls=Command)
@click.argument("data")
@site_options
@click.option(
    "--name",
    metavar="NAME",
    help="Name of the system, which merges with tallies of the same name.  [the file's]",
)
@click.option(
    "--thresholds",
    type=ThresholdsOption(),
    help="Thresholds, or a file with one a line; all sites give the same.  [the card's]",
)
@far_option
@click.option(
    "--normalize", type=NUMBERS, metavar="LOW,HIGH", help="GOM: the distances that become 0 and 1."
)
@click.option(
    "--points",
    is_flag=True,
    help="Keep impostor scores around operating points, which a merged tally then has exactly.",
)
@click.option(
    "--mates",
    metavar="FILE",
    help="DATA is one part of a gallery: the merged files of `bioeval best-mates`.",
)
@click.option(
    "--fold",
    is_flag=True,
    help="Fold the facts of each probe into counts by threshold and rank: a small file.",
)
@click.option(
    "--share",
    is_flag=True,
    help="Write counts alone, to give away: no score, no name, no fact of one person.",
)
@click.option(
    "--salt-file",
    "salt",
    metavar="FILE",
    help="With --share: hash digests of subjects and probes again with this secret.  [drop them]",
)
@click.option(
    "--min-count",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="With --share: leave out thresholds and ranks until no count is from 1 to below N.",
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
    """Count DATA under a protocol, and write the counts, which merge with those of other sites.

    Merged by `bioeval merge`, they give the rates of all data together. What the file says of
    people is printed, and is in the file.

    Examples
    --------
      bioeval tally north.npz --site north --thresholds grid.txt --out north.tally
      bioeval tally north.npz --site north --points --out north.tally
      bioeval tally north.npz --site north --thresholds grid.txt --share --min-count 5 --out n.tally
      bioeval tally north.npz --site north --mates all.mates --out north.tally
      bioeval tally north.zarr --site north --workers 8 --checkpoint counted --out north.tally
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
    show_tally(found, place, as_json)
