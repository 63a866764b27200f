import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries, arbitraryRequest } from "../../../../test/support/arbitraries.ts";
import { claudeCodeSessions, describeRecorded } from "../../../../test/support/real-sessions.ts";
import { foreignShape, isWholeReply, requireReadable } from "./require-messages.ts";
import { parseJson } from "./untrusted.ts";

const isForeign = (message: unknown): boolean => foreignShape(message) !== undefined || isWholeReply(message);

/**
 * Generates a block type that the API might add later. Its names are in snake case, like all field names of
 * the API.
 */
function futureBlock(): fc.Arbitrary<unknown> {
  const name = fc.stringMatching(/^[a-z]{2,8}(_[a-z]{2,8}){0,2}$/);
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string()), fc.constant(null));
  const known = ["image_url", "input_audio", "input_image", "input_file", "refusal", "file"];
  return fc
    .tuple(name, fc.dictionary(name, value, { maxKeys: 5 }))
    .filter(([type]) => !known.includes(type) && !/^(?:in|out)put_text$/.test(type))
    .map(([type, fields]) => ({ ...fields, type }));
}

const readAll = (messages: readonly unknown[]): void => {
  for (const [index, message] of messages.entries()) requireReadable(message, index);
};

describe("detection of foreign message formats", () => {
  it("accepts every request of the Messages API, valid or damaged", () => {
    fc.assert(
      fc.property(arbitraryRequest(), ({ messages }) => {
        expect(messages.filter(isForeign)).toEqual([]);
        expect(() => readAll(messages)).not.toThrow();
      }),
    );
  });

  it("accepts messages with blocks that the API may add later", () => {
    const role = fc.constantFrom("user", "assistant", "system");
    fc.assert(
      fc.property(role, fc.array(futureBlock(), { maxLength: 4 }), (name, content) => {
        const inside = [{ type: "tool_result", tool_use_id: "t", content }];
        for (const message of [
          { role: name, content },
          { role: name, content: inside },
        ]) {
          expect(isForeign(message)).toBe(false);
        }
      }),
    );
  });

  it("does not treat a session entry as a foreign format, however damaged it is", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        expect(entries.filter(isForeign)).toEqual([]);
        expect(() => readAll(entries)).not.toThrow();
      }),
    );
  });

  it("rejects a message of another API at any position among valid messages", () => {
    const foreign = fc.constantFrom<unknown>(
      { role: "tool", tool_call_id: "c", content: "x" },
      { role: "assistant", content: null, tool_calls: [{ id: "c" }] },
      { role: "user", content: [{ type: "input_text", text: "x" }] },
      { role: "assistant", content: [{ type: "tool-call", toolCallId: "c", toolName: "t", input: {} }] },
      { type: "function_call_output", call_id: "c", output: "x" },
    );
    fc.assert(
      fc.property(arbitraryRequest(), foreign, fc.nat(), ({ messages }, odd, place) => {
        const at = place % (messages.length + 1);
        const list = [...messages.slice(0, at), odd, ...messages.slice(at)];
        expect(() => readAll(list)).toThrow(`messages[${at}]`);
        expect(() => readAll(list.slice(0, at))).not.toThrow();
      }),
    );
  });
});

describeRecorded("detection of foreign message formats in recorded sessions", () => {
  it("does not treat any line of the recorded sessions as a foreign format", () => {
    for (const path of claudeCodeSessions().slice(0, 12)) {
      for (const line of readFileSync(path, "utf8").split("\n")) {
        const entry = parseJson(line);
        expect(isForeign(entry) ? path : undefined).toBeUndefined();
      }
    }
  });
});
