"""English."""

from __future__ import annotations

from typing import Final

from recallens.text.languages import pack
from recallens.text.languages.english_answers import ANSWER_NAMES, ANSWER_TYPES, ANSWERS, ASKING, GOES_ON, RECURRENT
from recallens.text.languages.english_commands import COMMANDS
from recallens.text.languages.english_intents import INTENTS
from recallens.text.languages.english_notes import NOTES
from recallens.text.languages.english_secrets import SECRETS
from recallens.text.languages.english_statements import STATEMENTS
from recallens.text.languages.english_times import ANY_WEEKDAY, MONTH_NAMES, TIMES, WEEKDAYS
from recallens.text.languages.english_work import AMOUNTS, WORK

_FUNCTION_WORDS: Final = """
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself yourselves
he him his himself she her hers herself it its itself they them their theirs themselves
one ones someone something anyone anything everyone everything
am is are was were be been being do does did doing done have has had having
can could will would shall should may might must ought
isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't
can't couldn't won't wouldn't shan't shouldn't mustn't mightn't needn't
and or but nor if then else than so because while although though unless whether and/or
of at by for with about into onto through during to from in out on off over under between among within
upon toward towards via per as until since against
what which who whom whose when where why how
here there again once just only also too very quite rather really still even ever already yet
some any each every both either neither all such other another same own
not no e.g i.e etc please let let's
"""

# Words that ask rather than describe; they are the subject now and then ("a change of type").
_FRAME_WORDS: Final = """
many much more most few several lot lots ago last recent recently past current currently now today previous
first new remind remember recall recommend recommendation suggest suggestion advice advise tell told say said
mention mentioned talk talked discuss discussed describe explain give show find look list know knew think
thought want wanted need help try trying get got make made use used using
go went going come like thing things kind type sort way time times day days week weeks month months year years
happen happened question answer wonder wondering total number long often before after earlier
"""

# General words of software work, not of any data set; the first words of a meaning are the likeliest.
_SYNONYMS: Final = """
authentication auth login, authorization permission access, password credential, token, user account, session,
security, encryption encrypt, secret, database db, query, migration, schema, table, index, transaction, cache caching,
queue, worker, job, schedule scheduler, deploy deployment release rollout, rollback revert, environment env,
configuration config setting, server, client, container docker, cluster, node, network, proxy, request, response,
error failure, exception, bug defect, fix repair, test testing, build, performance latency speed, timeout, retry,
memory, storage disk, file, folder directory, log logging, monitor monitoring observability, alert alarm, metric,
incident outage, backup, restore recovery, version, upgrade update, install installation, dependency, library package,
module, function, method, class, component, hook, state, event, render rendering, effect, property props,
parameter argument, variable, array list, object, type, interface, api, endpoint, webhook, payment billing, invoice,
price cost, customer, order, search retrieval, ranking, filter, document doc, page, design, architecture, pattern,
decision, plan, meeting, review, approve approval, owner ownership, team, clientele: customer client, deadline due,
priority, policy rule, principle, lesson, example sample, change modification, history, limit quota, rate, size,
count number, create creation, delete remove, start begin, stop end, enable activate, disable deactivate,
compare comparison, validate validation verify, input, output, screen display, button, form, link, image picture photo,
language, translation, data, model, training, purchase buy, trip travel, doctor physician, movie film, car vehicle,
house home, employment: job work, child kid, food meal, audit, hackathon, launch release,
certificate cert, app application, store, reject rejection, join, contract
"""

