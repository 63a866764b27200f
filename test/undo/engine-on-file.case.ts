import { join } from "node:path";
import type { Entry } from "@longhaul/core";
import { openTranscript, resumeSession, type TranscriptWriter } from "@longhaul/sessions";
import { afterEach, beforeEach } from "vitest";
import { type Compactor, type CompactorOptions, createCompactor } from "../support/full-compactor.ts";
import { temporaryFolder } from "../transcript/temporary-folder.ts";

/** An engine with a separate session file for each test. */
export class EngineOnFile {
  path = "";
  engine!: Compactor;
  #writer!: TranscriptWriter;
  readonly #options: CompactorOptions;

  constructor(options: CompactorOptions = {}) {
    this.#options = options;
    const folder = temporaryFolder();
    let files = 0;
    beforeEach(async () => {
      this.path = join(folder, `session-${++files}.jsonl`);
      await this.open();
    });
    afterEach(async () => await this.close());
  }

  async open(): Promise<void> {
    this.#writer = await openTranscript(this.path, { lock: async () => async () => undefined });
    this.engine = createCompactor({
      transcript: this.#writer,
      model: "claude-haiku-4-5",
      ...this.#options,
      settings: { environment: {}, ...this.#options.settings },
    });
  }

  async close(): Promise<void> {
    await this.engine.close();
    await this.#writer.close();
  }

  /** Returns the conversation in a new process that has only the file. */
  async resumed(): Promise<readonly Entry[]> {
    await this.close();
    const { conversation } = await resumeSession(this.path);
    await this.open();
    return conversation;
  }
}
