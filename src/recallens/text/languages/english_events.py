"""The sorts of events and of things in English: words that stand for one another where somebody tells what happened.

The sorts are those of a life, a household, a team and a business: who comes and goes, what opens, breaks, is lost,
bought, moved, inspected, celebrated. A text that has a word of the sort that a question names tells of such an event.
"""

from __future__ import annotations

from typing import Final

SAME_EVENTS: Final = {
    # what befalls people
    "birth": r"born|births?|newborn|gave birth|had (?:a|her|their) baby",
    "marriage": r"weddings?|marr(?:y|ied|iage)|got engaged",
    "injury": r"injur\w+|hurt|fractur\w+|sprain\w*|broke (?:his|her|my|an?) (?:arm|leg|wrist|ankle|foot|hip)"
    r"|fell (?:off|down|from)",
    "illness": r"ill|illness|sick\w*|flu|infect\w+|outbreaks?|diseases?|fever|virus|poisoning|diagnos\w+|allerg\w+",
    "death": r"died|deaths?|passed away|funeral|killed",
    "treatment": r"surger(?:y|ies)|operated on|hospital\w*|operation on",
    # who comes, goes and leads
    "departure": r"resign\w*|retir\w*|quit|departure|left|farewell|handed in (?:his|her|their) notice"
    r"|stepp(?:ed|ing) down|last day (?:with|at)",
    "arrival": r"join(?:s|ed|ing)?|hir(?:e|ed|ing)|arriv\w+|(?:started|began) as|came on board"
    r"|took (?:over|command)|onboard\w*",
    "appointment": r"promot(?:ed|ion)|appoint\w+|elected|election|became|took (?:over|charge|command)|succeeded"
    r"|started as",
    "dismissal": r"fired|laid off|layoffs?|dismiss\w+|sacked|let go",
    "leave": r"on leave|leave of absence|(?:maternity|parental|sick) leave|sabbatical",
    "adoption": r"adopt\w+|brought home|took in|got (?:a|our) (?:cat|dog|puppy|kitten)",
    # what people do together
    "celebration": r"part(?:y|ies)|celebrat\w+|anniversar\w+|birthdays?|ceremon\w+|festivals?|fairs?",
    "meeting": r"meetings?|met|conferences?|workshops?|kick-?off",
    "performance": r"concerts?|lectures?|perform\w+|exhibitions?|recitals?|gave a (?:talk|reading)|read from",
    "travel": r"trips?|travel\w*|journeys?|excursions?|tours?|came (?:home|back) from|returned from|back from"
    r"|vacation|flew to",
    "contract": r"contracts?|agreements?|deals?|sign(?:ed|ing)|partnership",
    "cancellation": r"cancel\w*|called off|terminat\w+|revok\w+|withdr[ae]w\w*",
    "delay": r"delay\w*|postpon\w+|put off|pushed back",
    "dispute": r"sued|lawsuits?|court|disputes?|fined|penalt(?:y|ies)",
    "strike": r"strikes?|walkouts?|protest\w*",
    "notice": r"notif\w+|notices?|announc\w+|inform(?:ed|ing)|told us|let us know|received word",
    "complaint": r"complain\w*|grievances?",
    # what becomes of a business and its money
    "funding": r"fund-?rais\w+|donat\w+|donors?|grants?|invest(?:ed|ment|ors?)|raised",
    "bankruptcy": r"bankrupt\w*|insolv\w+|folded|went under|out of business",
    "merger": r"merg\w+|takeover|acqui(?:red|sition)|bought (?:up|out)",
    "rise": r"rais(?:e|ed|ing)|rises?|rose|increas\w+|hikes?|went up|higher",
    "fall": r"lower\w*|reduc\w+|discount\w*|dropped|went down in price",
    "purchase": r"bought|purchas\w+|acquir\w+|ordered",
    "sale": r"sold|sales?|selling",
    # what starts, ends and changes
    "launch": r"launch\w*|releas\w*|w[eo]nt live|go(?:es|ing)?[- ]live|live since|open(?:s|ed|ing)?|came out"
    r"|roll(?:ed|ing)?[- ]?out|introduc\w+|shipp(?:ed|ing)|publish\w*|deploy\w*|installed|became available"
    r"|(?:in the hands of|available to) \w+|welcomed (?:its|our|the) first",
    "closing": r"shut ?-?down|shut (?:us|it|them) down|retir\w*|decommission\w*|sunset|discontinu\w+|turned off"
    r"|switched off|abolish\w*|closed|closure|removed|removal",
    "move": r"mov(?:e|ed|ing)|migrat\w+|relocat\w+|cut-?over|switch(?:ed|ing|-?over)|transfer\w*|ported|taken from",
    "division": r"split(?:ting)?(?: up)?|br[eo]a?k(?:ing|en|e)? (?:it )?up|divid\w+|separat\w+|took apart|carved out",
    "replacement": r"replac\w+|swapp?\w*|exchang\w+",
    "rollback": r"roll(?:ed|ing)?[- ]?back|revert\w*|undid|undone",
    "repair": r"repair\w*|mend(?:ed|ing)|renovat\w+|refurbish\w*|overhaul\w*",
    "rejection": r"reject\w*|refus\w+|turned (?:us |it |\w+ )?down|declin\w+|den(?:ied|ial)"
    r"|sent (?:\w+ ){0,3}back|vetoed",
    "approval": r"approv\w+|pass(?:ed|ing)|accepted|granted|certif\w+|awarded",
    "audit": r"audit\w*|inspect\w*|assess\w+|visit(?:s|ed)?|examin\w+|checked on|rated|graded|evaluat\w+"
    r"|looked (?:over|around)",
    # what goes wrong
    "theft": r"thefts?|st[oe]al\w*|stole\w*|robb\w+|burgl\w+|break-?in|broke into",
    "flood": r"flood\w*|under water|inundat\w+|water (?:ran|came|poured|got|damage)|burst|soak\w+",
    "leak": r"leak\w*|expos(?:ed|ure)|disclos\w+|dripp\w*",
    "fire": r"fires?|burn(?:ed|t)|blaze|caught fire",
    "collision": r"collisions?|collid\w+|ran into|drove into|hit",
    "collapse": r"collaps\w+|caved in|gave way|fell down|toppl\w+|buckl\w+",
    "breakdown": r"break-?down|br[eo]ke\w*|snapp\w+|fail(?:ed|ures?)|gave (?:out|up)|stopped|died|crash\w*",
    "power": r"black-?outs?|power (?:cut|failure|outage)s?|(?:had no|lost|without) power",
    "outage": r"outages?|failures?|crash\w*|unreachable|unavailable|offline|downtime"
    r"|had no network|(?:was|were|went) down|(?:could|did) not (?:log ?in|connect|be reached|open)"
    r"|no(?:body| one) could (?:log ?in|connect|reach|open)",
    "fault": r"bugs?|errors?|glitch\w*|defects?|faults?|faulty|wrong(?:ly)?",
    "attack": r"attack\w*|hack\w*|ransomware|ddos|breach\w*|intrusion|intruders?|malware|phish\w*|got into|broke into"
    r"|security holes?|vulnerabilit\w+|penetration test\w*|pen-?tests?",
    "loss": r"lost|loss(?:es)?|losing|vanish\w*|disappear\w*|wiped|gone",
    "disposal": r"threw|thrown|discard\w*|dispos\w+|scrapp\w+|destroyed",
    "weather": r"storm\w*|typhoon|hurricane|snow\w*|hail\w*|heat ?wave",
}  # fmt: skip

