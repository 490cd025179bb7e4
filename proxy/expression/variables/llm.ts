import type { Variable } from '../../../src/cel/compile/host.ts';
import { RecordMap } from '../../../src/cel/value/map.ts';
import { uint } from '../../../src/cel/value/number.ts';
import { durationOfMs } from '../../../src/cel/value/time.ts';
import { Double, type Value } from '../../../src/cel/value/value.ts';
import { type RateName, rateNames } from '../../../src/config/ir/model-catalog.ts';
import { dollars } from '../../../src/shared/dollars.ts';
import type { LlmFacts, LlmParams } from '../../exchange/llm-facts.ts';
import type { LlmUsage } from '../../exchange/llm-usage.ts';
import type { EvalContext } from '../contract.ts';
import { view, type Reader } from './view.ts';

/** `llm`: a call of a language model, as far as it is known by now. */
export const llmVariable: Variable<EvalContext> = view(
  {
    streaming: of(({ streaming }) => streaming),
    requestModel: of(({ requestModel }) => (requestModel === '' ? undefined : requestModel)),
    responseModel: of(({ responseModel }) => responseModel ?? undefined),
    provider: of(({ provider }) => (provider === '' ? undefined : provider)),
    inputTokens: of(({ inputTokens }) => count(inputTokens)),
    providerInputTokens: used('inputTokens'),
    inputImageTokens: used('inputImageTokens'),
    inputTextTokens: used('inputTextTokens'),
    inputAudioTokens: used('inputAudioTokens'),
    cachedInputTokens: used('cachedInputTokens'),
    cacheCreationInputTokens: used('cacheCreationInputTokens'),
    outputTokens: used('outputTokens'),
    outputImageTokens: used('outputImageTokens'),
    outputTextTokens: used('outputTextTokens'),
    outputAudioTokens: used('outputAudioTokens'),
    reasoningTokens: used('reasoningTokens'),
    totalTokens: of(({ totalTokens }) => count(totalTokens)),
    providerTotalTokens: used('totalTokens'),
    serviceTier: of(({ usage }) => usage?.serviceTier),
    timeToFirstToken: of(({ timeToFirstTokenMs }) => duration(timeToFirstTokenMs)),
    timePerOutputToken: of(({ timePerOutputTokenMs }) => duration(timePerOutputTokenMs)),
    countTokens: of(({ countTokens }) => count(countTokens)),
    prompt: of(({ prompt }) => prompt?.map(({ role, content }) => new RecordMap({ role, content }))),
    completion: of(({ said }) => said?.completion),
    toolCalls: of(({ said }) =>
      said?.toolCalls.map(({ id, name, arguments: args }) => new RecordMap({ id, name, arguments: args })),
    ),
    params: of(({ params }) => paramsOf(params)),
    cost: of(({ cost }) => {
      if (cost === null) return undefined;
      const parts = (['total', ...rateNames] as const).map((part) => [part, new Double(dollars(cost[part]))]);
      return new RecordMap(Object.fromEntries(parts));
    }),
    costRates: of(({ costRates }) => (costRates === null ? undefined : ratesOf(costRates))),
  },
  { present: ({ attributes }) => attributes.llm !== null },
);

function of(read: (facts: LlmFacts) => Value | undefined): Reader {
  return ({ attributes: { llm } }) => (llm === null ? undefined : read(llm));
}

function used(field: Exclude<keyof LlmUsage, 'serviceTier'>): Reader {
  return of(({ usage }) => count(usage?.[field]));
}

/** Services may tell what is no count. */
function count(tokens: number | null | undefined): Value | undefined {
  if (tokens === null || tokens === undefined) return undefined;
  return Number.isSafeInteger(tokens) && tokens >= 0 ? uint(tokens) : undefined;
}

function duration(ms: number | null): Value | undefined {
  return ms === null ? undefined : durationOfMs(ms);
}

function paramsOf(params: LlmParams): Value {
  return new RecordMap({
    temperature: double(params.temperature),
    top_p: double(params.topP),
    frequency_penalty: double(params.frequencyPenalty),
    presence_penalty: double(params.presencePenalty),
    seed: whole(params.seed),
    max_tokens: count(params.maxTokens),
    encoding_format: params.encodingFormat,
    dimensions: count(params.dimensions),
  });
}

function double(value: number | undefined): Value | undefined {
  return value === undefined ? undefined : new Double(value);
}

function whole(value: number | undefined): Value | undefined {
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined;
}

function ratesOf(rates: Readonly<Partial<Record<RateName, string | undefined>>>): Value {
  const known = rateNames.flatMap((name) => {
    const rate = rates[name];
    return rate === undefined ? [] : [[name, new Double(Number(rate))] as const];
  });
  return new RecordMap(Object.fromEntries(known));
}
