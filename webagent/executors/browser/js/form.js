// The fields of the forms on the page by accessible name; passwords are masked here already.
() => {
/*about*/

const out = [];
const walk = (root) => {
  for (const e of root.querySelectorAll('input,select,textarea,[contenteditable=""],[contenteditable=true]')) {
    if (/^(submit|button|reset|image|hidden)$/.test(e.type || '')) continue;
    let value;
    if (e.type === 'password') value = e.value ? '\u2022\u2022\u2022' : '';
    else if (e.type === 'checkbox') value = e.checked;
    else if (e.type === 'radio') { if (!e.checked) continue; value = named(e) || e.value; }
    else if (e.type === 'file') value = [...e.files].map((f) => f.name);
    else if (e.tagName === 'SELECT') {
      const chosen = [...e.selectedOptions].map((s) => fold(s.label));
      value = e.multiple ? chosen : chosen[0] ?? null;
    } else value = e.value === undefined ? fold(e.innerText) : e.value;
    const legend = e.type === 'radio' && e.closest('fieldset') && e.closest('fieldset').querySelector('legend');
    out.push([legend ? fold(legend.innerText) : e.type === 'radio' ? e.name || named(e) : named(e) || e.id || e.type, value]);
  }
  for (const e of root.querySelectorAll('*')) if (e.shadowRoot) walk(e.shadowRoot);
};
walk(document);
return JSON.stringify(out);
}
