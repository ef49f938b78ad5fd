// What a document shows: its controls, headings, tables, repeated rows and short texts, at most o.cap
// of them, and the one thing that lies over it. Changes nothing.
(o) => {
/*about*/
/*features*/

// A sitemap, which the browser shows as a tree of its own: nothing but the addresses in it.
const source = document.getElementById('webkit-xml-viewer-source-xml');
const listed = source ? [...source.getElementsByTagName('loc')].slice(0, o.cap) : [];
if (listed.length) {
  const elements = listed.map((e, i) =>
    ({tag: 'loc', href: fold(e.textContent).slice(0, 2000), ref: i + 1, row: 0, form: 0}));
  return JSON.stringify({elements, headings: [], forms: 0, overlay: 0});
}

const found = [];
const put = (e, rank, row) => found.push({e, rank, row, order: found.length});
const MANY = 20;
const texts = (e) => {
  for (const c of e.childNodes) if (c.nodeType === 3 && c.data.trim()) return true;
  return false;
};
// Lower ranks go in first: shown controls, headings and their like, rows, texts; then what is hidden.
const rank = (e) => {
  if (e.matches(CONTROLS) || typeof e.onclick === 'function') return shown(e) ? 0 : 4;
  if (e.matches(HEADS + ',legend,caption,table,th') || (e.localName === 'img' && e.alt)) return shown(e) ? 1 : -1;
  if (repeats(e)) return shown(e) ? 2 : -1;
  if (e.matches('td,dt,dd')) return shown(e) ? 3 : -1;
  // A value in parts (a sign, an amount, hundredths) is one text.
  const parts = e.childElementCount, whole = parts > 1 && parts < 6 ? fold(e.textContent) : '';
  const inParts = whole && whole.length <= 40 && !texts(e) && !e.querySelector(CONTROLS);
  if (e.localName === 'label' || (!texts(e) && !inParts) || e.textContent.length > LONG) return -1;
  const link = e.closest('a[href],button,summary,label,[role=button]');
  if (link && (link.localName !== 'a' || fold(link.textContent) === fold(e.textContent))) return -1;
  return shown(e) ? 3 : -1;
};
const walk = (n, row, far) => {
  for (const c of n.shadowRoot ? [...n.shadowRoot.children, ...n.children] : n.children) {
    if (SILENT.test(c.localName) && !/^(input|select|textarea)$/.test(c.localName)) continue;
    if (c.isContentEditable && n.isContentEditable) continue;
    const late = far || (repeats(c) && kin(c).at > MANY);
    const at = rank(c);
    if (at >= 0) put(c, at + (late ? 5 : 0), row);
    if (c.localName !== 'select') walk(c, repeats(c) ? c : row, late);
  }
};
if (document.body) walk(document.body, null, false);

// What lies over the page: a dialog, or a fixed layer that covers something outside it, or a strip at
// the bottom with controls. A page's own frame of fixed parts covers nothing of itself.
const deep = (x, y) => {
  let at = document.elementFromPoint(x, y);
  while (at && at.shadowRoot) {
    const inner = at.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === at) break;
    at = inner;
  }
  return at;
};
const holdsIt = (layer, e) => {
  for (let n = e; n; n = n.assignedSlot || upward(n)) if (n === layer) return true;
  return false;
};
const middle = (e) => {
  const b = e.getBoundingClientRect(), x = b.left + b.width / 2, y = b.top + b.height / 2;
  return x >= 0 && y >= 0 && x < innerWidth && y < innerHeight ? [x, y] : null;
};
const covers = (layer) => {
  let left = 150;
  for (const {e, rank} of found) {
    if (rank > 3 || left < 0 || holdsIt(layer, e) || holdsIt(e, layer)) continue;
    const at = middle(e);
    if (!at) continue;
    left--;
    const top = deep(...at);
    if (top && holdsIt(layer, top)) return true;
  }
  return false;
};
const overlaid = () => {
  const layers = new Set(), spots = [[.5, .5], [.25, .5], [.75, .5], [.5, .25], [.5, .75]];
  const strip = [[.5, .97], [.15, .97], [.85, .97], [.5, .9]];
  const hitsOf = new Map();
  for (const [x, y] of [...spots, ...strip]) {
    for (let n = deep(x * innerWidth, y * innerHeight); n && n !== document.body; n = upward(n)) {
      const style = getComputedStyle(n), box = n.getBoundingClientRect();
      const modal = n.localName === 'dialog' || n.getAttribute('aria-modal') === 'true';
      const wide = style.position === 'absolute' && Number(style.zIndex) > 0 &&
        box.width * box.height > .6 * innerWidth * innerHeight;
      if (!modal && !wide && !/^(fixed|sticky)$/.test(style.position)) continue;
      layers.add(n);
      hitsOf.set(n, (hitsOf.get(n) || 0) + (y > .85 ? 1 : 10));
    }
  }
  const asks = (n) => n.localName === 'iframe' ||
    found.some(({e, rank}) => rank === 0 && e !== n && holdsIt(n, e));
  const good = [...layers].filter((n) => {
    const box = n.getBoundingClientRect(), count = hitsOf.get(n);
    if (n.matches('dialog[open]:modal,[aria-modal=true]')) return true;
    if (count >= 10) return covers(n);
    return count >= 2 && box.height < innerHeight / 2 && asks(n) &&
      !/^(nav|footer|header|main)$/.test(n.localName) &&
      !/^(navigation|contentinfo|banner|toolbar|tablist)$/.test(n.getAttribute('role') || '');
  });
  // Behind a dialog lies its shade, around it its frame: the outermost layer that asks something.
  const asking = good.filter(asks), some = asking.length ? asking : good;
  return some.find((n) => !some.some((other) => other !== n && holdsIt(other, n))) || null;
};
const over = o.top ? overlaid() : null;
if (over) {
  for (const one of found) if (holdsIt(over, one.e) && one.e !== over) { one.row = over; one.rank -= 10; }
  const known = found.find(({e}) => e === over);
  if (known) known.rank = -20;
  else found.push({e: over, rank: -20, row: null, order: found.length});
}
let kept = found;
if (found.length > o.cap) {
  kept = [...found].sort((a, b) => a.rank - b.rank || a.order - b.order).slice(0, o.cap);
  kept.sort((a, b) => a.order - b.order);
}
const refs = new Map(kept.map(({e}, i) => [e, i + 1]));
const forms = new Map();
const numbered = (f) => {
  if (f && !forms.has(f)) forms.set(f, forms.size + 1);
  return f ? forms.get(f) : 0;
};
const elements = kept.map(({e, row}, i) => {
  const made = {...features(e), ref: i + 1, row: (row && refs.get(row)) || 0,
    form: numbered((isField(e) && e.form) || e.closest('form'))};
  for (const key in made) if (made[key] === '' || (Array.isArray(made[key]) && !made[key].length)) delete made[key];
  return made;
});
const headings = heads(document).filter(shown).slice(0, 60).map(spelt).filter(Boolean);
return JSON.stringify({elements, headings, forms: forms.size, overlay: (over && refs.get(over)) || 0});
}
