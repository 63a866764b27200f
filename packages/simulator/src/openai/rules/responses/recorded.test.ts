import { readFileSync } from "node:fs";
import { isRecord, type JsonRecord } from "@longhaul/core/internal/messages";
import { checkResponsesRequest } from "@longhaul/openai";
import { expect, it } from "vitest";
import { describeRecorded, realSessionPath } from "../../../../../../test/support/real-sessions.ts";
import { verdictOn } from "./rule-bench.case.ts";

/** A session of Codex. Its lines hold the items that Codex sent or got. */
const SESSION = "codex__agentv__00_34f597b72d_1.jsonl";

function recordedItems(): readonly JsonRecord[] {
  const lines = readFileSync(realSessionPath(SESSION), "utf8").split("\n").filter(Boolean);
  return lines.flatMap((line) => {
    const { type, payload } = JSON.parse(line) as JsonRecord;
    return type === "response_item" && isRecord(payload) ? [payload] : [];
  });
}

describeRecorded("a recorded session of Codex", () => {
  it("is an input that the rules accept as a whole, and after each turn", () => {
    const items = recordedItems();
    const call = { switches: { foreignReasoning: "accepted" } } as const;
    expect(items.length).toBeGreaterThan(100);
    expect(verdictOn({ input: items, store: false }, call)).toBe("accepted");
    for (const [index, item] of items.entries()) {
      if (item.role !== "user") continue;
      expect(verdictOn({ input: items.slice(0, index + 1), store: false }, call)).toBe("accepted");
    }
  });

  it("is an input in which the checker of @longhaul/openai finds nothing", () => {
    const body = { model: "gpt-5", input: recordedItems(), store: false };
    expect(checkResponsesRequest(body, { reasoningModel: true }).findings).toEqual([]);
  });
});
