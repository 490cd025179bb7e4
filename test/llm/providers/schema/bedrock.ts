import {
  anyObject,
  anything,
  between,
  bool,
  check,
  fields,
  filled,
  list,
  mapOf,
  oneOf,
  onlyOne,
  text,
} from './build.ts';

// Written after the types of the `@aws-sdk/client-bedrock-runtime` package (ConverseRequest and what is in it).

const blob = filled;
const cachePoint = fields({ type: oneOf('default') }, { ttl: oneOf('5m', '1h') });
const image = fields({
  format: oneOf('png', 'jpeg', 'gif', 'webp'),
  source: onlyOne({ bytes: blob, s3Location: anyObject }),
});
const document = fields(
  {
    name: { type: 'string', pattern: '^(?!.*\\s{2})[A-Za-z0-9 ()\\[\\]-]{1,200}$' },
    source: onlyOne({ bytes: blob, s3Location: anyObject, text, content: anything }),
  },
  {
    format: oneOf('pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'),
    context: text,
    citations: anyObject,
  },
);
const toolName = { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$' };
const toolId = { type: 'string', pattern: '^[a-zA-Z0-9_.:-]{1,64}$' };
const words = { type: 'string', pattern: '\\S' };
const content = onlyOne({
  text: words,
  image,
  document,
  video: anyObject,
  cachePoint,
  toolUse: fields({ toolUseId: toolId, name: toolName, input: anyObject }, { type: text }),
  toolResult: fields(
    { toolUseId: toolId, content: list(onlyOne({ text, json: anyObject, image, document, video: anyObject })) },
    { status: oneOf('success', 'error'), type: text },
  ),
  guardContent: anyObject,
  reasoningContent: onlyOne({ reasoningText: fields({ text }, { signature: text }), redactedContent: blob }),
});

export const converseCheck = check(
  fields(
    {},
    {
      messages: list(fields({ role: oneOf('user', 'assistant'), content: list(content, { minItems: 1 }) }), {
        minItems: 1,
      }),
      system: list(onlyOne({ text: words, cachePoint, guardContent: anyObject })),
      inferenceConfig: fields(
        {},
        {
          maxTokens: { type: 'integer', minimum: 1 },
          temperature: between(0, 1),
          topP: between(0, 1),
          stopSequences: list(filled, { maxItems: 2500 }),
        },
      ),
      toolConfig: fields(
        {
          tools: list(
            onlyOne({
              toolSpec: fields(
                { name: toolName, inputSchema: fields({ json: anyObject }) },
                { description: filled, strict: bool },
              ),
              cachePoint,
              systemTool: anyObject,
            }),
            { minItems: 1 },
          ),
        },
        { toolChoice: onlyOne({ auto: fields({}), any: fields({}), tool: fields({ name: toolName }) }) },
      ),
      guardrailConfig: fields(
        {},
        {
          guardrailIdentifier: text,
          guardrailVersion: text,
          trace: oneOf('enabled', 'disabled', 'enabled_full'),
          streamProcessingMode: oneOf('sync', 'async'),
        },
      ),
      additionalModelRequestFields: anyObject,
      promptVariables: anyObject,
      additionalModelResponseFieldPaths: list(text),
      requestMetadata: mapOf(text),
      performanceConfig: anyObject,
      serviceTier: anyObject,
      outputConfig: fields(
        {},
        {
          textFormat: fields({
            type: oneOf('json_schema'),
            structure: onlyOne({ jsonSchema: fields({ schema: text }, { name: text, description: text }) }),
          }),
          effort: text,
        },
      ),
    },
  ),
);

export const titanCheck = check(
  fields(
    { inputText: filled },
    { dimensions: oneOf(256, 512, 1024), normalize: bool, embeddingTypes: list(oneOf('float', 'binary')) },
  ),
);
export const cohereEmbedCheck = check(
  fields(
    {
      texts: list(filled, { minItems: 1, maxItems: 96 }),
      input_type: oneOf('search_document', 'search_query', 'classification', 'clustering'),
    },
    {
      truncate: oneOf('NONE', 'START', 'END', 'LEFT', 'RIGHT'),
      embedding_types: list(text),
      output_dimension: { type: 'integer' },
    },
  ),
);
export const novaCheck = check(
  fields({
    taskType: oneOf('SINGLE_EMBEDDING'),
    singleEmbeddingParams: fields(
      { embeddingPurpose: text, text: fields({ truncationMode: oneOf('START', 'END', 'NONE'), value: filled }) },
      { embeddingDimension: oneOf(256, 384, 1024, 3072) },
    ),
  }),
);
export const countTokensCheck = check(
  fields({ input: onlyOne({ invokeModel: fields({ body: filled }), converse: anyObject }) }),
);
export const bedrockRerankCheck = check(
  fields(
    {
      queries: list(fields({ type: oneOf('TEXT'), textQuery: fields({ text: filled }) }), { minItems: 1, maxItems: 1 }),
      sources: list(
        fields({
          type: oneOf('INLINE'),
          inlineDocumentSource: fields(
            { type: oneOf('TEXT', 'JSON') },
            { textDocument: fields({ text: filled }), jsonDocument: anyObject },
          ),
        }),
        { minItems: 1 },
      ),
      rerankingConfiguration: fields({
        type: oneOf('BEDROCK_RERANKING_MODEL'),
        bedrockRerankingConfiguration: fields(
          {
            modelConfiguration: fields(
              { modelArn: { type: 'string', pattern: '^arn:aws' } },
              { additionalModelRequestFields: anyObject },
            ),
          },
          { numberOfResults: { type: 'integer', minimum: 1 } },
        ),
      }),
    },
    { nextToken: text },
  ),
);
