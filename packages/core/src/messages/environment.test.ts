import { afterEach, describe, expect, it, vi } from "vitest";
import { createCompactor } from "../engine/create-compactor.ts";
import { resolveSettings } from "../measure/window/settings.ts";
import { environmentVariable, processEnvironment } from "./environment.ts";

const refuse = (): never => {
  throw new Error(
    'NotCapable: Requires env access to "DISABLE_COMPACT", run again with the --allow-env flag',
  );
};
/** Environment of Deno without permission: access works, each read throws. */
const forbidden = new Proxy({}, { get: refuse, has: refuse, ownKeys: refuse });

/** Environments of runtimes, by the way in which they refuse to be read. */
const REFUSALS: Readonly<Record<string, unknown>> = {
  "no process": undefined,
  "a process without an environment": {},
  "an environment that is not an object": { env: "forbidden" },
  "an environment whose variables throw": { env: forbidden },
  "an environment that throws": Object.defineProperty({}, "env", { get: refuse }),
  "a process whose properties throw": forbidden,
};

afterEach(() => vi.unstubAllGlobals());

describe("the environment of the process", () => {
  it.each(Object.entries(REFUSALS))("a read returns nothing and never throws with %s", (_, process) => {
    vi.stubGlobal("process", process);
    expect(environmentVariable(processEnvironment(), "DISABLE_COMPACT")).toBeUndefined();
  });

  it("a read returns nothing when the global `process` itself throws", () => {
    const own = Object.getOwnPropertyDescriptor(globalThis, "process") ?? {};
    Object.defineProperty(globalThis, "process", { get: refuse, configurable: true });
    try {
      expect(processEnvironment()).toEqual({});
    } finally {
      Object.defineProperty(globalThis, "process", own);
    }
  });

  it("a read returns the value of a variable that is set", () => {
    vi.stubGlobal("process", { env: { DISABLE_COMPACT: "1" } });
    expect(environmentVariable(processEnvironment(), "DISABLE_COMPACT")).toBe("1");
  });

  it("settings keep their defaults when every variable throws", () => {
    expect(resolveSettings({ environment: forbidden })).toEqual(resolveSettings({ environment: {} }));
  });

  it.each(Object.entries(REFUSALS))("a compactor works with %s", async (_, process) => {
    vi.stubGlobal("process", process);
    const compactor = createCompactor({ window: { tokens: 100_000 } });
    const turn = await compactor.before([{ role: "user", content: "hello" }]);
    expect(turn.messages).toHaveLength(1);
  });
});
