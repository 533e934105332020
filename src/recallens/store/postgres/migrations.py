"""The schema on PostgreSQL as named, ordered steps. A store remembers them: an unknown one is a newer Recallens's.

Every table of a namespace begins its keys and indexes with `ns` and is divided by it, so that a statement which names
its namespace is about one partition. Texts are ordered by their bytes, as in SQLite.
"""

from __future__ import annotations

SCHEMA = "recallens"
# A namespace's rows are in one of so many partitions of each table.
PARTITIONS = 8

# Of a memory: gone when it is, and numbered anew when it is.
_OF_MEMORY = """REFERENCES memories (ns, num) ON DELETE CASCADE DEFERRABLE"""

MIGRATIONS: tuple[tuple[str, str], ...] = (
    ("0001-foundation", f"""
CREATE FUNCTION numbers(list text) RETURNS TABLE (key bigint, value bigint) LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT place, item::bigint FROM jsonb_array_elements_text(list::jsonb) WITH ORDINALITY AS x(item, place) $$;
CREATE FUNCTION texts(list text) RETURNS TABLE (key bigint, value text) LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT place, item FROM jsonb_array_elements_text(list::jsonb) WITH ORDINALITY AS x(item, place) $$;
CREATE FUNCTION records(list text) RETURNS TABLE (key bigint, value jsonb) LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$ SELECT place, item FROM jsonb_array_elements(list::jsonb) WITH ORDINALITY AS x(item, place) $$;

-- Of the store.
CREATE TABLE meta (key text COLLATE "C" PRIMARY KEY, value text NOT NULL);
CREATE TABLE tokens (
    id text COLLATE "C" PRIMARY KEY, name text NOT NULL, digest text NOT NULL UNIQUE, namespaces text NOT NULL,
    "right" text NOT NULL, created bigint NOT NULL, expires bigint, revoked bigint, scopes text NOT NULL DEFAULT '[]'
);
CREATE TABLE answers (
    owner text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, namespace text COLLATE "C", request text NOT NULL,
    created bigint NOT NULL, status bigint, body text NOT NULL, PRIMARY KEY (owner, key)
);
CREATE INDEX answers_by_time ON answers (created);
CREATE TABLE leases (name text COLLATE "C" PRIMARY KEY, holder text NOT NULL, expires bigint NOT NULL);
CREATE SEQUENCE namespaces_numbers;
CREATE TABLE namespaces (
    id bigint PRIMARY KEY DEFAULT nextval('namespaces_numbers'), name text COLLATE "C" NOT NULL UNIQUE,
    number bigint NOT NULL DEFAULT 0, next_term bigint NOT NULL DEFAULT 0, epoch bigint NOT NULL DEFAULT 0,
    created bigint NOT NULL, tasks_ended bigint NOT NULL DEFAULT 0, reward_total double precision NOT NULL DEFAULT 0,
    dropped_terms bigint NOT NULL DEFAULT 0, second text COLLATE "C", unread bigint NOT NULL DEFAULT 0
);

-- Of a namespace's name, which may be gone: the log.
CREATE TABLE audit (
    namespace text COLLATE "C" NOT NULL, number bigint NOT NULL, at bigint NOT NULL, who text, what text NOT NULL,
    outcome text NOT NULL, session text, question bytea NOT NULL, marks bytea NOT NULL, total bigint NOT NULL,
    key text NOT NULL, previous bytea NOT NULL, digest bytea NOT NULL, PRIMARY KEY (namespace, number)
) PARTITION BY HASH (namespace);
CREATE INDEX audit_by_time ON audit (namespace, at);
CREATE TABLE audit_heads (
    namespace text COLLATE "C" PRIMARY KEY, chain text NOT NULL, number bigint NOT NULL, digest bytea NOT NULL
) PARTITION BY HASH (namespace);

-- Of a namespace.
CREATE SEQUENCE memories_numbers;
CREATE TABLE memories (
    ns bigint NOT NULL, num bigint NOT NULL DEFAULT nextval('memories_numbers'), id text COLLATE "C" NOT NULL,
    seq bigint NOT NULL, project text COLLATE "C", sector text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
    tier text COLLATE "C" NOT NULL, status text COLLATE "C" NOT NULL, zone text COLLATE "C" NOT NULL,
    content text COLLATE "C" NOT NULL, summary text COLLATE "C", title text COLLATE "C", tags text COLLATE "C" NOT NULL,
    scopes text COLLATE "C" NOT NULL, annotations text COLLATE "C" NOT NULL, importance double precision NOT NULL,
    confidence double precision NOT NULL, base_salience double precision NOT NULL, source text COLLATE "C" NOT NULL,
    source_id text COLLATE "C", document text COLLATE "C", task text COLLATE "C", worktree text COLLATE "C",
    author text COLLATE "C", session text COLLATE "C", position bigint, reward double precision,
    created bigint NOT NULL, updated bigint NOT NULL, last_used bigint, uses bigint NOT NULL DEFAULT 0,
    reinforcement double precision NOT NULL DEFAULT 0, reinforced_at bigint, confirmed bigint NOT NULL DEFAULT 0,
    valid_from bigint, valid_until bigint, content_hash text COLLATE "C" NOT NULL, simhash bigint NOT NULL,
    chars bigint NOT NULL, tokens bigint NOT NULL, length bigint NOT NULL, cited bigint NOT NULL DEFAULT 0,
    version bigint NOT NULL DEFAULT 1, attributes text COLLATE "C" NOT NULL DEFAULT '{{}}',
    tasks_with bigint NOT NULL DEFAULT 0, reward_with double precision NOT NULL DEFAULT 0, review text COLLATE "C",
    days_told bigint NOT NULL DEFAULT 0, kind_stated bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (ns, num), UNIQUE (ns, id)
) PARTITION BY HASH (ns);
CREATE INDEX memories_by_change ON memories (ns, seq);
CREATE INDEX memories_by_hash ON memories (ns, content_hash);
CREATE INDEX memories_by_time ON memories (ns, created, id);
CREATE INDEX memories_by_document ON memories (ns, document) WHERE document IS NOT NULL;
CREATE INDEX memories_by_task ON memories (ns, task) WHERE task IS NOT NULL;
CREATE INDEX memories_scoped ON memories (ns) WHERE scopes <> '[]';
CREATE INDEX memories_by_craft ON memories (ns, kind, project) WHERE kind IN ('skill', 'pattern', 'gotcha');

CREATE TABLE tombstones (
    ns bigint NOT NULL, seq bigint NOT NULL, num bigint NOT NULL, PRIMARY KEY (ns, seq, num)
) PARTITION BY HASH (ns);
CREATE TABLE citations (
    ns bigint NOT NULL, num bigint NOT NULL, position bigint NOT NULL, kind text COLLATE "C" NOT NULL,
    data text COLLATE "C" NOT NULL, PRIMARY KEY (ns, num, position), FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE TABLE cited_lines (
    ns bigint NOT NULL, num bigint NOT NULL, kind text COLLATE "C" NOT NULL, data text COLLATE "C" NOT NULL,
    print text NOT NULL, PRIMARY KEY (ns, num, kind, data), FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE TABLE citation_checks (
    ns bigint NOT NULL, num bigint NOT NULL, root text COLLATE "C" NOT NULL, branch text COLLATE "C" NOT NULL,
    "commit" text NOT NULL, at bigint NOT NULL, verdicts text COLLATE "C" NOT NULL,
    PRIMARY KEY (ns, num, root, branch), FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE SEQUENCE relations_numbers;
CREATE TABLE relations (
    ns bigint NOT NULL, id bigint NOT NULL DEFAULT nextval('relations_numbers'), source bigint NOT NULL,
    target bigint NOT NULL, type text COLLATE "C" NOT NULL, confidence double precision NOT NULL,
    origin text COLLATE "C" NOT NULL, created bigint NOT NULL, valid_until bigint,
    PRIMARY KEY (ns, id), UNIQUE (ns, source, target, type),
    FOREIGN KEY (ns, source) {_OF_MEMORY}, FOREIGN KEY (ns, target) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE INDEX relations_by_target ON relations (ns, target, type);
CREATE TABLE lineage (
    ns bigint NOT NULL, num bigint NOT NULL, kind text COLLATE "C" NOT NULL, input text COLLATE "C" NOT NULL,
    zone text COLLATE "C" NOT NULL, replaced bigint NOT NULL DEFAULT 0, PRIMARY KEY (ns, num, kind, input),
    FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE INDEX lineage_by_input ON lineage (ns, kind, input);
CREATE SEQUENCE proposals_numbers;
CREATE TABLE proposals (
    ns bigint NOT NULL, id bigint NOT NULL DEFAULT nextval('proposals_numbers'), num bigint,
    change text COLLATE "C" NOT NULL, other bigint, zone text COLLATE "C" NOT NULL, owner text COLLATE "C" NOT NULL,
    at bigint NOT NULL, details text COLLATE "C" NOT NULL DEFAULT '{{}}', decided bigint, accepted bigint,
    PRIMARY KEY (ns, id), FOREIGN KEY (ns, num) {_OF_MEMORY}, FOREIGN KEY (ns, other) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE INDEX proposals_by_memory ON proposals (ns, num);
CREATE INDEX proposals_by_other ON proposals (ns, other);
CREATE TABLE sessions (
    ns bigint NOT NULL, id text COLLATE "C" NOT NULL, started bigint NOT NULL, ended bigint, project text COLLATE "C",
    title text COLLATE "C", summary text COLLATE "C", zone text COLLATE "C" NOT NULL DEFAULT 'working',
    PRIMARY KEY (ns, id)
) PARTITION BY HASH (ns);
CREATE TABLE session_owners (
    ns bigint NOT NULL, session text COLLATE "C" NOT NULL, owner text COLLATE "C" NOT NULL, PRIMARY KEY (ns, session)
) PARTITION BY HASH (ns);
CREATE SEQUENCE session_memories_numbers;
CREATE TABLE session_memories (
    ns bigint NOT NULL, id bigint NOT NULL DEFAULT nextval('session_memories_numbers'),
    session text COLLATE "C" NOT NULL, num bigint NOT NULL, usage text COLLATE "C" NOT NULL, at bigint NOT NULL,
    PRIMARY KEY (ns, id), UNIQUE (ns, session, num, usage), FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE INDEX session_memories_by_memory ON session_memories (ns, num, at);
CREATE TABLE documents (
    ns bigint NOT NULL, id text COLLATE "C" NOT NULL, path text COLLATE "C" NOT NULL, title text COLLATE "C",
    hash text NOT NULL, mtime bigint NOT NULL, project text COLLATE "C", PRIMARY KEY (ns, id), UNIQUE (ns, path)
) PARTITION BY HASH (ns);
CREATE TABLE tasks (
    ns bigint NOT NULL, id text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL, started bigint NOT NULL,
    wording text COLLATE "C" NOT NULL, session text COLLATE "C", project text COLLATE "C", worktree text COLLATE "C",
    ended bigint, reward double precision, summary text COLLATE "C", episode bigint,
    zone text COLLATE "C" NOT NULL DEFAULT 'working', PRIMARY KEY (ns, id),
    FOREIGN KEY (ns, episode) REFERENCES memories (ns, num) ON DELETE SET NULL (episode) DEFERRABLE
) PARTITION BY HASH (ns);
CREATE INDEX tasks_by_wording ON tasks (ns, wording);
CREATE INDEX tasks_by_time ON tasks (ns, started, id);
CREATE INDEX tasks_by_episode ON tasks (ns, episode) WHERE episode IS NOT NULL;
CREATE TABLE artifacts (
    ns bigint NOT NULL, id text COLLATE "C" NOT NULL, task text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
    content text COLLATE "C" NOT NULL, created bigint NOT NULL, zone text COLLATE "C" NOT NULL DEFAULT 'working',
    PRIMARY KEY (ns, id)
) PARTITION BY HASH (ns);
CREATE INDEX artifacts_by_task ON artifacts (ns, task);
CREATE SEQUENCE events_numbers;
CREATE TABLE events (
    ns bigint NOT NULL, id bigint NOT NULL DEFAULT nextval('events_numbers'), kind text COLLATE "C" NOT NULL,
    at bigint NOT NULL, num bigint, session text COLLATE "C", task text COLLATE "C", amount double precision,
    owner text COLLATE "C", PRIMARY KEY (ns, id), FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE INDEX events_by_memory ON events (ns, num);
CREATE INDEX events_by_time ON events (ns, at);
CREATE INDEX events_by_task ON events (ns, task) WHERE task IS NOT NULL;
CREATE SEQUENCE vaults_numbers;
CREATE TABLE vaults (
    ns bigint NOT NULL, id bigint NOT NULL DEFAULT nextval('vaults_numbers'), name text COLLATE "C" NOT NULL,
    root text NOT NULL, options text NOT NULL, created bigint NOT NULL, synced bigint,
    PRIMARY KEY (ns, id), UNIQUE (ns, name)
) PARTITION BY HASH (ns);
CREATE TABLE vault_files (
    ns bigint NOT NULL, vault bigint NOT NULL, path text COLLATE "C" NOT NULL, document text COLLATE "C" NOT NULL,
    hash text NOT NULL, mtime bigint NOT NULL, ctime bigint NOT NULL, size bigint NOT NULL, error text COLLATE "C",
    warning text COLLATE "C", life text COLLATE "C" NOT NULL DEFAULT '{{}}', PRIMARY KEY (ns, vault, path),
    FOREIGN KEY (ns, vault) REFERENCES vaults (ns, id) ON DELETE CASCADE
) PARTITION BY HASH (ns);
CREATE INDEX vault_files_by_document ON vault_files (ns, document);
CREATE TABLE vault_sections (
    ns bigint NOT NULL, num bigint NOT NULL, vault bigint NOT NULL, document text COLLATE "C" NOT NULL,
    position bigint NOT NULL, headings text COLLATE "C" NOT NULL, anchors text NOT NULL, digest text NOT NULL,
    body text COLLATE "C" NOT NULL, links text NOT NULL, PRIMARY KEY (ns, num), FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE INDEX vault_sections_by_document ON vault_sections (ns, vault, document, position);
CREATE TABLE audit_marks (
    ns bigint NOT NULL, num bigint NOT NULL, salt bytea NOT NULL, mark bytea NOT NULL, PRIMARY KEY (ns, num),
    FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE SEQUENCE snapshots_numbers;
CREATE TABLE snapshots (
    ns bigint NOT NULL, number bigint NOT NULL DEFAULT nextval('snapshots_numbers'), id text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL, at bigint NOT NULL, ledger bytea NOT NULL, audit text COLLATE "C" NOT NULL,
    owner text COLLATE "C", PRIMARY KEY (ns, number), UNIQUE (ns, id)
) PARTITION BY HASH (ns);
CREATE INDEX snapshots_by_session ON snapshots (ns, session, number);
CREATE INDEX snapshots_by_time ON snapshots (ns, at);

-- Derived: everything below can be rebuilt from the tables above (`recallens reindex`).
CREATE TABLE terms (
    ns bigint NOT NULL, term text COLLATE "C" NOT NULL, number bigint NOT NULL, PRIMARY KEY (ns, term)
) PARTITION BY HASH (ns);
CREATE TABLE lexical (
    ns bigint NOT NULL, num bigint NOT NULL, head bigint NOT NULL, terms bytea NOT NULL, PRIMARY KEY (ns, num),
    FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE TABLE labels (
    ns bigint NOT NULL, value text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, num bigint NOT NULL,
    PRIMARY KEY (ns, value, kind, num), FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE INDEX labels_by_memory ON labels (ns, num);
CREATE TABLE vectors (
    ns bigint NOT NULL, encoder text COLLATE "C" NOT NULL, num bigint NOT NULL, part bigint NOT NULL DEFAULT 0,
    seq bigint NOT NULL, vector bytea NOT NULL, PRIMARY KEY (ns, encoder, num, part), FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE INDEX vectors_by_change ON vectors (ns, encoder, seq);
CREATE INDEX vectors_by_memory ON vectors (ns, num);
CREATE TABLE backlog (
    ns bigint NOT NULL, encoder text COLLATE "C" NOT NULL, num bigint NOT NULL, PRIMARY KEY (ns, encoder, num),
    holder text COLLATE "C", held_until bigint NOT NULL DEFAULT 0, FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE INDEX backlog_by_memory ON backlog (ns, num);
"""),
    ("0002-index-of-large-namespaces", """
CREATE TABLE indexed_namespaces (
    ns bigint PRIMARY KEY, encoders text NOT NULL, done bigint NOT NULL DEFAULT 0, last bigint NOT NULL,
    memories bigint NOT NULL, ready boolean NOT NULL DEFAULT false, recall double precision,
    sampled bigint NOT NULL DEFAULT 0, measured bigint NOT NULL DEFAULT 0
) PARTITION BY HASH (ns);
CREATE TABLE postings (
    ns bigint NOT NULL, term bigint NOT NULL, block bigint NOT NULL, entries bytea NOT NULL,
    PRIMARY KEY (ns, term, block)
) PARTITION BY HASH (ns);
ALTER TABLE postings ALTER COLUMN entries SET STORAGE EXTERNAL;
"""),
    # Behind row-level security a condition goes along an index only if it calls nothing that could tell of a row. A
    # function that is strict is not written out in the statement, so that a list's items are plain columns there.
    ("0003-lists-by-key", """
ALTER FUNCTION numbers(text) STRICT ROWS 50;
ALTER FUNCTION texts(text) STRICT ROWS 50;
DROP FUNCTION records(text);
CREATE FUNCTION records(list text) RETURNS TABLE (key bigint, value jsonb, text0 text, text1 text, text2 text,
    text3 text, number0 bigint, number1 bigint) LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE ROWS 50
    AS $$ SELECT place, item, item ->> 0, item ->> 1, item ->> 2, item ->> 3,
        CASE jsonb_typeof(item -> 0) WHEN 'number' THEN trunc((item -> 0)::numeric)::bigint END,
        CASE jsonb_typeof(item -> 1) WHEN 'number' THEN trunc((item -> 1)::numeric)::bigint END
        FROM jsonb_array_elements(list::jsonb) WITH ORDINALITY AS x(item, place) $$;
"""),
    ("0004-owner-of-tasks", """
ALTER TABLE tasks ADD COLUMN owner text COLLATE "C";
"""),
    ("0005-gist", """
ALTER TABLE memories RENAME COLUMN simhash TO gist;
UPDATE memories SET gist = 0;
"""),
    ("0006-recorded", """
-- When a memory was kept, where who is not the person dates it before that. Of older ones the id tells it, by its first
-- ten digits; which of them agents wrote, the source.
ALTER TABLE memories ADD COLUMN recorded bigint;
UPDATE memories SET recorded = (
    SELECT sum((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(memories.id, place + 1, 1)) - 1)::bigint
        << (45 - 5 * place))::bigint
    FROM generate_series(0, 9) AS place
) WHERE zone <> 'trusted' AND (source = 'agent' OR source = 'mcp' OR source LIKE 'mcp:%');
UPDATE memories SET recorded = NULL WHERE recorded <= created;
"""),
)  # fmt: skip

# Made once a large namespace is indexed, where the server has pgvector.
EMBEDDINGS = f"""
CREATE TABLE IF NOT EXISTS embeddings (
    ns bigint NOT NULL, encoder text COLLATE "C" NOT NULL, num bigint NOT NULL, part bigint NOT NULL,
    embedding {{schema}}.halfvec NOT NULL, PRIMARY KEY (ns, encoder, num, part), FOREIGN KEY (ns, num) {_OF_MEMORY}
) PARTITION BY HASH (ns);
CREATE INDEX IF NOT EXISTS embeddings_by_memory ON embeddings (ns, num);
"""
