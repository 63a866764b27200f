// Lists the optional modules of the engine. The list is for test runs in which one module is missing.
import type { Plugin } from "vite";

/** An optional module: its file, the name of its factory, and a pattern that recognizes tests about it. */
interface Module {
  readonly file: string;
  readonly maker: string;
  readonly words: RegExp;
}

export const MODULES: Readonly<Record<string, Module>> = {
  cached: {
    file: "packages/core/src/modules/cached-edits/cached-edits.ts",
    maker: "cachedEdits",
    words: /cachedEdits|cache_edits|cacheEdits|form: "cached"/,
  },
  api: {
    file: "packages/core/src/modules/api-clearing/api-clearing.ts",
    maker: "apiClearing",
    words: /apiClearing|contextEdits|context_management|form: "api"/,
  },
  snip: {
    file: "packages/core/src/modules/snip/snip-module.ts",
    maker: "messageSnip",
    words: /\bsnip|messageSnip/i,
  },
  collapse: {
    file: "packages/core/src/modules/collapse/collapse.ts",
    maker: "spanCollapse",
    words: /collaps|\bspans?\b|\.expand\(/i,
  },
  notes: {
    file: "packages/notes/src/notes-module.ts",
    maker: "sessionNotes",
    words: /\bnotes?\b|sessionNotes/i,
  },
  "memory-files": {
    file: "packages/core/src/modules/memory-files/memory-files-module.ts",
    maker: "memoryFiles",
    words: /memoryFiles|memory-attached|nested_memory|memory files?\b|AGENTS\.md|CLAUDE\.md/i,
  },
};

/**
 * Creates a Vite plugin that replaces the factory of this module. The new factory creates a module that
 * attaches to no conversation.
 */
export function withoutModule(name: string): Plugin {
  const module = MODULES[name];
  return {
    name: "without-module",
    enforce: "pre",
    transform(code: string, id: string) {
      if (module === undefined || !id.endsWith(module.file)) return undefined;
      const { maker } = module;
      const declared = `export function ${maker}`;
      if (!code.includes(declared)) throw new Error(`${module.file} does not declare ${maker}.`);
      const inert = `export const ${maker} = () => ({ name: "${name}", attach: () => undefined });`;
      return `${code.replace(declared, `export function original_${maker}`)}\n${inert}\n`;
    },
  };
}
