import { compact, planCompaction } from "@longhaul/core/compaction";
import { describe, expect, it } from "vitest";
import { OUR_TEMPLATE } from "../../../test/support/arbitrary-notes.ts";
import { countingPorts, longSession } from "../../../test/support/long-session.ts";
import { rebuild } from "../../core/src/compaction/compact.ts";
import { sectionName } from "./notes-format.ts";
import { notesSource, planFromNotes } from "./plan-from-notes.ts";

const SECTIONS = OUR_TEMPLATE.sections.map(({ heading }) => sectionName(heading));

describe("a second compaction after a compaction from notes", () => {
  it("a second compaction without a model keeps the facts of every section of the notes", async () => {
    const facts = SECTIONS.map((name, at) => `fact-${at} of ${name.toLowerCase()}`);
    const text = SECTIONS.map((name, at) => `# ${name}\n- ${facts[at]}`).join("\n\n");
    const { entries } = longSession();
    const made = planFromNotes({ entries }, { coveredUuid: entries.at(-20)?.uuid, text });
    if ("declined" in made) throw new Error(made.declined);
    const first = await compact(made.plan, countingPorts(), { source: notesSource({ text }) });
    const continued = [...rebuild(first), ...longSession(40, "on").entries];
    const second = await compact(planCompaction({ entries: continued }), countingPorts());
    const missing = facts.filter((fact) => !JSON.stringify(second.summary).includes(fact));
    expect(missing).toEqual([]);
  });
});
