import assert from "node:assert/strict";
import type { ContentBlock } from "../../conversation/message.ts";
import { ModelError } from "../../models/model-error.ts";
import type { CallOptions, Model, ModelEvent, ModelReply, ModelRequest } from "../../models/port.ts";
import { STANDARD_REQUEST } from "./expected.ts";
import type { ContractSubject, WireAnswer } from "./subject.ts";
import { type ServingOptions, serveWires, type WireServer } from "./wire-server.ts";

/** What a case works with: the subject's model, connected to a server that plays the given answers. */
export interface Bench {
  readonly model: Model;
  readonly server: WireServer;
  /** Frozen to its leaves: a model that writes to it fails on the spot. */
  readonly request: ModelRequest;
}

/** Far beyond anything a loopback call needs; only keeps a broken model from hanging the whole run. */
const PATIENCE_MS = 10_000;

export async function withBench(
  subject: ContractSubject,
  answers: readonly WireAnswer[],
  work: (bench: Bench) => Promise<void>,
  options: ServingOptions = {},
): Promise<void> {
  const server = await serveWires(answers, options);
  try {
    const model = await subject.connect(server.baseUrl);
    const request = deepFreeze(structuredClone(subject.request ?? STANDARD_REQUEST));
    await within(work({ model, server, request }), subject, "the case comes to its end");
  } finally {
    await server.close();
  }
}

export async function within<T>(work: Promise<T>, subject: ContractSubject, what: string): Promise<T> {
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

export async function collect(bench: Bench, options: CallOptions = {}): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of bench.model.stream(bench.request, options)) events.push(event);
  return events;
}

export function replyOf(events: readonly ModelEvent[]): ModelReply {
  const last = events.at(-1);
  assert.ok(last?.type === "end", `the last event is "end", not "${last?.type}"`);
  return last.reply;
}

/** Runs to the failure; not failing, or failing with anything but a ModelError, breaks the rule. */
export async function failureOf(work: Promise<unknown>): Promise<ModelError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    assert.ok(error instanceof ModelError, `fails with a ModelError, not with ${String(error)}`);
    return error;
  }
  assert.fail("the call fails");
}

/** The same blocks with the ids of tool calls replaced by their order, where an adapter has to make them. */
export function comparableBlocks(
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
