import { createHash } from "node:crypto";
import { PROMPT_VERSION } from "@longhaul/core/summary";
import { describe, expect, it } from "vitest";
import { renderedPrompts } from "./rendered-prompts.case.ts";

/**
 * Hash of all prompts for each version. If the test below fails, the wording of a prompt has changed: raise
 * `PROMPT_VERSION` by 1 and add a line. Never change the hash of a released version. Version 1 was not recorded.
 */
const HASHES: Readonly<Record<number, string>> = {
  2: "71431ec43a658cfe",
  3: "81cf44d95c756919",
};

const hashOf = (prompts: Readonly<Record<string, string>>): string =>
  createHash("sha256")
    .update(JSON.stringify(Object.entries(prompts).sort()))
    .digest("hex")
    .slice(0, 16);

describe("the version number of the prompts", () => {
  it("the prompt version is raised whenever the text of a prompt changes", async () => {
    const hash = hashOf(await renderedPrompts());
    expect(hash, `A prompt has changed. Raise PROMPT_VERSION and add its hash: "${hash}".`).toBe(
      HASHES[PROMPT_VERSION],
    );
  });

  it("the prompt version is the highest one with a hash, and every version has a different hash", () => {
    expect(Math.max(...Object.keys(HASHES).map(Number))).toBe(PROMPT_VERSION);
    expect(new Set(Object.values(HASHES)).size).toBe(Object.keys(HASHES).length);
  });

  it("the hash of the prompt version covers every prompt, and no prompt is empty", async () => {
    const prompts = await renderedPrompts();
    expect(Object.keys(prompts)).toHaveLength(30);
    for (const text of Object.values(prompts)) expect(text.trim().length).toBeGreaterThan(100);
  });
});
