"use strict";
// Charts over uPlot: it has the axes, the scales, the selection and the cursor; series are drawn
// here, because each has dates of its own, and packets are more than lines.
(() => {
  const decode = (text) => {
    const octets = Uint8Array.from(atob(text.slice(3)), (c) => c.charCodeAt(0));
    return text.startsWith("u4:") ? new Uint32Array(octets.buffer) : new Float64Array(octets.buffer);
  };
  const PER_PIXEL = devicePixelRatio || 1;
  const STEP = 0.2; // of the visible range, for one key or button
  const ZOOM = 1.6;
  const KEYS = {
    ArrowLeft: (c) => c.pan(-STEP), ArrowRight: (c) => c.pan(STEP), ArrowUp: (c) => c.panY(STEP), ArrowDown: (c) => c.panY(-STEP),
    "+": (c) => c.zoom(1 / ZOOM), "=": (c) => c.zoom(1 / ZOOM), "-": (c) => c.zoom(ZOOM), "0": (c) => c.reset(), Home: (c) => c.reset(),
    "[": (c) => c.zoomY(ZOOM), "]": (c) => c.zoomY(1 / ZOOM), ",": (c) => c.step(-1), ".": (c) => c.step(1),
  };
  const DASHES = [[], [7, 4], [8, 3, 2, 3], [2, 3]]; // by the number of a dash
  const MARKS = ["circle", "square", "triangle", "diamond"];
  const CAPS = 1; // the mark of strokes with caps at both ends
  const FONT = "12px system-ui, sans-serif";
  const TITLE = 13 / 12; // of the name of an axis, whose letters are larger
  const LETTER = 7; // pixels of a letter of a name, about
  const LINE = 18; // pixels of a line of a name
  const LINES = 3; // of a name at most
  const APART = 8; // pixels between two names at least
  const TICK = 15; // pixels of a tick and the gap before its name
  const NAMES = 0.35; // of the width at most for names beside lanes; longer ones stand above their lanes
  const LANE = 36; // pixels of a lane with its name above
  const NUMBERS = 34; // pixels of the numbers below the horizontal axis, with their ticks
  const UNDER = 0.65; // of the height of a bar: what is left of it below its lane's name
  const EDGE = 0.42; // of a lane: from its middle down to its lower edge
  const LOWER = 0.2; // of a lane: what is drawn below its name is moved by so much
  const NEAR = 6; // pixels from the cursor to an event that it names
  const PARTS = 6; // of what is read at the cursor at most
  const LASTING = ["spans", "ticks"]; // kinds that charts of lanes have
  const POINTS = ["points", "columns", "marks", "bands"]; // kinds that have values at some places alone
  const linked = new Map(); // charts that share their x range, by the name of the link
  const all = [];

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  // The strokes over the key of columns that share their colour with others.
  const hatched = ({ kind, dash }) => {
    if (kind !== "columns" || !dash) return [];
    return dash === 3 ? ["M9 4h3M15 4h3M9 9h3M15 9h3"] : ["M6 12l8-12M14 12l8-12", ...(dash === 2 ? ["M6 0l8 12M14 0l8 12"] : [])];
  };
  // A series as the legend shows it: its colour, dash and mark.
  const swatch = (trace) => {
    const space = "http://www.w3.org/2000/svg";
    const made = (name, attributes) => {
      const node = document.createElementNS(space, name);
      for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
      return node;
    };
    const svg = made("svg", { class: "swatch", viewBox: "0 0 28 12", "aria-hidden": "true" });
    svg.style.color = `var(--c${trace.colour})`;
    if (["columns", "spans", "bands"].includes(trace.kind)) svg.append(made("rect", { x: 6, y: 0, width: 16, height: 12, fill: "currentColor", opacity: trace.opacity ?? 1 }), ...hatched(trace).map((d) => made("path", { d, stroke: "var(--card)", "stroke-width": 1.5 })));
    else if (trace.kind === "marks") svg.append(made("path", { d: mark(MARKS[trace.mark || 0], 14, 6, 4), fill: "currentColor" }));
    else if (trace.kind === "dots") svg.append(made("circle", trace.mark ? { cx: 14, cy: 6, r: 3.2, fill: "none", stroke: "currentColor", "stroke-width": 1.6 } : { cx: 14, cy: 6, r: 3, fill: "currentColor" }));
    else if (trace.kind === "crosses") svg.append(made("path", { d: "M10 2l8 8M10 10l8-8", stroke: "currentColor", "stroke-width": 2 }));
    else if (trace.kind === "ticks") svg.append(made("path", { d: "M14 3v6", stroke: "currentColor", "stroke-width": 2 }));
    else if (trace.kind === "bars" && trace.mark === CAPS) svg.append(made("path", { d: "M9 1v10M5.5 1h7M5.5 11h7M19 1v10M15.5 1h7M15.5 11h7", stroke: "currentColor", "stroke-width": 1.6, fill: "none" }));
    else if (trace.kind === "bars") {
      svg.append(made("path", { d: trace.mark ? "M14 0v12" : "M9 1v10M14 1v10M19 1v10", stroke: "currentColor", "stroke-width": 2 }));
      if (trace.mark) svg.append(made("path", { d: mark(MARKS[trace.mark], 14, 6, 3.6), fill: "currentColor" }));
    }
    else {
      svg.append(made("path", { d: "M0 6h28", stroke: "currentColor", "stroke-width": 2, "stroke-dasharray": DASHES[trace.dash || 0].join(" ") || "none" }));
      if (trace.kind === "points") svg.append(made("path", { d: mark(MARKS[trace.mark || 0], 14, 6, 4), fill: "currentColor" }));
    }
    return svg;
  };
  // The outline of a mark, as a path of SVG and of the canvas alike.
  const mark = (shape, x, y, r) => {
    if (shape === "square") return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
    if (shape === "triangle") return `M${x} ${y - 1.2 * r}L${x + 1.15 * r} ${y + r}L${x - 1.15 * r} ${y + r}z`;
    if (shape === "diamond") return `M${x} ${y - 1.3 * r}L${x + 1.3 * r} ${y}L${x} ${y + 1.3 * r}L${x - 1.3 * r} ${y}z`;
    return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  };
  const ruler = document.createElement("canvas").getContext("2d");
  const wide = (name) => { ruler.font = FONT; return ruler.measureText(name).width; };
  const colour = (host, value) => {
    host.style.color = value;
    return getComputedStyle(host).color;
  };
  // The first index whose value is not below `at`; `xs` ascends.
  const search = (xs, at) => {
    let [low, high] = [0, xs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (xs[middle] < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const ascends = (xs) => {
    for (let i = 1; i < xs.length; i++) if (xs[i] < xs[i - 1]) return false;
    return true;
  };
  const SHORT = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const tick = (value) => {
    const size = Math.abs(value);
    for (const [unit, letter] of SHORT) if (size >= unit) return `${+(value / unit).toPrecision(5)}${letter}`;
    return size !== 0 && size < 1e-3 ? value.toExponential() : String(+value.toPrecision(6));
  };
  // The words of a name in lines of so many letters; a longer word has a line of its own.
  const wrapped = (name, letters) => name.split(" ").reduce((lines, word) => {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    return lines.length && longer.length > letters ? [...lines, word] : [...lines.slice(0, -1), longer];
  }, []);
  // The ticks of a logarithmic scale: the digits of each decade, or of less than two of them steps of one size.
  const digits = (min, max) => {
    const ticks = [];
    const take = (at) => { if (at >= min && at <= max) ticks.push(Number(at.toPrecision(12))); };
    for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); power++) for (let digit = 1; digit < 10; digit++) take(digit * 10 ** power);
    if (ticks.length > 1) return ticks;
    ticks.length = 0;
    const step = 10 ** Math.floor(Math.log10((max - min) / 2));
    for (let n = Math.ceil(min / step); n * step <= max; n++) take(n * step);
    return ticks;
  };
  // The ticks of a logarithmic scale that have a number: as many digits of each decade as are so many
  // pixels apart, or some of the decades.
  const told = (ticks, place, apart) => {
    const digit = (it) => Number(it.toExponential(0)[0]);
    const fit = (kept) => kept.every((it, n) => n === 0 || Math.abs(place(it) - place(kept[n - 1])) >= apart);
    const decades = ticks.filter((it) => digit(it) === 1);
    const sets = [[1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 5, 7], [1, 2, 5], [1]].map((digits) => ticks.filter((it) => digits.includes(digit(it))));
    for (let step = 2; step < decades.length; step++) sets.push(decades.filter((_, n) => n % step === 0));
    const kept = new Set(sets.find(fit) ?? decades.slice(0, 1));
    return ticks.map((it) => (kept.has(it) ? it : null));
  };
  // A number with so many digits, whole numbers whole.
  const short = (value, digits = 4) => {
    if (Number.isInteger(value)) return value.toLocaleString("en");
    const shown = +value.toPrecision(digits);
    return Math.abs(shown) >= 1e3 ? shown.toLocaleString("en") : String(shown);
  };
  // The unit of an axis, which ends its name in brackets, with a blank before it.
  const unit = (axis) => { const found = /\(([^() ]+)\)$/.exec(axis); return found ? ` ${found[1]}` : ""; };
  // Mean and interval with the same decimals: three digits of the mean, or more of a narrow interval.
  const estimate = (mean, low, high) => {
    const decimals = (value, digits) => (value ? digits - 1 - Math.floor(Math.log10(Math.abs(value))) : 0);
    const largest = Math.max(...[mean, low, high].map(Math.abs));
    const fine = Math.min(Math.max(decimals(mean, 3), decimals((high - low) / 2, 2)), decimals(largest, 4));
    const places = Math.max(0, Math.min(12, fine));
    const [a, b, c] = [mean, low, high].map((it) => it.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places }));
    return `${a} (${b} to ${c})`;
  };

  class Chart {
    constructor(figure, spec) {
      this.spec = spec;
      this.figure = figure;
      this.traces = spec.traces.map((it) => {
        const trace = { shown: true, ...it };
        for (const name of ["x", "y", "low", "high"]) if (it[name]) trace[name] = decode(it[name]);
        trace.sorted = ascends(trace.x);
        return trace;
      });
      this.group = ""; // of a chart with groups: the one that is shown, "" for all
      this.home = this.extent();
      this.view = { x: [...this.home], y: null };
      this.probe = element("span", { hidden: "" });
      this.build();
      this.recolour(false);
      this.start();
    }

    // What is shown

    visible(trace) { return trace.shown && (!this.group || !trace.group || trace.group === this.group); }

    extent() {
      if (this.spec.xlim) return this.spec.xlim;
      if (this.spec.xnames.length) return [-0.6, this.spec.xnames.length - 0.4];
      const log = this.spec.log.includes("x");
      let [low, high] = [Infinity, -Infinity];
      for (const trace of this.traces) for (const x of trace.x) if (Number.isFinite(x) && (x > 0 || !log)) { low = Math.min(low, x); high = Math.max(high, x); }
      if (low > high) return [0, 1];
      if (low === high) return log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
      if (log) return [low / 1.1, high * 1.1];
      // Dates begin where they begin; other quantities have some air.
      const air = this.spec.x.startsWith("time") ? 0.01 : 0.04;
      return [low - (high - low) * air, high + (high - low) * air];
    }

    // Indices of what may be seen between two values of x, one more at each end for the lines.
    range(trace, [low, high]) {
      if (!trace.sorted) return [0, trace.x.length];
      return [Math.max(search(trace.x, low) - 1, 0), Math.min(search(trace.x, high) + 1, trace.x.length)];
    }

    // The range of y that holds everything between two values of x.
    fit() {
      const log = this.spec.log.includes("y");
      const whole = this.view.x[0] <= this.home[0] && this.view.x[1] >= this.home[1];
      if (this.spec.ylim && whole) return this.spec.ylim;
      let [low, high] = [Infinity, -Infinity];
      const take = (y) => { if (Number.isFinite(y) && (y > 0 || !log)) { low = Math.min(low, y); high = Math.max(high, y); } };
      for (const trace of this.traces) {
        if (!this.visible(trace)) continue;
        const [from, to] = this.range(trace, this.view.x);
        const lines = trace.kind === "line" || trace.kind === "steps";
        for (let i = from; i < to; i++) {
          if (!lines && (trace.x[i] < this.view.x[0] || trace.x[i] > this.view.x[1])) continue;
          take(trace.y[i]);
          if (trace.low) take(trace.low[i]);
          if (trace.high) take(trace.high[i]);
        }
      }
      if (low > high) return log ? [1, 10] : [0, 1];
      if (log) return [low / 1.2, high * 1.2];
      if (this.spec.ynames.length) return this.above ? [-0.5, this.spec.ynames.length - 0.5] : [-0.5, this.spec.ynames.length - 0.7];
      if (this.traces.some((it) => it.kind === "columns")) [low, high] = [Math.min(low, 0), Math.max(high, 0)];
      if (low === high) return low === 0 ? [0, 1] : [Math.min(0, low * 1.1), Math.max(0, low * 1.1)];
      const air = (high - low) * 0.05;
      return [low >= 0 && low < high * 0.35 ? Math.min(0, low) : low - air, high + air];
    }

    // Building

    build() {
      const { title } = this.spec;
      const tool = (text, label, act) => {
        const button = element("button", { type: "button", "aria-label": `${label}: ${title}`, title: label }, text);
        button.addEventListener("click", act);
        return button;
      };
      this.tools = element("div", { class: "tools" },
        tool("+", "Zoom in", () => this.zoom(1 / ZOOM)), tool("\u2212", "Zoom out", () => this.zoom(ZOOM)),
        tool("\u2190", "Earlier or less", () => this.pan(-STEP)), tool("\u2192", "Later or more", () => this.pan(STEP)),
        tool("Reset", "Show everything", () => this.reset()));
      const groups = [...new Set(this.traces.map((it) => it.group).filter(Boolean))];
      if (groups.length > 1) this.tools.append(this.chooser(groups));
      this.legend = element("div", { class: "legend", role: "group", "aria-label": `Series of ${title}` });
      this.plot = element("div", { class: "plot", tabindex: "0", role: "group", "aria-label": `${title}. Arrow keys move, plus and minus zoom, 0 shows everything.`, "aria-keyshortcuts": "ArrowLeft ArrowRight + - 0" });
      this.readout = element("p", { class: "readout", "aria-live": "polite" });
      this.captions = { x: element("p", { class: "axis", hidden: "" }, this.spec.x), y: element("p", { class: "axis", hidden: "" }, this.spec.y) };
      const body = element("div", { class: "chart" }, element("p", { class: "title" }, title), this.tools, this.captions.y, this.plot, this.captions.x, this.readout, this.legend, this.probe);
      this.figure.prepend(body);
      this.list();
    }

    chooser(groups) {
      const select = element("select", { "aria-label": `Flow or path shown in ${this.spec.title}` }, element("option", { value: "" }, "all flows and paths"));
      for (const group of groups) select.append(element("option", { value: group }, group));
      select.addEventListener("change", () => { for (const it of this.peers()) it.only(select.value, groups); });
      return select;
    }

    only(group, groups) {
      const mine = new Set(this.traces.map((it) => it.group));
      // A chart of something else, such as a queue, goes on showing all of it.
      if (group && !mine.has(group) && ![...mine].some((it) => groups.includes(it))) return;
      this.group = group;
      const select = this.tools.querySelector("select");
      if (select) select.value = [...select.options].some((it) => it.value === group) ? group : "";
      this.list();
      this.apply();
    }

    list() {
      this.legend.replaceChildren();
      // A single series that is called as the chart needs no name of its own.
      if (this.traces.length === 1 && this.traces[0].name === this.spec.title) return;
      if (this.spec.series) this.legend.append(element("span", { class: "soft of" }, `${this.spec.series}:`));
      const rows = new Map(); // of a flow or path with several series its name stands once, before them
      const row = (group) => {
        if (!rows.has(group)) {
          rows.set(group, element("div", { class: "row" }, element("span", { class: "soft", "aria-hidden": "true" }, group)));
          this.legend.append(rows.get(group));
        }
        return rows.get(group);
      };
      for (const trace of this.traces) {
        if (trace.legend === false || (this.group && trace.group && trace.group !== this.group)) continue;
        const prefix = `${trace.group}: `;
        const within = trace.group && trace.name.startsWith(prefix);
        const name = within ? [element("span", { class: "sr" }, prefix), trace.name.slice(prefix.length)] : [trace.name];
        const button = element("button", { type: "button", "aria-pressed": String(trace.shown), title: trace.note || "Click to switch, double-click to see it alone" }, swatch(trace), ...name);
        button.addEventListener("click", () => this.toggle(trace));
        button.addEventListener("dblclick", () => this.alone(trace));
        trace.button = button;
        (within ? row(trace.group) : this.legend).append(button);
      }
    }

    toggle(trace) {
      trace.shown = !trace.shown;
      trace.button.setAttribute("aria-pressed", String(trace.shown));
      this.apply();
    }

    alone(trace) {
      for (const it of this.traces) {
        it.shown = it === trace;
        if (it.button) it.button.setAttribute("aria-pressed", String(it.shown));
      }
      this.apply();
    }

    start() {
      const { spec } = this;
      const axis = (name) => ({ ...(spec[name] ? { label: () => this.title(name), labelSize: 24 } : {}), stroke: () => this.ink, labelFont: "13px system-ui, sans-serif", font: FONT,
        grid: { stroke: () => this.lines, width: 1 }, ticks: { stroke: () => this.lines, width: 1 } });
      const logged = (name) => (spec.log.includes(name) ? { splits: (_, at, min, max) => digits(min, max), filter: (u, ticks) => told(ticks, (it) => u.valToPos(it, name), name === "x" ? 40 : 20) } : {});
      // A logarithmic scale shows what is asked for, and not whole decades.
      const scale = (name) => ({ time: false, auto: false, range: (_, min, max) => [min, max], distr: spec.log.includes(name) ? 3 : 1 });
      const values = (_, ticks) => ticks.map((value) => (value === null ? "" : tick(value)));
      // An axis of names has a tick at each, and no lines between.
      const lanes = spec.ynames.length ? { splits: () => [...spec.ynames.keys()], values: (_, ticks) => ticks.map((at) => (this.above ? "" : spec.ynames[at])), grid: { show: false } } : {};
      const names = spec.xnames.length ? { splits: () => this.named(), values: (_, ticks) => ticks.map((at) => this.names.shown[at]),
        rotate: () => this.names.angle, size: () => this.names.depth, grid: { show: false } } : {};
      const seen = (type) => type === "mousemove" || type === "mouseleave";
      const options = {
        ...this.fitted(Math.max(this.plot.clientWidth, 120)), legend: { show: false },
        scales: { x: scale("x"), y: scale("y") },
        axes: [{ ...axis("x"), size: NUMBERS, values, ...logged("x"), ...names }, { ...axis("y"), values, ...logged("y"), size: () => this.room(), ...lanes }],
        series: [{}, { scale: "y" }],
        cursor: { drag: { x: true, y: true, uni: 40, setScale: false }, points: { show: false }, bind: { dblclick: () => () => this.reset() },
          ...(spec.link ? { sync: { key: spec.link, setSeries: false, filters: { pub: seen, sub: seen }, scales: ["x", null] } } : {}) },
        hooks: { draw: [() => this.draw()], setSelect: [(u) => this.selected(u)], setCursor: [(u) => this.read(u)] },
      };
      this.u = new uPlot(options, [[...this.home], [null, null]], this.plot);
      if (spec.link) {
        if (!linked.has(spec.link)) linked.set(spec.link, []);
        linked.get(spec.link).push(this);
      }
      all.push(this);
      this.apply();
      this.listen();
      new ResizeObserver(() => {
        const width = this.plot.clientWidth;
        if (width > 0 && Math.abs(width - this.u.width) > 1) this.resize(width);
      }).observe(this.plot);
    }

    // The name of an axis; one that is longer than its axis stands as text beside the chart.
    title(name) {
      const long = name === "x" ? this.u.over.clientWidth : this.u.over.clientHeight;
      const fits = wide(this.spec[name]) * TITLE <= long;
      this.captions[name].hidden = fits;
      return fits ? this.spec[name] : "";
    }

    // Pixels of the names beside the lanes, of numbers beside the axis.
    room() {
      if (this.above) return 8;
      return this.spec.ynames.length ? TICK + APART + Math.max(...this.spec.ynames.map(wide)) : 58;
    }

    // The size at a width, with room for the names of both axes.
    fitted(width) {
      const { height } = this.size(width);
      if (!this.spec.xnames.length) return { width, height };
      this.names = this.arranged(width);
      return { width, height: height + this.names.depth - LINE - TICK };
    }

    // How the names of the horizontal axis stand at a width so that none touch: in lines below each
    // other, slanted, or upright; `room` is what each takes along the axis.
    arranged(width) {
      const names = this.spec.xnames;
      const before = this.room() + (this.spec.y ? 24 : 0);
      const each = (width - before - 2 * APART) / (this.home[1] - this.home[0]);
      const letters = Math.floor((each - APART) / LETTER);
      const lines = names.map((it) => wrapped(it, letters));
      const high = Math.max(...lines.map((it) => it.length));
      if (high <= LINES && lines.flat().every((it) => it.length <= letters))
        return { shown: lines.map((it) => it.join("\n")), room: Math.max(...lines.flat().map((it) => it.length)) * LETTER + APART, angle: 0, depth: TICK + high * LINE };
      const long = Math.max(...names.map((it) => it.length)) * LETTER;
      const slanted = long * Math.SQRT1_2;
      if (slanted <= before + 0.6 * each) return { shown: names, room: LINE * Math.SQRT2, angle: 45, depth: TICK + LINE + slanted };
      return { shown: names, room: LINE, angle: 90, depth: TICK + long };
    }

    // The names of the horizontal axis that there is room for in what is shown of it.
    named() {
      const each = (this.plot.clientWidth - this.room()) / (this.view.x[1] - this.view.x[0]);
      const step = Math.max(Math.ceil(this.names.room / each), 1);
      return [...this.spec.xnames.keys()].filter((at) => at % step === 0);
    }

    // The size at a width without the names of the horizontal axis, and where those of lanes stand then.
    size(width) {
      this.above = false;
      this.above = this.spec.ynames.length > 0 && this.room() > NAMES * width;
      if (this.above) return { width, height: Math.max(250, 60 + LANE * this.spec.ynames.length) };
      return { width, height: this.spec.tall ? Math.max(300, Math.min(480, innerHeight * 0.55)) : 250 };
    }

    resize(width) {
      this.u.setSize(this.fitted(width));
      this.apply();
    }

    // Moving

    peers() { return (this.spec.link && linked.get(this.spec.link)) || [this]; }

    apply() {
      const [min, max] = this.view.x;
      const [low, high] = this.view.y || this.fit();
      this.u.batch(() => {
        this.u.setScale("x", { min, max });
        this.u.setScale("y", { min: low, max: high });
      });
      this.u.redraw(false);
      this.plot.dataset.x = `${min} ${max}`;
      this.plot.dataset.y = `${low} ${high}`;
    }

    show(x, y) {
      if (!(x[1] > x[0]) || (x[1] - x[0]) / Math.max(Math.abs(x[0]), Math.abs(x[1])) < 1e-12) return;
      for (const it of this.peers()) {
        it.view = { x: [...x], y: it === this ? y : null };
        it.apply();
      }
    }

    // Both ends moved on the scale as it is drawn: linear or logarithmic.
    moved(ends, log, change) {
      const [a, b] = log ? ends.map(Math.log10) : ends;
      return change(a, b).map((value) => (log ? 10 ** value : value));
    }

    zoom(factor, at = 0.5) {
      const x = this.moved(this.view.x, this.spec.log.includes("x"), (a, b) => { const centre = a + (b - a) * at; return [centre + (a - centre) * factor, centre + (b - centre) * factor]; });
      this.show(x, null);
    }

    pan(share) { this.show(this.moved(this.view.x, this.spec.log.includes("x"), (a, b) => [a + (b - a) * share, b + (b - a) * share]), this.view.y); }

    changeY(change) {
      this.view.y = this.moved(this.view.y || this.fit(), this.spec.log.includes("y"), change);
      this.apply();
    }

    panY(share) { this.changeY((a, b) => [a + (b - a) * share, b + (b - a) * share]); }

    zoomY(factor) { this.changeY((a, b) => { const centre = (a + b) / 2; return [centre + (a - centre) * factor, centre + (b - centre) * factor]; }); }

    reset() { this.show(this.home, null); }

    // Charts that move together begin together.
    static join(charts) {
      const home = [Math.min(...charts.map((it) => it.home[0])), Math.max(...charts.map((it) => it.home[1]))];
      for (const it of charts) it.home = home;
      charts[0].reset();
    }

    selected(u) {
      const { left, top, width, height } = u.select;
      if (width <= 2 && height <= 2) return;
      const x = width > 2 ? [u.posToVal(left, "x"), u.posToVal(left + width, "x")] : this.view.x;
      const whole = height >= u.over.clientHeight - 1 || height <= 2;
      const y = whole ? null : [u.posToVal(top + height, "y"), u.posToVal(top, "y")];
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      this.show(x, y);
    }

    listen() {
      this.plot.addEventListener("keydown", (event) => {
        const act = KEYS[event.key];
        if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        act(this);
      });
      // The wheel scrolls the page unless the chart has the focus or Ctrl is held.
      this.plot.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && document.activeElement !== this.plot) return;
        event.preventDefault();
        const box = this.u.over.getBoundingClientRect();
        if (event.shiftKey) this.pan(Math.sign(event.deltaY || event.deltaX) * STEP);
        else this.zoom(event.deltaY > 0 ? ZOOM : 1 / ZOOM, (event.clientX - box.left) / box.width);
      }, { passive: false });
      this.fingers();
    }

    // One finger moves along x, two zoom; up and down scroll the page.
    fingers() {
      const down = new Map();
      const over = this.u.over;
      over.addEventListener("pointerdown", (event) => { if (event.pointerType === "touch") down.set(event.pointerId, event.clientX); });
      over.addEventListener("pointermove", (event) => {
        if (!down.has(event.pointerId)) return;
        const box = over.getBoundingClientRect();
        const before = [...down.values()];
        down.set(event.pointerId, event.clientX);
        const after = [...down.values()];
        if (after.length === 1) this.pan((before[0] - after[0]) / box.width);
        else {
          const [was, is] = [before, after].map(([a, b]) => Math.max(Math.abs(a - b), 10));
          this.zoom(was / is, ((after[0] + after[1]) / 2 - box.left) / box.width);
        }
      });
      for (const name of ["pointerup", "pointercancel", "pointerleave"]) over.addEventListener(name, (event) => down.delete(event.pointerId));
    }

    // The cursor

    step(way) {
      const width = this.u.over.clientWidth;
      const from = this.u.cursor.left >= 0 ? this.u.cursor.left : width / 2;
      this.u.setCursor({ left: Math.max(0, Math.min(width, from + way * Math.max(width / 100, 1))), top: this.u.over.clientHeight / 2 });
    }

    read(u) {
      if (!(u.cursor.left >= 0)) { this.readout.textContent = ""; return; }
      const found = this.traces.filter((it) => this.visible(it) && it.legend !== false);
      const read = this.spec.ynames.length && found.some((it) => LASTING.includes(it.kind)) ? this.happening(u, found) : this.values(u, found);
      this.readout.textContent = `${read.where}${read.parts.length ? ": " : ""}${read.parts.slice(0, PARTS).join(read.between)}${read.parts.length > PARTS ? ", ..." : ""}`;
    }

    // A value of x with as many digits as pixels tell apart, and its unit.
    told(at) {
      const pixel = (this.view.x[1] - this.view.x[0]) / this.u.over.clientWidth;
      const log = this.spec.log.includes("x");
      const text = log ? String(+at.toPrecision(4)) : at.toFixed(Math.max(0, Math.min(12, Math.ceil(-Math.log10(pixel)))));
      return `${text}${unit(this.spec.x)}`;
    }

    // What holds at the cursor, lane by lane from the one that it is on: bars that contain it, and
    // events within a few pixels, with what brought them about.
    happening(u, traces) {
      const at = u.posToVal(u.cursor.left, "x");
      const lanes = new Map();
      const say = (lane, what, date, text) => {
        if (!lanes.has(lane)) lanes.set(lane, []);
        lanes.get(lane).push(`${what} ${date}${text ? ` (${text})` : ""}`);
      };
      for (const { name, kind, x, y, high, texts } of traces) {
        for (let i = 0; i < x.length; i++) {
          if (kind === "spans") { if (x[i] <= at && at <= high[i]) say(y[i], name, `${short(x[i])} to ${short(high[i])} s`, texts?.[i]); }
          else if (Math.abs(u.valToPos(x[i], "x") - u.cursor.left) <= NEAR) say(y[i], name, `at ${short(x[i], 5)} s`, texts?.[i]);
        }
      }
      const here = u.posToVal(u.cursor.top, "y");
      const order = [...lanes.keys()].sort((a, b) => Math.abs(a - here) - Math.abs(b - here));
      return { where: this.told(at), parts: order.map((lane) => `${this.spec.ynames[lane]}: ${lanes.get(lane).join(", ")}`), between: "; " };
    }

    // The values at the cursor; of points, those of the point that is nearest.
    values(u, traces) {
      const names = this.spec.xnames;
      let at = u.posToVal(u.cursor.left, "x");
      let where = this.told(at);
      const points = traces.filter((it) => POINTS.includes(it.kind));
      if (names.length) {
        at = Math.max(0, Math.min(names.length - 1, Math.round(at)));
        where = names[at];
      } else if (points.length) {
        const away = (x) => Math.abs(u.valToPos(x, "x") - u.cursor.left);
        at = points.flatMap((it) => [...it.x]).filter(Number.isFinite).reduce((best, x) => (away(x) < away(best) ? x : best), Infinity);
        where = `${short(at)}${unit(this.spec.x)}`;
      }
      const parts = [];
      for (const trace of traces) {
        const text = this.value(u, trace, at);
        if (text) parts.push(`${trace.name} ${text}`);
      }
      return { where, parts, between: ", " };
    }

    // What a series has at a value of x, empty where that is nothing.
    value(u, trace, at) {
      const { kind, x, y, low, high, sorted } = trace;
      const name = (value) => this.spec.ynames[value] ?? `${short(value)}${unit(this.spec.y)}`;
      if (POINTS.includes(kind)) {
        const index = x.findIndex((it) => (this.spec.xnames.length ? Math.round(it) === at : it === at));
        if (index < 0 || !Number.isFinite(y[index])) return "";
        if (kind === "bands") return `${short(low[index])} to ${short(high[index])}${unit(this.spec.y)}`;
        return low && high && low[index] < high[index] ? `${estimate(y[index], low[index], high[index])}${unit(this.spec.y)}` : name(y[index]);
      }
      if (!sorted || !x.length) return "";
      const next = search(x, at);
      if (kind === "steps") {
        const index = x[next] === at ? next : next - 1;
        return index >= 0 && Number.isFinite(y[index]) ? name(y[index]) : "";
      }
      if (kind === "line") {
        if (x[next] === at) return name(y[next]);
        if (next === 0 || next === x.length) return "";
        const value = y[next - 1] + (y[next] - y[next - 1]) * (at - x[next - 1]) / (x[next] - x[next - 1]);
        return Number.isFinite(value) ? name(value) : "";
      }
      const away = (index) => Math.abs(u.valToPos(x[index] ?? Infinity, "x") - u.cursor.left);
      const near = away(next - 1) < away(next) ? next - 1 : next;
      return away(near) <= NEAR ? name(y[near]) : "";
    }

    // Drawing

    recolour(again = true) {
      this.ink = colour(this.probe, "var(--soft)");
      this.lines = colour(this.probe, "var(--line)");
      this.ground = colour(this.probe, "var(--card)");
      for (const trace of this.traces) trace.stroke = colour(this.probe, `var(--c${trace.colour})`);
      if (again) this.u.redraw(false, true);
    }

    mapping(name, from, length, flip) {
      const { min, max } = this.u.scales[name];
      const log = this.spec.log.includes(name);
      const [a, b] = log ? [Math.log10(min), Math.log10(max)] : [min, max];
      return (value) => { const share = ((log ? Math.log10(value) : value) - a) / (b - a); return from + (flip ? 1 - share : share) * length; };
    }

    draw() {
      const { ctx, bbox } = this.u;
      const at = this.mapping("y", bbox.top, bbox.height, true);
      const to = { x: this.mapping("x", bbox.left, bbox.width, false), y: this.above ? (value) => at(value - LOWER) : at };
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      let drawn = 0;
      for (const trace of this.traces) {
        if (!this.visible(trace)) continue;
        const [first, last] = this.range(trace, this.view.x);
        ctx.strokeStyle = ctx.fillStyle = trace.stroke;
        ctx.lineWidth = 1.4 * PER_PIXEL;
        ctx.setLineDash(DASHES[trace.dash || 0].map((it) => it * PER_PIXEL));
        ctx.beginPath();
        this[trace.kind](ctx, trace, first, last, to);
        ctx.stroke();
        drawn += last - first;
      }
      if (this.above) this.overLanes(ctx, bbox, at);
      ctx.restore();
      this.plot.dataset.drawn = drawn;
      this.plot.dataset.wide = Math.round(bbox.width / PER_PIXEL);
      this.plot.dataset.ticks = this.u.axes[0]._values?.filter(Boolean).length ?? 0;
    }

    // The names of lanes, each above its own.
    overLanes(ctx, bbox, at) {
      ctx.fillStyle = this.ink;
      ctx.font = `${12 * PER_PIXEL}px system-ui, sans-serif`;
      ctx.textAlign = "left";
      ctx.textBaseline = "top";
      this.spec.ynames.forEach((name, lane) => ctx.fillText(name, bbox.left + 4 * PER_PIXEL, at(lane + 0.5) + PER_PIXEL));
    }

    line(ctx, { x, y }, first, last, to) {
      let pen = false;
      for (let i = first; i < last; i++) {
        const [px, py] = [to.x(x[i]), to.y(y[i])];
        if (!Number.isFinite(py)) { pen = false; continue; }
        if (pen) ctx.lineTo(px, py);
        else ctx.moveTo(px, py);
        pen = true;
      }
    }

    steps(ctx, { x, y }, first, last, to) {
      let before = NaN;
      for (let i = first; i < last; i++) {
        const [px, py] = [to.x(x[i]), to.y(y[i])];
        if (Number.isFinite(before)) ctx.lineTo(px, before);
        if (Number.isFinite(py)) { if (Number.isFinite(before)) ctx.lineTo(px, py); else ctx.moveTo(px, py); }
        before = py;
      }
      if (Number.isFinite(before) && last > first) ctx.lineTo(Math.max(to.x(x[last - 1]), Math.min(to.x(this.home[1]), to.x(this.view.x[1]))), before);
    }

    dots(ctx, { x, y, mark: shape }, first, last, to) {
      const size = (last - first > 4000 ? 1.5 : 2.6) * PER_PIXEL;
      if (shape) {
        for (let i = first; i < last; i++) { const [px, py] = [to.x(x[i]), to.y(y[i])]; ctx.moveTo(px + size, py); ctx.arc(px, py, size, 0, 2 * Math.PI); }
        return;
      }
      for (let i = first; i < last; i++) ctx.fillRect(to.x(x[i]) - size / 2, to.y(y[i]) - size / 2, size, size);
    }

    crosses(ctx, { x, y }, first, last, to) {
      const size = 4 * PER_PIXEL;
      for (let i = first; i < last; i++) {
        const [px, py] = [to.x(x[i]), to.y(y[i])];
        ctx.moveTo(px - size, py - size); ctx.lineTo(px + size, py + size);
        ctx.moveTo(px - size, py + size); ctx.lineTo(px + size, py - size);
      }
    }

    // Strokes; of many, whose caps would touch, the strokes alone.
    bars(ctx, { x, y, high, mark: shape }, first, last, to) {
      const many = last - first > 2000;
      ctx.lineWidth = (many ? 1 : shape === CAPS ? 1.4 : 2) * PER_PIXEL;
      const cap = shape === CAPS && last - first <= 300 ? 2.5 * PER_PIXEL : 0;
      for (let i = first; i < last; i++) {
        const [px, from, until] = [to.x(x[i]), to.y(y[i]), to.y(high[i])];
        const upper = Math.min(until, from - PER_PIXEL);
        ctx.moveTo(px, from); ctx.lineTo(px, upper);
        for (const end of cap ? [from, upper] : []) { ctx.moveTo(px - cap, end); ctx.lineTo(px + cap, end); }
        if (shape && shape !== CAPS) ctx.fill(new Path2D(mark(MARKS[shape], px, (from + upper) / 2, 3.4 * PER_PIXEL)));
      }
    }

    // What lasts, as a bar on its lane.
    spans(ctx, { x, y, high, width, opacity }, first, last, to) {
      const half = width / 2 * (this.above ? UNDER : 1);
      ctx.globalAlpha = opacity ?? 1;
      for (let i = 0; i < x.length; i++) {
        const [left, right, top, bottom] = [to.x(x[i]), to.x(high[i]), to.y(y[i] + half), to.y(y[i] - half)];
        ctx.fillRect(left, top, Math.max(right - left, 2 * PER_PIXEL), bottom - top);
      }
      ctx.globalAlpha = 1;
    }

    // Below the bars of the lane, so that many hide nothing.
    ticks(ctx, { x, y }, first, last, to) {
      const low = EDGE * (this.above ? UNDER : 1);
      for (let i = first; i < last; i++) { const [px, py] = [to.x(x[i]), to.y(y[i] - low)]; ctx.moveTo(px, py); ctx.lineTo(px, py - 5 * PER_PIXEL); }
    }

    marks(ctx, trace, first, last, to) {
      const { x, y, mark: shape } = trace;
      for (let i = first; i < last; i++) ctx.fill(new Path2D(mark(MARKS[shape || 0], to.x(x[i]), to.y(y[i]), (this.above ? 3.5 : 4.5) * PER_PIXEL)));
      this.intervals(ctx, trace, first, last, to);
    }

    points(ctx, trace, first, last, to) {
      const { x, y } = trace;
      this.line(ctx, trace, first, last, to);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.beginPath();
      for (let i = first; i < last; i++) ctx.fill(new Path2D(mark(MARKS[trace.mark || 0], to.x(x[i]), to.y(y[i]), 3.6 * PER_PIXEL)));
      this.intervals(ctx, trace, first, last, to);
    }

    columns(ctx, trace, first, last, to) {
      const { x, y, width } = trace;
      for (const fill of [trace.stroke, ...(trace.dash ? [this.hatching(ctx, trace.dash)] : [])]) {
        ctx.fillStyle = fill;
        for (let i = 0; i < x.length; i++) {
          const [left, right, top, zero] = [to.x(x[i] - width / 2), to.x(x[i] + width / 2), to.y(y[i]), to.y(0)];
          ctx.fillRect(left, Math.min(top, zero), right - left, Math.abs(zero - top));
        }
      }
      ctx.stroke();
      ctx.setLineDash([]);
      for (const [stroke, lineWidth] of [[this.ground, 4], [this.ink, 1.4]]) { // an edge, so that it is seen over a dark column
        ctx.beginPath();
        Object.assign(ctx, { strokeStyle: stroke, lineWidth: lineWidth * PER_PIXEL });
        this.intervals(ctx, trace, 0, x.length, to);
        ctx.stroke();
      }
      ctx.beginPath();
    }

    // What tells columns of one colour apart, in the colour of the ground: strokes, one way or both, or dots.
    hatching(ctx, dash) {
      const size = 8 * PER_PIXEL;
      const tile = element("canvas", { width: size, height: size });
      const pen = tile.getContext("2d");
      pen.strokeStyle = pen.fillStyle = this.ground;
      pen.lineWidth = 1.5 * PER_PIXEL;
      if (dash === 3) pen.fillRect(size / 4, size / 4, size / 3, size / 3);
      else {
        for (const way of dash === 2 ? [1, -1] : [1]) for (const at of [-size, 0, size]) { pen.moveTo(at, way > 0 ? size : 0); pen.lineTo(at + size, way > 0 ? 0 : size); }
        pen.stroke();
      }
      return ctx.createPattern(tile, "repeat");
    }

    // From `low` to `high`, behind what is drawn later.
    bands(ctx, { x, low, high, width, opacity }, first, last, to) {
      ctx.globalAlpha = opacity ?? 1;
      for (let i = 0; i < x.length; i++) {
        const [left, right, top, bottom] = [to.x(x[i] - width / 2), to.x(x[i] + width / 2), to.y(high[i]), to.y(low[i])];
        ctx.fillRect(left, top, right - left, bottom - top);
      }
      ctx.globalAlpha = 1;
    }

    intervals(ctx, { x, low, high }, first, last, to) {
      const size = 3 * PER_PIXEL;
      for (let i = first; low && high && i < last; i++) {
        const px = to.x(x[i]);
        for (const end of [low[i], high[i]]) { ctx.moveTo(px - size, to.y(end)); ctx.lineTo(px + size, to.y(end)); }
        ctx.moveTo(px, to.y(low[i])); ctx.lineTo(px, to.y(high[i]));
      }
    }
  }

  addEventListener("anabranch-theme", () => all.forEach((it) => it.recolour()));
  addEventListener("DOMContentLoaded", () => {
    const data = document.getElementById("charts");
    if (!data) return;
    const specs = JSON.parse(data.textContent);
    const make = (figure) => { figure.removeAttribute("data-waits"); new Chart(figure, specs[figure.dataset.chart]); };
    const soon = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) { soon.unobserve(target); make(target); }
    }, { rootMargin: "600px" });
    // Paper has no scrolling: everything is drawn before it is printed, in the colours of paper.
    addEventListener("beforeprint", () => {
      for (const figure of document.querySelectorAll("[data-waits]")) { soon.unobserve(figure); make(figure); }
      document.documentElement.dataset.printing = "";
      all.forEach((it) => { it.resize(Math.min(it.u.width, 640)); it.recolour(); });
    });
    addEventListener("afterprint", () => {
      delete document.documentElement.dataset.printing;
      all.forEach((it) => { it.resize(it.plot.clientWidth); it.recolour(); });
    });
    for (const figure of document.querySelectorAll("[data-chart]")) {
      if (specs[figure.dataset.chart].link) make(figure); // they move together: all at once
      else { figure.setAttribute("data-waits", ""); figure.style.minHeight = "20rem"; soon.observe(figure); }
    }
    for (const charts of linked.values()) Chart.join(charts);
    document.documentElement.dataset.ready = "";
  });
})();
