// A session of an agent that imports only @longhaul/core: it counts, checks, compacts with a model and without
// one, and recovers from an overflow. Every runtime must return the same facts.
import { builtInModel, checkRequest, createCompactor, estimateTokens, LonghaulError } from "@longhaul/core";
import { contextTokens } from "@longhaul/core/measure";

const LINE = "The crates on pier 7 are counted, and the tide tables hang beside the door. ";

/** A conversation with tool calls, and with texts in several scripts. */
function conversation() {
  const messages = [
    { role: "user", content: "Please rename the variable crateCount in src/pier.ts. Never touch main." },
  ];
  for (let round = 0; round < 40; round++) {
    const id = `toolu_${round}`;
    messages.push({
      role: "assistant",
      content: [
        { type: "text", text: `I read part ${round}. 潮汐表 и причал ☂` },
        { type: "tool_use", id, name: "Read", input: { file_path: `src/part${round}.ts` } },
      ],
    });
    messages.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content: LINE.repeat(60) }],
    });
  }
  messages.push({ role: "assistant", content: "Done with the first forty parts." });
  messages.push({ role: "user", content: "Now run the tests." });
  return messages;
}

async function compacted(options) {
  const events = [];
  const compactor = createCompactor({
    window: { tokens: 40_000 },
    ...options,
    host: { onEvent: ({ type }) => events.push(type) },
  });
  const before = conversation();
  await compactor.before(before);
  const turn = await compactor.compact(before, { instructions: "Name every file." });
  const text = JSON.stringify(turn.messages);
  await compactor.close();
  return {
    steps: turn.compaction?.attempts.map(({ step, outcome }) => `${step} ${outcome}`),
    isShorter: text.length < JSON.stringify(before).length / 2,
    keepsRequest: text.includes("crateCount"),
    keepsNewest: text.includes("Now run the tests."),
    isValid: checkRequest({ messages: turn.request.messages }).valid,
    isReported: events.includes("compacted"),
  };
}

/** Recovers from an error that the provider sends when the window is smaller than the table says. */
async function recovered() {
  const compactor = createCompactor({ window: { tokens: 200_000 } });
  await compactor.before(conversation());
  const message = "prompt is too long: 61000 tokens > 40000 maximum";
  const error = Object.assign(new Error(message), {
    status: 400,
    error: { type: "error", error: { type: "invalid_request_error", message } },
  });
  const turn = await compactor.recover(error);
  return { isShorter: turn !== undefined && turn.messages.length < conversation().length };
}

async function errorOfWrongUse() {
  try {
    await createCompactor({ window: { tokens: -1 } }).before([]);
    return "none";
  } catch (error) {
    return error instanceof LonghaulError ? error.code : `foreign ${String(error)}`;
  }
}

export async function run() {
  return {
    tokens: [estimateTokens(LINE), estimateTokens("潮汐表"), estimateTokens("причал")],
    counted: contextTokens([]),
    repaired: checkRequest({ messages: [{ role: "assistant", content: "first" }] }).findings.map(
      ({ rule }) => rule,
    ),
    builtIn: await compacted({}),
    recovered: await recovered(),
    withModel: await compacted({ model: builtInModel() }),
    wrongUse: await errorOfWrongUse(),
  };
}
