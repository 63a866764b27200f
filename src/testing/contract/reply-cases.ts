import assert from "node:assert/strict";
import type { ContentBlock } from "../../conversation/message.ts";
import type { ModelEvent } from "../../models/port.ts";
import { collect, comparableBlocks, replyOf, withBench } from "./bench.ts";
import { type ExpectedReply, STANDARD_REPLIES } from "./expected.ts";
import {
  type ContractCase,
  type ContractSubject,
  REPLY_SCENARIOS,
  type ReplyScenario,
  type WireAnswer,
} from "./subject.ts";

/** Smaller than the longest character, so that some piece ends inside one. */
const AWKWARD_CHUNK_BYTES = 3;

export function replyCases(subject: ContractSubject): readonly ContractCase[] {
  return REPLY_SCENARIOS.flatMap((scenario) => {
    const wire = subject.wires[scenario];
    return wire === undefined ? [] : casesOf(subject, scenario, wire);
  });
}

function casesOf(
  subject: ContractSubject,
  scenario: ReplyScenario,
  wire: WireAnswer,
): readonly ContractCase[] {
  const expected = { ...STANDARD_REPLIES[scenario], ...subject.replies?.[scenario] };
  return [
    {
      title: `${scenario}: begins with "start", ends with "end", and the pieces make up the blocks`,
      run: () =>
        withBench(subject, [wire], async (bench) => {
          const events = await collect(bench);
          checkOrder(events);
          assert.deepEqual(blocksFromPieces(events), replyOf(events).content);
        }),
    },
    {
      title: `${scenario}: the reply has the provider's content, stop reason and usage`,
      run: () =>
        withBench(subject, [wire], async (bench) => checkReply(await collect(bench), expected, subject)),
    },
    {
      title: `${scenario}: how the bytes were cut into pieces changes nothing`,
      run: () =>
        withBench(subject, [wire], async (bench) => checkReply(await collect(bench), expected, subject), {
          chunkBytes: AWKWARD_CHUNK_BYTES,
        }),
    },
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

/** Checks each block against the pieces since the one before, and returns the blocks in their order. */
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
  assert.deepEqual(pieces, { text: "", thinking: "" }, "every piece belongs to a block");
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
