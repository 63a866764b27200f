import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { childOptions, INHERITANCE, type Inheritance } from "./child-options.ts";
import { createCompactor } from "./create-compactor.ts";
import type { CompactorOptions } from "./options.ts";

type OptionName = keyof CompactorOptions;

/** Values that only have to be recognized again. */
const sentinel = (name: OptionName, owner: string): unknown => ({ [`${owner}-${name}`]: owner });
const NAMES = Object.keys(INHERITANCE) as OptionName[];
const parentOptions = Object.fromEntries(
  NAMES.map((name) => [name, sentinel(name, "parent")]),
) as CompactorOptions;
const onEvent = (): void => undefined;
const host: CompactorOptions["host"] = { onEvent, onStatus: onEvent, caches: [onEvent] };
const parent: CompactorOptions = { ...parentOptions, host };

const EXPECTED: Readonly<Record<Inheritance, readonly OptionName[]>> = {
  inherited: [
    "summaryModel",
    "cacheTtl",
    "models",
    "prices",
    "settingsFile",
    "environment",
    "fileTools",
    "hooks",
    "modules",
    "ports",
    "countText",
    "sessionId",
    "cwd",
    "permissionMode",
  ],
  merged: ["settings", "clearing", "compaction"],
  "with-model": ["model", "modelName", "windowTokens", "windowEvidence"],
  "events-only": ["host"],
  own: ["request", "state", "transcript"],
};

const rows = (Object.entries(EXPECTED) as [Inheritance, readonly OptionName[]][]).flatMap(([kind, names]) =>
  names.map((name) => [name, kind] as const),
);

describe("the options of a subagent", () => {
  it("are all decided", () => {
    expect(rows.map(([name]) => name).sort()).toEqual([...NAMES].sort());
  });

  it.each(rows)("take %s from the parent as %s", (name, kind) => {
    const inherited = childOptions(parent, {})[name];
    const own = childOptions(parent, { [name]: sentinel(name, "child") })[name];
    const withOwnModel = childOptions(parent, { modelName: "another" })[name];
    const parents = parent[name];
    const childs = sentinel(name, "child");
    switch (kind) {
      case "inherited":
        expect([inherited, own, withOwnModel]).toEqual([parents, childs, parents]);
        break;
      case "merged":
        expect([inherited, withOwnModel]).toEqual([parents, parents]);
        expect(own).toEqual({ ...(parents as object), ...(childs as object) });
        break;
      case "with-model":
        expect([inherited, own]).toEqual([parents, childs]);
        expect(withOwnModel).toEqual(name === "modelName" ? "another" : undefined);
        break;
      case "events-only":
        expect([inherited, withOwnModel]).toEqual([{ onEvent }, { onEvent }]);
        expect(own).toEqual({ onEvent, ...(childs as object) });
        break;
      case "own":
        expect([inherited, own, withOwnModel]).toEqual([undefined, childs, undefined]);
    }
  });

  it("take an undefined value for one that is not given, and null for a value", () => {
    expect(childOptions(parent, { cwd: undefined }).cwd).toEqual(parent.cwd);
    expect(childOptions(parent, { windowEvidence: null }).windowEvidence).toBeNull();
    const settings = { autoCompactEnabled: false };
    const own = { settings: { blockingLimit: 5_000 } };
    expect(childOptions({ settings }, own).settings).toEqual({ ...settings, ...own.settings });
  });

  it("hold in the child and in its own children", async () => {
    const messages = [{ role: "user" as const, content: "hello" }];
    const main = createCompactor({
      modelName: "claude-haiku-4-5",
      windowTokens: 50_000,
      environment: {},
      settings: { autoCompactEnabled: false },
    });
    const child = main.child({ settings: { blockingLimit: 20_000 } });
    for (const each of [child, child.child()]) {
      const { thresholds, skipped } = await each.before(messages);
      expect(skipped).toBe("auto-disabled");
      expect(thresholds).toMatchObject({ size: 50_000, blocking: 20_000, autoCompactEnabled: false });
    }
    const other = main.child({ modelName: "claude-sonnet-4-5" });
    expect((await other.before(messages)).thresholds.size).toBe(200_000);
  });

  it("are the ones that the documentation lists", () => {
    const page = readFileSync(join(import.meta.dirname, "../../docs/engine.md"), "utf8");
    const section = page.slice(page.indexOf("## Subagents"), page.indexOf("## It never loops"));
    const listed = [...section.matchAll(/^\| ([^|]*) \| ([^|]*) \|/gm)].flatMap(([, names = "", kind = ""]) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, name]) => [name, kind.trim()]),
    );
    expect(Object.fromEntries(listed)).toEqual(INHERITANCE);
  });
});
