import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryImage } from "../../../../../test/support/arbitrary-request.ts";
import { toolResult, toolUse } from "../../../../../test/support/builders.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { readImage } from "../../../../simulator/src/shape/image-type.ts";
import type { ApiMessage, ContentBlock } from "../../messages/message.ts";
import { checkRequest } from "./check.ts";
import { IMAGE_MEDIA_TYPES, MAX_IMAGE_SIDE } from "./limits.ts";

const RUNS = { numRuns: 500 };

interface Base64 {
  readonly media_type: string;
  readonly data: string;
}
const sourceOf = (block: ContentBlock): Base64 => (block as { source: unknown }).source as Base64;

/** The format that another reader finds, or undefined for data that the API refuses. */
function formatOf({ data }: Base64): string | undefined {
  const image = readImage(data);
  return image !== undefined && image.longSide <= MAX_IMAGE_SIDE ? image.mediaType : undefined;
}
const isStrict = ({ data }: Base64): boolean =>
  /^(?:[A-Za-z\d+/]{4})*(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=)?$/.test(data);

const conversation = (outer: ContentBlock, nested: ContentBlock): readonly ApiMessage[] => [
  { role: "user", content: [{ type: "text", text: "look" }, outer] },
  { role: "assistant", content: [toolUse("t", "Read", {})] },
  { role: "user", content: [toolResult("t", [{ type: "text", text: "seen" }, nested])] },
];

/** Returns both images after a check, or their markers. */
function checked(outer: ContentBlock, nested: ContentBlock): readonly (ContentBlock | undefined)[] {
  const messages = deepFreeze(conversation(outer, nested));
  const { request } = checkRequest({ messages });
  const [first, , last] = request.messages as readonly { content: readonly ContentBlock[] }[];
  const [result] = (last?.content ?? []) as readonly { content?: readonly ContentBlock[] }[];
  return [first?.content[1], result?.content?.[1]];
}

describe("images with any data and any media type", () => {
  it("an image that the API accepts stays the same object, beside and inside a tool result", () => {
    fc.assert(
      fc.property(arbitraryImage(), arbitraryImage(), (outer, nested) => {
        const after = checked(outer, nested);
        for (const [index, block] of [outer, nested].entries()) {
          const source = sourceOf(block);
          const isAccepted = isStrict(source) && formatOf(source) === source.media_type;
          if (isAccepted) expect(after[index]).toBe(block);
        }
      }),
      RUNS,
    );
  });

  it("an image with a wrong media type keeps its data, and only an unreadable one becomes a marker", () => {
    fc.assert(
      fc.property(arbitraryImage(), arbitraryImage(), (outer, nested) => {
        const after = checked(outer, nested);
        for (const [index, block] of [outer, nested].entries()) {
          const [now, source] = [after[index], sourceOf(block)];
          const format = formatOf(source);
          if (isStrict(source) && format !== undefined) {
            expect(now).toEqual({ ...block, source: { ...source, media_type: format } });
          } else if (now?.type === "image") {
            expect(sourceOf(now).data).toBe(source.data);
            expect(IMAGE_MEDIA_TYPES).toContain(sourceOf(now).media_type);
          } else expect(now).toEqual({ type: "text", text: "[image]" });
        }
      }),
      RUNS,
    );
  });

  it("a message whose images are right stays the same object when another message is repaired", () => {
    fc.assert(
      fc.property(arbitraryImage(), (nested) => {
        const right: ContentBlock = { type: "image", source: { type: "url", url: "https://example.com/a" } };
        const messages = conversation(right, nested);
        const { request } = checkRequest({ messages });
        expect(request.messages[0]).toBe(messages[0]);
        expect(request.messages[1]).toBe(messages[1]);
        expect(checkRequest(request)).toMatchObject({ request, findings: [] });
      }),
      RUNS,
    );
  });
});
