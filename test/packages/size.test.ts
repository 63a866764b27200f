import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { filesBehind } from "../support/packages.ts";
import { type PackedProject, packPackages } from "../support/packed-packages.ts";
import { BUDGETS, CORE_IMPORT_BYTES } from "./budgets.ts";

let project: PackedProject;
beforeAll(() => {
  project = packPackages();
});
afterAll(() => project.remove());

const bytesOf = (files: readonly { readonly size: number }[]): number =>
  files.reduce((sum, { size }) => sum + size, 0);

describe("the size of the packages", () => {
  it("every published package has a size budget", () => {
    expect(Object.keys(BUDGETS).sort()).toEqual(project.packages.map(({ name }) => name).sort());
  });

  it("every package has at most the files and bytes of its size budget", () => {
    const rows = project.packages.map(({ name, files }) => {
      const budget = BUDGETS[name] ?? { files: 0, bytes: 0 };
      const bytes = bytesOf(files);
      const isWithin = files.length <= budget.files && bytes <= budget.bytes;
      const figures = `${files.length} of ${budget.files} files, ${bytes} of ${budget.bytes} bytes`;
      return { isWithin, line: `${isWithin ? "ok  " : "OVER"} ${name}: ${figures}` };
    });
    const figures = rows.map(({ line }) => line).join("\n");
    expect(
      rows.filter(({ isWithin }) => !isWithin),
      `installed size:\n${figures}`,
    ).toEqual([]);
  });

  it("an import of @longhaul/core is within its size budget", () => {
    const main = join(project.packageNamed("@longhaul/core").installed, "dist", "index.js");
    const loaded = [...filesBehind(main)].map((file) => statSync(file));
    const figures = `${loaded.length} files, ${bytesOf(loaded)} of ${CORE_IMPORT_BYTES} bytes`;
    expect(bytesOf(loaded), figures).toBeLessThanOrEqual(CORE_IMPORT_BYTES);
  });
});
