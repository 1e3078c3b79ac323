"""Multi-object tracking: CLEAR MOT, identity measures and HOTA."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View, along

STUDY = StudyManifest(
    calls={
        "tracking": ("tracking",),
        "trackers": ("compare_trackers",),
    },
    commands=(
        Subcommand(
            "tracking",
            "Evaluate or compare trackers: CLEAR MOT, IDF1, HOTA.",
            "Re-identification and tracking",
            2,
        ),
    ),
    examples="""
# Evaluate one sequence
bioeval tracking gt.txt tracker.txt --frames 1050
# Compare trackers on the sequences that all of them have
bioeval tracking dancetrack/val trackers/SORT trackers/ByteTrack
# Evaluate the cameras of a network
bioeval tracking cameras/gt cameras/tracks --parts cameras
# Read another form of rows; print JSON
bioeval tracking truth.txt track3.txt --columns cityflow --json
# Compare trackers by other measures; print JSON
bioeval tracking dancetrack/val trackers/SORT trackers/ByteTrack --measure assa --json
# Add intervals over the sequences
bioeval tracking dancetrack/val trackers/SORT --interval sequence-jackknife
# Evaluate the sequences of a challenge by its conventions
bioeval tracking MOT17/train tracker/MOT17 --pairing previous-frame --mostly-tracked more-than
""",
    plots=(
        Plot(
            "timeline", "TimelineDisplay", "plots", "be.tracking", (along("spell", "spell_target"),)
        ),
        Plot(
            "hota",
            "HotaDisplay",
            "plots",
            "be.tracking",
            (
                along(
                    "localisation_threshold",
                    "hota_by_threshold",
                    "deta_by_threshold",
                    "assa_by_threshold",
                ),
            ),
            {"hota": {}},
        ),
    ),
    nodes={"mota": "tracking"},
    views=(View(("tracking",), "section"),),
    needs=("compare",),
    messages="messages.MESSAGES",
)
