// This file completes commands without a library. @bomb.sh/tab is at version 0.0.x. Neither it nor tabtab
// completes the values of options, so the program would have to do that itself. All other completions come
// from Commander's table, which is also the source of the help.
import type { Argument, Command, Option } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export interface Candidate {
  readonly value: string;
  readonly about: string;
}

interface Completion {
  readonly candidates: readonly Candidate[];
  /** Type of the paths that the shell adds to the candidates. */
  readonly paths: "files" | "folders" | "none";
}

/** Finds sessions whose id starts with a text, newest first. */
export type FindSessions = (start: string) => Promise<readonly Candidate[]>;

/** Name of the hidden command that the scripts call. */
const COMPLETE = "__complete";

/**
 * Adds the hidden command that answers the shell. It loads only the modules that the answer needs, because it
 * runs at each Tab.
 */
export function declareCompletion(program: Command): void {
  program
    .command(COMPLETE, { hidden: true })
    .argument("[words...]")
    .helpOption(false)
    .action(async (words: readonly string[]) => {
      const { printCompletion } = await import("./commands/completions-command.ts");
      await printCompletion(program, words);
    });
}

const NOTHING: Completion = { candidates: [], paths: "none" };

/**
 * Completes the last of these words.
 *
 * @param words the words after the name of the program. The last one is empty if nothing is typed yet.
 */
export async function completionOf(
  program: Command,
  words: readonly string[],
  findSessions: FindSessions,
): Promise<Completion> {
  const { name, before, current } = splitWords(words);
  const command = program.commands.find((one) => one.name() === name);
  if (name === undefined) {
    const candidates = current.startsWith("-") ? optionsOf(program, before) : commandsOf(program);
    return startingWith(current, { candidates, paths: "none" });
  }
  if (name === "help") return startingWith(current, { candidates: commandsOf(program), paths: "none" });
  if (command === undefined) return NOTHING;
  const place = placeOf(command, before, current);
  if (place.kind === "option")
    return startingWith(current, { candidates: optionsOf(command, before), paths: "none" });
  if (place.of === undefined) return NOTHING;
  const values = startingWith(place.start, await valuesOf(place.of, place.start, findSessions));
  const whole = values.candidates.map((one) => ({ ...one, value: `${place.lead}${one.value}` }));
  return { ...values, candidates: whole };
}

interface Words {
  /** Name of the command. Undefined while it is incomplete. */
  readonly name: string | undefined;
  readonly before: readonly string[];
  readonly current: string;
}

function splitWords(words: readonly string[]): Words {
  const [current = "", ...reversed] = [...words].reverse();
  const before = reversed.reverse();
  const at = before.findIndex((word) => !word.startsWith("-"));
  return { name: before[at], before: before.slice(at + 1), current };
}

type Valued = Option | Argument;

type Place =
  | { readonly kind: "option" }
  | {
      readonly kind: "value";
      readonly of: Valued | undefined;
      readonly start: string;
      /** Text before the value in the same word, such as `--model=`. */
      readonly lead: string;
    };

/** Finds the option or argument of the current word. */
function placeOf(command: Command, before: readonly string[], current: string): Place {
  const value = (of: Valued | undefined, start = current, lead = ""): Place => ({
    kind: "value",
    of,
    start,
    lead,
  });
  const optionNamed = (word: string | undefined): Option | undefined =>
    command.options.find(({ long, short }) => word !== undefined && (word === long || word === short));
  let open: Option | undefined;
  let positionals = 0;
  let isOptionsEnd = false;
  for (const word of before) {
    if (isOptionsEnd || (open?.required && word !== "=")) {
      if (isOptionsEnd) positionals++;
      open = undefined;
    } else if (word === "--") isOptionsEnd = true;
    else if (word === "=") continue;
    else if (word.startsWith("-")) open = takesValue(optionNamed(word));
    else if (open?.optional) open = undefined;
    else positionals++;
  }
  // Bash splits `--model=x` into three words.
  if (current === "=" && open !== undefined) return value(open, "");
  if (open?.required) return value(open);
  const [, flag, start] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (flag !== undefined) return value(takesValue(optionNamed(flag)), start, `${flag}=`);
  if (current.startsWith("-") && !isOptionsEnd) return { kind: "option" };
  if (open?.optional) return value(open);
  // The words of a search over all sessions name no session.
  if (before.some((word) => SEARCHES_ALL.has(word))) return value(undefined);
  const { registeredArguments } = command;
  const last = registeredArguments.at(-1);
  return value(registeredArguments[positionals] ?? (last?.variadic ? last : undefined));
}

