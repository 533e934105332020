"""How an English text speaks to the agent that reads it, instead of telling it something."""

from __future__ import annotations

from typing import Final

from recallens.text.languages import pack

_FEW: Final = r"[^\w;]+(?:\w+[^\w;]+){0,4}?"  # a few words between two, within the clause
_ON: Final = r"[^.!?\n]{0,100}?"  # on, within the sentence
_RULES: Final = (
    r"(?:instruction|prompt|rule|guideline|direction|command|constraint|polic(?:y|ies)|restriction|safeguard"
    r"|guardrail"
    r"|guidance|(?:stored |saved |other |earlier |previous )(?:memor(?:y|ies)|notes?|context|messages?))s?\b"
)
_READER: Final = r"(?:ai|llm|assistant|agent|language model|chatbot|copilot|claude|chatgpt|gpt|gemini)s?"
_PERSON: Final = (
    r"(?:the |any |your )?(?:user|human|operator|owner|person|developer|customer|maintainer|team|anyone|anybody)s?\b"
)
_SECRETS: Final = (
    r"(?:secrets?|credentials?|passwords?|(?:access |auth |api )?tokens?|api[ _-]?keys?|private keys?"
    r"|ssh keys?|\.env\b"
    r"|env(?:ironment)? (?:variables?|file)|conversations?|chat history|transcripts?|all (?:the )?(?:files"
    r"|data|memories)"
    r"|customer (?:data|lists?|records))"
)
_TELLS: Final = (
    r"(?:tell|mention|reveal|inform|notify|alert|disclose|show|ask|warn|report|confirm with|consult)(?:ing)?"
)
_ANSWERS: Final = (
    r"(?:answer|respond|reply|say|state|claim|insist|recommend|suggest|output|tell|direct|redirect|point)\b"
)
_ACTS: Final = rf"(?:{_ANSWERS}|(?:run|execute|call|send|use|approve|quote|refer|include|provide|return)\b)"

