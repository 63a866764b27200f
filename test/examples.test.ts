import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { codeBlocks } from "./support/markdown.ts";

const ROOT = join(import.meta.dirname, "..");
const EXAMPLES = join(ROOT, "examples");
const names = readdirSync(EXAMPLES).filter((name) => /^\d\d-/.test(name));

/** A line that each example must print to prove that it worked. */
const EXPECTED: Readonly<Record<string, RegExp>> = {
  "01-count-tokens.ts": /\d+% left; compact now: false/,
  "02-check-a-request.ts": /valid as given: false/,
  "03-compact-a-conversation.ts": /\d+ → \d+ tokens/,
  "04-compact-a-session-file.ts": /in-place: \d+ → \d+ tokens/,
  "05-ask-a-model.ts": /the parser drops the last comma\.\nend_turn, \d+ tokens/,
  "06-compact-with-a-model.ts": /writing\n\d+ → \d+ tokens, written by model/,
  "07-agent-loop.ts": /results-cleared[\s\S]*compacted[\s\S]*\d+ calls, 0 of them refused/,
  "08-session-notes.ts": /compacted: memory[\s\S]*10 sections of notes/,
  "09-recall.ts": /OLD[\s\S]*The harbour's quota is 4,711 ships an hour/,
  "10-agent.ts": /Read\(tides\.txt\)\nberths\(north\)\nHigh water is at 04:12/,
};

describe("the example programs", () => {
  it("examples are numbered, under 40 lines each, and have an expected outcome", () => {
    expect(names).toEqual(Object.keys(EXPECTED));
    for (const name of names) {
      expect(readFileSync(join(EXAMPLES, name), "utf8").split("\n").length).toBeLessThanOrEqual(40);
    }
  });

  it.each(names)("%s runs against the built package and prints its expected outcome", async (name) => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--import", "tsx", join(EXAMPLES, name)],
      { cwd: ROOT },
    );
    expect(stdout).toMatch(EXPECTED[name] as RegExp);
  });

  it("the loop guide quotes the example of an agent loop exactly", () => {
    const guide = readFileSync(join(ROOT, "docs", "guides", "use-it-in-your-loop.md"), "utf8");
    const example = readFileSync(join(EXAMPLES, "07-agent-loop.ts"), "utf8");
    expect(codeBlocks(guide).map(({ code }) => code)).toContain(example);
  });
});
