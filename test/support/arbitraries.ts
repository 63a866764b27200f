import type { ContentBlock, Entry } from "@longhaul/core";
import fc from "fast-check";
import { ConversationBuilder, image, thinking, toolResult, toolUse, usage } from "./builders.ts";

export { arbitraryRequest } from "./arbitrary-request.ts";

/**
 * Generates entry lists as agents write them, and damaged ones. Every text of a person or a tool contains a
 * unique word (`said-7`, `result-9`), so that a test can find it again.
 */
export function arbitraryEntries(
  options: { readonly damaged?: boolean } = {},
): fc.Arbitrary<readonly Entry[]> {
  const { damaged = true } = options;
  const steps = fc.array(
    damaged ? fc.oneof({ weight: 4, arbitrary: soundStep() }, damagedStep()) : soundStep(),
    {
      maxLength: 14,
    },
  );
  const built = steps.map((list) => {
    const writer = new ConversationWriter();
    for (const step of list) step(writer);
    return writer.builder.entries as readonly Entry[];
  });
  return damaged ? fc.tuple(built, fc.array(damage(), { maxLength: 3 })).map(applyDamage) : built;
}

type Step = (writer: ConversationWriter) => void;

class ConversationWriter {
  readonly builder = new ConversationBuilder();
  #count = 0;

  get next(): number {
    return ++this.#count;
  }

  id(kind: string): string {
    return `${kind}-${this.next}`;
  }
}

const flavor = (): fc.Arbitrary<string> =>
  fc.constantFrom("plain words", "two\nlines", "名前を直す", "emoji 🙂", "  padded  ", 'quote " and \\');

function soundStep(): fc.Arbitrary<Step> {
  return fc.oneof(
    {
      weight: 3,
      arbitrary: flavor().map(
        (text): Step =>
          (w) =>
            void w.builder.user(`${w.id("said")} ${text}`),
      ),
    },
    { weight: 5, arbitrary: responseStep() },
    { weight: 1, arbitrary: imagePromptStep() },
    { weight: 1, arbitrary: attachmentStep() },
    { weight: 1, arbitrary: invisibleStep() },
    { weight: 1, arbitrary: fc.constant<Step>(compactionStep) },
  );
}

function imagePromptStep(): fc.Arbitrary<Step> {
  return fc.constant<Step>((w) => void w.builder.user([image(), { type: "text", text: w.id("said") }]));
}

interface ResponseShape {
  readonly thinks: boolean;
  readonly speaks: boolean;
  readonly calls: readonly ("text" | "blocks" | "error" | "unanswered" | "twice")[];
  readonly interleaved: boolean;
  readonly between: "nothing" | "progress" | "attachment";
}

function responseStep(answered = true): fc.Arbitrary<Step> {
  const outcomes = answered
    ? (["text", "blocks", "error"] as const)
    : (["text", "unanswered", "twice"] as const);
  return fc
    .record<ResponseShape>({
      thinks: fc.boolean(),
      speaks: fc.boolean(),
      calls: fc.array(fc.constantFrom(...outcomes), { maxLength: 3 }),
      interleaved: fc.boolean(),
      between: fc.constantFrom("nothing", "progress", "attachment"),
    })
    .map((shape) => (w) => writeResponse(w, shape));
}

function writeResponse(w: ConversationWriter, shape: ResponseShape): void {
  const id = w.id("msg");
  const fields = { id, usage: usage(10 * w.next, 5) };
  if (shape.thinks) w.builder.assistant([thinking(w.id("thought"))], fields);
  if (shape.speaks || shape.calls.length === 0)
    w.builder.assistant([{ type: "text", text: w.id("answer") }], fields);
  const pending: (() => void)[] = [];
  for (const outcome of shape.calls) {
    const toolUseId = w.id("toolu");
    w.builder.assistant([toolUse(toolUseId, "Read", { file_path: `/project/${toolUseId}` })], fields);
    const answer = (): void => writeResult(w, toolUseId, outcome);
    if (shape.interleaved) answer();
    else pending.push(answer);
    if (shape.between === "progress")
      w.builder.push({ ...w.builder.link(), type: "progress", data: { type: "bash" } });
    if (shape.between === "attachment")
      w.builder.attachment({ type: "queued_command", prompt: w.id("said") });
  }
  for (const answer of pending) answer();
}

function writeResult(w: ConversationWriter, id: string, outcome: ResponseShape["calls"][number]): void {
  if (outcome === "unanswered") return;
  const text = w.id("result");
  if (outcome === "blocks") w.builder.user([toolResult(id, [{ type: "text", text }, image()])]);
  else w.builder.user([toolResult(id, text, outcome === "error")]);
  if (outcome === "twice") w.builder.user([toolResult(id, w.id("result"))]);
}

