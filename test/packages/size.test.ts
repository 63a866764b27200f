import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundle, gzipBytesOf } from "../support/bundles.ts";
import { filesBehind, staticImportsIn } from "../support/packages.ts";
import { type PackedProject, packPackages } from "../support/packed-packages.ts";
import { BUDGETS, CORE_IMPORT_BYTES, FIRST_LOADS } from "./budgets.ts";

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

  it.each(FIRST_LOADS)("a bundle loads at first at most its size budget: $name", async (first) => {
    const made = await bundle(project.folder, first.code);
    expect(gzipBytesOf(made.first)).toBeLessThanOrEqual(first.gzipBytes);
  });

  it("a bundled compactor loads the code for compactions on first use, in chunks of their own", async () => {
    const [{ code } = { code: "" }] = FIRST_LOADS;
    const { chunks, first } = await bundle(project.folder, code);
    // The first text is of the prompt for summaries, the second one of the reader of providers' errors.
    for (const text of ["You write working notes for a coding agent", "prompt is too long: "]) {
      expect(first.filter((chunk) => chunk.code.includes(text)).map(({ name }) => name)).toEqual([]);
      expect(chunks.filter((chunk) => chunk.code.includes(text))).not.toEqual([]);
    }
  });

  it("an import of @longhaul/core is within its size budget", () => {
    const main = join(project.packageNamed("@longhaul/core").installed, "dist", "index.js");
    const loaded = [...filesBehind(main, staticImportsIn)].map((file) => statSync(file));
    const figures = `${loaded.length} files, ${bytesOf(loaded)} of ${CORE_IMPORT_BYTES} bytes`;
    expect(bytesOf(loaded), figures).toBeLessThanOrEqual(CORE_IMPORT_BYTES);
  });
});
