// Resolves when the document changed (in a burst: when it paused for 30 ms), at most after ms.
(ms) => new Promise((done) => {
let burst = null;
const end = () => { watch.disconnect(); clearTimeout(limit); clearTimeout(burst); done(true); };
const watch = new MutationObserver(() => { if (!burst) burst = setTimeout(end, 30); });
const limit = setTimeout(end, ms);
watch.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
})
