import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { commandKey, GIT_READERS, isOnlyLooking, simpleWords } from "./command-text.ts";

/**
 * Read-only git commands (`git status`, `git log`, …), rewritten so that no setting of the repository starts
 * a program. Also finds reasons to ask before such a command, because anybody may have written the repository
 * and its settings.
 */

/** Read-only git command, rewritten so that no setting of the repository starts a program. */
interface SafeGit {
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Rewrites a read-only git command. A combination of several read-only commands gets the settings through its
 * environment. The environment does not switch off the programs of diff and merge drivers, but `repositoryAt`
 * detects them before the question. For every other command, returns undefined, and the command runs
 * unchanged.
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

/** Checks if a command is a single, simple git command that changes nothing. */
export function isGitReader(command: string): boolean {
  const [program, subcommand = ""] = commandKey(command).words ?? [];
  return program === "git" && GIT_READERS.has(subcommand);
}

/**
 * Settings that start programs, each with a value that starts none. They override the settings of the
 * repository, which the agent or the author of the project may have written.
 */
const SAFE_SETTINGS: readonly string[] = [
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

/**
 * Variables that prevent three things: downloads of missing objects, prompts, and optional locks. The
 * release of such a lock starts a hook.
 */
const SAFE_VARIABLES: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ALLOW_PROTOCOL: "none",
};

/** Options that override all settings, both of the repository and of a submodule. */
const SAFE_OPTIONS: Readonly<Record<string, string>> = {
  status: "--ignore-submodules=dirty",
  diff: "--no-ext-diff --no-textconv --ignore-submodules=dirty --submodule=short",
  log: "--no-ext-diff --no-textconv --submodule=short",
  show: "--no-ext-diff --no-textconv --submodule=short",
  blame: "--no-textconv --no-ignore-revs-file",
};

/** Returns the settings as numbered variables. The numbers continue those of the user's own environment. */
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

interface Repository {
  /** Reasons to ask each time, even before a read-only command. */
  readonly reasons: readonly string[];
  /**
   * Folders that git reads: the working tree, git's own folder and its objects. Empty outside of a
   * repository.
   */
  readonly folders: readonly string[];
}

/**
 * Maximum time to read settings. Normally it takes milliseconds. Only a hostile repository contains an
 * endless file.
 */
const LONGEST_LOOK_MS = 5_000;
/** Maximum output, enough for thousands of settings. */
const MAX_OUTPUT_BYTES = 1_000_000;
/** Maximum entries of git's own folder to check. */
const MAX_ENTRIES = 20_000;

/** Builds a pattern for setting names, which can contain any character. */
const settings = (...names: readonly string[]): RegExp => new RegExp(`^(?:${names.join("|")})$`, "s");

/**
 * Dangerous settings that no option switches off. With them, even a read-only command runs programs or quotes
 * other files. Filters run for every changed file, and the diff would be wrong without them.
 */
const DANGEROUS = settings(
  "filter\\..*\\.(?:clean|smudge|process)",
  "core\\.(?:worktree|attributesfile|excludesfile)",
  "mailmap\\.file",
  "diff\\.orderfile",
);

/**
 * Settings that are dangerous only in a combined command. In a simple command, options switch them off. A
 * combined command cannot get options.
 */
const DANGEROUS_COMBINED = settings(
  "diff\\.(?:external|submodule|.*\\.(?:command|textconv))",
  "merge\\..*\\.driver",
  "blame\\.ignorerevsfile",
  "submodule\\..*\\.ignore",
);

/**
 * Inspects the repository around a folder without running its code. Trusts the user's own settings. For a
 * combined command, submodules are a reason to ask too, because no option keeps git out of them.
 */
export async function repositoryAt(cwd: string, use: "alone" | "combined"): Promise<Repository> {
  try {
    const listed = await git(cwd, "config", "--list", "--show-scope", "--name-only", "-z");
    const folders = await foldersOf(cwd);
    const links = folders === undefined ? [] : await linksIn(folders.own);
    const submodules = folders !== undefined && use === "combined" ? await submodulesIn(folders.top) : [];
    return {
      reasons: [...dangerousIn(listed, use), ...links, ...submodules],
      folders: folders === undefined ? [] : [folders.top, folders.own, folders.common, folders.objects],
    };
  } catch (error) {
    // Without git there is nothing to run.
    if (error instanceof Error && "code" in error && error.code === "ENOENT")
      return { reasons: [], folders: [cwd] };
    return { reasons: ["unreadable settings"], folders: [] };
  }
}

async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const limits = { timeout: LONGEST_LOOK_MS, maxBuffer: MAX_OUTPUT_BYTES };
  const env = { ...process.env, ...SAFE_VARIABLES };
  const safe = SAFE_SETTINGS.flatMap((setting) => ["-c", setting]);
  const { stdout } = await promisify(execFile)("git", [...safe, ...args], { cwd, env, ...limits });
  return stdout;
}

/** Returns the folders that git reads, or undefined if there is no repository with a working tree. */
async function foldersOf(
  cwd: string,
): Promise<Readonly<Record<"top" | "own" | "common" | "objects", string>> | undefined> {
  const where = ["--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--git-path", "objects"];
  const output = await git(cwd, "rev-parse", ...where).catch(() => "");
  if (output === "") return undefined;
  const [top, own, common, objects] = output.split("\n").map((line) => resolve(cwd, line));
  return top && own && common && objects ? { top, own, common, objects } : undefined;
}

function dangerousIn(listed: string, use: "alone" | "combined"): readonly string[] {
  const parts = listed.split("\0");
  const isOwn = (at: number): boolean => /^(?:system|global|command)$/.test(parts[at - 1] ?? "");
  const names = parts.filter((_, at) => at % 2 === 1 && !isOwn(at)).map((name) => name.toLowerCase());
  const isDangerous = (name: string): boolean =>
    DANGEROUS.test(name) || (use === "combined" && DANGEROUS_COMBINED.test(name));
  return [...new Set(names.filter(isDangerous))];
}

/**
 * Finds links, which git never creates in its own folder. A link can lead to a file that git quotes in an
 * error message.
 */
async function linksIn(folder: string): Promise<readonly string[]> {
  const open = [folder];
  const found: string[] = [];
  let seen = 0;
  for (let at = open.shift(); at !== undefined && found.length === 0; at = open.shift()) {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) return ["an unreadable folder"];
    seen += entries.length;
    if (seen > MAX_ENTRIES) return ["too many files to check"];
    for (const entry of entries) {
      const path = join(at, entry.name);
      const name = `.git/${relative(folder, path)}`;
      if (entry.isSymbolicLink()) found.push(`the link ${name}`);
      else if (name === ".git/objects/info/alternates") found.push("objects from another repository");
      else if (entry.isDirectory() && !/^\.git\/(?:objects\/[0-9a-f]{2}|modules|lfs)$/.test(name))
        open.push(path);
    }
  }
  return found;
}

async function submodulesIn(top: string): Promise<readonly string[]> {
  const names: readonly string[] = await readdir(top).catch(() => []);
  return names.includes(".gitmodules") ? ["submodules"] : [];
}
