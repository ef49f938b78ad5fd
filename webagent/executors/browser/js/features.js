// What one element looks like to a person and to its page's author; scripts get this in place of
// their "features" mark, after the part "about". Nothing here tells what a field holds. What is remembered about
// siblings, headings and selectors lives for one call, so that long lists cost no square.
const LONG = 400;
const CONTROLS = 'a[href],button,input:not([type=hidden]),select,textarea,summary,' +
  '[contenteditable=""],[contenteditable=true],[onclick],[tabindex]:not([tabindex="-1"]),' +
  ['button', 'link', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'checkbox', 'radio',
    'switch', 'combobox', 'textbox', 'searchbox', 'spinbutton', 'slider', 'listbox', 'option',
    'treeitem'].map((r) => '[role=' + r + ']').join(',');
const HEADS = 'h1,h2,h3,h4,h5,h6,[role=heading]';
const KEPT = ['id', 'name', 'class', 'title', 'alt', 'data-testid', 'data-test', 'data-test-id',
  'data-cy', 'data-qa', 'autocomplete', 'aria-label', 'for', 'rel', 'itemprop', 'datetime',
  'aria-expanded', 'aria-haspopup', 'aria-controls', 'data-label'];
const SILENT = /^(script|style|noscript|template|select|textarea|input|option|datalist|iframe|object|svg|canvas|video|audio)$/;
const remembered = (make) => {
  const known = new Map();
  return (key) => {
    if (!known.has(key)) known.set(key, make(key));
    return known.get(key);
  };
};
const cut = (t) => fold(t).slice(0, LONG);
const upward = (n) => n.parentElement || n.getRootNode().host || null;
const isField = (e) => /^(input|select|textarea|button)$/.test(e.localName);
// The visible text, without what stands in fields and editors.
const spelt = (e) => {
  let text = '', left = 300;
  const say = (n) => {
    const given = n.localName === 'slot' ? n.assignedNodes() : [];
    for (const c of given.length ? given : (n.shadowRoot || n).childNodes) {
      if (text.length > 2 * LONG || left-- < 0) return;
      if (c.nodeType === 3) text += c.data.slice(0, 4000).replace(/\s+/g, ' ');
      if (c.nodeType !== 1 || SILENT.test(c.localName) || c.isContentEditable) continue;
      const style = getComputedStyle(c);
      if (style.display === 'none' || style.visibility === 'hidden') continue;
      const apart = c.localName === 'br' || !/^(inline|contents)/.test(style.display);
      if (apart) text += ' ';
      say(c);
      if (apart) text += ' ';
    }
  };
  if (!SILENT.test(e.localName) && !e.isContentEditable) say(e);
  return cut(text);
};
// A name that the author gave to something that holds other things.
const titled = remembered((e) => {
  const by = e.getAttribute('aria-labelledby'), root = e.getRootNode();
  const inner = {table: 'caption', fieldset: 'legend', form: HEADS, section: HEADS, article: HEADS,
    dialog: HEADS, details: 'summary'}[e.localName] ||
    (/^(dialog|alertdialog|region|form)$/.test(e.getAttribute('role') || '') ? HEADS : '');
  const head = inner && e.querySelector(inner);
  return cut((by && by.split(/\s+/).map((i) => root.getElementById?.(i)?.innerText || '').join(' ')) ||
    e.getAttribute('aria-label') || (head ? spelt(head) : '') ||
    e.getAttribute('title') || (e.localName === 'form' ? e.getAttribute('name') : ''));
});
const called = (e, text) => {
  if (e.localName === 'table') return titled(e);
  if (e.isContentEditable) return titled(e) || cut(e.getAttribute('aria-placeholder'));
  if (!isField(e) && (e.textContent.length > 2 * LONG || e.querySelector('[contenteditable],textarea,select')))
    return titled(e) || text;
  const inner = () => e.querySelector('img[alt]:not([alt=""]),[aria-label],svg title');
  const hint = !isField(e) && !fold(e.innerText) && inner();
  return cut((hint && !e.getAttribute('aria-label') &&
    (hint.getAttribute('alt') || hint.getAttribute('aria-label') || hint.textContent)) || named(e));
};
const labelled = (e) => {
  if (e.labels && e.labels.length) return cut([...e.labels].map((l) => lettered(l)).join(' '));
  const by = e.getAttribute('aria-labelledby'), root = e.getRootNode();
  return by ? cut(by.split(/\s+/).map((i) => root.getElementById?.(i)?.innerText || '').join(' ')) : '';
};

