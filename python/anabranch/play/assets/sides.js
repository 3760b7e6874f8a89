// What is known of the two settings: their results, what is wrong of them, the journeys of their packets.
import { useMemo, useRef, useState } from "./standalone.module.js";
import { prepared } from "./charts.js";
import { packets, Runner } from "./client.js";
import { Journeys } from "./journeys.js";

export const SIDES = ["a", "b"];

// A result that came, on top of what was known of its setting: what is wrong leaves the last charts.
const joined = (old, found, request) => {
  if (found.status === 200) return { ...found, drawn: prepared(found), errors: [], request, stale: false };
  const controls = found.controls?.length ? found.controls : old?.controls;
  return { ...(old ?? {}), controls, errors: found.errors ?? [], request, stale: true };
};

// `forget` is told of changes that a setting's scenario does not have.
export const useSides = (latest, forget) => {
  const [sides, setSides] = useState({ a: null, b: null });
  const [journeys, setJourneys] = useState({});
  const known = useRef(sides);
  known.current = sides;
  const runners = useMemo(() => Object.fromEntries(SIDES.map((side) => [side, new Runner(side, (found, request) => {
    setSides((old) => ({ ...old, [side]: joined(old[side], found, request) }));
    if (found.status === 200) setJourneys((old) => ({ ...old, [side]: null }));
    if (found.ignored?.length) forget(side, found.ignored);
  })])), []);
  const clear = () => { setSides({ a: null, b: null }); setJourneys({}); };

  // Packets of what is shown, for the moving picture: asked for when it is played, once at a time.
  const loading = useRef(null);
  const fetched = async (shown, at) => {
    const found = await Promise.all(shown.map(async (side) => {
      const answer = await packets(side, latest.current.scenario, latest.current.sides[side], at);
      return [side, answer.status === 200 ? new Journeys(answer.journeys, known.current[side].picture.flows) : null];
    }));
    loading.current = null;
    setJourneys((old) => ({ ...old, ...Object.fromEntries(found) }));
    return found.map(([, it]) => it);
  };
  const load = (shown, at) => { loading.current ??= fetched(shown, at); return loading.current; };
  return { sides, journeys, runners, clear, load };
};
