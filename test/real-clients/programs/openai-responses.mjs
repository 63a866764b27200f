// A loop with tools on Responses of the OpenAI SDK. It streams every second answer. The first prompt sends the
// whole conversation with encrypted reasoning, the second one continues a stored response.
import OpenAI from "openai";
import { MODEL, PROMPTS, runTool, SYSTEM, TOOLS } from "./tools.mjs";

const client = new OpenAI();
const tools = TOOLS.map(({ name, description, schema }) => ({
  type: "function",
  name,
  description,
  parameters: schema,
  strict: false,
}));
let count = 0;

async function answer(call) {
  const request = { model: MODEL, instructions: SYSTEM, tools, ...call };
  count++;
  if (count % 2 === 0) return client.responses.stream(request).finalResponse();
  return client.responses.create(request);
}

/** Removes the fields that the helper adds. They are not in the SDK's types of requests. */
function asInput({ parsed_arguments: _, content, ...item }) {
  if (content === undefined) return item;
  return { ...item, content: content.map(({ parsed: __, ...part }) => part) };
}

const history = [];
let previous;
for (const [index, prompt] of PROMPTS.entries()) {
  let input = [{ role: "user", content: prompt }];
  for (;;) {
    history.push(...input);
    const isStored = index > 0;
    const { id, output, output_text } = await answer(
      isStored && previous !== undefined
        ? { input, previous_response_id: previous }
        : { input: history, store: isStored, include: ["reasoning.encrypted_content"] },
    );
    if (isStored) previous = id;
    history.push(...output.map(asInput));
    if (output_text) console.log(output_text);
    const calls = output.filter(({ type }) => type === "function_call");
    if (calls.length === 0) break;
    input = calls.map(({ call_id, name, arguments: given }) => ({
      type: "function_call_output",
      call_id,
      output: runTool(name, JSON.parse(given)),
    }));
  }
}
