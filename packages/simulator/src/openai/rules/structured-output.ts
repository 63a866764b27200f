/** Models from before structured outputs, which gpt-4o-2024-08-06 was the first to have. */
const WITHOUT_SCHEMAS = /^gpt-(?:3\.5|4(?:-|$)|4o-2024-05-13$)/;

/** True for a model that writes answers by a JSON schema. Source: the guide on structured outputs. */
export const hasStructuredOutput = (model: string): boolean => !WITHOUT_SCHEMAS.test(model);
