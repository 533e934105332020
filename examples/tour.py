"""A tour of the library, to run or to step through cell by cell: each `# %%` begins one."""

# %% Open a store. It is one file; a folder that is thrown away will do here.
import tempfile
from pathlib import Path

import recallens
from recallens.render import render

folder = tempfile.TemporaryDirectory()
memory = recallens.open(Path(folder.name) / "tour.db")

# %% Keep a few things: a decision, what replaced it, an incident, a fact in Korean.
first = memory.remember(
    "Tracking lookups are cached in Redis for 60 seconds, because the carrier allows 10 requests a second.",
    title="Tracking cache TTL is 60 seconds",
    kind="decision",
    project="harbor",
    importance=0.8,
    created=1_772_000_000_000,
)
second = memory.remember(
    "Tracking lookups are cached until a carrier event invalidates them; there is no TTL any more.",
    title="Tracking cache is invalidated by events",
    kind="decision",
    project="harbor",
    importance=0.9,
    supersedes=first.id,
    citations=[recallens.FileCitation("src/harbor/cache.py", 40, 97)],
)
memory.remember("The cache served stale delivery states for 40 minutes on 24 April.", kind="episode", project="harbor")
memory.remember("나루물류의 요청 한도는 초당 10건이다.", kind="fact", project="harbor")

# %% Ask. What was superseded stays out, and every score is the sum of its parts.
answer = memory.search("How long do we cache tracking lookups?", limit=2)
for result in answer.results:
    parts = " + ".join(f"{name} {value:.2f}" for name, value in result.parts.items() if abs(value) >= 0.005)
    print(f"{result.rank}. {result.memory.title or result.memory.content}\n   {result.score:.2f} = {parts}")
assert answer.results[0].memory.id == second.id
assert all(abs(sum(one.parts.values()) - one.score) < 1e-9 for one in answer.results)

# %% The same question about the past, and one in Korean without a space.
then = memory.search("How long do we cache tracking lookups?", limit=1, as_of=1_772_000_100_000)
print("then:", then.results[0].memory.title)
assert then.results[0].memory.id == first.id
print("한국어:", memory.search("나루물류요청한도", limit=1).results[0].memory.content)

# %% As an agent asks: short entries and a certificate, then the timeline, then everything.
brief = memory.layers.search("Why was the tracking cache stale and who was on call?", max_tokens=200)
for entry in brief.entries:
    print(entry.text)
certificate = brief.certificate
assert certificate is not None
print("missing:", certificate["missing"])
for moment in memory.layers.around(brief.entries[0].handle, window=400).entries:
    print(moment.text.splitlines()[0])

# %% Why is the old decision not there? The answer was checked by asking again.
told = memory.why_not(first.id, "How long do we cache tracking lookups?", limit=2)
print(told.sentence)

# %% The X-ray of a recall: which view served each result, each filter's verdict, what nearly made it.
snapshot = memory.xray("How long do we cache tracking lookups?", limit=2)
print(render(snapshot, "text")[:900], "…")

# %% A recorded recall replays from its decisions alone.
recorded = memory.recalls.snapshot_of(answer)
again, changes = memory.replay(recorded.snapshotId)
assert list(again.ids) == [one.memory.id for one in answer.results]
print(
    "replayed", len(again.ids), "results;", "asked now, something differs" if changes else "asked now, nothing differs"
)

# %% What should an agent know before it starts?
print(memory.context("Change how tracking lookups are cached", 600).block)

# %% Done.
memory.close()
folder.cleanup()
