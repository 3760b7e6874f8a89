// The state of the page: scenario, settings, exercise. The address follows it, but not each step of a
// slider: browsers limit how often it may change.
import { useRef, useState } from "./standalone.module.js";
import { fromAddress, toAddress } from "./address.js";

const CALM = 150; // ms

export const useAddress = (first) => {
  const [state, setState] = useState(() => fromAddress(location.hash, first));
  const latest = useRef(state);
  const waiting = useRef(0);
  const change = (next) => {
    latest.current = next;
    setState(next);
    clearTimeout(waiting.current);
    waiting.current = setTimeout(() => history.replaceState(null, "", toAddress(latest.current)), CALM);
  };
  // Somebody edited the address, or went back: the state that it names, if it is another.
  const edited = () => {
    clearTimeout(waiting.current);
    return location.hash === toAddress(latest.current) ? null : fromAddress(location.hash, first);
  };
  const address = () => new URL(toAddress(latest.current), location.href).href;
  return { state, latest, change, edited, address };
};
