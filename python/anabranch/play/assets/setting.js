// One setting: its picture, charts and tables, and what can be taken away of it.
import { html } from "./standalone.module.js";
import { Charts } from "./charts.js";
import { Picture } from "./picture.js";
import { Results } from "./results.js";
import { Take } from "./take.js";

export const NAMES = { a: "A", b: "B" };

// What was turned, in a few words: `bottleneck buffer 50`.
const turned = (changes) => Object.entries(changes).map(([id, value]) => `${id.split(".").slice(1).join(" ") || id} ${value}`).join(", ") || "as the scenario has it";

export const Setting = ({ side, result, state, tops, journeys, clock, address }) => {
  const label = state.compare ? `Setting ${NAMES[side]}` : "Result";
  const changes = state.sides[side];
  if (!result?.drawn) return html`<section class="setting" aria-label=${label}>${result?.errors?.length ? null : html`<p class="soft">Running …</p>`}</section>`;
  return html`
    <section class=${result.stale ? "setting stale" : "setting"} aria-label=${label}>
      ${state.compare ? html`<h3>${label} <span class="soft">${turned(changes)}</span></h3>` : null}
      <${Picture} picture=${result.picture} drawn=${result.drawn} journeys=${journeys} clock=${clock} />
      <${Results} result=${result} />
      <${Charts} side=${side} drawn=${result.drawn} tops=${tops} clock=${clock} />
      <${Take} side=${side} scenario=${state.scenario} changes=${changes} address=${address} />
    </section>`;
};
