import type { OpenAiRequest, OpenAiSwitches } from "../../request.ts";

/** Throws an `ApiRefusal` for a request that chat completions would refuse because of its body. */
export function validateChat(_request: OpenAiRequest, _switches: OpenAiSwitches): void {}
