import type { TrafficMetric } from './metric-catalog.ts';
import type { Counter, Histogram, ThreadMetrics } from './thread-metrics.ts';

export type TokenType = 'input' | 'output' | 'input_cache_read' | 'input_cache_write';
export type LookupStatus = 'Exact' | 'Unpriced' | 'Missing' | 'NoCatalog';

/** Always this one, whatever was asked for. */
const OPERATION = 'chat';

/**
 * The numbers of one model on one route; kept by the thread, found again by their labels. A series is made when it is first
 * counted, and looked up by all its labels no more than once: that cost a tenth of a chat.
 */
export class GenAiSeries {
  readonly #metrics: Pick<ThreadMetrics, 'counter' | 'histogram'>;
  readonly #labels: readonly string[];
  readonly #tokens = new Map<TokenType, Histogram>();
  readonly #lookups = new Map<LookupStatus, Counter>();
  #requests: Histogram | null = null;
  #firstTokens: Histogram | null = null;
  #paces: Histogram | null = null;
  #costs: Counter | null = null;

  /** Provider, model asked for, model that answered, and the labels of the route. */
  constructor(metrics: Pick<ThreadMetrics, 'counter' | 'histogram'>, labels: readonly string[]) {
    this.#metrics = metrics;
    this.#labels = [OPERATION, ...labels];
  }

  tokens(type: TokenType, count: number): void {
    let series = this.#tokens.get(type);
    if (series === undefined) this.#tokens.set(type, (series = this.#histogram('genAiTokens', type)));
    series.observe(count);
  }

  answered(seconds: number): void {
    (this.#requests ??= this.#histogram('genAiRequest')).observe(seconds);
  }

  firstToken(seconds: number): void {
    (this.#firstTokens ??= this.#histogram('genAiFirstToken')).observe(seconds);
  }

  perToken(seconds: number): void {
    (this.#paces ??= this.#histogram('genAiPerToken')).observe(seconds);
  }

  cost(dollars: number): void {
    (this.#costs ??= this.#metrics.counter('genAiCost', this.#labels)).add(dollars);
  }

  looked(status: LookupStatus): void {
    let series = this.#lookups.get(status);
    if (series === undefined) {
      series = this.#metrics.counter('catalogLookups', [status, ...this.#labels]);
      this.#lookups.set(status, series);
    }
    series.add(1);
  }

  #histogram(metric: TrafficMetric, ...first: readonly string[]): Histogram {
    return this.#metrics.histogram(metric, [...first, ...this.#labels]);
  }
}
