"""Questions for an exam, with arrays that are small enough to count by hand, and solutions."""

from bioeval.base.manifest import StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"exam": ("exam",)},
    commands=(
        Subcommand("exam", "Write an exam to be solved by hand, with solutions.", "Look into", 40),
    ),
    examples="""
# Print five questions
bioeval exam --seed 7 --questions 5
# Write an exam and its solutions as Markdown
bioeval exam --seed 7 --questions 5 --out exam.md --solutions solutions.md
# Write an exam as LaTeX
bioeval exam --seed 7 --out exam.tex --solutions solutions.tex
# Write a second exam on the same topics with other numbers
bioeval exam --seed 7 --variant 2 --out exam-2.md --solutions solutions-2.md
# Ask about ties and open sets
bioeval exam --seed 7 --questions 2 --topics ties,open-set
""",
    views=(
        View((), "section", of="Exam"),
        View((), "solutions_section", of="Solutions"),
    ),
    needs=("explain", "reid"),
)
