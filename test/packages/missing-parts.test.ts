import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PackedProject, packPackages } from "../support/packed-packages.ts";

let project: PackedProject;
beforeAll(() => {
  project = packPackages();
});
afterAll(() => project.remove());

/**
 * Runs a program that imports core and then loses the files of core that load on first use, as during an
 * update. `restore` puts the files back.
 */
function runWithoutParts(code: string): unknown {
  const dist = join(project.packageNamed("@longhaul/core").installed, "dist");
  expect(existsSync(dist)).toBe(true);
  const output = project.run(`
    import { readdirSync, renameSync } from "node:fs";
    import { createCompactor } from "@longhaul/core/engine";
    const dist = ${JSON.stringify(dist)};
    const later = readdirSync(dist).filter((name) => /^(?:compaction-later|recovery|undo)-/.test(name));
    const move = (from, to) => { for (const name of later) renameSync(from + "/" + name, to + "/" + name); };
    const restore = () => move(dist + "/..", dist);
    const messages = Array.from({ length: 60 }, (_, index) => ({
      role: index % 2 === 0 ? "user" : "assistant",
      content: "Message " + index + ": " + "all quiet in the harbour ".repeat(150),
    }));
    const events = [];
    const compactor = createCompactor({ window: { tokens: 60_000 }, host: { onEvent: (event) => events.push(event) } });
    move(dist, dist + "/..");
    try {
      ${code}
    } finally {
      if (!readdirSync(dist).includes(later[0])) restore();
    }
  `);
  return JSON.parse(output);
}

describe("a program whose installed core was replaced while it runs", () => {
  it("a turn returns all messages and the problem `part-not-loaded`, and reports the failed compaction", () => {
    expect(
      runWithoutParts(`
        const turn = await compactor.before(messages);
        console.log(JSON.stringify({
          isSame: turn.messages.length === messages.length,
          code: turn.problem.code,
          failed: events.filter(({ type }) => type === "compaction-failed").map(({ code }) => code),
        }));
      `),
    ).toEqual({ isSame: true, code: "part-not-loaded", failed: ["part-not-loaded"] });
  });

  it("a failed call is not recovered, so that the host shows the error of its call", () => {
    expect(
      runWithoutParts(`
        const error = Object.assign(new Error("prompt is too long: 90000 tokens > 60000 maximum"), { status: 400 });
        const turn = await compactor.recover(error);
        console.log(JSON.stringify({
          turn: turn ?? null,
          failed: events.filter(({ type }) => type === "recovery-failed").map(({ code }) => code),
        }));
      `),
    ).toEqual({ turn: null, failed: ["part-not-loaded"] });
  });

  it("compact() and undo() fail with `part-not-loaded`", () => {
    expect(
      runWithoutParts(`
        const codeOf = (call) => call.then(() => "none", ({ code }) => code);
        console.log(JSON.stringify([
          await codeOf(compactor.compact(messages)),
          await codeOf(compactor.undo(messages)),
        ]));
      `),
    ).toEqual(["part-not-loaded", "part-not-loaded"]);
  });
});