SAME_THINGS: Final = {
    "office": r"offices?|studio|workplace|headquarters|hq|premises",
    "data centre": r"data ?-?cent(?:er|re)s?|coloc\w*|colo|server rooms?|racks?|hosting",
    "database": r"databases?|db|postgres\w*|mysql|oracle|mongo\w*|sqlite",
    "system": r"systems?|programs?|programmes?|software|computers?|it",
    "online": r"online|web ?sites?|internet|web ?shop|web",
    "demo": r"demos?|trial versions?|preview",
    "app store": r"app ?stores?|apple|google play|play store|app review",
    "saved data": r"sav(?:es?|ed games?)|saved (?:data|files?)|user data",
    "authority": r"authorit(?:y|ies)|regulators?|regulator's|inspectors?|supervisor\w*|commissioner|county"
    r"|council|ministry",
    "request": r"proposals?|requests?|applications?|bids?|submissions?",
    "site": r"web ?sites?|sites?|home ?pages?|portal|dashboards?",
    "staff": r"staff|employees?|colleagues?|engineers?|developers?",
    "customer": r"customers?|clients?|users?|guests?|patients?|passengers?",
    "supplier": r"suppliers?|vendors?|providers?|contractors?|sold us",
    "warehouse": r"warehouses?|depots?|stock ?rooms?|storage hall",
    "shop": r"shops?|stores?|branch(?:es)?|outlets?",
    "child": r"child(?:ren)?|kids?|sons?|daughters?|youngest|toddler|baby",
}  # fmt: skip
