import type { Attachment, AttachmentEntry } from "../entry.ts";
import type { ContentBlock } from "../message.ts";
import { field, isRecord, type JsonRecord, stringField } from "../untrusted.ts";
import {
  directoryListing,
  editedFile,
  fileContent,
  fileReference,
  nestedMemory,
  planFile,
} from "./attachment-kinds/files.ts";
import { blockingHook, hookContext, hookOutput } from "./attachment-kinds/hooks.ts";
import {
  agentsDelta,
  serverInstructionsDelta,
  skillListing,
  toolsDelta,
} from "./attachment-kinds/listings.ts";
import { queuedPrompt } from "./attachment-kinds/prompts.ts";
import { planMode, sessionMemory, taskStatus, usedSkills } from "./attachment-kinds/session.ts";
import { diagnostics, taskList } from "./attachment-kinds/tasks.ts";

type ContentOf = (attachment: JsonRecord) => readonly ContentBlock[];

/**
 * Kinds that are conversation. Of the others that are known, Claude Code sends nothing: command_permissions,
 * hook_system_message, hook_non_blocking_error, prompt_snapshot. Nor is anything known of what it sends for auto_mode.
 */
const CONTENT_BY_TYPE: ReadonlyMap<string, ContentOf> = new Map<string, ContentOf>([
  ["file", fileContent],
  ["directory", directoryListing],
  ["compact_file_reference", fileReference],
  ["edited_text_file", editedFile],
  ["nested_memory", nestedMemory],
  ["plan_file", planFile],
  ["plan_file_reference", planFile],
  ["queued_command", queuedPrompt],
  ["todo", taskList],
  ["todo_reminder", taskList],
  ["task_reminder", taskList],
  ["diagnostics", diagnostics],
  ["hook_success", hookOutput],
  ["hook_additional_context", hookContext],
  ["hook_blocking_error", blockingHook],
  ["skill_listing", skillListing],
  ["deferred_tools_delta", toolsDelta],
  ["agent_listing_delta", agentsDelta],
  ["mcp_instructions_delta", serverInstructionsDelta],
  ["invoked_skills", usedSkills],
  ["plan_mode", planMode],
  ["task_status", taskStatus],
  ["session_memory", sessionMemory],
]);

/**
 * The content that an attachment adds to the conversation, as user content: the one place that decides which
 * attachments are conversation. Claude Code records the texts that it sent for an attachment; where it did, they
 * count. Otherwise the kind decides. A kind that is not known was never sent, as far as anybody can tell.
 */
export function sentContent(
  entry: Pick<AttachmentEntry, "attachment" | "rendered">,
): readonly ContentBlock[] {
  return renderedContent(entry.rendered) ?? attachmentContent(entry.attachment);
}

/** True when the model was sent any text of it. */
export const isSentAttachment = (entry: AttachmentEntry): boolean => sentContent(entry).length > 0;

/** The content of an attachment of this kind that has no record of what was sent. */
export function attachmentContent(attachment: Attachment): readonly ContentBlock[] {
  return isRecord(attachment) ? (CONTENT_BY_TYPE.get(attachment.type)?.(attachment) ?? []) : [];
}

/** Undefined where there is no record that can be read: one with media, for example, holds no texts. */
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
