import { execFile } from "node:child_process";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
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
  "log.diffMerges=separate",
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
  GIT_ALLOW_PROTOCOL: "none",
  GIT_GRAFT_FILE: "/dev/null",
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
  const variables = SETTINGS.flatMap((setting, at) => {
    const [name = "", ...value] = setting.split("=");
    return [
      [`GIT_CONFIG_KEY_${first + at}`, name],
      [`GIT_CONFIG_VALUE_${first + at}`, value.join("=")],
    ];
  });
  const GIT_CONFIG_COUNT = String(first + SETTINGS.length);
  return { ...ENVIRONMENT, GIT_PAGER: "cat", GIT_CONFIG_COUNT, ...Object.fromEntries(variables) };
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
  const settings = SETTINGS.map((setting) => `-c ${setting}`);
  const options = Object.hasOwn(SAFE_OPTIONS, subcommand) ? [SAFE_OPTIONS[subcommand]] : [];
  return {
    command: ["git", "--no-pager", ...settings, subcommand, ...options, ...others].join(" "),
    environment: ENVIRONMENT,
  };
}

/** Reading settings takes milliseconds. A file that never ends was put there on purpose. */
const LONGEST_LOOK_MS = 5_000;
/** Thousands of settings fit. */
const MOST_OUTPUT_BYTES = 1_000_000;

/**
 * Settings by which even a look runs programs or reads elsewhere, and that no option switches off. Filters run for every
 * changed file, and without them the differences would be wrong. Names may hold any character.
 */
const DANGEROUS =
  /^(?:filter\..*\.(?:clean|smudge|process)|diff\..*\.(?:command|textconv)|merge\..*\.driver|core\.worktree)$/s;

/** Files in git's own folder that it reads line by line, and quotes when a line makes no sense. */
const QUOTED_FILES = [
  ...["HEAD", "config", "config.worktree", "index", "packed-refs", "shallow", "commondir", "gitdir"],
  ...["info/grafts", "info/attributes", "info/exclude", "info/sparse-checkout", "objects/info/alternates"],
];

/**
 * Reasons for which even a look asks each time: settings of the repository that run programs, and links in its folder
 * that lead elsewhere. The user's own settings do not count, they are trusted. A repository that cannot be read gives a
 * reason as well.
 */
export async function reasonsToAsk(cwd: string): Promise<readonly string[]> {
  try {
    const settings = await git(cwd, "config", "--list", "--show-scope", "--name-only", "-z");
    const folder = (await git(cwd, "rev-parse", "--absolute-git-dir").catch(() => "")).trimEnd();
    return [...dangerousIn(settings), ...(folder === "" ? [] : await linksIn(folder))];
  } catch (error) {
    // Without git there is nothing to run.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    return ["settings that cannot be read"];
  }
}

/** The folder that holds the repository's files; undefined outside of any repository. */
export async function topOfRepository(cwd: string): Promise<string | undefined> {
  return (await git(cwd, "rev-parse", "--show-toplevel").catch(() => "")).trimEnd() || undefined;
}

async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const limits = { timeout: LONGEST_LOOK_MS, maxBuffer: MOST_OUTPUT_BYTES };
  const env = { ...process.env, ...ENVIRONMENT };
  const settings = SETTINGS.flatMap((setting) => ["-c", setting]);
  const { stdout } = await promisify(execFile)("git", [...settings, ...args], { cwd, env, ...limits });
  return stdout;
}

function dangerousIn(settings: string): readonly string[] {
  const parts = settings.split("\0");
  const isOwn = (at: number): boolean => /^(?:system|global|command)$/.test(parts[at - 1] ?? "");
  const names = parts.filter((_, at) => at % 2 === 1 && !isOwn(at));
  return [...new Set(names.filter((name) => DANGEROUS.test(name.toLowerCase())))];
}

async function linksIn(folder: string): Promise<readonly string[]> {
  const names = ["", ...QUOTED_FILES];
  const found = await Promise.all(names.map((name) => lstat(join(folder, name)).catch(() => undefined)));
  return names.filter((_, at) => found[at]?.isSymbolicLink()).map((name) => `the link .git/${name}`);
}
