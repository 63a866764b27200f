import type { OpenAiRequest, OpenAiSwitches } from "../request.ts";

/** Throws an `ApiRefusal` for a request that OpenAI's API would refuse because of its body. */
export function validate(_request: OpenAiRequest, _switches: OpenAiSwitches): void {}
