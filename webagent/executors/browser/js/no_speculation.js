// Speculation rules load pages past the Fetch domain: they are taken out before they are read.
(() => {
const drop = (n) => {
  if (n.nodeType !== 1) return;
  if (n.tagName === 'SCRIPT' && n.type === 'speculationrules') n.remove();
  else if (n.querySelectorAll) n.querySelectorAll('script[type=speculationrules]').forEach((s) => s.remove());
};
new MutationObserver((all) => all.forEach((m) => m.addedNodes.forEach(drop)))
  .observe(document, {subtree: true, childList: true});
for (const name of ['append', 'appendChild', 'insertBefore', 'prepend', 'replaceChild', 'replaceChildren']) {
  for (const proto of [Node.prototype, Element.prototype, Document.prototype, DocumentFragment.prototype]) {
    if (!Object.hasOwn(proto, name)) continue;
    const own = proto[name];
    proto[name] = function (...nodes) {
      for (const n of nodes)
        if (n instanceof HTMLScriptElement && n.type === 'speculationrules') n.type = 'text/plain';
      return own.apply(this, nodes);
    };
  }
}
})();
