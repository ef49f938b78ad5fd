// What a picture of the page can show: its text, and what its controls hold, passwords left out.
() => {
const place = (e) => {
  const at = e.getBoundingClientRect();
  return [e.value, [location.href, at.x, at.y, at.width, at.height].join(' ')];
};
const text = [];
const values = [];
const walk = (root) => {
  for (const e of root.querySelectorAll('input,textarea,select')) {
    if (e.type === 'hidden') continue;
    if (e.type !== 'password') values.push(place(e));
    if (e.placeholder) text.push(e.placeholder);
  }
  for (const e of root.querySelectorAll('*')) {
    if (e.shadowRoot) {
      for (const child of e.shadowRoot.children) text.push(child.innerText || child.textContent);
      walk(e.shadowRoot);
    }
    if (e.alt) text.push(e.alt);
  }
};
if (document.body) text.push(document.body.innerText);
else text.push(document.documentElement.textContent);
walk(document);
return JSON.stringify([text, values]);
}
