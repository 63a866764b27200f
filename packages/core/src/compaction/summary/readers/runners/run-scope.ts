import { fileName } from "../shell/paths.ts";
import { CHECKS } from "./checks.ts";
import type { Runner, RunnerKind } from "./runner.ts";
import type { ShellCommand } from "./shell-commands.ts";
import { TEST_RUNNERS } from "./test-runners.ts";

/** Finds the runner that a command starts, and which tests or files the run covers. */

export const RUNNERS: readonly Runner[] = [...TEST_RUNNERS, ...CHECKS];

export interface RunScope {
  readonly kind: RunnerKind;
  /** Name of the runner, or of the script that starts an unknown runner, as in "script test". */
  readonly name: string;
  /** The known runner. A script shows its runner only in the output. */
  readonly runner: Runner | undefined;
  readonly directory: string | undefined;
  /** Files, folders, packages or patterns that the run is limited to. Empty: the whole suite. */
  readonly targets: readonly string[];
  /** Options that select tests by name. */
  readonly filters: readonly string[];
  /** Other options that can change what runs. */
  readonly options: readonly string[];
  /** True if the script runs several packages, each with a summary of its own. */
  readonly isMany: boolean;
}

/** Programs and words before the command that they run. Options of theirs are skipped as well. */
const WRAPPERS =
  /^(?:sudo|time|nice|nohup|env|command|exec|stdbuf|npx|bunx|pnpx|cross-env|xvfb-run|corepack|winpty|arch)$/;
const WRAPPER_PAIRS =
  /^(?:(?:pnpm|yarn|npm) (?:exec|dlx)|bundle exec|(?:poetry|uv|pipenv|hatch|rye|pdm) run|mise (?:exec|x)|direnv exec|bun x)$/;
const PACKAGE_MANAGERS: ReadonlySet<string> = new Set(["npm", "pnpm", "yarn", "bun"]);
const SCRIPT_RUNNERS: ReadonlySet<string> = new Set([
  "mise",
  "just",
  "task",
  "make",
  "gmake",
  "rake",
  "composer",
  "poe",
  "deno",
  "turbo",
  "nx",
  "lerna",
  "moon",
]);
/** Options of package managers that take a value. */
const TAKES_VALUE = /^(?:--prefix|-C|--filter|-F|-w|--workspace|--dir|--cwd|-f|-j|-p)$/;
const CONTAINERS: ReadonlySet<string> = new Set(["docker", "docker-compose", "podman", "kubectl", "wsl"]);
/** Words of a container command before the command that runs inside. */
const MAX_CONTAINER_WORDS = 10;

const SCRIPT_KINDS: readonly (readonly [kind: RunnerKind, pattern: RegExp])[] = [
  [
    "test",
    /(?:^|[:_/.-])(?:tests?|specs?|e2e|unit|integration|vitest|jest|mocha|pytest|rspec|phpunit|playwright|coverage)(?:$|[:_/.-])/i,
  ],
  [
    "check",
    /(?:^|[:_/.-])(?:lint(?:er)?|checks?|typecheck|types?|tsc|format|fmt|eslint|biome|prettier|knip|verify|validate|precommit|ci)(?:$|[:_/.-])/i,
  ],
  ["build", /(?:^|[:_/.-])(?:build|compile|bundle|pack|dist|all)(?:$|[:_/.-])/i],
];

/** Returns the run that a command starts, or undefined if it starts no test, check or build. */
export function scopeOf(command: ShellCommand): RunScope | undefined {
  return scopeOfWords(command.words, command.directory);
}

