"""Lists of pairs as the lab writes them: ``#lab``, then a line ``SCORE same|other`` a pair."""

from bioeval import DataError, Scores
from bioeval.scores import Format


def _begins(file):
    return file.begins_with(b"#lab")


def _read(path, options):
    scores, genuine = [], []
    for number, line in enumerate(path.read_text().splitlines()[1:], 2):
        value, _, word = line.partition(" ")
        if word not in ("same", "other"):
            raise DataError(f"line {number}: ends in {word!r}; expected same or other")
        scores.append(float(value))
        genuine.append(word == "same")
    return Scores.from_pairs(scores, genuine, kind="distance")


FORMAT = Format(
    name="lab",
    holds="a list of pairs of the lab",
    recognise=_begins,
    first_line=_begins,
    read=_read,
    suffixes=(".lab",),
)
