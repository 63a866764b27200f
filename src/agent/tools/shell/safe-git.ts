import { commandKey, GIT_READERS, simpleWords } from "./command-key.ts";
import { isOnlyLooking } from "./command-parts.ts";

/** A command of git that only looks, in a form in which no setting of the repository starts a program. */
export interface SafeGit {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Settings that start programs, each with a value that starts none. They go before those of the repository, whose
 * files the agent, or the author of the project, may have written.
 */
export const SAFE_SETTINGS: readonly string[] = [
  "safe.bareRepository=explicit",
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "core.sshCommand=false",
  "core.gitProxy=",
  "diff.ignoreSubmodules=dirty",
  "status.submoduleSummary=false",
  "submodule.recurse=false",
  "log.showSignature=false",
  "log.diffMerges=separate",
  "gpg.program=false",
  "gpg.ssh.program=false",
  "gpg.x509.program=false",
  "protocol.allow=never",
];

/** No lock that starts a hook when it is released, no download of missing objects, no question. */
export const SAFE_VARIABLES: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ALLOW_PROTOCOL: "none",
};

/** No settings beat an option: neither those of the repository nor those of a submodule. */
const SAFE_OPTIONS: Readonly<Record<string, string>> = {
  status: "--ignore-submodules=dirty",
  diff: "--no-ext-diff --no-textconv --ignore-submodules=dirty --submodule=short",
  log: "--no-ext-diff --no-textconv --submodule=short",
  show: "--no-ext-diff --no-textconv --submodule=short",
  blame: "--no-textconv --no-ignore-revs-file",
};

/** The settings as variables, behind those that the user's own environment has. */
function safeEnvironment(): Readonly<Record<string, string>> {
  const first = Number(process.env.GIT_CONFIG_COUNT) || 0;
  const variables = SAFE_SETTINGS.flatMap((setting, at) => {
    const [name = "", ...value] = setting.split("=");
    return [
      [`GIT_CONFIG_KEY_${first + at}`, name],
      [`GIT_CONFIG_VALUE_${first + at}`, value.join("=")],
    ];
  });
  const GIT_CONFIG_COUNT = String(first + SAFE_SETTINGS.length);
  return { ...SAFE_VARIABLES, GIT_PAGER: "cat", GIT_CONFIG_COUNT, ...Object.fromEntries(variables) };
}

/** True for one simple command of git that changes nothing. */
export function isGitReader(command: string): boolean {
  const [program, subcommand = ""] = commandKey(command).words ?? [];
  return program === "git" && GIT_READERS.has(subcommand);
}

/**
 * Undefined for every other command, which runs as it is written. A command that is made of several looks gets the
 * settings by its environment. That leaves the programs of drivers, which are looked for before the question.
 */
export function safeGit(command: string): SafeGit | undefined {
  if (!isGitReader(command))
    return isOnlyLooking(command) ? { command, environment: safeEnvironment() } : undefined;
  const [, subcommand = "", ...others] = simpleWords(command) ?? [];
  const settings = SAFE_SETTINGS.map((setting) => `-c ${setting}`);
  const options = Object.hasOwn(SAFE_OPTIONS, subcommand) ? [SAFE_OPTIONS[subcommand]] : [];
  return {
    command: ["git", "--no-pager", ...settings, subcommand, ...options, ...others].join(" "),
    environment: SAFE_VARIABLES,
  };
}