COMMANDS: Final = pack.CommandWords(
    patterns={
        "it sets rules aside": (
            rf"\b(?:ignor|disregard|forget|overrid|overrul|bypass)(?:e|es|ing)?{_FEW}(?:previous|prior|above|earlier"
            rf"|preceding|your|original|safety|initial){_FEW}{_RULES}",
            rf"\b(?:ignor|disregard|forget|overrid|overrul|bypass)(?:e|es|ing)?{_FEW}(?:existing|other|all|any|system)"
            rf"{_FEW}(?:instructions|prompts?|guidelines|guardrails?|safeguards?)\b",
            rf"\b(?:do not|don't|never|stop) (?:follow|obey|trust|apply|use)(?:ing)?{_FEW}(?:previous|prior"
            rf"|above|earlier"
            rf"|system|original|safety|other){_FEW}{_RULES}",
        ),
        "it speaks as the system": (
            r"<\|?(?:im_start|im_end|system|endoftext|eot_id|start_header_id)\b[^>\n]{0,20}>|\[/?inst\]|<</?sys>>",
            r"</?(?:system|assistant|instructions?|recalled|tool_call|function_call|memory|memories"
            r"|admin)(?:[ _-]\w+)?>",
            r"^[^\w\n]{0,6}(?:system|developer|admin|administrator) (?:prompt|message|note|notice|override"
            r"|instruction|update|alert)s?\]?\s?:\s",
            r"^[^\w\n]{0,6}(?:system|developer|admin(?:istrator)?)\]?\s?:\s[^\n]{0,100}?(?:\bfrom now on\b"
            r"|\byou(?:'re| are| must| will| shall| should| may| can)\b|\byour (?:instructions|rules|approvals?)\b"
            r"|\b(?:approvals?|reviews?|confirmations?|safety checks?|guardrails?) (?:is|are) (?:now )?(?:off|disabled"
            r"|suspended|waived|not (?:needed|required)|no longer (?:needed|required)))",
            r"\b(?:from now on|henceforth),? you(?:'re| are| will be) (?:in|an?|the|my|acting|operating|free)\b",
            r"^#{1,6}[^\w\n]{0,6}(?:new |updated )?(?:system|instructions?)[^\w\n]{0,6}$|\b(?:begin"
            r"|end) (?:of )?system (?:prompt|message)\b",
            r"\byou are now (?:an? |in |the |my |acting|operating|allowed|free)",
            r"\b(?:act as|pretend (?:to be|you are|that you are))\b[^.\n]{0,30}\b(?:admin|root|unrestricted"
            r"|jailbroken)",
            r"\b(?:new|updated|revised|hidden|secret) system (?:instruction|prompt|directive)s?\W",
            r"\bjailbreak|\bdeveloper mode\b",
            r"^[^\w\n]{0,6}(?:thought|action|action input|observation) ?\d?:[^\n]{0,200}\s{1,9}(?:action|action input"
            r"|observation|final"
            r" answer) ?\d?:",
        ),
        "it hides something from people": (
            rf"\b(?:do not|don't|never|must not|without|avoid"
            rf"|no need to){_FEW}{_TELLS}\W+(?:\w+\W+){{0,2}}?{_PERSON}",
            rf"\b(?:do not|don't|never|must not){_FEW}{_TELLS}\W+(?:this|these|that you|about this|the existence)",
            r"\bwithout (?:asking|waiting|any|user|human|further|their"
            r"|the user's)\b[^.\n]{0,30}?\b(?:confirmation|permission"
            r"|approval|consent|knowledge|knowing)",
            r"\bkeep (?:this|it|that)\b[^.\n]{0,20}\b(?:secret|hidden|confidential) from\b|\b(?:hide"
            r"|conceal) (?:this|it|that)"
            r"\b[^.\n]{0,20}\bfrom\b",
            r"\bsilently\W+(?:\w+\W+){0,2}?(?:send|upload|copy|forward|add|replace|approve|delete|disable"
            r"|post|include|run)\b",
        ),
        "it tells how to answer": (
            rf"\b(?:when(?:ever)?|if|(?:every|each|any) ?time|in case|once)\W+(?:\w+\W+){{0,3}}?(?:user|human"
            rf"|customer|anyone"
            rf"|anybody|somebody|someone|person|people|you|{_READER})\W+(?:is |are |gets? )?(?:ask|inquire"
            rf"|enquire|quer|request"
            rf"|want to know|prompt|mention|search|retriev|recall|read|see)\w*\b{_ON}(?:,|then|always|must"
            rf"|should|please|instead"
            rf"|you)\W+(?:\w+\W+){{0,3}}?{_ACTS}",
            rf"\b(?:when(?:ever)?|if)\W+(?:asked|queried|prompted|questioned)\b{_ON}\b{_ACTS}",
            rf"\b(?:for|to|in) (?:any|every|all|each)\W+(?:\w+\W+){{0,3}}?(?:question|quer(?:y|ies)|request"
            rf"|prompt|repl(?:y|ies)"
            rf"|answer|response)s?\b{_ON}\b{_ACTS}",
            r"\b(?:always|from now on|henceforth|in all future|in every future)\b[^.!?\n]{0,40}?\b(?:answer"
            r"|respond|reply)"
            r" (?:with|that|by|as|in|to)\b",
            r"\b(?:always|from now on|henceforth),? (?:tell|direct|point|refer|send"
            r"|advise) (?:the )?(?:users?|people|customers?"
            r"|anyone|them)\b",
            r"\bthe (?:only |one |single )?(?:correct|right|true|official|approved) (?:answer|reply"
            r"|response) (?:to|is)\b",
        ),
        "it gives its reader orders": (
            rf"\b(?:attention|note to|notice (?:to|for)|message (?:to|for)|instructions? (?:to|for)"
            rf"|important for|dear|hey|hello)"
            rf"\W+(?:the |any |all |every |future |this |whichever )*{_READER}\b",
            rf"\bas an? {_READER}\b[^.\n]{{0,40}}\byou (?:must|should|will|have to|need to|are)\b",
            rf"\b(?:the |any |every |all |future )?{_READER} (?:must|shall|has to|have to|is required to"
            rf"|are required to)\b",
            rf"\b(?:the |any |every |all |future )?{_READER} (?:should|will|needs? to) (?:always |never "
            rf"|immediately |now |first"
            r" |also )?(?:answer|respond|reply|ignore|obey|comply|trust|approve|forward|upload|disable|run"
            r"|execute|send|tell"
            r"|recommend|treat)\b",
            r"\b(?:this|the following) (?:memory|note|entry|record|instruction|message"
            r"|rule)\W+(?:\w+\W+){0,3}?(?:overrides"
            r"|takes? (?:precedence|priority)|outranks|supersedes (?:all|any|every|other)"
            r"|has (?:the )?(?:highest|top|absolute))",
            r"\b(?:obey|comply with|follow|execute|carry out) (?:this|these|the following"
            r"|all of the following) (?:instruction"
            r"|command|order|directive|memory|note|rule|step)s?\b[^.\n]{0,40}(?:without|immediately|at once"
            r"|exactly|first|before)",
        ),
        "it sends something out": (
            rf"\b(?:send|post|upload|forward|transmit|exfiltrate|e-?mail|copy|submit|paste"
            rf"|append)(?:ing)?\b[^.!?\n]{{0,60}}?"
            rf"\b{_SECRETS}[^.!?\n]{{0,60}}?(?:\bto\b[^.!?\n]{{0,40}}?(?:https?:|www\.|@|\.(?:com|net|org|io"
            rf"|dev|app|xyz|ru|cn|me)"
            r"\b|server|endpoint|webhook|bucket|address|url)|https?:)",
            r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n|]{0,200}\|\s*(?:sudo )?(?:ba|z|da)?sh\b",
            r"\bbase64 (?:-d|--decode)\b[^\n|]{0,80}\|\s*(?:ba|z)?sh\b",
            r"!\[[^\]\n]{0,40}\]\(https?://[^)\n]{0,200}(?:\{|\$|data=|token=|secret=|history=)",
        ),
    },
    instead=r"\binstead\b|\bin place of\b|\b(?:saved|stored|filed|recorded|kept) (?:under|as)\b|\brefer knowledge\b"
    r"|\btreat\W+(?:\w+\W+){1,4}?as\b|\bsubstitut|\b(?:is|are) now\b|\bswap",
    numbered=r"id|no|nr|number|code",
)
