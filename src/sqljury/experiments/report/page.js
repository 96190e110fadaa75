"use strict";
/* The list of questions. Everything from the data becomes text nodes: nothing is ever parsed as HTML. */
const data = JSON.parse(document.getElementById("data").textContent);
const STEP = 100;
const many = data.runs.length > 1;
const byId = new Map(data.questions.map((question) => [question.id, question]));
const sets = data.changed.map((one) => ({ won: new Set(one.won), lost: new Set(one.lost) }));

/** An element with attributes and children; texts become text nodes. */
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const WORDS = new Set(("select from where group by having order limit offset join left right inner outer cross full on as and or " +
  "not in is null like between exists union intersect except all distinct case when then else end with asc desc cast using")
  .split(" "));

function sql(text) {
  const shown = make("pre");
  for (const piece of text.match(/'(?:[^']|'')*'|[A-Za-z_]\w*|[^A-Za-z_']+|'/g) || []) {
    if (piece[0] === "'") shown.append(make("span", { class: "s" }, piece));
    else if (WORDS.has(piece.toLowerCase())) shown.append(make("span", { class: "k" }, piece));
    else shown.append(piece);
  }
  return shown;
}

/* Filters */
const form = document.getElementById("filters");
const state = { text: "", outcome: "", db: "", level: "", kind: "", sort: "" };

function field(key, label, options) {
  const input = options
    ? make("select", { name: key }, ...options.map(([value, name]) => make("option", { value }, name)))
    : make("input", { name: key, type: "search", placeholder: "words, SQL or an id" });
  input.addEventListener("input", () => { state[key] = input.value; draw(); });
  form.append(make("label", { class: options ? undefined : "wide" }, label, input));
}

function values(of) {
  const counts = new Map();
  for (const question of data.questions) counts.set(of(question), (counts.get(of(question)) || 0) + 1);
  counts.delete("");
  return [...counts].sort((a, b) => a[0].localeCompare(b[0])).map(([name, count]) => [name, `${name} (${count})`]);
}

const outcomes = [["", "all"]];
data.runs.forEach((name, at) => {
  const of = many ? `${name}: ` : "";
  outcomes.push([`right ${at}`, `${of}right`], [`wrong ${at}`, `${of}wrong`], [`missed ${at}`, `${of}wrong, a candidate was right`],
    [`failed ${at}`, `${of}no answer`]);
});
sets.forEach((set, at) => {
  const name = data.runs[at + 1];
  outcomes.push([`changed ${at}`, `${name}: changed (${set.won.size + set.lost.size})`], [`won ${at}`, `${name}: won (${set.won.size})`],
    [`lost ${at}`, `${name}: lost (${set.lost.size})`]);
});
if (many) outcomes.push(["differ 0", "the queries differ"]);
if (data.questions.some((question) => question.fault)) outcomes.push(["fault 0", "cannot be judged"]);
const levels = ["easy", "medium", "hard", "extra", "simple", "moderate", "challenging"];
field("text", "Search");
field("outcome", "Answer", outcomes);
field("db", "Database", [["", "all"], ...values((question) => question.db)]);
field("level", "Hardness", [["", "all"], ...values((question) => question.level)
  .sort((a, b) => levels.indexOf(a[0]) - levels.indexOf(b[0]))]);
field("kind", "Wrong answer", [["", "all"], ...Object.entries(data.deviations)]);
field("sort", "Order", [["", "as in the dataset"], ["seconds", "slowest first"], ["tokens", "most tokens first"],
  ["sure", "least confident first"], ["surest", "most confident first"]]);
form.addEventListener("submit", (event) => event.preventDefault());

const answerOf = (run) => (run && run.answer !== undefined && run.answer !== null ? run.queries[run.answer] : null);

const tests = {
  right: (question, at) => question.runs[at] && question.runs[at].right,
  wrong: (question, at) => question.runs[at] && !question.runs[at].right,
  missed: (question, at) => question.runs[at] && !question.runs[at].right && question.runs[at].candidates
    .some((one) => one.query !== null && question.runs[at].queries[one.query].right),
  failed: (question, at) => question.runs[at] && !answerOf(question.runs[at]),
  won: (question, at) => sets[at].won.has(question.id),
  lost: (question, at) => sets[at].lost.has(question.id),
  changed: (question, at) => sets[at].won.has(question.id) || sets[at].lost.has(question.id),
  differ: (question) => new Set(question.runs.filter(Boolean).map((run) => (answerOf(run) || {}).sql)).size > 1,
  fault: (question) => Boolean(question.fault),
};

