import type { ApiRequest, ContentBlock } from "@longhaul/core/messages";
import fc from "fast-check";
import { image, PNG, thinking } from "./builders.ts";

interface RequestKinds {
  /** True to include blocks of unknown types. The checker accepts them, the API refuses them. */
  readonly unknownKinds?: boolean;
  /** True to include images that nothing can decode. The checker reads only the first bytes, the API reads all. */
  readonly brokenImages?: boolean;
}

/**
 * Generates requests from valid to hopeless. Roles and blocks have any order. There are also marks, system
 * messages and server tools.
 */
export function arbitraryRequest(kinds: RequestKinds = {}): fc.Arbitrary<ApiRequest> {
  const message = fc.record({
    role: fc.constantFrom<unknown>("user", "user", "assistant", "assistant", "system", "narrator"),
    content: fc.oneof(
      { weight: 6, arbitrary: fc.array(arbitraryBlock(kinds), { maxLength: 4 }) },
      { weight: 2, arbitrary: fc.constantFrom<unknown>("hello", "", "  ", "trailing ") },
      { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 3, {}, { type: "text", text: "alone" }) },
    ),
  });
  const messages = fc.array(
    fc.oneof({ weight: 20, arbitrary: message }, fc.constantFrom<unknown>(null, "x")),
    {
      maxLength: 10,
    },
  );
  const optional = {
    model: fc.constantFrom("claude-opus-4-6", "claude-sonnet-4-20250514", "claude-opus-5"),
    system: fc.constantFrom<unknown>("be kind", " ", [
      { type: "text", text: "s", cache_control: { type: "ephemeral" } },
    ]),
    tools: fc.constant([
      {
        name: "Read",
        input_schema: { type: "object", properties: { lines: { type: "array" } } },
        cache_control: { type: "ephemeral", ttl: "1h" },
      },
    ]),
    cache_control: fc.constant({ type: "ephemeral", ttl: "1h" }),
    thinking: fc.constant({ type: "enabled", budget_tokens: 1_024 }),
  };
  const request = fc.record({ messages, ...optional }, { requiredKeys: ["messages"] });
  return request as fc.Arbitrary<unknown> as fc.Arbitrary<ApiRequest>;
}

function arbitraryBlock({ unknownKinds = true, brokenImages = true }: RequestKinds): fc.Arbitrary<unknown> {
  const anyImage = brokenImages ? arbitraryImage() : imageOf(fc.constant(PNG));
  const id = fc.constantFrom<unknown>("a", "b", "c", "d", "bad id", "", undefined);
  const serverId = fc.constantFrom("srvtoolu_1", "srvtoolu_2");
  const mark = fc.constantFrom<unknown>({ type: "ephemeral" }, { type: "ephemeral", ttl: "1h" });
  const marked = <T extends object>(block: fc.Arbitrary<T>): fc.Arbitrary<T> =>
    fc
      .tuple(block, fc.option(mark, { freq: 4 }))
      .map(([value, control]) => (control === null ? value : { ...value, cache_control: control }));
  const text = fc.record({ type: fc.constant("text"), text: fc.constantFrom("one", "two", "", " ", "end ") });
  const nested = fc.array(fc.oneof(text, anyImage, fc.constant(null)), { maxLength: 2 });
  return fc.oneof(
    { weight: 5, arbitrary: marked(text) },
    {
      weight: 4,
      arbitrary: fc.record({
        type: fc.constant("tool_use"),
        id,
        name: fc.constantFrom("Read", "a b"),
        input: fc.constantFrom<unknown>({}, "{}", null, { lines: "[1, 2]" }),
      }),
    },
    {
      weight: 4,
      arbitrary: marked(
        fc.record({
          type: fc.constant("tool_result"),
          tool_use_id: id,
          content: fc.oneof(fc.constantFrom<unknown>("out", "", null, 4), nested),
        }),
      ),
    },
    { weight: 2, arbitrary: marked(fc.constant(thinking("hm"))) },
    {
      weight: 1,
      arbitrary: fc.oneof(anyImage, fc.constantFrom<unknown>(image(""), { type: "document", source: null })),
    },
    {
      weight: 1,
      arbitrary: serverId.map((value) => ({
        type: "server_tool_use",
        id: value,
        name: "web_search",
        input: {},
      })),
    },
    {
      weight: 1,
      arbitrary: serverId.map((value) => ({
        type: "web_search_tool_result",
        tool_use_id: value,
        content: [],
      })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(
        { type: "compaction", content: "sum" },
        ...(unknownKinds ? [{ type: "novel", field: 1 }] : []),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>(null, "loose", 5, { type: "text" }, { type: "thinking" }),
    },
  );
}

/** The bytes that start an image of each format, and bytes of formats that no model accepts. */
const IMAGE_STARTS: Readonly<Record<string, string>> = {
  "image/png": "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03",
  "image/jpeg": "\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0",
  "image/gif": "GIF89a\x01\0\x01\0\0\0",
  "image/webp": "RIFF\x24\0\0\0WEBPVP8 ",
  "image/bmp": "BM\x46\0\0\0\0\0\0\0\x36\0",
  "": "",
};

/** Generates an image of any format with any media type, whose data may be cut off or not be base64. */
export function arbitraryImage(): fc.Arbitrary<ContentBlock> {
  const bytes = fc
    .tuple(fc.constantFrom(...Object.values(IMAGE_STARTS)), fc.uint8Array({ maxLength: 24 }))
    .map(([start, rest]) => btoa(start + String.fromCharCode(...rest)));
  const data = fc.oneof(
    { weight: 4, arbitrary: bytes },
    { weight: 1, arbitrary: bytes.map((whole) => whole.slice(0, -1)) },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
  );
  return imageOf(data);
}

/** Generates an image with this data and any media type. */
function imageOf(data: fc.Arbitrary<string>): fc.Arbitrary<ContentBlock> {
  const mediaType = fc.constantFrom(...Object.keys(IMAGE_STARTS), "image/jpg", "IMAGE/PNG");
  return fc.record({
    type: fc.constant("image"),
    source: fc.record({ type: fc.constant("base64"), media_type: mediaType, data }),
  }) as unknown as fc.Arbitrary<ContentBlock>;
}
