import { open } from "node:fs/promises";
import { type Entry, isCompactBoundary, isSynthetic, type Usage } from "../conversation/entry.ts";
import { entryFromJson } from "./entry-shape.ts";
import { type ReadAt, readerOf } from "./session-file.ts";

/** What can be told of a session from its two ends. */
export interface SessionGlance {
  readonly cwd: string | undefined;
  readonly title: string | undefined;
  /** Size of the context at the last response; undefined when that is not near the end of the file. */
  readonly contextTokens: number | undefined;
}

const FIRST_GLANCE_BYTES = 64 * 1024;
/** A large result or image may stand at the end; beyond this the figure is not worth the wait. */
const LONGEST_GLANCE_BYTES = 1024 * 1024;

const NOTHING: SessionGlance = { cwd: undefined, title: undefined, contextTokens: undefined };

/** For lists of thousands: parses a few lines at the end of the file, and at the start only if it must. */
export async function glanceAtSession(path: string, bytes: number): Promise<SessionGlance> {
  const handle = await open(path, "r").catch(() => undefined);
  if (handle === undefined) return NOTHING;
  try {
    const readAt = readerOf(handle);
    let glance = NOTHING;
    for (let length = FIRST_GLANCE_BYTES; ; length *= 4) {
      const start = Math.max(0, bytes - length);
      glance = glanceAtLines(await linesBetween(readAt, start, bytes), "newest first");
      if (glance.contextTokens !== undefined || start === 0 || length >= LONGEST_GLANCE_BYTES) break;
    }
    if (glance.cwd !== undefined && glance.title !== undefined) return glance;
    const head = glanceAtLines(
      await linesBetween(readAt, 0, Math.min(bytes, FIRST_GLANCE_BYTES)),
      "oldest first",
    );
    return { ...glance, cwd: glance.cwd ?? head.cwd, title: glance.title ?? head.title };
  } catch {
    return NOTHING;
  } finally {
    await handle.close();
  }
}

async function linesBetween(readAt: ReadAt, from: number, to: number): Promise<readonly string[]> {
  const buffer = Buffer.allocUnsafe(to - from);
  const length = await readAt(buffer, from);
  const lines = buffer.toString("utf8", 0, length).split("\n");
  return from === 0 ? lines : lines.slice(1);
}

function glanceAtLines(lines: readonly string[], order: "newest first" | "oldest first"): SessionGlance {
  let { cwd, title, contextTokens }: { -readonly [K in keyof SessionGlance]: SessionGlance[K] } = NOTHING;
  let isContextKnown = order === "oldest first";
  const ordered = order === "newest first" ? lines.toReversed() : lines;
  for (const line of ordered) {
    const mayHaveTitle = title === undefined && TITLE_LINE.test(line);
    const mayHaveContext = !isContextKnown && CONTEXT_LINE.test(line);
    if (!mayHaveTitle && !mayHaveContext && (cwd !== undefined || !line.includes('"cwd"'))) continue;
    const entry = parsed(line);
    if (entry === undefined) continue;
    cwd ??= typeof entry.cwd === "string" ? entry.cwd : undefined;
    title ??= titleOf(entry);
    if (!isContextKnown && isContextMark(entry)) {
      isContextKnown = true;
      contextTokens = contextAt(entry);
    }
    if (cwd !== undefined && title !== undefined && isContextKnown) break;
  }
  return { cwd, title, contextTokens };
}

/** Cheap tests on the raw line, so that few lines are parsed; the parsed entry decides. */
const TITLE_LINE = /"type":\s*"(?:custom-title|ai-title|summary)"/;
const CONTEXT_LINE = /"usage"|"compact_boundary"/;

function titleOf(entry: Entry): string | undefined {
  const fields: Readonly<Record<string, unknown>> = { ...entry };
  switch (entry.type as string) {
    case "custom-title":
      return textOf(fields.customTitle);
    case "ai-title":
      return textOf(fields.aiTitle) ?? textOf(fields.title);
    case "summary":
      return textOf(fields.summary);
    default:
      return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** A compaction makes the last usage before it meaningless. */
function isContextMark(entry: Entry): boolean {
  if (isCompactBoundary(entry)) return true;
  if (entry.type !== "assistant" || entry.isSidechain === true || isSynthetic(entry)) return false;
  return isUsage(entry.message.usage);
}

function contextAt(entry: Entry): number | undefined {
  if (isCompactBoundary(entry)) {
    const { postTokens } = entry.compactMetadata;
    return typeof postTokens === "number" ? postTokens : undefined;
  }
  const usage = entry.type === "assistant" ? entry.message.usage : undefined;
  if (!isUsage(usage)) return undefined;
  const cached = (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0);
  return usage.input_tokens + cached + usage.output_tokens;
}

function isUsage(usage: Usage | undefined): usage is Usage {
  return typeof usage?.input_tokens === "number" && typeof usage.output_tokens === "number";
}

function parsed(line: string): Entry | undefined {
  try {
    return entryFromJson(JSON.parse(line));
  } catch {
    return undefined;
  }
}
