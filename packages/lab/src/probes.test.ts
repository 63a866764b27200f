import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryEntries } from "../../../test/support/arbitraries.ts";
import { ConversationBuilder, toolResult } from "../../../test/support/builders.ts";
import { createDemoSession } from "../../simulator/src/demo-session.ts";
import { contextOf, haystackOf } from "./probe-search.ts";
import type { Probe, ProbeKind } from "./probes.ts";
import { deriveProbes } from "./probes.ts";

function work(): ConversationBuilder {
  const c = new ConversationBuilder("probes");
  c.user("Never touch the legacy endpoint. The server listens on port 8471 and drops after 30 seconds.");
  c.tool("t1", "Edit", { file_path: "/project/src/server.ts", old_string: "a", new_string: "b" }, "ok");
  c.tool("t2", "Read", { file_path: "/project/src/once.ts" }, "1→x");
  c.tool("t3", "Bash", { command: "npm test" });
  c.user([toolResult("t3", "Exit code 1\nError: expected 3 to be 4\n1 failed", true)]);
  c.tool("t4", "Edit", { file_path: "/project/src/sum.ts", old_string: "a", new_string: "b" }, "ok");
  c.tool("t5", "Bash", { command: "npm test" }, "12 passed");
  c.tool("t6", "TodoWrite", { todos: [{ content: "write the changelog", status: "pending" }] }, "ok");
  c.assistant("All green.");
  return c;
}

const ofKind = (probes: readonly Probe[], kind: ProbeKind): readonly (readonly string[])[] =>
  probes.filter((probe) => probe.kind === kind).map(({ needles }) => needles);

describe("deriveProbes", () => {
  it("derives probes from user requests, files, errors with their fixes, figures and open tasks", () => {
    const probes = deriveProbes(work().entries);
    expect(ofKind(probes, "directive")).toEqual([
      [
        "Never touch the legacy endpoint. The server listens on port",
        "The server listens on port 8471 and drops after 30 seconds.",
      ],
    ]);
    expect(ofKind(probes, "file")).toEqual([["src/server.ts"], ["src/sum.ts"]]);
    expect(ofKind(probes, "error")).toEqual([["Error: expected 3 to be 4", "sum.ts"]]);
    expect(ofKind(probes, "number")).toEqual([["port 8471"], ["30 seconds"]]);
    expect(ofKind(probes, "task")).toEqual([["write the changelog"]]);
  });

  it("a number probe includes a unit that follows the number without a space, such as 5min or 64bit", () => {
    const c = new ConversationBuilder("units");
    c.user("Wait 5min, then make the 64bit build. Stop after 3 in all.");
    c.assistant("Done.");
    expect(ofKind(deriveProbes(c.entries), "number")).toEqual([["5min"], ["64bit"], ["after 3"]]);
  });

  it("marks user requests that still apply as active", () => {
    const c = work();
    c.user("Now write the release notes.");
    const directives = deriveProbes(c.entries).filter(({ kind }) => kind === "directive");
    expect(directives.map(({ isActive }) => isActive)).toEqual([true, true]);
  });

  it("derives the same probes from the same entries, without duplicates", () => {
    fc.assert(
      fc.property(arbitraryEntries(), (entries) => {
        const probes = deriveProbes(entries);
        expect(deriveProbes(entries)).toEqual(probes);
        expect(new Set(probes.map(({ kind, needles }) => JSON.stringify([kind, needles]))).size).toBe(
          probes.length,
        );
        expect(new Set(probes.map(({ id }) => id)).size).toBe(probes.length);
      }),
      { numRuns: 60 },
    );
  });

  it("derives only probes whose text occurs in the session", () => {
    const entries = createDemoSession();
    const context = contextOf(entries);
    const probes = deriveProbes(entries);
    expect(probes.length).toBeGreaterThan(80);
    expect(probes.filter((probe) => !context.contains(probe))).toEqual([]);
  });

  it("derives no probe whose text occurs even in a summary without any facts", () => {
    const nothing = haystackOf(["A summary that says nothing."]);
    expect(deriveProbes(createDemoSession()).filter((probe) => nothing.contains(probe))).toEqual([]);
  });
});

describe("search for the text of a probe", () => {
  const probe = (kind: ProbeKind, ...needles: string[]): Probe => ({ id: "p", kind, text: "", needles });

  it.each([
    ["across a line break", "the legacy\n   endpoint stays", probe("directive", "legacy endpoint")],
    ["in colored text", "\u001b[31mError: no\u001b[39m", probe("error", "Error: no")],
    ["with backslashes in its path", "C:\\work\\src\\a.ts", probe("file", "src/a.ts")],
    ["in a group of files", "changed src/{a.ts, b.ts}", probe("file", "src/b.ts")],
    ["below a named folder", "Files under /project/: src/{a.ts, b.ts}, c.ts.", probe("file", "project/c.ts")],
    [
      "in a group of files below a named folder",
      "Files under /project/: src/{a.ts, b.ts}",
      probe("file", "project/src/b.ts"),
    ],
    ["with a different capitalization", "Port 8471", probe("number", "port 8471")],
  ])("finds a probe %s", (_, text, asked) => {
    expect(haystackOf([text]).contains(asked)).toBe(true);
  });

  it.each([
    ["the text has a longer name", "src/a.tsx", probe("file", "src/a.ts")],
    ["the text has a longer figure", "130 seconds", probe("number", "30 seconds")],
    ["the text has one of two parts", "Error: no", probe("error", "Error: no", "a.ts")],
  ])("does not find a probe when %s", (_, text, asked) => {
    expect(haystackOf([text]).contains(asked)).toBe(false);
  });
});
