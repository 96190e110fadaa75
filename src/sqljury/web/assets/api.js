// The server's API: JSON, CSV, and a question as a stream of events.

/** An error as the server describes it, or as the browser does where no server answered. */
export class Problem extends Error {
  constructor(problem) {
    super(problem.detail || "the server gave no reason");
    this.problem = problem;
  }
}

/** The question that was typed when a token was asked for, once. */
export function kept() {
  try {
    const question = sessionStorage.getItem("question");
    sessionStorage.removeItem("question");
    return question;
  } catch {
    return null;  // storage may be closed to pages
  }
}

function logIn() {
  try { sessionStorage.setItem("question", document.getElementById("question")?.value ?? ""); } catch { /* it is typed again */ }
  location.assign("/login");
}

async function problemOf(response) {
  if (response.status === 401) logIn();
  try {
    return new Problem({ ...(await response.json()), retry: response.headers.get("Retry-After") });
  } catch {
    return new Problem({ title: "Unavailable", code: `http-${response.status}`, detail: "The server gave no answer that this page understands." });
  }
}

async function send(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ title: "No connection", code: "no-connection", detail: "The server does not answer. It may have ended, or the network is down." });
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

const posted = (body, accept, signal) => ({
  method: "POST", signal, headers: { "Content-Type": "application/json", Accept: accept }, body: JSON.stringify(body),
});

export const get = async (path) => (await send(path, { headers: { Accept: "application/json" } })).json();

export const query = async (body, signal) => (await send("/v1/query", posted(body, "application/json", signal))).json();

/** All rows of a query as a file of this type. */
export const file = async (body, type) => (await send("/v1/query", posted(body, type))).blob();

export const judge = async (body) => (await send("reading" in body ? "/v1/reading" : "/v1/feedback", posted(body, "application/json"))).json();

export const forget = () => send("/v1/history", { method: "DELETE" });

/** Asks a question; `heard(kind, data)` gets each event. Gives the answer, and throws a Problem. */
export async function ask(body, heard, signal) {
  const response = await send("/v1/ask", posted(body, "text/event-stream", signal));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const kind = /^event: (.*)$/m.exec(event)?.[1];
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (!kind || !data) continue;
      const parsed = JSON.parse(data);
      if (kind === "answer") return parsed;
      if (kind === "problem") throw new Problem(parsed);
      heard(kind, parsed);
    }
  }
  throw new Problem({ title: "No connection", code: "cut-off", detail: "The connection ended before the answer came." });
}