const SEARCHES_ALL: ReadonlySet<string> = new Set(["--all-sessions", "--all-projects"]);

const takesValue = (option: Option | undefined): Option | undefined =>
  option?.required || option?.optional ? option : undefined;

/**
 * Completes the value of an option or argument. If the option has choices, offers them. If it has no choices,
 * the placeholder of the value decides: `file`, `folder` or `session` offers files, folders or sessions.
 */
async function valuesOf(of: Valued, start: string, findSessions: FindSessions): Promise<Completion> {
  if (of.argChoices !== undefined)
    return { candidates: of.argChoices.map((value) => ({ value, about: "" })), paths: "none" };
  const name = "flags" in of ? /[<[]([\w-]+)/.exec(of.flags)?.[1] : of.name();
  if (name === "file") return { candidates: [], paths: "files" };
  if (name === "folder") return { candidates: [], paths: "folders" };
  if (name !== "session" && name !== "sessions") return NOTHING;
  const latest = { value: "latest", about: "the newest session of this project" };
  return { candidates: [latest, ...(await findSessions(start))], paths: "files" };
}

/** Returns the commands in the help. */
const commandsOf = (program: Command): readonly Candidate[] =>
  program
    .createHelp()
    .visibleCommands(program)
    .map((command) => ({ value: command.name(), about: command.description() }));

/** Returns the options in the help, without those that are already given. */
const optionsOf = (command: Command, given: readonly string[]): readonly Candidate[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long, short }) => !given.some((word) => word === long || word === short))
    .map(({ long, short, description }) => ({ value: long ?? short ?? "", about: description }));

const startingWith = (start: string, { candidates, paths }: Completion): Completion => ({
  candidates: candidates.filter(({ value }) => value.startsWith(start)),
  paths,
});

/**
 * Scripts that ask the program itself, so they are always up to date. The first line of the answer says which
 * paths the shell adds. Each other line is a candidate, a tab and its description.
 */
export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `_longhaul() {
  local line current="\${COMP_WORDS[COMP_CWORD]}" paths=none
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) paths=\${line#:} ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <("$1" ${COMPLETE} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [ "$current" = "=" ] && current=
  local IFS=$'\\n'
  case $paths in
    files) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$current")) ;;
    folders) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$current")) ;;
  esac
}
complete -F _longhaul longhaul`,
  zsh: `#compdef longhaul
_longhaul() {
  local line value paths=none
  local -a candidates
  for line in "\${(@f)$("\${words[1]}" ${COMPLETE} -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    case $line in
      :*) paths=\${line#:} ;;
      ?*) value=\${line%%$'\\t'*}; candidates+=("\${value//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  (( $#candidates )) && _describe longhaul candidates
  case $paths in
    files) _files ;;
    folders) _files -/ ;;
  esac
}
if [ "\${funcstack[1]}" = _longhaul ]; then _longhaul "$@"; else compdef _longhaul longhaul; fi`,
  fish: `function __longhaul_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines ($words[1] ${COMPLETE} -- $words[2..-1] 2>/dev/null)
    for line in $lines
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':folders'
                __fish_complete_directories (commandline -ct) ''
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c longhaul -f -k -a '(__longhaul_complete)'`,
};
