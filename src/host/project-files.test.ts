import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectFiles } from "./project-files.ts";

let root: string;
let project: string;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "longhaul-files-"));
  project = join(root, "project");
  mkdirSync(join(project, "src"), { recursive: true });
  writeFileSync(join(project, "src", "a.ts"), "export {};\n");
  writeFileSync(join(root, "secret"), "hidden");
  writeFileSync(join(root, "project-twin"), "hidden");
  symlinkSync(join(root, "secret"), join(project, "link"));
  symlinkSync(project, join(root, "linked-project"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const reasonFor = async (path: string, folder: string | undefined = project): Promise<string> => {
  const answer = await projectFiles(folder).read(path);
  return answer.state === "read" ? "read" : answer.reason;
};

describe("paths from a session file are never trusted", () => {
  it("a file inside the project is read, by absolute or relative path", async () => {
    expect(await projectFiles(project).read(join(project, "src/a.ts"))).toEqual({
      state: "read",
      text: "export {};\n",
      displayPath: join("src", "a.ts"),
    });
    expect(await reasonFor("src/a.ts")).toBe("read");
  });

  it("a project reached through a link is still that project", async () => {
    const linked = join(root, "linked-project");
    expect(await reasonFor(join(linked, "src/a.ts"), linked)).toBe("read");
  });

  it.each(["../secret", "src/../../secret", "link"])(
    "%s leads out of the project and is refused",
    async (path) => {
      expect(await reasonFor(path)).toBe("outside-project");
    },
  );

  it("a neighbour whose name begins like the project's is outside", async () => {
    expect(await reasonFor(join(root, "project-twin"))).toBe("outside-project");
  });

  it("without a project, or with the whole disk as one, nothing is read", async () => {
    expect(await reasonFor("/etc/hostname", "/")).toBe("outside-project");
    expect((await projectFiles(undefined).read("src/a.ts")).state).toBe("unavailable");
  });

  it("folders, pipes, binaries, huge and missing files are answers, not failures", async () => {
    writeFileSync(join(project, "binary"), Buffer.from([1, 0, 2]));
    writeFileSync(join(project, "huge"), "");
    truncateSync(join(project, "huge"), 5 * 1024 * 1024);
    expect(await reasonFor("src")).not.toBe("read");
    expect(await reasonFor("binary")).toBe("not-text");
    expect(await reasonFor("huge")).toBe("too-large");
    expect(await reasonFor("missing")).toBe("gone");
    if (process.platform !== "win32") {
      execFileSync("mkfifo", [join(project, "pipe")]);
      expect(await reasonFor("pipe")).toBe("not-text");
    }
  });
});
