// Names of what is on the page, to tell a person what may have been meant.
(o) => {
/*about*/

const query = 'a,button,input,select,textarea,h1,h2,h3,h4,[role],label,summary,img,th';
const out = [];
const walk = (root) => {
  for (const e of root.querySelectorAll(o.all ? query + ',article,table,li,form,section' : query)) {
    if (out.length >= 400) return;
    if (e.type !== 'hidden' && shown(e)) out.push([roled(e), named(e).slice(0, 80), e.id || '']);
  }
  for (const e of root.querySelectorAll('*')) if (e.shadowRoot) walk(e.shadowRoot);
};
walk(document);
return JSON.stringify(out);
}