function holds(question, words) {
  if (state.db && question.db !== state.db) return false;
  if (state.level && question.level !== state.level) return false;
  if (state.outcome) {
    const [name, at] = state.outcome.split(" ");
    if (!tests[name](question, Number(at))) return false;
  }
  if (state.kind && !question.runs.some((run) => run && !run.right && (state.kind === "fails"
    ? !answerOf(run) || answerOf(run).error : (answerOf(run) || {}).deviation === state.kind))) return false;
  if (!words.length) return true;
  if (!question.words) {
    const queries = question.runs.flatMap((run) => (run ? run.queries.map((query) => query.sql) : []));
    question.words = [question.id, question.text, question.evidence || "", question.gold, ...queries].join("\n").toLowerCase();
  }
  return words.every((word) => question.words.includes(word));
}

const most = (question, key) => Math.max(...question.runs.map((run) => (run ? run[key] || 0 : 0)));
const sure = (question) => { const run = question.runs.find(Boolean); return run && run.confidence !== undefined ? run.confidence : 2; };
const orders = {
  seconds: (a, b) => most(b, "seconds") - most(a, "seconds"),
  tokens: (a, b) => most(b, "tokens") - most(a, "tokens"),
  sure: (a, b) => sure(a) - sure(b),
  surest: (a, b) => (sure(b) > 1 ? -1 : sure(b)) - (sure(a) > 1 ? -1 : sure(a)),
};

/* The list */
const list = document.getElementById("list");
const more = document.getElementById("more");
let found = [];
let drawn = 0;

function draw() {
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  found = data.questions.filter((question) => holds(question, words));
  if (state.sort) found.sort(orders[state.sort]);
  const parts = data.runs.map((name, at) => {
    const judged = found.filter((question) => question.runs[at]);
    const right = judged.filter((question) => question.runs[at].right).length;
    return `${many ? `${name}: ` : ""}${right} of ${judged.length} right`;
  });
  document.getElementById("shown").textContent = `${found.length} of ${data.questions.length} questions; ${parts.join("; ")}`;
  list.replaceChildren();
  drawn = 0;
  extend();
}

function extend() {
  list.append(...found.slice(drawn, drawn + STEP).map(row));
  drawn = Math.min(found.length, drawn + STEP);
  more.hidden = drawn >= found.length;
  more.textContent = `Show ${Math.min(STEP, found.length - drawn)} more of ${found.length - drawn}`;
}
more.addEventListener("click", extend);

function mark(run) {
  if (!run) return make("span", { class: "mark none", title: "not asked or not judged" }, "–");
  return run.right ? make("span", { class: "mark right", title: "right" }, "✓ right") : make("span", { class: "mark wrong", title: "wrong" }, "✗ wrong");
}

function row(question) {
  const run = question.runs.find(Boolean);
  const meta = [question.id, question.db, question.level, run ? `${run.seconds.toFixed(1)}\u00a0s` : "",
    run && run.confidence !== undefined ? `${Math.round(100 * run.confidence)}\u00a0%` : ""].filter(Boolean).join(" · ");
  const summary = make("summary", {}, ...question.runs.map(mark), make("span", { class: "what" }, question.text),
    make("span", { class: "meta" }, meta));
  const item = make("details", { class: "q" }, summary);
  item.addEventListener("toggle", () => { if (item.open && item.children.length === 1) item.append(body(question)); });
  return item;
}

function body(question) {
  const parts = [];
  if (question.fault) parts.push(make("p", { class: "wrong" }, `Cannot be judged: ${question.fault}`));
  if (question.evidence) parts.push(make("p", {}, `Evidence: ${question.evidence}`));
  const gold = make("div", {}, make("strong", {}, "Gold"), sql(question.gold));
  const runs = question.runs.map((run, at) => (run ? side(run, data.runs[at]) : null)).filter(Boolean);
  return make("div", { class: "body" }, ...parts, gold, make("div", { class: "side" }, ...runs));
}

function verdict(query) {
  if (!query) return make("span", { class: "wrong" }, "no query");
  if (query.right) return make("span", { class: "right" }, "✓ returns what gold returns");
  return make("span", { class: "wrong" }, `✗ ${query.error ? query.error : data.deviations[query.deviation] || "wrong"}`);
}

function side(run, name) {
  const parts = [make("h4", {}, many ? name : "Answer", " ", mark(run))];
  if (run.error) parts.push(make("p", { class: "wrong" }, run.error));
  const facts = [`${run.seconds.toFixed(2)} s`, `${run.tokens.toLocaleString("en")} tokens`];
  if (run.usd) facts.push(`${run.usd} US dollars`);
  if (run.confidence !== undefined) facts.push(`confidence ${run.confidence}`);
  if (run.agreement !== undefined) facts.push(`agreement ${run.agreement}`);
  if (run.choice) facts.push(`chosen by ${run.choice.selector}`);
  if (run.linked) facts.push(`tables ${run.linked.join(", ")}`);
  parts.push(make("p", { class: "dim small" }, facts.join(" · ")));
  if (run.choice && run.choice.note) parts.push(make("p", { class: "dim small" }, run.choice.note));
  parts.push(...groups(run));
  if (run.choice) parts.push(...choice(run.choice));
  return make("div", {}, ...parts);
}

