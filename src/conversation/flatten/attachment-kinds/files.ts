import type { ContentBlock } from "../../message.ts";
import { isRecord, type JsonRecord } from "../../untrusted.ts";
import { numberField, recordField, textField } from "../attachment-fields.ts";
import { reminder } from "../reminder.ts";

/** A file put into the context as it was read: text, a picture, a PDF, or something with its own shape. */
export function fileContent(attachment: JsonRecord): readonly ContentBlock[] {
  const path = pathOf(attachment);
  const { content } = attachment;
  if (typeof content === "string") return reminder(`Content of ${path}:\n${content}`);
  if (!isRecord(content)) return reminder(`The file ${path} was attached, without its content.`);
  const file = recordField(content, "file");
  const data = textField(file, "base64");
  if (content.type === "image" && data !== "") {
    const media_type = textField(file, "type") || textField(file, "mediaType") || "image/png";
    return [...reminder(`Picture ${path}:`), { type: "image", source: { type: "base64", media_type, data } }];
  }
  if (content.type === "pdf" && data !== "") {
    const source = { type: "base64", media_type: "application/pdf", data };
    return [...reminder(`Document ${path}:`), { type: "document", source }];
  }
  if (typeof file.content === "string") {
    const rest = attachment.truncated === true ? `\n\n${REST_LEFT_OUT}` : "";
    return reminder(`Content of ${path}${lineRange(file)}:\n${file.content}${rest}`);
  }
  return reminder(`Content of ${path}:\n${JSON.stringify(content)}`);
}

/** Names of the files in a folder that the user mentioned. */
export function directoryListing(attachment: JsonRecord): readonly ContentBlock[] {
  const names = textField(attachment, "content").trim();
  return names === "" ? [] : reminder(`Files in ${pathOf(attachment)}:\n${names}`);
}

const REST_LEFT_OUT = "[The rest was left out. Read the file when it is needed.]";

export function fileReference(attachment: JsonRecord): readonly ContentBlock[] {
  return reminder(
    `${pathOf(attachment)} was read before the conversation was compacted. It is too large to be put back here; read it again when its content is needed.`,
  );
}

export function editedFile(attachment: JsonRecord): readonly ContentBlock[] {
  const snippet = textField(attachment, "snippet");
  const shown = snippet === "" ? "" : ` The changed part, with line numbers:\n${snippet}`;
  return reminder(
    `${pathOf(attachment)} was changed outside this conversation, by the user or a tool of theirs. Take the change into account.${shown}`,
  );
}

/** A memory file that governs files the agent touched. */
export function nestedMemory(attachment: JsonRecord): readonly ContentBlock[] {
  const { content } = attachment;
  const text =
    typeof content === "string" ? content : textField(recordField(attachment, "content"), "content");
  return text.trim() === "" ? [] : reminder(`Instructions from ${pathOf(attachment)}:\n${text}`);
}

export function planFile(attachment: JsonRecord): readonly ContentBlock[] {
  const path = textField(attachment, "planFilePath") || pathOf(attachment);
  const plan = textField(attachment, "planContent") || textField(attachment, "content");
  return reminder(`There is a plan in ${path}${plan === "" ? "." : `:\n${plan}`}`);
}

function lineRange(file: JsonRecord): string {
  const start = numberField(file, "startLine");
  const count = numberField(file, "numLines");
  const total = numberField(file, "totalLines");
  if (start === undefined || count === undefined || total === undefined || count >= total) return "";
  return ` (lines ${start} to ${start + count - 1} of ${total})`;
}

function pathOf(attachment: JsonRecord): string {
  const names = ["filename", "path", "filePath", "displayPath"];
  for (const name of names) {
    const path = textField(attachment, name);
    if (path !== "") return path;
  }
  return "a file";
}
