"""As much of JSON Schema as the published schema uses, no more; an unknown keyword is an error, not a pass."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs/schema/recall-xray-snapshot.v1.json").read_text(encoding="utf-8")
)
_TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
_SAID = {"$schema", "$id", "$defs", "title", "description"}


def problems(value: Any, schema: Any = SCHEMA, at: str = "$") -> list[str]:
    """What is wrong with a value; nothing where it is valid."""
    found: list[str] = []
    for keyword, rule in (schema if isinstance(schema, dict) else {}).items():
        match keyword:
            case "$ref":
                found += problems(value, SCHEMA["$defs"][rule.removeprefix("#/$defs/")], at)
            case "type":
                right = value is None if rule == "null" else isinstance(value, _TYPES[rule])
                if not right or (isinstance(value, bool) and rule in ("integer", "number")):
                    return [f"{at}: {value!r} is no {rule}"]
            case "const":
                found += [] if value == rule and type(value) is type(rule) else [f"{at}: {value!r} is not {rule!r}"]
            case "enum":
                found += [] if value in rule else [f"{at}: {value!r} is none of {rule}"]
            case "anyOf" | "oneOf":
                failed = [problems(value, option, at) for option in rule]
                right_ones = sum(not each for each in failed)
                if right_ones == 0 or (keyword == "oneOf" and right_ones > 1):
                    found += min(failed, key=len) or [f"{at}: more than one of {keyword}"]
            case "required":
                found += [f"{at}: {name} is missing" for name in rule if name not in value]
            case "properties":
                found += [
                    p for name in rule if name in value for p in problems(value[name], rule[name], f"{at}.{name}")
                ]
            case "additionalProperties":
                for name in value.keys() - schema.get("properties", {}).keys():
                    found += (
                        [f"{at}: {name} is unknown"] if rule is False else problems(value[name], rule, f"{at}.{name}")
                    )
            case "items":
                found += [p for place, item in enumerate(value) for p in problems(item, rule, f"{at}[{place}]")]
            case "minimum":
                found += [f"{at}: {value} is below {rule}"] if value < rule else []
            case "maximum":
                found += [f"{at}: {value} is above {rule}"] if value > rule else []
            case "pattern":
                found += [] if re.search(rule, value) else [f"{at}: {value!r} does not match {rule}"]
            case _ if keyword not in _SAID:
                raise AssertionError(f"the checker does not know {keyword!r}")
    return found
