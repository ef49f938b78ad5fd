// Copies of elements as HTML: addresses absolute, open shadow roots spelt out, scripts and styles left
// out, what is not rendered marked, so that the extractors know what a reader would see.
(els, o) => {
/*about*/

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
// Between the search for them and this look the page may have put others in their place.
els = els.filter((e) => e.isConnected);
const seen = els.filter(shown);
const some = seen.length ? seen : els;
const next = o && o.count ? [] : some.map((e) => copy(e).outerHTML);
return JSON.stringify({rows: next, hidden: els.length - some.length, n: els.length});
}
