import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { answerOf, filePlace } from "../../../../../test/support/file-place.ts";
import { temporaryFolder } from "../../../../../test/transcript/temporary-folder.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { gitRootOf } from "./walk.ts";

/** Name of the folder that tests simulate as unreadable, because permissions do not stop a superuser. */
const CLOSED = "closed";
vi.mock("node:fs/promises", async (importOriginal) => {
  const original = await importOriginal<typeof import("node:fs/promises")>();
  const readdir = async (path: string, options: { readonly withFileTypes: true }): Promise<unknown> => {
    if (path.endsWith(CLOSED)) throw Object.assign(new Error("EACCES"), { code: "EACCES" });
    return await original.readdir(path, options);
  };
  return { ...original, readdir };
});

const root = realpathSync(temporaryFolder());

describe("folders that cannot be listed", () => {
  it.each([
    ["Glob", globTool, { pattern: "**/*.txt" }, "No files match **/*.txt."],
    ["Grep", grepTool, { pattern: "needle" }, "No matches in 0 files."],
  ] as const)(
    "%s reports an unreadable folder, so that the model does not assume its files are missing",
    async (...test) => {
      const [, tool, input, nothing] = test;
      const project = join(root, test[0]);
      mkdirSync(join(project, CLOSED), { recursive: true });
      writeFileSync(join(project, CLOSED, "a.txt"), "needle");
      expect(await answerOf(tool(filePlace(project)), input)).toBe(
        `${nothing}\n[1 folder could not be read.]`,
      );
    },
  );
});

describe("gitRootOf", () => {
  it("finds the git repository of a folder by a .git folder or file in this folder or in a parent folder", async () => {
    const top = join(root, "top");
    mkdirSync(join(top, "a", "b"), { recursive: true });
    expect(await gitRootOf(join(top, "a", "b"))).toBeUndefined();
    writeFileSync(join(top, "a", ".git"), "gitdir: elsewhere");
    expect(await gitRootOf(join(top, "a", "b"))).toBe(join(top, "a"));
    expect(await gitRootOf(top)).toBeUndefined();
  });
});
