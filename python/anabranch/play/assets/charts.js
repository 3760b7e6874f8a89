// Four charts of one side: rates, windows, queues, round-trip times. Zoom and cursor go together.
import { html, useEffect, useRef } from "./standalone.module.js";
import { decode } from "./columns.js";
import { lane, significant } from "./format.js";
import { colour, onTheme } from "./theme.js";

export const PALETTE = ["c0", "c1", "c2", "c3", "c4", "c5", "c6"];
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const STYLES = ["solid", "dashed", "dotted", "double"]; // of their samples in legends and tables
const MOST = 16; // lines of a chart
const NAMED = 8; // lines that a chart names; the table of flows has the looks of all

// The colour and the dash of the flow of this number, or of its path.
const looks = (index, path = 0) => ({ colour: PALETTE[index % PALETTE.length], dash: (path + Math.floor(index / PALETTE.length)) % DASHES.length });

// How a line of the flow of this number is drawn in a table: its colour and the style of its border.
export const sample = (index) => { const { colour, dash } = looks(index); return [colour, STYLES[dash]]; };

const KINDS = [
  { what: "rate", title: "Data arriving at receivers", unit: "Mbit/s", scale: 1 },
  { what: "cwnd", title: "Congestion window", unit: "kB", scale: 1e-3 },
  { what: "queue", title: "Queue", unit: "packets", scale: 1 },
  { what: "rtt", title: "Smoothed round-trip time", unit: "ms", scale: 1e3 },
];

// Lines of a chart, decoded once for each result.
const lines = (kind, series) => Object.entries(series[kind.what] ?? {}).slice(0, MOST).map(([name, text]) => {
  const values = decode(text);
  const scaled = new Float64Array(values.length);
  let top = 0;
  for (let i = 0; i < values.length; i++) {
    scaled[i] = values[i] * kind.scale;
    if (scaled[i] > top) top = scaled[i];
  }
  return { name, values: scaled, top };
});

// The most that a flow can receive for long: the slowest links of its ways together. What comes in order at
// once, when a hole is filled, would flatten all else.
const mostRate = (picture) => Math.max(0, ...picture.flows.map((flow) => {
  const slowest = new Map();
  for (const way of Object.values(flow.ways)) {
    const hop = way.reduce((best, it) => (it[4] < best[4] ? it : best));
    slowest.set(hop[0], hop[4]);
  }
  return [...slowest.values()].reduce((sum, it) => sum + it, 0) / 1e6;
}));

// Series in an order that no result changes, so that each keeps its colour and dash in all charts and runs:
// the paths of each flow by name, the queues of named links before others.
const orderOf = (result) => {
  const paths = new Map();
  for (const name of new Set(KINDS.filter((it) => it.what !== "queue").flatMap((it) => Object.keys(result.series[it.what] ?? {})))) {
    const flow = name.split(".")[0];
    paths.set(flow, [...(paths.get(flow) ?? []), name]);
  }
  for (const names of paths.values()) names.sort((a, b) => a.localeCompare(b, undefined, { numeric: true }));
  const seen = new Set(result.links.map((it) => it.link));
  const links = result.picture.links.filter((it) => seen.has(it.name));
  const ranked = [...links.filter((it) => it.named), ...links.filter((it) => !it.named)].map((it) => it.name);
  return { paths, queues: [...new Set([...ranked, ...seen])] };
};

// What is drawn of a result: for each chart its dates, lines and largest value.
export const prepared = (result) => {
  const { series } = result;
  const flows = result.flows.map((it) => it.flow);
  const sizes = new Set(result.flows.map((it) => it.segment));
  const order = orderOf(result);
  const [segment] = sizes.size === 1 ? sizes : [null]; // octets of a segment, if all flows have the same
  return Object.fromEntries(KINDS.map((kind) => {
    const count = kind.what === "rate" ? series.rates : series.samples;
    const dates = new Float64Array(count);
    for (let i = 0; i < count; i++) dates[i] = ((i + 1) * series.end_s) / count;
    const found = lines(kind, series);
    for (const line of found) {
      const flow = line.name.split(".")[0];
      const index = kind.what === "queue" ? order.queues.indexOf(line.name) + 4 : Math.max(flows.indexOf(flow), 0);
      const path = kind.what === "queue" ? 0 : order.paths.get(flow).indexOf(line.name);
      line.rank = [index, path];
      const { colour, dash } = looks(index, path);
      line.colour = colour;
      line.dash = DASHES[dash];
      line.label = kind.what === "queue" ? line.name : lane(line.name);
    }
    found.sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]);
    let top = Math.max(0, ...found.map((it) => it.top));
    if (kind.what === "rate" && !series.arrivals) top = Math.min(top, 1.15 * (mostRate(result.picture) || top));
    const title = kind.what === "rate" && !series.arrivals ? "Data received in order" : kind.title;
    return [kind.what, { title, dates, lines: found, top, end: series.end_s, segment: kind.what === "cwnd" ? segment : null }];
  }));
};

const shapeOf = (chart) => [chart.segment, ...chart.lines.map((it) => `${it.label}|${it.colour}|${it.dash}`)].join("\n");

