// An answer: its rows, its query (editable and re-runnable), and how sure it is.
import { file, judge, query } from "./api.js";
import { copy, count, el, picture, save, say, seconds, sentence } from "./dom.js";
import { broken, highlighted } from "./sql.js";
import { resultOf } from "./table.js";
import { failures, why } from "./why.js";

export const level = (confidence) => (confidence === null || confidence === undefined ? "" : confidence >= 0.75 ? "good" : confidence >= 0.5 ? "fair" : "bad");

const UP = "M7 10v11H4V10zM7 10l4-7a2.5 2.5 0 0 1 2.5 2.5V9H19a2 2 0 0 1 2 2.4l-1.5 7.6a2.5 2.5 0 0 1-2.5 2H7";
const DOWN = "M17 14V3h3v11zM17 14l-4 7a2.5 2.5 0 0 1-2.5-2.5V15H5a2 2 0 0 1-2-2.4L4.5 5A2.5 2.5 0 0 1 7 3h10";

const percent = (share) => `${Math.round(share * 100)}%`;

function badge(answer) {
  const sure = answer.confidence === null ? "" : ` · ${percent(answer.confidence)}`;
  const words = answer.confidence_in_words;
  return el("span", { class: `badge ${level(answer.confidence)}`, title: "How sure the answer is" }, words[0].toUpperCase() + words.slice(1) + sure);
}

export function problemCard(error, again) {
  const problem = error.problem ?? { title: "Error", detail: String(error), code: "page" };
  const retry = problem.retry ? ` Try again in ${problem.retry} s.` : "";
  const titles = { "no-answer": "No query could answer this", "query-refused": "This query is refused", "query-failed": "The query failed", "bad-question": "This cannot be asked", "queue-full": "The server is busy" };
  const tried = problem.candidates?.filter((one) => one.sql) ?? [];
  return el("section", { class: "card alarm", role: "alert" },
    el("h2", {}, titles[problem.code] ?? problem.title ?? "Error"),
    el("p", {}, sentence(problem.detail) + retry),
    failures(tried, `What was tried (${tried.length})`),
    el("div", { class: "foot" },
      again ? el("button", { class: "plain", type: "button", onclick: again }, "Try again") : null,
      el("span", { class: "quiet small" }, [problem.code, problem.request_id && `request ${problem.request_id}`].filter(Boolean).join(" · "))));
}

const FORMS = { CSV: ["text/csv", "csv"], Parquet: ["application/vnd.apache.parquet", "parquet"] };

/** Saves all rows as a file; what goes wrong is said in `place`. */
async function download(sql, database, form, button, place) {
  const [type, suffix] = FORMS[form];
  button.disabled = true;
  place.replaceChildren();
  try {
    save(await file({ sql, database }, type), `${database}.${suffix}`);
  } catch (error) {
    place.append(el("p", { class: "small wrong", role: "alert" }, sentence(`The download failed: ${error.message}`)));
  }
  button.disabled = false;
}

/** Table or chart, as the reader chose last; the chart's code comes when one is shown. */
function shown(result, place) {
  const buttons = {};
  async function show(kind) {
    for (const [name, button] of Object.entries(buttons)) button.setAttribute("aria-pressed", name === kind);
    if (kind === "Table") {
      place.replaceChildren(...resultOf(result));
      return;
    }
    const wait = el("p", { class: "state" }, "Drawing…");
    place.replaceChildren(wait);
    try {
      const { chartView } = await import("./chart.js");
      if (wait.isConnected) place.replaceChildren(await chartView(result));
    } catch (error) {
      wait.replaceChildren(sentence(`The chart cannot be drawn: ${error.message}`));
      wait.setAttribute("role", "alert");
    }
  }
  for (const kind of ["Table", "Chart"]) {
    buttons[kind] = el("button", { type: "button", "aria-pressed": "false", onclick: () => {
      try { localStorage.setItem("shown", kind); } catch { /* it holds for this result then */ }
      show(kind);
    } }, kind);
  }
  let last = "Table";
  try { last = localStorage.getItem("shown") === "Chart" ? "Chart" : last; } catch { /* storage may be closed to pages */ }
  show(last);
  return el("div", { class: "toggle", role: "group", "aria-label": "Show as" }, ...Object.values(buttons));
}

/** The rows of a result, with what can be done with them; `title` stands above. */
function rowsCard(result, sql, database, title, marks) {
  const place = el("div", { class: "rows" }), failed = el("div");
  const charts = result.chart && result.chart.mark.type !== "text";
  const toggle = charts ? shown(result, place) : null;
  if (!charts) place.append(...resultOf(result));
  const tools = Object.keys(FORMS).map((form) => el("button", { class: "link", type: "button", "aria-label": `Download ${form}`, onclick: (event) => download(sql, database, form, event.currentTarget, failed) }, `↓ ${form}`));
  const ways = result.rows.length ? el("div", { class: "tools" }, ...tools) : null;
  return el("section", { class: "card", "aria-label": "Result" },
    el("header", {}, el("h2", { tabindex: "-1" }, title), ...marks, toggle ? null : ways),
    toggle ? el("div", { class: "ways" }, toggle, ways) : null, failed, place);
}

