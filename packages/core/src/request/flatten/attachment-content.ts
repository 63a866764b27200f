import type { Attachment, AttachmentEntry } from "../../messages/entry.ts";
import { type ContentBlock, isBlock } from "../../messages/message.ts";
import {
  field,
  firstString,
  isRecord,
  type JsonRecord,
  listField,
  stringField,
  stringListField,
} from "../../messages/untrusted.ts";

/**
 * Converts an attachment to user content. Only this function decides which attachments are part of the
 * conversation. If Claude Code recorded the texts that it sent, returns those texts. If there is no record,
 * the type of the attachment decides. Attachments of unknown types are not sent.
 */
export function sentContent(
  entry: Pick<AttachmentEntry, "attachment" | "rendered">,
): readonly ContentBlock[] {
  return renderedContent(entry.rendered) ?? attachmentContent(entry.attachment);
}

/** Returns true if any text of the attachment was sent to the model. */
export const isSentAttachment = (entry: AttachmentEntry): boolean => sentContent(entry).length > 0;

/**
 * Reads the record of the sent texts. Returns undefined if there is no record, or if the record is not
 * readable as text, for example because it contains media.
 */
function renderedContent(rendered: unknown): readonly ContentBlock[] | undefined {
  if (!Array.isArray(rendered)) return undefined;
  const blocks: ContentBlock[] = [];
  for (const message of rendered) {
    const texts = textsOf(field(message, "content"));
    if (texts === undefined) return undefined;
    for (const text of texts) if (text.trim() !== "") blocks.push({ type: "text", text });
  }
  return blocks;
}

