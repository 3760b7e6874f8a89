// The colour scheme: that of the system until the reader chooses another. The choice is shared with reports.

const KEY = "anabranch-theme";
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

const recall = () => { try { return localStorage.getItem(KEY); } catch { return null; } };
const known = recall();
if (known === "light" || known === "dark") root.dataset.theme = known;

const told = () => { for (const listener of listeners) listener(); };
system.addEventListener("change", told);

export const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
export const switchTheme = () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  try { localStorage.setItem(KEY, root.dataset.theme); } catch { /* remembered for this page alone */ }
  told();
};
export const onTheme = (listener) => { listeners.add(listener); return () => listeners.delete(listener); };

// A colour of the style sheet as canvases take it.
export const colour = (name) => {
  const probe = document.createElement("span");
  probe.hidden = true;
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};