function attachmentStep(): fc.Arbitrary<Step> {
  return fc.constantFrom<Step>(
    (w) => void w.builder.attachment({ type: "queued_command", prompt: w.id("said") }),
    (w) =>
      void w.builder.attachment({
        type: "queued_command",
        prompt: [image(), { type: "text", text: w.id("said") }],
      }),
    (w) =>
      void w.builder.attachment({
        type: "todo_reminder",
        content: [{ content: w.id("task"), status: "pending" }],
      }),
    (w) => void w.builder.attachment({ type: "command_permissions", allowedTools: [] }),
    (w) => void w.builder.attachment({ type: "kind_of_tomorrow", payload: { word: w.id("word") } }),
  );
}

function invisibleStep(): fc.Arbitrary<Step> {
  return fc.constantFrom<Step>(
    (w) => void w.builder.push({ ...w.builder.link(), type: "progress", data: { type: "hook_progress" } }),
    (w) => void w.builder.push({ type: "file-history-snapshot", messageId: "m" } as unknown as Entry),
    (w) =>
      void w.builder.push({
        ...w.builder.link(),
        type: "system",
        subtype: "turn_duration",
      } as unknown as Entry),
    (w) => {
      const entry = w.builder.assistant("API Error: 529", { isApiErrorMessage: true });
      w.builder.entries[w.builder.entries.length - 1] = {
        ...entry,
        message: { ...entry.message, model: "<synthetic>" },
      };
    },
  );
}

function compactionStep(w: ConversationWriter): void {
  w.builder.boundary();
  w.builder.summary(`${w.id("said")} summary of what came before`);
}

/** Generates damage in one place: interrupted calls, orphans, duplicate ids, missing fields. */
function damagedStep(): fc.Arbitrary<Step> {
  return fc.oneof(
    { weight: 3, arbitrary: responseStep(false) },
    {
      weight: 4,
      arbitrary: fc.constantFrom<Step>(
        (w) => void w.builder.user([toolResult(w.id("toolu_gone"), w.id("result"))]),
        (w) => w.builder.tool("toolu_same", "Bash", { command: w.id("command") }, w.id("result")),
        (w) => w.builder.tool(`bad id ${w.next}`, "Bash", "{}", w.id("result")),
        (w) => void w.builder.user(""),
        (w) => void w.builder.user([{ type: "text", text: " \n" }]),
        (w) => void w.builder.assistant([{ type: "text", text: "" }]),
        (w) => void w.builder.assistant([thinking(w.id("thought"))]),
        (w) => void w.builder.assistant([{ type: "text", text: w.id("answer") }, thinking(w.id("thought"))]),
        (w) =>
          void w.builder.user([
            { type: "text", text: w.id("said") },
            toolResult("toolu_same", w.id("result")),
          ]),
        (w) => void w.builder.assistant([opaque({ type: "fallback", from: { model: "a" } })]),
        (w) => void w.builder.user([thinking(w.id("thought")), { type: "text", text: w.id("said") }]),
      ),
    },
    {
      weight: 2,
      arbitrary: garbageEntry().map(
        (entry): Step =>
          (w) =>
            void w.builder.entries.push(entry),
      ),
    },
  );
}

function opaque(block: { readonly type: string; readonly [field: string]: unknown }): ContentBlock {
  return block as unknown as ContentBlock;
}

function garbageEntry(): fc.Arbitrary<Entry> {
  const content = fc.constantFrom<unknown>(
    null,
    7,
    {},
    [null],
    [3, "loose"],
    [{ type: "text" }],
    [{ type: 5 }],
  );
  const message = fc.oneof(
    fc.constantFrom<unknown>(null, "text", 4),
    fc.record({ role: fc.constant("user"), content }),
  );
  const type = fc.constantFrom("user", "assistant", "attachment", "system", "progress");
  const entry = fc.record({ type, message }, { requiredKeys: ["type"] });
  return fc.oneof(
    entry,
    fc.constantFrom<unknown>(null, 3, "line", {}, []),
  ) as fc.Arbitrary<unknown> as fc.Arbitrary<Entry>;
}

type Damage = { readonly kind: "drop" | "repeat" | "swap"; readonly at: number };

function damage(): fc.Arbitrary<Damage> {
  return fc.record<Damage>({ kind: fc.constantFrom("drop", "repeat", "swap"), at: fc.nat(60) });
}

function applyDamage([entries, accidents]: [readonly Entry[], readonly Damage[]]): readonly Entry[] {
  const list = [...entries];
  for (const { kind, at } of accidents) {
    if (list.length === 0) break;
    const index = at % list.length;
    const entry = list[index] as Entry;
    if (kind === "drop") list.splice(index, 1);
    else if (kind === "repeat") list.splice(Math.min(list.length, index + 2), 0, entry);
    else {
      list.splice(index, 1);
      list.splice(Math.min(list.length, index + 1), 0, entry);
    }
  }
  return list;
}
