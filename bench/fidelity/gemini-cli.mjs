import { CompressionStatus } from "@google/gemini-cli-core";
import { ChatCompressionService } from "@google/gemini-cli-core/dist/src/context/chatCompressionService.js";
import { versionOf } from "../peers/version.mjs";
import { mediaOf, resultText, withSeparateResults } from "./block-text.ts";
import { peerPolicy } from "./peer-policy.ts";

const MODEL = "gemini-2.5-pro";

export const policies = [
  () => {
    const service = new ChatCompressionService();
    // The client remembers a failure, and then only truncates.
    let hasFailed = false;
    return peerPolicy({
      name: "gemini-cli compression",
      version: versionOf("@google/gemini-cli-core"),
      description:
        "ChatCompressionService with its defaults: keeps the last 30%, verifies with a second call",
      shorten: async ({ messages, tokens, writer }) => {
        const sources = new Map();
        const history = contentsOf(messages, sources);
        const chat = { getHistory: () => history, getLastPromptTokenCount: () => tokens };
        const config = configWith(writer);
        const { newHistory, info } = await service.compress(chat, "p", false, MODEL, config, hasFailed);
        hasFailed ||= info.compressionStatus === CompressionStatus.COMPRESSION_FAILED_INFLATED_TOKEN_COUNT;
        return newHistory?.flatMap(({ role, parts }) =>
          parts.flatMap((part) => piecesOf(part, role, sources)),
        );
      },
    });
  },
];

/** The parts of gemini-cli's configuration that a compression reads. */
function configWith(writer) {
  const config = {
    // The evaluation decides when a compression is due.
    getCompressionThreshold: async () => 0,
    getBaseLlmClient: () => ({ generateContent: (request) => generateContent(request, writer) }),
    getActiveModel: () => MODEL,
    getApprovedPlanPath: () => undefined,
    getContentGenerator: () => ({ countTokens: async () => ({}) }),
    getContentGeneratorConfig: () => undefined,
    getExperiments: () => undefined,
    getHookSystem: () => undefined,
    getIncludeDirectoryTree: () => false,
    getNextCompressionTruncationId: () => 1,
    getSessionId: () => "session",
    getSessionMemory: () => "",
    getTruncateToolOutputThreshold: () => 40_000,
    getUsageStatisticsEnabled: () => false,
    isInteractive: () => false,
    storage: { getProjectTempDir: () => "/nowhere" },
  };
  return Object.assign(config, { config });
}

/** Answers a request. The second request asks to verify the first answer, and gets the same answer. */
async function generateContent({ contents, systemInstruction, promptId }, writer) {
  const prompt = contents.map(({ parts }) => parts.map(promptText).join("\n")).join("\n\n");
  const [answer] = promptId.endsWith("-verify") ? (contents.at(-2)?.parts ?? []) : [];
  const text =
    answer === undefined
      ? writer.answer(prompt, systemInstruction.text)
      : writer.charge(prompt, answer.text, systemInstruction.text);
  return { candidates: [{ content: { role: "model", parts: [{ text }] } }] };
}

function promptText({ text, functionCall, functionResponse }) {
  if (functionCall !== undefined) return `${functionCall.name} ${JSON.stringify(functionCall.args)}`;
  if (functionResponse !== undefined) return Object.values(functionResponse.response).join("\n");
  return text ?? "";
}

/** Converts messages to gemini-cli's. Results and other parts of a user are separate messages there. */
function contentsOf(messages, sources) {
  const names = new Map();
  return messages.flatMap(withSeparateResults).map(({ role, parts }) => {
    for (const { block } of parts) if (block.type === "tool_use") names.set(block.id, block.name);
    const convert = (source) => {
      const part = partOf(source.block, names);
      sources.set(part, source);
      if (part.functionResponse !== undefined) sources.set(part.functionResponse.id, source);
      return part;
    };
    return { role: role === "assistant" ? "model" : "user", parts: parts.map(convert) };
  });
}

function partOf(block, names) {
  if (block.type === "text") return { text: block.text };
  if (block.type === "tool_use") {
    return { functionCall: { id: block.id, name: block.name, args: block.input } };
  }
  if (block.type === "tool_result") {
    const id = block.tool_use_id;
    const text = resultText(block);
    const response = block.is_error === true ? { error: text } : { output: text };
    return { functionResponse: { id, name: names.get(id) ?? "unknown", response } };
  }
  const media = mediaOf(block);
  if (media !== undefined) return { inlineData: { mimeType: media.mediaType, data: media.data } };
  return { text: block.type === "thinking" ? block.thinking : "", thought: true };
}

function piecesOf(part, role, sources) {
  const source = sources.get(part);
  if (source !== undefined) return [{ part: source }];
  const { functionResponse, text } = part;
  if (functionResponse === undefined) {
    return [{ summary: text, role: role === "model" ? "assistant" : "user" }];
  }
  const shortened = sources.get(functionResponse.id);
  return [
    { part: shortened, changed: { ...shortened.block, content: String(functionResponse.response.output) } },
  ];
}
