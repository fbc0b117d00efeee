"""Run the command line: `python -m tidewatch`."""

import sys

from .cli import main

sys.exit(main())
