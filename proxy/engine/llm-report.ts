/** The end of a call of a language model: how fast it was, what it cost, who is told. */
import { decimalText, dollars } from '../../src/shared/dollars.ts';
import { estimateUsage } from '../llm/usage/estimate.ts';
import type { Priced } from '../llm/cost/price-list.ts';
import type { CatalogStatus, LlmCost, LlmFacts } from '../exchange/llm-facts.ts';
import type { GenAiSeries, LookupStatus } from '../telemetry/gen-ai-series.ts';
import type { InFlight } from './in-flight.ts';

const LOOKUPS: Readonly<Record<CatalogStatus, LookupStatus>> = {
  exact: 'Exact',
  unpriced: 'Unpriced',
  missing: 'Missing',
  noCatalog: 'NoCatalog',
};

/** More than any call has. */
const MAX_TOKENS = 1e12;

/** Completes what is known of the call, before anybody reads it for the last time. */
export function settleLlm(flight: InFlight): void {
  const { llm, exchange } = flight;
  if (llm === null) return;
  const { facts } = llm;
  if (succeeded(flight)) {
    facts.answered = true;
    estimateUsage(facts, () => llm.promptBytes);
    measure(flight, facts);
    const priced = facts.usage === null ? null : flight.engine.prices.price(facts);
    if (facts.usage !== null) spent(flight, facts);
    if (priced !== null && exchange.trace !== null) trace(flight, facts, priced);
    const series = flight.backend?.model(facts.provider, facts.requestModel, facts.responseModel ?? '');
    if (series !== undefined) count(flight, facts, { series, priced });
  }
  facts.settled();
}

/** What a service tells may be anything. */
function counted(tokens: number | null | undefined): number {
  return Number.isFinite(tokens) ? Math.min(Math.max(0, Math.floor(tokens ?? 0)), MAX_TOKENS) : 0;
}

function spent(flight: InFlight, { inputTokens, usage, cost }: LlmFacts): void {
  flight.spent({
    inputTokens: counted(inputTokens),
    outputTokens: counted(usage?.outputTokens),
    cost: cost?.total ?? 0n,
  });
}

function succeeded({ exchange, response, tunnelStatus }: InFlight): boolean {
  if (tunnelStatus === 101) return true;
  return exchange.answeredByUpstream && response !== null && response.status >= 200 && response.status < 300;
}

/** An answer that is no stream begins when it is handed to the transport, and has no pace. */
function measure({ exchange, respondedAt, tunnelStatus }: InFlight, facts: LlmFacts): void {
  const { pace, usage } = facts;
  const output = usage?.outputTokens ?? 0;
  if (!facts.streaming) {
    if (respondedAt !== null && tunnelStatus === null && output > 0)
      facts.timeToFirstTokenMs ??= respondedAt - exchange.startedAt;
    return;
  }
  const { firstTextAt, lastAt } = pace;
  if (firstTextAt === null || lastAt === null) return;
  facts.timeToFirstTokenMs = firstTextAt - exchange.startedAt;
  if (output > 1) facts.timePerOutputTokenMs = (lastAt - firstTextAt) / (output - 1);
}

function count(
  { exchange }: InFlight,
  facts: LlmFacts,
  { series, priced }: { readonly series: GenAiSeries; readonly priced: Priced | null },
): void {
  const { usage, cost, timeToFirstTokenMs, timePerOutputTokenMs } = facts;
  series.answered((performance.now() - exchange.startedAt) / 1000);
  if (timeToFirstTokenMs !== null) series.firstToken(timeToFirstTokenMs / 1000);
  if (timePerOutputTokenMs !== null) series.perToken(timePerOutputTokenMs / 1000);
  if (usage === null || priced === null) return;
  if (facts.inputTokens !== null) series.tokens('input', facts.inputTokens);
  if (usage.outputTokens !== undefined) series.tokens('output', usage.outputTokens);
  if (usage.cachedInputTokens !== undefined) series.tokens('input_cache_read', usage.cachedInputTokens);
  if (usage.cacheCreationInputTokens !== undefined) series.tokens('input_cache_write', usage.cacheCreationInputTokens);
  series.looked(LOOKUPS[priced.status]);
  if (cost !== null) series.cost(dollars(cost.total));
}

function trace({ exchange }: InFlight, facts: LlmFacts, priced: Priced): void {
  const { status } = priced;
  const details = {
    provider: facts.provider,
    ...(facts.estimated ? { estimated: true } : {}),
    model: priced.model ?? facts.responseModel ?? facts.requestModel,
    status,
    ...(status === 'exact' ? {} : { reason: reasonOf(facts, status) }),
    ...(priced.model === null ? {} : found(facts, priced)),
    ...(facts.cost === null || facts.costRates === null
      ? {}
      : {
          pricesCacheRead: facts.costRates.cacheRead !== undefined,
          pricesCacheWrite: facts.costRates.cacheWrite !== undefined,
          rates: facts.costRates,
          cost: shown(facts.cost),
        }),
  };
  // Who has no prices misses none.
  const severity = status === 'exact' || status === 'noCatalog' ? 'info' : 'warn';
  exchange.trace?.emit({ type: 'policyEvent', kind: 'llm_cost', details }, severity);
}

function found(facts: LlmFacts, { contextTokens }: Priced): Record<string, unknown> {
  const { usage } = facts;
  return {
    cacheTokenConvention: facts.excludesCache ? 'excludes' : 'includes',
    contextTokens,
    usage: {
      inputTokens: facts.inputTokens,
      cachedInputTokens: usage?.cachedInputTokens,
      cacheCreationInputTokens: usage?.cacheCreationInputTokens,
      inputAudioTokens: usage?.inputAudioTokens,
      outputTokens: usage?.outputTokens,
      reasoningTokens: usage?.reasoningTokens,
      outputAudioTokens: usage?.outputAudioTokens,
    },
  };
}

function reasonOf({ provider, responseModel, requestModel }: LlmFacts, status: CatalogStatus): string {
  switch (status) {
    case 'noCatalog':
      return 'there is no catalogue of prices (config.modelCatalog)';
    case 'unpriced':
      return 'the catalogue has the model without rates';
    default:
      return `the catalogue has no ${[...new Set([responseModel ?? requestModel, requestModel])].join(' or ')} of ${provider}`;
  }
}

function shown(cost: LlmCost): Record<string, string> {
  return Object.fromEntries(Object.entries(cost).map(([part, amount]) => [part, decimalText(amount)]));
}
