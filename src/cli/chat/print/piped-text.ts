import { fstatSync } from "node:fs";

/** A program that starts us may hold a socket open without ever writing to it; who has something to say has begun by then. */
const FIRST_BYTE_MS = 3_000;

/** What is piped in. With a prompt of its own, nobody waits for ever on a socket that nobody writes to. */
export async function pipedText(stdin: NodeJS.ReadStream, hasPrompt: boolean): Promise<string> {
  if (stdin.isTTY) return "";
  const isPatient = !hasPrompt || !isSocket();
  const chunks: Buffer[] = [];
  const timer = isPatient ? undefined : setTimeout(() => stdin.destroy(), FIRST_BYTE_MS);
  try {
    for await (const chunk of stdin) {
      clearTimeout(timer);
      chunks.push(Buffer.from(chunk as Uint8Array));
    }
  } catch {
    // What has come so far is what there is.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString("utf8").trim();
}

function isSocket(): boolean {
  try {
    return fstatSync(0).isSocket();
  } catch {
    return false;
  }
}
