import { openTranscript as open, type TranscriptOptions, type TranscriptWriter } from "@longhaul/sessions";
import { onTestFinished } from "vitest";

/**
 * Opens a transcript and closes it after the test. Without closing, garbage collection would close its file
 * with the warning DEP0137.
 */
export async function openTranscript(path: string, options?: TranscriptOptions): Promise<TranscriptWriter> {
  const writer = await open(path, options);
  onTestFinished(() => writer.close());
  return writer;
}
