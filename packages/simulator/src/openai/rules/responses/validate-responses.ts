import type { OpenAiRequest, OpenAiSwitches } from "../../request.ts";

/** Throws an `ApiRefusal` for a request that the Responses API would refuse because of its body. */
export function validateResponses(_request: OpenAiRequest, _switches: OpenAiSwitches): void {}
