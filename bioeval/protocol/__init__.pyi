"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.protocol.card import Protocol as Protocol
from bioeval.protocol.loading import (
    available as available,
    explain as explain,
    for_layout as for_layout,
    is_path as is_path,
    load as load,
    parse as parse,
)
from bioeval.protocol.pairs import with_exclusions as with_exclusions
from bioeval.protocol.tasks import (
    ClosedSet as ClosedSet,
    OpenSet as OpenSet,
    Reid as Reid,
    Search as Search,
    Verification as Verification,
)