function textsOf(content: unknown): readonly string[] | undefined {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return undefined;
  const texts = content.map((block) =>
    field(block, "type") === "text" ? stringField(block, "text") : undefined,
  );
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

/** Returns the content of an attachment whose sent texts were not recorded. */
export function attachmentContent(attachment: Attachment): readonly ContentBlock[] {
  const content = isRecord(attachment) ? (CONTENT_BY_TYPE.get(attachment.type)?.(attachment) ?? "") : "";
  return typeof content === "string" ? reminder(content) : content;
}

/** Returns the content of an attachment. Text is sent as a reminder, and empty text is not sent. */
type ContentOf = (attachment: JsonRecord) => string | readonly ContentBlock[];

/**
 * The key is an attachment type that is part of the conversation, and the value is a function that returns
 * its content. Claude Code sends nothing for command_permissions, hook_system_message,
 * hook_non_blocking_error and prompt_snapshot. The text that it sends for auto_mode is unknown.
 */
const CONTENT_BY_TYPE: ReadonlyMap<string, ContentOf> = new Map(
  Object.entries<ContentOf>({
    file: fileContent,
    /** File names in a folder that the user mentioned. */
    directory: (attachment) => {
      const names = textField(attachment, "content").trim();
      return names === "" ? "" : `Files in ${pathOf(attachment)}:\n${names}`;
    },
    compact_file_reference: (attachment) =>
      `${pathOf(attachment)} was read before the conversation was compacted. It is too large to include here. Read it again when you need its content.`,
    edited_text_file: (attachment) => {
      const snippet = textField(attachment, "snippet");
      const shown = snippet === "" ? "" : ` The changed part, with line numbers:\n${snippet}`;
      return `${pathOf(attachment)} was changed outside this conversation, by the user or by one of the user's tools. Take the change into account.${shown}`;
    },
    /** A memory file that applies to files that the agent used. */
    nested_memory: (attachment) => {
      const { content } = attachment;
      const text = typeof content === "string" ? content : textField(content, "content");
      return text.trim() === "" ? "" : `Instructions from ${pathOf(attachment)}:\n${text}`;
    },
    plan_file: planFile,
    plan_file_reference: planFile,
    /**
     * A message that the user typed while the agent worked. No other entry records this message. It is sent
     * as user text, not as a reminder.
     */
    queued_command: ({ prompt }) => {
      if (typeof prompt === "string") return prompt.trim() === "" ? [] : [{ type: "text", text: prompt }];
      if (!Array.isArray(prompt)) return [];
      return prompt.flatMap((item): readonly ContentBlock[] => {
        if (typeof item === "string") return [{ type: "text", text: item }];
        return isBlock(item) ? [item] : [];
      });
    },
    todo: taskList,
    todo_reminder: taskList,
    task_reminder: taskList,
    diagnostics: (attachment) => {
      const lines = recordsField(attachment, "files").flatMap((file) => {
        const found = recordsField(file, "diagnostics").map((problem) => {
          const severity = textField(problem, "severity") || "Problem";
          return `- ${severity}: ${textField(problem, "message")}`;
        });
        return found.length === 0 ? [] : [textField(file, "uri", "path"), ...found];
      });
      return lines.length === 0 ? "" : `New problems reported by the editor:\n${lines.join("\n")}`;
    },
    /** Output of a hook that succeeded. */
    hook_success: (attachment) => {
      const event =
        textField(attachment, "hookEvent") || textField(attachment, "hookName").split(":")[0] || "";
      return EVENTS_FOR_MODEL.has(event) ? hookContext(attachment) : "";
    },
    hook_additional_context: hookContext,
    /** The reason why a hook blocked an action. */
    hook_blocking_error: (attachment) => {
      const error = textField(attachment.blockingError, "blockingError").trim();
      return error === "" ? "" : `${hookOf(attachment)} blocked this:\n${error}`;
    },
    skill_listing: (attachment) => {
      const listing = textField(attachment, "content") || stringsField(attachment, "names").join("\n");
      return listing.trim() === "" ? "" : `Available skills:\n${listing}`;
    },
    deferred_tools_delta: (attachment) =>
      delta(attachment, [
        ["Tools that you can load by name when you need them:", "addedLines", "addedNames"],
        ["Tools that are available again:", "readdedNames"],
        ["Tools that are no longer available:", "removedNames"],
        ["Tool servers that are still starting:", "pendingMcpServers"],
        ["Tool servers that wait for the user to sign in:", "needsAuthMcpServers"],
      ]),
    agent_listing_delta: (attachment) =>
      delta(attachment, [
        ["Agent types that you can start:", "addedLines", "addedTypes"],
        ["Agent types that are no longer available:", "removedTypes"],
      ]),
    mcp_instructions_delta: (attachment) =>
      delta(attachment, [
        ["Instructions from tool servers:", "addedBlocks", "addedNames"],
        ["Tool servers whose instructions no longer apply:", "removedNames"],
      ]),
    /** Skills whose instructions the agent follows, restored after a compaction. */
    invoked_skills: (attachment) => {
      const skills = recordsField(attachment, "skills").flatMap((skill) => {
        const content = textField(skill, "content").trim();
        const path = textField(skill, "path");
        const where = path === "" ? "" : ` (${path})`;
        return content === ""
          ? []
          : [`Skill ${textField(skill, "name") || "without a name"}${where}:\n${content}`];
      });
      const heading = "Skills used in this session. Follow their instructions where they still apply.";
      return skills.length === 0 ? "" : [heading, ...skills].join("\n\n");
    },
    plan_mode: (attachment) => {
      const path = textField(attachment, "planFilePath");
      const file = path === "" ? "" : ` The plan file is ${path}. It is the only file that may change.`;
      return `Plan mode is on until the user approves a plan. Explore and plan. Do not edit files, do not run commands that change anything, and do not commit.${file}`;
    },
    /** The current state of a background task. */
    task_status: (attachment) => {
      const id = textField(attachment, "taskId");
      const what = textField(attachment, "description");
      const task = `${textField(attachment, "taskType") === "local_bash" ? "Command" : "Agent"} ${id || "without an id"}${what === "" ? "" : ` (${what})`}`;
      const progress = textField(attachment, "deltaSummary");
      const path = textField(attachment, "outputFilePath");
      const status = textField(attachment, "status") || "running";
      const sentences = [
        status === "running"
          ? `${task} is still running in the background. Do not start it a second time. You are notified when it ends.`
          : `${task} in the background has ended: ${status}. Do not start it a second time. Its result has not been collected yet.`,
        progress === "" ? "" : `So far: ${progress}`,
        path === "" ? "" : `Its output is in ${path}.`,
      ];
      return sentences.filter((sentence) => sentence !== "").join(" ");
    },
    session_memory: (attachment) => {
      const path = textField(attachment, "path");
      return path === ""
        ? ""
        : `The notes that were written during this session are in ${path}. Read them if the summary leaves something open.`;
    },
  }),
);

const TRUNCATED_NOTE = "[The rest was left out. Read the file when you need it.]";

/** Returns the content of a file: text, an image, a PDF, or another type with its own shape. */
function fileContent(attachment: JsonRecord): string | readonly ContentBlock[] {
  const path = pathOf(attachment);
  const { content } = attachment;
  if (typeof content === "string") return `Content of ${path}:\n${content}`;
  if (!isRecord(content)) return `The file ${path} was attached without its content.`;
  const file = field(content, "file");
  const data = textField(file, "base64");
  if (content.type === "image" && data !== "") {
    const media_type = textField(file, "type", "mediaType") || "image/png";
    return [...reminder(`Image ${path}:`), { type: "image", source: { type: "base64", media_type, data } }];
  }
  if (content.type === "pdf" && data !== "") {
    const source = { type: "base64", media_type: "application/pdf", data };
    return [...reminder(`Document ${path}:`), { type: "document", source }];
  }
  const text = stringField(file, "content");
  if (text === undefined) return `Content of ${path}:\n${JSON.stringify(content)}`;
  const rest = attachment.truncated === true ? `\n\n${TRUNCATED_NOTE}` : "";
  return `Content of ${path}${lineRange(file)}:\n${text}${rest}`;
}

function lineRange(file: unknown): string {
  const [start, count, total] = ["startLine", "numLines", "totalLines"].map((name) => field(file, name));
  if (typeof start !== "number" || typeof count !== "number" || typeof total !== "number") return "";
  return count >= total ? "" : ` (lines ${start} to ${start + count - 1} of ${total})`;
}

function planFile(attachment: JsonRecord): string {
  const path = textField(attachment, "planFilePath") || pathOf(attachment);
  const plan = textField(attachment, "planContent", "content");
  return `There is a plan in ${path}${plan === "" ? "." : `:\n${plan}`}`;
}

const pathOf = (attachment: JsonRecord): string =>
  firstString(attachment, "filename", "path", "filePath", "displayPath") ?? "a file";

/** Lists the current tasks. Agents use several field names for the task text. */
function taskList(attachment: JsonRecord): string {
  const items = ["content", "todos", "tasks"].flatMap((name) => recordsField(attachment, name));
  const lines = items.map((item) => {
    const status = textField(item, "status") || "pending";
    const id = textField(item, "id");
    const wording = textField(item, "content", "subject", "title", "description") || JSON.stringify(item);
    return `- ${id === "" ? "" : `#${id} `}[${status}] ${wording}`;
  });
  return lines.length === 0 ? "The task list is empty." : `The task list:\n${lines.join("\n")}`;
}

/** Events whose hook output goes to the model. The output of other hooks is only displayed. */
const EVENTS_FOR_MODEL: ReadonlySet<string> = new Set(["SessionStart", "UserPromptSubmit"]);

/** Returns the context that a hook adds explicitly. Returns "" for a hook without output. */
function hookContext(attachment: JsonRecord): string {
  const said = stringsField(attachment, "content").join("\n").trim();
  return said === "" ? "" : `${hookOf(attachment)}:\n${said}`;
}

function hookOf(attachment: JsonRecord): string {
  const name = textField(attachment, "hookName", "hookEvent");
  return name === "" ? "A hook" : `${name} hook`;
}

/**
 * Joins sections. Each section has a heading and the names of some fields. The section lists the items of the
 * first of these fields that is not empty.
 */
function delta(attachment: JsonRecord, sections: readonly (readonly [string, ...string[]])[]): string {
  const filled = sections.flatMap(([heading, ...names]) => {
    const items = names.map((name) => stringsField(attachment, name)).find((list) => list.length > 0);
    return items === undefined ? [] : [[heading, ...items].join("\n")];
  });
  return filled.join("\n\n");
}

const CLOSING = /<\/(?=system-reminder)/gi;

/** Prevents the text of a file or a tool from closing the reminder around it. */
const withoutClosing = (text: string): string => text.replace(CLOSING, "<\\/");

/** Marks text from the harness, so that the model does not mistake it for the user's words. */
export function reminder(text: string): readonly ContentBlock[] {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  return [{ type: "text", text: `<system-reminder>\n${withoutClosing(trimmed)}\n</system-reminder>` }];
}

/** Returns the first of these fields that contains text, or "". */
const textField = (value: unknown, ...names: readonly string[]): string => firstString(value, ...names) ?? "";

const recordsField = (value: unknown, name: string): readonly JsonRecord[] =>
  listField(value, name).filter(isRecord);

/** Reads a list of strings. A single string counts as a list with one item. */
function stringsField(value: unknown, name: string): readonly string[] {
  const only = textField(value, name);
  return only === "" ? stringListField(value, name) : [only];
}
