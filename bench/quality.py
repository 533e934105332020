"""Every dev set in one table, with 95% intervals, and the figures of a commit in bench/results.

    RECALLENS_EVAL_DATA=… python bench/quality.py [--limit N] [--against RESULTS.json] [SET …]

The default preset, offline, no language model. A set that was measured at this commit is not measured again, so that it
can be stopped and run again; the file has what `recallens eval --json` says of each set, and each question's figures
in the set's order, by which `--against` compares two commits question by question.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from recallens.config import load
from recallens.evaluate.comparison import paired_bootstrap
from recallens.evaluate.dataset import folders_in, read_dataset
from recallens.evaluate.encoder_cache import cached_encoder
from recallens.evaluate.harness import asked, run_judged
from recallens.evaluate.report import judged_summary

RESULTS = Path(__file__).parent / "results"
# What a set is known by.
SHOWN = ("recall_all@5", "ndcg@10", "unit ndcg@10", "recall@10")


def commit() -> str:
    told = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
    changed = subprocess.run(["git", "status", "--porcelain", "src"], capture_output=True, text=True, check=True).stdout
    return told.stdout.strip() + ("-changed" if changed.strip() else "")


def measured(folder: Path, limit: int | None) -> dict[str, Any]:
    dataset = read_dataset(folder)
    questions = asked(dataset, unanswerable=False, most=limit)
    (run,) = run_judged(dataset, questions, ["default"], encoder=cached_encoder(load({})))
    own = {name: [round(q.metrics[name], 3) for q in run.scored if name in q.metrics] for name in SHOWN}
    return judged_summary(run) | {"limit": limit, "questions": own}


def row(record: dict[str, Any], before: dict[str, Any] | None) -> str:
    metrics, cells = record["metrics"], []
    for name in SHOWN:
        if name in metrics:
            low, high = record["intervals"][name]
            cells.append(f"{name} {100 * metrics[name]:.1f} ({100 * low:.1f} to {100 * high:.1f})")
    delivered, calibration = record["delivered"], record["calibration"]
    told = f"| {record['dataset']} ({record['queries']:,}) | {' · '.join(cells)} | {delivered['precision']:.3f} | "
    told += f"{delivered['recall']:.3f} | {calibration['error'] if calibration else 0:.3f} |"
    return told + (f" {'; '.join(differences(record, before))} |" if before else "")


def differences(record: dict[str, Any], before: dict[str, Any]) -> list[str]:
    told = []
    for name in SHOWN:
        now, then = (each["questions"].get(name, []) for each in (record, before))
        if now and len(now) == len(then):
            pair = paired_bootstrap(now, then)
            told.append(f"{name} {100 * pair.difference:+.1f} ({100 * pair.low:+.1f} to {100 * pair.high:+.1f})")
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    data, path = Path(os.environ["RECALLENS_EVAL_DATA"]), RESULTS / f"quality-{commit()}.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    before = json.loads(options.against.read_text(encoding="utf-8")) if options.against else {}
    print("| set (questions) | metrics, with 95% intervals | precision | recall | calibration error |"
          + (" against before |" if before else ""))  # fmt: skip
    print("| --- | --- | ---: | ---: | ---: |" + (" --- |" if before else ""))
    for folder in folders_in(data):
        if options.sets and folder.name not in options.sets:
            continue
        if folder.name not in kept or kept[folder.name]["limit"] != options.limit:
            kept[folder.name] = measured(folder, options.limit)
            lines = (f"{json.dumps(name)}: {json.dumps(own)}" for name, own in sorted(kept.items()))
            path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        print(row(kept[folder.name], before.get(folder.name)), flush=True)


if __name__ == "__main__":
    main()
