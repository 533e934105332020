"""What counts as a file path in running text. Prose is full of slashes (and/or, 24/7) and dots (Node.js)."""

from __future__ import annotations

import re
from typing import Final

_KNOWN: Final = """
py pyi ipynb js jsx ts tsx mjs cjs vue svelte java kt kts scala go rs rb php c h cc cpp cxx hpp hh cs fs
swift m mm sh bash zsh fish ps1 bat cmd sql graphql proto html htm css scss sass less xml svg json jsonl
json5 yaml yml toml ini cfg conf env lock md mdx rst txt tex pdf csv tsv parquet log diff patch png jpg
jpeg gif webp ico mp3 mp4 wav zip tar gz tgz whl jar exe dll so db sqlite sqlite3 r jl lua pl ex exs erl
hs clj dart tf tfvars gradle cmake hwp docx xlsx pptx doc xls ppt bak tmp pem crt key service wasm onnx
npz npy pkl safetensors
"""
EXTENSIONS: Final = frozenset(_KNOWN.split())

DOMAINS: Final = frozenset(("com", "org", "net", "io", "dev", "ai", "co", "kr", "app", "gov", "edu", "uk", "me"))

# Products that are named like a file.
_PRODUCT: Final = re.compile(r"(?:node|vue|next|nuxt|react|express|three|d3|chart|ember|backbone|nest)\.js", re.I)

_ROOT_NAMES: Final = """
src lib libs test tests docs doc app apps bin etc usr var opt home tmp packages pkg cmd internal scripts
config components node_modules dist build include public static assets examples migrations tools vendor
"""
_ROOTS: Final = frozenset(_ROOT_NAMES.split())

PATH_CHARACTER: Final = r"[\w.@+~\-/\\]"
_DRIVE: Final = r"(?:[A-Za-z]:(?=\\))?"
_SLASHED: Final = re.compile(rf"(?<![\w.@+~\-/\\:]){_DRIVE}[\w.@+~-]*+[/\\]{PATH_CHARACTER}*+")
_DOTTED_FILE: Final = re.compile(r"(?<![\w.@+~\-/\\])[\w-]*+(?:\.[\w-]++)+(?![\w/\\@])")
_EXTENSION: Final = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,9})\Z")
_CODE_LIKE: Final = re.compile(r"[a-z0-9]_[a-z0-9]|\d[a-z]|[a-z]\d|[a-z][A-Z]|\.")


def file_paths(text: str) -> list[tuple[int, str]]:
    """Where each path starts, and the path."""
    found: list[tuple[int, str]] = []
    if "/" in text or "\\" in text:
        for match in _SLASHED.finditer(text):
            path = match.group().rstrip(".-")
            if is_path(path):
                found.append((match.start(), path))
    if "." in text:
        for match in _DOTTED_FILE.finditer(text):
            if is_bare_file(match.group()):
                found.append((match.start(), match.group()))
    return found


def is_file(path: str) -> bool:
    """Clearly a file: an extension, and a slash or an extension that is known."""
    if "/" in path or "\\" in path:
        return is_path(path) and _EXTENSION.search(path) is not None
    return is_bare_file(path)


def is_bare_file(name: str) -> bool:
    extension = _EXTENSION.search(name)
    if extension is None or extension[1].lower() not in EXTENSIONS:
        return False
    return _PRODUCT.fullmatch(name) is None


def is_path(path: str) -> bool:
    """A path with a slash: it has an extension, is rooted (/etc/hosts, ./x, ~/x, C:\\x), or is code-like."""
    parts = [part for part in re.split(r"[/\\]", path) if part]
    if not parts or not any(character.isalpha() for character in path) or _is_web_address(parts[0]):
        return False
    if path.startswith(("./", "../", "~/", ".\\", "..\\")) or path[1:3] == ":\\":
        return True
    if path.startswith("/"):
        return len(parts) >= 2
    if len(parts) < 2:
        return path.endswith("/") and parts[0] in _ROOTS
    extension = _EXTENSION.search(path)
    if extension and (extension[1].lower() in EXTENSIONS or len(parts) >= 3):
        return True
    return parts[0] in _ROOTS or (len(parts) >= 3 and _CODE_LIKE.search(path) is not None)


def _is_web_address(host: str) -> bool:
    head, dot, ending = host.rpartition(".")
    return bool(dot and head and ending.lower() in DOMAINS)
