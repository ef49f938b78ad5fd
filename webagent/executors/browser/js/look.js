// Looks at all matches of a locator: which are visible, and whether the one that is meant can take
// the input now. Waits inside the page, on animation frames, for at most o.ms. With o.sight it tells
// what that one looks like; the part "features" is there only then.
async (els, o) => {
/*about*/
/*features*/

// Whether a frame was drawn meanwhile: a busy machine may draw none for long.
const frame = () => new Promise((r) => { requestAnimationFrame(() => r(true)); setTimeout(() => r(false), 60); });
let unsure = false;
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
// An animation that has only begun stands still for its first frames.
const begins = (e) => {
  for (let n = e; n; n = n.parentElement || n.getRootNode().host)
    if (n.getAnimations().some((a) => a.playState === 'running' && (a.pending || !a.currentTime)))
      return true;
  return false;
};
const moving = async (e) => {
  for (let i = 0; i < 4 && begins(e); i++) await frame();
  const one = e.getBoundingClientRect();
  // The frame under way may still be the one that `one` was taken in: nothing moves within it.
  const began = document.timeline.currentTime;
  unsure = true;
  for (let i = 0; i < 4 && unsure; i++)
    unsure = !(await frame()) || document.timeline.currentTime - began < 4;
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
  if (o.need === 'visible' || (o.need === 'select' && e.tagName !== 'SELECT')) return null;
  if (disabled(e)) return 'disabled';
  if (o.need !== 'act' && o.need !== 'tick') return e.readOnly ? 'read-only' : null;
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
  out.unsure = unsure;
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
  if (o.sight && !out.fault) out.sight = features(e);
  return JSON.stringify(out);
}}
