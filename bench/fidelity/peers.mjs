// Policies of all libraries. A library that cannot be loaded is reported as missing.
const FILES = [
  "langchain-summarization",
  "langchain-clearing",
  "ai-sdk",
  "mastra",
  "pi",
  "cline",
  "gemini-cli",
];

/** Returns functions that create the policies, and the files that could not be loaded. */
export async function loadPeers(files = FILES) {
  const create = [];
  const missing = [];
  for (const file of files) {
    try {
      create.push(...(await import(`./${file}.mjs`)).policies);
    } catch (error) {
      if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
      missing.push({ file, reason: error.message.split(" imported from ", 1)[0] });
    }
  }
  return { create, missing };
}
