/**
 * Maximum installed size of each package, without its dependencies. A budget is about 10% above the size when
 * it was set. If a package exceeds its budget, it may contain something by mistake. If it has grown for a
 * reason, raise the budget in the same commit.
 */
export interface Budget {
  readonly files: number;
  readonly bytes: number;
}

export const BUDGETS: Readonly<Record<string, Budget>> = {
  "@longhaul/agent": { files: 8, bytes: 355_000 },
  "@longhaul/ai-sdk": { files: 8, bytes: 68_000 },
  "@longhaul/anthropic": { files: 8, bytes: 39_000 },
  // Core has a file with types for each topic and for each group of internal names, and separate files for the
  // code that loads on first use.
  "@longhaul/core": { files: 94, bytes: 1_640_000 },
  // Contains all our packages, the documentation and the demo session. It has grown by the simulator's API of
  // OpenAI, and by the guides for it.
  longhaul: { files: 200, bytes: 4_400_000 },
  "@longhaul/notes": { files: 16, bytes: 176_000 },
  "@longhaul/openai": { files: 8, bytes: 108_000 },
  "@longhaul/otel": { files: 8, bytes: 32_500 },
  "@longhaul/sessions": { files: 8, bytes: 440_000 },
  // Contains the APIs of two providers, the parts of core that it uses, and the demo session.
  "@longhaul/simulator": { files: 10, bytes: 1_680_000 },
};

/**
 * Size of the JavaScript behind `import "@longhaul/core"`. It decides how fast a program starts and how large
 * a page gets.
 */
export const CORE_IMPORT_BYTES = 850_000;

/** Maximum size of what a bundled program loads before it calls anything. */
export interface FirstLoad {
  readonly name: string;
  /** Program whose bundle is measured: its entry and all chunks that it imports statically. */
  readonly code: string;
  /** Bytes after gzip. 1 KB is 1,000 bytes. */
  readonly gzipBytes: number;
}

export const FIRST_LOADS: readonly FirstLoad[] = [
  {
    name: "createCompactor at first",
    code: `import { createCompactor } from "@longhaul/core"; console.log(createCompactor);`,
    gzipBytes: 130_000,
  },
  {
    name: "estimateTokens, both vocabularies",
    code: `import { estimateTokens } from "@longhaul/core/measure"; console.log(estimateTokens);`,
    gzipBytes: 58_000,
  },
  {
    name: "counting alone",
    code: `
      import { contextTokens, ContextMeter, measureContent, measureEntries, measureRequest }
        from "@longhaul/core/measure";
      console.log(contextTokens, ContextMeter, measureContent, measureEntries, measureRequest);`,
    gzipBytes: 58_000,
  },
];
