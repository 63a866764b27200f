import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { commandKey, GIT_READERS, simpleWords } from "./command-key.ts";

/** A command of git that only looks, in a form in which no setting of the repository starts a program. */
export interface SafeGit {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Settings that start programs, each with a value that starts none. They go before those of the repository, whose
 * files the agent, or the author of the project, may have written.
 */
const SETTINGS: readonly string[] = [
  "safe.bareRepository=explicit",
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "core.sshCommand=false",
  "core.gitProxy=",
  "diff.external=",
  "diff.ignoreSubmodules=dirty",
  "status.submoduleSummary=false",
  "submodule.recurse=false",
  "log.showSignature=false",
  "gpg.program=false",
  "gpg.ssh.program=false",
  "gpg.x509.program=false",
  "protocol.allow=never",
];

/** No lock that starts a hook when it is released, no download of missing objects, no question. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
};

/** Of the subcommands that show differences. */
const NO_DIFF_PROGRAMS: Readonly<Record<string, string>> = {
  diff: "--no-ext-diff --no-textconv",
  log: "--no-ext-diff --no-textconv",
  show: "--no-ext-diff --no-textconv",
  blame: "--no-textconv",
};

/** True for one simple command of git that changes nothing. */
export function isGitReader(command: string): boolean {
  const [program, subcommand = ""] = commandKey(command).words ?? [];
  return program === "git" && GIT_READERS.has(subcommand);
}

/** Undefined for every other command, which runs as it is written. */
export function safeGit(command: string): SafeGit | undefined {
  if (!isGitReader(command)) return undefined;
  const [, subcommand = "", ...others] = simpleWords(command) ?? [];
  const settings = SETTINGS.map((setting) => `-c ${setting}`);
  const options = Object.hasOwn(NO_DIFF_PROGRAMS, subcommand) ? [NO_DIFF_PROGRAMS[subcommand]] : [];
  return {
    command: ["git", "--no-pager", ...settings, subcommand, ...options, ...others].join(" "),
    environment: ENVIRONMENT,
  };
}

/** Filters run for every changed file, and switching them off would show wrong differences. */
const FILTER = /^filter\..+\.(?:clean|smudge|process)$/;
/** Reading settings takes milliseconds. A file that never ends was put there on purpose. */
const LONGEST_LOOK_MS = 5_000;
/** Thousands of settings fit. */
const MOST_OUTPUT_BYTES = 1_000_000;

/**
 * Names the settings of the repository by which even a look runs programs. The user's own settings do not count: they
 * are trusted. A repository whose settings cannot be read gives a reason as well.
 */
export async function programsOfRepository(cwd: string): Promise<readonly string[]> {
  const look = [
    "-c",
    "safe.bareRepository=explicit",
    "config",
    "--list",
    "--show-scope",
    "--name-only",
    "-z",
  ];
  const limits = { timeout: LONGEST_LOOK_MS, maxBuffer: MOST_OUTPUT_BYTES };
  try {
    const { stdout } = await promisify(execFile)("git", look, { cwd, ...limits });
    const parts = stdout.split("\0");
    const names = parts.filter(
      (_, at) => at % 2 === 1 && !/^(?:system|global|command)$/.test(parts[at - 1] ?? ""),
    );
    return [...new Set(names.filter((name) => FILTER.test(name.toLowerCase())))];
  } catch (error) {
    // Without git there is nothing to run.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    return ["settings that could not be read"];
  }
}
