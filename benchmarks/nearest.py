"""What it costs to take the options of the nearest shapes that were tuned: their regret.

.venv/bin/python benchmarks/nearest.py --budget 10

Each program is tuned for some shapes. Then each shape is run with the default options, with its own winner and with the
winner of the nearest of the other shapes (tc.cache.nearest), in turns. The regret is the time with the neighbour's options over
that with its own; without a cache the time would be that of the default options.
"""

import os

os.environ.setdefault("TC_CACHE_MODE", "off")

from suite.nearest import main

if __name__ == "__main__":
    main()
