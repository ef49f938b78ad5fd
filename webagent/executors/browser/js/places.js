// What covered controls hold and where they are, as `shown` tells it of all controls.
(found) => {
const place = (e) => {
  const at = e.getBoundingClientRect();
  return [e.value, [location.href, at.x, at.y, at.width, at.height].join(' ')];
};
return JSON.stringify(found.filter((e) => typeof e.value === 'string').map(place));
}
