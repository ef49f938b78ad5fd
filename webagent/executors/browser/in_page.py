# ruff: noqa: E501 - JavaScript
"""The functions that run inside pages, as source text.

Each answers one question in one round trip, and answers with a JSON string: Playwright's own
encoding of objects costs three to five times as much (FACTS.md). None of them changes the page.
"""

from __future__ import annotations

# What LOOK and the others need to know about one element.
_ABOUT = r"""
const shown = (e) => {
  if (!e.isConnected) return false;
  const style = getComputedStyle(e);
  if (style.display === 'contents') {
    for (const c of e.childNodes) {
      if (c.nodeType === 1 && shown(c)) return true;
      if (c.nodeType === 3 && c.data.trim()) return true;
    }
    return false;
  }
  if (e.checkVisibility && !e.checkVisibility()) return false;
  if (style.visibility !== 'visible') return false;
  const box = e.getBoundingClientRect();
  return box.width > 0 && box.height > 0;
};
const fold = (t) => (t || '').replace(/\s+/g, ' ').trim();
const named = (e) => {
  const by = e.getAttribute('aria-labelledby');
  const root = e.getRootNode();
  const labels = e.labels && e.labels.length ? [...e.labels].map((l) => fold(l.innerText)) : [];
  return fold(
    (by && by.split(/\s+/).map((i) => root.getElementById?.(i)?.innerText || '').join(' ')) ||
    e.getAttribute('aria-label') || labels.join(' ') || e.getAttribute('alt') ||
    (/^(submit|button|reset)$/.test(e.type || '') && e.tagName === 'INPUT' ? e.value : '') ||
    (/^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName) ? '' : e.innerText) ||
    e.getAttribute('title') || e.getAttribute('placeholder') || e.getAttribute('name') || '');
};
const ROLES = {A: 'link', BUTTON: 'button', SELECT: 'combobox', TEXTAREA: 'textbox', H1: 'heading',
  H2: 'heading', H3: 'heading', H4: 'heading', H5: 'heading', H6: 'heading', IMG: 'img',
  TABLE: 'table', LI: 'listitem', UL: 'list', OL: 'list', TR: 'row', TD: 'cell', NAV: 'navigation',
  TH: 'columnheader', FORM: 'form', ARTICLE: 'article', OPTION: 'option', IFRAME: 'iframe'};
const INPUTS = {checkbox: 'checkbox', radio: 'radio', submit: 'button', button: 'button',
  image: 'button', reset: 'button', number: 'spinbutton', range: 'slider', search: 'searchbox'};
const roled = (e) => e.getAttribute('role') ||
  (e.tagName === 'INPUT' ? INPUTS[e.type] || 'textbox' : ROLES[e.tagName] || e.tagName.toLowerCase());
const told = (e) => {
  const name = named(e).slice(0, 60);
  return roled(e) + (name ? ' "' + name + '"' : '') + (e.id ? ' #' + e.id : '');
};
"""

