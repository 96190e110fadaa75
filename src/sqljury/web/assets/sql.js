// SQL with colours, as spans; and long queries broken into lines before their clauses.
import { el } from "./dom.js";

const WORDS = new Set(`all and any as asc avg between by case cast collate create cross current_date current_timestamp date
  desc distinct else end escape except exists extract false fetch filter first following for from full glob group having
  ilike in inner intersect interval into is isnull join last lateral left like limit natural not notnull null nulls of
  offset on only or order outer over partition preceding range recursive regexp right row rows select similar some table
  then true unbounded union unique using values view when where window with within`.split(/\s+/));

const PIECES = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$))|("(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\[[^\]\n]*\])|(\b\d+(?:\.\d+)?\b)|([A-Za-z_]\w*)(\s*\()?|(\s+)|([^\w\s])/g;

const CLAUSES = /^(from|where|group|order|having|limit|union|intersect|except|left|right|inner|cross|full|join|window|offset)$/i;

export function highlighted(sql) {
  const box = el("pre", { class: "sql", tabindex: "0", "aria-label": "SQL" });
  const code = el("code");
  for (const [whole, remark, text, name, number, word, call] of sql.matchAll(PIECES)) {
    const kind = remark ? "remark" : text ? "text" : number ? "number" : word && WORDS.has(word.toLowerCase()) ? "word" : word && call ? "call" : "";
    if (!kind || name) code.append(whole);
    else if (word) code.append(el("span", { class: kind }, word), call ?? "");
    else code.append(el("span", { class: kind }, whole));
  }
  box.append(code);
  return box;
}

/** The query with a line end before each clause, where it is one long line; nothing else is changed. */
export function broken(sql) {
  if (sql.length < 70 || sql.includes("\n") || /--|#/.test(sql)) return sql;
  let made = "", depth = 0, before = "";
  for (const [whole, remark, text, , , word] of sql.matchAll(PIECES)) {
    if (whole.includes("(")) depth += 1;
    else if (whole === ")") depth -= 1;
    const starts = word && CLAUSES.test(word) && depth <= (whole.includes("(") ? 1 : 0) && !remark && !text;
    const follows = /^(join|outer)$/i.test(word ?? "") && /^(left|right|inner|cross|full|outer)$/i.test(before);
    made = starts && !follows ? `${made.trimEnd()}\n${whole}` : made + whole;
    if (whole.trim()) before = word ?? "";
  }
  return made.trim();
}
