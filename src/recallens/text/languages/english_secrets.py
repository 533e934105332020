"""How English tells a secret, and how it only speaks of one."""

from __future__ import annotations

from typing import Final

from recallens.text.languages import pack

# A page or a rule about passwords is none.
_OF_OTHERS: Final = (
    r"(?! (?:manager|reset|polic|field|page|hash|length|strength|form|column|change[sd]? (?:on|to (?:the|a)"
    r"|took|page)|file"
    r"|protected|prompt|hint|rate|rotation|check|error|less|entry|list|database|store|generator|input"
    r"|parameter|argument"
    r"|variable|was changed (?:last|on|in|by)|is (?:in|on|at|your|the same)(?![a-z])))"
)
# "admin pass" is a password; any other pass may be one over data, or a mountain's.
_PASS: Final = (
    r"(?:(?<=admin )|(?<=root )|(?<=login )|(?<=account )|(?<=wifi )|(?<=wi-fi )|(?<=vpn )|(?<=db )"
    r"|(?<=database )|(?<=ssh )"
    r"|(?<=ftp )|(?<=sudo )|(?<=router )|(?<=keystore ))pass(?![a-z])"
)
SECRETS: Final = pack.SecretWords(
    passwords=rf"password|passwd|passphrase|passcode|pwd|(?<![a-z0-9])pw(?![a-z])|(?<=_)pass(?![a-z])|{_PASS}",
    phrases=r"passphrase|(?:seed|recovery|backup|\d\d-word) (?:phrase|words)|mnemonic",
    wallets=r"(?:seed|recovery|backup|wallet|ledger|trezor|metamask|twelve|twenty-?four|12|24) (?:phrase|words)"
    r"|mnemonic",
    cards=r"(?<![a-z])(?:cards?|visa|mastercard|amex)(?![a-z])",
    logins="log ?in|sign in|account|credentials|creds",
    general=r"\b(?:must|should|needs?|least|most|min|max|minimum|maximum|char(?:acter)?s?|digits?|letters?"
    r"|symbols?"
    r"|days?|hours?|minutes?|expire\w*|requir\w+|invalid|incorrect|wrong|enter|your|reset|polic\w+|hash\w*"
    r"|field|column"
    r"|page|manager|file|rotation|length|stored|kept|errors?|checks?|strength|rules?|attempts?)\b",
    keys=r"(?:t?otp|2fa)[_ -]?(?:seed|secret|key)|(?:api|access|secret|private|encryption|signing)[_ -]?key"
    r"|client[_ -]?secret|secret"
    r"|(?:access|auth|refresh|bearer|api)[_ -]?token|token|credentials?",
    pins=r"(?<![a-z])(?:pin|puk|cvc|cvv)(?: ?(?:code|number))?|(?:door|gate|alarm|safe|access|entry|locker) code",
    label_signs="pass pw key secret token credential seed pin puk cvc cvv code",
    value_heads="values?|settings?|contents?|credentials?",
    signs="pass pw mnemonic phrase otp key secret token credential",
    states=r"[^\W\d]+(?:ed|(?<!f)ly|ing|able|ible|ful|less|ous|ive|ent|ant|ary|ory|ic|al|own|ten|ken"
    r"|len|rect|alid|cret|ness|tion|sion|ment|ity|ance|ence|ology)"
    "|wrong|right|weak|strong|secure|insecure|risky|result|refer|similar|identical|equal|safe|unsafe|sure|short"
    "|long|longer|shorter|empty|blank|null|none|missing"
    "|here|there|below|above|back|gone|lost|reset|unset|random|unique|same|different|easy|hard|simple"
    "|complex|fine"
    "|good|better|best|poor|okay|enough|plain|plaintext|text|case|nothing|something|anything|everything"
    "|what|that"
    "|this|these|true|false|also|never|always|ever|ours|yours|mine|hers|theirs|next|first|last|ready|clear"
    "|visible"
    "|stale|dead|live|full|just|only|both|later|then|when|where|over|under|with|without|from|into|private"
    "|public|password|admin|username|name|email|stuff|hell|great|cool|crap|funny|weird|long-lived|overdue"
    "|mandatory"
    "|default|kept|sent|held|read|bound|built|made|done|meant|taken|given|chosen|broken|forgotten|due|high"
    "|daily|weekly|monthly|yearly",
    changes=r"\sfrom (?P<was>\S{6,64}) to (?P<becomes>\S{6,64})",
    says=r"(?:(?:for|of|that|we) [a-z0-9 ._-]{1,40} |\([^()\n]{1,40}\) )?(?:is|was)(?: now| still)?"
    "|(?:(?:is|was|got|has been|had been|just got) )?(?:[a-z]{3,8}ed|(?:re)?set)(?: back)? to|to",
    placeholder_openings="your|my|the|some|an?|insert|enter",
    placeholders="example|placeholder|redacted|change[-_]?me|dummy|sample|todo",
    descriptions="""
    string text required optional boolean number integer varchar hashed encrypted password username undefined secret
    disabled enabled missing invalid expired unknown nothing anything something credentials
    """,
    told={
        # Not: a password's page, field, policy, manager.
        "password": r"(?<![a-z0-9-])(?:(?:passwords?|passwd|pass ?phrase|passcode|pwd|pw|psk"
        r"|pass ?word)(?![a-z0-9-])"
        rf"{_OF_OTHERS}"
        r"|community (?:string|name)|(?:wi-?fi|network|wpa2?|pre-?shared|shared) (?:key|secret)(?![a-z])"
        rf"|{_PASS}(?![0-9_-]))",
        "pass": rf"(?<![a-z0-9_-])pass(?![a-z0-9_-]){_OF_OTHERS}",
        # Any code but those that a program, a parcel or a place has.
        "code": r"(?<![a-z0-9_-])(?:(?:pin|puk|cvc|cvv)(?: ?code| number|\s?번호)?"
        r"|(?:(?<!error )(?<!status )(?<!exit )(?<!return )(?<!response )(?<!result )(?<!reason )(?<!country )"
        r"(?<!area )"
        r"(?<!zip )(?<!postal )(?<!post )(?<!promo )(?<!discount )(?<!coupon )(?<!dress )(?<!source )(?<!color )"
        r"(?<!colour )(?<!currency )(?<!airport )(?<!bar )(?<!qr )(?<!product )(?<!item )(?<!order )(?<!tracking )"
        r"(?<!http )"
        r"(?<!machine )(?<!dialling )(?<!language )(?<!tax )(?<!class )(?<!course )(?<!sort )(?<!key )(?<!branch ))"
        r"(?<=[a-z0-9] )codes?(?= \(| for | at | on | to | as | is | are | was |[:=,]| [#*]?\d)"
        r"|combination(?= (?:is|was|for the|to the)(?![a-z])|:| \d)|combo(?= (?:is )?\d|:)"
        r"|(?:door|gate|alarm|safe|access|entry|unlock|backup|recovery|locker|elevator|lift|garage) codes?"
        r"|keypad|(?:(?:digits|code|number)s? on the back(?: of (?:the|my|our|his|her) (?:[a-z]+ )?card)?"
        r"|back of (?:the|my|our|his|her) (?:[a-z]+ )?card(?= (?:says|is|reads)|:)))(?![a-z0-9_-])"
        r"(?! (?:layout|spacing|headers?|map|mapping|order|assignments?|count)(?![a-z]))",
        "key": r"(?<![a-z0-9_-])(?:(?:(?:api|access|secret|private|encryption|signing|hmac|pgp|shared|ssh"
        r"|license|webhook|service)[ _-]?)?key"
        r"(?! (?:role|measure|factor|player|point|feature|step|part|component|element|regulator|mediator|issue"
        r"|idea|residue|gene|protein|finding|question|area|reason|aspect)s?(?![a-z])| in \d)"
        r"|(?:\w+ )?secret|(?:(?:access|auth|refresh|bearer|api|deploy|bot)[ _-]?)?token|(?:t?otp"
        r"|2fa) (?:seed|secret))"
        r"(?![a-z0-9_-])",
        "place": r"(?<![a-z0-9_-])(?:wi-?fi|alarm|safe|keypad|padlock|lock|lock ?box|locker|luggage"
        r"|suitcase|gate|door"
        r"|garage|voicemail|cash ?box|dial)(?![a-z0-9_-])",
        "acting": r"(?<![a-z0-9_-])(?:(?:opens|unlocks|disarms|turns off|gets (?:you|us|me) (?:in|into|through))"
        r"(?: (?:it|the|my|our|that)(?! (?:files?|page|dialog|menu|tab|pop-?up|editor|modal|window|panel|form"
        r"|list|chapter|section|screen|view|settings|link|document|way|season|show|story|book|game))"
        r"(?![a-z])))",
        # A machine is no word for a login, but before a name and what a slash joins to it.
        "login": r"(?<![a-z0-9_-])(?:(?:replica|database|db|server|box|host|machine|cluster|console|dashboard|portal)"
        r"(?= (?:[a-z]+ ){1,3}[\w.@-]{2,32}+ ?/ \S)|log(?:s|ged)? ?[io]n(?:to)?|ssh in(?:to)?"
        r"|sign in(?:to)?|gets? you in(?:to)?|get into|credentials?|creds|account(?! for)|admin|root|guest)"
        r"(?:'s)?(?![a-z0-9_!@#$%-])",
        "answer": r"(?<![a-z0-9_-])(?:(?:security|safe|memorable) word"
        r"|security (?:question|answer)(?:,? [^.;:\n]{1,40}(?=:))?"
        r"|maiden name|secret answer|security q ?\d?(?=\s?[:(])"
        r"|answer(?= [^.;:\n]{0,32}(?:(?:my|our|his|her) first|favou?rite|childhood|mother|maiden|pet|school)))"
        r"(?![a-z0-9_-])",
        "opens": r"(?<![a-z0-9_-])(?:(?:unlock|decrypt|open|disarm)(?:s|ed)?(?: [a-z]+){0,3} (?:with|using)"
        r"|(?:encrypted|locked|protected) with)(?![a-z0-9_-])",
        "typed": r"(?<![a-z0-9_-])(?:to (?:un)?lock|to (?:open|disarm)|to get (?:in|into)|(?:at|on"
        r"|into) the (?:(?:front|back|side|main|rear|garden|loading) )?"
        r"(?:gate|door|(?:key)?pad|prompt|panel|alarm|alarm panel))"
        r"(?![a-z0-9_-])",
        "prompted": r"(?<![a-z0-9_-])(?:asks?|prompts?|prompted)(?: you| me)? for (?:the|a"
        r"|your) (?:password|passphrase|pin"
        r"|code|pw)(?![a-z0-9_-])",
    },
    named_before={
        # At the beginning of what is said: `8080` in "port 8080 opens the page" opens nothing.
        "acts": "(?<![^.,;:!?\\n–—-] )(?<![^\\s(])\uffff $",
        "told": "(?<!\\S)\uffff (?:is|was) (?:the|my|our|their|his|her)(?: [a-z'’-]+){0,4} $",
        "used": "(?<!\\S)\uffff as (?:the|a|my|our|its)(?: [a-z-]+){0,2} $",
        "typed": "(?<![a-z])(?:use|type|enter|dial|punch in|press|key in|try|with) \uffff (?:when (?:it"
        "|they|the \\w+) )?$",
        "needed": "(?<![a-z])(?:use|need|used|using) \uffff (?:for|to) (?:the |my |our |your )?(?:[a-z-]+ ){0,3}$",
        "serves": "(?<!\\S)\uffff is what (?:i|we|you) (?:use|need|type|enter) (?:for|to|at|on|in) "
        "(?:the |my |our |your )?(?:[a-z-]+ ){0,2}$",
        "was": "used to be \uffff[,;]?(?: [a-z]+){0,4} $",
    },
    joins={
        "named": r"(?:(?:is|are|was) )?(?<![a-z])(?:called|named|name is|name) ",
        "is": r"(?:(?<![a-z])(?:says|reads|goes|is|was|are|were|be|it's|its|becomes|remains)|['’]s)(?: (?:now|still"
        r"|currently|just|simply"
        r"|probably|always|again|(?:all )?one word|(?:all )?lower ?case|no (?:spaces|caps)|the default one,?))*,? ",
        "change": r"(?<![a-z])(?:set|changed|reset|rotated|switched|updated)(?: back)? to ",
        "to": r"(?<![a-z])to ",
        "with": r"(?<![a-z])(?:with|using|by|and|has|have) ",
        "enter": r"(?<![a-z])(?:use|try|enter|type|dial|press|tap|give it|(?:punch|key) in)(?: the code)? ",
    },
    behind={
        "more": r" (?:for|on|and|until|when|if|at|in|now|again|works|unless|to|but|or|as|by the way|btw"
        r"|please|though|is (?:the|my|our))(?![a-z])",
    },
    around={
        "general": r"(?<![a-z])(?:must|should|needs?|at least|minimum|maximum|min|max|characters?|chars?"
        r"|digits?(?! on the back)|symbols?"
        r"|bytes?|expires?|expired|required|invalid|incorrect|polic(?:y|ies)|hash\w*|rounds?|field|column"
        r"|length|never|such"
        r" as|like|reject\w*|version|port|error|status|every|passwords|tests?|days|hours|minutes|seconds|ms"
        r"|percent)(?![a-z])",
    },
    turns=r"(?:to the )?(?:right|left|(?:anti|counter)?-?clockwise)(?: to)?",
    links="and|or|to",
    endings="'s|’s",
    units=r"[ -]?(?:%|st|nd|rd|th|(?:milli)?seconds?|secs?|ms|minutes?|mins?|hours?|days?|weeks?|months?"
    r"|years?|am|pm|a\.m|p\.m"
    r"|char(?:acter)?s?|digits?|letters?|words?|bytes?|bits?|[kmg]i?b|[kmg]?hz|px|x|kg|km|cm|mm|m|g|feet|ft"
    r"|inch(?:es)?|miles?"
    r"|percent|times|users?|people|tests?|items?|lines?|points?|tokens?|of|to(?= \d)|or more|attempts?"
    r"|tries|questions?|columns?"
    r"|dollars|euros|won|mph|degrees)(?![a-z])",
    handed=r"(?<![a-z])(?:with|using|and|has|(?:user|name) \S+,?|,|/) (?:the )?",
    phrase_signs="phrase,words,mnemonic",
    told_signs="psk,community,passw,passp,passc,passphrase,pass phrase, pass,pass:,pass ,pwd,pw,code,pin"
    ",puk,cvc,cvv,combination,combo,key,secret"
    ",token,wifi,wi-fi,alarm,safe,lock,gate,door,garage,luggage,suitcase,voicemail"
    ",log in,log on,logs on,ssh in,the pad,login,gets you in"
    ",unlocks,disarm,turns off,gets us,gets me,on the back,back of,security q,answer , / ,cash box,cashbox,dial "
    ",get you in,get into,logged in,sign in,cred,account"
    ",admin,root,guest,security,safe word,memorable,maiden,unlock,decrypt,open ,opens,opened,crypted"
    ",protected with,to open,to disarm,to get in,panel,prompt",
)
