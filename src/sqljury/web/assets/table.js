// Results as tables: sortable, paged, and small ones without either.
import { count, el } from "./dom.js";

const PAGE = 50;
const LONG = 24;  // characters from which on a cell keeps some width on a narrow screen

const isNumber = (cell) => typeof cell === "number";

function cellOf(cell, number) {
  if (cell === null) return el("td", { class: number ? "null number" : "null" }, "NULL");
  const text = isNumber(cell) && !Number.isInteger(cell) ? String(+cell.toPrecision(12)) : String(cell);
  return el("td", { class: number ? "number" : text.length > LONG ? "long" : null }, text);
}

const numeric = (rows, index) => rows.length > 0 && rows.every((row) => row[index] === null || isNumber(row[index])) && rows.some((row) => isNumber(row[index]));

/** NULL comes first, then numbers, then texts in the order of the reader's language. */
function compare(one, other) {
  if (one === null || other === null) return (one !== null) - (other !== null);
  if (isNumber(one) && isNumber(other)) return one - other;
  if (isNumber(one) !== isNumber(other)) return isNumber(one) ? -1 : 1;
  return String(one).localeCompare(String(other), undefined, { numeric: true });
}

export function smallTable(columns, rows) {
  const numbers = columns.map((_, index) => columns.length > 1 && numeric(rows, index));
  const head = columns.map((name, index) => el("th", { scope: "col", class: `plain-head${numbers[index] ? " number" : ""}` }, name));
  const body = rows.map((row) => el("tr", {}, ...row.map((cell, index) => cellOf(cell, numbers[index]))));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...body));
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows" }, table);
}

export function bigTable(result) {
  const { columns, rows } = result;
  const numbers = columns.map((_, index) => numeric(rows, index));
  let shown = rows, page = 0, sorted = { index: -1, down: false };
  const body = el("tbody"), pages = el("div", { class: "pages" }), span = el("span", { "aria-live": "polite" });
  const scroll = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Result" });
  const turn = (label, by) => el("button", { class: "plain", type: "button", onclick: () => { page += by; draw(); scroll.scrollTop = 0; } }, label);
  const back = turn("Previous", -1), on = turn("Next", 1);
  const heads = columns.map((name, index) => {
    const arrow = el("span", { class: "arrow", "aria-hidden": "true" });
    const button = el("button", { type: "button", title: `Sort by ${name}`, onclick: () => sort(index) }, ...(numbers[index] ? [arrow, name] : [name, arrow]));
    return { arrow, head: el("th", { scope: "col", class: numbers[index] ? "number" : null }, button) };
  });

  function sort(index) {
    const down = sorted.index === index && !sorted.down;
    if (sorted.index === index && sorted.down) sorted = { index: -1, down: false };
    else sorted = { index, down };
    shown = sorted.index < 0 ? rows : [...rows].sort((one, other) => compare(one[index], other[index]) * (down ? -1 : 1));
    page = 0;
    draw();
  }

  function draw() {
    const last = Math.max(0, Math.ceil(shown.length / PAGE) - 1);
    body.replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map((row) => el("tr", {}, ...row.map((cell, index) => cellOf(cell, numbers[index])))));
    heads.forEach(({ arrow, head }, index) => {
      const own = sorted.index === index;
      head.setAttribute("aria-sort", own ? (sorted.down ? "descending" : "ascending") : "none");
      arrow.textContent = own ? (sorted.down ? "↓" : "↑") : "";
    });
    const range = last ? `Rows ${(page * PAGE + 1).toLocaleString("en")}–${Math.min(shown.length, (page + 1) * PAGE).toLocaleString("en")} of ${rows.length.toLocaleString("en")}` : count(rows.length, "row");
    const all = result.row_count > rows.length ? `; the download has ${result.row_count.toLocaleString("en")}` : "";
    const more = result.limit_reached ? "; the query has more" : "";
    span.textContent = range + all + more;
    const held = document.activeElement;
    back.disabled = page === 0;
    on.disabled = page === last;
    if (held.disabled) (held === back ? on : back).focus();  // a disabled button loses the focus
  }

  draw();
  pages.append(span, ...(rows.length > PAGE ? [back, on] : []));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...heads.map(({ head }) => head))), body);
  scroll.append(table);
  return [scroll, pages];
}

/** A result as people read it: one value large, no rows as words, else a table. */
export function resultOf(result) {
  if (!result.rows.length) return [el("p", { class: "state" }, "No rows: nothing in the database fits the query.")];
  const [first] = result.rows;
  if (result.rows.length === 1 && first.length === 1 && first[0] !== null && String(first[0]).length < 60) {
    const value = isNumber(first[0]) ? first[0].toLocaleString("en", { maximumFractionDigits: 6, useGrouping: "min2" }) : first[0];
    return [el("p", { class: "single" }, value), el("p", { class: "quiet small" }, result.columns[0])];
  }
  return bigTable(result);
}