// Siblings that look the same: rows, cards, items.
const STATES = /^(is-|has-|js-)?(active|selected|current|first|last|odd|even|open|hover|focus|disabled|new|visible|hidden)$/;
const classes = (e) => (e.getAttribute('class') || '').split(/\s+/).filter((c) => c && !STATES.test(c));
const looks = (e) => /^(tr|li|article|td|th|dt|dd|option)$/.test(e.localName) ? e.localName
  : e.localName + '.' + (classes(e)[0] || '').replace(/\d+/g, '#');
const family = remembered((parent) => {
  const alike = new Map(), types = new Map(), all = new Map();
  const add = (map, key, c) => {
    if (!map.has(key)) map.set(key, []);
    return [map.get(key), map.get(key).push(c)];
  };
  for (const c of parent.children) {
    const [kin, at] = add(alike, looks(c), c), [type, nth] = add(types, c.localName, c);
    all.set(c, {kin, at, type, nth});
  }
  return all;
});
const ALONE = {kin: [1], at: 1, type: [1], nth: 1};
const kin = (e) => (e.parentNode && e.parentNode.children && family(e.parentNode).get(e)) || ALONE;
const NO_ROW = new RegExp('^(html|head|body|main|nav|header|footer|aside|fieldset|table|thead|tbody|' +
  'tfoot|colgroup|caption|td|th|ul|ol|dl|dt|dd|option|p|h[1-6]|button|label|select|input|textarea|' +
  'b|strong|em|i|small|time|sup|sub|code|svg|iframe|slot|script|style|picture|figure|br)$');
const repeats = (e) => {
  if (/^(tr|li|article)$/.test(e.localName)) return true;
  if (/^(row|listitem|article)$/.test(e.getAttribute('role') || '')) return true;
  if (!e.firstElementChild || NO_ROW.test(e.localName)) return false;
  return kin(e).kin.length >= (classes(e).length ? 2 : 3);
};

// The text that explains it.
const heads = remembered((root) => [...root.querySelectorAll(HEADS)]);
const BOXES = 'section,article,form,fieldset,aside,dialog,[role=dialog],main,nav,footer,li,td,th';
const headed = (e) => {
  const root = e.getRootNode(), list = heads(root);
  let low = 0, high = list.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (list[mid] !== e && list[mid].compareDocumentPosition(e) & 4) low = mid + 1;
    else high = mid;
  }
  for (let i = low - 1; i >= 0 && i > low - 8; i--) {
    const box = list[i].closest(BOXES);
    if ((!box || box.contains(e)) && !list[i].contains(e) && shown(list[i])) return spelt(list[i]);
  }
  return root.host ? headed(root.host) : '';
};
const APART = /^(hr|table|ul|ol|dl|form|section|article|nav|header|footer|aside|main|fieldset)$/;
const before = (e) => {
  for (let n = e, level = 0; n && n !== document.body && level < 3; n = n.parentElement, level++) {
    for (let p = n.previousSibling, tries = 0; p && tries < 6; p = p.previousSibling, tries++) {
      if (p.nodeType === 3 && p.data.trim()) return cut(p.data);
      if (p.nodeType !== 1 || /^(br|script|style|template)$/.test(p.localName)) continue;
      if (APART.test(p.localName) || p.matches(CONTROLS) || p.querySelector(CONTROLS)) return '';
      if (looks(p) === looks(n) && (repeats(n) || n.firstElementChild || /^t[dh]$/.test(n.localName))) return '';
      const text = spelt(p);
      if (text.length > 1) return text.length <= 120 ? text : '';
    }
    if (/^(li|tr|td|th|form|section|article|main|fieldset|table|ul|ol|nav|dialog|label|a|button)$/.test(n.localName)) break;
  }
  return '';
};
const explained = (e, label, name) => {
  const legend = isField(e) && e.closest('fieldset') && e.closest('fieldset').querySelector('legend');
  if (legend) return spelt(legend);
  for (let n = e.closest('dd'); n; n = n.previousElementSibling)
    if (n.localName === 'dt') return spelt(n);
  const cell = e.closest('td,th'), row = cell && cell.closest('tr'), table = row && row.closest('table');
  if (table) {
    const top = table.rows[0].cells[cell.cellIndex];
    const column = top && top !== cell && !top.contains(e) && top.localName === 'th' ? spelt(top) : '';
    const first = [...row.cells].find((c) => c.localName === 'th') || row.cells[0];
    const lead = first !== cell && cell.localName !== 'th' ? spelt(first) : '';
    const told = e.matches(CONTROLS) ? lead || column : column || lead;
    if (told) return told;
  }
  const text = e.matches(HEADS) ? '' : before(e);
  return text && text !== label && text !== name ? text : headed(e);
};

