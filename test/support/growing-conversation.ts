import type { ApiMessage, ContentBlock } from "@longhaul/core";
import fc from "fast-check";
import { arbitraryRequest } from "./arbitraries.ts";
import { image, thinking, toolResult, toolUse } from "./builders.ts";

/**
 * Generates long conversations that are mostly valid. Only in a valid conversation can the engine append
 * messages without reading all messages again.
 */
export function arbitraryConversation(): fc.Arbitrary<readonly ApiMessage[]> {
  const step = fc.oneof(
    { weight: 12, arbitrary: roundStep() },
    { weight: 6, arbitrary: accidentStep() },
    { weight: 1, arbitrary: anythingStep() },
  );
  return fc.array(step, { minLength: 1, maxLength: 12 }).map((steps) => {
    const messages: ApiMessage[] = [{ role: "user", content: "begin" }];
    for (const [index, write] of steps.entries()) for (const message of write(index)) messages.push(message);
    return messages;
  });
}

/** Splits the conversation into pieces, like turns. */
export function arbitrarySplit<T>(
  items: fc.Arbitrary<readonly T[]>,
): fc.Arbitrary<readonly (readonly T[])[]> {
  return fc
    .tuple(items, fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 20 }))
    .map(([list, lengths]) => {
      const pieces: (readonly T[])[] = [];
      for (let at = 0, turn = 0; at < list.length; turn++) {
        // Ends the loop even if all lengths are 0.
        const length = turn > 40 ? list.length : (lengths[turn % lengths.length] ?? 1);
        pieces.push(list.slice(at, at + length));
        at += length;
      }
      return pieces;
    });
}

type Step = (index: number) => readonly ApiMessage[];

function roundStep(): fc.Arbitrary<Step> {
  return fc
    .record({
      thinks: fc.boolean(),
      calls: fc.integer({ min: 0, max: 3 }),
      picture: fc.boolean(),
      says: fc.boolean(),
    })
    .map(({ thinks, calls, picture, says }) => (index) => {
      const ids = Array.from({ length: calls }, (_, call) => `toolu_${index}_${call}`);
      const said: ContentBlock[] = thinks ? [thinking(`thought ${index}`)] : [];
      said.push({ type: "text", text: `said ${index}` });
      for (const id of ids) said.push(toolUse(id, "Read", picture ? { lines: "[1]" } : { file_path: id }));
      const nested: readonly ContentBlock[] = [{ type: "text", text: "seen" }, image()];
      const answers: ContentBlock[] = ids.map((id) => toolResult(id, picture ? nested : "read"));
      if (says || calls === 0) answers.push({ type: "text", text: `asked ${index}` });
      return [
        { role: "assistant", content: said },
        { role: "user", content: answers },
      ];
    });
}

const text = (words: string): ContentBlock => ({ type: "text", text: words });
const user = (...content: ContentBlock[]): ApiMessage => ({ role: "user", content });
const assistant = (...content: ContentBlock[]): ApiMessage => ({ role: "assistant", content });
const other = (block: object): ContentBlock => block as ContentBlock;
const marked = (ttl: "5m" | "1h"): ContentBlock => ({
  type: "text",
  text: "marked",
  cache_control: { type: "ephemeral", ttl },
});
const serverUse = (id: string): ContentBlock =>
  other({ type: "server_tool_use", id, name: "web_search", input: {} });
const serverResult = (id: string): ContentBlock =>
  other({ type: "web_search_tool_result", tool_use_id: id, content: [] });
const earlier = (index: number, back: number): string => `toolu_${Math.max(0, index - back)}_0`;

/** Generates one fault or unusual event, after which the conversation continues. */
function accidentStep(): fc.Arbitrary<Step> {
  return fc.constantFrom<Step>(
    () => [user(text("again"))],
    () => [user(text(" "))],
    () => [user()],
    () => [assistant()],
    () => [assistant(text("more "))],
    () => [assistant(thinking("alone"))],
    (index) => [assistant(text("x"), thinking(`last ${index}`))],
    (index) => [assistant(toolUse(`open_${index}`, "Bash", {}))],
    (index) => [user(toolResult(`open_${index - 1}`, "late"))],
    (index) => [user(toolResult(`open_${index - 2}`, "later"))],
    (index) => [user(toolResult(earlier(index, 1), "second"))],
    (index) => [user(toolResult(earlier(index, 3), "second, long after"))],
    (index) => [
      assistant(toolUse(earlier(index, 1), "Read", {})),
      user(toolResult(earlier(index, 1), "same id")),
    ],
    (index) => [assistant(toolUse(earlier(index, 4), "Read", {}))],
    (index) => [user(toolResult(earlier(index, -2), "before its call"))],
    (index) => [assistant(toolUse(`${earlier(index, 1)}_2`, "Read", {}))],
    (index) => [
      assistant(toolUse(`bad id ${index}`, "a b", "{}")),
      user(toolResult(`bad id ${index}`, "ok")),
    ],
    (index) => [
      assistant(toolUse(`late_${index}`, "Read", {})),
      user(text("first"), toolResult(`late_${index}`, "ok")),
    ],
    (index) => [user(toolResult(`gone_${index}`, "orphan"))],
    () => [user(image(), image(), text("look"))],
    () => [user(other({ type: "document", source: null }))],
    () => [user(marked("5m"))],
    () => [assistant(text("ok")), user(marked("1h"))],
    () => [{ role: "system", content: "be brief" }],
    () => [user(text("so")), { role: "system", content: "be brief" }],
    () => [assistant(serverUse("srv")), user(text("go on"))],
    (index) => [
      assistant(serverUse("srv"), toolUse(`with_${index}`, "Read", {})),
      user(toolResult(`with_${index}`, "ok")),
    ],
    () => [assistant(serverResult("srv"), text("found"))],
    () => [assistant(serverUse("srv2"), serverResult("srv2"), text("found"))],
    () => [assistant(other({ type: "compaction", content: "sum" }))],
    () => [assistant(other({ type: "compaction", content: "sum", signature: "s" }))],
    () => [{ role: "narrator", content: "odd" } as unknown as ApiMessage],
    () => [null as unknown as ApiMessage, "x" as unknown as ApiMessage],
    () => [{ role: "user", content: { type: "text", text: "alone" } } as unknown as ApiMessage],
  );
}

function anythingStep(): fc.Arbitrary<Step> {
  return arbitraryRequest().map(
    ({ messages }) =>
      () =>
        messages.slice(0, 3),
  );
}
