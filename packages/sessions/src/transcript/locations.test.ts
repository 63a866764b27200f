import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSessionId, projectFolderName, projectsFolder, sessionPath } from "./locations.ts";

const places = { home: "/home/ann", env: {} };

describe("where sessions live", () => {
  it("is a folder per project, named by the first 16 hex digits of the SHA-256 of the working directory", () => {
    const hash = createHash("sha256").update("/srv/app").digest("hex");
    const path = sessionPath("longhaul", places, "/srv/app", "abc");
    expect(path).toBe(`/home/ann/.longhaul/projects/${hash.slice(0, 16)}/abc.jsonl`);
  });

  it("is never a folder of the project: a relative path in the environment is ignored", () => {
    const env = { LONGHAUL_HOME: ".longhaul", CLAUDE_CONFIG_DIR: "../.claude" };
    expect(projectsFolder("longhaul", { ...places, env })).toBe("/home/ann/.longhaul/projects");
    expect(projectsFolder("claude-code", { ...places, env })).toBe("/home/ann/.claude/projects");
    expect(projectsFolder("longhaul", { ...places, env: { LONGHAUL_HOME: "/own" } })).toBe("/own/projects");
  });

  it("is for Claude Code a folder named by the path with every other sign replaced", () => {
    expect(projectFolderName("claude-code", "/home/ann/my_app.v2")).toBe("-home-ann-my-app-v2");
    expect(sessionPath("claude-code", places, "/a", "id-1")).toBe("/home/ann/.claude/projects/-a/id-1.jsonl");
  });

  it("can be moved by the environment", () => {
    const env = { LONGHAUL_HOME: "/data/longhaul", CLAUDE_CONFIG_DIR: "/data/claude" };
    expect(projectsFolder("longhaul", { home: "/home/ann", env })).toBe("/data/longhaul/projects");
    expect(projectsFolder("claude-code", { home: "/home/ann", env })).toBe("/data/claude/projects");
    expect(projectsFolder("longhaul", { home: "/home/ann", env: { LONGHAUL_HOME: "" } })).toBe(
      "/home/ann/.longhaul/projects",
    );
  });

  it("cannot be left through an id", () => {
    for (const id of ["../x", "a/b", "a\\b", "..", ".", "", ".hidden", "a..b", "a\0b", "x".repeat(201)]) {
      expect(() => sessionPath("longhaul", places, "/a", id)).toThrow(/not a session id/);
    }
    fc.assert(
      fc.property(fc.string(), (id) => {
        fc.pre(isSessionId(id));
        const folder = sessionPath("longhaul", places, "/a", "x").slice(0, -"x.jsonl".length);
        expect(sessionPath("longhaul", places, "/a", id)).toBe(`${folder}${id}.jsonl`);
      }),
    );
  });
});
