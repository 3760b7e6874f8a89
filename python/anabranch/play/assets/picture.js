// The network as a picture: hosts and routers, links, queues that fill, windows beside their hosts and
// packets on their way.
import { html, useEffect, useRef } from "./standalone.module.js";
import { PALETTE } from "./charts.js";
import { octets, rate, span } from "./format.js";
import { valueAt } from "./journeys.js";
import { colour, onTheme } from "./theme.js";

const BOX = { width: 66, height: 14, gap: 26 }; // of a queue, beside the node where it is
const NAMED = 7; // links with a label at most
const DENSE = 20; // nodes from which on they are drawn small

const layout = (picture, width, height) => {
  const narrow = width < 520;
  const pad = { x: narrow ? 44 : 80, top: 12, bottom: 22 };
  const places = new Map();
  for (const { name, x, y } of picture.nodes)
    places.set(name, [pad.x + x * (width - 2 * pad.x), pad.top + y * (height - pad.top - pad.bottom)]);
  return places;
};

const heightOf = (picture) => {
  const columns = new Map();
  for (const { x } of picture.nodes) columns.set(x, (columns.get(x) ?? 0) + 1);
  return Math.min(48 + 68 * Math.max(1, ...columns.values()), 440);
};

// The hop of a queue by the name of its direction: where its box stands.
const hopsOf = (picture) => {
  const hops = new Map();
  for (const flow of picture.flows)
    for (const way of Object.values(flow.ways))
      for (const [link, from, to, delay, bps] of way) hops.set(link, { link, from, to, delay, rate: bps });
  return hops;
};

const limitOf = (picture, name) => {
  const link = picture.links.find((it) => it.name === name || `${it.name}-reverse` === name);
  const found = /^(\d+) packets?$/.exec(link?.limit ?? "");
  return found ? Number(found[1]) : 0;
};

class Painter {
  constructor(canvas, picture, drawn) {
    this.canvas = canvas;
    this.picture = picture;
    this.drawn = drawn;
    this.hops = hopsOf(picture);
    this.colours = Object.fromEntries(["ink", "soft", "line", "card", "paper", "no", ...PALETTE].map((it) => [it, colour(it)]));
    this.flows = picture.flows.map((it) => it.name);
    const peak = drawn.queue.top;
    this.limits = new Map(drawn.queue.lines.map(({ name, top }) => [name, limitOf(picture, name) > 4 * peak ? Math.max(top, 10) : limitOf(picture, name) || top]));
    this.dense = picture.nodes.length > DENSE;
    this.resize();
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    this.width = Math.max(this.canvas.parentElement.clientWidth, 240);
    this.height = heightOf(this.picture);
    this.canvas.width = this.width * ratio;
    this.canvas.height = this.height * ratio;
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.pen = this.canvas.getContext("2d");
    this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.places = layout(this.picture, this.width, this.height);
  }

  tint(flow) {
    const index = Math.max(this.flows.indexOf(flow), 0);
    return this.colours[PALETTE[index % PALETTE.length]];
  }

  // A point of a hop, `part` of the way; data keeps right, ACKs left.
  point(hop, part, aside = 0) {
    const [x0, y0] = this.places.get(hop.from);
    const [x1, y1] = this.places.get(hop.to);
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const [nx, ny] = [-(y1 - y0) / length, (x1 - x0) / length];
    return [x0 + (x1 - x0) * part + nx * aside, y0 + (y1 - y0) * part + ny * aside];
  }

  draw(at, journeys) {
    const { pen } = this;
    pen.clearRect(0, 0, this.width, this.height);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    this.links();
    this.queues(at, journeys);
    if (journeys?.covers(at)) journeys.packets(at, (packet) => this.packet(packet));
    this.nodes();
    this.windows(at, journeys);
  }

