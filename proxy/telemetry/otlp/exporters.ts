import type { Clock } from '../../exchange/wait.ts';
import type { Logger } from '../../../src/shared/log.ts';
import type { ThreadMetrics } from '../thread-metrics.ts';
import { type Destination, Exporter } from './exporter.ts';
import type { Signal } from './send.ts';

const WHAT: Readonly<Record<Signal, string>> = { traces: 'spans', logs: 'log records' };

export interface ExportersOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ThreadMetrics;
}

/** Where something is exported to; `key` is equal over reloads as long as the receiver is the same. */
export interface ExportPlan {
  readonly key: string;
  readonly signal: Signal;
  readonly destination: Destination;
}

/** The exporters of one data thread. They outlive reloads, so that what waits is sent whatever becomes of its engine. */
export class Exporters {
  readonly #options: ExportersOptions;
  readonly #live = new Map<string, Exporter>();
  /** Of earlier configurations: their last requests still end. */
  readonly #leaving = new Set<Exporter>();

  constructor(options: ExportersOptions) {
    this.#options = options;
  }

  /** A new configuration is live: exporters that it has no use for send what they have. */
  use(plans: readonly ExportPlan[]): ReadonlyMap<ExportPlan, Exporter> {
    const used = new Map(plans.map((plan) => [plan, this.#exporter(plan)]));
    const keys = new Set(plans.map(({ key }) => key));
    for (const exporter of this.#leaving) if (exporter.idle) this.#leaving.delete(exporter);
    for (const [key, exporter] of this.#live) {
      if (keys.has(key)) continue;
      this.#live.delete(key);
      this.#leaving.add(exporter);
      void exporter.flush();
    }
    return used;
  }

  /** Sends everything that waits; what has not gone by then is lost. */
  async flush(withinMs: number): Promise<void> {
    const busy = [...this.#live.values(), ...this.#leaving].filter((exporter) => !exporter.idle);
    if (busy.length === 0) return;
    const limit = Promise.withResolvers<void>();
    const unschedule = this.#options.clock.schedule(limit.resolve, withinMs);
    await Promise.race([Promise.all(busy.map((exporter) => exporter.flush())), limit.promise]);
    unschedule();
  }

  close(): void {
    for (const exporter of [...this.#live.values(), ...this.#leaving]) exporter.close();
    this.#live.clear();
    this.#leaving.clear();
  }

  #exporter({ key, signal, destination }: ExportPlan): Exporter {
    const known = this.#live.get(key);
    if (known !== undefined) {
      known.destination = destination;
      return known;
    }
    const { clock, log, metrics } = this.#options;
    const count = (result: string) => (items: number) =>
      metrics.counter('telemetryExport', [signal, result]).add(items);
    const counts = { sent: count('sent'), dropped: count('dropped') };
    const exporter = new Exporter(destination, {
      what: WHAT[signal],
      clock,
      log: log.scope('otlp'),
      counts,
      random: Math.random,
    });
    this.#live.set(key, exporter);
    return exporter;
  }
}