# Looks at all matches of a locator: which are visible, and whether the one that is meant can take
# the input now. It waits inside the page, on animation frames, for at most ``o.ms``.
LOOK = (
    r"""async (els, o) => {"""
    + _ABOUT
    + r"""
const frame = () => new Promise((r) => { requestAnimationFrame(() => r()); setTimeout(r, 60); });
const disabled = (e) => {
  if (e.matches(':disabled')) return true;
  for (let n = e; n; n = n.parentElement || n.getRootNode().host)
    if (n.getAttribute('aria-disabled') === 'true') return true;
  return false;
};
const hit = (e) => {
  let r = e.getClientRects()[0] || e.getBoundingClientRect();
  const inside = (b) => {
    const x = b.left + b.width / 2, y = b.top + b.height / 2;
    return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
  };
  if (!inside(r)) {
    e.scrollIntoView({block: 'center', inline: 'center', behavior: 'instant'});
    r = e.getClientRects()[0] || e.getBoundingClientRect();
    if (!inside(r)) return null;
  }
  const x = r.left + r.width / 2, y = r.top + r.height / 2;
  let at = e.ownerDocument.elementFromPoint(x, y);
  while (at && at.shadowRoot) {
    const inner = at.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === at) break;
    at = inner;
  }
  for (let n = at; n; n = n.assignedSlot || n.parentNode || n.host) if (n === e) return null;
  const label = at && at.closest && at.closest('label');
  if (label && (label.control === e || label.contains(e))) return null;
  if (e.labels && [...e.labels].some((l) => l.contains(at))) return null;
  return at ? 'covered by ' + told(at) : 'outside the window';
};
const moving = async (e) => {
  const one = e.getBoundingClientRect();
  await frame();
  const two = e.getBoundingClientRect();
  return one.x !== two.x || one.y !== two.y || one.width !== two.width || one.height !== two.height;
};
const fault = async (e) => {
  if (o.need === 'present') return null;
  const tick = e.tagName === 'INPUT' && /^(checkbox|radio)$/.test(e.type);
  if (o.need === 'fill' && (tick || e.type === 'file' || e.tagName === 'SELECT')) return null;
  if (!shown(e)) {
    if (o.need === 'tick' && tick && [...(e.labels || [])].some(shown)) return null;
    return 'not visible';
  }
  if (o.need === 'visible') return null;
  if (disabled(e)) return 'disabled';
  if (o.need === 'edit' || o.need === 'fill') return e.readOnly ? 'read-only' : null;
  if (o.stable || (e.getAnimations && document.getAnimations().length))
    if (await moving(e)) return 'moving';
  return hit(e);
};
const value = (e) => {
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.tagName)) {
    if (/^(checkbox|radio)$/.test(e.type)) return e.checked ? 'true' : 'false';
    if (e.tagName === 'SELECT') return [...e.selectedOptions].map((s) => fold(s.label)).join(', ');
    return e.value;
  }
  return e.innerText === undefined ? e.textContent : e.innerText;
};
const attr = (e, a) => {
  if (a === 'href' && e.href !== undefined) return typeof e.href === 'string' ? e.href : e.href.baseVal;
  if (/^(src|action|poster)$/.test(a) && e.getAttribute(a) !== null)
    return new URL(e.getAttribute(a), document.baseURI).href;
  if (a === 'value' && e.value !== undefined) return String(e.value);
  return e.getAttribute(a);
};
const until = performance.now() + o.ms;
for (;;) {
  const seen = els.map(shown);
  const visible = seen.flatMap((v, i) => (v ? [i] : []));
  const pick = els.length === 1 ? 0 : visible.length === 1 ? visible[0] : -1;
  const out = {n: els.length, visible: visible.length, pick, fault: null};
  if (els.length > 1) {
    const some = visible.length ? visible.map((i) => els[i]) : els;
    out.names = some.slice(0, 8).map(told);
  }
  if (pick < 0) return JSON.stringify(out);
  const e = els[pick];
  out.fault = await fault(e);
  if (out.fault && performance.now() < until) { await frame(); continue; }
  out.tag = e.tagName.toLowerCase();
  out.type = (e.type || '').toLowerCase();
  out.role = roled(e);
  out.told = told(e);
  out.origin = e.ownerDocument.defaultView ? e.ownerDocument.defaultView.origin : 'null';
  out.checked = e.checked === undefined ? e.getAttribute('aria-checked') === 'true' : !!e.checked;
  if (out.tag === 'select')
    out.options = [...e.options].map((p) => ({value: p.value, label: fold(p.label), off: p.disabled}));
  if (o.read) {
    out.value = o.read === 'html' ? e.outerHTML : o.attr ? attr(e, o.attr) : value(e);
    if (o.read === 'url' && !o.attr) {
      const a = e.closest('a[href]') || e.querySelector('a[href]');
      if (a) out.value = a.href;
    }
  }
  if (o.need === 'tick') out.label = !shown(e);
  return JSON.stringify(out);
}}"""
)

# All visible matches with the text (or control value) of each; nothing is waited for.
FINDINGS = (
    r"""(els, o) => {"""
    + _ABOUT
    + r"""
const seen = els.filter(shown);
const value = (e) => {
  if (e.tagName === 'SELECT') return [...e.selectedOptions].map((s) => fold(s.label)).join(', ');
  if (e.tagName === 'INPUT' && /^(checkbox|radio)$/.test(e.type)) return String(e.checked);
  if (/^(INPUT|TEXTAREA)$/.test(e.tagName)) return e.value;
  return fold(e.innerText);
};
const rows = (e) => {
  const own = (q, up) => [...e.querySelectorAll(q)].filter((r) => r.closest(up) === e && shown(r));
  if (e.tagName === 'TABLE')
    return own('tr', 'table').filter((r) => !r.closest('thead') && r.querySelector('td')).length;
  if (/^(UL|OL)$/.test(e.tagName)) return [...e.children].filter((c) => c.tagName === 'LI' && shown(c)).length;
  const aria = [...e.querySelectorAll('[role=row],[role=listitem],[role=option]')].filter(shown)
    .filter((r) => !r.querySelector('[role=columnheader]'));
  if (aria.length) return aria.length;
  const trs = [...e.querySelectorAll('tr')].filter((r) => r.querySelector('td') && shown(r));
  if (trs.length) return trs.length;
  return [...e.children].filter(shown).length;
};
const out = {n: els.length, visible: seen.length};
if (o.kind === 'value') out.texts = seen.slice(0, 20).map(value);
if (o.kind === 'rows') out.rows = seen.length === 1 ? rows(seen[0]) : seen.length;
if (o.kind === 'text') {
  const wanted = fold(o.text).toLowerCase();
  out.hits = seen.filter((e) => fold(e.innerText).toLowerCase().includes(wanted)).length;
}
return JSON.stringify(out);
}"""
)

