"""How many examples a property test takes: as many as it says, and more or fewer with `RECALLENS_EXAMPLES`."""

import os

from hypothesis import HealthCheck, settings

USUAL = 50
EXAMPLES = int(os.environ.get("RECALLENS_EXAMPLES", USUAL))


def taking(count: int) -> settings:
    """`count` in `make test`, a part of them in `make fast`, twenty times as many in `make laws`."""
    return settings(max_examples=max(1, count * EXAMPLES // USUAL), suppress_health_check=[HealthCheck.too_slow])
