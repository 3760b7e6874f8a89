// The setting to take away: as a file, as a program, as an address.
import { html, useEffect, useRef, useState } from "./standalone.module.js";
import { post } from "./client.js";

const copied = async (text) => {
  try { await navigator.clipboard.writeText(text); return true; } catch { return false; }
};

export const Take = ({ scenario, changes, side, address }) => {
  const [shown, setShown] = useState(null);
  const [said, setSaid] = useState("");
  const dialog = useRef(null);
  useEffect(() => { if (shown && !dialog.current.open) dialog.current.showModal(); }, [shown]);
  const open = async (form, title) => {
    const found = await post("code", { scenario, changes, slot: `take${side}` });
    const text = found.status === 200 ? found[form] : found.errors.map((it) => it.message).join("\n");
    setShown({ title, text });
    setSaid((await copied(text)) ? "It is on the clipboard." : "");
  };
  const link = async () => {
    setShown({ title: "Address", text: address() });
    setSaid((await copied(address())) ? "It is on the clipboard." : "");
  };
  const state = encodeURIComponent(JSON.stringify({ scenario, changes }));
  return html`
    <div class="take" role="group" aria-label="Take away">
      <a class="button" href=${`explorer?state=${state}`} target="_blank" rel="noopener">Time-sequence explorer</a>
      <button type="button" onClick=${() => open("toml", "Scenario file")}>Copy as TOML</button>
      <button type="button" onClick=${() => open("python", "Program")}>Copy as Python</button>
      <button type="button" onClick=${link}>Copy address</button>
      ${shown === null ? null : html`
        <dialog ref=${dialog} aria-label=${shown.title} onClose=${() => setShown(null)}>
          <h2>${shown.title}</h2>
          <textarea readonly rows=${Math.min(shown.text.split("\n").length + 1, 24)} aria-label=${shown.title}>${shown.text}</textarea>
          <p class="soft" aria-live="polite">${said || "Select it to copy."}</p>
          <form method="dialog"><button>Close</button></form>
        </dialog>`}
    </div>`;
};
