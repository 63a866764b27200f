import { describe, it } from "vitest";
import {
  assistant,
  type ChatCall,
  call,
  calls,
  type Expected,
  expectRule,
  image,
  output,
  text,
  user,
} from "./chat-bench.case.ts";

type MessageRow = [
  fault: string,
  sound: readonly object[],
  wrong: readonly unknown[],
  expected: Expected,
  call?: ChatCall,
];

const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const long = (length: number): string => "x".repeat(length);

const SHAPES: readonly MessageRow[] = [
  [
    "no messages",
    [user()],
    [],
    {
      rule: "listEmpty",
      message:
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      param: "messages",
      code: "empty_array",
    },
  ],
  [
    "a message that is no object",
    [user()],
    ["hi"],
    {
      rule: "typeWrong",
      message: "Invalid type for 'messages[0]': expected an object, but got a string instead.",
      param: "messages[0]",
      code: "invalid_type",
    },
  ],
  [
    "a message without a role",
    [user()],
    [{ content: "hi" }],
    {
      rule: "fieldMissing",
      message: "Missing required parameter: 'messages[0].role'.",
      param: "messages[0].role",
      code: "missing_required_parameter",
    },
  ],
  [
    "an unknown role",
    [{ role: "developer", content: "be kind" }],
    [{ role: "critic", content: "hi" }],
    {
      rule: "valueUnknown",
      message:
        "Invalid value: 'critic'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
      param: "messages[0].role",
      code: "invalid_value",
    },
  ],
  [
    "an unknown field of a message",
    [assistant("hi", { annotations: [], refusal: null, audio: null })],
    [user("hi", { mood: "good" })],
    {
      rule: "fieldUnknown",
      message: "Unknown parameter: 'messages[0].mood'.",
      param: "messages[0].mood",
      code: "unknown_parameter",
    },
  ],
  [
    "calls in a message of the user",
    [user(), calls("a"), output("a")],
    [user("hi", { tool_calls: [call("a")] })],
    {
      rule: "fieldUnknown",
      message: "Unknown parameter: 'messages[0].tool_calls'.",
      param: "messages[0].tool_calls",
      code: "unknown_parameter",
    },
  ],
  [
    "content that is an object",
    [user([text("a")])],
    [user(text("a"))],
    {
      rule: "typeWrong",
      message:
        "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got an object instead.",
      param: "messages[0].content",
      code: "invalid_type",
    },
  ],
  [
    "an empty list of parts",
    [user("")],
    [user([])],
    {
      rule: "listEmpty",
      message:
        "Invalid 'messages[0].content': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      param: "messages[0].content",
      code: "empty_array",
    },
  ],
  [
    "a part without a type",
    [user([text("a")])],
    [user([{ text: "a" }])],
    {
      rule: "fieldMissing",
      message: "Missing required parameter: 'messages[0].content[0].type'.",
      param: "messages[0].content[0].type",
      code: "missing_required_parameter",
    },
  ],
  [
    "a part of another provider",
    [user([image(PNG)])],
    [user([text("a"), { type: "image", source: {} }])],
    {
      rule: "valueUnknown",
      message:
        "Invalid value: 'image'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', and 'file'.",
      param: "messages[0].content[1].type",
      code: "invalid_value",
    },
  ],
  [
    "an image that is only a string",
    [user([image("https://example.com/a.png", { detail: "low" })])],
    [user([{ type: "image_url", image_url: "https://example.com/a.png" }])],
    {
      rule: "typeWrong",
      message:
        "Invalid type for 'messages[0].content[0].image_url': expected an object, but got a string instead.",
      param: "messages[0].content[0].image_url",
      code: "invalid_type",
    },
  ],
  [
    "an unknown detail of an image",
    [user([image(PNG, { detail: "auto" })])],
    [user([image(PNG, { detail: "huge" })])],
    {
      rule: "valueUnknown",
      message: "Invalid value: 'huge'. Supported values are: 'auto', 'low', and 'high'.",
      param: "messages[0].content[0].image_url.detail",
      code: "invalid_value",
    },
  ],
  [
    "an image without a valid URL",
    [user([image("http://example.com")])],
    [user([image("./a.png")])],
    {
      rule: "urlInvalid",
      message:
        "Invalid 'messages[0].content[0].image_url.url'. Expected a valid URL, but got a value with an invalid format.",
      param: "messages[0].content[0].image_url.url",
      code: "invalid_value",
    },
  ],
  [
    "a data URL of another type",
    [user([image(PNG)])],
    [user([image("data:application/pdf;base64,JVBERi0=")])],
    {
      rule: "imageMimeType",
      message: "Invalid MIME type. Only image types are supported.",
      param: null,
      code: "invalid_image_format",
    },
  ],
  [
    "a data URL without image data",
    [user([image(PNG)])],
    [user([image("data:image/png;base64,")])],
    {
      rule: "imageData",
      message: "Invalid base64 image_url.",
      param: "messages[0].content[0].image_url.url",
      code: null,
    },
  ],
  [
    "an image that cannot be decoded",
    [user([image(PNG)])],
    [user([image("data:image/png;base64,AAAA")])],
    {
      rule: "imageUnsupported",
      message:
        "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
      param: null,
      code: "invalid_image_format",
    },
  ],
  [
    "a file without data",
    [
      user([
        { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
      ]),
    ],
    [user([{ type: "file", file: { filename: "a.pdf" } }])],
    {
      rule: "fileSource",
      message: "Invalid 'messages[0].content[0].file'. Provide one of 'file_id' or 'file_data'.",
      param: "messages[0].content[0].file",
      code: "invalid_value",
    },
  ],
  [
    "data of a file that are no data URL",
    [user([{ type: "file", file: { file_data: "data:text/plain;base64,aGk=" } }])],
    [user([{ type: "file", file: { file_data: "JVBERi0=" } }])],
    {
      rule: "chatFileData",
      message:
        "Invalid file data: 'messages[0].content[0].file.file_data'. Expected a base64-encoded data URL with an application/pdf MIME type (e.g. 'data:application/pdf;base64,SGVsbG8sIFdvcmxkIQ=='), but got an invalid base64-encoded value.",
      param: "messages[0].content[0].file.file_data",
      code: "invalid_value",
    },
  ],
  [
    "sound of an unknown format",
    [user([{ type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } }])],
    [user([{ type: "input_audio", input_audio: { data: "UklGRg==", format: "ogg" } }])],
    {
      rule: "valueUnknown",
      message: "Invalid value: 'ogg'. Supported values are: 'wav' and 'mp3'.",
      param: "messages[0].content[0].input_audio.format",
      code: "invalid_value",
    },
  ],
  [
    "a name of a participant with a space",
    [user("hi", { name: "Änn.Lee-2" })],
    [user("hi", { name: "Ann Lee" })],
    {
      rule: "patternMismatch",
      message:
        "Invalid 'messages[0].name': string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'.",
      param: "messages[0].name",
      code: "invalid_value",
    },
  ],
  [
    "an empty list of calls",
    [assistant("hi", { tool_calls: null })],
    [assistant("hi", { tool_calls: [] })],
    {
      rule: "listEmpty",
      message:
        "Invalid 'messages[0].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      param: "messages[0].tool_calls",
      code: "empty_array",
    },
  ],
  [
    "more calls than a message may have",
    [
      calls(...Array.from({ length: 128 }, (_, id) => `c${id}`)),
      ...Array.from({ length: 128 }, (_, id) => output(`c${id}`)),
    ],
    [
      calls(...Array.from({ length: 129 }, (_, id) => `c${id}`)),
      ...Array.from({ length: 129 }, (_, id) => output(`c${id}`)),
    ],
    {
      rule: "listTooLong",
      message:
        "Invalid 'messages[0].tool_calls': array too long. Expected an array with maximum length 128, but got an array with length 129 instead.",
      param: "messages[0].tool_calls",
      code: "array_above_max_length",
    },
  ],
  [
    "a call id of more than 40 characters",
    [calls(long(40)), output(long(40))],
    [calls(long(41)), output(long(41))],
    {
      rule: "stringTooLong",
      message:
        "Invalid 'messages[0].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 41 instead.",
      param: "messages[0].tool_calls[0].id",
      code: "string_above_max_length",
    },
  ],
  [
    "a call without its type",
    [calls("a"), output("a")],
    [
      assistant(null, { tool_calls: [{ id: "a", function: { name: "Read", arguments: "{}" } }] }),
      output("a"),
    ],
    {
      rule: "fieldMissing",
      message: "Missing required parameter: 'messages[0].tool_calls[0].type'.",
      param: "messages[0].tool_calls[0].type",
      code: "missing_required_parameter",
    },
  ],
  [
    "arguments that are an object",
    [calls("a"), output("a")],
    [assistant(null, { tool_calls: [call("a", { arguments: {} })] }), output("a")],
    {
      rule: "typeWrong",
      message:
        "Invalid type for 'messages[0].tool_calls[0].function.arguments': expected a string, but got an object instead.",
      param: "messages[0].tool_calls[0].function.arguments",
      code: "invalid_type",
    },
  ],
  [
    "a function name with a dot",
    [calls("a"), output("a")],
    [assistant(null, { tool_calls: [call("a", { name: "files.read" })] }), output("a")],
    {
      rule: "patternMismatch",
      message:
        "Invalid 'messages[0].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
      param: "messages[0].tool_calls[0].function.name",
      code: "invalid_value",
    },
  ],
  [
    "an index in a call, which only streams have",
    [calls("a"), output("a")],
    [assistant(null, { tool_calls: [{ index: 0, ...call("a") }] }), output("a")],
    {
      rule: "fieldUnknown",
      message: "Unknown parameter: 'messages[0].tool_calls[0].index'.",
      param: "messages[0].tool_calls[0].index",
      code: "unknown_parameter",
    },
  ],
  [
    "a tool message without an id",
    [calls("a"), output("a")],
    [calls("a"), { role: "tool", content: "out" }],
    {
      rule: "fieldMissing",
      message: "Missing required parameter: 'messages[1].tool_call_id'.",
      param: "messages[1].tool_call_id",
      code: "missing_required_parameter",
    },
  ],
  [
    "a message of the developer with null content",
    [{ role: "developer", content: "be kind" }],
    [{ role: "developer", content: null }],
    {
      rule: "typeWrong",
      message:
        "Invalid type for 'messages[0].content': expected one of a string or array of objects, but got null instead.",
      param: "messages[0].content",
      code: "invalid_type",
    },
  ],
];

