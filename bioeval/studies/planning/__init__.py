"""The size of a test, and the daily work that its rates mean."""

from bioeval.base.manifest import StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={
        "sample_size": ("sample_size",),
        "workload": ("workload",),
    },
    commands=(
        Subcommand("workload", "Estimate false alarms and rejected people per day.", "Plan", 1),
        Subcommand("sample-size", "Find how many subjects and templates a test needs.", "Plan", 2),
    ),
    examples="""
# Verification of 2,000 people a day, one in a hundred of them an impostor
bioeval workload scores.npz --people 2000 --impostors 0.01 --far 0.001
# Find the FAR at which three false alarms a day are expected
bioeval workload --people 2000 --impostors 0.1 --alarms-per-day 3
# Use rates that are known
bioeval workload --rates far=0.001,frr=0.02 --people 2000 --impostors 0.01
# Use the results of bioeval run
bioeval workload results --people 2000 --impostors 0.01 --far 0.001
# Count for a day and a week
bioeval workload scores.npz --people 2000 --impostors 0.01 --far 0.001 --days 1,7
# Search a gallery of 500
bioeval workload scores.npz --people 10000 --impostors 0.9999 --gallery-size 500 --far 1e-5

# Plan the width of the interval of FRR at a FAR
bioeval sample-size pilot.npz --far 1e-4 --width 0.01
# Plan the width of the interval of the EER
bioeval sample-size pilot.npz --measure eer --width 0.005
# Plan without a pilot
bioeval sample-size --far 1e-3 --frr 0.02 --icc 0.2 --templates 3,6
# Plan sessions of three templates
bioeval sample-size --far 1e-3 --frr 0.02 --icc 0.2 --templates 3,6 --templates-per-session 3
""",
    hooks={"report_results": "command.ReportedWorkload"},
    nodes={"people_per_day": "workload"},
    views=(
        View(("workload",), "work_section"),
        View(("sample-size",), "size_section"),
    ),
    messages="messages.MESSAGES",
    needs=("assurance",),
)
