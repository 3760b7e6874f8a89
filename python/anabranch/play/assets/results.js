// What came of a run, in numbers: a row for each flow, a row for each busy link.
import { html } from "./standalone.module.js";
import { sample } from "./charts.js";
import { lane, significant, span } from "./format.js";

const MOST = 16; // as many as a chart has lines
const SHORT = 12; // letters of a name that stands in one line on a phone, too
const whole = (name) => (name.length <= SHORT ? "whole" : "");

const Swatch = ({ index }) => {
  const [colour, style] = sample(index);
  return html`<span class=${`swatch ${colour}`} style=${{ borderTopStyle: style }}></span>`;
};

// What flows and their paths have in common.
const cells = (row, total, done) => html`
  <td class="n">${significant(row.mbps)}</td><td class="n">${total > 0 && row.mbps !== null ? `${Math.round((row.mbps / total) * 100)} %` : "–"}</td>
  ${done}<td class="n">${row.resent.toLocaleString("en")}</td><td class="n">${row.timeouts}</td><td class="n">${row.rtt_s === null ? "–" : span(row.rtt_s)}</td>`;

export const Results = ({ result }) => {
  const total = result.flows.reduce((sum, it) => sum + it.mbps, 0);
  const ends = result.flows.some((it) => it.finish_s !== null);
  const named = new Set(result.picture.links.filter((it) => it.named).map((it) => it.name));
  const links = result.links.filter((it) => it.used > 0.02 || it.dropped > 0 || named.has(it.link)).slice(0, 4);
  return html`
    <div class="tables">
      <table class="flows"><caption class="sr">Flows</caption>
        <thead><tr><th scope="col">flow</th><th scope="col" class="n" title="of flows that go on the mean over the second half of the run">Mbit/s</th><th scope="col" class="n">share</th>${ends ? html`<th scope="col" class="n">done</th>` : null}<th scope="col" class="n">sent again</th><th scope="col" class="n">timeouts</th><th scope="col" class="n" title="smoothed, mean over the second half of the run">mean RTT</th></tr></thead>
        <tbody>${result.flows.slice(0, MOST).map((flow, index) => html`
          <tr key=${flow.flow}><th scope="row" class=${whole(flow.flow)}><${Swatch} index=${index} />${flow.flow}</th>
            ${cells(flow, total, ends ? html`<td class="n">${flow.finish_s === null ? "–" : span(flow.finish_s)}</td>` : null)}</tr>
          ${flow.paths.map((path) => html`<tr key=${path.path} class="path"><th scope="row" class=${whole(lane(path.path))}>${lane(path.path)}</th>${cells(path, total, ends ? html`<td></td>` : null)}</tr>`)}`)}
        </tbody>
      </table>
      ${result.flows.length > MOST ? html`<p class="soft">and ${result.flows.length - MOST} more</p>` : null}
      <table class="links"><caption class="sr">Links</caption>
        <thead><tr><th scope="col">link</th><th scope="col" class="n">used</th><th scope="col" class="n">dropped</th><th scope="col" class="n">marked</th><th scope="col" class="n" title="packets that wait, mean over the second half of the run">mean queue</th></tr></thead>
        <tbody>${links.map((link) => html`
          <tr key=${link.link}><th scope="row" class=${whole(link.link)}>${link.link}</th><td class="n">${(link.used * 100).toFixed(1)} %</td><td class="n">${link.dropped.toLocaleString("en")}</td><td class="n">${link.marked.toLocaleString("en")}</td><td class="n">${significant(link.queue, 3)}</td></tr>`)}
        </tbody>
      </table>
      <p class="note soft">Rates of flows that go on, mean RTTs and queues are those of the second half of the run, all other numbers those of the whole run.</p>
    </div>`;
};
