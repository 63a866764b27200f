import assert from "node:assert/strict";
import type { ContentBlock } from "@longhaul/core/messages";
import type { CallOptions, Model, ModelEvent, ModelReply, ModelRequest } from "@longhaul/core/models";
import { ModelError, type ModelFailure } from "@longhaul/core/models";
import {
  type ContractCase,
  type ContractSubject,
  type ExpectedReply,
  FAILURE_SCENARIOS,
  type FailureScenario,
  REPLY_SCENARIOS,
  type ReplyScenario,
  STANDARD_FAILURES,
  STANDARD_REPLIES,
  STANDARD_REQUEST,
  type WireAnswer,
} from "./subject.ts";
import { type ServingOptions, serveWires, type WireServer } from "./wire-server.ts";

/**
 * Returns the rules that every model adapter must follow, as test cases for any test runner. In each case, a
 * real loopback server sends a recorded answer to the adapter with its real SDK.
 */
export function modelContract(subject: ContractSubject): readonly ContractCase[] {
  const { wires } = subject;
  const caseWith = casesFor(subject);
  return [
    ...REPLY_SCENARIOS.flatMap((scenario) => replyCases(caseWith, subject, scenario, wires[scenario])),
    ...FAILURE_SCENARIOS.flatMap((scenario) => failureCases(caseWith, subject, scenario, wires[scenario])),
    unreachableCase(subject),
    ...abortCases(caseWith, subject),
    ...repeatCases(caseWith, subject),
    countCase(caseWith, subject),
  ];
}

// Cases for replies

/**
 * Size of a piece in bytes. It is smaller than the longest character, so that some piece ends inside a
 * character.
 */
const AWKWARD_CHUNK_BYTES = 3;

function replyCases(
  caseWith: CaseWith,
  subject: ContractSubject,
  scenario: ReplyScenario,
  wire: WireAnswer | undefined,
): readonly ContractCase[] {
  if (wire === undefined) return [];
  const expected = { ...STANDARD_REPLIES[scenario], ...subject.replies?.[scenario] };
  const isAsRecorded = async (bench: Bench): Promise<void> =>
    checkReply(await collect(bench), expected, subject);
  return [
    caseWith(
      `${scenario}: the stream begins with "start", ends with "end", and its deltas add up to the blocks`,
      [wire],
      async (bench) => {
        const events = await collect(bench);
        checkOrder(events);
        assert.deepEqual(blocksFromPieces(events), replyOf(events).content);
      },
    ),
    caseWith(
      `${scenario}: the reply has the provider's content, stop reason and usage`,
      [wire],
      isAsRecorded,
    ),
    caseWith(`${scenario}: the reply does not depend on how the bytes are split`, [wire], isAsRecorded, {
      chunkBytes: AWKWARD_CHUNK_BYTES,
    }),
  ];
}

function checkReply(events: readonly ModelEvent[], expected: ExpectedReply, subject: ContractSubject): void {
  const { content, stopReason, usage } = replyOf(events);
  const ids = content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  assert.equal(new Set(ids).size, ids.length, "ids of tool calls are unique");
  assert.ok(!ids.includes(""), "ids of tool calls are not empty");
  assert.deepEqual(
    comparableBlocks(content, subject.toolCallIds),
    comparableBlocks(expected.content, subject.toolCallIds),
  );
  assert.equal(stopReason, expected.stopReason);
  const { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens } = usage;
  assert.deepEqual(
    { input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens },
    expected.usage,
  );
}

function checkOrder(events: readonly ModelEvent[]): void {
  const types = events.map(({ type }) => type);
  assert.equal(types.filter((type) => type !== "keep-alive")[0], "start", "the first event is start");
  assert.equal(types.filter((type) => type === "start").length, 1, "there is one start");
  assert.equal(types.indexOf("end"), types.length - 1, "there is one end, and nothing comes after it");
}

/**
 * Compares each complete block with the streamed pieces since the previous block. Returns the blocks in
 * order.
 */
function blocksFromPieces(events: readonly ModelEvent[]): readonly ContentBlock[] {
  const pieces = { text: "", thinking: "" };
  const calls = new Map<string, { readonly name: string; readonly json: string }>();
  const blocks: ContentBlock[] = [];
  for (const event of events) {
    if (event.type === "text") pieces.text += event.text;
    else if (event.type === "thinking") pieces.thinking += event.text;
    else if (event.type === "tool-call-start") calls.set(event.id, { name: event.name, json: "" });
    else if (event.type === "tool-call-input") {
      const call = calls.get(event.id);
      assert.ok(call !== undefined, "input comes only for a call that has started");
      calls.set(event.id, { ...call, json: call.json + event.json });
    } else if (event.type === "block") {
      checkBlock(event.block, pieces, calls);
      blocks.push(event.block);
    }
  }
  assert.deepEqual(pieces, { text: "", thinking: "" }, "every delta belongs to a block");
  assert.equal(calls.size, 0, "every call that starts becomes a block");
  return blocks;
}

