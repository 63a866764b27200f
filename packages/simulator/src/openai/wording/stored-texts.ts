/** Error texts about calls of the Responses API and about what it stores. */
export const STORED_TEXTS = {
  responseUnknown: {
    status: 404,
    text: "Response with id '{id}' not found.",
    source: "not documented. The form is that of the text for an unknown `previous_response_id`",
  },
  conversationUnknown: {
    verified: true,
    status: 404,
    text: "Conversation with id '{id}' not found.",
    source:
      "captured: github.com/kangminlee-maker/local-OAuth-CLI-API-adapter, docs/conformance-matrix.md 5.5.6",
  },
  conversationItemUnknown: {
    status: 404,
    text: "Item with id '{id}' not found in conversation '{conversation}'.",
    source: "not documented",
  },
  notInBackground: {
    text: "Cannot cancel a synchronous response.",
    source: "not documented. The guide on background mode says that only such responses can be cancelled",
  },
  notCreatedInBackground: {
    text: "This response cannot be streamed because it was not created with background=true.",
    source:
      "guide on background mode: only a response in the background can be resumed. Text of Azure's server: Azure/azure-sdk-for-python, azure-ai-agentserver-responses/CHANGELOG.md",
  },
  notCreatedAsStream: {
    text: "This response cannot be streamed because it was not created with stream=true.",
    source:
      "guide on background mode: only a response that was created with `stream: true` can be resumed. Text: as for notCreatedInBackground",
  },
  inputTooLong: {
    verified: true,
    code: "context_length_exceeded",
    text: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    source:
      "the-open-agent/openagent#2344, anomalyco/opencode#6071 and dyad-sh/dyad#1672, with type, param and code",
  },
  websocketUnsupported: {
    status: 426,
    text: "The simulator has no WebSocket transport. Use HTTP.",
    source: "status of RFC 9110, with which codex 0.169 uses HTTP at once. The real API has the transport",
  },
  compactionFailed: {
    status: 500,
    type: "server_error",
    code: "server_error",
    text: "The server had an error while compacting your input. Sorry about that!",
    source: "not documented",
  },
} as const;