/** A query that can be read, copied, edited and run again; `ran(result, sql)` gets what comes back.
 *  `told` explains the first query, and stands below it only. Gives the card, and what runs another query in its place. */
function sqlCard(sql, database, ran, told = null) {
  const place = el("div"), tools = el("div", { class: "tools" }), said = el("div", { class: "said", role: "status" });
  const tool = (label, act) => el("button", { class: "link", type: "button", onclick: act }, label);
  let current = sql;

  function read(back) {
    place.replaceChildren(highlighted(broken(current)));
    tools.replaceChildren(tool("Copy", (event) => copy(current, event.currentTarget)), tool("Edit", edit));
    said.replaceChildren();
    if (told) told.hidden = current !== sql;
    if (back) tools.lastChild.focus();  // where the reader was before
  }

  function edit() {
    const box = el("textarea", { class: "sql", spellcheck: "false", "aria-label": "SQL to run, read-only" });
    box.value = broken(current);
    const button = tool("Run", () => run(box.value, button));
    box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) button.click();
      if (event.key === "Escape") { event.stopPropagation(); read(true); }
    });
    place.replaceChildren(box, el("p", { class: "quiet small" }, "Ctrl + Enter runs it. It only reads: anything else is refused."));
    tools.replaceChildren(button, tool("Cancel", () => read(true)));
    box.focus();
  }

  async function run(text, button) {
    button.disabled = true;
    said.replaceChildren(el("p", { class: "quiet small" }, "Running…"));
    try {
      const result = await query({ sql: text, database });
      current = text;
      read();
      ran(result, current);
    } catch (error) {
      said.replaceChildren(problemCard(error));
    }
    button.disabled = false;
  }

  read();
  const card = el("section", { class: "card", "aria-label": "Query" }, el("header", {}, el("h2", {}, "SQL"), tools), place, said, told);
  return { card, run };
}

/** What the query does, step by step, and what that did to rows. */
function inWords({ explanation }) {
  if (!explanation?.steps.length) return null;
  const step = ({ text, depth }) => {
    const line = el("li", {}, text);
    line.style.marginLeft = `${depth * 1.4}em`;
    return line;
  };
  const effects = explanation.effects.map((effect) => el("li", {}, effect.text));
  return el("details", { class: "more in-words" }, el("summary", {}, "What this query does"), el("ul", {}, ...explanation.steps.map(step)),
    effects.length ? el("h3", {}, "What this did to rows") : null, effects.length ? el("ul", {}, ...effects) : null,
    explanation.uncounted ? el("p", { class: "quiet small" }, sentence(`What this did to rows was not, or not all, counted: ${explanation.uncounted}`)) : null);
}

function remarks(answer) {
  const lines = [...answer.remarks, answer.choice?.note].filter(Boolean);
  return lines.length ? el("ul", { class: "remarks" }, ...lines.map((line) => el("li", {}, sentence(line)))) : null;
}

/** Sends what somebody says of an answer, and says where it is kept. */
async function tell(body, place) {
  try {
    const { kept } = await judge(body);
    const thanks = el("p", { class: "small quiet", role: "status", tabindex: "-1" }, kept === "folder" ? "Thank you. It is kept in the context folder, where sqljury feedback reads it." : "Thank you. It is kept until the server ends; a context folder would keep it for good.");
    place.replaceChildren(thanks);
    thanks.focus();
    return true;
  } catch (error) {
    place.append(el("p", { class: "small wrong", role: "alert" }, sentence(error.message)));
    return false;
  }
}

/** Thumbs; the lower one asks what was wrong. `current()` is the query that is shown now. */
function thumbs(answer, current) {
  const place = el("div", { class: "judge" });
  const button = (label, path, act) => el("button", { type: "button", class: "icon", title: label, "aria-label": label, onclick: act }, picture(path));
  const send = (more) => tell({ id: answer.id, ...more }, place);

  function ask() {
    const own = current() === answer.sql ? "" : current();
    const comment = el("textarea", { rows: "2", maxlength: "2000", placeholder: "An order is open while its status is 3" });
    const query = el("textarea", { rows: "3", maxlength: "50000", class: "sql", spellcheck: "false", placeholder: "SELECT …" });
    query.value = own;
    const form = el("form", { class: "correction", onsubmit: (event) => { event.preventDefault(); send({ good: false, comment: comment.value, correction: query.value }); } },
      el("label", {}, el("span", {}, "What was wrong, or what does a word mean?"), comment),
      el("label", {}, el("span", {}, "The right query, if you have it"), query),
      el("div", { class: "foot" }, el("button", { class: "primary", type: "submit" }, "Send"), el("button", { class: "plain", type: "button", onclick: () => { start(); place.lastChild.focus(); } }, "Cancel")));
    place.replaceChildren(form);
    comment.focus();
  }

  function start() {
    place.replaceChildren(el("span", { class: "quiet small" }, "Is this right?"), button("Right", UP, () => send(current() === answer.sql ? { good: true } : { good: false, correction: current() })), button("Wrong", DOWN, ask));
  }

  start();
  return place;
}

