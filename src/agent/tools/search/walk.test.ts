import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { gitRootOf } from "./walk.ts";

const root = realpathSync(temporaryFolder());

describe("the repository that a folder is in", () => {
  it("is told by a folder or file .git in it or above it", async () => {
    const top = join(root, "top");
    mkdirSync(join(top, "a", "b"), { recursive: true });
    expect(await gitRootOf(join(top, "a", "b"))).toBeUndefined();
    writeFileSync(join(top, "a", ".git"), "gitdir: elsewhere");
    expect(await gitRootOf(join(top, "a", "b"))).toBe(join(top, "a"));
    expect(await gitRootOf(top)).toBeUndefined();
  });
});
