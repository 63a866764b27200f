// Prints the memory of the simulator after 10,000, 50,000 and 100,000 requests of conversations that grow and
// restart, for all APIs.
// node --expose-gc --conditions=@longhaul/source --import tsx bench/simulator-memory.mjs [--requests N]
// [--api messages|chat|responses|all]
import { Agent, request as httpRequest } from "node:http";
import { parseArgs } from "node:util";
import { always, startSimulator } from "@longhaul/simulator";

const { values } = parseArgs({
  options: {
    requests: { type: "string", default: "100000" },
    api: { type: "string", default: "all" },
  },
});
const REQUESTS = Number(values.requests);
/** Shares of all requests after which the memory is printed. */
const PRINTED_AT = [0.1, 0.25, 0.5, 0.75, 1];
/** Turns after which a conversation restarts. */
const TURNS = 40;
const SYSTEM = "You are a careful agent. ".repeat(200);
const HEADERS = { "content-type": "application/json" };
const agent = new Agent({ keepAlive: true });

/** Bodies of one turn, by API. Each conversation and each turn has its own text. */
const APIS = {
  messages: {
    path: "/v1/messages",
    headers: { ...HEADERS, "x-api-key": "bench", "anthropic-version": "2023-06-01" },
    body: (messages) => ({
      model: "claude-opus-5",
      max_tokens: 100,
      system: [{ type: "text", text: SYSTEM, cache_control: { type: "ephemeral" } }],
      messages: messages.map((message, index) =>
        index === messages.length - 1
          ? {
              ...message,
              content: [{ type: "text", text: message.content, cache_control: { type: "ephemeral" } }],
            }
          : message,
      ),
    }),
  },
  chat: {
    path: "/v1/chat/completions",
    headers: { ...HEADERS, authorization: "Bearer bench" },
    body: (messages, session) => ({
      model: "gpt-5",
      prompt_cache_key: session,
      messages: [{ role: "system", content: SYSTEM }, ...messages],
    }),
  },
  responses: {
    path: "/v1/responses",
    headers: { ...HEADERS, authorization: "Bearer bench" },
    body: (messages, session) => ({
      model: "gpt-5",
      prompt_cache_key: session,
      instructions: SYSTEM,
      input: messages,
    }),
  },
};
const apis = values.api === "all" ? Object.values(APIS) : [APIS[values.api]];

const simulator = await startSimulator({ behaviors: [always("I read the file and changed it. ".repeat(5))] });
const talks = apis.map(() => ({ messages: [], number: 0 }));
const startedAt = performance.now();
const due = PRINTED_AT.map((share) => Math.round(share * REQUESTS));
for (let sent = 1; sent <= REQUESTS; sent++) {
  const at = sent % apis.length;
  await turn(apis[at], talks[at], sent);
  if (due.includes(sent)) print(sent);
}
const { totals, invalidCount, length, all } = simulator.requests;
console.log(JSON.stringify({ ...totals, invalidCount, length, kept: all.length }));
await simulator.close();
agent.destroy();

async function turn({ path, headers, body }, talk, sent) {
  if (talk.messages.length >= 2 * TURNS) {
    talk.messages = [];
    talk.number++;
  }
  const text = `Request ${sent} of conversation ${talk.number}: ${"please look at the next file. ".repeat(20)}`;
  talk.messages.push({ role: "user", content: text });
  const status = await post(path, headers, JSON.stringify(body(talk.messages, `session-${talk.number}`)));
  if (status !== 200) throw new Error(`${path} answered ${status}`);
  talk.messages.push({ role: "assistant", content: "I read the file and changed it. ".repeat(5) });
}

function post(path, headers, body) {
  return new Promise((resolve, reject) => {
    const options = { agent, port: simulator.port, host: "127.0.0.1", path, method: "POST", headers };
    httpRequest(options, (response) => {
      response.resume();
      response.on("end", () => resolve(response.statusCode));
    })
      .on("error", reject)
      .end(body);
  });
}

function print(sent) {
  globalThis.gc?.();
  const { heapUsed, heapTotal, rss, external } = process.memoryUsage();
  const megabytes = (bytes) => `${Math.round(bytes / 1e6)} MB`;
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.log(
    `${sent.toLocaleString("en")} requests: heap ${megabytes(heapUsed)} of ${megabytes(heapTotal)}, external ${megabytes(external)}, rss ${megabytes(rss)}, ${seconds} s`,
  );
}
