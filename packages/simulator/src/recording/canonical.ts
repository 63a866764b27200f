import { createHash } from "node:crypto";
import { isRecord } from "@longhaul/core/internal/messages";
import type { RecordedRequest } from "./exchange-record.ts";

/**
 * Fields of a body that name the user, the session or the cache. Clients create them anew for each run, and
 * they do not change the answer.
 */
const VOLATILE_FIELDS = ["metadata", "client_metadata", "user", "safety_identifier", "prompt_cache_key"];

/** Parts of texts that differ between two runs of the same client. */
const VOLATILE_TEXTS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<uuid>"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g, "<time>"],
  [/\b\d{4}-\d\d-\d\d\b/g, "<date>"],
];

/** Form of a text in a comparison. */
type TextForm = (text: string) => string;

/** The body of a request without volatile parts. */
function canonicalBody({ json, text }: RecordedRequest, form: TextForm = stable): unknown {
  if (json === undefined) return text === undefined ? undefined : form(text);
  if (!isRecord(json)) return canonicalValue(json, form);
  const kept = Object.entries(json).filter(([name]) => !VOLATILE_FIELDS.includes(name));
  // The name of a model may contain a date, which is not volatile.
  const values = kept.map(
    ([name, value]) => [name, name === "model" ? value : canonicalValue(value, form)] as const,
  );
  return Object.fromEntries(values.sort(byName));
}

function canonicalValue(value: unknown, form: TextForm): unknown {
  if (typeof value === "string") return form(value);
  if (Array.isArray(value)) return value.map((inner) => canonicalValue(inner, form));
  if (!isRecord(value)) return value;
  const values = Object.entries(value).map(([name, inner]) => [name, canonicalValue(inner, form)] as const);
  return Object.fromEntries(values.sort(byName));
}

const byName = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

const stable = (text: string): string =>
  VOLATILE_TEXTS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);

/** Key of a request. Two requests with the same key get the same answers. */
export const keyOf = (request: RecordedRequest): string => digest(request, canonicalBody(request));

/** Key of a request with the times and ids of its texts. It separates requests that {@link keyOf} equates. */
export const exactKeyOf = (request: RecordedRequest): string =>
  digest(
    request,
    canonicalBody(request, (text) => text),
  );

/** A digest, because the bodies of a long session would fill the memory twice. */
const digest = ({ method, path, query }: RecordedRequest, body: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify([method, path, query, body]))
    .digest("base64");

/** A position at which two bodies differ. */
interface Difference {
  readonly path: string;
  readonly recorded: unknown;
  readonly sent: unknown;
}

/** Path of a difference between two bodies that are no objects. */
const WHOLE_BODY = "the body";

/** More differences do not help to find the nearest request. */
const MAX_DIFFERENCES = 50;

/**
 * Finds the differences between two bodies, in the order of the sent one. Differences in volatile parts do not
 * count. Equal parts stay unread, because a recording may have hundreds of long requests.
 */
export function differencesBetween(recorded: unknown, sent: unknown): readonly Difference[] {
  const found: Difference[] = [];
  compare(recorded, sent, "", found);
  return found;
}

function compare(recorded: unknown, sent: unknown, path: string, found: Difference[]): void {
  if (found.length >= MAX_DIFFERENCES || recorded === sent) return;
  if (typeof recorded === "string" && typeof sent === "string" && path !== "model") {
    const [one, other] = [stable(recorded), stable(sent)];
    if (one !== other) found.push({ path: path === "" ? WHOLE_BODY : path, recorded: one, sent: other });
  } else if (Array.isArray(recorded) && Array.isArray(sent)) {
    for (let index = 0; index < Math.max(recorded.length, sent.length); index++)
      compare(recorded[index], sent[index], `${path}[${index}]`, found);
  } else if (isRecord(recorded) && isRecord(sent)) {
    const names = new Set([...Object.keys(sent), ...Object.keys(recorded)]);
    for (const name of names) {
      if (path === "" && VOLATILE_FIELDS.includes(name)) continue;
      const at = path === "" ? name : `${path}.${name}`;
      compare(own(recorded, name), own(sent, name), at, found);
    }
  } else found.push({ path: path === "" ? WHOLE_BODY : path, recorded, sent });
}

const own = (value: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(value, name) ? value[name] : undefined;

/** Characters of a value in a message, before and after the first difference. */
const SHOWN_BEFORE = 20;
const SHOWN_AFTER = 40;

/** Describes a difference. Long texts are shown around the first character that differs. */
export function describeDifference({ path, recorded, sent }: Difference): string {
  const [one, other] = [asText(recorded), asText(sent)];
  let equal = 0;
  while (equal < Math.min(one.length, other.length) && one[equal] === other[equal]) equal++;
  return `${path}: recorded ${excerpt(one, equal)}, sent ${excerpt(other, equal)}`;
}

const asText = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value));

function excerpt(text: string, position: number): string {
  const from = Math.max(0, position - SHOWN_BEFORE);
  const to = position + SHOWN_AFTER;
  return `${from > 0 ? "…" : ""}${text.slice(from, to)}${to < text.length ? "…" : ""}`;
}
