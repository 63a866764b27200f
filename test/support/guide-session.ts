/** Size of a session that can be cleared and compacted. */
const TOKENS = 170_000;
/** Size of a session that is measured many times, so it is small. */
const MEASURED_TOKENS = 60_000;
/** Size of a session that exceeds the context window of its model. */
const FAR_TOO_MANY_TOKENS = 260_000;
const PICTURES = 110;
const PICTURE_BYTES = 60_000;

const line = (entry: object): string => `${JSON.stringify(entry)}\n`;

/** Returns the session for a section of a guide. It has the problem that the section describes. */
export function guideSession(guide: string, heading: string, demo: (tokens: number) => string): string {
  if (guide === "choose-a-policy.md") return demo(MEASURED_TOKENS);
  if (heading.startsWith('"Prompt')) return demo(FAR_TOO_MANY_TOKENS);
  const text = demo(TOKENS);
  if (heading.startsWith("Broken")) return damaged(text);
  if (heading.startsWith("Too many")) return `${text}${pictures(text)}`;
  return heading.startsWith("Every request") ? withoutAResult(text) : text;
}

/** Returns true if the section is about a session that was compacted before. */
export const isCompacted = (heading: string): boolean =>
  heading.startsWith("It forgot") || heading === "In a program";

/** Damages a session: a truncated line, two entries on one line, NUL bytes, and an unfinished last line. */
function damaged(text: string): string {
  const lines = text.split("\n");
  const broken = lines.map((whole, index) => (index === 60 ? whole.slice(0, 80) : whole));
  return `${broken.join("\n").replace("}\n{", "}{")}\0\0\0\n{"type":"assistant","mess`;
}

/** Removes a tool result, so that a provider would refuse the request. */
function withoutAResult(text: string): string {
  const entries = text
    .trimEnd()
    .split("\n")
    .map((json) => JSON.parse(json));
  const gone = entries.findLast(({ message }) => message?.content?.[0]?.type === "tool_result");
  return entries
    .filter((entry) => entry !== gone)
    .map((entry) => line(entry.parentUuid === gone.uuid ? { ...entry, parentUuid: gone.parentUuid } : entry))
    .join("");
}

function pictures(text: string): string {
  const last = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "");
  const source = {
    type: "base64",
    media_type: "image/png",
    data: Buffer.alloc(PICTURE_BYTES, 7).toString("base64"),
  };
  const uuid = (index: number): string => `${String(index).padStart(8, "0")}-0000-4000-8000-000000000000`;
  return Array.from({ length: PICTURES }, (_, index) =>
    line({
      ...last,
      type: "user",
      uuid: uuid(index),
      parentUuid: index === 0 ? last.uuid : uuid(index - 1),
      message: {
        role: "user",
        content: [
          { type: "text", text: `Picture ${index}` },
          { type: "image", source },
        ],
      },
    }),
  ).join("");
}
