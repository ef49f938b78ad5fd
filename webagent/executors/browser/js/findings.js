// All visible matches with what an expectation asks of each; nothing is waited for.
(els, o) => {
/*about*/

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
}