  links() {
    const { pen, colours } = this;
    const slowest = Math.min(...this.picture.links.map((it) => it.rate_bps));
    const ranked = [...this.picture.links].sort((a, b) => a.rate_bps - b.rate_bps || b.delay_s - a.delay_s);
    const shown = new Set(this.dense ? [] : ranked.filter((it, at) => at < NAMED && (it.named || it.rate_bps < 5 * slowest || it.delay_s > 0.01)));
    for (const link of this.picture.links) {
      const [from, to] = link.ends;
      if (!this.places.has(from) || !this.places.has(to)) continue;
      const [x0, y0] = this.places.get(from);
      const [x1, y1] = this.places.get(to);
      pen.strokeStyle = colours.line;
      pen.lineWidth = link.rate_bps <= slowest * 1.01 ? 3 : 1.5;
      pen.beginPath();
      pen.moveTo(x0, y0);
      pen.lineTo(x1, y1);
      pen.stroke();
      if (!shown.has(link)) continue;
      pen.fillStyle = colours.soft;
      pen.textAlign = "center";
      const text = link.rate_bps >= 5e8 && !link.named ? span(link.delay_s) : `${rate(link.rate_bps)}, ${span(link.delay_s)}`;
      this.label(text, (x0 + x1) / 2, (y0 + y1) / 2 + (this.width < 520 ? 30 : 22));
    }
  }

  label(text, x, y) {
    const { pen, colours } = this;
    const width = pen.measureText(text).width;
    const kept = pen.fillStyle;
    pen.fillStyle = colours.card;
    pen.fillRect(x - width / 2 - 2, y - 8, width + 4, 16);
    pen.fillStyle = kept;
    pen.fillText(text, x, y);
  }

  queues(at, journeys) {
    const { pen, colours } = this;
    for (const line of this.drawn.queue.lines) {
      const hop = this.hops.get(line.name);
      if (!hop || !this.places.has(hop.from) || line.top < 2) continue;
      const exact = journeys?.covers(at) ? journeys.queues.get(line.name) : null;
      const value = exact ? valueAt(exact, at) : this.sample(line, at);
      const [x, y, width] = this.box(hop);
      const full = Math.min(value / (this.limits.get(line.name) || 1), 1);
      pen.fillStyle = colours.card;
      pen.fillRect(x, y, width, BOX.height);
      pen.fillStyle = colours[line.colour];
      pen.fillRect(x + width * (1 - full), y, width * full, BOX.height);
      pen.strokeStyle = colours.soft;
      pen.lineWidth = 1;
      pen.strokeRect(x + 0.5, y + 0.5, width - 1, BOX.height - 1);
      pen.fillStyle = colours.ink;
      pen.textAlign = "center";
      pen.fillText(`${Math.round(value)} waiting`, x + width / 2, y - 8);
    }
  }

  // Left upper corner and width of a queue's box: beside its node, above the link, no longer than it.
  box(hop) {
    const [x, y] = this.places.get(hop.from);
    const length = this.places.get(hop.to)[0] - x;
    const width = Math.min(BOX.width, Math.max(Math.abs(length) - 2 * BOX.gap, 26));
    return [length >= 0 ? x + BOX.gap : x - BOX.gap - width, y - BOX.height - 8, width];
  }

  sample(line, at) {
    const index = Math.min(Math.floor((at / this.drawn.queue.end) * line.values.length), line.values.length - 1);
    const value = line.values[Math.max(index, 0)];
    return Number.isFinite(value) ? value : 0;
  }

  packet({ lane, hop, part, again, lost, ack }) {
    const { pen, colours } = this;
    if (!this.places.has(hop.from) || !this.places.has(hop.to)) return;
    if (part === null && lost < 0) return; // it waits: the box is that much fuller
    if (lost >= 0) {
      const [left, top] = this.box(hop);
      const [x, y] = part === null ? [left + 4, top + 30 + lost * 22] : this.point(hop, part, 6 + lost * 22);
      pen.strokeStyle = colours.no;
      pen.lineWidth = 2;
      pen.globalAlpha = 1 - lost;
      pen.beginPath();
      pen.moveTo(x - 4, y - 4); pen.lineTo(x + 4, y + 4);
      pen.moveTo(x + 4, y - 4); pen.lineTo(x - 4, y + 4);
      pen.stroke();
      pen.globalAlpha = 1;
      return;
    }
    const [x, y] = this.point(hop, part, ack ? 7 : -1);
    pen.fillStyle = this.tint(lane.flow);
    if (ack) { pen.fillRect(x - 1.5, y - 1.5, 3, 3); return; }
    pen.fillRect(x - 4, y - 3, 8, 6);
    if (again) { pen.strokeStyle = colours.no; pen.lineWidth = 1.5; pen.strokeRect(x - 5, y - 4, 10, 8); }
  }

