import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import { CappedText, CommandOutput, OutputFile } from "./command-output.ts";

const folder = temporaryFolder();
let files = 0;

function newOutput(shownChars: number, more: { isKeptFromStart?: boolean; limitBytes?: number } = {}) {
  const name = `output-${++files}.txt`;
  const file = new OutputFile(async () => folder, name, more.limitBytes);
  const output = new CommandOutput({ shownChars, file, isKeptFromStart: more.isKeptFromStart ?? false });
  return { output, path: join(folder, name) };
}

const contentOf = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined;

const LIMIT = 400;
/** Texts of all lengths. The default sizes of fast-check would rarely reach the limit. */
const pieces = fc.array(fc.string({ unit: fc.constantFrom(..."abc \n漢😀é"), maxLength: 120, size: "max" }), {
  maxLength: 20,
  size: "max",
});

describe("the part of a command's output that the model sees", () => {
  it("shows a short output whole, and a long output as its beginning, the omitted amount and its end", () => {
    fc.assert(
      fc.property(pieces, (parts) => {
        const capped = new CappedText(LIMIT);
        for (const part of parts) capped.add(part);
        const text = parts.join("");
        let leftOut = { characters: 0, lines: 0 };
        const shown = capped.render((left) => {
          leftOut = left;
          return `[${left.characters} of ${left.lines}]`;
        });
        expect(shown.length).toBeLessThanOrEqual(LIMIT);
        expect(shown.isWellFormed()).toBe(true);
        if (text.length <= LIMIT) {
          expect(shown).toBe(text);
          return;
        }
        const [head = "", tail = ""] = shown.split(`[${leftOut.characters} of ${leftOut.lines}]`);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        const between = text.slice(head.length, text.length - tail.length);
        expect(leftOut).toEqual({ characters: between.length, lines: between.split("\n").length - 1 });
        // The cut loses at most two half characters.
        expect(shown.length).toBeGreaterThanOrEqual(LIMIT - 14);
      }),
    );
  });

  it("counts a last line without a line end as a line", () => {
    const lines = (text: string): number => {
      const capped = new CappedText(10);
      capped.add(text);
      return capped.lines;
    };
    expect([lines(""), lines("a"), lines("a\n"), lines("a\nb"), lines("\n\n")]).toEqual([0, 1, 1, 2, 2]);
  });
});

describe("the file of a long output", () => {
  it("keeps the whole output in a file when the model does not see all of it", async () => {
    await fc.assert(
      fc.asyncProperty(pieces, fc.boolean(), fc.nat(20), async (parts, isKeptFromStart, lookAt) => {
        const { output, path } = newOutput(LIMIT, { isKeptFromStart });
        const bytes = Buffer.from(parts.join(""));
        const looks: string[] = [];
        const step = 1 + (bytes.length >> 3);
        for (let at = 0, nth = 0; at < bytes.length; at += step, nth++) {
          await output.add(bytes.subarray(at, at + step));
          if (isKeptFromStart && nth === lookAt) looks.push((await output.look()).text);
        }
        await output.finish();
        looks.push((await output.look()).text);
        const whole = bytes.toString();
        for (const look of looks) expect(look.length).toBeLessThanOrEqual(LIMIT);
        const isAllSeen = looks.join("") === whole;
        expect(contentOf(path)).toBe(isKeptFromStart ? whole || undefined : isAllSeen ? undefined : whole);
        if (!isAllSeen) expect(looks.join("")).toContain(path);
      }),
      { numRuns: 40 },
    );
  });

  it("the file that contains the output of a command is readable only by the user", async () => {
    const { output, path } = newOutput(10);
    await output.add(Buffer.from("more than ten characters"));
    await output.finish();
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("cuts the file of a long output at its size limit, between two characters, and says so", async () => {
    const { output, path } = newOutput(200, { limitBytes: 1_024 });
    for (let nth = 0; nth < 50; nth++) await output.add(Buffer.from(`${nth}:${"é".repeat(40)}`));
    await output.finish();
    expect(statSync(path).size).toBeLessThanOrEqual(1_024);
    expect(statSync(path).size).toBeGreaterThan(1_020);
    expect(contentOf(path)).not.toContain("\ufffd");
    expect((await output.look()).text).toContain("MB of the output are in");
  });

  it("a failure to write the output file does not stop the command, and is reported", async () => {
    const file = new OutputFile(async () => join(folder, "nowhere"), "x.txt");
    const output = new CommandOutput({ shownChars: 300, file, isKeptFromStart: false });
    await output.add(Buffer.from("x".repeat(1_000)));
    await output.finish();
    expect((await output.look()).text).toContain("could not be saved to a file (ENOENT)");
  });

  it.skipIf(process.platform === "win32")(
    "never writes a command's output through a link at the path of the output file",
    async () => {
      const own = join(folder, "own");
      mkdirSync(own);
      symlinkSync(join(folder, "target"), join(own, "x.txt"));
      const file = new OutputFile(async () => own, "x.txt");
      await file.write("text");
      await file.close();
      expect(file.words).toContain("EEXIST");
      expect(readdirSync(folder)).not.toContain("target");
    },
  );
});
