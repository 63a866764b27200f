import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { childOptions, INHERITANCE, type Inheritance } from "./child-options.ts";
import { createCompactor } from "./create-compactor.ts";
import type { CompactorOptions } from "./options.ts";

/** Options by path, such as `model` and `window.tokens`. */
type Paths = Readonly<Record<string, unknown>>;

const flatRules = Object.fromEntries(
  Object.entries(INHERITANCE).flatMap(([name, rule]: [string, Inheritance | object]) =>
    typeof rule === "string"
      ? [[name, rule]]
      : Object.entries(rule).map(([member, own]): unknown[] => [`${name}.${member}`, own]),
  ),
);
const NAMES = Object.keys(flatRules);

function nested(paths: Paths): CompactorOptions {
  const options: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(paths)) {
    const [name = "", member] = path.split(".");
    options[name] = member === undefined ? value : { ...(options[name] as object), [member]: value };
  }
  return options;
}

function at(options: CompactorOptions, path: string): unknown {
  const [name = "", member] = path.split(".");
  const value = (options as Paths)[name];
  return member === undefined ? value : (value as Paths | undefined)?.[member];
}

/** Creates a value that the test only needs to recognize. */
const sentinel = (path: string, owner: string): unknown => ({ [`${owner}-${path}`]: owner });
const onEvent = (): void => undefined;
const host: CompactorOptions["host"] = { onEvent, onStatus: onEvent, caches: [onEvent] };
const parent: CompactorOptions = {
  ...nested(Object.fromEntries(NAMES.map((path) => [path, sentinel(path, "parent")]))),
  host,
};

const EXPECTED: Readonly<Record<Inheritance, readonly string[]>> = {
  inherited: [
    "window.models",
    "cost.prices",
    "cost.cacheTtl",
    "settings.file",
    "settings.environment",
    "fileTools",
    "hooks",
    "modules",
    "ports.now",
    "ports.newUuid",
    "ports.countText",
    "session.id",
    "session.cwd",
    "session.permissionMode",
  ],
  merged: ["settings.values", "clearing", "compaction"],
  "with-model": ["model", "window.tokens", "window.evidence"],
  "events-only": ["host"],
  own: ["request", "state", "transcript"],
};

const rows = (Object.entries(EXPECTED) as [Inheritance, readonly string[]][]).flatMap(([kind, paths]) =>
  paths.map((path) => [path, kind] as const),
);

describe("options of a subagent", () => {
  it("every option has an inheritance rule that this test expects", () => {
    expect(rows.map(([path]) => path).sort()).toEqual([...NAMES].sort());
  });

  it.each(rows)("a subagent gets the option %s by the inheritance rule %s", (path, kind) => {
    const childs = sentinel(path, "child");
    const inherited = at(childOptions(parent, {}), path);
    const own = at(childOptions(parent, nested({ [path]: childs })), path);
    const withOwnModel = at(childOptions(parent, { model: "another" }), path);
    const parents = at(parent, path);
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
        expect(withOwnModel).toEqual(path === "model" ? "another" : undefined);
        break;
      case "events-only":
        expect([inherited, withOwnModel]).toEqual([{ onEvent }, { onEvent }]);
        expect(own).toEqual({ onEvent, ...(childs as object) });
        break;
      case "own":
        expect([inherited, own, withOwnModel]).toEqual([undefined, childs, undefined]);
    }
  });

  it("an option that a subagent sets to undefined is inherited, but null replaces the parent's value", () => {
    const session = { id: "s1", cwd: "/p" };
    expect(childOptions({ session }, { session: { cwd: undefined } }).session).toEqual(session);
    expect(childOptions(parent, { window: { evidence: null } }).window?.evidence).toBeNull();
    const values = { autoCompactEnabled: false };
    const own = { settings: { values: { blockingLimit: 5_000 } } };
    expect(childOptions({ settings: { values } }, own).settings?.values).toEqual({
      ...values,
      ...own.settings.values,
    });
  });

  it("a child that sets one member of an option group inherits the other members from its parent", () => {
    const evidence = { model: "m", windowTokens: 9_000 };
    const models = { m: { windowTokens: 8_000, maxOutputTokens: 800 } };
    const given = { window: { tokens: 50_000, evidence, models }, cost: { prices: {} } };
    expect(childOptions(given, { window: { tokens: 20_000 }, cost: { cacheTtl: "1h" } })).toMatchObject({
      window: { tokens: 20_000, evidence, models },
      cost: { prices: {}, cacheTtl: "1h" },
    });
    const withOwnModel = childOptions(given, { model: "another", window: { tokens: 20_000 } });
    expect(withOwnModel.window).toEqual({ tokens: 20_000, evidence: undefined, models });
  });

  it("a child and its own children use the options that they inherit", async () => {
    const messages = [{ role: "user" as const, content: "hello" }];
    const main = createCompactor({
      model: "claude-haiku-4-5",
      window: { tokens: 50_000 },
      settings: { environment: {}, values: { autoCompactEnabled: false } },
    });
    const child = main.child({ settings: { values: { blockingLimit: 20_000 } } });
    for (const each of [child, child.child()]) {
      const { thresholds, skipped } = await each.before(messages);
      expect(skipped).toBe("auto-disabled");
      expect(thresholds).toMatchObject({ size: 50_000, blocking: 20_000, autoCompactEnabled: false });
    }
    const other = main.child({ model: "claude-sonnet-4-5" });
    expect((await other.before(messages)).thresholds.size).toBe(200_000);
  });

  it("docs/engine.md lists the inheritance rule of every option", () => {
    const page = readFileSync(join(import.meta.dirname, "../../../../docs/engine.md"), "utf8");
    const section = page.slice(page.indexOf("## Subagents"), page.indexOf("## It never loops"));
    const listed = [...section.matchAll(/^\| ([^|]*) \| ([^|]*) \|/gm)].flatMap(([, names = "", kind = ""]) =>
      [...names.matchAll(/`([\w.]+)`/g)].map(([, name]) => [name, kind.trim()]),
    );
    expect(Object.fromEntries(listed)).toEqual(flatRules);
  });
});