  nodes() {
    const { pen, colours } = this;
    for (const { name, kind } of this.picture.nodes) {
      const [x, y] = this.places.get(name);
      if (this.dense && kind !== "host") { pen.fillStyle = colours.card; pen.strokeStyle = colours.soft; pen.beginPath(); pen.arc(x, y, 5, 0, 7); pen.fill(); pen.stroke(); continue; }
      const text = kind === "host" ? name : name.slice(0, 6);
      pen.font = kind === "host" ? "600 12px system-ui, sans-serif" : "10px system-ui, sans-serif";
      const half = kind === "host" ? Math.max(pen.measureText(text).width / 2 + 8, 22) : Math.max(pen.measureText(text).width / 2 + 5, 17);
      pen.fillStyle = colours.card;
      pen.strokeStyle = colours.soft;
      pen.lineWidth = 1.5;
      pen.beginPath();
      if (kind === "host") pen.roundRect(x - half, y - (this.dense ? 9 : 13), half * 2, this.dense ? 18 : 26, 5);
      else pen.arc(x, y, half, 0, 7);
      pen.fill();
      pen.stroke();
      pen.fillStyle = colours.ink;
      pen.textAlign = "center";
      pen.fillText(text, x, y);
      pen.font = "12px system-ui, sans-serif";
    }
  }

  windows(at, journeys) {
    if (this.dense) return;
    const { pen, colours } = this;
    const rows = new Map();
    const { top, lines } = this.drawn.cwnd;
    for (const line of lines) {
      const flow = this.picture.flows.find((it) => line.name === it.name || line.name.startsWith(`${it.name}.`));
      if (!flow || !this.places.has(flow.from)) continue;
      const exact = journeys?.covers(at) ? journeys.windows.get(line.name) : null;
      const value = exact ? valueAt(exact, at) : this.sample(line, at) * 1e3;
      const row = rows.get(flow.from) ?? 0;
      rows.set(flow.from, row + 1);
      if (row > 1 || !value) continue;
      const [cx, cy] = this.places.get(flow.from);
      const width = this.width < 520 ? 26 : 46;
      const x = Math.max(cx - 40, 2);
      const y = cy + 18 + row * 13;
      pen.fillStyle = colours.line;
      pen.fillRect(x, y, width, 8);
      pen.fillStyle = this.tint(flow.name);
      pen.fillRect(x, y, Math.min(width * (value / 1e3 / (top || 1)), width), 8);
      pen.fillStyle = colours.ink;
      pen.textAlign = "left";
      pen.fillText(octets(value), x + width + 5, y + 4);
    }
  }
}

export const Picture = ({ picture, drawn, journeys, clock }) => {
  const canvas = useRef(null);
  const painter = useRef(null);
  const now = useRef(null);
  now.current = journeys;
  useEffect(() => {
    if (picture.nodes.length === 0) return undefined;
    const made = () => { painter.current = new Painter(canvas.current, picture, drawn); painter.current.draw(clock.at, now.current); };
    made();
    const stops = [clock.follow((at) => painter.current.draw(at, now.current)), onTheme(made)];
    const seen = new ResizeObserver(() => {
      if (!canvas.current || Math.abs(canvas.current.parentElement.clientWidth - painter.current.width) < 1) return;
      painter.current.resize();
      painter.current.draw(clock.at, now.current);
    });
    seen.observe(canvas.current.parentElement);
    return () => { for (const stop of stops) stop(); seen.disconnect(); };
  }, [picture, drawn]);
  useEffect(() => { painter.current?.draw(clock.at, journeys); }, [journeys]);
  if (picture.nodes.length === 0) return html`<p class="empty">Too many hosts for a picture.</p>`;
  const hosts = picture.nodes.filter((it) => it.kind === "host").map((it) => it.name).join(", ");
  return html`<div class="picture"><canvas ref=${canvas} role="img" aria-label=${`The network: hosts ${hosts}; ${picture.links.length} links; flows ${picture.flows.slice(0, 8).map((it) => `${it.name} from ${it.from} to ${it.to}`).join(", ")}`}></canvas></div>`;
};
