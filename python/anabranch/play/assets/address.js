// The state of the page as the part of its address behind `#`, and back.
//
// `scenario=lab:dumbbell&a.links.bottleneck.rate=10&b.links.bottleneck.queue=codel&compare=1`

const read = (text) => {
  if (text === "true") return true;
  if (text === "false") return false;
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : text;
};

export const fromAddress = (hash, first) => {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const sides = { a: {}, b: {} };
  for (const [key, value] of given) {
    const side = sides[key.slice(0, 1)];
    if (side && key[1] === ".") side[key.slice(2)] = read(value);
  }
  return { scenario: given.get("scenario") || first, compare: given.get("compare") === "1", exercise: given.get("lab") || "", sides };
};

export const toAddress = (state) => {
  const found = new URLSearchParams({ scenario: state.scenario });
  if (state.exercise) found.set("lab", state.exercise);
  if (state.compare) found.set("compare", "1");
  for (const side of state.compare ? ["a", "b"] : ["a"])
    for (const [id, value] of Object.entries(state.sides[side])) found.set(`${side}.${id}`, String(value));
  return `#${found}`;
};
