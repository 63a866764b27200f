import { hasPlainOptions } from "./reader-options.ts";

/**
 * The reach of a permission for a command, read off its text alone. There are two kinds of keys:
 * - `shell:…` for one simple command. For the commands in the lists below it is their first words (`shell:npm test`), so
 *   one permission covers them with other arguments. For all others it is the whole command.
 * - `shell-exact:…` for everything that a shell could make more than one command of, and for programs that run what
 *   their arguments say. No rule that ends in `*` matches such a key: `shell:npm test*` does not allow
 *   `npm test; rm -rf x`, whose key begins with `shell-exact:`.
 */
export interface CommandKey {
  readonly key: string;
  /** In words: what "always" would allow. */
  readonly scope: string;
  /** The words without quotes, where one key covers the command with other arguments. */
  readonly words?: readonly string[];
}

export function commandKey(command: string): CommandKey {
  const quoted = simpleWords(command);
  if (quoted === undefined || mayRunOthers(quoted)) return exactKey(command);
  const prefix = prefixOf(quoted);
  return prefix === undefined
    ? { key: `shell:${quoted.join(" ")}`, scope: "exactly this command" }
    : { key: `shell:${prefix}`, scope: `commands that begin with ${prefix}`, words: quoted.map(unquoted) };
}

export const exactKey = (command: string): CommandKey => ({
  key: `shell-exact:${command}`,
  scope: "exactly this command",
});

