"""The commands under the headings of ``bioeval --help``, each with what it does.

A command ``x-y`` is the function ``x_y_command`` of the file ``x_y.py``, or of one of `FILES`.
"""

HEADINGS = {
    "Begin with": {
        "run": "Evaluate verification, identification, re-identification.",
        "compare": "Compare or rank systems on the same data.",
        "threshold": "Choose a threshold, with the FAR and FRR to expect of it.",
        "report": "Write an HTML page with the rates at a threshold, and curves.",
    },
    "Data and examples": {
        "demo": "Show all of it on two face recognition systems, in half a minute.",
        "example": "Write scores of real faces that come with bioeval.",
        "simulate": "Simulate scores of a population with known truth.",
        "check": "Check data before an evaluation: labels, copies, failures.",
        "convert": "Convert a file to another format.",
        "info": "Print versions, for a report of a fault.",
    },
    "Systems": {
        "fuse": "Fuse systems, and evaluate them with the fused system.",
    },
    "People and causes": {
        "explain": "Explain which counters each comparison of a row adds to.",
        "zoo": "Evaluate each subject; test for goats, wolves and lambs.",
        "groups": "Evaluate verification by group of people, or by condition.",
        "gallery-size": "Evaluate identification by number of enrolled subjects.",
    },
    "Outside the core": {
        "protocols": "List, explain and check protocol cards.",
        "conventions": "Evaluate by every protocol card that fits, one row each.",
        "gom": "Compare systems of open-world re-identification by GOM.",
        "tracking": "Evaluate or compare trackers: CLEAR MOT, IDF1, HOTA.",
    },
}

COMMANDS = {name: does for commands in HEADINGS.values() for name, does in commands.items()}

#: The commands of each file that has several.
FILES = {
    "about": ("demo", "protocols", "info"),
    "data": ("example", "simulate", "check", "convert"),
    "studies": (
        *("explain", "zoo", "groups", "gallery-size", "conventions"),
        *("gom", "tracking"),
    ),
    "systems": ("compare", "fuse"),
}
