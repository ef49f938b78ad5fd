// The smallest element within this one whose text holds a text, the first of several; nothing when
// the text is not in it. Inline parts have no line of their own in an outline.
(e, text) => {
const fold = (t) => (t || '').replace(/\s+/g, ' ').trim();
const wanted = fold(text);
const holds = (n) => fold(n.innerText === undefined ? n.textContent : n.innerText).includes(wanted);
if (!wanted || !holds(e)) return null;
let best = e;
for (let next = e; next; ) {
  best = next;
  next = [...best.children].find((c) => fold(c.textContent) && holds(c));
}
return best;
}