_QUESTIONS: Final = pack.QuestionWords(
    intents=INTENTS,
    reason=r"why|how come|what for|reasons?",
    several=r"\bhow (?:many|often)\b|\bhow much\b.{0,80}\b(?:in total|altogether|combined)\b|\bnumber of\b|\bin total\b"
    r"|\btotal (?:number|amount|cost|time|of)\b|\baltogether\b|\bcombined\b|\blist\b|\ball (?:the|of|my)\b|\beach of\b"
    r"|\b(?:which|what)(?: \w+){0,2} (?:(?:kind|type|sort)s? of )?(?:\w+[^\Wsu]s|people|children|men|women)\b"
    r"(?: \w+){0,3} (?:have|has|did|do|does|are|were|had)\b|\b(?:what|which) are\b|\border of\b"
    r"|\bin (?:what|which) order\b|\bwhere (?:has|have)\b|\bwhat (?:has|have) \w+\b|\bwhat (?:other|else)\b|\bboth\b",
    single=r"\bhow many (?:days|weeks|months|years|hours|minutes)\b"
    r".{0,200}\b(?:ago|passed|since|between|before|after)\b",
    cause=r"\b(?:why|how come|reasons?|caus\w+|culprit|led to|blame[ds]?)\b",
    answer_types=ANSWER_TYPES,
    answer_names=ANSWER_NAMES,
    asking=ASKING,
    contrast=r"\b(?:instead of|rather than|as opposed to|and not) \S+",
    principle=r"""
    why|principles?|philosophy|rationale|trade-?offs?|values?|strategy|should we|guidelines?|policy|policies|reasons?
    goals?
    """,
    implementation=r"""
    code|function|method|class|command|flag|snippet|syntax|script|stack ?trace|regex|parameter|argument|line \d+
    config(?:uration)? (?:key|file)|sql|api call|import
    """,
    multi_hop=r"""
    why|compare[ds]?|comparison|differ\w*|relat(?:e[ds]?|ion\w*) (?:to|between)|between .+ and|both|versus|vs
    caus(?:e[ds]?|ing)|because|affect\w*|impact\w*|depend\w*|led to|result(?:ed|s)? (?:in|of)|as well as|history|evol\w+
    what\b.+\band @|who\b.+\band @|when\b.+\band @|where\b.+\band @|which\b.+\band @|how\b.+\band @
    """.replace("@", "(?:what|who|when|where|which|how|why)"),
    temporal="when|before|after|since|until|during|ago|first|latest|earliest|history|over time|how long",
    broad=r"""
    all|every|everything|entire|whole|overall|overview|architecture|summar\w+|in general|throughout|across
    end[- ]to[- ]end|list of
    """,
    part_ends=r",?\s+(?:and also|as well as|and then)\s+"
    r"|,?\s+and\s+(?=(?:what|who|whom|whose|when|where|which|how|why|is|are|was|were|does|do|did|can|should)\b)",
    statement=r"\A\s*(?!(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|can|could|should|would|will|"
    r"has|have|any|anything|tell|show|list|find|give|get|explain|describe|remind|summari[sz]e|walk|please|help|look|"
    r"recall|search|i|we|need)\b)[^?]*[a-z0-9)\]%]\.\s*\Z",
    conjunctions="and",
    activities=r"\b(?:do|did|done|doing|happen\w*|work(?:ed|ing)?|gets?|got|go(?:ing|es|ne)?|went|on|out|new|news|chang\w+"
    r"|fix\w*|ship\w*|deci\w+|learn\w*|make|made|br[eo]ak\w*|broke|broken|summar\w+|recap\w*|rundown|overview"
    r"|catch|caught|up|updates?d?|progress|accomplish\w*|achiev\w*|finish\w*|complet\w+|discuss\w*|talk\w*|cover\w*"
    r"|anything|something|everything|stuff|things?|notes?|memor(?:y|ies)|events?|issues?|problems?|status|remember\w*"
    r"|tell|told|show|list|give|gave|activit(?:y|ies)|wr[io]te|written|saved?|record\w*|prepar\w+|sa(?:y|id)|quick"
    r"|been|brief|short|important|interesting|us|me|my|we|team|everyone|prior|right|just|shortly|soon|busy|day|since"
    r"|before|after|between|and|while|then|now|again|notable|worth|knowing|added|removed|built|bugs?|deployed|merged"
    r"|releas\w+|launch\w*|wrong|bad|badly|troubles?|incidents?|outages?|failures?|fail(?:ed|s)?|errors?|mistakes?|accidents?"
    r"|gotchas?|pitfalls?|warnings?|caveats?|traps?|quirks?|lessons?|skills?|how-?tos?|procedures?|decisions?|findings?"
    r"|f[io]u?nd|discover\w*|notic\w*|came|come|comes|coming|upcoming|plans?|planned|scheduled?|due|watch|careful|known|agree\w*|outcomes?|results?|reactions?"
    r"|r[au]n into|came across|encounter\w*|faced)\b",
    places=r"\b(?:at|in|from) (?:the|our|my) ([a-z][\w-]+)",
    of_change=r"\b(?:this|these|my) (?:changes?|diff|patch|pr|pull request|commits?|edits?)\b"
    r"|\b(?:merg(?:e|ing)|land(?:ing)?|ship(?:ping)?|commit(?:ting)?) (?:this|it|these)\b"
    r"|\b(?:safe|ok|okay|fine|ready|good|risky) to (?:merge|land|ship|commit|push)\b",
    change_words=r"chang(?:es?|ing)|diffs?|patch(?:es)?|prs?|pull|requests?|commit(?:s|ting)?|edits?|merg(?:es?|ed|ing)"
    r"|land(?:ing)?|ship(?:ping)?|push(?:ing)?|safe(?:ly|ty)?|ok|okay|fine|ready|good|risk(?:s|y)?|review(?:ing)?|approve"
    r"|break(?:s|ing)?",
    kinds={
        "decision": r"\b(?:decid\w*|decisions?|agreed?)\b",
        "lesson": r"\b(?:learn\w*|lessons?)\b",
        "gotcha": r"\b(?:gotchas?|pitfalls?|warnings?|caveats?|traps?|quirks?)\b",
        "skill": r"\b(?:skills?|how-?tos?|procedures?)\b",
    },
    trouble=r"\b(?:wrong|br[eo]ak\w*|broke|broken|problems?|issues?|incidents?|outages?|failures?|fail(?:ed|s)?|errors?|bugs?"
    r"|troubles?|mistakes?|accidents?|mishaps?|crash\w*)\b",
)