function checkBlock(
  block: ContentBlock,
  pieces: { text: string; thinking: string },
  calls: Map<string, { readonly name: string; readonly json: string }>,
): void {
  if (block.type === "text") {
    assert.equal(pieces.text, block.text);
    pieces.text = "";
  } else if (block.type === "thinking") {
    assert.equal(pieces.thinking, block.thinking);
    pieces.thinking = "";
  } else if (block.type === "tool_use") {
    const call = calls.get(block.id);
    assert.ok(call !== undefined, "a call is announced before its block");
    assert.equal(call.name, block.name);
    assert.deepEqual(call.json === "" ? {} : JSON.parse(call.json), block.input);
    calls.delete(block.id);
  }
}

// Cases for failures

function failureCases(
  caseWith: CaseWith,
  subject: ContractSubject,
  scenario: FailureScenario,
  wire: WireAnswer | undefined,
): readonly ContractCase[] {
  if (wire === undefined) return [];
  const expected = subject.failures?.[scenario] ?? STANDARD_FAILURES[scenario];
  const title = `${scenario}: fails as "${expected.failure.kind}" and does not retry`;
  const failed = caseWith(title, [wire], async (bench) => {
    const error = await failureOf(collect(bench));
    assert.deepEqual(error.failure, namingModel(expected.failure, bench.model.name));
    assert.equal(error.retryHelps, expected.retryHelps, "retryHelps");
    assert.deepEqual(
      comparableBlocks(error.partial, subject.toolCallIds),
      comparableBlocks(expected.partial ?? [], subject.toolCallIds),
      "the error has the blocks that were complete before the failure",
    );
    assert.ok(error.message.length > 0, "the error has a message");
    assert.equal(bench.server.requests.length, 1, "one call makes one request");
  });
  return [failed];
}

function namingModel(failure: ModelFailure, model: string): ModelFailure {
  return failure.kind === "unknown-model" && failure.model === "" ? { ...failure, model } : failure;
}

function unreachableCase(subject: ContractSubject): ContractCase {
  return {
    title: 'no server at the address: fails as "unreachable", and a retry may help',
    run: async () => {
      const gone = await serveWires([]);
      await gone.close();
      const model = await subject.connect(gone.baseUrl);
      const request = subject.request ?? { max_tokens: 16, messages: [{ role: "user", content: "Anyone?" }] };
      const call = async (): Promise<void> => {
        for await (const _ of model.stream(request));
      };
      const error = await within(failureOf(call()), subject, "a call to an address without a server fails");
      assert.equal(error.failure.kind, "unreachable");
      assert.equal(error.retryHelps, true);
    },
  };
}

// Cases for aborts

const SILENCE: WireAnswer = { body: "", hang: true };

function abortCases(caseWith: CaseWith, subject: ContractSubject): readonly ContractCase[] {
  const { hang } = subject.wires;
  return [
    caseWith("an abort before the call: fails as aborted and sends nothing", [SILENCE], async (bench) => {
      await expectAborted(collect(bench, { signal: AbortSignal.abort() }));
      assert.equal(bench.server.requests.length, 0, "nothing is sent");
    }),
    caseWith(
      "an abort while waiting for the answer: ends at once and closes the connection",
      [SILENCE],
      async (bench) => {
        const controller = new AbortController();
        const failed = expectAborted(collect(bench, { signal: controller.signal }));
        await bench.server.firstRequest;
        controller.abort();
        await failed;
        await bench.server.dropped;
      },
    ),
    caseWith(
      "an abort before tokens are counted: fails as aborted",
      [SILENCE],
      async ({ model, request }) => {
        await expectAborted(model.countTokens(request, { signal: AbortSignal.abort() }));
      },
    ),
    ...(hang === undefined ? [] : midStreamCases(caseWith, { ...hang, hang: true })),
  ];
}

function midStreamCases(caseWith: CaseWith, hang: WireAnswer): readonly ContractCase[] {
  return [
    caseWith("an abort in mid-stream: ends at once and closes the connection", [hang], async (bench) => {
      const controller = new AbortController();
      await expectAborted(consumeUntilText(bench, () => controller.abort(), controller.signal));
      await bench.server.dropped;
    }),
    caseWith(
      "an abort while waiting for the next event: ends at once and closes the connection",
      [hang],
      async (bench) => {
        const controller = new AbortController();
        const later = (): unknown => setImmediate(() => controller.abort());
        await expectAborted(consumeUntilText(bench, later, controller.signal));
        await bench.server.dropped;
      },
    ),
    caseWith(
      "a caller that stops listening closes the connection",
      [hang],
      async ({ model, request, server }) => {
        for await (const event of model.stream(request)) if (event.type === "text") break;
        await server.dropped;
      },
    ),
  ];
}

