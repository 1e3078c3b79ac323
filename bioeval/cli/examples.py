"""The examples of every command, each under a line with its purpose."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

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
bioeval run faces.npz --columns embeddings=x,labels=subject --out results --plots
# Evaluate a similarity matrix whose labels are in a table
bioeval run matrix.npy --kind similarity --labels people.csv
# Add confidence intervals, and write an HTML page
bioeval run scores.npz --interval subject-bootstrap --report report.html
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
# Evaluate a MATLAB file in the layout of Market-1501
bioeval run features.mat
# Read subjects and cameras from the names of images
bioeval run features.npz --columns embeddings=x --labels images.txt --names-of market1501
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
# Check and explain a card of your own
bioeval protocols my-protocol.toml

# Print versions
bioeval info
# Print them as JSON
bioeval info --json

# Convert to the format that holds everything
bioeval convert features.mat scores.npz
# List the formats
bioeval convert --list
# List what another format would lose
bioeval convert scores.npz scores.csv --dry-run
# Write the pairs of a list
bioeval convert faces.npz pairs.csv --columns embeddings=dlib128,labels=subject,pairs=view2
# Convert similarities whose labels are in a table
bioeval convert matrix.npy scores.npz --kind similarity --labels people.csv --force
# Make a matrix of a list of pairs
bioeval convert scores-dev.txt scores.npz --kind similarity --lists as=matrix

# Simulate a population, all against all
bioeval simulate --subjects 100 --templates 5 --out scores.npz
# Simulate scores of a given d'
bioeval simulate --model gaussian-scores --d-prime 3 --out gauss.npz
# Simulate probes against a gallery in which one subject in five is not enrolled
bioeval simulate --layout probe-against-gallery --probes 3 --unenrolled 0.2 --out open.npz

# Evaluate rows that are marked as attacks
bioeval vulnerability attacked.npz
# Evaluate a second file of attacks
bioeval vulnerability scores.npz attacks.npz --threshold far=0.001
# Write results and plots
bioeval vulnerability attacked.npz --out attacked --plots
# Write a page
bioeval vulnerability attacked.npz --report attacked.html

# Evaluate a list of detection scores
bioeval pad pad.csv
# Choose the threshold on development data
bioeval pad test.csv --dev dev.csv --threshold apcer=0.05
# Use the threshold of equal errors, with intervals
bioeval pad pad.csv --threshold d-eer --interval subject-bootstrap
# Use one threshold; print JSON
bioeval pad pad.csv --threshold 0.5 --json
# Write results and plots
bioeval pad test.csv --dev dev.csv --threshold apcer=0.05 --out pad --plots

# Evaluate log-likelihood ratios
bioeval calibration ratios.npz --kind llr
# Calibrate scores on other data
bioeval calibration scores.npz --calibrate logistic --train others.npz
# Learn on development trials, evaluate and write evaluation trials
bioeval calibration dev.scores dev.txt --kind similarity --apply eval.scores eval.txt --save eval-llr.txt
# Calibrate monotonically, at two priors; print JSON
bioeval calibration scores.npz --calibrate pav --train others.npz --priors 0.5,0.01 --json
# Write results and plots
bioeval calibration scores.npz --calibrate logistic --train others.npz --out cal --plots

# Check a matrix of scores
bioeval check scores.npz
# Check embeddings
bioeval check faces.npz --columns embeddings=dlib128,labels=subject --metric l2
# Check whether there are enough subjects for a FAR
bioeval check scores.npz --far 0.0001 --json
# Check the data of a re-identification protocol
bioeval check reid.npz --protocol market1501
# Show who is confused with whom at a threshold, with the pictures of files
bioeval check scores.npz --threshold 0.31 --report check.html

# Compare two systems
bioeval compare old.npz new.npz
# Rank three systems by two measures
bioeval compare old.npz new.npz others.npz --measure eer --measure auc
# Rank three systems; write a page
bioeval compare old.npz new.npz others.npz --measure eer --report board.html
# Leave out pairs of the same session
bioeval compare old.npz new.npz --columns session=visit --exclude session
# Compare at one FAR; print JSON
bioeval compare old.npz new.npz --far 0.001 --json
# Compare two systems of re-identification
bioeval compare old.npz new.npz --protocol market1501
# Write results and plots
bioeval compare old.npz new.npz --out comparison --plots

# Evaluate by every card that fits
bioeval conventions reid.npz
# Evaluate by some cards; write the results
bioeval conventions reid.npz --card market1501 --card cuhk03 --out cards

# Explain one row at the EER threshold
bioeval explain scores.npz --probe 17
# Explain a row at a threshold
bioeval explain scores.npz --probe 17 --threshold 0.4
# Count every row of a small matrix
bioeval explain tiny.npy --labels people.csv --step-by-step
# Explain a query of re-identification
bioeval explain reid.npz --probe 3 --protocol market1501
# Print the row as JSON
bioeval explain scores.npz --probe 17 --json
# Write the row as an HTML page
bioeval explain scores.npz --probe 17 --report row.html

# Fuse two systems on one scale
bioeval fuse face.npz finger.npz --normalise z
# Learn the weights on training folds
bioeval fuse face.npz finger.npz --method logistic --protocol course-kfold
# Write the fused scores
bioeval fuse face.npz finger.npz --normalise min-max --out fused.npz
# Give the weights
bioeval fuse face.npz finger.npz --method weighted --weights face=2 --weights finger=1
# Multiply the scores of both systems
bioeval fuse face.npz finger.npz --normalise min-max --method product --out fused.npz

# Normalise trials by the scores of their recordings against a cohort
bioeval normalise dev.scores dev.txt --kind similarity --cohort dev-cohort.scores
# Take the 4 closest recordings of the cohort for each side, and write the scores
bioeval normalise dev.scores dev.txt --kind similarity --method as --top 4 --cohort dev-cohort.scores --save dev-as.txt
# Take those closest to the enrolled recording for both sides
bioeval normalise dev.scores dev.txt --kind similarity --method as --top 4 --select enrolled --cohort dev-cohort.scores

# Evaluate at sizes up to that of the gallery
bioeval gallery-size scores.npz
# Choose sizes and ranks
bioeval gallery-size scores.npz --sizes 5,10 --max-rank 3
# Evaluate embeddings
bioeval gallery-size faces.npz --columns embeddings=dlib128,labels=subject
# Write results and plots
bioeval gallery-size scores.npz --out sizes --plots

# Evaluate by a metadata column
bioeval groups scores.npz --by sex
# Add intervals
bioeval groups scores.npz --by country --interval subject-bootstrap
# Evaluate embeddings with their metadata
bioeval groups faces.npz --columns embeddings=dlib128,labels=subject,sex=sex --by sex
# Use one threshold; write results and plots
bioeval groups scores.npz --by sex --threshold 0.42 --out groups --plots
# Take the groups of a list of trials from a table of its templates
bioeval groups scores.txt --trials trials.txt --labels templates.csv --kind distance --by sex

# Write a page about one system
bioeval report scores.npz --out report.html
# Write a page about two systems, with their names
bioeval report old.npz new.npz --out both.html --name old --name new
# Write a page from the results of bioeval run
bioeval report results/results.nc --out report.html
# Add a check of the data, and the subjects with the most errors
bioeval report scores.npz --zoo --check --out c.html
# Write a page about re-identification
bioeval report reid.npz --protocol market1501 --out reid.html
# Explain a row on the page
bioeval report scores.npz --out report.html --explain 17

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

# Plan the width of the interval of FRR at a FAR
bioeval sample-size pilot.npz --far 1e-4 --width 0.01
# Plan without a pilot
bioeval sample-size --far 1e-3 --frr 0.02 --icc 0.2 --templates 3,6

# Discard by sharpness, at the threshold of a FAR
bioeval error-discard scores.npz --quality sharpness --threshold far=0.001
# Write the results
bioeval error-discard scores.npz --quality size --threshold eer --out d
# Compare two measures of quality
bioeval error-discard scores.npz --quality q1 --quality q2 --threshold eer

# Compare two systems
bioeval gom osnet.npz agw.npz
# Compare three systems; write results and plots
bioeval gom resnet.mat osnet.mat agw.mat --out gom --plots
# Measure mFR on queries of other subjects
bioeval gom osnet.npz --open-queries osnet-of-others.npz
# Name the systems, and add intervals
bioeval gom old.npz new.npz --name before --name after --interval subject-bootstrap
# Use the published code's variant of GOM; print JSON
bioeval gom osnet.npz --variant reference --budget 100 --json

# Find the threshold for a FAR of 0.1 %
bioeval threshold scores.npz --target far=1e-3
# Find a threshold whose FAR is at most 1 % with 95 % confidence
bioeval threshold scores.npz --target far=1% --assure 0.95
# Test on other subjects whether a threshold keeps a FAR of 1 %
bioeval threshold others.npz --threshold 3.61 --claim far=1%
# Choose the threshold of minDCF on one set of trials, judge it on another
bioeval threshold dev.scores dev.txt --kind similarity --target min-dcf=0.01 --on eval.scores eval.txt
# Find it for visits of several tries at all enrolled templates
bioeval threshold visits.npz --target far=5% --templates multi --attempts visit
# Repeat ten folds twenty times; write the study
bioeval threshold scores.npz --target far=1e-3 --folds 10 --repeats 20 --out study
# Find the EER threshold of embeddings; print JSON
bioeval threshold faces.npz --columns embeddings=dlib128,labels=subject --target eer --json

# Evaluate one sequence
bioeval tracking gt.txt tracker.txt --frames 1050
# Compare trackers on the sequences that all of them have
bioeval tracking dancetrack/val trackers/SORT trackers/ByteTrack
# Read another form of rows; print JSON
bioeval tracking truth.txt track3.txt --columns cityflow --json
# Compare trackers by other measures; print JSON
bioeval tracking dancetrack/val trackers/SORT trackers/ByteTrack --measure assa --json
# Add intervals over the sequences
bioeval tracking dancetrack/val trackers/SORT --interval sequence-jackknife
# Evaluate the sequences of a challenge by its conventions
bioeval tracking MOT17/train tracker/MOT17 --pairing previous-frame --mostly-tracked more-than

# Evaluate each subject
bioeval zoo scores.npz
# Use the threshold of a FAR; write results and plots
bioeval zoo scores.npz --threshold far=0.001 --out zoo --plots
# Use a threshold for embeddings; print JSON
bioeval zoo faces.npz --columns embeddings=dlib128,labels=subject --threshold 0.6 --json
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
