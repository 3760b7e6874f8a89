// Requests to the server. Of each side one run is under way; what is turned meanwhile waits, and the
// newest goes next. A run that takes long is replaced: the server ends it for the newer one.

const LONG = 250; // ms

const slot = Math.random().toString(36).slice(2);

export const post = async (want, asked) => {
  let response;
  try {
    response = await fetch(`api/${want}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(asked),
    });
  } catch {
    return { status: 0, errors: [{ control: "", message: "The server does not answer: is `anabranch play` still running?" }] };
  }
  const found = await response.json();
  return { status: response.status, timing: response.headers.get("server-timing"), ...found };
};

export class Runner {
  constructor(side, done) {
    this.side = side;
    this.done = done;
    this.number = 0;
    this.busy = 0; // since when, or 0
    this.waiting = null;
  }

  // Runs the scenario with these changes, now or as soon as the run before has come.
  turn(scenario, changes, turned = performance.now()) {
    this.waiting = { scenario, changes: { ...changes }, turned };
    const left = this.busy ? LONG - (performance.now() - this.busy) : 0;
    if (left <= 0) this.next();
    else this.timer ??= setTimeout(() => { this.timer = undefined; if (this.waiting) this.next(); }, left);
  }

  async next() {
    const { scenario, changes, turned } = this.waiting;
    this.waiting = null;
    const number = ++this.number;
    this.busy = performance.now();
    const found = await post("run", { scenario, changes, slot: slot + this.side });
    if (number !== this.number) return; // a newer one is under way
    this.busy = 0;
    if (found.status !== 409) this.done(found, { scenario, changes, turned, came: performance.now() });
    if (this.waiting) this.next();
  }
}

export const packets = (side, scenario, changes, at) => post("packets", { scenario, changes, at_s: at, slot: slot + side });
