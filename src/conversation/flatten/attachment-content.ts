import type { ContentBlock } from "../block.ts";
import type { Attachment } from "../entry.ts";
import { isRecord, type JsonRecord } from "../untrusted.ts";
import { editedFile, fileContent, fileReference, nestedMemory, planFile } from "./attachment-kinds/files.ts";
import { hookOutput } from "./attachment-kinds/hooks.ts";
import {
  agentsDelta,
  serverInstructionsDelta,
  skillListing,
  toolsDelta,
} from "./attachment-kinds/listings.ts";
import { queuedPrompt } from "./attachment-kinds/prompts.ts";
import { planMode, sessionMemory, taskStatus, usedSkills } from "./attachment-kinds/session.ts";
import { diagnostics, taskList } from "./attachment-kinds/tasks.ts";
import { reminder } from "./reminder.ts";

type ContentOf = (attachment: JsonRecord) => readonly ContentBlock[];

const nothing: ContentOf = () => [];

const CONTENT_BY_TYPE: ReadonlyMap<string, ContentOf> = new Map<string, ContentOf>([
  ["file", fileContent],
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
  ["hook_additional_context", hookOutput],
  ["hook_system_message", hookOutput],
  ["skill_listing", skillListing],
  ["deferred_tools_delta", toolsDelta],
  ["agent_listing_delta", agentsDelta],
  ["mcp_instructions_delta", serverInstructionsDelta],
  ["invoked_skills", usedSkills],
  ["plan_mode", planMode],
  ["task_status", taskStatus],
  ["session_memory", sessionMemory],
  // For the screen of the agent that wrote them; the model never saw these.
  ["command_permissions", nothing],
  ["auto_mode", nothing],
  ["hook_non_blocking_error", nothing],
]);

/** What the model is told by an attachment, as user content. A kind we do not know is sent as its JSON. */
export function attachmentContent(attachment: Attachment): readonly ContentBlock[] {
  if (!isRecord(attachment)) return [];
  const contentOf = CONTENT_BY_TYPE.get(attachment.type);
  if (contentOf !== undefined) return contentOf(attachment);
  const { type, ...fields } = attachment;
  return Object.keys(fields).length === 0 ? [] : reminder(`${type}: ${JSON.stringify(fields)}`);
}
