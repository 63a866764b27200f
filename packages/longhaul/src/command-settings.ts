import type { NotesWriter, PermissionSettings } from "@longhaul/agent";
import { field, isRecord } from "@longhaul/core/internal/messages";
import { isTimeLimit } from "@longhaul/core/internal/models";
import type { ModelTimeLimits } from "@longhaul/core/models";
import { PERMISSION_MODES } from "./option-values.ts";

/**
 * Settings for chats, under `chat` in the user's settings file. A project cannot change these settings,
 * because anybody may have written the project's files.
 */
export interface ChatSettings {
  readonly model?: string;
  readonly smallModel?: string;
  readonly notes?: NotesWriter;
  readonly maxTurns?: number;
  readonly permissions?: PermissionSettings;
}

/** Settings under `compact`. Times are in seconds. */
export interface CompactSettings {
  readonly firstByteTimeout?: number;
  readonly timeout?: number;
}

/**
 * Settings under `notes`. Times are in seconds. A test reads the field names from this interface, so the
 * interface must not inherit fields.
 */
export interface NotesSettings {
  /** File with custom sections. */
  readonly template?: string;
  readonly firstByteTimeout?: number;
  readonly timeout?: number;
}

export interface ReadSettings<Settings> {
  readonly settings: Settings;
  /** One sentence for each ignored value. */
  readonly warnings: readonly string[];
}

const NOTES_WRITERS: readonly NotesWriter[] = ["model", "built-in", "off"];

export const readChatSettings = (file: unknown): ReadSettings<ChatSettings> =>
  readGroup("chat", field(file, "chat"), {
    model: MODEL,
    smallModel: MODEL,
    notes: oneOf(NOTES_WRITERS),
    maxTurns: [(value) => Number.isSafeInteger(value) && Number(value) > 0, "a whole number from 1"],
    permissions: { mode: oneOf(PERMISSION_MODES), allow: names("keys"), paths: names("paths") },
  });

export const readCompactSettings = (file: unknown): ReadSettings<CompactSettings> =>
  readGroup("compact", field(file, "compact"), {
    firstByteTimeout: SECONDS,
    timeout: SECONDS,
  });

export const readNotesSettings = (file: unknown): ReadSettings<NotesSettings> =>
  readGroup("notes", field(file, "notes"), {
    template: [isName, "the path of a file"],
    firstByteTimeout: SECONDS,
    timeout: SECONDS,
  });

const MS = 1_000;

export const timeLimitsIn = ({ firstByteTimeout, timeout }: CompactSettings): Partial<ModelTimeLimits> => ({
  ...(firstByteTimeout === undefined ? {} : { firstByteMs: firstByteTimeout * MS }),
  ...(timeout === undefined ? {} : { totalMs: timeout * MS }),
});

type Check = readonly [isGood: (value: unknown) => boolean, expects: string];
type Group = { readonly [name: string]: Check | Group };

const isName = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const MODEL: Check = [isName, "the name of a model"];
const SECONDS: Check = [isTimeLimit, "a positive number of seconds"];
const names = (what: string): Check => [
  (value) => Array.isArray(value) && value.every(isName),
  `a list of ${what}`,
];
const oneOf = (words: readonly string[]): Check => [
  (value) => words.some((word) => word === value),
  words.join(", "),
];

/**
 * Reads the known settings of an object. A person typed them, so invalid values are ignored with a warning.
 */
function readGroup<Settings>(path: string, given: unknown, group: Group): ReadSettings<Settings> {
  const warnings: string[] = [];
  const read: Record<string, unknown> = {};
  const ignored = (name: string, expects: string): number =>
    warnings.push(`The setting ${name} is ignored: it must be ${expects}.`);
  if (given !== undefined && !isRecord(given)) ignored(path, "an object");
  for (const [name, check] of Object.entries(isRecord(given) ? group : {})) {
    const value = field(given, name);
    if (value === undefined) continue;
    if (!isCheck(check)) {
      const inner = readGroup(`${path}.${name}`, value, check);
      if (isRecord(value)) read[name] = inner.settings;
      warnings.push(...inner.warnings);
    } else if (check[0](value)) read[name] = value;
    else ignored(`${path}.${name}`, check[1]);
  }
  return { settings: read as Settings, warnings };
}

const isCheck = (check: Check | Group): check is Check => Array.isArray(check);
