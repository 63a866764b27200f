import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
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

describe("path checks for files named in a session", () => {
  it("reads a file inside the project by absolute or relative path", async () => {
    expect(await projectFiles(project).read(join(project, "src/a.ts"))).toEqual({
      state: "read",
      text: "export {};\n",
      isHead: false,
      displayPath: join("src", "a.ts"),
    });
    expect(await reasonFor("src/a.ts")).toBe("read");
  });

  it("reads files of a project that is reached through a link", async () => {
    const linked = join(root, "linked-project");
    expect(await reasonFor(join(linked, "src/a.ts"), linked)).toBe("read");
  });

  it.each(["../secret", "src/../../secret", "link"])(
    "rejects %s, which leads out of the project",
    async (path) => {
      expect(await reasonFor(path)).toBe("outside-project");
    },
  );

  it("rejects a neighbor folder whose name begins with the name of the project", async () => {
    expect(await reasonFor(join(root, "project-twin"))).toBe("outside-project");
  });

  it("reads nothing without a project folder, or with the disk root as project", async () => {
    expect(await reasonFor("/etc/hostname", "/")).toBe("outside-project");
    expect((await projectFiles(undefined).read("src/a.ts")).state).toBe("unavailable");
  });

  it("resolves relative paths against the working directory, and still rejects paths outside the project", async () => {
    const { read } = projectFiles(project, { cwd: join(project, "src") });
    expect(await read("a.ts")).toMatchObject({ state: "read", displayPath: join("src", "a.ts") });
    expect(await read("../../secret")).toMatchObject({ reason: "outside-project" });
    const outside = projectFiles(project, { cwd: root });
    expect(await outside.read("secret")).toMatchObject({ reason: "outside-project" });
  });

  it("never reads well-known secret files, by their own name or through a link", async () => {
    mkdirSync(join(project, ".ssh"), { recursive: true });
    for (const name of [".env", "id_rsa", ".ssh/any", "server.pem"]) {
      writeFileSync(join(project, name), "hidden");
      expect(await reasonFor(name)).toBe("secret");
      expect(await reasonFor(join(project, name))).toBe("secret");
    }
    symlinkSync(join(project, ".env"), join(project, "harmless.txt"));
    expect(await reasonFor("harmless.txt")).toBe("secret");
    symlinkSync(join(project, "src", "a.ts"), join(project, "a.key"));
    expect(await reasonFor("a.key")).toBe("secret");
    expect(await reasonFor("/etc/shadow")).toBe("secret");
    expect(await reasonFor("~/.ssh/id_ed25519", undefined)).toBe("secret");
  });

  it("treats a leading ~ and Windows separators as plain file names", async () => {
    expect(await reasonFor("~/secret.txt")).toBe("gone");
    if (process.platform !== "win32") expect(await reasonFor("..\\secret")).toBe("gone");
  });

  it("returns a reason instead of throwing an error for folders, binaries, missing files and invalid paths", async () => {
    writeFileSync(join(project, "binary"), Buffer.from([1, 0, 2]));
    expect(await reasonFor("src")).toBe("not-text");
    expect(await reasonFor("binary")).toBe("not-text");
    expect(await reasonFor("missing")).toBe("gone");
    expect(await reasonFor("src/a.ts/below-a-file")).toBe("gone");
    expect(await reasonFor("nul\0byte")).toBe("unreadable");
    expect(await reasonFor("x".repeat(5_000))).toBe("unreadable");
    expect(await reasonFor("src/a.ts", join(root, "no-such-project"))).toBe("gone");
  });

  it.skipIf(process.platform === "win32")(
    "never opens a pipe, socket or device, which could block",
    async () => {
      execFileSync("mkfifo", [join(project, "pipe")]);
      expect(await reasonFor("pipe")).toBe("not-text");
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(join(project, "socket"), resolve));
      expect(await reasonFor("socket")).toBe("not-text");
      await new Promise((resolve) => server.close(resolve));
      for (const device of ["zero", "random", "tty"])
        expect(await reasonFor(device, "/dev")).toBe("not-text");
      symlinkSync("/dev/zero", join(project, "endless"));
      expect(await reasonFor("endless")).toBe("outside-project");
    },
  );

  it("reports circular links as unreadable, and follows links inside the project", async () => {
    symlinkSync(join(project, "two"), join(project, "one"));
    symlinkSync(join(project, "one"), join(project, "two"));
    symlinkSync(join(project, "src"), join(project, "alias"));
    expect(await reasonFor("one")).toBe("unreadable");
    expect(await projectFiles(project).read("alias/a.ts")).toMatchObject({
      displayPath: join("src", "a.ts"),
    });
  });

  it.skipIf(process.getuid?.() === 0)("reports a file without read permission as unreadable", async () => {
    writeFileSync(join(project, "private"), "x");
    chmodSync(join(project, "private"), 0);
    expect(await reasonFor("private")).toBe("unreadable");
  });
});

describe("the size limit for project files", () => {
  it("rejects a 2 GB file as too large without reading it", async () => {
    writeFileSync(join(project, "huge"), "");
    truncateSync(join(project, "huge"), 2 * 1024 ** 3);
    expect(await reasonFor("huge")).toBe("too-large");
  });

  it("reads only the head of a long file, cut between characters", async () => {
    writeFileSync(join(project, "long"), `xx${"名".repeat(200_000)}`);
    const answer = await projectFiles(project).read("long");
    expect(answer).toMatchObject({ state: "read", isHead: true });
    const text = answer.state === "read" ? answer.text : "";
    expect(text).toMatch(/^xx名+$/);
    expect(Buffer.byteLength(text)).toBeGreaterThan(256 * 1024 - 3);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(256 * 1024);
  });

  it("reads a file of exactly the size limit in full, but only the head of a file that is one byte longer", async () => {
    writeFileSync(join(project, "exact"), "x".repeat(256 * 1024));
    writeFileSync(join(project, "over"), "x".repeat(256 * 1024 + 1));
    expect(await projectFiles(project).read("exact")).toMatchObject({ isHead: false });
    expect(await projectFiles(project).read("over")).toMatchObject({ isHead: true });
  });

  it("reads as much as possible from a file that grows or shrinks during the read", async () => {
    const path = join(project, "changing");
    writeFileSync(path, "line\n".repeat(1_000));
    let isOver = false;
    const writing = (async () => {
      while (!isOver) {
        appendFileSync(path, "more\n".repeat(10_000));
        await new Promise((resolve) => setImmediate(resolve));
        truncateSync(path, 5);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let round = 0; round < 30; round++) {
      const answer = await projectFiles(project).read("changing");
      expect(answer.state === "read" ? answer.text.startsWith("line\n") : answer.reason).toBe(true);
    }
    isOver = true;
    await writing;
  });
});