async function expectAborted(work: Promise<unknown>): Promise<void> {
  const error = await failureOf(work);
  assert.equal(error.failure.kind, "aborted");
  assert.equal(error.retryHelps, false);
}

/** Keeps reading after the abort, like a caller that does not watch its own signal. */
async function consumeUntilText(bench: Bench, onText: () => unknown, signal: AbortSignal): Promise<void> {
  let heard = false;
  for await (const event of bench.model.stream(bench.request, { signal })) {
    if (event.type !== "text" || heard) continue;
    heard = true;
    onText();
  }
}

// Cases for repeated calls and token counts

function repeatCases(caseWith: CaseWith, subject: ContractSubject): readonly ContractCase[] {
  const { text, overloaded } = subject.wires;
  if (text === undefined) return [];
  const twice = caseWith(
    "a model serves several calls, and the same server response yields the same reply",
    [text],
    async (bench) => {
      const first = replyOf(await collect(bench));
      assert.deepEqual(replyOf(await collect(bench)), first);
      assert.deepEqual(bench.server.requests[0]?.body, bench.server.requests[1]?.body);
    },
  );
  if (overloaded === undefined) return [twice];
  const again = caseWith("a call after a failed one works", [overloaded, text], async (bench) => {
    await failureOf(collect(bench));
    assert.ok(replyOf(await collect(bench)).content.length > 0);
  });
  return [twice, again];
}

function countCase(caseWith: CaseWith, subject: ContractSubject): ContractCase {
  const wire = subject.wires["count-tokens"] ?? { status: 500, body: "{}" };
  const title = "countTokens returns a number above zero and names its source";
  return caseWith(title, [wire], async ({ model, request }) => {
    const count = await model.countTokens(request);
    assert.equal(count.source, model.capabilities.countTokens);
    assert.ok(Number.isInteger(count.tokens) && count.tokens > 0, `${count.tokens} tokens`);
    if (subject.countedTokens !== undefined) assert.equal(count.tokens, subject.countedTokens);
  });
}

// Environment of the cases

/** Environment of a case: the adapter's model, connected to a server that plays the given answers. */
interface Bench {
  readonly model: Model;
  readonly server: WireServer;
  /** Request of the case. It is deeply frozen, so that a model that writes to it fails immediately. */
  readonly request: ModelRequest;
}

/**
 * Default time limit of a case. It is far longer than a loopback call needs, and keeps a broken model from
 * hanging the whole run.
 */
const PATIENCE_MS = 10_000;

type CaseWith = (
  title: string,
  answers: readonly WireAnswer[],
  work: (bench: Bench) => Promise<void>,
  options?: ServingOptions,
) => ContractCase;

function casesFor(subject: ContractSubject): CaseWith {
  return (title, answers, work, options = {}) => ({
    title,
    run: async () => {
      const server = await serveWires(answers, options);
      try {
        const model = await subject.connect(server.baseUrl);
        const request = deepFreeze(structuredClone(subject.request ?? STANDARD_REQUEST));
        await within(work({ model, server, request }), subject, "the case finishes");
      } finally {
        await server.close();
      }
    },
  });
}

async function within<T>(work: Promise<T>, subject: ContractSubject, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new assert.AssertionError({ message: what })),
      subject.patienceMs ?? PATIENCE_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function collect(bench: Bench, options: CallOptions = {}): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of bench.model.stream(bench.request, options)) events.push(event);
  return events;
}

function replyOf(events: readonly ModelEvent[]): ModelReply {
  const last = events.at(-1);
  assert.ok(last?.type === "end", `the last event is "end", not "${last?.type}"`);
  return last.reply;
}

/**
 * Waits for the call to fail and returns its error. The case fails if the call succeeds, or if the error is
 * not a `ModelError`.
 */
async function failureOf(work: Promise<unknown>): Promise<ModelError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    assert.ok(error instanceof ModelError, `fails with a ModelError, not with ${String(error)}`);
    return error;
  }
  assert.fail("the call fails");
}

/** Replaces the ids of tool calls with their numbers, for adapters that generate these ids. */
function comparableBlocks(
  blocks: readonly ContentBlock[],
  ids: ContractSubject["toolCallIds"],
): readonly ContentBlock[] {
  if (ids !== "generated") return blocks;
  let count = 0;
  return blocks.map((block) => (block.type === "tool_use" ? { ...block, id: `call-${++count}` } : block));
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const field of Object.values(value)) deepFreeze(field);
  return Object.freeze(value);
}
