import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createDemoSession } from "../demo/demo.ts";
import { findSession } from "../transcript/find-session.ts";
import { writeNewSession } from "../transcript/new-session.ts";
import { openSession } from "./session.ts";

it("a copy of another agent's session keeps its own id when it is opened again, and is found by it", async () => {
  const home = await mkdtemp(join(tmpdir(), "longhaul-session-"));
  try {
    const original = join(home, "claude.jsonl");
    await writeNewSession(original, createDemoSession());
    const choice = { cwd: home, places: { home, env: {} }, newUuid: () => "0f1e2d3c" };
    const copy = await openSession({ ...choice, session: original });
    const again = await openSession({ ...choice, session: copy.path });
    expect([copy.id, again.id]).toEqual(["0f1e2d3c", "0f1e2d3c"]);
    expect(await findSession(again.id, choice.places)).toBe(copy.path);
  } finally {
    await rm(home, { recursive: true });
  }
});
