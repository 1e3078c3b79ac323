"""``bioeval tracking``: evaluate tracks against a ground truth."""

from __future__ import annotations

import re
from typing import Any

import click

HELP = """Evaluate the tracks of RESULT against the ground truth TRUTH.

Both are files of rows frame,id,left,top,width,height,... as MOTChallenge has them (commas or
blanks, plain or gzip), or folders: <sequence>/gt/gt.txt with <sequence>/seqinfo.ini, or
<sequence>.txt, for the ground truth, and <sequence>.txt for the results. Several sequences are
summed up by their counts.

\b
Examples:
  bioeval tracking gt.txt tracker.txt --frames 1050
  bioeval tracking MOT17/train tracker/MOT17 --pairing previous-frame --mostly-tracked more-than
  bioeval tracking cameras/gt cameras/tracks --parts cameras
  bioeval tracking truth.txt track3.txt --columns cityflow --json
"""


class _Frames(click.ParamType):
    """A number of frames, for all or for one sequence."""

    name = "n"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, int]:
        """Return the sequence, empty for all, and the number."""
        if isinstance(value, tuple):
            return value
        name, _, number = str(value).rpartition("=")
        if not re.fullmatch("[0-9]{1,18}", number) or int(number) < 1:
            self.fail(f"{value!r}; expected a whole number from 1 up, or NAME=N", param, ctx)
        return name, int(number)


@click.command("tracking", help=HELP, short_help="Evaluate tracks.")
@click.argument("truth")
@click.argument("result")
@click.option(
    "--iou", type=float, default=0.5, show_default=True, help="Smallest overlap of a match."
)
@click.option(
    "--frames",
    type=_Frames(),
    multiple=True,
    metavar="N|NAME=N",
    help="Length of the sequence, or of the sequence (or camera) NAME; repeatable.  [what "
    "seqinfo.ini says, else the frames with rows]",
)
@click.option(
    "--pairing",
    type=click.Choice(["last-known", "previous-frame"]),
    default="last-known",
    show_default=True,
    help="Which pairings are kept: each target's last (py-motmetrics), or those of the frame "
    "before (TrackEval).",
)
@click.option(
    "--mostly-tracked",
    type=click.Choice(["at-least", "more-than"]),
    default="at-least",
    show_default=True,
    help="Whether exactly 80 % is mostly tracked.",
)
@click.option(
    "--ignored",
    type=click.Choice(["motchallenge", "mot20", "remove", "count"]),
    default="motchallenge",
    show_default=True,
    help="Results on ground truth to be ignored: removed on distractors, all removed, or all "
    "counted.",
)
@click.option(
    "--duplicates",
    type=click.Choice(["raise", "accept"]),
    default="raise",
    show_default=True,
    help="What an id is that the result has twice in a frame: an error, or two boxes.",
)
@click.option(
    "--parts",
    type=click.Choice(["sequences", "cameras"]),
    default="sequences",
    show_default=True,
    help="What the files of a folder are.",
)
@click.option(
    "--columns",
    default="motchallenge",
    show_default=True,
    metavar="NAMES",
    help="motchallenge; cityflow (camera,id,frame,left,top,width,height); or the columns in order.",
)
@click.option("--targets", is_flag=True, help="List every target.")
@click.option(
    "--out", metavar="DIR", help="Write results.nc, summary.json, table.txt and targets.csv."
)
@click.option(
    "--plots", is_flag=True, help="With --out: also segments.csv and a timeline of the targets."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document: rates are fractions."
)
def command(
    truth: str,
    result: str,
    frames: tuple[tuple[str, int], ...],
    targets: bool,
    out: str | None,
    plots: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Evaluate tracks and show, or write, the results."""
    if plots and out is None:
        raise click.UsageError("--plots needs --out DIR, the folder to draw them into")
    from bioeval.cli.console import Stages, note, show, show_json
    from bioeval.cli.outputs import check_folder, write_folder
    from bioeval.cli.reword_errors import rewording
    from bioeval.cli.tracking_outputs import document_of, write_tracking

    folder = None if out is None else check_folder(out)
    from bioeval.mot import tracking
    from bioeval.mot.table import TrackingTable

    reword = rewording("tracking")
    with Stages() as tell:
        dataset = tracking(
            truth,
            result,
            frames=_lengths(frames),
            timeline=plots,
            progress=lambda name: tell(f"matching {name or truth}"),
            **options,
        )
        document = document_of(dataset, truth, result, reword)
        if folder is not None:
            tell(f"writing results to {folder}")
            names = write_folder(
                folder, document, lambda part: write_tracking(dataset, part, reword)
            )
    if as_json:
        show_json(document)
    else:
        show(TrackingTable(dataset, targets, reword))
    if folder is not None:
        note(f"wrote {len(names)} files to {folder}")


def _lengths(given: tuple[tuple[str, int], ...]) -> int | dict[str, int] | None:
    """Return one length for all, or those that were given by name."""
    if not given:
        return None
    names = [name for name, _ in given]
    if names == [""]:
        return given[0][1]
    if "" in names or len(set(names)) < len(names):
        raise click.BadParameter(
            "give one number for all, or NAME=N once for each", param_hint="'--frames'"
        )
    return dict(given)
