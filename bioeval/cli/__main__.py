"""``python -m bioeval.cli`` is ``bioeval``."""

import sys

from bioeval.cli import main

sys.exit(main())
