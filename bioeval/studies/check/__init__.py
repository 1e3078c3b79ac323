"""Doubts about data, before an evaluation: labels, copies, failures."""

from bioeval.base.manifest import StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"check_data": ("check_data",)},
    commands=(
        Subcommand(
            "check", "Check data before an evaluation: labels, copies, failures.", "Start", 2
        ),
    ),
    hooks={
        "why_undefined": "check_data.why_undefined",
        "with_doubts": "check_data.with_kind_finding",
        "run_outputs": "command.Findings",
        "report_results": "command.ReportedCheck",
        "restored": "saved.restored",
    },
    examples="""
# Check a matrix of scores
bioeval check scores.npz
# Check embeddings
bioeval check faces.npz --embeddings dlib128 --labels subject --metric l2
# Check whether there are enough subjects for a FAR
bioeval check scores.npz --far 0.0001 --json
# Check the data of a re-identification protocol
bioeval check reid.npz --protocol market1501
# Show who is confused with whom at a threshold, with the pictures of files
bioeval check scores.npz --threshold 0.31 --report check.html
""",
    messages="messages.MESSAGES",
    views=(View((), "section", of="DataCheck"),),
)