# The rendered text of the frame, open shadow roots included, contains the text so often.
TEXT = r"""(wanted) => {
const fold = (t) => (t || '').replace(/\s+/g, ' ').trim().toLowerCase();
const parts = [document.body ? document.body.innerText : ''];
const walk = (root) => {
  for (const e of root.querySelectorAll('*'))
    if (e.shadowRoot) {
      for (const c of e.shadowRoot.children) parts.push(c.innerText || '');
      walk(e.shadowRoot);
    }
};
walk(document);
const text = fold(parts.join('\n')), want = fold(wanted);
return want ? text.split(want).length - 1 : 0;
}"""

# Names of what is on the page, to tell a person what may have been meant.
NAMES = (
    r"""(o) => {"""
    + _ABOUT
    + r"""
const query = 'a,button,input,select,textarea,h1,h2,h3,h4,[role],label,summary,img,th';
const out = [];
const walk = (root) => {
  for (const e of root.querySelectorAll(o.all ? query + ',article,table,li,form,section' : query)) {
    if (out.length >= 400) return;
    if (e.type !== 'hidden' && shown(e)) out.push([roled(e), named(e).slice(0, 80), e.id || '']);
  }
  for (const e of root.querySelectorAll('*')) if (e.shadowRoot) walk(e.shadowRoot);
};
walk(document);
return JSON.stringify(out);
}"""
)

# Resolves when the document changed (in a burst: when it paused for 30 ms), at most after ms.
STIR = r"""(ms) => new Promise((done) => {
let burst = null;
const end = () => { watch.disconnect(); clearTimeout(limit); clearTimeout(burst); done(true); };
const watch = new MutationObserver(() => { if (!burst) burst = setTimeout(end, 30); });
const limit = setTimeout(end, ms);
watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
})"""

# Whether the document stayed as it is for ``quiet`` ms, looked at for at most ``ms``.
QUIET = r"""(o) => new Promise((done) => {
const end = (v) => { watch.disconnect(); clearTimeout(limit); clearTimeout(calm); done(v); };
const watch = new MutationObserver(() => end(false));
const limit = setTimeout(() => end(false), o.ms);
const calm = setTimeout(() => end(document.readyState === 'complete'), o.quiet);
watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
})"""

# The facts of a page that drift is told from.
FACTS = (
    r"""() => {"""
    + _ABOUT
    + r"""
const captcha = 'iframe[src*="recaptcha"],iframe[src*="hcaptcha"],iframe[src*="turnstile"],' +
  '.g-recaptcha,.h-captcha,.cf-turnstile,iframe[src*="captcha"],img[src*="captcha"]';
const any = (q) => [...document.querySelectorAll(q)].some(shown);
return JSON.stringify({title: document.title, sign_in: any('input[type=password]'),
  captcha: any(captcha) || /^just a moment|attention required|are you (a )?human/i.test(document.title),
  size: document.getElementsByTagName('*').length});
}"""
)