function scopeOfWords(given: readonly string[], directory: string | undefined): RunScope | undefined {
  const words = withoutWrappers(given);
  const [program = "", ...args] = words;
  const name = fileName(program);
  if (CONTAINERS.has(name)) return inContainer(words, directory);
  const text = [name, ...args].join(" ").slice(0, MAX_TEXT_CHARS);
  const runner = RUNNERS.find(({ command }) => command?.test(text));
  if (runner !== undefined) {
    const start = SUBCOMMANDS.has(name)
      ? 1 +
        Math.max(
          0,
          args.findIndex((arg) => !/^[-+]/.test(arg)),
        )
      : 0;
    return {
      kind: runner.kind,
      name: runner.name,
      runner,
      directory,
      ...limitsOf(runner.name, args.slice(start)),
      isMany: false,
    };
  }
  return scriptScope(name, program, args, directory);
}

/** Characters of a command to match. */
const MAX_TEXT_CHARS = 600;
/** Programs whose first word after the options is a subcommand. */
const SUBCOMMANDS: ReadonlySet<string> = new Set(
  "go cargo dotnet deno bun mix swift playwright ruff biome cypress next react-scripts golangci-lint vite manage.py rake rails artisan".split(
    " ",
  ),
);

function inContainer(words: readonly string[], directory: string | undefined): RunScope | undefined {
  for (let at = 1; at < Math.min(words.length, MAX_CONTAINER_WORDS); at++) {
    if (
      words[at]?.startsWith("-") ||
      CONTAINERS.has(words[at] ?? "") ||
      /^(?:exec|run|compose|build)$/.test(words[at] ?? "")
    )
      continue;
    const scope = scopeOfWords(words.slice(at), directory);
    if (scope !== undefined) return { ...scope, options: [...scope.options, words.slice(0, at).join(" ")] };
  }
  return undefined;
}

function withoutWrappers(words: readonly string[]): readonly string[] {
  let rest = words;
  for (;;) {
    const [first = "", second = ""] = rest;
    const name = fileName(first);
    let length = 0;
    if (/^\w+=/.test(first)) length = 1;
    else if (name === "timeout" || name === "gtimeout")
      length = 1 + rest.slice(1).findIndex((word) => /^\d/.test(word)) + 1;
    else if (WRAPPERS.test(name)) length = 1 + optionsAt(rest, 1);
    else if (WRAPPER_PAIRS.test(`${name} ${second}`)) length = 2 + optionsAt(rest, 2);
    else if (/^python[\d.]*$/.test(name)) length = pythonModuleAt(rest);
    else if (name === "php" && !second.startsWith("-")) length = 1;
    if (length === 0 || length >= rest.length) return rest;
    rest = rest.slice(length);
  }
}

/** Counts the options from a position on. `--` ends them. */
function optionsAt(words: readonly string[], start: number): number {
  let at = start;
  while (words[at]?.startsWith("-") || /^\w+=/.test(words[at] ?? "")) {
    if (words[at++] === "--") break;
  }
  return at - start;
}

/** Returns the number of words before a module or test script that python runs, or 0. */
function pythonModuleAt(words: readonly string[]): number {
  const module = words.indexOf("-m");
  if (module > 0 && words.slice(1, module).every((word) => word.startsWith("-"))) return module + 1;
  return fileName(words[1] ?? "") === "manage.py" ? 1 : 0;
}