const CONVERSATIONS: readonly MessageRow[] = [
  [
    "a message of the user without content",
    [user("")],
    [user("a"), user(null)],
    {
      rule: "contentMissing",
      message: "Invalid value for 'content': expected a string, got null.",
      param: "messages.[1].content",
      code: null,
    },
  ],
  [
    "an assistant message with nothing in it",
    [user(), { role: "assistant", refusal: "no" }],
    [user(), { role: "assistant", refusal: null }],
    {
      rule: "contentMissing",
      message: "Invalid value for 'content': expected a string, got null.",
      param: "messages.[1].content",
      code: null,
    },
  ],
  [
    "an image in a tool message",
    [calls("a"), output("a", [text("out")]), user([image()])],
    [calls("a"), output("a", [image()])],
    {
      rule: "imageRole",
      message:
        "Invalid 'messages[1]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.",
      param: "messages[1]",
      code: "invalid_value",
    },
  ],
  [
    "a refusal in a message of the user",
    [user(), assistant([{ type: "refusal", refusal: "no" }])],
    [user([{ type: "refusal", refusal: "no" }])],
    {
      rule: "partRole",
      message:
        "Invalid 'messages[0]'. Content parts of type 'refusal' are not allowed for messages with role 'user'.",
      param: "messages[0]",
      code: "invalid_value",
    },
  ],
  [
    "an image on a model without images",
    [user([text("a")])],
    [user([text("a"), image()])],
    {
      rule: "imageModel",
      message: "Invalid content type. image_url is only supported by certain models.",
      param: "messages.[0].content.[1].type",
      code: null,
    },
    { model: "blind" },
  ],
  [
    "a function message on a reasoning model",
    [user(), assistant("a")],
    [user(), { role: "function", name: "Read", content: "out" }],
    {
      rule: "roleUnsupported",
      message: "Unsupported value: 'messages[1].role' does not support 'function' with this model.",
      param: "messages[1].role",
      code: "unsupported_value",
    },
    { model: "reasoning" },
  ],
  [
    "calls without outputs",
    [user(), calls("a", "b", "c"), output("c"), output("a"), output("b"), user()],
    [user(), calls("a", "b", "c"), output("b"), user(), output("a"), output("c")],
    {
      rule: "toolOutputsMissing",
      message:
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a, c",
      param: "messages.[3].role",
      code: null,
    },
  ],
  [
    "calls at the end of the conversation",
    [user(), calls("a"), output("a")],
    [user(), calls("a")],
    {
      rule: "toolOutputsMissing",
      message:
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a",
      param: "messages.[1].role",
      code: null,
    },
  ],
  [
    "an output without a call",
    [user(), calls("a"), output("a"), assistant("done")],
    [user(), assistant("done"), output("a")],
    {
      rule: "toolOutputOrphan",
      message:
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      param: "messages.[2].role",
      code: null,
    },
  ],
  [
    "an output of a call in an earlier turn",
    [calls("a"), output("a"), calls("b"), output("b")],
    [calls("a"), output("a"), calls("b"), output("a")],
    {
      rule: "toolOutputUnknown",
      message: "Invalid parameter: 'tool_call_id' of 'a' not found in 'tool_calls' of previous message.",
      param: "messages.[3].tool_call_id",
      code: null,
    },
  ],
  [
    "two outputs of one call",
    [calls("a"), output("a")],
    [calls("a"), output("a"), output("a")],
    {
      rule: "toolOutputRepeated",
      message:
        "Invalid parameter: Duplicate value for 'tool_call_id' of 'a', in messages[1] and messages[2].",
      param: "messages.[2].tool_call_id",
      code: null,
    },
  ],
];

describe("rules of chat completions for the shape of messages", () => {
  it.each(SHAPES)(
    "a request is refused for %s, but not for its sound neighbor",
    (fault, sound, wrong, ...more) => expectRule([fault, { messages: sound }, { messages: wrong }, ...more]),
  );
});

describe("rules of chat completions for a conversation", () => {
  it.each(CONVERSATIONS)(
    "a request is refused for %s, but not for its sound neighbor",
    (fault, sound, wrong, ...more) => expectRule([fault, { messages: sound }, { messages: wrong }, ...more]),
  );
});
