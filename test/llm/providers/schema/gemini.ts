import {
  anyObject,
  anything,
  between,
  bool,
  check,
  either,
  fields,
  integer,
  list,
  mapOf,
  number,
  oneOf,
  type Schema,
  text,
} from './build.ts';

// Written after the reference of the Gemini API (generateContent, countTokens) and the types of `@google/genai`.

/** Google's APIs take field names in both spellings. */
function both(schema: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { ...Object.fromEntries(Object.entries(schema).map(([name, value]) => [snake(name), value])), ...schema };
}

const typeNames = ['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'];
const ref: Schema = { $ref: '#/$defs/schema' };
const wholeNumber = either(integer, { type: 'string', pattern: '^\\d+$' });
const schema = fields(
  {},
  both({
    type: oneOf(...typeNames, ...typeNames.map((name) => name.toLowerCase())),
    format: text,
    title: text,
    description: text,
    nullable: bool,
    enum: list(text),
    maxItems: wholeNumber,
    minItems: wholeNumber,
    properties: mapOf(ref),
    required: list(text),
    minProperties: wholeNumber,
    maxProperties: wholeNumber,
    minLength: wholeNumber,
    maxLength: wholeNumber,
    pattern: text,
    example: anything,
    anyOf: list(ref),
    propertyOrdering: list(text),
    default: anything,
    items: ref,
    minimum: number,
    maximum: number,
  }),
);
const part = {
  ...fields(
    {},
    both({
      text,
      thought: bool,
      thoughtSignature: text,
      inlineData: fields({}, both({ mimeType: text, data: text, displayName: text })),
      fileData: fields({}, both({ mimeType: text, fileUri: text, displayName: text })),
      functionCall: fields({}, { id: text, name: text, args: anyObject }),
      functionResponse: fields(
        {},
        both({
          id: text,
          name: { type: 'string', minLength: 1 },
          response: anyObject,
          willContinue: bool,
          scheduling: text,
          parts: list(anyObject),
        }),
      ),
      executableCode: anyObject,
      codeExecutionResult: anyObject,
      videoMetadata: anyObject,
      mediaResolution: anything,
    }),
  ),
  minProperties: 1,
};
const content = fields({ parts: list(part, { minItems: 1 }) }, { role: oneOf('user', 'model', 'function') });
const system = fields({ parts: list(part, { minItems: 1 }) }, { role: text });
const declaration = fields(
  { name: { type: 'string', pattern: '^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$' } },
  both({
    description: text,
    parameters: ref,
    parametersJsonSchema: anything,
    response: ref,
    responseJsonSchema: anything,
    behavior: text,
  }),
);
const generationConfig = fields(
  {},
  both({
    stopSequences: list(text, { maxItems: 5 }),
    responseMimeType: text,
    responseSchema: ref,
    responseJsonSchema: anything,
    responseModalities: list(text),
    candidateCount: { type: 'integer', minimum: 1, maximum: 8 },
    maxOutputTokens: { type: 'integer', minimum: 1 },
    temperature: between(0, 2),
    topP: between(0, 1),
    topK: number,
    seed: integer,
    presencePenalty: between(-2, 2),
    frequencyPenalty: between(-2, 2),
    responseLogprobs: bool,
    logprobs: integer,
    speechConfig: anyObject,
    imageConfig: anyObject,
    mediaResolution: text,
    thinkingConfig: fields(
      {},
      both({
        includeThoughts: bool,
        thinkingBudget: integer,
        thinkingLevel: oneOf('minimal', 'low', 'medium', 'high', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH'),
      }),
    ),
  }),
);
const asking = both({
  tools: list(
    fields(
      {},
      both({
        functionDeclarations: list(declaration, { minItems: 1 }),
        googleSearch: anyObject,
        codeExecution: anyObject,
        urlContext: anyObject,
      }),
    ),
  ),
  toolConfig: fields(
    {},
    both({
      functionCallingConfig: fields(
        {},
        both({ mode: oneOf('AUTO', 'ANY', 'NONE', 'VALIDATED'), allowedFunctionNames: list(text) }),
      ),
      retrievalConfig: anyObject,
    }),
  ),
  safetySettings: list(fields({ category: text, threshold: text })),
  systemInstruction: system,
  generationConfig,
  cachedContent: text,
  labels: mapOf(text),
});

const contents = { contents: list(content, { minItems: 1 }) };
export const generateCheck = check(fields(contents, asking), { schema });
export const geminiCountCheck = check(
  fields({}, { ...contents, ...both({ generateContentRequest: fields(contents, { ...asking, model: text }) }) }),
  { schema },
);