/** Reads a script of a package manager or task runner, or a shell script. Its runner shows in the output. */
function scriptScope(
  name: string,
  program: string,
  args: readonly string[],
  directory: string | undefined,
): RunScope | undefined {
  const isManager = PACKAGE_MANAGERS.has(name);
  if (!isManager && !SCRIPT_RUNNERS.has(name)) return shellScriptScope(name, program, args, directory);
  const options: string[] = [];
  let at = 0;
  for (; at < args.length && (args[at]?.startsWith("-") || /^\w+=/.test(args[at] ?? "")); at++) {
    options.push(args[at] ?? "");
    if (TAKES_VALUE.test(args[at] ?? "")) options.push(args[++at] ?? "");
  }
  if (args[at] === "workspace" || args[at] === "workspaces") {
    options.push(...args.slice(at, at + 2));
    at += 2;
  }
  if (/^(?:run|run-script|rum|r|task|foreach|run-many)$/.test(args[at] ?? "")) at++;
  while (args[at]?.startsWith("-")) options.push(args[at++] ?? "");
  const script = args[at] ?? (name.endsWith("make") ? "all" : undefined);
  if (
    script === undefined ||
    (isManager && /^(?:i|install|ci|add|remove|create|init|publish|pack|link|x)$/.test(script))
  )
    return undefined;
  const kind = SCRIPT_KINDS.find(([, pattern]) => pattern.test(script === "t" ? "test" : script))?.[0];
  if (kind === undefined) return undefined;
  const limits = limitsOf("script", args.slice(at + 1));
  const id = isManager ? "script" : name;
  const isMany =
    options.some((option) => /^(?:-ws|--workspaces|-r|--recursive|--all|-a)$/.test(option)) ||
    /^(?:turbo|nx|lerna|moon)$/.test(name);
  return {
    kind,
    name: `${id} ${script}`,
    runner: undefined,
    directory,
    ...limits,
    options: [...significant(options), ...limits.options],
    isMany,
  };
}

/** Names of scripts that test, check or build. Other programs can have "test" in their names too. */
const SCRIPT_FILE =
  /^(?:run[-_.]?)?(?:all[-_.]?)?(?:tests?|checks?|lint|build|compile|ci|verify|e2e|unit|format|fmt)(?:[-_.][\w-]+)?(?:\.(?:sh|bash|py|js|mjs|ts|rb))?$/i;

/** Reads a script file such as `./scripts/test.sh`. */
function shellScriptScope(
  name: string,
  program: string,
  args: readonly string[],
  directory: string | undefined,
): RunScope | undefined {
  const isShell = /^(?:ba|z|da)?sh$/.test(name);
  const file = isShell ? args.find((arg) => !arg.startsWith("-")) : program;
  if (file === undefined || !(isShell || file.includes("/")) || (isShell && args.includes("-c")))
    return undefined;
  if (!SCRIPT_FILE.test(fileName(file))) return undefined;
  const kind = SCRIPT_KINDS.find(([, pattern]) => pattern.test(fileName(file)))?.[0];
  if (kind === undefined) return undefined;
  return {
    kind,
    name: file,
    runner: undefined,
    directory,
    ...limitsOf("script", isShell ? args.slice(args.indexOf(file) + 1) : args),
    isMany: true,
  };
}

/** Options that select tests by name, by runner. The value follows, or stands after "=". */
const FILTER_OPTION =
  /^(?:-(?:[tkgeRELmop]|run|-?test-name-pattern|Dtest|pl)|--(?:run|testNamePattern|f?grep|filter|tests?|examples?|match|only|tag|include|exclude|skip|ignore|deselect|group|shard|changed|related|onlyChanged|lf|last-failed|ff|failed|stale|test-only|project|package|lib|bins?|doc))(?:=|$)/;
const HAS_NO_VALUE =
  /^(?:-o|--(?:lf|last-failed|ff|failed|stale|lib|bins|doc|examples|onlyChanged|changed|test-only))$/;
/** Options that change only how results are shown, or how fast they come. */
const HARMLESS =
  /^(?:-(?:v+|[qsxioBu]|[nj]\d*|r[aAf]|race|json|count(?:=\d+)?|cover.*)|--?timeout(?:=.*)?|--(?:cov|max-warnings|format|logger|verbosity).*|--(?:max-diagnostics|console)=.*|--(?:colors?|reporters?|test-reporter|tb|bail|workers|retries)(?:=.*)?|--(?:watch|watchAll)=false|--(?:verbose|quiet|silent|no-colors?|run|no-watch|ci|runInBand|maxfail(?:=.*)?|no-coverage|nocapture|no-header|stacktrace|info|no-daemon|offline|pretty|noEmit|force-color|output-on-failure|error-on-warnings|no-fail-fast|fail-?fast|test-dir|nologo|trace)?|run)$/;