# The fields of the forms on the page by accessible name; passwords are masked here already.
FORM = (
    r"""() => {"""
    + _ABOUT
    + r"""
const out = [];
const walk = (root) => {
  for (const e of root.querySelectorAll('input,select,textarea,[contenteditable=""],[contenteditable=true]')) {
    if (/^(submit|button|reset|image|hidden)$/.test(e.type || '')) continue;
    let value;
    if (e.type === 'password') value = e.value ? '\u2022\u2022\u2022' : '';
    else if (e.type === 'checkbox') value = e.checked;
    else if (e.type === 'radio') { if (!e.checked) continue; value = named(e) || e.value; }
    else if (e.type === 'file') value = [...e.files].map((f) => f.name);
    else if (e.tagName === 'SELECT') {
      const chosen = [...e.selectedOptions].map((s) => fold(s.label));
      value = e.multiple ? chosen : chosen[0] ?? null;
    } else value = e.value === undefined ? fold(e.innerText) : e.value;
    const legend = e.type === 'radio' && e.closest('fieldset') && e.closest('fieldset').querySelector('legend');
    out.push([legend ? fold(legend.innerText) : e.type === 'radio' ? e.name || named(e) : named(e) || e.id || e.type, value]);
  }
  for (const e of root.querySelectorAll('*')) if (e.shadowRoot) walk(e.shadowRoot);
};
walk(document);
return JSON.stringify(out);
}"""
)

# Copies of elements as HTML: addresses absolute, open shadow roots spelt out, scripts and styles
# left out, what is not rendered marked, so that the extractors know what a reader would see.
REGIONS = (
    r"""(els, o) => {"""
    + _ABOUT
    + r"""
const copy = (node) => {
  if (node.nodeType === 3) return document.createTextNode(node.data);
  if (node.nodeType !== 1 || /^(SCRIPT|STYLE|NOSCRIPT|LINK)$/.test(node.tagName)) return null;
  if (node.tagName === 'SLOT') {
    const box = inert.createElement('span');
    const given = node.assignedNodes();
    for (const c of given.length ? given : node.childNodes) { const k = copy(c); if (k) box.append(k); }
    return box;
  }
  const made = inert.createElement(node.localName);
  for (const a of node.attributes) { try { made.setAttribute(a.name, a.value); } catch {} }
  for (const a of ['href', 'src', 'action', 'poster'])
    if (node.hasAttribute(a)) {
      try { made.setAttribute(a, new URL(node.getAttribute(a), node.baseURI).href); } catch {}
    }
  if (/^(INPUT|TEXTAREA)$/.test(node.tagName)) {
    if (node.type === 'password') made.setAttribute('value', '');
    else if (/^(checkbox|radio)$/.test(node.type)) made.toggleAttribute('checked', node.checked);
    else made.setAttribute('value', node.value);
  }
  if (node.tagName === 'OPTION') made.toggleAttribute('selected', node.selected);
  if (node.checkVisibility && !node.checkVisibility({visibilityProperty: true}))
    made.setAttribute('data-webagent-hidden', '');
  for (const c of (node.shadowRoot || node).childNodes) { const k = copy(c); if (k) made.append(k); }
  return made;
};
const inert = document.implementation.createHTMLDocument('');
const seen = els.filter(shown);
const some = seen.length ? seen : els;
const next = o && o.count ? [] : some.map((e) => copy(e).outerHTML);
return JSON.stringify({rows: next, hidden: els.length - some.length, n: els.length});
}"""
)

# Speculation rules load pages past the Fetch domain: they are taken out before they are read.
NO_SPECULATION = r"""(() => {
const drop = (n) => {
  if (n.nodeType !== 1) return;
  if (n.tagName === 'SCRIPT' && n.type === 'speculationrules') n.remove();
  else if (n.querySelectorAll) n.querySelectorAll('script[type=speculationrules]').forEach((s) => s.remove());
};
new MutationObserver((all) => all.forEach((m) => m.addedNodes.forEach(drop)))
  .observe(document, {subtree: true, childList: true});
for (const name of ['append', 'appendChild', 'insertBefore', 'prepend', 'replaceChild', 'replaceChildren']) {
  for (const proto of [Node.prototype, Element.prototype, Document.prototype, DocumentFragment.prototype]) {
    if (!Object.hasOwn(proto, name)) continue;
    const own = proto[name];
    proto[name] = function (...nodes) {
      for (const n of nodes)
        if (n instanceof HTMLScriptElement && n.type === 'speculationrules') n.type = 'text/plain';
      return own.apply(this, nodes);
    };
  }
}
})();"""

SESSION_STORAGE = r"""() => {
try { return JSON.stringify([origin, Object.fromEntries(Object.entries(sessionStorage))]); }
catch { return 'null'; }
}"""

RESTORE_SESSION_STORAGE = r"""((all) => {
try {
  const mine = all[origin];
  if (!mine || sessionStorage.getItem('webagent:restored')) return;
  sessionStorage.setItem('webagent:restored', '1');
  for (const [k, v] of Object.entries(mine)) if (sessionStorage.getItem(k) === null) sessionStorage.setItem(k, v);
} catch {}
})"""
