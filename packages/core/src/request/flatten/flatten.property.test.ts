import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../../test/support/api-rules.ts";
import { arbitraryEntries } from "../../../../../test/support/arbitraries.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import type { Entry } from "../../messages/entry.ts";
import type { ApiMessage, ContentBlock } from "../../messages/message.ts";
import { checkRequest } from "../check/check.ts";
import { Draft, entryPath } from "../check/rule.ts";
import { countMessages } from "./count-messages.ts";
import { flatten, flattenChecked, readEntries } from "./flatten.ts";

const RUNS = { numRuns: 500 };

describe("flattening any entries", () => {
  it("flattens any entries to messages that satisfy the API's rules", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        expect(apiRuleViolations(flatten(entries))).toEqual([]);
      }),
      RUNS,
    );
  });

  it("countMessages returns the number of messages that flattening builds", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        const built = readEntries(new Draft({ messages: [] }, entryPath), entries);
        expect(countMessages(entries)).toBe(built.length);
      }),
      RUNS,
    );
  });

  it("flattened messages pass the checker without a change", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        const request = { messages: flatten(entries) };
        const checked = checkRequest(request);
        expect(checked.request).toBe(request);
        expect(checked.findings.filter((finding) => finding.rule !== "no-messages")).toEqual([]);
      }),
      RUNS,
    );
  });

  it("flattening keeps every text of the user and the tools, or reports the omitted entry", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        const { messages, findings } = flattenChecked(entries);
        const sent = new Set(JSON.stringify(messages).match(WORD));
        const dropped = findings.filter((finding) => finding.action === "dropped");
        const named = new Set(dropped.map((finding) => Number(finding.path.split(".")[1])));
        for (const [index, entry] of entries.entries()) {
          if (entry?.type !== "user" && entry?.type !== "attachment") continue;
          const words = JSON.stringify(entry).match(WORD) ?? [];
          if (!named.has(index)) for (const word of words) expect(sent).toContain(word);
        }
      }),
      RUNS,
    );
  });

  it("flattening repairs a valid conversation only at its start, at its end and around cut-off responses", () => {
    const harmless = new Set([
      "tool-use-unanswered",
      "first-role",
      "same-role",
      "no-messages",
      "thinking-only",
    ]);
    fc.assert(
      fc.property(arbitraryEntries({ damaged: false }), (entries) => {
        const { findings } = flattenChecked(entries);
        expect(findings.filter((finding) => !harmless.has(finding.rule))).toEqual([]);
      }),
      RUNS,
    );
  });

  it("flattening never changes the entries and returns equal messages each time", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        expect(flatten(deepFreeze(entries))).toEqual(flatten(entries));
      }),
      RUNS,
    );
  });

  it("flattened messages share the thinking and tool call blocks of the entries instead of copying them", () => {
    fc.assert(
      fc.property(arbitraryEntries({ damaged: false }), (entries) => {
        const given = new Set(entries.flatMap(listedBlocks));
        for (const block of sentBlocks(flatten(entries))) {
          if (block.type === "thinking" || block.type === "tool_use") expect(given.has(block)).toBe(true);
        }
      }),
      RUNS,
    );
  });
});

const WORD = /(?:said|result)-\d+/g;

function listedBlocks(entry: Entry): readonly ContentBlock[] {
  if (entry.type !== "user" && entry.type !== "assistant") return [];
  return typeof entry.message.content === "string" ? [] : entry.message.content;
}

function sentBlocks(messages: readonly ApiMessage[]): readonly ContentBlock[] {
  return messages.flatMap((message) => (typeof message.content === "string" ? [] : message.content));
}