const options = (kind, chart, top, width, height, sync) => {
  const [ink, soft, grid] = ["ink", "soft", "line"].map(colour);
  const segments = chart.segment ? 1e3 / chart.segment : 0; // in a kB
  const told = (kB) => `${significant(kB)}${segments ? ` (${significant(kB * segments)} segments)` : ""}`;
  const axis = { stroke: soft, font: "12px system-ui, sans-serif", grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
  return {
    width,
    height,
    scales: {
      x: { time: false },
      y: { range: () => [0, top.value * 1.05 || 1] },
      ...(segments ? { segments: { from: "y", range: (_u, low, high) => [low * segments, high * segments] } } : {}),
    },
    axes: [
      { ...axis, size: 30, values: (_u, ticks) => ticks.map((it) => `${significant(it, 6)} s`) },
      { ...axis, size: 48, values: (_u, ticks) => ticks.map((it) => significant(it, 4)) },
      ...(segments ? [{ ...axis, scale: "segments", side: 1, size: 40, grid: { show: false }, values: (_u, ticks) => ticks.map((it) => significant(it, 4)) }] : []),
    ],
    cursor: { sync: { key: sync, scales: ["x", null] }, drag: { x: true, y: false }, points: { size: 5 } },
    legend: { show: chart.lines.length <= NAMED, live: true, markers: { width: 3, dash: (_u, at) => STYLES[DASHES.indexOf(chart.lines[at - 1]?.dash)] ?? "solid" } },
    series: [
      { label: "time", value: (_u, at) => (at === null ? "" : `${significant(at, 5)} s`) },
      ...chart.lines.map((line) => ({
        label: line.label,
        stroke: colour(line.colour),
        width: 1.6,
        dash: line.dash,
        points: { show: false },
        value: (_u, at) => (at === null || Number.isNaN(at) ? "" : told(at)),
        ...(kind.what === "rate" ? { paths: uPlot.paths.stepped({ align: -1 }) } : {}),
      })),
    ],
    focus: { alpha: 1 },
    stroke: ink,
  };
};

// One chart; it is made anew only when its lines are others.
const Chart = ({ kind, chart, top, sync, clock }) => {
  const host = useRef(null);
  const plot = useRef(null);
  const shape = useRef("");
  const limit = useRef({ value: top });
  limit.current.value = top;
  const data = () => [chart.dates, ...chart.lines.map((it) => it.values)];
  const make = () => {
    plot.current?.destroy();
    const width = Math.max(host.current.clientWidth, 200);
    plot.current = new uPlot(options(kind, chart, limit.current, width, 170, sync), data(), host.current);
    const { over } = plot.current;
    const head = over.appendChild(document.createElement("div"));
    head.className = "playhead";
    over.addEventListener("click", (event) => {
      const x = plot.current.posToVal(event.offsetX, "x");
      if (Number.isFinite(x)) clock.set(x);
    });
    shape.current = shapeOf(chart);
  };
  useEffect(() => {
    if (plot.current && shape.current === shapeOf(chart)) plot.current.setData(data());
    else make();
  }, [chart, top]);
  useEffect(() => {
    const remade = () => { if (host.current) make(); };
    const stop = onTheme(remade);
    const seen = new ResizeObserver(() => {
      const width = host.current?.clientWidth;
      if (plot.current && width > 0 && Math.abs(width - plot.current.width) > 1) plot.current.setSize({ width, height: 170 });
    });
    seen.observe(host.current);
    return () => { stop(); seen.disconnect(); plot.current?.destroy(); };
  }, []);
  useEffect(() => clock.follow((at) => {
    const head = plot.current?.over.querySelector(".playhead");
    if (!head) return;
    const x = plot.current.valToPos(at, "x");
    head.style.transform = `translateX(${x}px)`;
    head.hidden = !(x >= 0 && x <= plot.current.over.clientWidth);
  }), [chart]);
  const means = chart.lines.slice(0, 6).map((it) => `${it.label} up to ${significant(it.top)} ${kind.unit}`).join(", ");
  return html`
    <figure class="chart" data-chart=${kind.what}>
      <figcaption>${chart.title} <span class="soft">(${kind.unit}${chart.segment ? `; at the right segments of ${chart.segment} bytes` : ""})</span></figcaption>
      <div class="plot" role="img" aria-label=${`${chart.title} over time: ${means || "nothing"}`} ref=${host}></div>
      ${chart.lines.length > NAMED ? html`<p class="note">${chart.lines.length} lines${chart.lines.length === MOST ? " at most" : ""}: the table of flows has the colour and the dash of each.</p>` : null}
      ${chart.lines.length === 0 ? html`<p class="empty">Nothing waited.</p>` : null}
    </figure>`;
};

export const Charts = ({ side, drawn, tops, clock }) => html`
  <div class="charts">
    ${KINDS.map((kind) => html`<${Chart} key=${kind.what} kind=${kind} chart=${drawn[kind.what]} top=${tops[kind.what]} sync=${`run-${side}`} clock=${clock} />`)}
  </div>`;
