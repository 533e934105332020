"""English: the cues by which a question is known to want some kind of answer; `other` is for none."""

from __future__ import annotations

from typing import Final

INTENTS: Final = {
    "how_to_do/how": r"""
    how (?:do|can|should|could|would|might|shall) (?:i|we|you|one|they|people|someone)|how does one|how to|hwo to
    how (?:i|we|you|one) (?:can|should|do|would|could)|how should|how would|how is it done|how(?=\W*$)
    """,
    "how_to_do/steps": r"""
    steps?|procedures?|runbooks?|playbooks?|guides?|tutorials?|checklists?|instructions?|walkthrough|walk me through
    show me how|step by step|best practices?|manual for|teach me|explain how|remind me how|in what order
    process (?:for|to|of|when)|which commands?|what commands?|commands? to|set ?up|setting up
    """,
    "how_to_do/way": r"""
    way to|ways to|approach to|approach for|method to|method for|methods? of|best way|right way|proper way|correct way
    recommended (?:way|approach|method)|easiest way|usual way|preferred way|safest way|quickest way|what does it take
    """,
    "how_to_do/task": r"""
    need to|want to|wanna|trying to|have to|going to|would like to|what do (?:i|we|you) do|what should (?:i|we|you) do
    where do (?:i|we) start|where to start|what do (?:i|we) need|what needs to|getting started
    """,
    "what_happened/happened": r"""
    how did (?:it|that|this) (?:go|end)|did (?:anything|something) \w+
    what happened|what has happened|what's happened|what went (?:on|down|wrong)|happened|took place|events of|story of
    course of events|sequence of|summari[sz]e the story
    """,
    "what_happened/incident": "incidents?|outages?|accidents?|post-?mortems?|retro(?:spective)?|recap|crisis",
    "what_happened/when_did": r"""
    when (?:did|was|were|had|have)|since when|how long ago|last time|what day did|what year did|the day we
    """,
    "what_happened/did": r"""
    what (?:did|have|has|had)|how did|how was|how were|have we|has the
    did (?:we|you|they|he|she|anyone|anybody|it|anything|something|the|our)
    have you
    what was (?:decided|done|agreed|said|discussed|changed|tried|concluded)
    what was the (?:outcome|result|conclusion|cause|decision)
    what were|where did|what (?:came|changed|got|made|led|caused)|which .{1,40}(?:ed|went)|why (?:was|were|had)
    what's been
    """,
    "what_happened/decided": r"decided?|decisions?|agreed?|agree on|conclu\w+|settled on|choices?|verdict on",
    "what_happened/who_did": r"""
    who (?:did|broke|deleted|changed|made|wrote|ran|took|said|fixed|touched|left|went|got|gave|sent|\w+ed)
    """,
    "what_happened/history": r"""
    history|timeline|chronolog\w+|change ?log|progress|outcome|so far|in the end|back then|finally|tried|attempts?
    already|turned? out|ended up|end up|ever|yet|in the past|previously|earlier|at the time|resolved|decided|switched
    moved
    """,
    "what_happened/time": r"""
    yesterday|last (?:week|night|month|year|spring|summer|autumn|fall|winter|quarter|sprint|\w+day)|ago|this morning
    since (?:\w+day|then|last)|on (?:\w+day|the \d+\w*)|today|this week|recently|january|february|march|april|june
    july|august|september|october|november|december
    """,
    "known_issues/issue": r"""
    gotchas?|pitfalls?|caveats?|traps?|footguns?|quirks?|known (?:issues?|problems?|bugs?|bug|thing|limitations?)
    limitations?|common (?:mistakes?|errors?|problems?)|mistakes?|work-?arounds?|side effects?|edge cases?|warnings?
    """,
    "known_issues/care": r"""
    watch (?:out|for)|careful|beware|look out|aware of|dangerous|risks?|risky|avoid|keep in mind|should (?:i|we) know
    safe to|bite|bites|worry about|pay attention|mind when|not do|never do|shouldn't
    """,
    "known_issues/broken": r"""
    fails?|failing|failures?|broken|breaks?|crash(?:es|ed|ing)?|hangs?|hanging|stuck|drops?|flaky|times? out
    timing out|not working|not work|doesn't work|don't work|doesn't|won't|can't|cannot|unable to|leaks?|leaking|wrong
    corrupt\w*|missing|duplicated?|twice|regress\w*|loops?|freez\w+|blank|disappear\w*|unexpected\w*|deadlocks?
    race condition|slow
    """,
    "known_issues/error": r"""
    errors?|exceptions?|bugs?|buggy|stack ?traces?|traceback|panics?|segfault|troubleshoot\w*|debug|issues?|problems?
    trouble
    """,
    "known_issues/often": r"""
    seen (?:this|that|it)|anyone (?:seen|else)|anybody (?:seen|else)|keeps?|sometimes|randomly|intermittent\w*
    occasionally|every few|all the time|usually|tends? to|typical\w*|run into|ran into|goes wrong|go wrong
    happens when
    """,
    "known_issues/why": r"""
    why (?:does|do|is|are|isn't|aren't|doesn't|don't|can't|won't|would)|what causes|do we know why|what's wrong
    whats wrong
    """,
    "environment/where": r"""
    ports?|hosts?|hosted|hostname|urls?|uri|endpoint|address|regions?|clusters?|dashboards?|buckets?|dsn|domain
    connection string|ip address|logs go|data ?center
    """,
    "environment/setting": r"""
    env vars?|env(?:ironment)? variables?|environments?|config\w*|settings|set to|value of|enabled|disabled
    turned (?:on|off)|credentials
    """,
    "environment/quantity": "flags?|limits?|timeouts?|pool|quota|max|maximum|default|size|timezone|threshold",
    "environment/now": r"""
    currently|current|right now|at the moment|these days|now|nowadays|latest|at present|as of today|still (?:on|using)
    """,
    "environment/runs": r"""
    running|run on|runs on|deployed|installed|are we on|do we use|do we run|using|replicas?|pods?|how much memory
    """,
    "environment/place": r"""
    cpus?|ram|gpus?|os|operating system|hardware|instances?|machines?|boxes|runners?|agents run|servers?|prod
    production|staging|ci|qa
    """,
    "environment/version": r"""
    versions?|which (?:node|python|java|go|ruby|rust|php|postgres|mysql|redis|compiler|release|image|branch)|image tag
    """,
    "code_structure/where": r"""
    where (?:is|are|does|do|in) [^\n]{0,60}\b(?:defined|implemented|declared|lives?|called|handled|located)
    where (?:is|are) [^\n]{0,60}\b(?:calculated|computed|validated|checked|registered|parsed|created|built|set up|done)
    where (?:do|does) (?:we|it|the) \w+|where's the|where in|where are the|where is the|find the
    """,
    "code_structure/code": r"""
    files?|functions?|class(?:es)?|modules?|methods?|packages?|components?|interfaces?|subclass\w*|code|codebase|repo
    repository|directory|directories|folders?|imports?|signature|parameters?|arguments?|returns?|entry ?points?
    routes?|middleware|tables?|schema|helpers?|logic|constructors?|structs?|enum|paths?|source
    """,
    "code_structure/relation": r"""
    calls|callers?|call(?:s|ed)? (?:by|of|from)|who calls|what calls|uses|depends? on|dependenc(?:y|ies)|inherits?
    implements?|extends?|relates? to|references?|responsible for|handles|owns the|contains|organi[sz]ed(?! by)|layout
    structured?|laid out|built from|made of|part of|touch|lives? in
    """,
    "other/who": r"who (?:is|are|owns?|approves?|should|can|leads?|maintains?|manages?)|whose|contact|on call",
    "other/norm": r"""
    policy|policies|principles?|conventions?|guidelines?|rules?|strategy|strategies|goals?|vision|values|standards?
    plans?|pricing|prices?|costs?|budget|contracts?|deadline|meetings?|retention|naming|agreement|requirements?
    roadmap
    """,
    "other/reason": r"""
    why (?:do|did|does|are|have) (?:we|they|you|he|she|our|the team)|rationale|reasons? (?:for|behind|why)|why not
    why [^\n]{0,30}(?:choose|chose|chosen|pick|picked|prefer|over|instead of|rather than)
    """,
    "other/meaning": r"""
    what is an?|what's an?|what does [^\n]{1,30} mean|meaning of|differences?|versus|vs|stand for|definition|overview
    summary of|should (?:i|we) (?:use|choose|pick)|or
    """,
    "other/person": r"""
    prefers?|likes?|favou?rite|allergic|birthday|enjoys?|loves?|thinks? about|opinion|hobby|hobbies|married|kids
    family
    """,
    "other/amount": r"how (?:many|much|often|long|old|far|big|tall)|what (?:percentage|share|number)|percent",
    "other/review": r"merge|merging|approve|lgtm|ship (?:this|it)",
}
