import { appendFileSync } from "node:fs";
import type { Entry, LedgerFact } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { longSession } from "../../../../test/support/long-session.ts";
import { sessionWriter } from "../../../../test/transcript/written-session.ts";
import { loadSession, loadSparsely, type Session } from "../transcript/load.ts";
import { linesOf } from "../transcript/whole-file.ts";
import { compactSession, writeCompaction } from "./compact-session.ts";
import { knownFacts, sessionLedgers } from "./session-ledgers.ts";
import { undoSession, writeUndo } from "./undo-rewind.ts";

const write = sessionWriter();

/** Creates lines below the newest line of the session. */
function linesAfter(session: Session, add: (c: ConversationBuilder) => void, name: string): readonly Entry[] {
  const c = new ConversationBuilder(name);
  add(c);
  const [first, ...rest] = c.entries;
  const above = session.leafUuid ?? null;
  const link = first?.type === "system" ? { logicalParentUuid: above } : { parentUuid: above };
  return [{ ...first, ...link } as Entry, ...rest];
}

const STEPS = {
  work: async (session: Session, name: string) => {
    const add = (c: ConversationBuilder): void => {
      c.user(`Never rename ${name}.ts. The port is 80${name.length}.`);
      c.tool(
        `tool-${name}`,
        "Edit",
        { file_path: `/project/${name}.ts`, old_string: "a", new_string: "b" },
        "ok",
      );
      c.tool(`run-${name}`, "Bash", { command: `make ${name}` }, `error: ${name} failed\n`.repeat(200));
      c.assistant(`Done with ${name}.`);
    };
    appendFileSync(session.path, linesOf(linesAfter(session, add, name)));
  },
  "their compaction": async (session: Session, name: string) => {
    const add = (c: ConversationBuilder): void => {
      c.boundary();
      c.summary(`Their summary ${name}.`);
    };
    appendFileSync(session.path, linesOf(linesAfter(session, add, name)));
  },
  "our compaction": async (session: Session) => {
    const made = await compactSession(session, { restoreFiles: false, force: true }).catch(() => undefined);
    if (made !== undefined) await writeCompaction(made, { mode: "in-place" });
  },
  undo: async (session: Session) => {
    try {
      await writeUndo(undoSession(session), { mode: "in-place" });
    } catch {
      // There is nothing to undo.
    }
  },
} as const;

describe("knownFacts", () => {
  it("returns the facts of the newest ledger of the current conversation, for the next compaction", async () => {
    const steps = fc.array(fc.constantFrom(...(Object.keys(STEPS) as (keyof typeof STEPS)[])), {
      minLength: 2,
      maxLength: 8,
    });
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (names) => {
        let session = await write(longSession(4).entries);
        for (const [at, name] of names.entries()) {
          await STEPS[name](session, `s${at}`);
          session = await loadSession(session.path);
        }
        const newest = sessionLedgers(session).find(({ isInChain }) => isInChain);
        const known = knownFacts(session);
        expect(known?.boundary).toBe(newest?.ledger && newest.boundary.uuid);
        expect(known?.ledger.earlier).toEqual(newest?.ledger?.earlier);
        expect(known?.ledger.facts.map(withoutFate)).toEqual(newest?.ledger?.facts.map(withoutFate));
        expect(knownFacts(await loadSparsely(session.path))).toEqual(known);
        compared += known?.ledger.facts.length ?? 0;
      }),
      { numRuns: 40 },
    );
    expect(compared).toBeGreaterThan(0);
  });
});

const withoutFate = ({ fate: _, ...fact }: Partial<LedgerFact>): object => fact;
