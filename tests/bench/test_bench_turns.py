"""Two sides answer the same questions by turns, from copies of one store: here both are this tree."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[2] / "bench"

SHORT = """
import json, sys, turns
from pathlib import Path
folder, encoder = Path(sys.argv[1]), "hashing:64"
here = turns.ROOT, sys.executable
texts = [f"Carrier {at} answers the heron within {at * 7} milliseconds" for at in range(300)]
store = turns.filled(*here, folder / "kept", encoder, texts)
with (
    turns.opened(*here, turns.copied(store, folder / "other"), encoder) as other,
    turns.opened(*here, turns.copied(store, folder / "this"), encoder) as this,
):
    print(json.dumps([turns.turns(other, this, [f"carrier {at}" for at in range(20)]), this.answer("carrier 7")]))
"""


def test_both_sides_give_the_same_results_and_their_times(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", SHORT, str(tmp_path)], check=True, capture_output=True, encoding="utf-8", cwd=BENCH
    )
    figures, (took, ids) = json.loads(ran.stdout.splitlines()[-1])
    assert figures["questions"] == 20
    assert figures["otherResults"] == 0
    assert figures["otherMs"] > 0
    # Two copies of the same code; the bounds are wide, as other tests run beside it.
    assert 0.3 < figures["medianOfRatios"] < 3
    assert took > 0
    assert len(ids) > 0
