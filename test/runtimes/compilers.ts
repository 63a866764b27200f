import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { existing, install } from "../support/installed.ts";
import type { PackedProject } from "../support/packed-packages.ts";
import { TYPESCRIPT_VERSIONS } from "./pins.ts";

/** A compiler that checks a program with every public name of the packed libraries. */
export interface Compiler {
  readonly name: string;
  /** Returns the first errors of the compiler, or undefined if there are none. */
  check(project: PackedProject, installed: string): string | undefined;
}

/**
 * Libraries whose types need nothing else. The others have peer dependencies or Node in their types, and no
 * line of ours can make their types strict.
 */
const LIBRARIES = ["core", "notes", "openai", "anthropic", "ai-sdk", "otel"].map(
  (name) => `@longhaul/${name}`,
);

/** How a project finds the types: as Node does, and as bundlers do. */
const RESOLUTIONS = {
  nodenext: { module: "nodenext", moduleResolution: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
} as const;

/** The strictest options of a project for any runtime: no types of browsers and none of Node. */
const OPTIONS = {
  target: "es2022",
  lib: ["es2022"],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  skipLibCheck: false,
  noEmit: true,
};

const SHOWN_ERRORS = 8;

const compiler = (version: string, resolution: keyof typeof RESOLUTIONS): Compiler => ({
  name: `TypeScript ${version}, ${resolution}`,
  check: (project, installed) => {
    const folder = join(project.folder, "types", `${version}-${resolution}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "program.mts"), programOf(project));
    const compilerOptions = { ...OPTIONS, ...RESOLUTIONS[resolution] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.mts"] }));
    const tsc = join(install(installed, "typescript", version), "node_modules", "typescript", "bin", "tsc");
    const args = [existing(tsc), "-p", folder, "--pretty", "false"];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    if (status === 0) return undefined;
    return `${stdout}${stderr}`.trim().split("\n").slice(0, SHOWN_ERRORS).join("\n         ");
  },
});

/** Returns a program that imports and exports every public name, and uses the most important one. */
function programOf(project: PackedProject): string {
  const entries = LIBRARIES.flatMap((name) => project.packageNamed(name).entries).filter(
    ({ isPublished, isInternal }) => isPublished && !isInternal,
  );
  const lines = entries.flatMap(({ specifier, names }, index) => {
    const list = names.map(({ name, isType }) => `${isType ? "type " : ""}${name} as ${name}${index}`);
    const exported = names.map(({ name, isType }) => `${isType ? "type " : ""}${name}${index}`);
    return [`import { ${list.join(", ")} } from "${specifier}";`, `export { ${exported.join(", ")} };`];
  });
  return `${lines.join("\n")}\n${USE}`;
}

/** A host's loop, so that inference is checked as well as declarations. */
const USE = `
import { type CompactorEvent, createCompactor, messageSnip, type Turn } from "@longhaul/core";
const seen: CompactorEvent[] = [];
const compactor = createCompactor({
  window: { tokens: 100_000 },
  modules: [messageSnip()],
  host: { onEvent: (event) => void seen.push(event) },
});
const messages = [{ role: "user" as const, content: "hello" }];
export const turn: Promise<Turn<{ role: "user"; content: string }>> = compactor.before(messages);
export const snipped: Promise<unknown> = compactor.snip(messages, { keepLastTurns: 1 });
compactor.after({ usage: { input_tokens: 1, output_tokens: 1 } });
`;

export const COMPILERS: readonly Compiler[] = TYPESCRIPT_VERSIONS.flatMap((version) => [
  compiler(version, "nodenext"),
  compiler(version, "bundler"),
]);
