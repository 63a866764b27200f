import type { Entry } from "../../conversation/entry.ts";
import type { Fact } from "../../conversation/fact-ledger.ts";
import { headOf } from "../../conversation/text.ts";
import { clip, oneLine } from "../clip.ts";
import {
  type CommandRun,
  type ErrorRecord,
  fileName,
  keysOf,
  readCommand,
  type SessionDigest,
} from "../readers/readers.ts";
import type { DraftFact, OutcomeIds } from "./draft.ts";

const SOURCE_CHARS = 70;
const LINE_CHARS = 120;
const COMMAND_CHARS = 90;
const OUTCOME_CHARS = 90;
const STILL_OPEN = " → not seen fixed";

/** Slips on the command line are worth a line only while they are new. */
const MAX_SLIPS = 8;

/** What failed, with what put it right. */
export function errorFacts(
  digest: SessionDigest,
  entries: readonly Entry[],
  outcomeIds: OutcomeIds,
): readonly DraftFact[] {
  const errors = digest.errors.filter((error) => error.at < entries.length);
  const slips = new Set(errors.filter(({ weight }) => weight === 1).slice(0, -MAX_SLIPS));
  return errors
    .filter((error) => !slips.has(error))
    .map((error): DraftFact => {
      const line = headOf(oneLine(error.text.split("\n")[0] ?? ""), LINE_CHARS).trim();
      return {
        kind: "error",
        text: `${inCode(clip(error.source, SOURCE_CHARS))}: ${line}${resolutionOf(error)}`,
        needles: [line],
        entryIds: outcomeIds(error.at),
      };
    })
    .filter(({ needles }) => needles?.[0] !== "");
}

const inCode = (text: string): string => `\`${oneLine(text).replace(/`/g, "'")}\``;

/** Only a test, a build or a check is run again once it is put right. */
function resolutionOf({ resolution, weight }: ErrorRecord): string {
  if (resolution === undefined) return weight === 3 ? STILL_OPEN : "";
  const files = [...new Set(resolution.editedFiles.map(fileName))];
  const by = files.length === 0 ? "" : ` by changing ${files.join(", ")}`;
  return resolution.how === "passed" ? ` → fixed${by}` : ` → gone${by}`;
}

export const isOpenError = ({ kind, text }: DraftFact): boolean =>
  kind === "error" && text.endsWith(STILL_OPEN);

/** Errors of earlier compactions: one is over once the same thing went well. */
export function withErrorsResolved(carried: readonly Fact[], digest: SessionDigest): readonly Fact[] {
  if (!carried.some(isOpenError)) return carried;
  const passed = new Set(runsIn(digest).flatMap((run) => (run.failed ? [] : keysOf(run))));
  return carried.map((fact) => {
    const source = isOpenError(fact) ? commandIn(fact) : undefined;
    if (source === undefined) return fact;
    const keys = keysOf(readCommand(0, source, undefined, "", false));
    if (!keys.some((key) => passed.has(key))) return fact;
    return { ...fact, text: `${fact.text.slice(0, -STILL_OPEN.length)} → fixed` };
  });
}

function runsIn({ exchanges }: SessionDigest): readonly CommandRun[] {
  return exchanges.flatMap(({ actions }) =>
    actions.flatMap((action) => (action.kind === "command" ? [action.run] : [])),
  );
}

/** The last run of each program that tests, builds, checks or publishes; the others have no outcome to tell. */
export function commandFacts(
  digest: SessionDigest,
  entries: readonly Entry[],
  outcomeIds: OutcomeIds,
): readonly DraftFact[] {
  const last = new Map<string, CommandRun>();
  for (const run of runsIn(digest)) {
    if (run.at >= entries.length || !hasOutcome(run)) continue;
    const key = programKey(run);
    last.delete(key);
    last.set(key, run);
  }
  return [...last.values()].map((run) => commandFact(run, outcomeIds(run.at)));
}

const programKey = (run: CommandRun): string => keysOf(run).at(-1) ?? "";

/** A commit is told by its id. */
const hasOutcome = (run: CommandRun): boolean =>
  run.kind !== "other" && run.kind !== "commit" && !OPENS_SCRIPT.test(run.command);

const OPENS_SCRIPT =
  /^(?:(?:awk|cat|cd|cp|cut|echo|file|find|for|git (?:add|check-ignore|diff|log|show|status)|grep|head|if|ls|node -e|printf|pwd|python3? -c?|rg|sed|sleep|sort|tail|test|tree|wc|which|while)(?![\w-])|\w+=)/;

/** Runs of earlier compactions that no newer one has taken the place of. */
export function withoutRunsRepeated(carried: readonly Fact[], digest: SessionDigest): readonly Fact[] {
  const newer = new Set(runsIn(digest).filter(hasOutcome).map(programKey));
  return carried.filter((fact) => {
    const command = fact.kind === "command" ? commandIn(fact) : undefined;
    return command === undefined || !newer.has(programKey(readCommand(0, command, undefined, "", false)));
  });
}

const commandIn = ({ text }: DraftFact): string | undefined => /^`([^`]*)`/.exec(text)?.[1];

/** What only shortens the output says nothing. */
const SHORTENED_BY = /\s*\|\s*(?:cat|grep|head|less|more|tail)\b[^|&;]*$/;

function commandFact(run: CommandRun, entryIds: readonly string[]): DraftFact {
  const shown = oneLine(run.command).replace(/`/g, "'").replace(SHORTENED_BY, "");
  const command = headOf(shown, COMMAND_CHARS).trim();
  const told = run.outcome === undefined ? undefined : headOf(oneLine(run.outcome), OUTCOME_CHARS).trim();
  const failed = run.failed ? "FAILED" : "ok";
  return {
    kind: "command",
    text: `\`${command}\` → ${told === undefined ? failed : `${run.failed ? "FAILED: " : ""}${told}`}`,
    needles: told === undefined ? [command] : [command, told],
    entryIds,
  };
}
