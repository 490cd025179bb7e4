import type { TrafficMetric } from './metric-catalog.ts';
import type { ThreadMetrics } from './thread-metrics.ts';

export type TokenType = 'input' | 'output' | 'input_cache_read' | 'input_cache_write';
export type LookupStatus = 'Exact' | 'Unpriced' | 'Missing' | 'NoCatalog';

/** Always this one, whatever was asked for. */
const OPERATION = 'chat';

/** The numbers of one model on one route; kept by the thread, found again by their labels. */
export class GenAiSeries {
  readonly #metrics: Pick<ThreadMetrics, 'counter' | 'histogram'>;
  readonly #labels: readonly string[];

  /** Provider, model asked for, model that answered, and the labels of the route. */
  constructor(metrics: Pick<ThreadMetrics, 'counter' | 'histogram'>, labels: readonly string[]) {
    this.#metrics = metrics;
    this.#labels = [OPERATION, ...labels];
  }

  tokens(type: TokenType, count: number): void {
    this.#observe('genAiTokens', [type, ...this.#labels], count);
  }

  answered(seconds: number): void {
    this.#observe('genAiRequest', this.#labels, seconds);
  }

  firstToken(seconds: number): void {
    this.#observe('genAiFirstToken', this.#labels, seconds);
  }

  perToken(seconds: number): void {
    this.#observe('genAiPerToken', this.#labels, seconds);
  }

  cost(dollars: number): void {
    this.#metrics.counter('genAiCost', this.#labels).add(dollars);
  }

  looked(status: LookupStatus): void {
    this.#metrics.counter('catalogLookups', [status, ...this.#labels]).add(1);
  }

  #observe(metric: TrafficMetric, labels: readonly string[], value: number): void {
    this.#metrics.histogram(metric, labels).observe(value);
  }
}
