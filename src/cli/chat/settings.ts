import type { NotesWriter, PermissionMode, PermissionSettings } from "../../agent/index.ts";
import { field, isRecord } from "../../conversation/untrusted.ts";

/** What a user can set for chats, in their own settings file under `chat`. A project cannot: it may be anybody's. */
export interface ChatSettings {
  readonly model?: string;
  readonly smallModel?: string;
  readonly notes?: NotesWriter;
  readonly maxTurns?: number;
  readonly permissions?: PermissionSettings;
}

interface ReadChatSettings {
  readonly settings: ChatSettings;
  /** One sentence for each bad value that was ignored. */
  readonly warnings: readonly string[];
}

export const NOTES_WRITERS: readonly NotesWriter[] = ["model", "built-in", "off"];
export const PERMISSION_MODES: readonly PermissionMode[] = ["default", "accept-edits", "allow-all"];

type Check<T> = (value: unknown) => value is T;

const isName: Check<string> = (value): value is string => typeof value === "string" && value.trim() !== "";
const isCount: Check<number> = (value): value is number => Number.isSafeInteger(value) && Number(value) > 0;
const isNames: Check<readonly string[]> = (value): value is readonly string[] =>
  Array.isArray(value) && value.every(isName);
const isOneOf =
  <T extends string>(names: readonly T[]): Check<T> =>
  (value): value is T =>
    names.some((name) => name === value);

/** Reads the settings file's `chat`. It is what somebody typed: bad values are passed over, and said so. */
export function readChatSettings(file: unknown): ReadChatSettings {
  const chat = field(file, "chat");
  const warnings: string[] = [];
  if (chat === undefined) return { settings: {}, warnings };
  if (!isRecord(chat)) return { settings: {}, warnings: [ignored("chat", "an object")] };
  const read = <T>(
    name: string,
    check: Check<T>,
    expects: string,
    of: unknown = chat,
    path = "chat",
  ): T | undefined => {
    const value = field(of, name);
    if (value === undefined || check(value)) return value;
    warnings.push(ignored(`${path}.${name}`, expects));
    return undefined;
  };
  const given = read("permissions", isRecord, "an object");
  const permission = <T>(name: string, check: Check<T>, expects: string): T | undefined =>
    read(name, check, expects, given, "chat.permissions");
  const settings = {
    model: read("model", isName, "the name of a model"),
    smallModel: read("smallModel", isName, "the name of a model"),
    notes: read("notes", isOneOf(NOTES_WRITERS), NOTES_WRITERS.join(", ")),
    maxTurns: read("maxTurns", isCount, "a whole number from 1"),
    permissions: given && {
      mode: permission("mode", isOneOf(PERMISSION_MODES), PERMISSION_MODES.join(", ")),
      allow: permission("allow", isNames, "a list of keys"),
      paths: permission("paths", isNames, "a list of paths"),
    },
  };
  const known = Object.entries(settings).filter(([, value]) => value !== undefined);
  return { settings: Object.fromEntries(known), warnings };
}

const ignored = (name: string, expects: string): string =>
  `The setting ${name} is ignored: it must be ${expects}.`;

export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
