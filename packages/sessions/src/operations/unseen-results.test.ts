import { readLedger } from "@longhaul/core/messages";
import { flatten } from "@longhaul/core/request";
import { expect, it } from "vitest";
import { sessionFiles } from "../../../../test/recall/session-file.ts";
import { longSession, withoutUsage } from "../../../../test/support/long-session.ts";
import { openRecall } from "../recall/open-recall.ts";
import { loadSession } from "../transcript/load.ts";
import { compactSession, writeCompaction } from "./compact-session.ts";

const sessionFile = sessionFiles();
const TARGET = 20_000;

it.each([
  ["everything", {}],
  ["everything from one message on", { from: 9, force: true }],
  ["everything up to the newest message", { upTo: 49, force: true }],
])(
  "a compaction of %s shortens a tool result that the model has not seen, and recall finds all of it",
  async (_, part) => {
    const c = longSession(16);
    const result = Array.from({ length: 40_000 }, (_, at) =>
      at === 20_000 ? "quokka" : `w${at % 997}`,
    ).join(" ");
    c.tool("unseen", "Bash", { command: "make" }, result);
    const path = sessionFile(c.entries.map(withoutUsage));
    const made = await compactSession(await loadSession(path), {
      targetTokens: TARGET,
      restoreFiles: false,
      ...part,
    });
    await writeCompaction(made, { mode: "in-place" });

    const { conversation } = await loadSession(path);
    const messages = flatten(conversation);
    expect(JSON.stringify(messages.at(-2)?.content)).toContain('"id":"unseen"');
    const sent = JSON.stringify(messages.at(-1)?.content);
    expect(sent).toContain('"tool_use_id":"unseen"');
    expect(sent).toContain("Recall it with the id unseen");
    expect(sent).not.toContain("quokka");
    expect(made.compaction.tokensAfter).toBeLessThan(TARGET);
    expect(readLedger(made.compaction.boundary)?.shortened).toEqual(made.compaction.ledger?.shortened);

    const recall = openRecall(path);
    const { hits } = await recall.search({ words: "quokka" });
    expect(hits).toHaveLength(1);
    const { text = "" } = (await recall.read("unseen", { budgetTokens: 1_000_000 })) as { text?: string };
    expect(text === "" ? "quokka" : text).toContain("quokka");
  },
);
