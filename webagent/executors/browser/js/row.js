// How a list is read of which one row and some parts of it were pointed at: a selector for all rows
// alike, and for each part one that finds it alone in its row.
(r, parts) => {
/*about*/
/*features*/

const tag = CSS.escape(r.localName), alike = kin(r).kin.length;
const all = (q) => { try { return document.querySelectorAll(q).length; } catch (_) { return 0; } };
const own = classed(r);
const up = r.parentElement ? selector(r.parentElement) : '';
const each = own.find((q) => all(q) === alike) ||
  (up && [...own, tag].map((q) => up + ' > ' + q).find((q) => all(q) === alike)) ||
  (up ? up + ' > ' + tag : tag);
// In a shadow root a selector of the document finds nothing: what cannot be read is no list.
if (![...document.querySelectorAll(each)].includes(r)) return 'null';
const inRow = (e) => {
  if (e === r) return '';
  if (!r.contains(e)) return null;
  const name = e.getAttribute('name'), prop = e.getAttribute('itemprop');
  const ways = [...marks(e).filter((q) => !q.startsWith('#'))];
  if (prop) ways.push('[itemprop=' + quoted(prop) + ']');
  ways.push(...classed(e));
  if (name && isField(e)) ways.push(CSS.escape(e.localName) + '[name=' + quoted(name) + ']');
  ways.push(CSS.escape(e.localName));
  const one = (q) => r.querySelectorAll(q).length === 1 && r.querySelector(q) === e;
  const good = ways.find(one);
  if (good) return good;
  const steps = [];
  for (let n = e; n && n !== r; n = n.parentElement) {
    steps.unshift(step(n));
    const q = steps.join(' > ');
    if (one(q)) return q;
  }
  return ':scope > ' + steps.join(' > ');
};
return JSON.stringify({each, count: all(each), parts: parts.map(inRow)});
}
