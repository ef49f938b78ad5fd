// How often the rendered text of the frame, open shadow roots included, contains the text. Upper and
// lower case are one: CSS can change them (text-transform), and Playwright's text search folds them.
(wanted) => {
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
}
