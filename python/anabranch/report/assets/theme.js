"use strict";
// The colour scheme: that of the system until the reader chooses another.
(() => {
  const root = document.documentElement;
  const remember = (value) => { try { localStorage.setItem("anabranch-theme", value); } catch { /* a page from a file may have no storage */ } };
  const recall = () => { try { return localStorage.getItem("anabranch-theme"); } catch { return null; } };
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const told = () => dispatchEvent(new Event("anabranch-theme"));
  const known = recall();
  if (known === "light" || known === "dark") root.dataset.theme = known;
  system.addEventListener("change", told);
  addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    const say = () => { button.textContent = dark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Use ${dark() ? "light" : "dark"} colours`); };
    button.hidden = false;
    button.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; remember(root.dataset.theme); told(); });
    addEventListener("anabranch-theme", say);
    say();
  });
})();
