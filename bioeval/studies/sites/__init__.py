"""Counts at several sites, merged without sharing scores."""

from bioeval.base.manifest import StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"protocol_tally": ("Tally",), "tally": ("tally",)},
    commands=(
        Subcommand("tally", "Count at one site, for rates over several sites.", "Sites", 1),
        Subcommand("best-mates", "Find the nearest mates in one part of a gallery.", "Sites", 2),
        Subcommand("merge", "Merge the counts of several sites, and print the rates.", "Sites", 3),
    ),
    examples="""
# Count at the thresholds that all sites use
bioeval tally north.npz --site north --thresholds grid.txt --out north.tally
# Keep operating points, too
bioeval tally north.npz --site north --points --out north.tally
# Count one part of a gallery, with the mates of all parts
bioeval tally north.npz --site north --mates all.mates --out north.tally
# Write a file to share, without small counts
bioeval tally north.npz --site north --thresholds grid.txt --share --out n.tally
# Count on eight processes, and keep what has been counted
bioeval tally north.zarr --site north --workers 8 --checkpoint counted --out north.tally

# Find the nearest mates at one site
bioeval best-mates north.npz --site north --out north.mates
# Merge those of all sites
bioeval merge north.mates south.mates --out all.mates
# Count at each site with them
bioeval tally north.npz --site north --mates all.mates --out north.tally
# Merge the counts
bioeval merge north.tally south.tally --union-of-galleries

# Merge the counts of two sites
bioeval merge north.tally south.tally
# Write a page
bioeval merge north.tally south.tally --report both.html
# Merge the nearest mates of two sites
bioeval merge north.mates south.mates --out all.mates
# Merge counts of one system with two names; print JSON
bioeval merge a.tally b.tally --same-system --out both.tally --json
# Merge counts over parts of one gallery
bioeval merge north.tally south.tally --union-of-galleries
""",
    counts={
        "folded verification": "results",
        "folded identification": "results",
        "folded queries": "results",
    },
    views=(View((), "section", of="SiteFile"),),
    messages="messages.MESSAGES",
    needs=("check", "lists", "reid"),
)
