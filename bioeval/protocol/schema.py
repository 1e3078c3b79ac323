"""What a protocol card may say: one frozen table.

``SECTIONS`` lists every section of a card, every field of a section, its type, its accepted
values and its default, each with a line in plain words. Reading a card, its error messages, the
explanation in plain words and the tables of ``docs/protocol-cards.md`` are all made from this
table, so a new section or choice is written here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bioeval.protocol.fields import (
    PAIRS,
    RECTANGULAR,
    SEARCHABLE,
    SQUARE,
    Choice,
    Field,
    Interval,
    Section,
)

SCHEMA_VERSION = 1

LAYOUTS: Mapping[str, str] = MappingProxyType(
    {
        SQUARE: "one set of n templates, each compared with all the others; a template is never "
        "compared with itself",
        RECTANGULAR: "m probe templates (rows) compared with the templates of a separate gallery "
        "(columns)",
        PAIRS: "a fixed list of comparisons, each marked as genuine or impostor",
    }
)

FUSIONS = {
    "min": Choice("the closest of the subject's templates decides (for similarities, the highest)"),
    "mean": Choice("the mean over the subject's templates, in float64"),
    "max": Choice("the farthest of the subject's templates decides (for similarities, the lowest)"),
    "median": Choice("the median over the subject's templates"),
    "kth:K": Choice(
        "the K-th closest of the subject's templates decides; a subject with fewer than K usable "
        "templates is no attempt"
    ),
}

RANK_UNITS = {
    "template": Choice(
        "the candidate list holds every template, so a subject may stand on it more than once"
    ),
    "subject": Choice("the candidate list holds each subject once, at its fused score"),
}

PAIRS_RULES = {
    "ordered": Choice("(i, j) and (j, i) are two attempts"),
    "unordered": Choice(
        "each pair of templates is one attempt, with the later one in the file as the probe and "
        "the earlier one enrolled: TG and TI are half of the above"
    ),
    "first-impostors": Choice(
        "each pair of templates of one subject is one genuine attempt, so TG is half of the above; "
        "only the first templates in the file of two subjects make an impostor attempt, once: "
        "TI = N(N - 1)/2 for N subjects"
    ),
}

TIES = {
    "pessimistic": Choice("a non-mate exactly as close as the mate ranks before it"),
    "optimistic": Choice("a non-mate exactly as close as the mate ranks after it"),
    "stable": Choice(
        "equal scores keep the order of the gallery's columns (a subject stands at the column of "
        "its first best template)"
    ),
    "expected": Choice("the mean over all orders of the tied, so counts may hold fractions"),
}

GALLERIES = {
    "all": Choice("every template of the gallery is enrolled"),
    "single": Choice(
        "one template of each subject, drawn uniformly for each probe anew; rates are the exact "
        "means over all such galleries, and counts may hold fractions"
    ),
}

HEAD = Section(
    doc="What the card is: the fields above the first section.",
    fields={
        "schema": Field(
            "integer",
            "the version of the card format",
            interval=Interval(SCHEMA_VERSION, SCHEMA_VERSION),
            required=True,
        ),
        "name": Field(
            "text",
            "the name of the protocol, as it is asked for",
            pattern="[a-z0-9]+(-[a-z0-9]+)*",
            pattern_words="of lower-case letters and digits, with single hyphens between them",
            required=True,
        ),
        "title": Field("text", "the title, for headings", required=True),
        "summary": Field("text", "the protocol in a few plain sentences", required=True),
        "layout": Field(
            "text",
            "what is compared with what",
            choices={layout: Choice(doc) for layout, doc in LAYOUTS.items()},
            required=True,
        ),
        "not_said": Field(
            "text",
            "what the card leaves open, one sentence each",
            many=True,
            default=(),
            may_be_empty=True,
        ),
        "not_expressed": Field(
            "text",
            "what the protocol's source fixes and this card cannot say, one sentence each",
            many=True,
            default=(),
            may_be_empty=True,
        ),
    },
)

SOURCE = Section(
    doc="Where the protocol is defined.",
    required=True,
    fields={
        "text": Field("text", "the paper, standard or lecture that defines it", required=True),
        "year": Field("integer", "its year", interval=Interval(1800, 2200)),
        "section": Field("text", "the section, chapter or part of it"),
        "url": Field("text", "where to read it"),
    },
)

SINGLE = Choice(
    "one comparison is one attempt",
    says={
        SQUARE: {
            "An attempt": "every ordered pair (i, j) of two different templates: i claims to be "
            "the subject of j. (i, j) and (j, i) are two attempts, unless 'pairs' says otherwise "
            "below",
            "Genuine": "the two templates are of one subject. TG = the sum over subjects of "
            "S(S - 1), for a subject with S templates",
            "Impostor": "the two templates are of two subjects. TI = n^2 - the sum over subjects "
            "of S^2, for n templates in all",
        },
        RECTANGULAR: {
            "An attempt": "every cell of the matrix: the probe claims to be the subject of the "
            "gallery template",
            "Genuine": "probe and template are of one subject. TG = the sum over probes of the "
            "number of gallery templates of the probe's subject",
            "Impostor": "every other cell. TI = m*n - TG, for m probes and n gallery templates",
        },
        PAIRS: {
            "An attempt": "every pair of the list",
            "Genuine": "a pair that the list says is genuine. TG = their number",
            "Impostor": "every other pair. TI = their number",
        },
    },
)

MULTI = Choice(
    "one claim meets all templates of the claimed subject, fused into one score",
    layouts=SEARCHABLE,
    says={
        SQUARE: {
            "An attempt": "each probe claims each subject once; the score is fused over that "
            "subject's templates, the probe itself left out",
            "Genuine": "a claim of the own subject, if it has another template. TG = probes with "
            "at least one other template of their subject",
            "Impostor": "a claim of any other subject. TI = all pairs of a probe and another "
            "subject (n(N - 1) for n templates of N subjects)",
        },
        RECTANGULAR: {
            "An attempt": "each probe claims each enrolled subject once; the score is fused over "
            "that subject's gallery templates",
            "Genuine": "a claim of the own subject. TG = probes whose subject is enrolled",
            "Impostor": "a claim of any other subject. TI = m*N - TG, for m probes and N enrolled "
            "subjects",
        },
    },
)

VERIFICATION = Section(
    doc="Verification (1:1): a probe claims an identity, and the claim is accepted or rejected.",
    task=True,
    rates={
        "GAR": "genuine accepts / genuine attempts (GA / TG)",
        "FRR": "false rejects / genuine attempts (FR / TG) = 1 - GAR",
        "FAR": "false accepts / impostor attempts (FA / TI)",
        "GRR": "genuine rejects / impostor attempts (GR / TI) = 1 - FAR",
    },
    fields={
        "templates": Field(
            "text",
            "whether a claim meets one template of the claimed subject or all of them",
            many=True,
            distinct=True,
            default=("single", "multi"),
            choices={"single": SINGLE, "multi": MULTI},
        ),
        "fusion": Field(
            "text",
            "how the scores of one subject's templates become one score",
            choices=FUSIONS,
            default="min",
            layouts=SEARCHABLE,
            only_if=("templates", "multi"),
        ),
        "pairs": Field(
            "text",
            "which comparisons of a square matrix are attempts; all but ordered go with templates "
            "= single and with no other task",
            choices=PAIRS_RULES,
            default="ordered",
            layouts=(SQUARE,),
            only_if=("templates", "single"),
        ),
        "unenrolled_claims": Field(
            "text",
            "what to do with an explicit claim of a subject that is not enrolled",
            choices={
                "raise": Choice("an explicit claim of a subject that is not enrolled is an error"),
                "skip": Choice("such a claim is left out and counted"),
            },
            default="raise",
            layouts=SEARCHABLE,
        ),
    },
)

OPEN_SET = Section(
    doc="Open-set identification (1:N with a threshold): is the probe's subject in the gallery, "
    "and who is it?",
    task=True,
    layouts=SEARCHABLE,
    says={
        SQUARE: {
            "An attempt": "each probe is searched twice, in parallel: once as a genuine probe, "
            "against all other templates, and once as an impostor, against the templates of the "
            "other subjects only",
            "Genuine": "the probe, if its subject has another template. Its score is the distance "
            "of its nearest mate, its rank that mate's place among all candidates. TG = probes "
            "with a mate",
            "Impostor": "the same probe with its own subject's templates out of the gallery. Its "
            "score is the distance of the nearest template of another subject. TI = probes with "
            "at least one other subject present",
        },
        RECTANGULAR: {
            "An attempt": "each probe is searched in the gallery",
            "Genuine": "a probe whose subject is enrolled (PG). Its score is the distance of its "
            "nearest mate, its rank that mate's place among all candidates. TG = enrolled probes "
            "with at least one usable mate",
            "Impostor": "a probe whose subject is not in the gallery of the trial: which probes, "
            "'impostors' says below. Its score is the distance of the nearest template of another "
            "subject. TI = such probes with at least one usable template of another subject",
        },
    },
    rates={
        "DIR(t, k)": "genuine probes with a mate within t at rank k or better / TG",
        "FRR(t)": "1 - DIR(t, 1): missed, or not first",
        "FAR(t)": "impostor probes with any candidate within t / TI",
        "GRR(t)": "1 - FAR(t)",
        "TTR(t)": "enrolled probes with any template within t, whosever it is / enrolled probes",
        "FTR(t)": "probes that are not enrolled (PN) with any template within t / such probes",
    },
    fields={
        "impostors": Field(
            "text",
            "which probes play the impostor",
            choices={
                "auto": Choice(
                    "the probes that are not enrolled (PN) if there are any, else each enrolled "
                    "probe with its own subject left out; all-against-all always leaves it out"
                ),
                "unenrolled": Choice("the probes that are not enrolled (PN)", (RECTANGULAR,)),
                "leave-subject-out": Choice(
                    "each enrolled probe, searched again without its own subject's templates"
                ),
                "both": Choice("the probes of both kinds", (RECTANGULAR,)),
            },
            default="auto",
        ),
        "rank_unit": Field(
            "text", "what stands on the candidate list", choices=RANK_UNITS, default="template"
        ),
        "fusion": Field(
            "text",
            "how the scores of one subject's templates become one score",
            choices=FUSIONS,
            default="min",
            only_if=("rank_unit", "subject"),
        ),
        "ties": Field(
            "text",
            "where a non-mate exactly as close as the mate ranks",
            choices=TIES,
            default="pessimistic",
        ),
        "gallery": Field("text", "which templates are enrolled", choices=GALLERIES, default="all"),
        "max_rank": Field(
            "integer",
            "the last rank of DIR (left out: every rank, while the table stays small)",
            interval=Interval(1),
        ),
    },
)

CLOSED_SET = Section(
    doc="Closed-set identification (1:N without a threshold): every probe is enrolled; at which "
    "rank is its subject?",
    task=True,
    layouts=SEARCHABLE,
    says={
        SQUARE: {
            "An attempt": "each template is searched against all others. TA = probes with a mate",
            "Genuine": "every probe. One whose subject has no other template has no mate, and "
            "'unmated' says below what happens to it",
            "Impostor": "nobody: there is no threshold to pass",
        },
        RECTANGULAR: {
            "An attempt": "each probe is searched in the gallery. TA = probes with a mate",
            "Genuine": "every probe, since all are promised to be enrolled; 'unmated' says below "
            "what happens to one that is not",
            "Impostor": "nobody: there is no threshold to pass",
        },
    },
    rates={
        "CMS(k)": "probes with a mate at rank k or better / TA",
        "RR": "the recognition rate, CMS(1)",
    },
    fields={
        "rank_unit": OPEN_SET.fields["rank_unit"],
        "fusion": OPEN_SET.fields["fusion"],
        "ties": OPEN_SET.fields["ties"],
        "gallery": OPEN_SET.fields["gallery"],
        "max_rank": Field(
            "integer", "the last rank of CMS (left out: every rank)", interval=Interval(1)
        ),
        "unmated": Field(
            "text",
            "what to do with a probe that has no mate in the gallery",
            choices={
                "auto": Choice(
                    "a probe without a mate is left out and counted in all-against-all, and an "
                    "error in probe-against-gallery, whose closed set promises enrolment"
                ),
                "raise": Choice("a probe without a mate is an error"),
                "skip": Choice("a probe without a mate is left out and counted"),
            },
            default="auto",
        ),
    },
)

REID = Section(
    doc="Re-identification (1:N, ranked): each query searches the gallery; how far up the list do "
    "its matches stand?",
    task=True,
    layouts=SEARCHABLE,
    says={
        SQUARE: {
            "An attempt": "each template is a query, against all the others that the convention "
            "leaves it",
            "Genuine": "a query with at least one match left: another template of its identity "
            "that is not removed. Every mean is over such queries, unless 'unmatched' says zero",
            "Impostor": "nobody: there is no threshold to pass. Whatever is left of other "
            "identities, distractors included, is a wrong entry of the list",
        },
        RECTANGULAR: {
            "An attempt": "each query (row) searches the gallery entries that the convention "
            "leaves it",
            "Genuine": "a query with at least one match left: a gallery entry of its identity "
            "that is not removed. Every mean is over such queries, unless 'unmatched' says zero",
            "Impostor": "nobody: there is no threshold to pass. Whatever is left of other "
            "identities, distractors included, is a wrong entry of the list",
        },
    },
    rates={
        "CMC(k)": "queries whose counted match stands at rank k or better / queries",
        "mAP": "the mean over the queries of their average precision",
        "mINP": "the mean over the queries of matches / rank of the last match",
    },
    fields={
        "removed": Field(
            "text",
            "which gallery entries a query does not see",
            choices={
                "same-id-same-camera": Choice(
                    "entries of the query's own identity from the query's own camera"
                ),
                "same-camera": Choice("every entry from the query's own camera, whosever it is"),
                "none": Choice("nothing is removed; cameras are not needed"),
            },
            default="same-id-same-camera",
        ),
        "removed_for_ap": Field(
            "text",
            "the same for average precision and INP, where a program has another list for them",
            choices={
                "as-above": Choice("the same list as that of the CMC"),
                "same-id-same-camera": Choice(
                    "average precision and INP are over the list without the entries of the "
                    "query's identity from its camera, whatever the CMC is over"
                ),
                "none": Choice("average precision and INP are over the whole list"),
            },
            default="as-above",
        ),
        "junk": Field(
            "text",
            "what to do with gallery entries that bear one of the junk ids",
            choices={
                "remove": Choice("junk leaves the gallery of every query"),
                "keep": Choice("junk stays, as wrong entries that nobody matches"),
            },
            default="remove",
        ),
        "junk_ids": Field(
            "integer",
            "identities that mark junk: detections of nothing, or of a part of somebody",
            many=True,
            distinct=True,
            default=(-1,),
            may_be_empty=True,
        ),
        "distractor_ids": Field(
            "integer",
            "identities that mark distractors, which stay as wrong entries; a query that bears "
            "one is searched like any other, with a warning",
            many=True,
            distinct=True,
            default=(0,),
            may_be_empty=True,
        ),
        "cmc": Field(
            "text",
            "what the CMC counts",
            choices={
                "first-match": Choice("the first match of a query, at its rank"),
                "allshots": Choice(
                    "each of the h matches of a query, with 1/h, at its rank among non-matches"
                ),
                "single-gallery-shot": Choice(
                    "the one match in a gallery of one entry of each identity, drawn anew for "
                    "each query; averaged exactly over all draws"
                ),
                "identity-dedup": Choice(
                    "the query's identity in the list of distinct identities, each at its first "
                    "entry"
                ),
            },
            default="first-match",
        ),
        "unmatched": Field(
            "text",
            "what to do with a query that has no match left",
            choices={
                "skip": Choice("a query without a match is left out of every mean, and counted"),
                "zero": Choice("a query without a match counts as 0 in every mean"),
            },
            default="skip",
        ),
        "ap": Field(
            "text",
            "the form of average precision",
            choices={
                "sum": Choice("the mean of the precisions at the ranks of the matches"),
                "trapezoid": Choice(
                    "the area under precision and recall by the trapezoidal rule, from precision 1 "
                    "at recall 0"
                ),
                "tied-once": Choice(
                    "the sum over distinct scores of precision times gained recall, so that equal "
                    "scores form one threshold (scikit-learn's average_precision_score)"
                ),
            },
            default="sum",
        ),
        "rank_k": Field(
            "integer",
            "also report the mean average precision of lists cut at this rank",
            interval=Interval(1),
        ),
        "rank_k_over": Field(
            "text",
            "what the average precision of a cut list is divided by",
            choices={
                "positives": Choice("all matches in the query's gallery, within the cut or not"),
                "smaller": Choice("the smaller one of that number and the length of the cut"),
            },
            default="positives",
        ),
        "max_rank": Field("integer", "the last rank of the CMC", interval=Interval(1), default=50),
        "ties": Field(
            "text",
            "where a non-match exactly as close as a match ranks",
            choices=TIES,
            default="stable",
        ),
    },
)

_BY = {
    "subject-folds": Choice(
        "folds of subjects: each is tested once while the others are trained on; nobody is in two",
        SEARCHABLE,
    ),
    "sample-folds": Choice(
        "folds of templates, with the same number of each subject's, give or take one; subjects "
        "are on both sides",
        SEARCHABLE,
    ),
    "given-folds": Choice(
        "the folds that come with the data: of each pair, or of each template in the metadata "
        "column that 'column' names"
    ),
    "dev-eval": Choice(
        "two parts of subjects, drawn anew in each repeat: development, on which the threshold is "
        "chosen, and evaluation, on which it is judged",
        SEARCHABLE,
    ),
}

PARTITION = Section(
    doc="The folds. A training pair has both templates in the training part, a test pair both in "
    "the test part; pairs of one and the other are used by neither.",
    optional=True,
    fields={
        "by": Field("text", "how the data are divided", choices=_BY, required=True),
        "folds": Field(
            "integer",
            "the number of folds (not with given folds, nor with dev-eval)",
            interval=Interval(2),
            default=10,
        ),
        "repeats": Field(
            "integer",
            "how often the division is drawn (not with given folds)",
            interval=Interval(1),
            default=1,
        ),
        "seed": Field("integer", "the seed of the draws", interval=Interval(0), default=0),
        "test_size": Field(
            "number",
            "with dev-eval: the share of subjects in the evaluation part",
            interval=Interval(0.01, 0.99),
            default=0.5,
        ),
        "stratify": Field(
            "text",
            "a metadata column of subjects, whose values every fold gets in the same proportion",
            layouts=SEARCHABLE,
        ),
        "column": Field(
            "text",
            "with given folds: the metadata column that holds the fold of each template",
            layouts=SEARCHABLE,
        ),
    },
)

THRESHOLD = Section(
    doc="The threshold of each fold: chosen on its training part, at the scores themselves, and "
    "used unchanged on its test part.",
    optional=True,
    fields={
        "rule": Field(
            "text",
            "how it is chosen",
            choices={
                "eer": Choice("where FAR and FRR cross: the neighbour with the smaller larger one"),
                "far": Choice("the smallest FRR with FAR at most 'far'"),
                "accuracy": Choice("the largest share of right decisions; of equals the strictest"),
                "hter": Choice("the smallest (FAR + FRR) / 2; of equals the strictest"),
                "cost": Choice(
                    "the least prior c_miss FRR + (1 - prior) c_fa FAR, of 'cost'; of equals the "
                    "strictest"
                ),
                "fixed": Choice("given: 'value', the same in all folds"),
            },
            default="eer",
        ),
        "far": Field(
            "number",
            "the largest FAR allowed on the training part",
            interval=Interval(0, 1),
            only_if=("rule", "far"),
        ),
        "cost": Field(
            "number",
            "prior, c_miss, c_fa",
            many=True,
            interval=Interval(0),
            only_if=("rule", "cost"),
        ),
        "value": Field(
            "number", "the threshold, in the units of the scores", only_if=("rule", "fixed")
        ),
    },
)

UNCERTAINTY = Section(
    doc="The interval of a rate over folds.",
    optional=True,
    fields={
        "interval": Field(
            "text",
            "how it is found",
            choices={
                "nadeau-bengio": Choice(
                    "from the spread between folds, corrected for training parts that overlap "
                    "(Nadeau and Bengio 2003), with sizes in subjects; a heuristic"
                ),
                "subject-bootstrap": Choice(
                    "of the pooled rate, by resampling subjects, while each fold keeps its "
                    "threshold; of verification alone"
                ),
            },
            default="nadeau-bengio",
        ),
        "confidence": Field(
            "number", "both sides together", interval=Interval(0.5, 0.9999), default=0.95
        ),
    },
)

THRESHOLDS = Section(
    doc="The thresholds of the curves. EER and the other operating points do not depend on them.",
    only_one_of=("count", "values"),
    fields={
        "count": Field(
            "integer",
            "about this many thresholds, from the smallest to the largest finite score",
            interval=Interval(2, 1_000_000),
            default=1000,
        ),
        "values": Field(
            "number",
            "these thresholds, in the units of the scores",
            many=True,
            increasing=True,
        ),
    },
)

REPORT = Section(
    doc="What tables and reports show.",
    fields={
        "far_targets": Field(
            "number",
            "FRR and DIR are given where FAR is at most each of these",
            many=True,
            distinct=True,
            interval=Interval(0, 1, low_open=True),
            default=(0.1, 0.01, 0.001, 0.0001),
        ),
        "priors": Field(
            "number",
            "the least expected cost of decisions (minDCF) of verification is given for each of "
            "these shares of genuine attempts, both errors costing 1",
            many=True,
            distinct=True,
            interval=Interval(0, 1, low_open=True, high_open=True),
            default=(0.5,),
        ),
        "ranks": Field(
            "integer",
            "the ranks shown in tables",
            many=True,
            distinct=True,
            interval=Interval(1),
            default=(1, 5, 10),
            layouts=SEARCHABLE,
        ),
    },
)

SECTIONS: Mapping[str, Section] = MappingProxyType(
    {
        "": HEAD,
        "source": SOURCE,
        "verification": VERIFICATION,
        "open_set": OPEN_SET,
        "closed_set": CLOSED_SET,
        "reid": REID,
        "partition": PARTITION,
        "threshold": THRESHOLD,
        "uncertainty": UNCERTAINTY,
        "thresholds": THRESHOLDS,
        "report": REPORT,
    }
)