_MEMORIES: Final = pack.MemoryWords(
    trouble="incident outage accident failed failure crashed down unreachable rejected refused broke broken expired"
    " error bug wrong lost leak stuck jam fault unavailable stopped rolled complain postmortem"
    " burst flood stolen theft stole frost snapped tore torn damaged injured hurt burnt burned"
    " collapsed spilled cracked missing overflowed trapped spoiled collided mould wet",
    milestones="opened launched launch released release live signed won approved passed inspected inspectors visited"
    " delegation elected started finished",
    decision=r"\b(?:decid(?:e|ed|es|ing)|decision|agreed (?:with (?:\w+ ){1,3})?(?:to|on|that)|settled on"
    r"|we chose|i chose|chose to|opted (?:for|to)|going with|went with|we(?:'ll| will) use"
    r"|switch(?:ed|ing) (?:from|to)|ruled out)\b",
    gotcha=r"\b(?:gotcha|caveat|pitfall|beware|be careful|careful(?:ly)? (?:with|of|not)|careful|watch out|warning"
    r"|don['’]t forget|make sure (?:not|never)|trap|foot-?gun|known issue|breaks? (?:if|when)|fails? (?:if|when))\b",
    preference=r"\b(?:prefer(?:s|red|ence|ences)?|favou?rite"
    r"|(?:i|user|he|she|they) (?:really )?(?:likes?|loves?|hates?|dislikes?)"
    r"|(?:would|i['’]d|we['’]d) rather|my go-to)\b",
    lesson=r"\b(?:lessons? learned|lessons?(?=\s?:)|(?:the|a|one|our|my|main|hard) lesson(?! with)|learn(?:ed|t) that"
    r"|in hindsight|takeaway|next time|should have|realis?z?ed"
    r"|retrospective|root cause was|mistake was)\b",
    principle=r"\b(?:principle|rule of thumb|as a rule|best practices?)\b|^\s*(?:always|never)\b",
    pattern=r"\b(?:pattern|recurring|every time|tends? to|whenever)\b",
    summary=r"summary|tl;?dr|recap|session summary",
    note=r"note|todo|fyi|memo",
    steps=r"\bhow to\b|\bsteps?(?: \d|:)|^\s*(?:step )?1[.)]\s"
    r"|\bto \w+(?: [\w./-]+){0,6}, (?:first )?(?:run|use|open|go|call|click|set|add|install|create|execute|type|start"
    r"|edit|copy|press|do)\b|\b(?:first|then|finally),? (?:run|open|click|install|execute|upload|restart|commit|push"
    r"|copy|build|deploy)\b|^\s*(?:run|execute|install|use) [`$]?[\w./-]+"
    r"|\brunbook\b|\binstructions?\b|\bprocedure\b|^\s*\$ \w",
    feeling=r"\b(?:i|we|he|she|they|user|team|\w+)"
    r"(?:['’]m|['’]re|['’]s| am| is| are| was| were| feels?| felt| seems?| seemed| got) (?:\w+ ){0,2}"
    r"(?:happy|sad|angry|frustrat(?:ed|ing)|excited|anxious|worried|afraid|upset|proud|disappointed|annoyed|thrilled"
    r"|delighted|stressed|overwhelmed|grateful|nervous|scared|lonely|relieved|ashamed|embarrassed|depressed)\b"
    r"|\bi (?:really )?(?:love|hate|enjoy)\b|\b(?:frustrating|heartbroken)\b",
    event=rf"\b(?:yesterday|today|tonight|this (?:morning|afternoon|evening|week)"
    rf"|last (?:night|week|month|year|time|{ANY_WEEKDAY})|\w+ (?:minutes?|hours?|days?|weeks?|months?|years?) ago"
    rf"|earlier today|just now|on (?:{ANY_WEEKDAY})|at \d{{1,2}}(?::\d\d)? ?(?:am|pm))\b"
    r"|\b(?:i|we|he|she|they|user|team) (?:just )?(?:went|met|visited|fixed|deployed|merged|released|attended|called"
    r"|saw|tried|found|debugged|shipped|finished|started|had|bought|moved|talked|discussed|ran)\b"
    r"|\b(?:incident|outage|meeting|happened|occurred)\b",
    first_person=r"\b(?:i|my|me|mine|we|our)\b",
    principle_signs=r"\b(?:why|principles?|philosophy|rationale|trade-?offs?|values?|strategy|guidelines?|polic(?:y|ies)"
    r"|always|never|prefer|must|should|reasons?|goals?|believe)\b",
    negation=r"\b(?:not|cannot|never|no|none|nothing|nobody|nowhere|without|neither|nor|hardly|barely|unless|except)\b"
    r"|n['’]t\b|\b(?:dont|doesnt|didnt|cant|wont|isnt|arent|wasnt|shouldnt|couldnt|wouldnt)\b",
    plain_negation=r"not|cannot|n['’]t|[a-z]+nt",
    opposites="""
    enable disable, enabled disabled, allow deny, allowed denied, allowed forbidden, true false, on off, always never,
    before after, increase decrease, add remove, start stop, success failure, succeed fail, supported unsupported,
    valid invalid, safe unsafe, available unavailable, open close, up down, minimum maximum, more less, like dislike,
    love hate, encrypted unencrypted, public private, sync async, synchronous asynchronous, with without, left right,
    required optional, upgrade downgrade
    """,
    # `one`, `second`, `may` and `march` are left out: mostly they are other words.
    number_words=r"\b(?:zero|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty"
    rf"|hundred|thousand|million|billion|twice|{ANY_WEEKDAY}"
    r"|january|february|april|june|july|august|september|october|november|december)\b",
    contradicts=r"\bcontradict(?:s|ed|ing|ory|ion)\b",
    deprecated=r"\bdeprecated\b",
    outdated=r"\b(?:outdated|obsolete|out of date|no longer (?:valid|true|used|correct))\b",
    # None holds a letter that has a third form (i, k, s), so lower case finds them all.
    traces=("contrad", "deprecated", "outdated", "olete", "out of date", "no longer"),
    others_end=r"(?:\badr[- ]?\d+|\]\]|\b(?:old|older|previous|former|legacy)\b[^.\n]{0,40}) (?:is|was|are|were) "
    r"(?:now )?(?:deprecated|outdated|obsolete|out of date|no longer \w+)"
    r"|\b(?:the|an?|any|every|our) (?:deprecated|outdated|obsolete)\b|\bdeprecates\b",
    reasons=r"(?i:\b(?:because|since|so that|due to|in order to|reasons?|thanks to"
    r"|to (?:avoid|save|keep|prevent|reduce|free))\b)",
    answers=ANSWERS,
    recurrent=RECURRENT,
    goes_on=GOES_ON,
)