/** Candidates by the group of their results, the chosen group first; equal queries are shown once. */
function groups(run) {
  const grouped = new Map();
  run.candidates.forEach((one, at) => {
    const key = one.group === undefined ? "failed" : one.group;
    if (!grouped.has(key)) grouped.set(key, new Map());
    const own = grouped.get(key);
    if (!own.has(one.query)) own.set(one.query, []);
    own.get(one.query).push({ ...one, number: at + 1 });
  });
  const holdsAnswer = (own) => run.answer !== null && own.has(run.answer);
  const ordered = [...grouped].sort((a, b) => holdsAnswer(b[1]) - holdsAnswer(a[1]) ||
    (a[0] === "failed") - (b[0] === "failed") || a[0] - b[0]);
  return ordered.map(([key, own]) => {
    const count = [...own.values()].reduce((sum, listed) => sum + listed.length, 0);
    const scores = run.choice && run.choice.scores && key !== "failed" ? run.choice.scores[key] : undefined;
    const title = key === "failed" ? `${count} without a result` : `result ${key + 1}: ${count} of ${run.candidates.length} candidates` +
      (scores === undefined ? "" : `, score ${scores}`) + (holdsAnswer(own) ? ", chosen" : "");
    return make("div", { class: holdsAnswer(own) ? "group chosen" : "group" }, make("p", { class: "small" }, title),
      ...[...own].flatMap(([place, listed]) => query(run, place, listed)));
  });
}

function query(run, place, listed) {
  const own = place === null ? null : run.queries[place];
  const who = listed.map((one) => `#${one.number} part ${one.part} ${one.by}` + (one.logprob === undefined ? "" : ` (${one.logprob})`)).join(", ");
  const parts = [own ? sql(own.sql) : null, make("p", { class: "small" }, verdict(own), " ", make("span", { class: "dim" }, who))];
  const fixes = listed.flatMap((one) => (one.fixes || []).map((fix) => [one.number, fix]));
  if (fixes.length) {
    parts.push(make("details", { class: "small" }, make("summary", {}, `${fixes.length} repair${fixes.length > 1 ? "s" : ""}`),
      ...fixes.flatMap(([number, fix]) => [make("p", {}, `#${number}, by ${fix.by}: ${fix.reason}`), sql(fix.before)])));
  }
  return parts.filter(Boolean);
}

function choice(made) {
  const parts = [];
  if (made.comparisons) {
    parts.push(make("details", { class: "small" }, make("summary", {}, `${made.comparisons.length} comparisons`),
      make("ul", {}, ...made.comparisons.map((one) => make("li", {},
        `result ${one.first + 1} against ${one.second + 1}: ${one.first_shown_first} shown first, ${one.first_shown_second} shown second`)))));
  }
  if (made.tests) {
    parts.push(make("details", { class: "small" }, make("summary", {}, `${made.tests.length} tests`), ...made.tests.map(test)));
  }
  return parts;
}

function test(one, at) {
  const parts = [make("p", {}, `Test ${at + 1}` + (one.how ? ` (${one.how})` : "") + (one.confidence === undefined ? "" : `, confidence ${one.confidence}`))];
  for (const [name, table] of Object.entries(one.tables || {})) parts.push(make("p", { class: "dim" }, name), grid(table.columns, table.rows));
  (one.results || []).forEach((result, number) => {
    const passed = one.passed && one.passed[number] !== undefined && one.passed[number] !== null ? (one.passed[number] ? "✓ passed" : "✗ failed") : "";
    parts.push(make("p", {}, `result ${number + 1} ${passed}`), result.error ? make("p", { class: "wrong" }, String(result.error)) : grid(result.columns, result.rows));
  });
  if (one.expected) parts.push(make("p", {}, "expected"), grid(one.expected.columns, one.expected.rows));
  if (one.code) parts.push(make("pre", {}, one.code));
  return make("div", { class: "group" }, ...parts);
}

function grid(columns, rows) {
  const cell = (value) => (value === null ? "NULL" : typeof value === "object" ? JSON.stringify(value) : String(value));
  const head = make("tr", {}, ...(columns || []).map((name) => make("th", {}, String(name))));
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {},
    ...(rows || []).map((row) => make("tr", {}, ...(Array.isArray(row) ? row : [row]).map((value) => make("td", {}, cell(value))))))));
}

draw();
/* #q=ID opens one question. */
const wanted = byId.get(decodeURIComponent(location.hash.replace(/^#q=/, "")));
if (wanted) {
  const item = row(wanted);
  list.prepend(item);
  item.open = true;
  item.scrollIntoView();
}
