"""Secret formats of providers, as data for `recallens.ingest.redact`, made of gitleaks' rules (MIT licence).

    python bench/secret_rules.py gitleaks.toml COMMIT

Of each rule its id, its keywords and its pattern are taken. What is left out: rules that take anything behind a common
word, that read whole commands, or that the product has of its own. A pattern that names a provider and then takes any
random value behind it is kept as the two, the provider's names and the value, and read by one expression of ours.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parents[1] / "src" / "recallens" / "ingest" / "data" / "secrets.json"
# Ours are stricter, know Korean, or are linear.
LEFT_OUT = {
    "generic-api-key", "private-key", "jwt", "jwt-base64", "curl-auth-header", "curl-auth-user", "pkcs12-file",
    "hashicorp-tf-password", "kubernetes-secret-yaml", "sidekiq-sensitive-url", "nuget-config-password",
    "aws-access-token", "aws-amazon-bedrock-api-key-short-lived", "sourcegraph-access-token", "freemius-secret-key",
}  # fmt: skip
# Words that stand in plenty of texts which have nothing to do with the provider.
COMMON_NAMES = {"square", "bitbucket", "travis", "asana", "plaid", "kraken", "freshbooks", "meta", "finicity"}
_END = r"""(?:[\x60'"\s;]|\\[nr]|$)"""
_NAMED = re.compile(
    r"\(\?i\)\[\\w\.-\]\{0,50\}\?\((?:\?:|\?i:)*(?P<names>.+?)\)\(\?:\[ \\t\\w\.-\]\{0,20\}\).*?\{0,5\}"
    r"\((?P<value>.+)\)\(\?:\[\\x60.*"
)


def scoped(pattern: str) -> str:
    """Go lets a flag begin anywhere; Python wants the group to which it holds."""
    while (at := pattern.find("(?i)", 1)) > 0:
        depth, end = 0, at + 4
        while end < len(pattern) and depth >= 0:
            if pattern[end] == "\\":
                end += 1
            elif pattern[end] == "[":
                end = pattern.index("]", end + 2)
            elif pattern[end] in "()":
                depth += 1 if pattern[end] == "(" else -1
            end += 1
        end -= depth < 0
        pattern = f"{pattern[:at]}(?i:{pattern[at + 4 : end]}){pattern[end:]}"
    return pattern


def rules(source: dict[str, Any]) -> tuple[list[list[Any]], list[list[Any]]]:
    formats, named = [], []
    for rule in source["rules"]:
        if rule["id"] in LEFT_OUT or "regex" not in rule:
            continue
        match = _NAMED.fullmatch(rule["regex"])
        if match:
            if not COMMON_NAMES & set(rule["keywords"]):
                value = scoped(match["value"].partition(_END)[0].removesuffix(")"))
                named.append([rule["id"], rule["keywords"], match["names"], value])
            continue
        pattern = scoped(rule["regex"].replace(_END, "").replace(r"\z", r"\Z").replace("[[:alnum:]]", "[A-Za-z0-9]"))
        pattern = pattern.replace(r"\b", "")
        if pattern.startswith("(?i)"):
            pattern = f"(?i:{pattern[4:]})"
        if ".*" in pattern or "[\\w.-]{0,50}" in pattern:
            print("left out:", rule["id"], pattern[:90])
            continue
        re.compile(pattern)
        formats.append([rule["id"], rule["keywords"], pattern])
    return formats, named


def main() -> None:
    path, commit = sys.argv[1:]
    formats, named = rules(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    record = {"source": "gitleaks", "commit": commit, "licence": "MIT", "formats": formats, "named": named}
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(record, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(formats)} formats, {len(named)} providers by name, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
