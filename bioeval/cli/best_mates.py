"""``bioeval best-mates``: the first round of a gallery in parts."""

from __future__ import annotations

from typing import Any

import click

from bioeval.cli.arguments import card
from bioeval.cli.cluster_options import cluster_options, executor_from_options
from bioeval.cli.options import Command, take_reading
from bioeval.cli.site_options import secret, show_written, site_options, take_out


@click.command("best-mates", cls=Command)
@click.argument("data")
@site_options
@cluster_options()
def command(
    data: str, out: str, force: bool, site: str, key: str | None, as_json: bool, **options: Any
) -> None:
    """Find the nearest mate of each probe in DATA, one part of a gallery.

    This is the first of two rounds: each site compares the same probes with its own templates.
    `bioeval merge` merges the files of all sites, and `bioeval tally --mates` takes the merged file
    at each site.
    """
    place = take_out(out, force, (data,))
    reading = take_reading(data, options)
    options["protocol"] = card(options["protocol"])
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.gallery_parts import best_mates
        from bioeval.scores.formats import load

        stages(f"reading {data}")
        scores = load(data, **reading)
        stages("finding mates")
        given = {**options, "site": site, "key": secret(key)}
        with executor_from_options(given, stages) as where:
            found = best_mates(scores, **given, **where, progress=stages.counting)
        stages(f"writing {place}")
        found.save(place)
    show_written(found, place, as_json, protocol=found.protocol)
