import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const EXAMPLES = join(ROOT, "examples");
const names = readdirSync(EXAMPLES).filter((name) => /^\d\d-/.test(name));

/** A line that each example must print: it did what it says. */
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

describe("examples", () => {
  it("are numbered, each under 40 lines, each with an expected outcome", () => {
    expect(names).toEqual(Object.keys(EXPECTED));
    for (const name of names) {
      expect(readFileSync(join(EXAMPLES, name), "utf8").split("\n").length).toBeLessThanOrEqual(40);
    }
  });

  it.each(names)("%s runs against the built package and does what it says", async (name) => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--import", "tsx", join(EXAMPLES, name)],
      { cwd: ROOT },
    );
    expect(stdout).toMatch(EXPECTED[name] as RegExp);
  });

  it("the README's library code is an example, to the letter", () => {
    const readme = readFileSync(join(ROOT, "README.md"), "utf8");
    const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code);
    expect(blocks.length).toBeGreaterThan(0);
    const sources = names.map((name) => readFileSync(join(EXAMPLES, name), "utf8"));
    for (const block of blocks) expect(sources.some((source) => source.includes(block as string))).toBe(true);
  });
});
