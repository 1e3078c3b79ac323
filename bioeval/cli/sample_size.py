"""``bioeval sample-size``: how many subjects, templates and sessions a test needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.arguments import NUMBER, WHOLE_NUMBERS
from bioeval.cli.documents import scalars
from bioeval.cli.options import (
    Command,
    Output,
    output_options,
    read_scores,
    reading_options,
    seed_option,
    take_reading,
    warnings_of,
)

if TYPE_CHECKING:
    import xarray as xr


@click.command("sample-size", cls=Command)
@click.argument("pilot", required=False)
@click.option("--far", type=float, default=1e-4, metavar="X", help="The FAR to show.")
@click.option(
    "--width",
    "frr_width",
    type=float,
    default=0.01,
    metavar="W",
    help="The ends of the interval are to be at most so far apart.",
)
@click.option(
    "--measure", type=click.Choice(["frr", "eer"]), default="frr", help="Whose interval it is."
)
@click.option(
    "--threshold", type=NUMBER, metavar="T", help="Of the pilot.  [the loosest that keeps --far]"
)
@click.option("--frr", type=float, metavar="P", help="Without a pilot: the FRR that is expected.")
@click.option(
    "--icc",
    type=float,
    metavar="R",
    help="Without a pilot: correlation of two genuine errors of a subject.",
)
@click.option(
    "--template-icc",
    type=float,
    default=0.0,
    metavar="R",
    help="Without a pilot: what it grows by where they share a template.",
)
@click.option("--templates", type=WHOLE_NUMBERS, help="Templates of each subject.  [2,3,5,10]")
@click.option(
    "--templates-per-session",
    type=int,
    default=1,
    metavar="N",
    help="Templates that a subject gives in one visit.",
)
@click.option(
    "--confidence", type=float, default=0.95, metavar="C", help="Confidence of the interval."
)
@click.option(
    "--assurance",
    type=float,
    default=0.92,
    metavar="P",
    help="Planned probability that the interval is as narrow as wanted.",
)
@seed_option("Of an EER.")
@output_options("results.nc, summary.json and table.txt")
@reading_options
def command(pilot: str | None, **options: Any) -> None:
    """Say how many subjects, templates and sessions a test of verification needs.

    PILOT is the scores of a first, small test, from which the spread between people is taken;
    without it, --frr and --icc are assumed.

    Examples
    --------
      bioeval sample-size pilot.npz --far 1e-4 --width 0.01
      bioeval sample-size pilot.npz --measure eer --width 0.005
      bioeval sample-size --far 1e-3 --frr 0.02 --icc 0.2 --templates 3,6 --templates-per-session 3
    """
    output = Output.take(options)
    reading = take_reading(pilot or "", options)
    from bioeval.cli.progress import Stages

    with Stages() as stages:
        from bioeval.evaluation.sample_size import sample_size

        scores = None if pilot is None else read_scores(pilot, reading, stages)
        stages("counting")
        ds = sample_size(scores, **options)
        document, text = _document(ds, pilot), _text(ds)
        files = output.save(document, ds, text, stages)
    output.show(text, document, files)


def _document(ds: xr.Dataset, file: str | None) -> dict[str, Any]:
    """Return the plan as plain values."""
    attrs = {str(k): v for k, v in ds.attrs.items() if k != "warnings"}
    over = [str(k) for k, v in ds.data_vars.items() if v.ndim]
    plans = [
        {"templates": int(size), **{name: ds[name].values[i].item() for name in over}}
        for i, size in enumerate(ds["templates"].values)
    ]
    return {"file": file, **attrs, **scalars(ds), "plans": plans, "warnings": warnings_of(ds)}


def _text(ds: xr.Dataset) -> str:
    """Return the table: a line for each number of templates, then the rules of 3 and 30."""
    import textwrap

    attrs = ds.attrs
    measure, far = attrs["measure"].upper(), attrs["far"]
    one = {str(k): float(v) for k, v in ds.data_vars.items() if not v.ndim}
    lines = [
        f"{100 * attrs['confidence']:g} % interval of the {measure} by subject, at most "
        f"{100 * attrs['frr_width']:g} percentage points wide",
        f"with a probability of {100 * attrs['assurance']:g} %",
        f"{measure} {100 * one['value']:.4g} %, correlation of a subject's errors "
        f"{one['icc']:.3g}, and {one['icc'] + one['template_icc']:.3g} with a shared template"
        + (f" (pilot of {one['pilot_subjects']:,.0f} subjects)" if "pilot_subjects" in one else ""),
        "",
        "templates    subjects  sessions   all templates   design effect",
    ]
    for i, size in enumerate(ds["templates"].values.tolist()):
        row = {x: ds[x].values[i].item() for x in ("subjects", "sessions", "all_templates")}
        lines.append(
            f"{size:>9,}{row['subjects']:>12,}{row['sessions']:>10,}{row['all_templates']:>16,}"
            f"{float(ds['design_effect'][i]):>16.2f}"
        )
    lines += [
        "",
        f"To show FAR <= {100 * far:g} %",
        f"{'':>34}{'trials':>12}{'subjects':>14}{'all pairs':>12}",
    ]
    for rule, what in (("3", "without a false accept (rule of 3)"), ("30", "with 30 (rule of 30)")):
        subjects = one[f"subjects_rule_of_{rule}"]
        pairs = one[f"subjects_rule_of_{rule}_all_pairs"]
        trials = one[f"trials_rule_of_{rule}"]
        lines.append(f"{what:<34}{trials:>12,.0f}{subjects:>14,.0f}{pairs:>12,.0f}")
    notes = (
        "Subjects: those who make so many independent trials, two in each. All pairs: those who "
        "are enough if every pair of subjects is taken for a trial; pairs share subjects, so "
        "that this shows less. Genuine pairs should be of different days: two sessions or more."
    )
    lines += ["", *textwrap.wrap(notes, 80)]
    wrapper = textwrap.TextWrapper(80, initial_indent="  - ", subsequent_indent="    ")
    if found := warnings_of(ds):
        lines += ["", "Warnings", *(line for text in found for line in wrapper.wrap(text))]
    return "\n".join(lines) + "\n"
