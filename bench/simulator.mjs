// Measures the overhead of the simulator in a test, without the network. Compares the time to handle a
// request with the time of JSON.parse of its body.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { checkRequest } from "@longhaul/core";
import { flatten } from "@longhaul/core/request";
import { createFixedClock, RequestLog } from "@longhaul/simulator";
import { createTokenCounter } from "../packages/simulator/src/anthropic/prompt/token-count.ts";
import { createDemoSession } from "../packages/simulator/src/demo-session.ts";
import { beginSession } from "../packages/simulator/src/simulator.ts";
import { claim } from "./claims.mjs";
import { collectGarbage, consume, median } from "./measure.mjs";
import { milliseconds, table, times } from "./table.mjs";

const MAX_TIMES = 2;
/** Requested sizes of the demo sessions. The sent size is smaller, as the table shows. */
const SIZES = [15_000, 180_000, 600_000];
/** Requested size for the claim about a request of 150,000 tokens. */
const CLAIMED = 180_000;
const CONVERSATIONS = 5;
/**
 * Number of unmeasured conversations at the start. They let the JIT compile the code, as in a long test
 * suite.
 */
const WARM_UP = 4;
/** Turns of each conversation, after its first request. */
const TURNS = 12;
/** Number of request bodies that the simulator keeps by default. */
const KEPT_BODIES = 100;
const PATH = "/v1/messages";
const HEADERS = {
  "x-api-key": "bench",
  "anthropic-version": "2023-06-01",
  "content-type": "application/json",
};

export async function run({ isQuick }) {
  const rows = [];
  for (const size of isQuick ? SIZES.slice(0, 2) : SIZES) {
    collectGarbage();
    rows.push(await measure(size, isQuick ? 2 : CONVERSATIONS));
  }
  const claimed = rows.find(({ size }) => size === CLAIMED);
  const cold = coldRatio(isQuick ? 3 : 7);
  return {
    text: table(
      "The simulator: a request that is one turn longer than the one before",
      ["tokens", "messages", "body", "JSON.parse", "handled", "ratio", "first request"],
      rows.map(({ cells }) => ({ ours: true, cells })),
      [
        "Parsed: from the bytes of the body to its values. Handled: from the same bytes to those of the answer.",
        "The network is left out. The first request of a conversation is counted with the tokenizer.",
        `The second request of a fresh process, over HTTP, with nothing compiled yet: ${times(cold)} (${CLAIMED.toLocaleString("en")} asked for).`,
      ],
    ),
    claims: [
      claim(
        `the simulator against JSON.parse, one more turn of ${claimed.tokens.toLocaleString("en")} tokens`,
        `< ${MAX_TIMES}×`,
        claimed.ratio,
        (ratio) => ratio < MAX_TIMES,
      ),
      claim(
        "… and of the second request of a fresh process, over HTTP",
        `< ${MAX_TIMES}×`,
        cold,
        (ratio) => ratio < MAX_TIMES,
      ),
    ],
  };
}

function coldRatio(processes) {
  const child = fileURLToPath(new URL("./simulator-child.mjs", import.meta.url));
  const ratios = Array.from({ length: processes }, () => {
    const { stdout, status, stderr } = spawnSync(
      process.execPath,
      ["--import", "tsx", child, String(CLAIMED)],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(stderr);
    const { parseMs, handleMs } = JSON.parse(stdout);
    return handleMs / parseMs;
  });
  return median(ratios);
}

/** Measures conversations of one size. Each turn adds an answer and its results to the previous request. */
async function measure(size, conversations) {
  const figures = { beginning: [], parsing: [], handling: [] };
  let last;
  for (let round = -WARM_UP; round < conversations; round++) {
    const handle = await freshSimulator();
    let body = bodyOf(messagesOf(size));
    let answer;
    const beginningMs = timed(() => (answer = handle(body)));
    if (round >= 0) figures.beginning.push(beginningMs);
    for (let turn = 0; turn < TURNS; turn++) {
      body = bodyOf([...JSON.parse(body).messages, ...nextTurn(JSON.parse(answer))]);
      const parseMs = timed(() => consume(JSON.parse(body.toString())));
      const handleMs = timed(() => (answer = handle(body)));
      if (round < 0) continue;
      figures.parsing.push(parseMs);
      figures.handling.push(handleMs);
    }
    last = { body, usage: JSON.parse(answer).usage };
  }
  return rowOf(size, figures, last);
}

function rowOf(size, { beginning, parsing, handling }, { body, usage }) {
  const [parseMs, handleMs] = [median(parsing), median(handling)];
  const tokens = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  const cells = [
    tokens.toLocaleString("en"),
    String(JSON.parse(body).messages.length),
    `${Math.round(body.length / 1_000)} KB`,
    milliseconds(parseMs),
    milliseconds(handleMs),
    times(handleMs / parseMs),
    milliseconds(median(beginning)),
  ];
  return { size, tokens, ratio: handleMs / parseMs, cells };
}

function timed(run) {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}

/**
 * Creates a simulator without caches from an earlier round. Returns a function that takes a request as bytes
 * and returns the response as bytes.
 */
async function freshSimulator() {
  const log = new RequestLog({ keepBodies: KEPT_BODIES, keepRequests: 10_000 });
  const lasting = { counter: await createTokenCounter(), clock: createFixedClock(), log };
  const switches = { foreignSignatures: "accepted" };
  const { desk } = beginSession({ switches }, lasting);
  return (content) => {
    const entry = desk.open("POST", PATH);
    const body = desk.parse(content);
    entry.body = body;
    entry.bytes = content.length;
    const call = {
      query: new URLSearchParams(),
      headers: HEADERS,
      body,
      bodyProblem: undefined,
      entry,
    };
    const answer = desk.answer(call);
    answer.begun?.();
    return Buffer.from(JSON.stringify(answer.body));
  };
}

const TOOLS = ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "TodoWrite"].map((name) => ({
  name,
  description: `${name} as a coding agent has it.`,
  input_schema: {
    type: "object",
    properties: { file_path: { type: "string" }, command: { type: "string" } },
  },
}));

/** Sets cache marks like agents do: on the system prompt and on the newest message. */
function bodyOf(messages) {
  const ephemeral = { type: "ephemeral" };
  const system = [{ type: "text", text: "You are a coding agent. ".repeat(200), cache_control: ephemeral }];
  return Buffer.from(
    JSON.stringify({
      model: "claude-opus-4-6",
      max_tokens: 4_000,
      system,
      tools: TOOLS,
      cache_control: ephemeral,
      messages,
    }),
  );
}

function messagesOf(approximateTokens) {
  const messages = flatten(createDemoSession({ approximateTokens }));
  const last = messages.findLastIndex(({ role }) => role === "user");
  return checkRequest({ messages: messages.slice(0, last + 1) }).request.messages;
}

/** Returns the client's next messages: the answer, and a result for each call in it. */
function nextTurn({ content }) {
  const results = content
    .filter(({ type }) => type === "tool_use")
    .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "done ".repeat(200) }));
  const words = { type: "text", text: "Please go on." };
  return [
    { role: "assistant", content },
    { role: "user", content: results.length > 0 ? results : [words] },
  ];
}