/** Harmless options whose value is the next word. */
const HARMLESS_WITH_VALUE =
  /^(?:-(?:count|[jno])|--?timeout|--(?:reporter|test-reporter|tb|maxfail|workers|logger|verbosity|console|format|retries))$/;

/** Splits the arguments of a run into targets, name filters and other options. */
function limitsOf(name: string, args: readonly string[]): Pick<RunScope, "targets" | "filters" | "options"> {
  const targets: string[] = [];
  const filters: string[] = [];
  const options: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    const next = args[at + 1] ?? "";
    if (arg === "--test" && name === "node --test") continue;
    if (!arg.startsWith("-")) {
      if (arg !== "" && !(arg === "run" && name === "vitest")) targets.push(arg);
    } else if (name === "tsc" || name === "eslint") {
      if (!HARMLESS.test(arg)) options.push(arg);
    } else if (
      FILTER_OPTION.test(arg) &&
      !(arg === "--run" && name === "vitest") &&
      !(arg === "-o" && name !== "jest")
    ) {
      const isAlone = arg.includes("=") || HAS_NO_VALUE.test(arg) || next.startsWith("-");
      filters.push(isAlone ? arg : `${arg}=${next}`);
      if (!isAlone) at++;
    } else if (HARMLESS_WITH_VALUE.test(arg)) at++;
    else if (!HARMLESS.test(arg)) options.push(arg);
  }
  return { targets, filters, options };
}

const significant = (options: readonly string[]): readonly string[] =>
  options.filter((option) => !HARMLESS.test(option));

/** Returns true if a later run includes everything that an earlier run included. */
export function coversScope(later: RunScope, earlier: RunScope): boolean {
  if (!isSameDirectory(later.directory, earlier.directory) || !isSameOrWhole(later, earlier)) return false;
  if (later.options.some((option) => !earlier.options.includes(option))) return false;
  if (earlier.options.some((option) => !later.options.includes(option))) return false;
  if (later.filters.some((filter) => !earlier.filters.includes(filter))) return false;
  return coversTargets(later, earlier.targets);
}

/** Returns true if the later run is of the same runner. Only the main test script equals a direct run. */
export function isSameOrWhole(later: RunScope, earlier: RunScope): boolean {
  if (later.name === earlier.name) return true;
  const isMain = later.name === MAIN_SCRIPT || earlier.name === MAIN_SCRIPT;
  return isMain && later.runner !== undefined && later.runner === earlier.runner;
}

const MAIN_SCRIPT = "script test";

/** Unknown directories count as equal, because a command without `cd` runs in the project. */
export const isSameDirectory = (one: string | undefined, other: string | undefined): boolean => one === other;

/** Returns true if the targets of a run include all of these targets. */
export function coversTargets(later: RunScope, targets: readonly string[]): boolean {
  const isGo = NEEDS_TARGET.test(later.name);
  if (later.targets.length === 0 && !isGo) return true;
  const wide = later.targets.length === 0 ? ["."] : later.targets;
  const asked = targets.length === 0 ? [isGo ? "." : ""] : targets;
  return asked.every((target) => wide.some((pattern) => includesTarget(pattern, target, isGo)));
}

/** Runners that test only the current folder when they get no target. */
const NEEDS_TARGET = /^go /;

function includesTarget(wide: string, narrow: string, isGo: boolean): boolean {
  const [one = "", other = ""] = [wide, narrow].map((path) =>
    path.replace(/^\.\/(?=.)/, "").replace(/(.)\/+$/, "$1"),
  );
  if (one === "" || other === "" || one === other || other.includes("node_modules")) return one === other;
  if (one === "...") return !other.startsWith("..") && !other.startsWith("/");
  if (one.endsWith("/...")) return other === one.slice(0, -4) || other.startsWith(one.slice(0, -3));
  if (isGo) return false;
  if (one === ".") return !other.startsWith("..") && !other.startsWith("/");
  return ["/", "::", ":"].some((separator) => other.startsWith(`${one}${separator}`));
}
