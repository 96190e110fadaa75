// The side panel: the schema to look things up in, and what was asked before.
import { forget, get } from "./api.js";
import { $, count, el, sentence } from "./dom.js";
import { level } from "./result.js";

const schemas = new Map();

export async function schemaOf(database) {
  if (!schemas.has(database)) schemas.set(database, get(`/v1/schema?database=${encodeURIComponent(database)}`));
  try {
    return await schemas.get(database);
  } catch (error) {
    schemas.delete(database);
    throw error;
  }
}

function columnItem(table, column, keys) {
  const key = keys.find((one) => one.table === table.name && one.columns.includes(column.name));
  const mark = table.primary_key.includes(column.name) ? "key" : key ? `→ ${key.other_table}` : "";
  const note = [column.comment, column.contents].filter(Boolean).join("; ");
  return el("li", {}, el("code", {}, column.name), column.type ? el("span", { class: "type" }, column.type.toLowerCase()) : null,
    mark ? el("span", { class: "key", title: key && !key.declared ? "a likely key, not declared" : null }, mark) : null,
    note ? el("span", { class: "note" }, note) : null);
}

function tree(schema, wanted) {
  const fits = (text) => text.toLowerCase().includes(wanted);
  const tables = schema.tables.map((table) => ({ table, columns: !wanted || fits(table.name) ? table.columns : table.columns.filter((one) => fits(one.name) || fits(one.comment)) })).filter(({ columns }) => columns.length);
  if (!tables.length) return [el("p", { class: "quiet small" }, "No table or column matches.")];
  return tables.slice(0, 300).map(({ table, columns }) => {
    const details = el("details", { open: Boolean(wanted) && tables.length < 20 }, el("summary", {}, el("span", {}, table.name), el("span", { class: "count" }, table.kind === "table" ? table.columns.length : table.kind)));
    const fill = () => { if (details.open && details.children.length < 2) details.append(el("ul", {}, table.comment ? el("li", {}, el("span", { class: "note" }, table.comment)) : null, ...columns.map((column) => columnItem(table, column, schema.foreign_keys)))); };
    details.addEventListener("toggle", fill);
    fill();
    return details;
  });
}

/** Values that hold the text, below the tables; `use(value)` puts one into the question. */
function values(database, place, use) {
  let asked = 0;
  return async (text) => {
    const own = ++asked;
    place.replaceChildren();
    if (text.length < 2) return;
    await new Promise((done) => setTimeout(done, 300));
    if (own !== asked) return;
    place.replaceChildren(el("p", { class: "quiet small" }, "Looking for values…"));
    let shown;
    try {
      const { found } = await get(`/v1/search?limit=12&database=${encodeURIComponent(database)}&text=${encodeURIComponent(text)}`);
      const held = found.filter((one) => one.kind === "value");
      shown = held.length ? [el("h3", {}, "Values"), el("ul", { class: "values" }, ...held.map((one) => el("li", {},
        el("button", { type: "button", title: "Put it into the question", onclick: () => use(one.value) }, el("span", {}, one.value), el("span", { class: "meta" }, `${one.table}.${one.column}`)))))] : [el("p", { class: "quiet small" }, "No value matches.")];
    } catch (error) {
      shown = [el("p", { class: "small", role: "alert" }, sentence(`Values cannot be looked up: ${error.message}`))];
    }
    if (own === asked) place.replaceChildren(...shown);
  };
}

