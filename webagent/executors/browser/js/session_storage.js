// What the document's origin has stored: [origin, sessionStorage, localStorage, has databases].
async () => {
try {
  const databases = indexedDB.databases ? await indexedDB.databases() : [];
  const all = (store) => Object.fromEntries(Object.entries(store));
  return JSON.stringify([origin, all(sessionStorage), all(localStorage), databases.length > 0]);
} catch { return 'null'; }
}
