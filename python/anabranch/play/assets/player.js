// Playing a run: the date, its pace, and steps from packet to packet.
import { html, useEffect, useRef, useState } from "./standalone.module.js";
import { significant, span } from "./format.js";

const PACES = [1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001];

const said = ([date, lane, index, what]) => {
  const octets = `${lane.len[index]} bytes at ${lane.offset[index].toLocaleString("en")}`;
  if (what === "delivers") return `${date.toFixed(6)} s: ${octets} of ${lane.name} arrive`;
  if (what === "loses") return `${date.toFixed(6)} s: ${octets} of ${lane.name} are lost`;
  return `${date.toFixed(6)} s: ${lane.name} ${what} ${octets}`;
};

// The pace at which a packet takes about two seconds across the picture.
const paceFor = (picture) => {
  const delays = picture.flows.flatMap((flow) => Object.values(flow.ways).map((way) => way.reduce((sum, hop) => sum + hop[3], 0)));
  const shortest = Math.min(...delays.filter((it) => it > 0), 1);
  return PACES.find((pace) => pace <= (shortest / 2) * 1.5) ?? PACES.at(-1);
};

export const Player = ({ clock, pace, setPace, end, picture, journeys, load }) => {
  const [playing, setPlaying] = useState(false);
  const [told, setTold] = useState("");
  const slider = useRef(null);
  const shown = useRef(null);
  const live = useRef({});
  const speed = pace || paceFor(picture);
  live.current = { journeys, load, speed, end };
  useEffect(() => clock.follow((at) => {
    if (slider.current) slider.current.value = String(Math.round((at / clock.end) * 10000));
    if (slider.current) slider.current.setAttribute("aria-valuetext", `${significant(at, 5)} s`);
    if (shown.current) shown.current.textContent = `${at.toFixed(at < 10 ? 4 : 3)} s`;
  }), [end]);
  useEffect(() => {
    if (!playing) return undefined;
    let last = performance.now();
    let frame = requestAnimationFrame(function moved(now) {
      const passed = Math.min((now - last) / 1000, 0.1);
      last = now;
      const { journeys: ready, load: fetched, speed: by, end: stop } = live.current;
      if (ready.every((it) => it?.covers(clock.at))) clock.set(clock.at + passed * by);
      else fetched(clock.at);
      if (clock.at >= stop) setPlaying(false);
      else frame = requestAnimationFrame(moved);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing]);
  const step = async (direction) => {
    setPlaying(false);
    const ready = journeys.every((it) => it?.covers(clock.at)) ? journeys : await load(clock.at);
    const found = ready.map((it) => it?.step(clock.at, direction)).filter(Boolean);
    if (found.length === 0) { setTold("no further packet"); return; }
    const next = found.reduce((best, it) => ((it[0] - best[0]) * direction < 0 ? it : best));
    clock.set(next[0]);
    setTold(said(next));
  };
  return html`
    <div class="player" role="group" aria-label="Moving picture">
      <button type="button" onClick=${() => { if (!playing && clock.at >= end) clock.set(0); setPlaying(!playing); }} aria-pressed=${playing}>${playing ? "Pause" : "Play"}</button>
      <button type="button" onClick=${() => step(-1)} aria-label="Packet before">◂ packet</button>
      <button type="button" onClick=${() => step(1)} aria-label="Next packet">packet ▸</button>
      <label>Pace <select value=${String(speed)} onChange=${(event) => setPace(Number(event.target.value))}>
        ${PACES.map((it) => html`<option value=${String(it)} selected=${it === speed}>${it === 1 ? "real time" : `1/${Math.round(1 / it)} of real time`}</option>`)}
      </select></label>
      <input class="date" type="range" min="0" max="10000" ref=${slider} aria-label="Date in the run" onInput=${(event) => { setTold(""); clock.set((Number(event.target.value) / 10000) * clock.end); }} />
      <output ref=${shown}></output>
      <p class="told" aria-live="polite">${told || `A packet takes ${span(Math.min(...picture.flows.flatMap((flow) => Object.values(flow.ways).map((way) => way.reduce((sum, hop) => sum + hop[3], 0)))))} or more one way. A click on a chart goes to that date.`}</p>
    </div>`;
};
