"use strict";
// Tables that can be sorted by each column and, when long, filtered.
(() => {
  const LONG = 8;
  const PAGE = 50; // rows
  const collator = new Intl.Collator(undefined, { numeric: true });
  const number = (text) => (text.trim() === "" ? NaN : Number(text));

  function compare(a, b) {
    const [m, n] = [number(a), number(b)];
    if (!Number.isNaN(m) && !Number.isNaN(n)) return m - n;
    if (a === "" || b === "") return (a === "") - (b === ""); // what is missing comes last
    return collator.compare(a, b);
  }

  function sortable(table) {
    const body = table.tBodies[0];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const text = (row) => row.cells[column].dataset.value || row.cells[column].textContent.trim();
        const rows = [...body.rows].sort((a, b) => (up ? compare(text(a), text(b)) : compare(text(b), text(a))));
        body.append(...rows);
        paged(table);
      });
    });
    if (body.rows.length > LONG) filterable(table, body);
    paged(table);
  }

  // Of a long table the first rows; a button shows the others.
  function paged(table) {
    const rows = [...table.tBodies[0].rows];
    const filtered = rows.some((row) => row.hidden);
    const all = table.dataset.all !== undefined || filtered || rows.length <= PAGE + 5;
    rows.forEach((row, at) => row.classList.toggle("later", !all && at >= PAGE));
    let more = table.parentElement.nextElementSibling;
    if (!more || more.className !== "more") {
      if (all) return;
      more = document.createElement("button");
      more.type = "button";
      more.className = "more";
      more.addEventListener("click", () => { table.dataset.all = ""; paged(table); });
      table.parentElement.after(more);
    }
    more.hidden = all;
    more.textContent = `Show all ${rows.length} rows`;
  }

  function filterable(table, body) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("span");
    label.className = "filter";
    count.setAttribute("role", "status");
    count.className = "soft";
    input.type = "search";
    input.placeholder = "all words, in any column";
    input.size = input.placeholder.length;
    label.append("Filter ", input, count);
    table.closest(".scroll").before(label);
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of body.rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
        shown += !row.hidden;
      }
      paged(table);
      count.textContent = words.length ? ` ${shown} of ${body.rows.length}` : "";
    });
  }

  // Paper shows what is folded; afterwards it is as it was. Charts are drawn later, where they have room by then.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const each of folded) each.open = true;
  });
  addEventListener("afterprint", () => { for (const each of folded.splice(0)) each.open = false; });

  addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("table.sortable").forEach(sortable);
    // On a phone, where each row is a card, they stay folded: styles change at the same width.
    if (matchMedia("(min-width: 40.01rem)").matches) for (const each of document.querySelectorAll("details.wide")) each.open = true;
  });
})();
