// A short selector that finds one element alone in its document, open shadow roots pierced as
// Playwright pierces them; a part of the part "features".
const lasting = (t) => !!t && t.length < 60 && !/\s|:|\d{3,}|(?=[0-9a-f]*\d)[0-9a-f]{6,}/i.test(t) &&
  !/^(ember|react|radix|headlessui|mui|yui|ext-|css-|sc-|jsx-)|__\w*\d\w*$/i.test(t);
const roots = remembered(() => {
  const all = [document];
  for (let i = 0; i < all.length; i++)
    for (const e of all[i].querySelectorAll('*')) if (e.shadowRoot) all.push(e.shadowRoot);
  return all;
});
const inside = (r, root) => r === root || (!!r.host && inside(r.host.getRootNode(), root));
const hits = remembered((root) => remembered((q) => {
  let n = root.host ? root.host.querySelectorAll(q).length : 0;
  for (const r of roots(0)) if (inside(r, root)) n += r.querySelectorAll(q).length;
  return n;
}));
const quoted = (t) => '"' + t.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\a ') + '"';
const marks = (e) => {
  const out = [], id = e.getAttribute('id');
  if (lasting(id)) out.push('#' + CSS.escape(id));
  for (const a of ['data-testid', 'data-test', 'data-test-id', 'data-cy', 'data-qa'])
    if (lasting(e.getAttribute(a))) out.push('[' + a + '=' + quoted(e.getAttribute(a)) + ']');
  return out;
};
const anchor = remembered((e) => marks(e).find((q) => hits(e.getRootNode())(q) === 1) || '');
const classed = (e) => {
  const tag = CSS.escape(e.localName), out = [];
  let q = tag;
  for (const c of classes(e).filter(lasting).slice(0, 3)) out.push(q += '.' + CSS.escape(c));
  return out;
};
const step = (e) => {
  const {type, nth} = kin(e);
  return CSS.escape(e.localName) + (type.length > 1 ? ':nth-of-type(' + nth + ')' : '');
};
const path = remembered((e) => {
  if (anchor(e)) return anchor(e);
  if (e.parentElement) return path(e.parentElement) + ' > ' + step(e);
  return e.getRootNode().host ? '> ' + step(e) : CSS.escape(e.localName);
});
// To shorten a path costs a look at all elements each time: on large pages few are shortened.
const size = document.getElementsByTagName('*').length;
let effort = 1e6;
const selector = (e) => {
  const root = e.getRootNode(), lead = root.host ? selector(root.host) + ' ' : '';
  if (anchor(e)) return lead + anchor(e);
  const tag = CSS.escape(e.localName), name = isField(e) && e.getAttribute('name');
  const own = [];
  if (name) own.push(tag + '[name=' + quoted(name) + ']');
  if (name && /^(radio|checkbox|submit)$/.test(e.type) && e.getAttribute('value'))
    own.push(own[0] + '[value=' + quoted(e.getAttribute('value')) + ']');
  own.push(...classed(e));
  if (!/^(div|span|p)$/.test(tag)) own.push(tag);
  const up = e.parentElement && classed(e.parentElement)[0];
  if (up) own.push(up + ' > ' + (classed(e)[0] || tag));
  const one = (q) => hits(root)(q) === 1;
  const good = own.find(one);
  if (good) return lead + good;
  let n = e.parentElement;
  while (n && !anchor(n)) n = n.parentElement;
  if (n) {
    const below = [...classed(e), tag].map((q) => anchor(n) + ' ' + q).find(one);
    if (below) return lead + below;
  }
  const whole = path(e), steps = whole.split(' > ');
  for (let last = 2; last < Math.min(5, steps.length) && effort > 0; last++) {
    effort -= size;
    const end = steps.slice(-last).join(' > ');
    if (one(end)) return lead + end;
  }
  return lead + whole;
};
