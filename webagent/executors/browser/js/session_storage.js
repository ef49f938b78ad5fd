// The sessionStorage of the page's origin.
() => {
try { return JSON.stringify([origin, Object.fromEntries(Object.entries(sessionStorage))]); }
catch { return 'null'; }
}
