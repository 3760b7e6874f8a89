// The head of the page: which scenario, one setting or two, the lab, light or dark.
import { html, useEffect, useState } from "./standalone.module.js";
import { isDark, onTheme, switchTheme } from "./theme.js";

const ThemeSwitch = () => {
  const [dark, setDark] = useState(isDark());
  useEffect(() => onTheme(() => setDark(isDark())), []);
  return html`<button type="button" id="theme" aria-label=${`Use ${dark ? "light" : "dark"} colours`} onClick=${switchTheme}>${dark ? "Light" : "Dark"}</button>`;
};

const toResults = (event) => {
  event.preventDefault();
  document.getElementById("results").focus();
};

export const Header = ({ state, scenarios, open, compare, lab }) => html`
  <header>
    <a class="skip" href="#results" onClick=${toResults}>Skip to the results</a>
    <h1>Anabranch <span>playground</span></h1>
    <label class="pick">Scenario <select value=${state.scenario} onChange=${(event) => open(event.target.value)}>
      ${[...new Set([state.scenario, ...scenarios])].map((name) => html`<option key=${name} value=${name} selected=${name === state.scenario}>${name}</option>`)}
    </select></label>
    <label class="pick"><input type="checkbox" role="switch" checked=${state.compare} onChange=${(event) => compare(event.target.checked)} /> Two settings</label>
    <span class="space"></span>
    ${lab ? html`<button type="button" onClick=${lab}>Lab</button>` : null}
    <${ThemeSwitch} />
  </header>`;
