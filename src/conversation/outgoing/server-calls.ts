import type { DraftMessage } from "../check/draft.ts";
import { serverToolResult, serverToolUse } from "../check/server-tools.ts";

/**
 * Calls of tools that the provider runs, in checked messages: where one has no answer, the user has not spoken
 * since. The answer may still come, or the call be dropped because it did not.
 */
export class OpenServerCalls {
  readonly #ids = new Set<string>();

  get areOpen(): boolean {
    return this.#ids.size > 0;
  }

  visit({ role, parts }: DraftMessage): void {
    if (role !== "assistant") return;
    for (const { block } of parts) {
      const use = serverToolUse(block);
      if (use !== undefined) this.#ids.add(use.id);
      else if (this.#ids.size > 0) this.#close(serverToolResult(block)?.tool_use_id);
    }
  }

  #close(id: string | undefined): void {
    if (id !== undefined) this.#ids.delete(id);
  }
}
