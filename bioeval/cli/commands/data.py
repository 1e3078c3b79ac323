"""Commands of data: example, simulated, checked and converted."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bioeval.base.errors import DataError, counted
from bioeval.cli.arguments import COUNTS, NUMBERS, at_least
from bioeval.cli.command import in_options, option, option_group
from bioeval.cli.console import put, show_json, terminal_width
from bioeval.cli.outputs import take_scores
from bioeval.cli.shared import DATA, rates, shared
from bioeval.cli.signatures import option_of

if TYPE_CHECKING:
    from bioeval.cli.running import Output, Run
    from bioeval.scores.matrix import Scores


@click.argument("name", required=False, type=click.Choice(["faces"]))
@option(
    "--system",
    "Face recognition system; without --out they are listed.",
    ["eigenfaces", "fisherfaces", "pixels", "deep"],
)
@option("--out FILE", "File to write: .npz, or another that bioeval convert writes.")
@option("--force", "Replace FILE if it exists.", bool)
@option_of("datasets.faces", "--metric M", str)
@option_of("datasets.faces", "--people", ["unseen", "seen", "all"])
@option_of("datasets.faces", "--components N", default=64)
@option("--json", "Describe the written file as JSON.", bool, name="as_json")
def example_command(
    name: str | None, system: Any, out: str | None, force: bool, as_json: bool, **options: Any
) -> None:
    """Write scores of real faces: 400 images of 40 people, compared by one of four systems.

    bioeval example faces --system eigenfaces --out faces-1991.npz
    bioeval example faces --system deep --out faces-2017.npz

    Without --out, list the data and the systems. The images are the Database of Faces (AT&T
    Laboratories Cambridge; F. Samaria and A. Harter, 1994). Each template keeps the name of its
    image, so that `bioeval report --worst` and `bioeval explain` show faces.
    """
    if out is None:
        if system is not None or as_json:
            raise click.UsageError("--out FILE is missing: the file to write")
        put(_listing())
        return
    if name is None or system is None:
        raise click.UsageError(
            "expected the data and --system, as in: "
            "bioeval example faces --system eigenfaces --out faces-1991.npz"
        )
    from bioeval.datasets import faces

    take_scores(out, force)
    _write(faces(system, **options), out, as_json, system=system, **options)


def _write(scores: Scores, out: str, as_json: bool, **about: Any) -> None:
    from bioeval.scores.formats import save

    save(scores, out)
    if as_json:
        size = {"layout": scores.layout, "shape": scores.shape, "subjects": len(scores.subjects)}
        show_json({"file": out, **size, "kind": scores.kind, **about})
    else:
        put(f"wrote {out}: {scores!r}\n")


def _listing() -> str:
    from bioeval.datasets.face_images import SYSTEMS

    width = max(map(len, SYSTEMS)) + 2
    lines = ["faces  400 images of 40 people, 64 x 64 grey (Database of Faces, 1992 to 1994)", ""]
    for system, words in SYSTEMS.items():
        lines += _wrapped(f"  {system:<{width}}{words}", width + 2)
    lines += ["", "bioeval example faces --system eigenfaces --out faces-1991.npz"]
    lines += ["bioeval example faces --system deep --out faces-2017.npz"]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, hang: int) -> list[str]:
    """Return text as lines that fit the terminal; `hang` columns indent all but the first."""
    words: Any = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.wrap(text, terminal_width(), subsequent_indent=" " * hang, **words)


#: Numbers that the people of a seed have to themselves, and seeds whose people differ.
PEOPLE_OF_A_SEED = 1_000_000


MOST_SEEDS = 1_000_000_000


@option_of("simulate", "--subjects N", name="n_subjects")
@option_of("simulate", "--templates N", COUNTS, default="10", name="n_templates")
@option("--out FILE", "File to write: .npz.", required=True)
@option("--force", "Replace FILE if it exists.", bool)
@option_of("simulate", "--model")
@option_of("simulate", "--layout")
@option_of("simulate", "--probes N", COUNTS)
@option_of("simulate", "--unenrolled N")
@option_of("simulate", "--kind")
@option_of("simulate", "--seed N", at_least(0), name="random_state")
@option_group(
    option_of("simulate", "--dimensions N"),
    option_of("simulate", "--within SD", NUMBERS),
    option_of("simulate", "--sessions N"),
    option_of("simulate", "--cameras N"),
    option_of("simulate", "--camera-sd X", more="; gaussian-embeddings only."),
    heading="Embeddings",
)
@option_group(
    option_of("simulate", "--d-prime X"),
    *(option_of("simulate", f"--{animal}-sd X") for animal in ("goat", "wolf", "lamb")),
    heading="Gaussian scores",
)
@option_of("simulate", "--first-subject N", default=None)
@option("--json", "Describe the written file as JSON.", bool, name="as_json")
def simulate_command(out: str, force: bool, as_json: bool, within: Any, **options: Any) -> None:
    """Simulate a population, and write the scores of its templates with labels.

    bioeval simulate --subjects 100 --templates 5 --out scores.npz
    bioeval simulate --model gaussian-scores --d-prime 3 --out gauss.npz

    Files of two seeds are of other people; those of two systems have the same --first-subject.

    Subjects whose embeddings lie near the common centre are near to all others, and `bioeval zoo`
    finds them as wolves and lambs. With --model gaussian-scores all subjects are alike, unless
    --goat-sd, --wolf-sd or --lamb-sd makes them differ.
    """
    from bioeval.scores.simulation import simulate

    take_scores(out, force)
    if within is not None:
        options["within"] = within[0] if len(within) == 1 else list(within)
    if options["first_subject"] is None:
        options["first_subject"] = 1 + PEOPLE_OF_A_SEED * (options["random_state"] % MOST_SEEDS)
    scores = simulate(**options)
    probes, templates = scores.shape
    needed = probes * templates * scores.dtype.itemsize
    free = shutil.disk_usage(Path(out).parent).free
    if needed > free:
        raise DataError(
            f"{out}: {probes:,} x {templates:,} scores would take {needed / 2**30:,.2f} GiB, and "
            f"{free / 2**30:,.2f} GiB are free; expected fewer subjects or templates"
        )
    _write(scores, out, as_json, fingerprint=scores.fingerprint)


@DATA
@option_of("check_data", "--protocol CARD")
@rates("check_data", "far_targets")
@shared(use=True, name=False, fails=("warnings > 0",))
def check_command(run: Run, data: str, second: str | None = None, **options: Any) -> Output:
    """Check DATA before an evaluation; each finding says what to do.

    bioeval check scores.npz --far 0.001
    bioeval check faces.npz --columns embeddings=dlib128,labels=subject

    Checked are labels and copies, failed comparisons, the kind of scores and the number of
    subjects.

    The exit code is 1 if an error is found that makes results misleading, or by --fail-if, as
    "warnings > 0" or "count@check=zero-distance > 0"; 0 otherwise.
    """
    from bioeval.studies.check import check_data

    scores, claims = run.read_system(data, second)
    run.stages("looking")
    checked = check_data(scores, claims=None if claims is scores else claims, **options)
    verdicts = ["an error in the data makes results misleading"] if checked.misleads else []
    return run.write(checked, name=str(scores.name), failures=verdicts)


@click.argument("files", nargs=-1, metavar="DATA [FILE] OUT")
@option("--list", "List the formats that are read and written.", bool, name="listed")
@option("--dry-run", "Print what would be written and what lost; write nothing.", bool)
@option("--force", "Replace OUT if it exists.", bool)
@option("--json", "Describe the written file as JSON.", bool, name="as_json")
@shared(files=False, page=False, printed=False, name=False)
def convert_command(run: Run, listed: bool, dry_run: bool, files: tuple[str, ...] = ()) -> Output:
    """Read DATA, any file that `bioeval run` reads, and write it to OUT.

    bioeval convert features.mat scores.npz
    bioeval convert --list

    The ending of OUT chooses the format: .npz (everything in one file), .parquet (a list of pairs)
    or .csv (a list of pairs, also as .tsv, .txt or .csv.gz). The command lists what OUT cannot
    hold.
    """
    from bioeval.cli.running import Output
    from bioeval.scores.formats import losses, save

    if listed:
        return Output(_formats())
    if len(files) not in (2, 3):
        raise click.UsageError(
            f"convert got {counted(len(files), 'files')}; expected DATA, perhaps its second file, "
            "and OUT; or --list"
        )
    data, *second, out = files
    take_scores(out, run.force or dry_run)
    scores = run.read(data, second[0] if second else None)
    if not dry_run:
        run.stages(f"writing {out}")
        save(scores, out)
    lost = losses(scores, Path(out))
    about = {"layout": scores.layout, "shape": scores.shape, "kind": scores.kind}
    document = {"file": data, "out": out, **about, "not_kept": lost, "written": not dry_run}
    text = f"{'would write' if dry_run else 'wrote'} {out}: {scores!r}\n"
    remarks = [] if run.as_json else [f"bioeval: note: {in_options(line)}" for line in lost]
    return Output(text, document, remarks)


def _formats() -> str:
    from bioeval.scores.formats import FORMATS
    from bioeval.scores.formats.layouts import PRESETS
    from bioeval.scores.formats.writing import WRITTEN

    width = max(map(len, (*FORMATS, *PRESETS))) + 2
    lines = []
    for word, form in FORMATS.items():
        written = [WRITTEN[x][0] for x in form.suffixes if x in WRITTEN]
        addition = f"; written: {written[0]}" if written else ""
        lines += _wrapped(f"{word:<{width}}{form.holds}{addition}", width)
    for word, rows in PRESETS.items():
        forms = "; ".join(rows) or "pairs of images of LFW, with --trials"
        text = f"{word:<{width}}lists without a header: {forms}"
        lines += _wrapped(text, width)
    return "\n".join(lines) + "\n"
