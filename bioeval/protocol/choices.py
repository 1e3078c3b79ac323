"""The words of fields of cards and of arguments of calls, as types; the fields explain them."""

from __future__ import annotations

from typing import Literal

#: Which probes make impostor attempts in open-set identification.
ImpostorProbes = Literal["auto", "unenrolled", "leave-subject-out", "both"]

#: Whether a candidate list has templates or subjects.
RankUnit = Literal["template", "subject"]
#: Which templates of the gallery are enrolled.
EnrolledTemplates = Literal["all", "single"]

#: The rank of an entry exactly as close as the mate.
PlainTies = Literal["pessimistic", "optimistic", "stable"]
#: The same, also with counts that may hold fractions.
Ties = Literal[PlainTies, "expected"]

#: Probes without a mate, in closed-set identification.
Unmated = Literal["auto", "raise", "skip"]

#: Entries that a query does not see.
Removed = Literal["same-id-same-camera", "same-camera", "none"]
#: The treatment of junk.
Junk = Literal["keep", "remove"]

#: Entries that a query does not see, for average precision and INP.
RemovedForAp = Literal["as-above", "same-id-same-camera", "none"]
#: The matches that the CMC counts.
Cmc = Literal["first-match", "allshots", "single-gallery-shot", "identity-dedup"]

#: The treatment of a query without a match.
Unmatched = Literal["skip", "zero"]
#: The form of average precision.
ApForm = Literal["sum", "trapezoid", "tied-once"]

#: The divisor of the average precision of a cut list.
RankKOver = Literal["positives", "smaller", "found"]
#: The divisor of the precision at a rank.
PrecisionOver = Literal["rank", "smaller"]

#: The text of GOM's paper, or the program behind its figures.
GomVariant = Literal["paper", "reference"]