// The landmarks around it.
const MARKS = {form: 'form', nav: 'navigation', header: 'banner', main: 'main', aside: 'complementary',
  footer: 'contentinfo', dialog: 'dialog', section: 'region', article: 'article', fieldset: 'group',
  table: 'table'};
const marked = remembered((n) => {
  const given = n.getAttribute('role') || '';
  const role = /^(form|navigation|banner|main|complementary|contentinfo|dialog|alertdialog|search|region|tabpanel|group|radiogroup|toolbar|menu|grid)$/
    .test(given) ? given : MARKS[n.localName];
  if (!role) return '';
  const name = titled(n).slice(0, 80);
  return name ? role + ' "' + name + '"' : /^(region|article|group)$/.test(role) ? '' : role;
});
const around = (e) => {
  const out = [];
  for (let n = upward(e); n && out.length < 6; n = upward(n)) if (marked(n)) out.push(marked(n));
  return out;
};

/*selectors*/

const holds = (e) => {
  if (e.isContentEditable) return !!fold(e.textContent);
  if (/^(checkbox|radio)$/.test(e.type || '')) return !!e.checked;
  if (/^(input|textarea|select)$/.test(e.localName))
    return !/^(submit|button|reset|image)$/.test(e.type) && e.value !== '';
  return e.getAttribute('aria-checked') === 'true';
};
const features = (e) => {
  const tag = e.localName, text = spelt(e), label = labelled(e), name = called(e, text);
  const box = e.getBoundingClientRect(), page = document.documentElement;
  const share = (at, all) => Math.round(Math.min(1, Math.max(0, at / Math.max(1, all))) * 1000) / 1000;
  const attrs = {};
  for (const a of KEPT) if (e.getAttribute(a)) attrs[a] = e.getAttribute(a).slice(0, LONG);
  const form = isField(e) ? e.form : null;
  // Where a form leads, and which choice a button stands for: the author's words, never a person's.
  const leads = form && (e.getAttribute('formaction') || form.getAttribute('action'));
  if (leads) attrs.action = String(leads).slice(0, LONG);
  if (/^(radio|checkbox)$/.test(e.type || '') && e.getAttribute('value'))
    attrs.value = e.getAttribute('value').slice(0, LONG);
  const listed = tag === 'select' ? e.options : (tag === 'input' && e.list && e.list.options) || [];
  const all = {tag, type: typeof e.type === 'string' ? e.type.toLowerCase() : '',
    role: e.getAttribute('role') || (e.isContentEditable ? 'textbox' : roled(e)),
    name, text, label, placeholder: e.getAttribute('placeholder') || e.getAttribute('aria-placeholder') || '',
    attrs, href: typeof e.href === 'string' ? e.href : tag === 'iframe' ? e.src : '',
    near: explained(e, label, name), container: around(e),
    place: [share(box.left + box.width / 2 + scrollX, page.scrollWidth),
      share(box.top + box.height / 2 + scrollY, page.scrollHeight)],
    shown: shown(e), enabled: !disabled(e),
    required: e.required === true || e.getAttribute('aria-required') === 'true', filled: holds(e),
    options: [...listed].slice(0, 40).map((p) => cut(p.label || p.value)).filter(Boolean),
    count: kin(e).kin.length, css: selector(e),
    submits: !!form && /^(submit|image)$/.test(e.type),
    method: form ? (e.getAttribute('formmethod') || form.getAttribute('method') || 'get').toUpperCase() : ''};
  if (all.href) all.href = all.href.slice(0, 2000);
  return all;
};
