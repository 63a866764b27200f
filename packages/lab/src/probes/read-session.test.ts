import type { Entry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { deriveExam, gradeText } from "./exam.ts";
import { SessionBuilder } from "./invented-session.case.ts";

const [message] = new SessionBuilder().user("Paint the old boat in blue.").entries;
const withFields = (fields: Readonly<Record<string, unknown>>): Entry => ({ ...message, ...fields }) as Entry;
const userWords = (entries: readonly Entry[]): number =>
  deriveExam(entries).probes.filter(({ kind }) => kind === "user-words").length;

describe("reading a session", () => {
  it("a summary in a session is neither a source of probes nor proof of a literal", () => {
    const summary = withFields({
      isCompactSummary: true,
      message: { role: "user", content: "See src/moon-phase.ts, and paint the red boat." },
    });
    const exam = deriveExam([summary]);
    expect(exam.probes).toEqual([]);
    expect(gradeText(exam, "src/moon-phase.ts is new").falseStatements).toHaveLength(1);
  });

  it("subagents beside a main thread are left out, and a session of a subagent alone is read", () => {
    const side = withFields({ uuid: "side", isSidechain: true });
    const main = new SessionBuilder().assistant("The harbor is closed today.").entries;
    expect(userWords([...main, side])).toBe(0);
    expect(userWords([side])).toBe(1);
  });

  it("a repeated entry is read once", () => {
    const session = new SessionBuilder().call(
      "Bash",
      { command: "git commit -m x" },
      "[main 1a2b3c4] show the tide table today",
    );
    const once = deriveExam(session.entries).traps.length;
    expect(once).toBe(1);
    expect(deriveExam([...session.entries, ...session.entries]).traps).toHaveLength(once);
  });
});
