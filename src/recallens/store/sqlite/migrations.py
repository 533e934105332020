"""The schema as named, ordered steps. A store remembers the names, so an unknown one means a newer Recallens."""

from __future__ import annotations

APPLICATION_ID = 0x52434C54  # "RCLT": tells a Recallens store from any other SQLite file

MIGRATIONS: tuple[tuple[str, str], ...] = (
    ("0001-foundation", """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- AUTOINCREMENT: a number is never used again, so what a process still holds of a removed namespace fits no new one.
CREATE TABLE namespaces (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    number INTEGER NOT NULL DEFAULT 0,      -- grows with every write: what a reader has seen
    next_term INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 0,       -- grows when term numbers are dropped: cached ones are void
    created INTEGER NOT NULL
);

-- AUTOINCREMENT here too: a stale index can point at nothing but its own memory.
CREATE TABLE memories (
    num INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    ns INTEGER NOT NULL REFERENCES namespaces(id),
    seq INTEGER NOT NULL,                   -- the namespace's number at the last change of this row
    project TEXT, sector TEXT NOT NULL, kind TEXT NOT NULL, tier TEXT NOT NULL, status TEXT NOT NULL,
    zone TEXT NOT NULL, content TEXT NOT NULL, summary TEXT, title TEXT, tags TEXT NOT NULL, scopes TEXT NOT NULL,
    annotations TEXT NOT NULL, importance REAL NOT NULL, confidence REAL NOT NULL, base_salience REAL NOT NULL,
    source TEXT NOT NULL, source_id TEXT, document TEXT, task TEXT, worktree TEXT, author TEXT, session TEXT,
    position INTEGER, reward REAL, created INTEGER NOT NULL, updated INTEGER NOT NULL, last_used INTEGER,
    uses INTEGER NOT NULL DEFAULT 0, reinforcement REAL NOT NULL DEFAULT 0, reinforced_at INTEGER,
    confirmed INTEGER NOT NULL DEFAULT 0, valid_from INTEGER, valid_until INTEGER, content_hash TEXT NOT NULL,
    simhash INTEGER NOT NULL, chars INTEGER NOT NULL, tokens INTEGER NOT NULL, length INTEGER NOT NULL,
    cited INTEGER NOT NULL DEFAULT 0, version INTEGER NOT NULL DEFAULT 1, attributes TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX memories_by_change ON memories(ns, seq);
CREATE INDEX memories_by_hash ON memories(ns, content_hash);
CREATE INDEX memories_by_time ON memories(ns, created, id);
CREATE INDEX memories_by_document ON memories(ns, document) WHERE document IS NOT NULL;

CREATE TABLE tombstones (ns INTEGER NOT NULL, seq INTEGER NOT NULL, num INTEGER NOT NULL, PRIMARY KEY (ns, seq, num))
    WITHOUT ROWID;

CREATE TABLE citations (
    num INTEGER NOT NULL REFERENCES memories(num) ON DELETE CASCADE, position INTEGER NOT NULL, kind TEXT NOT NULL,
    data TEXT NOT NULL, PRIMARY KEY (num, position)
) WITHOUT ROWID;

CREATE TABLE relations (
    id INTEGER PRIMARY KEY, ns INTEGER NOT NULL,
    source INTEGER NOT NULL REFERENCES memories(num) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES memories(num) ON DELETE CASCADE,
    type TEXT NOT NULL, confidence REAL NOT NULL, origin TEXT NOT NULL, created INTEGER NOT NULL, valid_until INTEGER,
    UNIQUE (source, target, type)
);
CREATE INDEX relations_by_target ON relations(target, type);

CREATE TABLE sessions (
    ns INTEGER NOT NULL, id TEXT NOT NULL, started INTEGER NOT NULL, ended INTEGER, project TEXT, title TEXT,
    summary TEXT, PRIMARY KEY (ns, id)
);
CREATE TABLE session_memories (
    id INTEGER PRIMARY KEY, ns INTEGER NOT NULL, session TEXT NOT NULL,
    num INTEGER NOT NULL REFERENCES memories(num) ON DELETE CASCADE, usage TEXT NOT NULL, at INTEGER NOT NULL,
    UNIQUE (ns, session, num, usage)
);
CREATE INDEX session_memories_by_memory ON session_memories(num, at);

CREATE TABLE documents (
    ns INTEGER NOT NULL, id TEXT NOT NULL, path TEXT NOT NULL, title TEXT, hash TEXT NOT NULL, mtime INTEGER NOT NULL,
    project TEXT, PRIMARY KEY (ns, id), UNIQUE (ns, path)
);
CREATE TABLE artifacts (
    id TEXT PRIMARY KEY, ns INTEGER NOT NULL, task TEXT NOT NULL, kind TEXT NOT NULL, content TEXT NOT NULL,
    created INTEGER NOT NULL
);
CREATE INDEX artifacts_by_task ON artifacts(ns, task);

CREATE TABLE events (
    id INTEGER PRIMARY KEY, ns INTEGER NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
    num INTEGER REFERENCES memories(num) ON DELETE CASCADE, session TEXT, task TEXT, amount REAL
);
CREATE INDEX events_by_memory ON events(num);
CREATE INDEX events_by_time ON events(ns, at);

CREATE TABLE audit (
    ns INTEGER NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, session TEXT,
    query_digest TEXT NOT NULL, memories TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (ns, number)
);

-- Derived: everything below can be rebuilt from the tables above (`recallens reindex`).
CREATE TABLE terms (ns INTEGER NOT NULL, term TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (ns, term))
    WITHOUT ROWID;
CREATE TABLE lexical (
    num INTEGER PRIMARY KEY REFERENCES memories(num) ON DELETE CASCADE, head INTEGER NOT NULL, terms BLOB NOT NULL
);
CREATE TABLE labels (
    ns INTEGER NOT NULL, value TEXT NOT NULL, kind TEXT NOT NULL,
    num INTEGER NOT NULL REFERENCES memories(num) ON DELETE CASCADE, PRIMARY KEY (ns, value, kind, num)
) WITHOUT ROWID;
CREATE INDEX labels_by_memory ON labels(num);
CREATE TABLE vectors (
    num INTEGER NOT NULL REFERENCES memories(num) ON DELETE CASCADE, encoder TEXT NOT NULL, ns INTEGER NOT NULL,
    seq INTEGER NOT NULL, vector BLOB NOT NULL, UNIQUE (encoder, num)
);
CREATE INDEX vectors_by_change ON vectors(ns, encoder, seq);
CREATE INDEX vectors_by_memory ON vectors(num);
CREATE TABLE backlog (
    encoder TEXT NOT NULL, num INTEGER NOT NULL REFERENCES memories(num) ON DELETE CASCADE, ns INTEGER NOT NULL,
    PRIMARY KEY (encoder, num)
) WITHOUT ROWID;
CREATE INDEX backlog_by_memory ON backlog(num);
CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, expires INTEGER NOT NULL) WITHOUT ROWID;
"""),
    ("0002-xray", """
ALTER TABLE namespaces ADD COLUMN audit_number INTEGER NOT NULL DEFAULT 0;  -- what the audit chain must end with:
ALTER TABLE namespaces ADD COLUMN audit_digest TEXT NOT NULL DEFAULT '';    -- a cut at its end shows too

-- The ledger of a recorded recall, so that it can be explained and replayed; the last few of each session.
CREATE TABLE snapshots (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    ns INTEGER NOT NULL, id TEXT NOT NULL, session TEXT NOT NULL, at INTEGER NOT NULL,
    ledger BLOB NOT NULL, audit TEXT NOT NULL, UNIQUE (ns, id)
);
CREATE INDEX snapshots_by_session ON snapshots(ns, session, number);

-- Few memories are bound to a context, and every recall asks which.
CREATE INDEX memories_scoped ON memories(ns) WHERE scopes <> '[]';
"""),
    ("0003-tasks", """
CREATE TABLE tasks (
    ns INTEGER NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, started INTEGER NOT NULL,
    wording TEXT NOT NULL,                  -- the first task of the project that was worded alike
    session TEXT, project TEXT, worktree TEXT, ended INTEGER, reward REAL, summary TEXT,
    marked INTEGER NOT NULL DEFAULT 0,      -- whether anything was marked as used in it: then recalls do not count
    episode INTEGER REFERENCES memories(num) ON DELETE SET NULL, PRIMARY KEY (ns, id)
);
CREATE INDEX tasks_by_wording ON tasks(ns, wording);
CREATE INDEX tasks_by_time ON tasks(ns, started, id);
CREATE INDEX tasks_by_episode ON tasks(episode) WHERE episode IS NOT NULL;
CREATE INDEX events_by_task ON events(ns, task) WHERE task IS NOT NULL;
CREATE INDEX memories_by_task ON memories(ns, task) WHERE task IS NOT NULL;
CREATE INDEX memories_by_craft ON memories(ns, kind, project, title) WHERE kind IN ('skill', 'pattern', 'gotcha');

-- Derived from events and tasks: in how many ended tasks a memory took part, and the sum of their rewards.
ALTER TABLE memories ADD COLUMN tasks_with INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN reward_with REAL NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN tasks_ended INTEGER NOT NULL DEFAULT 0;
ALTER TABLE namespaces ADD COLUMN reward_total REAL NOT NULL DEFAULT 0;
"""),
    ("0004-vaults", """
-- Grows when unused words leave the dictionary: numbers that a writer remembers are void, the index stays as it is.
ALTER TABLE namespaces ADD COLUMN dropped_terms INTEGER NOT NULL DEFAULT 0;

CREATE TABLE vaults (
    id INTEGER PRIMARY KEY AUTOINCREMENT, ns INTEGER NOT NULL, name TEXT NOT NULL, root TEXT NOT NULL,
    options TEXT NOT NULL, created INTEGER NOT NULL, synced INTEGER, UNIQUE (ns, name)
);
CREATE TABLE vault_files (
    vault INTEGER NOT NULL REFERENCES vaults(id) ON DELETE CASCADE, path TEXT NOT NULL, document TEXT NOT NULL,
    hash TEXT NOT NULL, mtime INTEGER NOT NULL, ctime INTEGER NOT NULL, size INTEGER NOT NULL, error TEXT,
    PRIMARY KEY (vault, path)
) WITHOUT ROWID;
CREATE INDEX vault_files_by_document ON vault_files(document);
CREATE TABLE vault_sections (
    num INTEGER PRIMARY KEY REFERENCES memories(num) ON DELETE CASCADE,
    vault INTEGER NOT NULL, document TEXT NOT NULL, position INTEGER NOT NULL, headings TEXT NOT NULL,
    anchors TEXT NOT NULL, digest TEXT NOT NULL, body TEXT NOT NULL, links TEXT NOT NULL
);
CREATE INDEX vault_sections_by_document ON vault_sections(vault, document, position);
"""),
    ("0005-citations", """
-- The last verdict on a memory's citations, so that a recall knows of it without touching the disk.
CREATE TABLE citation_checks (
    num INTEGER PRIMARY KEY REFERENCES memories(num) ON DELETE CASCADE, at INTEGER NOT NULL, verdicts TEXT NOT NULL
);

-- Recorded outcomes are few among the events, and a timeline asks for them by task.
CREATE INDEX outcomes_by_task ON events(ns, task, at) WHERE kind = 'outcome';
"""),
    ("0006-tokens", """
CREATE TABLE tokens (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL UNIQUE, namespaces TEXT NOT NULL,
    right TEXT NOT NULL, created INTEGER NOT NULL, expires INTEGER, revoked INTEGER
) WITHOUT ROWID;

-- Which token's caller used a session first; a session without a row here is the local person's.
CREATE TABLE session_owners (
    ns INTEGER NOT NULL, session TEXT NOT NULL, owner TEXT NOT NULL, PRIMARY KEY (ns, session)
) WITHOUT ROWID;
ALTER TABLE snapshots ADD COLUMN owner TEXT;

-- A write that is sent again with the same key is answered again, and not done again.
CREATE TABLE answers (
    owner TEXT NOT NULL, key TEXT NOT NULL, namespace TEXT, request TEXT NOT NULL, created INTEGER NOT NULL,
    status INTEGER, body TEXT NOT NULL, PRIMARY KEY (owner, key)
) WITHOUT ROWID;
CREATE INDEX answers_by_time ON answers(created);
"""),
    ("0007-vector-parts", """
-- A long text may have several vectors, one a part; a key cannot be widened in place.
CREATE TABLE vectors_by_part (
    num INTEGER NOT NULL REFERENCES memories(num) ON DELETE CASCADE,
    encoder TEXT NOT NULL, part INTEGER NOT NULL DEFAULT 0, ns INTEGER NOT NULL, seq INTEGER NOT NULL,
    vector BLOB NOT NULL, UNIQUE (encoder, num, part)
);
INSERT INTO vectors_by_part (num, encoder, ns, seq, vector) SELECT num, encoder, ns, seq, vector FROM vectors;
DROP TABLE vectors;
ALTER TABLE vectors_by_part RENAME TO vectors;
CREATE INDEX vectors_by_change ON vectors(ns, encoder, seq);
CREATE INDEX vectors_by_memory ON vectors(num);
"""),
    ("0008-note-life", """
-- What a note says of itself beside its text (its end, its successors, its relations), and what could not be read.
ALTER TABLE vault_files ADD COLUMN warning TEXT;
ALTER TABLE vault_files ADD COLUMN life TEXT NOT NULL DEFAULT '{}';
ALTER TABLE memories ADD COLUMN review TEXT;
-- Every note is read once more, so that what it says is known.
UPDATE vault_files SET hash = '', mtime = 0 WHERE error IS NULL;
"""),
    ("0009-credit", """
-- Only what was used in a task counts as having been with it, no longer what was merely returned in it.
ALTER TABLE tasks DROP COLUMN marked;
UPDATE namespaces SET number = number + 1;
UPDATE memories SET (tasks_with, reward_with) = (
    SELECT count(*), total(reward) FROM (
        SELECT DISTINCT e.task, t.reward FROM events e JOIN tasks t ON t.ns = e.ns AND t.id = e.task
        WHERE e.num = memories.num AND e.kind = 'used' AND t.ended IS NOT NULL
    )
), seq = (SELECT number FROM namespaces n WHERE n.id = memories.ns) WHERE tasks_with <> 0;
"""),
    ("0010-token-scopes", """
ALTER TABLE tokens ADD COLUMN scopes TEXT NOT NULL DEFAULT '[]';
"""),
    ("0011-days-told", """
-- The first four days that a text names, 16 bits each. Those with a year are known already; `reindex` reads the others.
ALTER TABLE memories ADD COLUMN days_told INTEGER NOT NULL DEFAULT 0;
UPDATE memories SET days_told = coalesce((
    SELECT sum(CAST(julianday(told.value) - 2440587.5 AS INTEGER) << (16 * told.key))
    FROM json_each(memories.annotations, '$.dates') told
    WHERE told.key < 4 AND length(told.value) = 10 AND told.value BETWEEN '1970-01-02' AND '2050-01-01'
), 0) WHERE annotations LIKE '%"dates"%';
"""),
    ("0012-cited-lines", """
-- What cited lines were when they were cited, as hashes; and verdicts by checkout, since branches differ.
CREATE TABLE cited_lines (
    num INTEGER NOT NULL REFERENCES memories(num) ON DELETE CASCADE, kind TEXT NOT NULL, data TEXT NOT NULL,
    print TEXT NOT NULL, PRIMARY KEY (num, kind, data)
) WITHOUT ROWID;
ALTER TABLE citation_checks RENAME TO checks_anywhere;
CREATE TABLE citation_checks (
    num INTEGER NOT NULL REFERENCES memories(num) ON DELETE CASCADE, root TEXT NOT NULL, branch TEXT NOT NULL,
    "commit" TEXT NOT NULL, at INTEGER NOT NULL, verdicts TEXT NOT NULL, PRIMARY KEY (num, root, branch)
) WITHOUT ROWID;
INSERT INTO citation_checks SELECT num, '', '', '', at, verdicts FROM checks_anywhere;
DROP TABLE checks_anywhere;
"""),
    ("0013-trust", """
-- What a text was made of: memories by id, logs, sessions, tasks. `replaced`: the text took its input's place.
CREATE TABLE lineage (
    ns INTEGER NOT NULL, num INTEGER NOT NULL REFERENCES memories(num) ON DELETE CASCADE, kind TEXT NOT NULL,
    input TEXT NOT NULL, zone TEXT NOT NULL, replaced INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (num, kind, input)
) WITHOUT ROWID;
CREATE INDEX lineage_by_input ON lineage(ns, kind, input);
INSERT OR IGNORE INTO lineage SELECT m.ns, m.num, 'session', substr(m.source_id, 9), m.zone, 0 FROM memories m
    WHERE m.source = 'session' AND m.source_id LIKE 'session:%';
INSERT OR IGNORE INTO lineage SELECT m.ns, m.num, 'memory', i.id, i.zone, 0 FROM memories m JOIN session_memories l
    ON l.ns = m.ns AND l.session = substr(m.source_id, 9) AND l.usage = 'created' JOIN memories i
    ON i.num = l.num AND i.source <> 'session' WHERE m.source = 'session' AND m.source_id LIKE 'session:%';
INSERT OR IGNORE INTO lineage SELECT m.ns, m.num, 'memory', i.id, i.zone, 0 FROM memories m JOIN relations r
    ON r.source = m.num AND r.type = 'BUILDS_ON' AND r.origin = 'rule' JOIN memories i ON i.num = r.target
    WHERE m.source = 'rule';
INSERT OR IGNORE INTO lineage SELECT r.ns, r.source, 'memory', i.id, i.zone, 1 FROM relations r JOIN memories i
    ON i.num = r.target WHERE r.type = 'SUPERSEDES' AND r.origin = 'user';

-- What somebody less trusted wants done to a memory, or with a document of its path; the person decides.
CREATE TABLE proposals (
    id INTEGER PRIMARY KEY AUTOINCREMENT, ns INTEGER NOT NULL, num INTEGER REFERENCES memories(num) ON DELETE CASCADE,
    change TEXT NOT NULL, other INTEGER REFERENCES memories(num) ON DELETE CASCADE, zone TEXT NOT NULL,
    owner TEXT NOT NULL, at INTEGER NOT NULL, details TEXT NOT NULL DEFAULT '{}', decided INTEGER, accepted INTEGER
);
CREATE UNIQUE INDEX open_proposals ON proposals(ns, change, coalesce(num, 0), coalesce(other, 0), owner,
    coalesce(details ->> 'path', details ->> 'relation', '')) WHERE decided IS NULL;
CREATE INDEX proposals_by_memory ON proposals(num);
CREATE INDEX proposals_by_other ON proposals(other);

-- One confirmation an owner; and in which zone a session, a task and a log were written. Of older ones nobody knows.
ALTER TABLE events ADD COLUMN owner TEXT;
ALTER TABLE sessions ADD COLUMN zone TEXT NOT NULL DEFAULT 'working';
ALTER TABLE tasks ADD COLUMN zone TEXT NOT NULL DEFAULT 'working';
ALTER TABLE artifacts ADD COLUMN zone TEXT NOT NULL DEFAULT 'working';
"""),
    ("0014-audit", """
-- The log becomes a keyed chain by the name of its namespace, so that it outlives one that is removed. What the old one
-- held (plain digests of texts, which can be guessed and never be taken back) goes.
DROP TABLE audit;
ALTER TABLE namespaces DROP COLUMN audit_number;
ALTER TABLE namespaces DROP COLUMN audit_digest;
CREATE TABLE audit (
    namespace TEXT NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL, who TEXT, what TEXT NOT NULL,
    outcome TEXT NOT NULL, session TEXT, question BLOB NOT NULL, marks BLOB NOT NULL, total INTEGER NOT NULL,
    key TEXT NOT NULL, previous BLOB NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (namespace, number)
) WITHOUT ROWID;
CREATE INDEX audit_by_time ON audit(namespace, at);
CREATE TABLE audit_heads (
    namespace TEXT PRIMARY KEY, chain TEXT NOT NULL, number INTEGER NOT NULL, digest BLOB NOT NULL
) WITHOUT ROWID;

-- What stands for a memory in the log. With its row goes the salt, and the log no longer tells which memory it was.
CREATE TABLE audit_marks (
    num INTEGER PRIMARY KEY REFERENCES memories(num) ON DELETE CASCADE, salt BLOB NOT NULL, mark BLOB NOT NULL
);
CREATE INDEX snapshots_by_time ON snapshots(ns, at);
"""),
    ("0015-kind-stated", """
-- Of memories that are older nobody knows whether their kind was stated or guessed: only short ones are taken at it.
ALTER TABLE memories ADD COLUMN kind_stated INTEGER NOT NULL DEFAULT 0;
"""),
    ("0016-marks", """
-- What ends a note is read more strictly, and what ends a section more often: every note is read once more.
UPDATE vault_files SET hash = '', mtime = 0 WHERE error IS NULL;
"""),
    ("0017-digests", """
-- Of each row, or of a memory's rows in one table: what it was when it was written. Whoever migrates fills it.
CREATE TABLE digests (
    area INTEGER NOT NULL, part INTEGER NOT NULL, digest INTEGER NOT NULL, PRIMARY KEY (area, part)
) WITHOUT ROWID;
"""),
    ("0018-tried", """
-- Which tasks count for a memory is decided when they end, by who ended them; what to expect, by the person's alone.
INSERT INTO events (ns, kind, at, num, session, task, owner) SELECT DISTINCT e.ns, 'tried', t.ended, e.num, t.session,
    t.id, iif(t.zone = 'trusted', NULL, 'agent') FROM events e JOIN tasks t ON t.ns = e.ns AND t.id = e.task
    WHERE e.kind = 'used' AND t.ended IS NOT NULL AND e.num IS NOT NULL;
UPDATE namespaces SET number = number + 1, (tasks_ended, reward_total) = (SELECT count(*), total(t.reward)
    FROM tasks t WHERE t.ns = namespaces.id AND t.ended IS NOT NULL AND t.zone = 'trusted');
UPDATE memories SET (tasks_with, reward_with) = (
    SELECT count(*), total(reward) FROM (
        SELECT DISTINCT e.task, t.reward FROM events e JOIN tasks t ON t.ns = e.ns AND t.id = e.task
        WHERE e.num = memories.num AND e.kind = 'tried' AND (e.owner IS NULL OR memories.zone <> 'trusted')
    )
), seq = (SELECT number FROM namespaces n WHERE n.id = memories.ns) WHERE tasks_with <> 0;
-- What somebody less trusted wants in the place of a memory is a proposal like any other, and no relation.
INSERT OR IGNORE INTO proposals (ns, num, change, other, zone, owner, at, details) SELECT r.ns, r.target, 'supersede',
    r.source, n.zone, 'agent', r.created, json_object('confidence', r.confidence) FROM relations r
    JOIN memories n ON n.num = r.source JOIN memories o ON o.num = r.target
    WHERE r.type = 'MAY_SUPERSEDE' AND r.valid_until IS NULL AND n.zone <> 'trusted' AND o.zone = 'trusted';
DELETE FROM relations WHERE type = 'MAY_SUPERSEDE' AND valid_until IS NULL AND EXISTS (SELECT 1 FROM proposals p
    WHERE p.change = 'supersede' AND p.num = relations.target AND p.other = relations.source);
"""),
    ("0019-second-encoder", """
-- Whether a namespace holds a text that the store's encoder cannot read, and the key of the one that then does as well.
ALTER TABLE namespaces ADD COLUMN second TEXT;
ALTER TABLE namespaces ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;
UPDATE namespaces SET unread = EXISTS (SELECT 1 FROM memories m WHERE m.ns = namespaces.id
    AND m.content GLOB '*[Ѐ-ӿ؀-ۿก-๛ぁ-ヿ㐀-鿿가-힣][Ѐ-ӿ؀-ۿก-๛ぁ-ヿ㐀-鿿가-힣]*');
"""),
    ("0020-namespace-everywhere", """
-- Every row says itself in which namespace it stands, as it must where a database is divided by it.
ALTER TABLE citations ADD COLUMN ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cited_lines ADD COLUMN ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE citation_checks ADD COLUMN ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lexical ADD COLUMN ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vault_sections ADD COLUMN ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit_marks ADD COLUMN ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vault_files ADD COLUMN ns INTEGER NOT NULL DEFAULT 0;
UPDATE citations SET ns = coalesce((SELECT o.ns FROM memories o WHERE o.num = citations.num), 0);
UPDATE cited_lines SET ns = coalesce((SELECT o.ns FROM memories o WHERE o.num = cited_lines.num), 0);
UPDATE citation_checks SET ns = coalesce((SELECT o.ns FROM memories o WHERE o.num = citation_checks.num), 0);
UPDATE lexical SET ns = coalesce((SELECT o.ns FROM memories o WHERE o.num = lexical.num), 0);
UPDATE vault_sections SET ns = coalesce((SELECT o.ns FROM memories o WHERE o.num = vault_sections.num), 0);
UPDATE audit_marks SET ns = coalesce((SELECT o.ns FROM memories o WHERE o.num = audit_marks.num), 0);
UPDATE vault_files SET ns = coalesce((SELECT o.ns FROM vaults o WHERE o.id = vault_files.vault), 0);
"""),
    ("0021-owner-of-tasks", """
-- The token that started a task: no other logs into it or ends it.
ALTER TABLE tasks ADD COLUMN owner TEXT;
"""),
    ("0022-gist", """
-- Texts that say nearly the same are found by what they are about. Of older memories `reindex` reads it.
ALTER TABLE memories RENAME COLUMN simhash TO gist;
UPDATE memories SET gist = 0;
"""),
    ("0023-recorded", """
-- When a memory was kept, where who is not the person dates it before that. Of older ones the id tells it, by its first
-- ten digits; which of them agents wrote, the source.
ALTER TABLE memories ADD COLUMN recorded INTEGER;
UPDATE memories SET recorded = (
    SELECT sum((instr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(memories.id, place.value + 1, 1)) - 1)
        << (45 - 5 * place.value))
    FROM json_each('[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]') place
) WHERE zone <> 'trusted' AND (source = 'agent' OR source = 'mcp' OR source LIKE 'mcp:%');
UPDATE memories SET recorded = NULL WHERE recorded <= created;
"""),
)  # fmt: skip
