import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSessionId, projectFolderName, projectsFolder, sessionPath } from "./locations.ts";

const places = { home: "/home/ann", env: {} };

describe("locations of sessions", () => {
  it("names the store folder of a project by the first 16 hex digits of the SHA-256 of its path", () => {
    const hash = createHash("sha256").update("/srv/app").digest("hex");
    const path = sessionPath("longhaul", places, "/srv/app", "abc");
    expect(path).toBe(`/home/ann/.longhaul/projects/${hash.slice(0, 16)}/abc.jsonl`);
  });

  it("ignores a relative path in an environment variable, so that the store is never inside a project", () => {
    const env = { LONGHAUL_HOME: ".longhaul", CLAUDE_CONFIG_DIR: "../.claude" };
    expect(projectsFolder("longhaul", { ...places, env })).toBe("/home/ann/.longhaul/projects");
    expect(projectsFolder("claude-code", { ...places, env })).toBe("/home/ann/.claude/projects");
    expect(projectsFolder("longhaul", { ...places, env: { LONGHAUL_HOME: "/own" } })).toBe("/own/projects");
  });

  it("names a Claude Code project folder by its path with special characters replaced by dashes", () => {
    expect(projectFolderName("claude-code", "/home/ann/my_app.v2")).toBe("-home-ann-my-app-v2");
    expect(sessionPath("claude-code", places, "/a", "id-1")).toBe("/home/ann/.claude/projects/-a/id-1.jsonl");
  });

  it("environment variables change the folders of the session stores", () => {
    const env = { LONGHAUL_HOME: "/data/longhaul", CLAUDE_CONFIG_DIR: "/data/claude" };
    expect(projectsFolder("longhaul", { home: "/home/ann", env })).toBe("/data/longhaul/projects");
    expect(projectsFolder("claude-code", { home: "/home/ann", env })).toBe("/data/claude/projects");
    expect(projectsFolder("longhaul", { home: "/home/ann", env: { LONGHAUL_HOME: "" } })).toBe(
      "/home/ann/.longhaul/projects",
    );
  });

  it("rejects a session id that leads out of the session folder", () => {
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
