// Puts kept sessionStorage back, once a tab: the mark tells that it was done.
((all) => {
try {
  const mine = all[origin];
  if (!mine || sessionStorage.getItem('webagent:restored')) return;
  sessionStorage.setItem('webagent:restored', '1');
  for (const [k, v] of Object.entries(mine)) if (sessionStorage.getItem(k) === null) sessionStorage.setItem(k, v);
} catch {}
})
