// How long it took from the turn of a control to the drawn chart.
import { useEffect, useRef, useState } from "./standalone.module.js";

// After the next frame was painted.
const painted = (then) => requestAnimationFrame(() => {
  const channel = new MessageChannel();
  channel.port1.onmessage = then;
  channel.port2.postMessage(0);
});

const measured = ({ request, took_ms: took, timing, events }) => {
  const all = performance.now() - request.turned;
  performance.measure("anabranch-turn", { start: request.turned, detail: { took, timing, came: request.came - request.turned, all } });
  return { all, run: took.run, events };
};

// The time of the last result that was drawn. Charts draw in effects, which run before this one.
export const useTiming = (sides) => {
  const seen = useRef(new WeakSet());
  const [speed, setSpeed] = useState(null);
  useEffect(() => {
    for (const result of Object.values(sides)) {
      if (!result?.drawn || result.stale || seen.current.has(result)) continue;
      seen.current.add(result);
      painted(() => setSpeed(measured(result)));
    }
  }, [sides]);
  return speed;
};
