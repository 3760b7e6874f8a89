// Where every packet is at a date, from when it left and when it came: the time that remains beyond the
// links' own is spent in the queue of the slowest link on the way.
import { decode, upTo } from "./columns.js";

const HEADER = 40; // octets of IP and TCP headers, for the time on the line
export const ARRIVED = 0, LOST = 1;

// The hops of a lane: of TCP the only way; of a subflow that between its interfaces; of an SCTP path that
// to its interface.
const hopsOf = (name, flows) => {
  const flow = flows.find((it) => name === it.name) ?? flows.find((it) => name.startsWith(`${it.name}.`));
  if (!flow) return null;
  const ways = Object.entries(flow.ways);
  const rest = name.slice(flow.name.length + 1);
  const found = ways.find(([key]) => key === rest) ?? ways.find(([key]) => rest && key.endsWith(`-${rest}`)) ?? ways.find(([key]) => rest && rest.startsWith(key)) ?? ways[0];
  return found ? { flow: flow.name, hops: found[1].map(([link, from, to, delay, rate]) => ({ link, from, to, delay, rate })) } : null;
};

const opened = (name, packed, flows) => {
  const way = hopsOf(name, flows);
  if (!way || way.hops.length === 0) return null;
  const lane = { name, ...way };
  for (const [key, text] of Object.entries(packed)) lane[key] = decode(text);
  lane.slowest = lane.hops.reduce((best, hop, at) => (hop.rate < lane.hops[best].rate ? at : best), 0);
  lane.longest = 0;
  for (let i = 0; i < lane.sent.length; i++) {
    const took = lane.end[i] - lane.sent[i];
    if (took > lane.longest) lane.longest = took;
  }
  lane.back = lane.hops.reduce((sum, hop) => sum + hop.delay + (HEADER * 8) / hop.rate, 0);
  return lane;
};

const steps = ({ t, v }) => ({ t: decode(t), v: decode(v) });
const all = (table) => new Map(Object.entries(table).map(([name, it]) => [name, steps(it)]));

export class Journeys {
  constructor(found, flows) {
    this.from = found.from_s;
    this.to = found.to_s;
    this.lanes = Object.entries(found.lanes).map(([name, packed]) => opened(name, packed, flows)).filter(Boolean);
    this.queues = all(found.queues);
    this.windows = all(found.windows);
  }

  covers(at) { return at >= this.from && at <= this.to; }

  // Calls `draw` for each packet and ACK under way: its hop, the part of the hop that it has gone (null
  // while it waits), what it is.
  packets(at, draw) {
    for (const lane of this.lanes) {
      const { sent, end, fate, again, len, hops } = lane;
      const fade = lane.back * 0.6;
      for (let i = upTo(sent, at) - 1, seen = 0; i >= 0 && sent[i] > at - lane.longest - fade - 0.001 && seen < 2000; i--, seen++) {
        const over = at - end[i];
        if (over > 0 && !(fate[i] === LOST && over < fade)) continue;
        if (Number.isNaN(end[i]) && at - sent[i] > lane.back * 4) continue;
        const place = this.place(lane, i, Math.min(at, Number.isNaN(end[i]) ? at : end[i]));
        if (place) draw({ lane, hop: hops[place.hop], part: place.part, again: again[i] === 1, lost: fate[i] === LOST && over >= 0 ? over / fade : -1, ack: false, length: len[i] });
      }
      for (let i = upTo(lane.ack_at, at + lane.back) - 1, seen = 0; i >= 0 && lane.ack_at[i] > at && seen < 1000; i--, seen++) {
        let left = lane.ack_at[i] - at; // until it is at the sender
        for (const hop of hops) {
          const takes = hop.delay + (HEADER * 8) / hop.rate;
          if (left <= takes) { draw({ lane, hop, part: left / takes, ack: true, again: false, lost: -1 }); break; }
          left -= takes;
        }
      }
    }
  }

  place(lane, i, at) {
    const { hops, slowest } = lane;
    const bits = (lane.len[i] + HEADER) * 8;
    const takes = (hop) => hop.delay + bits / hop.rate;
    let date = lane.sent[i];
    for (let h = 0; h < slowest; h++) {
      if (at < date + takes(hops[h])) return { hop: h, part: (at - date) / takes(hops[h]) };
      date += takes(hops[h]);
    }
    let leaves = Number.isNaN(lane.end[i]) ? date : lane.end[i];
    for (let h = slowest; h < hops.length; h++) leaves -= takes(hops[h]);
    if (lane.fate[i] === LOST) leaves = Infinity; // it got no further than this queue, or was lost before it
    leaves = Math.max(leaves, date);
    if (at < leaves) return { hop: slowest, part: null };
    date = leaves;
    for (let h = slowest; h < hops.length; h++) {
      if (at <= date + takes(hops[h]) + 1e-9) return { hop: h, part: Math.min((at - date) / takes(hops[h]), 1) };
      date += takes(hops[h]);
    }
    return null;
  }

  // All departures, arrivals and losses in order, for steps from one to the next.
  events() {
    if (this.ordered) return this.ordered;
    const found = [];
    for (const lane of this.lanes)
      for (let i = 0; i < lane.sent.length; i++) {
        found.push([lane.sent[i], lane, i, lane.again[i] ? "sends again" : "sends"]);
        if (!Number.isNaN(lane.end[i])) found.push([lane.end[i], lane, i, lane.fate[i] === LOST ? "loses" : "delivers"]);
      }
    found.sort((a, b) => a[0] - b[0]);
    this.ordered = found;
    this.dates = Float64Array.from(found, (it) => it[0]);
    return found;
  }

  // The event after or before a date; none at either end.
  step(at, direction) {
    const events = this.events();
    const next = upTo(this.dates, at + 1e-12);
    let index = direction > 0 ? next : next - 1;
    while (direction < 0 && index >= 0 && this.dates[index] >= at - 1e-12) index--;
    return events[index] ?? null;
  }
}

// The value of a step series at a date.
export const valueAt = (series, at) => {
  const index = upTo(series.t, at) - 1;
  return index < 0 ? 0 : series.v[index];
};
