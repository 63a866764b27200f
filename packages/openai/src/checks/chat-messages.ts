import type { Report } from "../report.ts";
import { at, fieldOf, isRecord, isSet, listOf, quote, textOf } from "../values.ts";
import { checkFileData, checkImageSupport, checkImageUrl } from "./media.ts";

/** Checks the contents of chat messages, and the order of tool calls and their outputs. */
export function checkChatMessages(messages: readonly unknown[], report: Report): void {
  let calls = new OpenCalls();
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    const role = textOf(message, "role");
    if (role === "tool") {
      calls.answer(message, path, report);
      continue;
    }
    calls.close(report);
    calls = new OpenCalls();
    if (role === "function" && report.options.reasoningModel === true)
      report.add(
        "role-unsupported",
        at(path, "role"),
        `Reasoning models do not accept the role "function". Send ${path} as a tool message.`,
      );
    if (role === "assistant") {
      calls.open(listOf(message, "tool_calls"), path, report);
      checkAssistantContent(message, path, report);
    }
    checkParts(listOf(message, "content"), at(path, "content"), report);
  }
  calls.close(report);
}

/** Calls of one assistant message. Their outputs follow directly. */
class OpenCalls {
  /** Paths of the calls without an output, by id. */
  readonly #open = new Map<string, string>();
  readonly #answered = new Set<string>();

  open(calls: readonly unknown[], path: string, report: Report): void {
    for (const [index, call] of calls.entries()) {
      const id = textOf(call, "id");
      if (id === undefined) continue;
      const idPath = `${path}.tool_calls[${index}].id`;
      if (this.#open.has(id))
        report.add(
          "call-id-duplicate",
          idPath,
          `Two calls of ${path} have the id ${quote(id)}. Give each call its own id.`,
        );
      else this.#open.set(id, idPath);
    }
  }

  answer(message: unknown, path: string, report: Report): void {
    const id = textOf(message, "tool_call_id");
    if (id === undefined) return;
    const idPath = at(path, "tool_call_id");
    if (this.#open.delete(id)) this.#answered.add(id);
    else if (this.#answered.has(id))
      report.add(
        "output-duplicate",
        idPath,
        `The call ${quote(id)} already has an output. Remove one of the two tool messages.`,
      );
    else
      report.add(
        "output-orphan",
        idPath,
        `${path} answers the call ${quote(id)}, which the assistant message before it does not make. ` +
          "Move the output directly after its call, or remove it.",
      );
  }

  close(report: Report): void {
    for (const [id, path] of this.#open)
      report.add(
        "call-unanswered",
        path,
        `The call ${quote(id)} has no output. Add a tool message for it directly after the assistant message.`,
      );
  }
}

function checkAssistantContent(message: unknown, path: string, report: Report): void {
  if (["content", "tool_calls", "function_call", "refusal", "audio"].some((name) => isSet(message, name)))
    return;
  report.add(
    "content-missing",
    at(path, "content"),
    `${path} has neither content nor calls. Add content, or remove the message.`,
  );
}

function checkParts(parts: readonly unknown[], path: string, report: Report): void {
  for (const [index, part] of parts.entries()) {
    const partPath = `${path}[${index}]`;
    const type = textOf(part, "type");
    if (type === "image_url") {
      const url = textOf(fieldOf(part, "image_url"), "url");
      checkImageSupport(partPath, report);
      if (url !== undefined) checkImageUrl(url, `${partPath}.image_url.url`, report);
    }
    const file = type === "file" ? fieldOf(part, "file") : undefined;
    if (isRecord(file)) checkFileData(file, ["file_data", "file_id"], at(partPath, "file"), report);
  }
}