export async function showSchema(database, use) {
  const panel = $("panel-schema");
  panel.replaceChildren(el("p", { class: "quiet" }, "Reading the schema…"));
  let schema;
  try {
    schema = await schemaOf(database);
  } catch (error) {
    const again = el("button", { class: "plain", type: "button", onclick: () => showSchema(database, use) }, "Try again");
    panel.replaceChildren(el("p", { role: "alert" }, sentence(`The schema cannot be read: ${error.message}`)), again);
    return null;
  }
  const place = el("div", { class: "tree" }), held = el("div", { class: "held", "aria-live": "polite" });
  const filter = el("input", { class: "filter", type: "search", placeholder: "Find a table, column or value", "aria-label": "Find a table, a column or a value" });
  const find = values(database, held, use);
  const draw = () => { place.replaceChildren(...tree(schema, filter.value.trim().toLowerCase())); find(filter.value.trim()); };
  filter.addEventListener("input", draw);
  draw();
  panel.replaceChildren(filter, place, held);
  return schema;
}

function ago(time) {
  const passed = Date.now() / 1000 - time;
  if (passed < 60) return "now";
  if (passed < 3600) return `${Math.floor(passed / 60)} min ago`;
  if (passed < 86400) return `${Math.floor(passed / 3600)} h ago`;
  return new Date(time * 1000).toLocaleDateString();
}

/** What somebody said of an answer. */
function said({ feedback, meant }) {
  return [feedback && (feedback.good ? "right, you said" : feedback.correction ? "corrected" : "wrong, you said"), meant && `meant ${meant}`];
}

/** What became of a question without an answer; other codes are words as they are. */
const PROBLEMS = { "bad-question": "cannot be asked", "queue-full": "the server was busy", "internal": "the server failed", "stopped": "was stopped" };

const ABSTAINED = { unanswerable: "cannot be answered", unsure: "not sure enough" };

function pastItem(entry, open) {
  const outcome = ABSTAINED[entry.abstained] ?? PROBLEMS[entry.problem] ?? entry.problem?.replaceAll("-", " ") ?? entry.verdict ?? (entry.rows === undefined ? "" : count(entry.rows, "row"));
  const dot = entry.problem ? "bad" : entry.kind === "ask" ? level(entry.confidence) : "";
  const asked = entry.kind === "query" ? el("span", { class: "asked sql" }, entry.sql) : el("span", { class: "asked" }, entry.question);
  return el("li", {}, el("button", { type: "button", onclick: () => open(entry) }, asked,
    el("span", { class: "meta" }, el("span", { class: `dot ${dot}` }), `${[entry.database, outcome, ...said(entry), ago(entry.time)].filter(Boolean).join(" · ")}`)));
}

export async function showHistory(open) {
  const panel = $("panel-history");
  try {
    const { entries } = await get("/v1/history?limit=100");
    if (!entries.length) {
      panel.replaceChildren(el("p", { class: "quiet" }, "Nothing asked yet. Your questions and queries appear here until the server ends."));
      return;
    }
    const clear = el("button", { class: "link", type: "button", onclick: async () => {
      try { await forget(); } catch (error) { clear.after(el("p", { class: "small wrong", role: "alert" }, sentence(`The history was not forgotten: ${error.message}`))); return; }
      showHistory(open);
    } }, "Forget all");
    panel.replaceChildren(el("ul", { class: "past" }, ...entries.map((entry) => pastItem(entry, open))), clear);
  } catch (error) {
    panel.replaceChildren(el("p", { role: "alert" }, sentence(`The history cannot be read: ${error.message}`)));
  }
}

/** Tabs as the ARIA practices have them: arrows move, one tab is in the order of Tab. */
export function tabs(changed) {
  const all = ["schema", "history"];
  const choose = (name, focus) => {
    for (const one of all) {
      const tab = $(`tab-${one}`), own = one === name;
      tab.setAttribute("aria-selected", own);
      tab.tabIndex = own ? 0 : -1;
      $(`panel-${one}`).hidden = !own;
      if (own && focus) tab.focus();
    }
    changed(name);
  };
  all.forEach((name, index) => {
    const tab = $(`tab-${name}`);
    tab.addEventListener("click", () => choose(name));
    tab.addEventListener("keydown", (event) => { if (event.key === "ArrowRight" || event.key === "ArrowLeft") choose(all[(index + 1) % all.length], true); });
  });
}
