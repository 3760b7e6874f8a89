// Sliders, choices and switches, with what is wrong of each beside it.
import { html, useState, useEffect } from "./standalone.module.js";
import { significant } from "./format.js";

const STEPS = 1000;

// Where a value stands on its slider, from 0 to STEPS, and back.
const toStep = (control, value) => {
  const { low, high, scale } = control;
  const v = Math.min(Math.max(value, low), high);
  let part = (v - low) / (high - low);
  if (scale === "log") part = Math.log(v / low) / Math.log(high / low);
  if (scale === "sqrt") part = Math.sqrt(part);
  return Math.round(part * STEPS);
};
const fromStep = (control, step) => {
  const { low, high, scale, whole } = control;
  const part = step / STEPS;
  if (step <= 0) return low;
  if (step >= STEPS) return high;
  let value = low + part * (high - low);
  if (scale === "log") value = low * (high / low) ** part;
  if (scale === "sqrt") value = low + part * part * (high - low);
  value = whole ? Math.round(value) : Number(value.toPrecision(value < 10 ? 2 : 3));
  return Math.min(Math.max(value, low), high);
};

const typed = (text) => (text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text);

const Numeric = ({ control, id, value, error, turn }) => {
  const [draft, setDraft] = useState(null);
  useEffect(() => { if (!error) setDraft(null); }, [value, error]);
  const shown = draft ?? (typeof value === "number" ? String(Number(value.toPrecision(6))) : value ?? "");
  const number = typeof value === "number" ? value : control.low;
  return html`
    <input type="range" id=${id} min="0" max=${STEPS} value=${toStep(control, number)} aria-valuetext=${`${significant(number, 4)} ${control.unit}`}
      aria-describedby=${`${id}-note`} onInput=${(event) => { setDraft(null); turn(fromStep(control, Number(event.target.value))); }} />
    <span class="number"><input type="text" inputmode="decimal" autocomplete="off" value=${shown} aria-label=${`${control.label}, as a number${control.unit ? ` in ${control.unit}` : ""}`}
      aria-invalid=${error ? "true" : null} aria-describedby=${`${id}-note`}
      onChange=${(event) => { setDraft(event.target.value); turn(typed(event.target.value)); }} /><span class="unit">${control.unit}</span></span>`;
};

const Choice = ({ control, id, value, error, turn }) => html`
  <select id=${id} value=${value ?? ""} aria-invalid=${error ? "true" : null} aria-describedby=${`${id}-note`} onChange=${(event) => turn(event.target.value)}>
    ${value === null || value === undefined ? html`<option value="" disabled>–</option>` : null}
    ${control.choices.map(([name]) => html`<option key=${name} value=${name} selected=${name === value}>${name}</option>`)}
  </select>`;

const Toggle = ({ id, value, turn }) => html`
  <input type="checkbox" role="switch" id=${id} checked=${value === true} aria-describedby=${`${id}-note`} onChange=${(event) => turn(event.target.checked)} />`;

const KINDS = { number: Numeric, choice: Choice, switch: Toggle };

const Row = ({ side, control, changed, error, turn, reset }) => {
  const Kind = KINDS[control.kind];
  const id = `${side}-${control.id}`;
  const value = changed ?? control.value;
  const about = control.kind === "choice" ? control.choices.find(([name]) => name === value)?.[1] ?? "" : control.hint;
  return html`
    <div class=${`control ${control.kind}${changed === undefined ? "" : " changed"}`} data-control=${control.id}>
      <label for=${id}>${control.label}</label>
      ${changed === undefined ? null : html`<button type="button" class="reset" title="As the scenario has it" aria-label=${`${control.label}: as the scenario has it`} onClick=${() => reset(control.id)}>↺</button>`}
      <${Kind} control=${control} id=${id} value=${value} error=${error} turn=${(given) => turn(control.id, given)} />
      <p id=${`${id}-note`} class=${error ? "note wrong" : "note"}>${error || about}</p>
    </div>`;
};

// Controls that are shown when they are asked for; they are made then.
const Folded = ({ name, label, members, row }) => {
  const [open, setOpen] = useState(false);
  return html`<details open=${open} onToggle=${(event) => setOpen(event.target.open)}><summary>${label} <span class="sr">of ${name}</span></summary>${open ? members.map(row) : null}</details>`;
};

export const Controls = ({ side, controls, changes, errors, turn, reset, resetAll }) => {
  const groups = new Map();
  for (const control of controls) {
    if (!groups.has(control.group)) groups.set(control.group, []);
    groups.get(control.group).push(control);
  }
  const wrong = new Map(errors.map((error) => [error.control, error.message]));
  const row = (control) => html`<${Row} key=${control.id} side=${side} control=${control} changed=${changes[control.id]} error=${wrong.get(control.id)} turn=${turn} reset=${reset} />`;
  const must = (control) => !control.folded || changes[control.id] !== undefined || wrong.has(control.id);
  return html`
    <form class="controls" aria-label=${`Controls of ${side === "a" ? "setting A" : "setting B"}`} onSubmit=${(event) => event.preventDefault()}>
      ${[...groups].map(([name, members]) => html`
        <fieldset key=${name}><legend>${name}</legend>
          ${members.filter(must).map(row)}
          ${members.every(must) ? null : html`<${Folded} name=${name} label=${members.some(must) ? "more" : "show"} members=${members.filter((it) => !must(it))} row=${row} />`}
        </fieldset>`)}
      <button type="button" class="wide" disabled=${Object.keys(changes).length === 0} onClick=${resetAll}>All as the scenario has it</button>
    </form>`;
};
