"""bioeval: what the scores of a recognition system really mean.

``import bioeval as be``; the names in ``__init__.pyi`` and those that studies offer are loaded when
they are first used, so that importing the package costs nothing.
"""

from bioeval.base.lazy import Offered, lazy_names
from bioeval.base.version import __version__ as __version__


def _of_studies() -> Offered:
    """Return the public names of the studies."""
    from bioeval.base.offers import clashes_of, doors

    offered = Offered({}, {}, clashes_of("be"))
    for study in doors().values():
        for home, names in study.calls.items():
            offered.homes.update(dict.fromkeys(names, home))
        offered.other_names.update(study.other_names)
    return offered


__getattr__, __dir__ = lazy_names(__spec__, _of_studies)
