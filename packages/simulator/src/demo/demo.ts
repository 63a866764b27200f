import { field, inputTokens, stringField } from "@longhaul/core/internal/messages";
import { estimateTokens } from "@longhaul/core/measure";
import type { AssistantEntry, Entry, Usage } from "@longhaul/core/messages";
import { createRandom } from "./random.ts";

/** The session in harbour.json.gz. README.md in the same folder says how it was made. */
export interface DemoRecording {
  /**
   * Entries with placeholders instead of ids. A placeholder contains a letter and a number, such as `#u12#`.
   * {@link demoSession} replaces them with ids that depend on the seed.
   */
  readonly entries: readonly Entry[];
  /** Files of the project by relative path, at the end of the session. */
  readonly files: Readonly<Record<string, string>>;
  /** Optional parts of the story, in the order of removal. The first is an excerpt of a log. */
  readonly parts: readonly DemoPart[];
}

/**
 * A part of the story: the entries from `from` up to `to`, and their total tokens. It consists of whole
 * responses with their tool results.
 */
interface DemoPart {
  readonly from: number;
  readonly to: number;
  readonly tokens: number;
}

export interface DemoOptions {
  readonly seed?: number;
  /**
   * Context tokens that the last response reports. With a value below the minimum, the session has its
   * minimum length.
   */
  readonly approximateTokens?: number;
  /** Working folder of the agent. All paths in the session are inside it. */
  readonly cwd?: string;
}

/**
 * Slightly above the auto-compact threshold (167,000) of a 200,000 window, so that the demo has something to
 * compact.
 */
export const DEMO_CONTEXT_TOKENS = 170_000;
const DEFAULT_SEED = 20_260_330;
const RECORDED_CWD = "/home/mara/code/harbour";
/** Minimum lines of a log excerpt. A shorter excerpt is not worth a call. */
const FEWEST_LINES = 8;

