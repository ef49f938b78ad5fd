// Whether the document is complete and stayed as it is for o.quiet ms, looked at for o.ms at most.
(o) => new Promise((done) => {
const end = (v) => { watch.disconnect(); clearTimeout(limit); clearTimeout(calm); done(v); };
const watch = new MutationObserver(() => end(false));
const limit = setTimeout(() => end(false), o.ms);
const calm = setTimeout(() => end(document.readyState === 'complete'), o.quiet);
watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
})
