"""The messages of a comparison of two systems."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "not-in-common",
        "the systems do not have the same {what}: {left_out_a} of {a:name} and {left_out_b} of "
        "{b:name} are left out",
        "Both systems are compared on what they have in common by the names of their templates or "
        "pairs. The numbers are of the common part, and differ from those of each system alone.",
        "Nothing, if the others are meant to be left out. Else give both systems the same "
        "templates, with the same names.",
        "note",
        {"what": "pairs", "left_out_a": 3, "a": "old", "left_out_b": 0, "b": "new"},
    ),
    MessageType(
        "not-in-all",
        "{left_out} {what} of {system:name} are left out, since not all systems have them",
        "All systems are ranked on what they have in common by the names of their templates or "
        "pairs. The numbers are of the common part, and differ from those of each system alone.",
        "Nothing, if the others are meant to be left out. Else give all systems the same "
        "templates, with the same names.",
        "note",
        {"system": "team 7", "left_out": 3, "what": "templates"},
    ),
    MessageType(
        "attempts-of-systems",
        "{systems:names} did not make the same attempts as {first:name}, because of failed "
        "comparisons, masks or exclusions. Attempts of each class are {attempts:counts}, and "
        "{attempts_of_first:counts} of {first:name}",
        "A ranking is fair where all systems made the same attempts. Where one of them failed, or "
        "left attempts out, its rates are over different attempts.",
        "Give all systems the same mask and the same exclusions, and count failed comparisons as "
        "rejected, with {arg.nan=reject}.",
        example={
            "systems": ["team 7"],
            "first": "team 1",
            "attempts": [360, 13678],
            "attempts_of_first": [360, 13680],
        },
    ),
    MessageType(
        "system-left-out",
        "{system:name} is left out: {reason}",
        "A submission that cannot be read, or that has other data than the others, is not ranked.",
        "Correct the file, or ask its author for another one.",
        example={"system": "team 7", "reason": "its matrix has 199 rows; expected 200"},
    ),
    MessageType(
        "different-attempts",
        "the systems have different attempts: one of them alone made "
        "{comparisons:count comparisons}, because of failed comparisons, masks or exclusions. "
        "Attempts of each class are {attempts_a:counts} in the first system, and "
        "{attempts_b:counts} in the second",
        "A comparison is paired where both systems made the same attempts. Where one of them "
        "failed, or left attempts out, their rates are over different attempts.",
        "Give both systems the same mask and the same exclusions, and count failed comparisons as "
        "rejected, with {arg.nan=reject}.",
        example={"comparisons": 2, "attempts_a": [360, 13680], "attempts_b": [360, 13678]},
    ),
)
