import { computeThresholds } from "@longhaul/core/measure";
import type { Entry } from "@longhaul/core/messages";
import type { Session } from "@longhaul/sessions";
import {
  clearSession,
  compactSession,
  loadSession,
  undoSession,
  writeClearing,
  writeCompaction,
  writeUndo,
} from "@longhaul/sessions";
import { describe, expect, it } from "vitest";
import { ConversationBuilder, usage } from "../../../test/support/builders.ts";
import { terminal } from "../../../test/support/terminal.ts";
import { sessionWriter } from "../../../test/transcript/written-session.ts";
import { type InspectReport, inspectSession } from "./inspect-report.ts";
import { contextSection } from "./view/inspect-view.ts";

const written = sessionWriter();
const thresholds = computeThresholds({ windowTokens: 200_000, maxOutputTokens: 32_000 });
const inPlace = { mode: "in-place" } as const;

/** Creates twelve turns of Claude Code, with tool results that can be cleared. */
function session(reportsUsage: boolean): Promise<Session> {
  const c = new ConversationBuilder();
  for (let turn = 0; turn < 12; turn++) {
    c.user(`request ${turn}`);
    c.tool(`t${turn}`, "Read", { file_path: `/quay${turn}.ts` }, "word ".repeat(900));
    c.assistant(`done ${turn}`, reportsUsage ? { usage: usage(20_000 + 2_000 * turn, 7) } : {});
  }
  return written(c.entries.map((entry) => ({ ...entry, version: "2.1.219" }) as Entry));
}

async function inspected({ path }: Session): Promise<{ context: InspectReport["context"]; words: string }> {
  const report = inspectSession(await loadSession(path), thresholds);
  return { context: report.context, words: contextSection(report, terminal(100)) };
}

const compact = async ({ path }: Session): Promise<void> => {
  const result = await compactSession(await loadSession(path), { keepRecentTokens: 3_000, force: true });
  await writeCompaction(result, inPlace);
};
const clear = async ({ path }: Session): Promise<void> => {
  await writeClearing(clearSession(await loadSession(path), { keepNewest: 2 }), inPlace);
};
const undo = async ({ path }: Session): Promise<void> => {
  await writeUndo(undoSession(await loadSession(path)), inPlace);
};

describe("source of an estimated context size", () => {
  it.each([
    ["compaction", [compact]],
    ["clearing", [clear]],
    ["undo", [clear, undo]],
    ["compaction", [clear, undo, compact]],
  ] as const)(
    "says that the context size is an estimate if no response followed the %s",
    async (since, steps) => {
      const made = await session(true);
      for (const step of steps) await step(made);
      const { context, words } = await inspected(made);
      expect(context).toMatchObject({ source: "estimate", unreportedSince: since });
      expect(words).toContain(`Estimated: no response has reported its usage since the ${since}.`);
    },
  );

  it("says that the context size is an estimate if no response in the file reports its usage", async () => {
    const made = await session(false);
    for (const step of [undefined, compact]) {
      await step?.(made);
      const { context, words } = await inspected(made);
      expect(context).toMatchObject({ source: "estimate", unreportedSince: null });
      expect(words).toContain("Estimated: no response has reported its usage yet.");
    }
  });

  it("does not call the context size an estimate if the newest response reports its usage", async () => {
    const { context, words } = await inspected(await session(true));
    expect(context).toMatchObject({ source: "usage", unreportedSince: null });
    expect(words).not.toContain("reports its usage");
  });
});
