// The playground: controls at the left, the picture and the charts of one or two settings at the right.
import { html, render, useEffect, useMemo, useState } from "./standalone.module.js";
import { Clock } from "./clock.js";
import { Controls } from "./controls.js";
import { Exercise } from "./exercise.js";
import { significant } from "./format.js";
import { Header } from "./header.js";
import { Player } from "./player.js";
import { NAMES, Setting } from "./setting.js";
import { SIDES, useSides } from "./sides.js";
import { useAddress } from "./state.js";
import { useTiming } from "./timing.js";

const WHATS = ["rate", "cwnd", "queue", "rtt"];

// The largest values of both settings, so that their charts have the same scales.
const topsOf = (results) => Object.fromEntries(WHATS.map((what) => [what, Math.max(...results.map((it) => it?.drawn?.[what].top ?? 0))]));
const shownOf = (state) => (state.compare ? SIDES : ["a"]);
const without = (changes, ids) => Object.fromEntries(Object.entries(changes).filter(([id]) => !ids.includes(id)));

// What a person can do, as changes of the state and runs of settings.
const useActions = (about, setActive, clock, setPace) => {
  const { state, latest, change, edited, address } = useAddress(about.first);
  const withSide = (side, changes) => ({ ...latest.current, sides: { ...latest.current.sides, [side]: changes } });
  const known = useSides(latest, (side, ids) => change(withSide(side, without(latest.current.sides[side], ids))));
  const { runners, clear } = known;
  const run = (next, sides) => { for (const side of sides) runners[side].turn(next.scenario, next.sides[side]); };
  const set = (side, changes) => { change(withSide(side, changes)); run(latest.current, [side]); };
  const goTo = (next) => { change(next); clear(); setActive("a"); clock.set(0); run(next, shownOf(next)); };
  const compare = (on) => {
    const { sides } = latest.current;
    const second = on && Object.keys(sides.b).length === 0 ? { ...sides.a } : sides.b;
    change({ ...latest.current, compare: on, sides: { ...sides, b: second } });
    setActive(on ? "b" : "a");
    if (on) run(latest.current, ["b"]);
  };
  useEffect(() => {
    run(state, shownOf(state));
    const moved = () => { const next = edited(); if (next) goTo(next); };
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return {
    ...known, state, address, set, compare,
    turn: (side) => (id, value) => set(side, { ...latest.current.sides[side], [id]: value }),
    reset: (side) => (id) => set(side, without(latest.current.sides[side], [id])),
    open: (scenario) => {
      // An open lab stays open: with the exercise of this scenario, if it has one.
      const exercise = latest.current.exercise && (about.lab.exercises.find((it) => it.scenario === scenario)?.id ?? latest.current.exercise);
      goTo({ scenario, exercise, compare: false, sides: { a: {}, b: {} } });
    },
    exercise: (it, step) => {
      if (step?.pace || !step) setPace(step?.pace ?? 0);
      goTo({ scenario: it.scenario, exercise: it.id, compare: Boolean(step?.b), sides: { a: { ...step?.a }, b: { ...step?.b } } });
    },
    leave: () => change({ ...latest.current, exercise: "" }),
  };
};

const Side = ({ about, actions, exercise, active, setActive }) => {
  const { state, sides } = actions;
  const editing = state.compare ? active : "a";
  const result = sides[editing];
  return html`
    <div class="side">
      ${exercise ? html`<${Exercise} lab=${about.lab} exercise=${exercise} open=${actions.exercise} close=${actions.leave} />` : null}
      ${state.compare ? html`<div class="tabs" role="group" aria-label="Setting that the controls are of">
        ${SIDES.map((side) => html`<button type="button" key=${side} aria-pressed=${active === side} onClick=${() => setActive(side)}>Setting ${NAMES[side]}</button>`)}</div>` : null}
      ${result?.controls ? html`<${Controls} key=${editing + state.scenario} side=${editing} controls=${result.controls} changes=${state.sides[editing]} errors=${result.errors}
        turn=${actions.turn(editing)} reset=${actions.reset(editing)} resetAll=${() => actions.set(editing, {})} />` : html`<p class="soft">Loading …</p>`}
    </div>`;
};

// Messages that are about no control, and what a scenario says but hardly means.
const Banners = ({ results }) => {
  const wrong = new Set(results.flatMap((it) => it?.errors ?? []).filter((it) => !it.control).map((it) => it.message));
  const warned = new Set(results.flatMap((it) => (it?.stale ? [] : it?.warnings ?? [])));
  return [
    ...[...wrong].map((message) => html`<p class="banner wrong" role="alert" key=${message}>${message}</p>`),
    ...[...warned].map((message) => html`<p class="banner" key=${message}>${message}</p>`),
  ];
};

const speedOf = (speed) => (speed ? `From the turn to the chart: ${Math.round(speed.all)} ms (the run ${significant(speed.run, 2)} ms, ${speed.events.toLocaleString("en")} events).` : "");

const App = ({ about }) => {
  const [active, setActive] = useState("a");
  const [pace, setPace] = useState(0); // 0 for one that suits the scenario
  const clock = useMemo(() => new Clock(), []);
  const actions = useActions(about, setActive, clock, setPace);
  const { state, sides, journeys } = actions;
  const shown = shownOf(state);
  const results = shown.map((side) => sides[side]);
  clock.end = Math.max(0.001, ...results.map((it) => it?.series?.end_s ?? 0));
  const tops = topsOf(results);
  const exercise = about.lab.exercises.find((it) => it.id === state.exercise);
  const speed = useTiming(sides);
  const lab = exercise || about.lab.exercises.length === 0 ? null : () => actions.exercise(about.lab.exercises[0]);
  return html`
    <${Header} state=${state} scenarios=${about.scenarios} open=${actions.open} compare=${actions.compare} lab=${lab} />
    <main class=${state.compare ? "two" : "one"}>
      <${Side} about=${about} actions=${actions} exercise=${exercise} active=${active} setActive=${setActive} />
      <div id="results" class="results" tabindex="-1">
        <${Banners} results=${results} />
        <h2 class="title">${results.find((it) => it?.title)?.title ?? ""}</h2>
        ${results.every((it) => it?.drawn) ? html`<${Player} clock=${clock} pace=${pace} setPace=${setPace} end=${clock.end} picture=${results[0].picture} journeys=${shown.map((side) => journeys[side])} load=${(at) => actions.load(shown, at)} />` : null}
        <div class="columns">
          ${shown.map((side) => html`<${Setting} key=${side} side=${side} result=${sides[side]} state=${state} tops=${tops} journeys=${journeys[side]} clock=${clock} address=${actions.address} />`)}
        </div>
        <p class="speed soft" id="speed">${speedOf(speed)}</p>
      </div>
    </main>`;
};

const started = async () => {
  const about = await (await fetch("api/about")).json();
  const page = document.getElementById("page");
  page.replaceChildren();
  render(html`<${App} about=${about} />`, page);
  document.documentElement.dataset.ready = "";
};

started();