/** A single value itself, otherwise how many rows there are. */
const brief = ({ rows, row_count: all }) => (rows.length === 1 && rows[0].length === 1 ? String(rows[0][0]) : count(all ?? rows.length, "row"));

/** Two readings of the question: which is meant? `choose(reading)` shows its rows. */
function readings(answer, choose) {
  if (answer.readings.length < 2) return null;
  const place = el("div");
  const option = (reading, index) => el("button", { type: "button", class: "reading", onclick: async () => {
    if (await tell({ id: answer.id, reading: index }, place)) {
      place.replaceChildren(el("p", { class: "small quiet", role: "status" }, `From now on, “${reading.words}” is ${reading.meaning}.`));
      choose(reading, index);
    }
  } }, el("span", { class: "result" }, brief(reading)), el("span", {}, reading.meaning), el("span", { class: "quiet small" }, `${reading.votes} of ${answer.candidates.length} queries`));
  const results = answer.readings.map(brief);
  const differ = results[0] === results[1] ? "different rows" : results.join(" and ");
  place.append(el("h3", {}, `“${answer.readings[0].words}” can be read in two ways, which give ${differ}. Which do you mean?`), el("div", { class: "options-two" }, ...answer.readings.map(option)));
  return el("section", { class: "card ask-back", "aria-label": "Two readings" }, place);
}

/** Another result with half as many votes as the answer's, or more: both are shown, without words on what they mean. */
function divided(answer, choose) {
  const chosen = answer.groups.find((group) => group.chosen);
  const rival = answer.groups.filter((group) => !group.chosen).sort((one, other) => other.votes - one.votes)[0];
  if (answer.readings.length || !chosen || !rival || 2 * rival.votes < chosen.votes) return null;
  const option = (group) => el("button", { type: "button", class: "reading rival", onclick: () => choose(group.queries[0]) },
    el("span", { class: "result" }, brief(group)), el("code", { class: "small" }, group.queries[0]), el("span", { class: "quiet small" }, `${group.votes} of ${answer.candidates.length} queries${group.chosen ? ", the answer below" : ""}`));
  return el("section", { class: "card ask-back", "aria-label": "Two results" }, el("h3", {}, `The queries are divided: ${brief(chosen)} or ${brief(rival)}?`), el("div", { class: "options-two" }, option(chosen), option(rival)));
}

/** Why the answer is not to be relied on, and what would settle it, before it is shown. */
function abstained({ abstention, groups }) {
  if (!abstention) return null;
  const below = groups.length ? "The best query that was found is shown below all the same." : "No query that was written could be run.";
  const title = abstention.kind === "unanswerable" ? "This database does not seem to hold that" : "Not sure enough to answer";
  return el("section", { class: "card alarm", role: "alert" }, el("h2", {}, title), el("p", {}, abstention.reason), abstention.ask ? el("p", { class: "quiet" }, abstention.ask) : null, el("p", { class: "quiet small" }, below));
}

/** `again(question)` asks what was typed as it stands, where the question was written out from the talk before. */
export function answerView(answer, again) {
  const place = el("div");
  let current = answer.sql;
  const judged = thumbs(answer, () => current);
  const unsure = abstained(answer);
  if (unsure && !answer.groups.length) {
    unsure.append(judged);
    return [unsure, why(answer)];
  }
  const foot = [answer.asked ? el("p", { class: "small quiet understood" }, `You asked “${answer.asked}”, which was understood as above. `, el("button", { class: "link small", type: "button", onclick: () => again(answer.asked) }, "Ask it as it stands")) : null, remarks(answer)].filter(Boolean);
  const show = (result, sql, marks, more) => { current = sql; place.replaceChildren(rowsCard(result, sql, answer.database, answer.question, marks)); place.firstChild.append(...more, judged); };
  show(answer, answer.sql, [badge(answer)], foot);
  const sql = sqlCard(answer.sql, answer.database, (result, text) => {
    const group = answer.groups.find((one) => one.queries.includes(text));
    const mark = group?.chosen ? badge(answer) : el("span", { class: "badge" }, `${group ? `result ${group.group + 1}` : "your query"} · ${seconds(result.seconds)}`);
    show(result, text, [mark], group?.chosen ? foot : []);
    place.querySelector("h2").focus();
  }, inWords(answer));
  const either = readings(answer, (reading, index) => { if (index) sql.run(reading.sql, el("button")); });
  const rivals = divided(answer, (text) => sql.run(text, el("button")));
  return [unsure, either, rivals, place, sql.card, why(answer, sql.run)].filter(Boolean);
}

/** A query of the reader's own, as history has it. */
export function queryView(result, sql, database) {
  const own = (shown) => el("span", { class: "badge" }, `your query · ${seconds(shown.seconds)}`);
  const place = el("div", {}, rowsCard(result, sql, database, "Result", [own(result)]));
  return [place, sqlCard(sql, database, (next, text) => place.replaceChildren(rowsCard(next, text, database, "Result", [own(next)]))).card];
}
