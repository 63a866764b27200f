import type { AppendFile, AppendFileState } from "../../packages/sessions/src/transcript/writer.ts";

/** A disk in memory that fails on request. */
export class FaultyFile implements AppendFile {
  content: Buffer = Buffer.alloc(0);
  synced: Buffer = Buffer.alloc(0);
  writes = 0;
  syncs = 0;
  room: number = Number.POSITIVE_INFINITY;
  mostPerWrite: number = Number.POSITIVE_INFINITY;
  syncFails = false;
  truncateFails = false;
  isLinked = true;
  onWrite: () => void = () => {};

  async state(): Promise<AppendFileState> {
    const endsWithNewline = this.content.length === 0 || this.content.at(-1) === 0x0a;
    return { bytes: this.content.length, endsWithNewline, isLinked: this.isLinked };
  }
  async write(bytes: Uint8Array): Promise<number> {
    this.writes++;
    this.onWrite();
    const count = Math.min(bytes.length, this.mostPerWrite, this.room - this.content.length);
    if (count <= 0) throw systemError("ENOSPC");
    this.content = Buffer.concat([this.content, bytes.subarray(0, count)]);
    return count;
  }
  async datasync(): Promise<void> {
    this.syncs++;
    if (this.syncFails) throw systemError("EIO");
    this.synced = this.content;
  }
  async truncate(bytes: number): Promise<void> {
    if (this.truncateFails) throw systemError("EIO");
    this.content = this.content.subarray(0, bytes);
  }
  async close(): Promise<void> {}
}

export const systemError = (code: string): Error =>
  Object.assign(new Error(`${code}: played`), { code, syscall: "write" });
