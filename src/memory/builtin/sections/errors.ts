import { clip, oneLine, quoted } from "../../../summary/builtin/clip.ts";
import type { SessionDigest } from "../../../summary/builtin/digest.ts";
import { type CommandRun, readCommand } from "../../../summary/builtin/read/commands.ts";
import { earlierItems } from "../../../summary/builtin/read/earlier.ts";
import { type ErrorRecord, keysOf } from "../../../summary/builtin/read/errors.ts";
import { failureText } from "../../../summary/builtin/read/failures.ts";
import { soundsLikeCorrection } from "../../../summary/builtin/read/human.ts";
import { errorForms } from "../../../summary/builtin/render/errors.ts";
import type { News } from "../news.ts";
import { foreignItem, keptItem, type NoteItem, ownItem } from "../note-item.ts";

const CORRECTED = "- The user stepped in: ";
const MAX_CORRECTION_CHARS = 240;
/** A longer message has such words in it anyway. */
const LONGEST_CORRECTION_CHARS = 300;
const MAX_EARLIER_CHARS = 320;
/** What a person corrected is not to happen again. */
const CORRECTION_WORTH = 20;
const FAILURE_WORTH = 8;
const OPEN = " → not seen to pass since";
const OURS =
  /^- `([^`\n]*)`(?: \((\d+)×\))?: ([^\n]*?)( → (?:not seen to pass since|fixed[^\n]*|gone in the next run[^\n]*))?$/;

type Slot = { readonly error: ErrorRecord } | { readonly item: NoteItem; readonly key: string };

/** Failures with what became of them, and where the person stepped in. */
export function errorsAndCorrections(before: readonly string[], news: News): readonly NoteItem[] {
  const { digest } = news;
  const slots = before.map((item) => readSlot(item, digest));
  for (const item of earlierItems(digest.earlier, "Errors and Fixes")) {
    const text = clip(oneLine(item), MAX_EARLIER_CHARS);
    put(slots, { key: text, item: foreignItem(text.startsWith("- ") ? text : `- ${text}`) });
  }
  const steps = [
    ...digest.errors.filter(isTellingError).map((error) => ({ at: error.at, slot: { error } as Slot })),
    ...corrections(news).map(({ at, text }) => ({ at, slot: correctionSlot(text) })),
  ];
  for (const { slot } of steps.sort((a, b) => a.at - b.at)) put(slots, slot);
  return slots.map((slot) => {
    if ("item" in slot) return slot.item;
    return ownItem(errorForms(slot.error), slot.error.weight === 3 ? FAILURE_WORTH : 0);
  });
}

/** A wrong folder is put right at once; and what no line explains says nothing later, unless it is still open. */
function isTellingError({ text, resolution, weight }: ErrorRecord): boolean {
  if (/\bcd: [^\n]*: No such file/.test(text)) return false;
  return failureText(text)?.telling === true || (weight === 3 && resolution === undefined);
}

/** Said again it counts on and is the newest. */
function put(slots: Slot[], slot: Slot): void {
  const at = slots.findIndex((known) => keyOf(known) === keyOf(slot));
  const [known] = at === -1 ? [] : slots.splice(at, 1);
  if (known === undefined || !("error" in known) || !("error" in slot)) slots.push(slot);
  else
    slots.push({ error: { ...slot.error, occurrences: known.error.occurrences + slot.error.occurrences } });
}

const keyOf = (slot: Slot): string =>
  "error" in slot ? (errorForms(slot.error)[1]?.replace(/ \(\d+×\)|(?: → .*)$/g, "") ?? "") : slot.key;

function readSlot(item: string, digest: SessionDigest): Slot {
  const [, source, times = "1", text = "", end = ""] = OURS.exec(item) ?? [];
  if (source === undefined) {
    const isOurs = item.startsWith(CORRECTED);
    return { key: item, item: isOurs ? keptItem(item, CORRECTION_WORTH) : foreignItem(item) };
  }
  const isOpen = end === OPEN;
  const outcome = isOpen ? laterRun(source, digest) : undefined;
  if (end !== "" && outcome === undefined) {
    return { key: item.replace(/ → [^→]*$/, ""), item: keptItem(item, FAILURE_WORTH) };
  }
  const error: ErrorRecord = {
    at: 0,
    source,
    text,
    occurrences: Number(times),
    weight: isOpen ? 3 : 2,
    resolution: outcome,
  };
  return { error };
}

/** What the next run of the same thing showed. */
function laterRun(source: string, digest: SessionDigest): ErrorRecord["resolution"] {
  const keys = keysOf(readCommand(0, source, undefined, "", false));
  const edited: string[] = [];
  for (const action of digest.exchanges.flatMap(({ actions }) => actions)) {
    if (action.kind === "edit" && !edited.includes(action.path)) edited.push(action.path);
    if (action.kind !== "command" || !isSameThing(action.run, keys)) continue;
    return { at: action.at, how: action.run.failed ? "moved-on" : "passed", editedFiles: edited.slice(-4) };
  }
  return undefined;
}

const isSameThing = (run: CommandRun, keys: readonly string[]): boolean =>
  keysOf(run).some((key) => keys.includes(key));

/** The message that a session begins with corrects nobody. */
function corrections({ digest, before }: News): { at: number; text: string }[] {
  const messages = digest.exchanges.flatMap(({ message }) => message ?? []);
  const isFirst = (index: number): boolean => index === 0 && !before.hasRequests;
  return messages.filter((message, index) => {
    if (message.afterInterruption || message.kind === "remark") return true;
    return (
      !isFirst(index) && message.text.length <= LONGEST_CORRECTION_CHARS && soundsLikeCorrection(message)
    );
  });
}

function correctionSlot(text: string): Slot {
  const line = `${CORRECTED}${quoted(clip(oneLine(text), MAX_CORRECTION_CHARS))}`;
  return { key: line, item: ownItem([line, clip(line, 160)], CORRECTION_WORTH) };
}
