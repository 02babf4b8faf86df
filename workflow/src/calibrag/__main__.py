"""``python -m calibrag``, which is the command ``calibrag``."""

import sys

from calibrag.command import main

sys.exit(main())
