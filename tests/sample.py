"""The sample that ships with the project."""

from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples" / "memories.jsonl"
