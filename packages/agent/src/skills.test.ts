import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findSkills, skillFolders } from "./skills.ts";

let top: string;
beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), "longhaul-skills-"));
});
afterEach(() => rm(top, { recursive: true, force: true }));

async function put(folder: string, name: string, text: string): Promise<string> {
  const path = join(top, folder, name);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "SKILL.md"), text);
  return path;
}

const skill = (name: string, description: string, body = "do it"): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;

describe("findSkills", () => {
  it("finds skills sorted by name, and prefers a project's skill to the user's skill of the same name", async () => {
    await put("project/.claude/skills", "review", skill("review", "from the project"));
    await put("home/.longhaul/skills", "review", skill("review", "from home"));
    await put("home/.claude/skills", "commit", skill("commit", "write a message"));
    await mkdir(join(top, "project/.claude/skills/empty"));
    await writeFile(join(top, "project/.claude/skills/README.md"), "no skill");
    const found = await findSkills(skillFolders(join(top, "project"), join(top, "home")));
    expect(found.map(({ name, description }) => [name, description])).toEqual([
      ["commit", "write a message"],
      ["review", "from the project"],
    ]);
    expect(await found[1]?.read()).toBe("do it");
    expect(found[1]?.folder).toBe(join(top, "project/.claude/skills/review"));
  });

  it("reads a skill file again at each use", async () => {
    const path = await put("s", "a", skill("a", "x", "old"));
    const [found] = await findSkills([join(top, "s")]);
    await writeFile(join(path, "SKILL.md"), skill("a", "x", "new"));
    expect(await found?.read()).toBe("new");
    await rm(path, { recursive: true });
    expect(await found?.read()).toBeUndefined();
  });

  it("rejects unsafe skill names, and turns a description into one line", async () => {
    await put("s", "fine", skill('"evil\\n- name"', "one"));
    await put("s", "not fine", skill("../../etc", "two"));
    await put("s", "c", `---\ndescription: |\n  one\n  # two\u2028three\u001b[2J\n---\n`);
    const found = await findSkills([join(top, "s")]);
    expect(found.map(({ name }) => name)).toEqual(["c", "fine"]);
    expect(found[0]?.description).toBe("one # two three [2J");
  });

  it("ignores links to skills outside the skill folder", async () => {
    await put("outside", "secret", skill("secret", "x"));
    await put("s", "a", skill("a", "x"));
    await symlink(join(top, "outside/secret"), join(top, "s/linked"));
    await mkdir(join(top, "s/b"));
    await symlink(join(top, "outside/secret/SKILL.md"), join(top, "s/b/SKILL.md"));
    await symlink(join(top, "s/a"), join(top, "s/same"));
    expect((await findSkills([join(top, "s")])).map(({ name }) => name)).toEqual(["a"]);
  });

  it("shortens a skill that is too long, and ignores a skill file that is not text", async () => {
    await put("s", "long", skill("long", "d".repeat(5_000), "x".repeat(150_000)));
    await put("s", "binary", "a\0b");
    const [found, ...others] = await findSkills([join(top, "s")]);
    expect(others).toEqual([]);
    expect(found?.description).toHaveLength(1_024);
    expect(await found?.read()).toMatch(/^x{100000}\n\n\[The rest was left out/);
  });

  it("finds no skills in a missing folder", async () => {
    expect(await findSkills([join(top, "nowhere"), ""])).toEqual([]);
  });
});
