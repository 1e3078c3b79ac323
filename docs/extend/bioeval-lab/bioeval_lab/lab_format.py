"""Lists of pairs as the lab writes them: ``#lab``, then a line ``SCORE same|other`` a pair."""

import re

from bioeval import DataError, Scores
from bioeval.scores import Format


def _begins(file):
    return file.begins_with((b"#lab\n", b"#lab\r\n"))


def _read(path, options):
    pairs = []
    for number, line in enumerate(path.read_text().splitlines()[1:], 2):
        if not re.fullmatch(r"[\d.]+ (same|other)", line):
            raise DataError(f"line {number}: is {line!r}; expected SCORE same or SCORE other")
        pairs.append((float(line.split()[0]), line.endswith("same")))
    scores, genuine = zip(*pairs, strict=True)
    return Scores.from_pairs(scores, genuine, kind="distance")


FORMAT = Format(
    name="lab",
    holds="a list of pairs of the lab",
    recognise=_begins,
    first_line=_begins,
    read=_read,
    suffixes=(".lab",),
)
