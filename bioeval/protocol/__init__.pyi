"""The public names, one line for each: type checkers and the package itself read them here."""

from bioeval.protocol.card import Protocol as Protocol
from bioeval.protocol.loading import (
    available as available,
    explain as explain,
    for_layout as for_layout,
    load as load,
    parse as parse,
)

# For studies
# isort: split
from bioeval.protocol.loading import is_path as is_path
from bioeval.protocol.pairs import with_exclusions as with_exclusions
from bioeval.protocol.tasks import (
    ClosedSet as ClosedSet,
    OpenSet as OpenSet,
    Reid as Reid,
    Search as Search,
)
