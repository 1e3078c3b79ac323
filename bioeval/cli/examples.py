"""The examples of every command, each under a line with its purpose."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from bioeval.base.studies import manifests

#: Number of examples in the help of a command; ``bioeval help examples`` prints all of them.
IN_HELP = 3

#: Characters of a line of an example there, which goes on in the next one after a backslash.
WIDTH = 72

_TEXT = """
# Print all examples of bioeval run
bioeval help examples run
# List the commands that have examples
bioeval help examples
# Print the help of bioeval threshold
bioeval help threshold

# Evaluate a matrix of scores
bioeval run scores.npz
# Evaluate embeddings; write results and plots
bioeval run faces.npz --embeddings x --labels subject --out results --plots
# Evaluate a similarity matrix whose labels are in a table
bioeval run matrix.npy --kind similarity --labels people.csv
# Add confidence intervals, and write an HTML page
bioeval run scores.npz --interval subject-bootstrap --report report.html
# Give FAR and FRR at the threshold of a system in use, with intervals
bioeval run scores.npz --target fixed=0.31
# Choose the threshold on folds of subjects
bioeval run scores.npz --protocol course-kfold
# Print the tables as LaTeX, for a paper
bioeval run scores.npz --latex
# Print the tables of two systems for a paper, with intervals
bioeval run old.npz new.npz --interval subject-bootstrap --latex
# Evaluate re-identification, with the worst queries
bioeval run reid.npz --protocol market1501 --per-query
# Evaluate a list of pairs; print JSON
bioeval run pairs.csv --json
# Choose the threshold on half of the subjects, in 100 random experiments
bioeval run scores.npz --train 0.5 --gallery-templates 2 --unenrolled 0.3 --repeats 100
# Divide the templates of each subject; three in ten subjects are only tested
bioeval run scores.npz --train 0.5 --by sample --unseen 0.3
# Enrol the two sharpest templates of each subject
bioeval run scores.npz --train 0.5 --gallery-templates 2 --gallery-quality sharpness
# Draw claims of which one in ten is genuine
bioeval run scores.npz --claims genuine=0.1
# Evaluate a MATLAB file in the layout of Market-1501
bioeval run features.mat
# Read subjects and cameras from the names of images
bioeval run features.npz --embeddings x --labels images.txt --names-of market1501
# Add failures to acquire and to enrol
bioeval run scores.npz --fta 0.02 --fte 0.01
# Count all probes of a visit as one attempt
bioeval run visits.npz --attempts visit
# List the worst pairs
bioeval run scores.npz --worst 20 --out results
# Show the worst pairs with their pictures
bioeval run scores.npz --worst 20 --images file --report report.html
# Limit the memory
bioeval run scores.npz --memory 2GiB

# List the data that come with bioeval
bioeval example
# Compare the faces of 20 people by eigenfaces
bioeval example faces --system eigenfaces --out faces-1991.npz
# Compare the same faces by a deep network
bioeval example faces --system deep --out faces-2017.npz
# Compare the people of the training of fisherfaces
bioeval example faces --system fisherfaces --people seen --out seen.npz

# List the protocols
bioeval protocols
# Explain one, in the terms of ISO/IEC 19795-1
bioeval protocols course-all-vs-all --terms iso
# Check a card of your own
bioeval protocols my-protocol.toml --check

# Print versions
bioeval info
# Print them as JSON
bioeval info --json

# Convert to the format that holds everything
bioeval convert features.mat scores.npz
# List the formats
bioeval convert --list
# List what another format would lose
bioeval convert scores.npz scores.mtx --dry-run
# Convert embeddings
bioeval convert features.mat features.h5 --keep-embeddings
# Write the pairs of a list
bioeval convert faces.npz pairs.csv --embeddings dlib128 --labels subject --pairs view2
# Convert similarities whose labels are in a table
bioeval convert matrix.npy scores.npz --kind similarity --labels people.csv --force
# Make a matrix of a list of pairs
bioeval convert scores-dev.txt scores.npz --kind similarity --as matrix

# Simulate a population, all against all
bioeval simulate --subjects 100 --templates 5 --out scores.npz
# Simulate scores of a given d'
bioeval simulate --model gaussian-scores --d-prime 3 --out gauss.npz
# Simulate probes against a gallery in which one subject in five is not enrolled
bioeval simulate --layout probe-against-gallery --probes 3 --unenrolled 0.2 --out open.npz
"""


def _read(text: str) -> dict[str, list[tuple[str, str]]]:
    """Return the examples by command; a block belongs to the command of its first line."""
    examples = {}
    for block in filter(None, text.strip().split("\n\n")):
        lines = block.splitlines()
        purposes = [line.removeprefix("# ") for line in lines[::2]]
        examples[lines[1].split()[1]] = list(zip(purposes, lines[1::2], strict=True))
    return examples


#: For each command, the purposes and command lines of its examples, the most used first.
EXAMPLES = _read(_TEXT)
for _study in manifests().values():
    EXAMPLES |= _read(_study.examples)


def all_examples(command: str) -> str:
    """Return every example of a command, each below its purpose."""
    return "\n".join(f"# {purpose}\n{line}" for purpose, line in EXAMPLES[command])


def examples_in_help(command: str) -> Sequence[str]:
    """Return the lines of the examples in the help of a command, and where the others are."""
    examples = EXAMPLES.get(command, [])
    shown = []
    for _, line in examples[:IN_HELP]:
        parts = textwrap.wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False)
        lines = [parts[0], *(f"  {part}" for part in parts[1:])]
        shown += [*(f"{part} \\" for part in lines[:-1]), lines[-1]]
    rest = len(examples) - len(examples[:IN_HELP])
    if rest:
        return [*shown, f"({rest} more: bioeval help examples {command})"]
    return shown