/** Creates a session of an agent that works on a small booking service, in Claude Code's format. */
export function demoSession(recording: DemoRecording, options: DemoOptions = {}): readonly Entry[] {
  const { seed = DEFAULT_SEED, approximateTokens = DEMO_CONTEXT_TOKENS, cwd = RECORDED_CWD } = options;
  const text = JSON.stringify(resized(recording, approximateTokens))
    .replaceAll(RECORDED_CWD, JSON.stringify(cwd).slice(1, -1))
    .replace(/#([umrts])[\d.]+#/g, idsBy(seed));
  return JSON.parse(text);
}

/** Returns the project's files before the agent changed them. */
export function filesAtStart({ entries, files }: DemoRecording): ReadonlyMap<string, string> {
  const before = new Map(Object.entries(files));
  const seen = new Set<string>();
  for (const entry of entries) {
    const result = field(entry, "toolUseResult");
    const path = stringField(result, "filePath")?.slice(RECORDED_CWD.length + 1);
    if (path === undefined || seen.has(path)) continue;
    seen.add(path);
    const original = stringField(result, "originalFile");
    if (original === undefined) before.delete(path);
    else before.set(path, original);
  }
  return before;
}

/** Removes parts of the story until it is short enough. If it is too short, adds excerpts of a log. */
function resized({ entries, parts }: DemoRecording, targetTokens: number): readonly Entry[] {
  const leftOut = new Set<DemoPart>();
  let room = targetTokens - contextTokens(entries);
  for (const part of parts) {
    if (room >= 0) break;
    leftOut.add(part);
    room += part.tokens;
  }
  const [log] = parts;
  const story = new StoryBuilder();
  for (const [index, entry] of entries.entries()) {
    if (index === log?.from) story.readLog(entries.slice(log.from, log.to), log.tokens, room);
    const part = parts.find(({ from, to }) => from <= index && index < to);
    if (part === undefined || !leftOut.has(part)) story.append(entry);
    else story.leaveOut(entry, index === part.to - 1 ? part.tokens : 0);
  }
  return story.entries;
}

/** Collects entries, and adjusts the parent and the usage of each entry to the entries before it. */
class StoryBuilder {
  readonly entries: Entry[] = [];
  /**
   * New parents for entries whose parent was removed. The key is the uuid of the removed parent, the value is
   * the uuid of the new parent.
   */
  readonly #standIns = new Map<string | null | undefined, string | null | undefined>();
  /** Context tokens so far, minus the context tokens at the same position of the recording. */
  #shift = 0;
  #response: string | undefined;
  #read = 0;
  #cached = 0;

  append(entry: Entry): void {
    const { parentUuid } = entry;
    const linked = this.#standIns.has(parentUuid)
      ? { ...entry, parentUuid: this.#standIns.get(parentUuid) }
      : entry;
    this.entries.push(
      (linked.type === "assistant" ? this.#counted(linked as AssistantEntry) : linked) as Entry,
    );
  }

  leaveOut({ uuid, parentUuid }: Entry, tokens: number): void {
    this.#standIns.set(uuid, this.#standIns.has(parentUuid) ? this.#standIns.get(parentUuid) : parentUuid);
    this.#shift -= tokens;
  }

  /**
   * Adds copies of a call that reads a log, until there is no more room. The call in `template` takes
   * `tokens` tokens.
   */
  readLog(template: readonly Entry[], tokens: number, roomTokens: number): void {
    const [before, logged] = [
      template[0]?.parentUuid,
      stringField(field(template.at(-1), "toolUseResult"), "stdout") ?? "",
    ];
    const lines = logged.split("\n");
    const wrapping = tokens - textTokens(logged);
    const tokensPerLine = textTokens(logged) / lines.length;
    for (let [copy, room] = [1, roomTokens]; ; copy++) {
      const count = Math.min(lines.length, Math.floor((room - wrapping) / tokensPerLine));
      if (count < FEWEST_LINES) return;
      const excerpt = lines.slice(0, count).join("\n");
      const text = JSON.stringify(template)
        .replaceAll(JSON.stringify(logged), JSON.stringify(excerpt))
        .replace(`head -n ${lines.length}`, `head -n ${count}`)
        .replace(/#([umrt]\d+)#/g, (id, name) => (id === before ? id : `#${name}.${copy}#`));
      const copied: readonly Entry[] = JSON.parse(text);
      for (const entry of copied) this.append(entry);
      this.#standIns.set(before, copied.at(-1)?.uuid);
      this.#shift += wrapping + textTokens(excerpt);
      room -= wrapping + textTokens(excerpt);
    }
  }

  /**
   * Updates the usage of a line. All lines of a response report the same input. Input of earlier responses
   * counts as read from the cache.
   */
  #counted(entry: AssistantEntry): AssistantEntry {
    const { message } = entry;
    const usage = message.usage as Usage;
    const context = inputTokens(usage) + this.#shift;
    if (message.id !== this.#response) {
      this.#response = message.id;
      this.#read = usage.cache_read_input_tokens === 0 ? 0 : this.#cached;
      this.#cached = context - usage.input_tokens;
    }
    const created = this.#cached - this.#read;
    const counted = {
      ...usage,
      cache_creation_input_tokens: created,
      cache_read_input_tokens: this.#read,
      cache_creation: { ephemeral_5m_input_tokens: created, ephemeral_1h_input_tokens: 0 },
    };
    return { ...entry, message: { ...message, usage: counted } };
  }
}

const textTokens = (text: string): number => estimateTokens(text, "claude");

/** Returns the sum of the newest response's usage. */
function contextTokens(entries: readonly Entry[]): number {
  const last = entries.findLast((entry): entry is AssistantEntry => entry.type === "assistant");
  const usage = last?.message.usage;
  return usage === undefined ? 0 : inputTokens(usage) + usage.output_tokens;
}

/** Returns a function that turns recorded names into ids. Equal names get equal ids. */
function idsBy(seed: number): (name: string, kind: string) => string {
  const random = createRandom(seed);
  const makers: Readonly<Record<string, () => string>> = {
    u: () => random.uuid(),
    m: () => `msg_01${random.base62(22)}`,
    r: () => `req_011${random.base62(21)}`,
    t: () => `toolu_01${random.base62(22)}`,
    s: () => `${random.base62(random.between(300, 620))}==`,
  };
  const ids = new Map<string, string>();
  return (name, kind) => {
    const id = ids.get(name) ?? makers[kind]?.() ?? name;
    ids.set(name, id);
    return id;
  };
}
