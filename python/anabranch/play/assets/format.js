// Numbers as people read them.

export const significant = (value, digits = 3) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const shown = Number(value.toPrecision(digits));
  return Math.abs(shown) >= 1e6 ? shown.toLocaleString("en") : String(shown);
};

export const octets = (value) => {
  if (!Number.isFinite(value)) return "–";
  if (value >= 1e9) return `${significant(value / 1e9)} GB`;
  if (value >= 1e6) return `${significant(value / 1e6)} MB`;
  if (value >= 1e3) return `${significant(value / 1e3)} kB`;
  return `${Math.round(value)} B`;
};

export const rate = (bps) => {
  if (bps >= 1e9) return `${significant(bps / 1e9)} Gbit/s`;
  if (bps >= 1e6) return `${significant(bps / 1e6)} Mbit/s`;
  return `${significant(bps / 1e3)} kbit/s`;
};

export const span = (seconds) => {
  if (!Number.isFinite(seconds)) return "–";
  if (seconds >= 1) return `${significant(seconds)} s`;
  if (seconds >= 1e-3) return `${significant(seconds * 1e3)} ms`;
  return `${significant(seconds * 1e6)} µs`;
};

// A path of a flow over several interfaces, without the names of hosts: `phone x-wifi`.
export const lane = (name) => {
  const at = name.indexOf(".");
  return at < 0 ? name : `${name.slice(0, at)} ${name.slice(at + 1).replace(/[\w-]+\./g, "")}`;
};
