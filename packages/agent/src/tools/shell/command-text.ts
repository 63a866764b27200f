/**
 * Analyzes a command by its text alone, without running or resolving anything. It decides how far a
 * permission for the command reaches (`commandKey`). It also decides whether all parts of a combined command
 * only read (`isOnlyLooking`), and whether no part changes a file (`changesNoFile`).
 *
 * There are two kinds of keys:
 * - `shell:…` for one simple command. For the commands in the lists below, the key is their first words
 *   (`shell:npm test`), so that one permission covers them with other arguments. For all others it is the
 *   whole command.
 * - `shell-exact:…` for everything that a shell could split into several commands, and for programs that run
 *   their arguments. No rule that ends in `*` matches this key: `shell:npm test*` does not allow
 *   `npm test; rm -rf x`, whose key begins with `shell-exact:`.
 */

interface CommandKey {
  readonly key: string;
  /** Description of what the answer "always" would allow. */
  readonly scope: string;
  /** Words of the command, without their quotes. Undefined if the key covers only exactly this command. */
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
 * Characters that are literal in every shell, quoted or not. All other characters can join, hide or replace
 * commands in some shell: `;` `&` `|` `$` backticks, backslashes, redirections, brackets, `%` and `^` of
 * Windows, line ends.
 */
const PLAIN = "\\p{L}\\p{N}_./:=@+,\\-";
const WORD = `(?:[${PLAIN}]|"[${PLAIN} ]*"|'[${PLAIN} ]*')+`;
const SIMPLE = new RegExp(`^ *${WORD}(?: +${WORD})* *$`, "u");
const WORDS = new RegExp(WORD, "gu");

/**
 * Splits a command into its words, which keep their quotes. Returns undefined if the text may be more than
 * one command.
 */
export function simpleWords(command: string): readonly string[] | undefined {
  if (!SIMPLE.test(command)) return undefined;
  const words = command.match(WORDS) ?? [];
  // `PATH=/tmp/evil npm test` runs another npm. A quoted program or one with look-alike letters is suspicious
  // too.
  return /^[A-Za-z0-9_./@+-]+$/.test(words[0] ?? "") ? words : undefined;
}

/** Creates a set of names of programs or subcommands, one row per kind. */
const names = (...rows: readonly string[]): ReadonlySet<string> =>
  new Set(rows.flatMap((row) => row.split(" ")));
const oneOf = (...patterns: readonly string[]): RegExp => new RegExp(`^(?:${patterns.join("|")})$`);

/** Programs that run their arguments or read code from them. */
const RUNNERS = names(
  "sudo doas su runuser pkexec chroot unshare nsenter setpriv",
  "sh bash dash zsh ksh fish csh tcsh ash busybox cmd powershell pwsh",
  "env xargs parallel nohup nice ionice timeout time watch setsid stdbuf",
  "script strace ltrace gdb lldb perf entr expect screen tmux flock at",
  "eval exec command builtin source . trap alias coproc function start call",
  "if then else elif while until do for case select",
  "find fd awk gawk mawk nawk sed gsed ed ex vi vim nvim emacs",
  "npx pnpx bunx uvx pipx tsx ts-node corepack ssh docker podman kubectl",
  "tar rsync less more man crontab systemd-run osascript wsl direnv asdf mise",
);

/**
 * Programs that can run any code because of an option before the subcommand (`node -e`, `python -c`,
 * `git -c alias.x=!rm`).
 */
const OPTIONS_FIRST_ARE_CODE = names(
  "node deno bun python python2 python3 ruby perl php lua R Rscript julia",
  "git npm pnpm yarn cargo go make gmake java gradle mvn ghci swift elixir",
);

/** Subcommands that run the words after them. */
const RUNNING_SUBCOMMANDS = oneOf(
  "npm (?:exec|x)",
  "(?:pnpm|yarn) (?:exec|dlx)",
  "bun x",
  "deno (?:eval|run)",
  "(?:uv|poetry|pipenv|conda|cargo|go) run",
  "(?:bundle|dotnet) exec",
  "git (?:bisect|submodule|rebase|filter-branch|config|difftool|mergetool)",
);

/**
 * Options of programs that read, test or build. With such an option, a program starts other programs or works
 * in another place.
 */
const STARTS_OTHERS =
  /^-.*(?:exec|shell|pager|pack|diff-cmd|ext-diff|eval|command|program|hook|plugin|require|import|loader|preload|editor|config|runner|wrapper|compiler|vettool|flags|rsh|script|out|prefix|manifest|cwd|registry|install)/i;
/**
 * Pattern of the same options as single letters: `go build -o /home/x/.profile`, `npm test -C /tmp/x`. These
 * letters are harmless in git and grep.
 */
const ELSEWHERE = /^-[Co]/;
/**
 * Pattern of a variable assignment. After the name of a program, as in `make test SHELL=/tmp/x`, an
 * assignment can name another program.
 */
const SETTING = /^[A-Za-z_]\w*[:+]*=/;

function mayRunOthers(quoted: readonly string[]): boolean {
  const words = quoted.map(unquoted);
  const [program = "", first = "", ...others] = words;
  const name = nameOf(program);
  if (isListed(name, first) && !hasPlainOptions([name, first, ...others])) return true;
  if (REGISTRY_LOOKS.test(`${name} ${first}`) && !others.every((word) => PACKAGE_OR_OPTION.test(word)))
    return true;
  if (name === "tsc" && !isOnlyCheck(words)) return true;
  // A file of arguments can contain any option.
  if (CHECKERS.has(name) && words.some((word) => word.startsWith("@"))) return true;
  if (RUNNERS.has(name) || RUNNING_SUBCOMMANDS.test(`${name} ${first}`)) return true;
  if (isModule(name, words)) return others.slice(1).some(isRisky);
  if (OPTIONS_FIRST_ARE_CODE.has(name) && first.startsWith("-")) return true;
  if (TARGETS.has(name) && others.some((word) => word.startsWith("-") && !OPTION_OF_MAKE.test(word)))
    return true;
  const hasElsewhere = name === "eslint" || (name !== "git" && OPTIONS_FIRST_ARE_CODE.has(name));
  return [first, ...others].some((word) => isRisky(word) || (hasElsewhere && ELSEWHERE.test(word)));
}

/**
 * Pattern of lookups in a registry. A lookup of an address instead of a package name can start git and
 * connect to any host.
 */
const REGISTRY_LOOKS = /^(?:npm|pnpm|yarn) (?:view|info|show|outdated|ls|list)$/;
const PACKAGE_OR_OPTION = /^(?:--?[a-z-]+(?:=\w+)?|(?:@[\w.-]+\/)?[\w.-]+(?:@[\w.-]+)?)$/;

/**
 * Returns true if a tsc command only checks types. Without `--noEmit`, or with settings from an unguarded
 * file, tsc can write files anywhere.
 */
const isOnlyCheck = (words: readonly string[]): boolean =>
  words.includes("--noEmit") &&
  words
    .slice(1)
    .every((word) =>
      /^(?:--noEmit|--pretty|--skipLibCheck|-p|--project|\.|(?:[\w-]+\/)*tsconfig[\w.-]*\.json)$/.test(word),
    );

/** Returns true for read-only programs, and for git subcommands whose options are known. */
const isListed = (name: string, first: string): boolean =>
  READERS.has(name) || (name === "git" && GIT_STAGERS.has(first));

const isRisky = (word: string): boolean => STARTS_OTHERS.test(word) || SETTING.test(word);

/** Returns the program name without its folder and without Windows extensions. */
const nameOf = (program: string): string =>
  (program.split("/").at(-1) ?? "").replace(/\.(?:exe|cmd|bat|com)$/i, "");

/** Python modules that test or check code. `python -m` runs each of them like a separate program. */
const MODULES = names("pytest unittest mypy ruff black");

const isModule = (name: string, [, option, module = ""]: readonly string[]): boolean =>
  /^python3?$/.test(name) && option === "-m" && MODULES.has(module);

/** Programs that only read, whatever their arguments. */
export const READERS: ReadonlySet<string> = names(
  "ls cat head tail wc pwd which stat du df echo grep diff cmp",
  "basename dirname realpath readlink uname whoami true false sleep",
);

/** Single-word programs that check or test, whatever their arguments. */
const CHECKERS = names("tsc eslint pytest vitest jest mocha ruff mypy");

/** Git subcommands that change nothing. */
export const GIT_READERS: ReadonlySet<string> = names(
  "status diff log show blame ls-files rev-parse shortlog describe",
);
/** Git subcommands that do not change the files that they name. `git commit` still runs hooks. */
const GIT_STAGERS: ReadonlySet<string> = new Set([...GIT_READERS, "add", "commit"]);

/** Programs with a subcommand from this list. */
const SUBCOMMANDS: Readonly<Record<string, ReadonlySet<string>>> = {
  git: GIT_STAGERS,
  npm: names("test ls outdated view"),
  pnpm: names("test ls outdated"),
  yarn: names("test build lint"),
  bun: names("test"),
  cargo: names("build check test clippy fmt doc tree bench"),
  go: names("build test vet fmt list version"),
  // `test` is missing, because options after it set its permissions (`deno test -A`).
  deno: names("check lint fmt"),
};
/** Pattern of commands that run a project script by its name. */
const RUNS_SCRIPTS = oneOf("(?:npm|pnpm|yarn|bun) run", "npm run-script");
const TARGETS = names("make gmake just");
/**
 * Pattern of the options of `make` for parallelism and verbosity. Any other option, in full or abbreviated,
 * can make `make` read a file with other rules.
 */
const OPTION_OF_MAKE = /^-(?:j\d*|k|s)$/;
/** Pattern of the name of a script or a target: no option, no path, no quotes. */
const NAME = /^[A-Za-z0-9][\w:.-]*$/;

/** Returns the first words that determine what the command does, or undefined for unknown commands. */
function prefixOf(words: readonly string[]): string | undefined {
  const [program = "", first = "", second = "", ...others] = words;
  if (READERS.has(program) || CHECKERS.has(program)) return program;
  if (Object.hasOwn(SUBCOMMANDS, program) && SUBCOMMANDS[program]?.has(first)) return `${program} ${first}`;
  if (RUNS_SCRIPTS.test(`${program} ${first}`) && NAME.test(second)) return `${program} ${first} ${second}`;
  // A word after a target is another target: `make test deploy`.
  const isOneTarget = [second, ...others].every((word) => word === "" || word.startsWith("-"));
  if (TARGETS.has(program) && NAME.test(first) && isOneTarget) return `${program} ${first}`;
  return isModule(program, words) ? `${program} -m ${second}` : undefined;
}

/**
 * Allowed options of read-only programs. With these options, a program reads only the files that the command
 * names. This is an allowlist, because an option has too many spellings to forbid: abbreviated, bundled, or
 * with an attached value. With any other option, the agent asks for exactly this command.
 */
const OPTIONS: Readonly<Record<string, RegExp | undefined>> = Object.assign(Object.create(null), {
  ls: /^-(?:[aAlhtrRS1dFisUcgpnG]+|-(?:all|almost-all|human-readable|reverse|recursive|color(?:=\w+)?))$/,
  cat: /^-[nAbsvetET]+$/,
  head: /^-(?:[nc]?\d+|[ncqv])$/,
  tail: /^-(?:[nc]?\+?\d+|[ncqvfF])$/,
  wc: /^-[lwcmL]+$/,
  pwd: /^-[LP]$/,
  which: /^-a$/,
  stat: /^-[tx]$/,
  du: /^-(?:[shackm]+|d\d*|-(?:max-depth=\d+|human-readable|summarize))$/,
  df: /^-[hTik]+$/,
  echo: /^-/,
  grep: oneOf(
    "-(?:[nivwxclLoHhsqEFGPa]+|[nivwxclLoHhsqEFGPa]*[ABCm]\\d*|e)",
    "--(?:colou?r(?:=\\w+)?|line-number|ignore-case|count|only-matching|files-with-matches|word-regexp)",
    "--(?:fixed-strings|extended-regexp|with-filename|no-filename)",
    "--(?:context|after-context|before-context|max-count)=\\d+",
  ),
  diff: /^-(?:[uwbBiqya]+|U\d*|-(?:unified(?:=\d+)?|brief|side-by-side|ignore-all-space|color(?:=\w+)?))$/,
  cmp: /^-[slb]+$/,
  basename: /^-[as]$/,
  realpath: /^-[ems]$/,
  readlink: /^-[fen]$/,
  uname: /^-[amnprsv]+$/,
});

const SHOWS_CHANGES = [
  "--(?:stat|numstat|shortstat|summary|name-only|name-status|raw|patch|no-patch|minimal|patience|histogram)",
  "--(?:check|exit-code|word-diff|color-words|no-color|color(?:=\\w+)?|no-renames|find-renames|abbrev(?:=\\d+)?)",
  "--(?:ignore-all-space|ignore-space-change|ignore-blank-lines|diff-filter=[A-Za-z]+|unified=\\d+)",
  "-(?:[pswbMz]|U\\d+)",
];
const SHOWS_COMMITS = [
  ...SHOWS_CHANGES,
  "-(?:n|n?\\d+)",
  "-[SG][\\w.-]*",
  "--(?:oneline|graph|all|decorate(?:=\\w+)?|no-decorate|no-merges|merges|first-parent|reverse|follow)",
  "--(?:abbrev-commit|topo-order|date-order|branches|tags|remotes|max-count=\\d+|skip=\\d+|relative-date)",
  "--(?:since|until|after|before|author|committer|grep|date)=[\\w .:@/+-]+",
  "--(?:pretty|format)=(?:oneline|short|medium|full|fuller|reference|email|raw)",
];

const GIT_OPTIONS: Readonly<Record<string, RegExp | undefined>> = Object.assign(Object.create(null), {
  status: oneOf(
    "-(?:[sb]+|u|u(?:no|normal|all))",
    "--(?:short|branch|long|porcelain(?:=v?\\d)?|show-stash|ignored)",
  ),
  diff: oneOf(...SHOWS_CHANGES, "--(?:cached|staged|merge-base)"),
  log: oneOf(...SHOWS_COMMITS),
  show: oneOf(...SHOWS_COMMITS),
  blame: oneOf("-(?:[wesltfn]|L\\d*|L\\d+,\\+?\\d+)", "--(?:date=\\w+|show-name|show-number|show-email)"),
  "ls-files": oneOf("-[cdmostvz]+", "--(?:cached|deleted|modified|others|stage|exclude-standard|full-name)"),
  "rev-parse": oneOf(
    "--(?:abbrev-ref|short(?:=\\d+)?|verify|quiet|symbolic-full-name)",
    "--(?:show-toplevel|show-prefix|is-inside-work-tree|git-dir|absolute-git-dir)",
  ),
  shortlog: oneOf("-[sne]+", "--(?:summary|numbered|email|all|no-merges)"),
  describe: oneOf("--(?:tags|always|all|long|contains|abbrev=\\d+)"),
  commit: oneOf(
    "-(?:m|a|am|q|s)",
    "--(?:amend|no-edit|signoff|quiet|message|all)",
    "--message=[\\w .:,@/+-]*",
  ),
  // `git add` may add credentials, which a later command would show. So only named files are allowed.
  add: oneOf("-v", "--verbose"),
});

/** Returns true if no option makes the command reach further than the files that it names. */
function hasPlainOptions([program = "", first = "", ...others]: readonly string[]): boolean {
  const known = program === "git" ? GIT_OPTIONS[first] : OPTIONS[program];
  const words = program === "git" ? others : [first, ...others];
  // Also checks words after `--`, because `--` may be the value of the option before it: `grep -e -- -r`.
  const options = words.filter((word) => word.startsWith("-") && !/^--?$/.test(word));
  return options.every((option) => known?.test(option) ?? false);
}

/**
 * Splits a text into the commands that a shell may see in it. It is stricter than core's reader of shell lines,
 * which trusts quotes and skips heredocs: a permission must not depend on how one shell reads the text.
 */
export const commandsIn = (command: string): readonly string[] =>
  command.replace(/>\||>&|&>/g, ">").split(/&&|\|\||[;|&\n]/);

/** Programs that only read files or the output of another program. */
const LOOKS: ReadonlySet<string> = new Set([...READERS, ...names("cd jq cut tr column nl rev tac test")]);

/** System programs that do not depend on the project's code. */
const RUNS_NO_PROJECT_CODE: ReadonlySet<string> = new Set([
  ...LOOKS,
  ...names("rm rmdir mv cp mkdir touch chmod chown ln", "curl wget kill pkill ps"),
  ...names("printf sort uniq unzip zip gzip gunzip sha256sum md5sum base64 date"),
]);

/**
 * Checks whether all commands only read, however they are joined. Returns false for git together with `cd`,
 * because git would find another repository in the other folder.
 */
export const isOnlyLooking = (command: string): boolean =>
  isOnlyOf(command, LOOKS, GIT_READERS) && !(/\bgit\b/.test(command) && /\bcd\b/.test(command));

/** Returns true if no command changes a file in the working tree. `git commit` may still run hooks. */
export const changesNoFile = (command: string): boolean => isOnlyOf(command, LOOKS, GIT_STAGERS);

/** Checks whether all commands are system commands that do not depend on the project's code. */
export const runsNoProjectCode = (command: string): boolean =>
  isOnlyOf(command, RUNS_NO_PROJECT_CODE, new Set());

/** Checks whether the command consists only of these programs and these git subcommands. */
function isOnlyOf(command: string, programs: ReadonlySet<string>, subcommands: ReadonlySet<string>): boolean {
  const bare = command
    .replace(/'[^']*'|"[^"$`\\]*"/g, "Q")
    .replace(/\d?>&\d|\d?>\s*\/dev\/null(?=\s|$)/g, "");
  if (/[<>`$\\(){}"']/.test(bare)) return false;
  return commandsIn(bare).every((part) => {
    const [program = "", subcommand = ""] = part.trim().split(/\s+/);
    // Options that begin with `--out` write a file.
    if (program === "git" && /\s--out/.test(part)) return false;
    return program === "" || programs.has(program) || (program === "git" && subcommands.has(subcommand));
  });
}
