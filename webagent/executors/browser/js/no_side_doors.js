// Ways out that the Fetch domain does not see: WebSockets go to the page's own host only; WebRTC and
// WebTransport are not there. A refused socket ends as one that found nobody, so that pages cope.
// Workers have globals of their own, which no init script reaches.
(() => {
const Own = globalThis.WebSocket;
const host = (u) => { try { return new URL(u).hostname; } catch { return ''; } };
const refused = (url) => {
  let full;
  try { full = new URL(url, location.href).href; } catch { return null; }
  const mine = host(self.origin);
  return mine && host(full) === mine ? null : full;
};
const Guarded = new Proxy(Own, {
  construct(target, [url, ...rest], made) {
    const away = refused(String(url));
    if (away === null) return Reflect.construct(target, [url, ...rest], made);
    console.warn('webagent: refused WebSocket ' + away);
    return Reflect.construct(target, ['wss://refused.invalid/', ...rest], made);
  },
});
Object.defineProperty(Own.prototype, 'constructor', {value: Guarded, writable: true, configurable: true});
globalThis.WebSocket = Guarded;
for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport', 'WebSocketStream'])
  delete globalThis[name];
})();
