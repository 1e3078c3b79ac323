"""Results as one self-contained HTML page: numbers, curves, tables, and a threshold to move."""

from bioeval.base.manifest import StudyManifest, Subcommand

STUDY = StudyManifest(
    calls={"page": ("report",)},
    commands=(
        Subcommand("report", "Write an HTML page with curves and a movable threshold.", "Start", 4),
    ),
    hooks={"page": "page.report"},
    examples="""
# Write a page about one system
bioeval report scores.npz --out report.html
# Write a page about two systems, with their names
bioeval report old.npz new.npz --out both.html --name old --name new
# Write a page from the results of bioeval run
bioeval report results/results.nc --out report.html
# Answer with the threshold to install, and give all figures there
bioeval report scores.npz --threshold-study far=1% --zoo --check --out c.html
# Write a page about re-identification
bioeval report reid.npz --protocol market1501 --out reid.html
# Explain a row on the page
bioeval report scores.npz --out report.html --explain 17
""",
    not_options={
        "report": {
            "--target": "--threshold-study fixed=T opens the page at a threshold, and --far X, "
            "such as --far 0.001, reports FRR at this FAR"
        }
    },
)