ENGLISH: Final = pack.LanguagePack(
    code="en",
    function_words=_FUNCTION_WORDS,
    frame_words=_FRAME_WORDS,
    synonyms=_SYNONYMS,
    clitics=frozenset(("s", "re", "ve", "ll", "d", "m")),
    negated_contraction=r"[A-Za-z]+n't",
    # Titles are always followed by a name, so they never end a sentence.
    abbreviations="mr mrs ms dr prof st sr jr vs e.g i.e cf fig vol approx inc ltd co dept est al u.s u.k a.m p.m",
    recap_labels=("Asked: ", "Last said: "),
    lesson_names={
        "lesson": ("lesson", "lessons", "lesson-learned", "lessons-learned"),
        "playbook": ("playbook", "playbooks"),
        "qa-finding": ("qa-finding", "qa-findings"),
    },
    lesson_parts={
        "prevention": r"\bprevent\w*|\bcheck-?lists?\b",
        "cause": r"\b(?:root[ -])?causes?\b|\bwhy it happened\b",
        "mistake": r"\bmistakes?\b|\bwhat went wrong\b",
        "fix": r"\bfix(?:es|ed)?\b|\bsolutions?\b|\bresolutions?\b",
    },
    times=TIMES,
    questions=_QUESTIONS,
    memories=_MEMORIES,
    notes=NOTES,
    commands=COMMANDS,
    amounts=AMOUNTS,
    statements=STATEMENTS,
    work=WORK,
    names=pack.NameWords(
        joints="of|de|van|von|da|del|la|y",
        articles=("The", "A", "An", "I", "I'm", "I've", "My", "Our", "Your"),
        openers="""
        yesterday today tomorrow tonight however therefore meanwhile finally later sometimes maybe perhaps
        usually recently currently now last many decided fixed added moved removed updated changed deployed using
        use switched chose created implemented set run ask call check note see met meet visited dear hey hi hello
        thanks ok okay yes well install configure migrated upgraded never always during unlike remember remind
        tell try get make show give find need monday tuesday wednesday thursday friday saturday sunday january
        february march april june july august september october november december
        """,
        calendar=(*MONTH_NAMES, *WEEKDAYS),
        possessives=("'s", "’s"),
    ),
    secrets=SECRETS,
)
