"""Does a local search find a nearer layer than the optimum? Of 200 random layers, in half an hour.

python -m tests.checkpoints.searches
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # as pytest does

from test_conversion import test_no_local_search_finds_a_nearer_layer as nothing_better

LAYERS = 200

if __name__ == "__main__":
    for seed in range(LAYERS):
        nothing_better(seed)
        print(f"{seed + 1} of {LAYERS}: nothing nearer", flush=True)
