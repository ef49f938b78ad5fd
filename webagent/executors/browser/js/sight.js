// What the first visible match looks like, and nothing when there is none.
(els) => {
/*about*/
/*features*/

const e = els.find(shown);
return JSON.stringify(e ? features(e) : null);
}
