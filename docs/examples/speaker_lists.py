"""Speaker verification with lists: a threshold from development trials.

Run it in an empty folder; it makes lists of trials there as VoxCeleb and Kaldi have them, and
writes speakers.html. The same work on the command line, with the files that it makes:

    bioeval threshold dev.scores dev.trials --format voxceleb --kind similarity \\
        --labels speakers.csv --target min-dcf=0.01 --on eval.scores --on eval.trials
    bioeval run eval.scores eval.trials --format voxceleb --kind similarity \\
        --labels speakers.csv --min-dcf 0.01,0.05 --interval people
"""

import numpy as np

import bioeval as be

rng = np.random.default_rng(1)
SPEAKERS, RECORDINGS, SIZE = 120, 6, 48
speaker = np.repeat([f"id{number:05d}" for number in range(SPEAKERS)], RECORDINGS)
name = [f"{who}/{number:04d}.wav" for number, who in enumerate(speaker)]

# Embeddings: a voice, a channel that raises all scores of some recordings, and noise.
voices = np.repeat(rng.normal(size=(SPEAKERS, SIZE)), RECORDINGS, axis=0)
channel = rng.uniform(0, 2, size=(len(name), 1)) * rng.normal(size=SIZE)
x = voices + channel + 0.7 * rng.normal(size=voices.shape)
x /= np.linalg.norm(x, axis=1, keepdims=True)

# Two sets of different speakers.
parts = np.split(np.arange(len(name)), 2)
sets = dict(zip(("dev", "eval"), parts, strict=True))


def write_list(file, lines):
    """Write a list with a line of words for each pair."""
    with open(file, "w") as target:
        target.writelines(f"{line}\n" for line in lines)


write_list("speakers.csv", ["subject,template", *map(",".join, zip(speaker, name, strict=True))])
for part in ("dev", "eval"):
    here = sets[part]
    a, b = np.triu_indices(len(here), 1)
    same = speaker[here[a]] == speaker[here[b]]
    kept = np.append(np.flatnonzero(same), rng.choice(np.flatnonzero(~same), 8000, replace=False))
    pairs = [(here[a[i]], here[b[i]]) for i in rng.permutation(kept)]
    marks = (f"{int(speaker[i] == speaker[j])} {name[i]} {name[j]}" for i, j in pairs)
    write_list(f"{part}.trials", marks)
    write_list(f"{part}.scores", (f"{name[i]} {name[j]} {x[i] @ x[j]:.6f}" for i, j in pairs))

# The trials.
trials = {}
for part in ("dev", "eval"):
    files = {"trials": f"{part}.trials", "labels": "speakers.csv", "format": "voxceleb"}
    trials[part] = be.load(f"{part}.scores", kind="similarity", **files)
ds = be.verification(trials["eval"], costs=[(0.01, 1, 1), (0.05, 1, 1)])
print(f"EER {ds.eer.item():.2%}, minDCF {ds.min_dcf.values.round(3)}")

# The threshold of minDCF of the development trials, judged by the evaluation trials.
judged = be.judge_threshold(trials["dev"], trials["eval"], "min-dcf=0.01")
be.show(judged)

# Intervals for other speakers, and a page.
rates = be.verification(trials["eval"], costs=[(0.01, 1, 1)], interval="people")
low, high = rates.eer_low.item(), rates.eer_high.item()
print(f"EER {rates.eer.item():.2%}, 95 % interval {low:.2%} to {high:.2%}")
be.report(rates, "speakers.html")
