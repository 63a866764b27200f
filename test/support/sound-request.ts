import fc from "fast-check";
import { PNG } from "./builders.ts";

export type Json = Record<string, unknown>;

/** A parsed request body that a damage may change. */
export interface RequestBody extends Json {
  model: string;
  messages: Json[];
}

interface ModelTraits {
  readonly systemMessages: boolean;
  readonly prefill: boolean;
}

const words = fc.constantFrom("read the file", "fix the test", "done", "one more thing", "语言 и слова", "x");
const text = (value: string): Json => ({ type: "text", text: value });
const image = (): Json => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PNG },
});

const userExtra = fc.constantFrom<Json>(
  image(),
  { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
  { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" } },
  { type: "document", source: { type: "text", media_type: "text/plain", data: "notes" }, title: null },
  { type: "search_result", source: "https://example.com", title: "A page", content: [text("found")] },
  { type: "container_upload", file_id: "file_1" },
);

const userContent = fc.oneof(
  words,
  words.map((value) => [text(value)]),
  fc.tuple(words, fc.array(userExtra, { maxLength: 2 })).map(([value, extra]) => [...extra, text(value)]),
);

const resultContent = fc.oneof(
  words,
  fc.constant(undefined),
  fc.constant(""),
  fc.constant([]),
  words.map((value) => [text(value), image()]),
  words.map((value) => [
    { type: "search_result", source: "s", title: "t", content: [text(value)] },
    { type: "tool_reference", tool_name: "Read" },
  ]),
);

/** An action of the assistant in one turn. Ids are assigned afterwards. */
type Step =
  | { readonly kind: "say"; readonly thinks: boolean; readonly text: string }
  | {
      readonly kind: "call";
      readonly thinks: boolean;
      readonly results: readonly unknown[];
      readonly after: string | null;
    }
  | { readonly kind: "search"; readonly name: string; readonly isCut: boolean };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("say" as const), thinks: fc.boolean(), text: words }),
  fc.record({
    kind: fc.constant("call" as const),
    thinks: fc.boolean(),
    results: fc.array(resultContent, { minLength: 1, maxLength: 3 }),
    after: fc.option(words),
  }),
  fc.record({
    kind: fc.constant("search" as const),
    name: fc.constantFrom("web_search", "code_execution", "tool_search_tool_regex"),
    isCut: fc.boolean(),
  }),
);

const thought = (): Json => ({ type: "thinking", thinking: "hm", signature: "sig" });
const resultTypeOf = (name: string): string =>
  name.startsWith("tool_search") ? "tool_search_tool_result" : `${name}_tool_result`;

class Writer {
  readonly messages: Json[] = [];
  #ids = 0;

  say(role: string, content: unknown): void {
    this.messages.push({ role, content });
  }

  play(action: Step): void {
    const thinking = "thinks" in action && action.thinks ? [thought()] : [];
    if (action.kind === "say") this.say("assistant", [...thinking, text(action.text)]);
    else if (action.kind === "call") {
      const ids = action.results.map(() => `toolu_${++this.#ids}`);
      this.say("assistant", [...thinking, ...ids.map((id) => this.#use(id))]);
      const results = action.results.map((content, at) => ({
        type: "tool_result",
        tool_use_id: ids[at],
        ...(content === undefined ? {} : { content }),
      }));
      this.say("user", [...results, ...(action.after === null ? [] : [text(action.after)])]);
    } else this.#search(action.name, action.isCut);
  }

  pause(): void {
    this.say("assistant", [this.#serverUse(`srvtoolu_${++this.#ids}`, "web_search")]);
  }

  /** Adds a web search by the provider. If `isCut` is true, a call of a client tool interrupts the search. */
  #search(name: string, isCut: boolean): void {
    const id = `srvtoolu_${++this.#ids}`;
    const result = { type: resultTypeOf(name), tool_use_id: id, content: [] };
    if (!isCut) {
      this.say("assistant", [this.#serverUse(id, name), result, text("found it")]);
      return;
    }
    const own = `toolu_${++this.#ids}`;
    this.say("assistant", [this.#serverUse(id, name), this.#use(own)]);
    this.say("user", [{ type: "tool_result", tool_use_id: own, content: "ok" }]);
    this.say("assistant", [result, text("found it")]);
  }

  #use(id: string): Json {
    return { type: "tool_use", id, name: "Read", input: { path: "a" } };
  }

  #serverUse(id: string, name: string): Json {
    return { type: "server_tool_use", id, name, input: {} };
  }
}

const round = fc.record({
  ask: userContent,
  system: fc.option(words, { freq: 3 }),
  steps: fc.array(step, { minLength: 1, maxLength: 3 }),
});

/**
 * Generates requests that the API accepts in every version. Their roles alternate. They contain text, media,
 * thinking, calls and their results, tools of the provider, system messages, summaries and marks. They have
 * every possible ending.
 */
export function arbitrarySoundRequest(
  models: Readonly<Record<string, ModelTraits>>,
): fc.Arbitrary<RequestBody> {
  const names = Object.keys(models);
  return fc
    .record({
      model: fc.constantFrom(...names),
      opening: fc.constantFrom("user", "user", "user", "summary", "signed", "effort"),
      rounds: fc.array(round, { minLength: 1, maxLength: 4 }),
      ask: userContent,
      end: fc.constantFrom("user", "user", "system", "paused", "prefill", "empty"),
      system: fc.option(fc.constantFrom<unknown>("be kind", [text("be kind")])),
      hasTools: fc.boolean(),
    })
    .map(({ model, opening, rounds, ask, end, system, hasTools }) => {
      const traits = models[model] ?? { systemMessages: false, prefill: false };
      const writer = new Writer();
      open(writer, opening, traits);
      for (const { ask: asked, system: rule, steps } of rounds)
        writeRound(writer, asked, rule, steps, traits);
      askUnlessUser(writer, ask);
      finish(writer, end, traits);
      return {
        model,
        max_tokens: 4_096,
        messages: writer.messages,
        ...(system === null ? {} : { system }),
        ...(hasTools ? { tools: [{ name: "Read", input_schema: { type: "object" } }] } : {}),
      };
    });
}

function open(writer: Writer, opening: string, traits: ModelTraits): void {
  if (opening === "summary") writer.say("assistant", [{ type: "compaction", content: "so far" }]);
  if (opening === "signed") {
    writer.say("assistant", [{ type: "compaction", content: "so far", signature: "sig" }]);
  }
  if (opening === "effort" && traits.systemMessages) {
    writer.messages.push({ role: "system", output_config: { effort: "low" } });
  }
}

function writeRound(
  writer: Writer,
  asked: unknown,
  rule: string | null,
  steps: readonly Step[],
  traits: ModelTraits,
): void {
  askUnlessUser(writer, asked);
  if (rule !== null && traits.systemMessages) writer.say("system", rule);
  for (const [at, action] of steps.entries()) {
    if (at > 0 && writer.messages.at(-1)?.role === "assistant") writer.say("user", "go on");
    writer.play(action);
  }
}

/**
 * If the conversation does not end with a user message, adds one. Two user messages in a row would not
 * alternate.
 */
function askUnlessUser(writer: Writer, asked: unknown): void {
  if (writer.messages.at(-1)?.role !== "user") writer.say("user", asked);
}

function finish(writer: Writer, end: string, traits: ModelTraits): void {
  if (end === "system" && traits.systemMessages) writer.say("system", [text("be brief")]);
  if (end === "paused") writer.pause();
  if (end === "prefill" && traits.prefill) writer.say("assistant", "The answer is");
  if (end === "empty" && traits.prefill) writer.say("assistant", "");
}
