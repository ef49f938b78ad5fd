// What the other scripts need to know about one element; they get this in place of /*about*/.
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
const lettered = (label) => {
  if (!label.querySelector('select,textarea')) return label.innerText;
  const parts = [];
  for (const c of label.childNodes) {
    if (c.nodeType === 3) parts.push(c.data);
    else if (c.nodeType === 1 && !/^(SELECT|TEXTAREA|INPUT)$/.test(c.tagName)) parts.push(lettered(c));
  }
  return parts.join(' ');
};
const named = (e) => {
  const by = e.getAttribute('aria-labelledby');
  const root = e.getRootNode();
  const labels = e.labels && e.labels.length ? [...e.labels].map((l) => fold(lettered(l))) : [];
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
const disabled = (e) => {
  if (e.matches(':disabled')) return true;
  for (let n = e; n; n = n.parentElement || n.getRootNode().host)
    if (n.getAttribute('aria-disabled') === 'true') return true;
  return false;
};