const unquoted = (word: string): string => word.replace(/["']/g, "");

/**
 * Signs that mean themselves in every shell, quoted or not. All others (`;` `&` `|` `$` backticks, backslashes,
 * redirections, brackets, `%` and `^` of Windows, line ends) may join, hide or replace commands somewhere.
 */
const PLAIN = "\\p{L}\\p{N}_./:=@+,\\-";
const WORD = `(?:[${PLAIN}]|"[${PLAIN} ]*"|'[${PLAIN} ]*')+`;
const SIMPLE = new RegExp(`^ *${WORD}(?: +${WORD})* *$`, "u");
const WORDS = new RegExp(WORD, "gu");

/** The words of a command as they are written, with quotes; undefined where it may be more than one command. */
export function simpleWords(command: string): readonly string[] | undefined {
  if (!SIMPLE.test(command)) return undefined;
  const words = command.match(WORDS) ?? [];
  // `PATH=/tmp/evil npm test` runs another npm. A program in quotes, or in letters that look like others, is odd enough.
  return /^[A-Za-z0-9_./@+-]+$/.test(words[0] ?? "") ? words : undefined;
}

/** They run what their arguments say, or read code from them. */
const RUNNERS: ReadonlySet<string> = new Set([
  ...["sudo", "doas", "su", "runuser", "pkexec", "chroot", "unshare", "nsenter", "setpriv"],
  ...[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "csh",
    "tcsh",
    "ash",
    "busybox",
    "cmd",
    "powershell",
    "pwsh",
  ],
  ...["env", "xargs", "parallel", "nohup", "nice", "ionice", "timeout", "time", "watch", "setsid", "stdbuf"],
  ...["script", "strace", "ltrace", "gdb", "lldb", "perf", "entr", "expect", "screen", "tmux", "flock", "at"],
  ...[
    "eval",
    "exec",
    "command",
    "builtin",
    "source",
    ".",
    "trap",
    "alias",
    "coproc",
    "function",
    "start",
    "call",
  ],
  ...["if", "then", "else", "elif", "while", "until", "do", "for", "case", "select"],
  ...["find", "fd", "awk", "gawk", "mawk", "nawk", "sed", "gsed", "ed", "ex", "vi", "vim", "nvim", "emacs"],
  ...[
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "pipx",
    "tsx",
    "ts-node",
    "corepack",
    "ssh",
    "docker",
    "podman",
    "kubectl",
  ],
  ...[
    "tar",
    "rsync",
    "less",
    "more",
    "man",
    "crontab",
    "systemd-run",
    "osascript",
    "wsl",
    "direnv",
    "asdf",
    "mise",
  ],
]);

/** With an option in front they may run any code (`node -e`, `python -c`, `git -c alias.x=!rm`). */
const OPTIONS_FIRST_ARE_CODE: ReadonlySet<string> = new Set([
  ...[
    "node",
    "deno",
    "bun",
    "python",
    "python2",
    "python3",
    "ruby",
    "perl",
    "php",
    "lua",
    "R",
    "Rscript",
    "julia",
  ],
  ...[
    "git",
    "npm",
    "pnpm",
    "yarn",
    "cargo",
    "go",
    "make",
    "gmake",
    "java",
    "gradle",
    "mvn",
    "ghci",
    "swift",
    "elixir",
  ],
]);

/** Subcommands that run what comes behind them. */
const RUNNING_SUBCOMMANDS: ReadonlySet<string> = new Set([
  ...[
    "npm exec",
    "npm x",
    "pnpm exec",
    "pnpm dlx",
    "yarn exec",
    "yarn dlx",
    "bun x",
    "deno eval",
    "deno run",
  ],
  ...["uv run", "poetry run", "pipenv run", "conda run", "bundle exec", "cargo run", "go run", "dotnet exec"],
  ...[
    "git bisect",
    "git submodule",
    "git rebase",
    "git filter-branch",
    "git config",
    "git difftool",
    "git mergetool",
  ],
]);

/** Options by which programs that only look, test or build start others, or work where they are told, after all. */
const STARTS_OTHERS =
  /^-.*(?:exec|shell|pager|pack|diff-cmd|ext-diff|eval|command|program|hook|plugin|require|import|loader|preload|editor|config|runner|wrapper|compiler|vettool|flags|rsh|script|out|prefix|manifest|cwd|registry|install)/i;
/** The same in one letter: `go build -o /home/x/.profile`, `npm test -C /tmp/x`. To git and grep they mean nothing bad. */
const ELSEWHERE = /^-[Co]/;
/** `make test SHELL=/tmp/x`: a setting in the middle may name a program. */
const SETTING = /^[A-Za-z_]\w*[:+]*=/;

function mayRunOthers(quoted: readonly string[]): boolean {
  const words = quoted.map(unquoted);
  const [program = "", first = "", ...others] = words;
  const name = nameOf(program);
  if (isListed(name, first) && !hasPlainOptions([name, first, ...others])) return true;
  if (REGISTRY_LOOKS.test(`${name} ${first}`) && !others.every((word) => PACKAGE_OR_OPTION.test(word)))
    return true;
  if (name === "tsc" && !isOnlyCheck(words)) return true;
  // A file of arguments may hold any option.
  if (CHECKERS.has(name) && words.some((word) => word.startsWith("@"))) return true;
  if (RUNNERS.has(name) || RUNNING_SUBCOMMANDS.has(`${name} ${first}`)) return true;
  if (isModule(name, words)) return others.slice(1).some(isRisky);
  if (OPTIONS_FIRST_ARE_CODE.has(name) && first.startsWith("-")) return true;
  if (TARGETS.has(name) && others.some((word) => word.startsWith("-") && !OPTION_OF_MAKE.test(word)))
    return true;
  const hasElsewhere = name === "eslint" || (name !== "git" && OPTIONS_FIRST_ARE_CODE.has(name));
  return [first, ...others].some((word) => isRisky(word) || (hasElsewhere && ELSEWHERE.test(word)));
}

/** Given an address in place of a package's name, they start git, and connect to any host. */
const REGISTRY_LOOKS = /^(?:npm|pnpm|yarn) (?:view|info|show|outdated|ls|list)$/;
const PACKAGE_OR_OPTION = /^(?:--?[a-z-]+(?:=\w+)?|(?:@[\w.-]+\/)?[\w.-]+(?:@[\w.-]+)?)$/;

/** Without `--noEmit`, or with settings from another file than a guarded one, tsc writes files anywhere. */
const isOnlyCheck = (words: readonly string[]): boolean =>
  words.includes("--noEmit") &&
  words
    .slice(1)
    .every((word) =>
      /^(?:--noEmit|--pretty|--skipLibCheck|-p|--project|\.|(?:[\w-]+\/)*tsconfig[\w.-]*\.json)$/.test(word),
    );

/** Programs that only look, and the subcommands of git whose options are known. */
const isListed = (name: string, first: string): boolean =>
  READERS.has(name) || (name === "git" && (SUBCOMMANDS.git?.includes(first) ?? false));

const isRisky = (word: string): boolean => STARTS_OTHERS.test(word) || SETTING.test(word);

/** Without its folder and what Windows puts behind it. */
const nameOf = (program: string): string =>
  (program.split("/").at(-1) ?? "").replace(/\.(?:exe|cmd|bat|com)$/i, "");

/** Modules that test and check, as programs of their own do. */
const MODULES: ReadonlySet<string> = new Set(["pytest", "unittest", "mypy", "ruff", "black"]);

const isModule = (name: string, [, option, module = ""]: readonly string[]): boolean =>
  /^python3?$/.test(name) && option === "-m" && MODULES.has(module);

/** Programs that only look, whatever their arguments. */
export const READERS: ReadonlySet<string> = new Set([
  ...["ls", "cat", "head", "tail", "wc", "pwd", "which", "stat", "du", "df", "echo", "grep", "diff", "cmp"],
  ...["basename", "dirname", "realpath", "readlink", "uname", "whoami", "true", "false", "sleep"],
]);

/** One word: they check or test, whatever their arguments. */
const CHECKERS: ReadonlySet<string> = new Set([
  ...["tsc", "eslint", "pytest", "vitest", "jest", "mocha", "ruff", "mypy"],
]);

/** Subcommands of git that change nothing. */
export const GIT_READERS: ReadonlySet<string> = new Set([
  ...["status", "diff", "log", "show", "blame", "ls-files", "rev-parse", "shortlog", "describe"],
]);

/** Two words, the second from the list. */
const SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  git: [...GIT_READERS, "add", "commit"],
  npm: ["test", "ls", "outdated", "view"],
  pnpm: ["test", "ls", "outdated"],
  yarn: ["test", "build", "lint"],
  bun: ["test"],
  cargo: ["build", "check", "test", "clippy", "fmt", "doc", "tree", "bench"],
  go: ["build", "test", "vet", "fmt", "list", "version"],
  // Not its tests: what they may do is said in options behind it (`deno test -A`).
  deno: ["check", "lint", "fmt"],
};
/** A script of the project, by its name. */
const RUNS_SCRIPTS: ReadonlySet<string> = new Set([
  "npm run",
  "pnpm run",
  "yarn run",
  "bun run",
  "npm run-script",
]);
const TARGETS: ReadonlySet<string> = new Set(["make", "gmake", "just"]);
/** How much at once, and how loud. All others may lead to another file with other rules, in full or cut short. */
const OPTION_OF_MAKE = /^-(?:j\d*|k|s)$/;
/** The name of a script or a target: no option, no path, no quotes. */
const NAME = /^[A-Za-z0-9][\w:.-]*$/;

/** As many first words as say what the command does; undefined for what is not known. */
function prefixOf(words: readonly string[]): string | undefined {
  const [program = "", first = "", second = "", ...others] = words;
  if (READERS.has(program) || CHECKERS.has(program)) return program;
  if (Object.hasOwn(SUBCOMMANDS, program) && SUBCOMMANDS[program]?.includes(first))
    return `${program} ${first}`;
  if (RUNS_SCRIPTS.has(`${program} ${first}`) && NAME.test(second)) return `${program} ${first} ${second}`;
  // What comes behind a target is another one: `make test deploy`.
  const isOneTarget = [second, ...others].every((word) => word === "" || word.startsWith("-"));
  if (TARGETS.has(program) && NAME.test(first) && isOneTarget) return `${program} ${first}`;
  return isModule(program, words) ? `${program} -m ${second}` : undefined;
}
