import type { CompactorModule } from "@longhaul/core";
import { createCompactor } from "@longhaul/core";
import { describe, expect, it } from "vitest";
import { allModules } from "../support/full-compactor.ts";
import { testPort } from "../support/memory-port.ts";
import { engineContract } from "./contract.case.ts";
import { HeldNotes } from "./notes-file.case.ts";

/** Creates all modules, with empty notes, in a project without memory files. */
const every = (): readonly CompactorModule[] =>
  allModules({
    notes: { file: new HeldNotes() },
    memoryFiles: { cwd: "/project", port: testPort({}, { cwd: "/project" }), fromStart: true },
  });
const NAMES = ["cached", "api", "snip", "collapse", "notes", "memory-files"] as const;

describe("the engine with every optional module", () => engineContract(every));

describe.each(NAMES)("the engine without the module %s", (left) => {
  engineContract(() => every().filter(({ name }) => name !== left));
});

describe("the engine without any optional module", () => {
  engineContract(() => []);

  it("the engine has no methods of modules when no module is attached", () => {
    const compactor: object = createCompactor({ settings: { environment: {} } });
    expect("snip" in compactor || "expand" in compactor).toBe(false);
  });

  it("the engine warns that the collapse setting has no effect without the collapse module", async () => {
    const warnings: string[] = [];
    const onEvent = (event: { readonly type: string; readonly warning?: string }): void => {
      if (event.type === "settings-ignored") warnings.push(event.warning ?? "");
    };
    createCompactor({ settings: { environment: {}, values: { collapseEnabled: true } }, host: { onEvent } });
    expect(warnings).toEqual(["collapseEnabled is ignored: add spanCollapse() to the modules."]);
  });
});

it("the list of optional modules in this test is complete", () => {
  expect(every().map(({ name }) => name)).toEqual([...NAMES]);
});
