"""Settings: flag > environment > project file > user file > default. Frozen, few, and each says where it came from."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from recallens import project_file, renamed
from recallens.errors import InvalidInput

PREFIX = "RECALLENS_"
DEFAULT_SOURCE = "default"
# Settings that name a place: in a file they are relative to that file.
_PLACES = ("store", "workspace", "constitution", "audit_key", "audit_anchor")


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting. `sources` says which of flag, environment, a file or the default each one came from."""

    store: str = field(default="", repr=False)  # an address may hold a password
    read_url: str | None = field(default=None, repr=False)
    namespace: str = "default"
    project: str | None = None
    session: str | None = None
    encoder: str = "minilm"
    encoder_url: str | None = None
    encoder_key_env: str = "RECALLENS_ENCODER_KEY"
    encoder_dimension: int | None = None
    encoder_threads: int = 1
    encoder_second: str = "multilingual"
    reranker: str = "none"
    reranker_milliseconds: int = 500
    preset: str = "default"
    limit: int = 10
    dedupe: bool = True
    record: bool = True
    capture: bool = True
    workspace: str | None = None
    constitution: str | None = None
    audit_key: str | None = None
    audit_anchor: str | None = None
    ledger_days: int = 90
    trail_days: int = 400
    resident_memories: int = 200_000
    resident_megabytes: int = 1_024
    sources: Mapping[str, str] = field(default_factory=dict)


ABOUT: Mapping[str, str] = {
    "store": "the store's file, or postgresql://… for one on a server",
    "read_url": "postgresql://… of a replica from which recalls are answered; the X-ray says how far behind it was",
    "namespace": "the isolation boundary that commands work in",
    "project": "the project that new memories belong to and searches are limited to",
    "session": "the session that asks and remembers",
    "encoder": "minilm, openai:MODEL, ollama:MODEL, fastembed:MODEL, or none for words alone",
    "encoder_url": "base URL of an OpenAI-compatible or Ollama endpoint",
    "encoder_key_env": "the environment variable that holds the endpoint's API key",
    "encoder_dimension": "vector length to ask an endpoint for",
    "encoder_threads": "threads of the packaged encoders",
    "encoder_second": "the encoder for what the first cannot read: multilingual, or none",
    "reranker": "a model that reads the question beside each of the best thirty rows: none, or fastembed:MODEL",
    "reranker_milliseconds": "how long that may take; past it the order stands, and the X-ray says so",
    "preset": "the ranking: default, fusion, classic or adaptive",
    "limit": "results a search, whatever the question calls for",
    "dedupe": "whether a new memory that says the same as an old one is merged into it",
    "record": "whether a search records what it returned (reinforcement, session links)",
    "capture": "whether recalls can be explained: off, searches keep no ledger and there is no X-ray",
    "workspace": "the checkout in which cited files and commits are looked for",
    "constitution": "the file that every context begins with",
    "audit_key": "the file with the key of the audit log, in place of the one beside the settings",
    "audit_anchor": "a file outside the store that is told where the audit log ends",
    "ledger_days": "how long a recorded search can be explained and replayed",
    "resident_memories": "up to how many memories a namespace on a server is held in memory; of a larger one that has"
    " an index the database proposes candidates",
    "resident_megabytes": "memory that the indexes of namespaces may take in a process; the least recently used goes",
    "trail_days": "how long recalls, session links and the audit log are kept by `recallens prune`",
}


def make_private(folder: Path) -> None:
    """Make the folder, and those above it that are missing, for the owner's eyes alone."""
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def data_home() -> Path:
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def config_home() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def default_store() -> Path:
    """Where memories are kept unless something else is said; a store made under the product's old name stays in use."""
    store = data_home() / "recallens" / "store.db"
    return store if store.exists() else renamed.old_default_store(data_home()) or store


# A scheme has two letters at least, so that a Windows drive is a path.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_address(store: str) -> bool:
    """Whether a store is on a server, and no file of this machine."""
    return _ADDRESS.match(store) is not None


def audit_key() -> Path:
    """The key of the audit log, unless the settings name another file."""
    return config_home() / "recallens" / "audit.key"


def trusted_files() -> Path:
    """The list of the project files that were trusted."""
    return config_home() / "recallens" / "trusted.json"


def load(
    flags: Mapping[str, Any] | None = None, *, environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> Settings:
    """The settings in force here. A flag of None was not given."""
    user_file = config_home() / "recallens" / "config.toml"
    renamed.refuse_old_file(config_home() / renamed.FOLDER / "config.toml", user_file)
    layers: list[tuple[str, Mapping[str, Any]]] = [(str(user_file), _read(user_file)[1])]
    project = project_file.find(folder or Path.cwd(), Path.home())
    if project is not None:
        text, said = _read(project)
        project_file.refuse_untrusted(project, text, [name for name in said if name in _names()], trusted_files())
        layers.append((str(project), said))
    layers.append(("environment", _from_environment(os.environ if environ is None else environ)))
    layers.append(("flag", {name: value for name, value in (flags or {}).items() if value is not None}))
    values: dict[str, Any] = {"store": str(default_store())}
    sources = {"store": DEFAULT_SOURCE}
    for origin, layer in layers:
        for name, value in layer.items():
            values[name] = _checked(name, value, origin)
            sources[name] = origin
    if not is_address(values["store"]):
        values["store"] = str(Path(values["store"]).expanduser())
    return Settings(**values, sources=sources)


def _names() -> dict[str, Any]:
    return {f.name: f.type for f in fields(Settings) if f.name != "sources"}


def _read(path: Path) -> tuple[str, Mapping[str, Any]]:
    """The text of a file of settings, and the settings."""
    if not path.is_file():
        return "", {}
    import tomllib  # late: most commands run without a file of settings

    try:
        text = project_file.read(path)
        values = tomllib.loads(text)
    except (OSError, RecursionError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as TOML ({error})", hint="Mend it or move it away.") from error
    for place in _PLACES:
        # A relative path in a file means relative to that file, wherever the command is run.
        if isinstance(values.get(place), str) and not is_address(values[place]):
            values[place] = str(path.parent / Path(values[place]).expanduser())
    return text, values


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    renamed.refuse_old_variables(environ, PREFIX)
    known = {f"{PREFIX}{name.upper()}": name for name in _names()}
    return {known[key]: value for key, value in environ.items() if key in known and value != ""}


def _checked(name: str, value: Any, origin: str) -> Any:
    kinds = _names()
    if name not in kinds:
        raise InvalidInput(f"unknown setting {name!r} in {origin}; the settings are: {', '.join(kinds)}")
    kind = kinds[name]
    if "bool" in kind:
        return _boolean(name, value, origin)
    if "int" in kind:
        return _positive(name, value, origin)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} in {origin} must be text, not {value!r}")
    return value


def _boolean(name: str, value: Any, origin: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    known = words.get(str(value).lower())
    if known is None:
        raise InvalidInput(f"{name} in {origin} must be true or false, not {value!r}")
    return known


def _positive(name: str, value: Any, origin: str) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = 0
    if number < 1:
        raise InvalidInput(f"{name} in {origin} must be a whole number from 1, not {value!r}")
    return number
