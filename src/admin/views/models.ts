import type { Dump, DumpEndpoint, DumpModel, DumpNumbers } from '../protocol/decode-config-dump.ts';

/** One model and how it has been doing. The JSON form of `config models` is a list of these. */
export interface ModelRow {
  readonly name: string;
  /** Who serves it; for a virtual model how it chooses. */
  readonly provider: string;
  readonly virtual: boolean;
  readonly visibility: string;
  /** What the provider is asked for instead of the name, or the models that a virtual one leads to. */
  readonly leadsTo: readonly string[];
  /** 0..1, of the healthiest service that takes requests, or of what a virtual model passed on; null when nothing is known. */
  readonly health: number | null;
  /** Services that take requests, and all of them. */
  readonly available: number;
  readonly services: number;
  /** Calls of providers; those of a virtual model are also its targets'. Null when nothing is known, as the other numbers. */
  readonly requests: number | null;
  readonly pending: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Dollars */
  readonly cost: number | null;
  /** Moving average of the time to the end of an answer, milliseconds. */
  readonly latencyMs: number | null;
  readonly lastError: string | null;
  /** Keys of the listeners that offer it. */
  readonly listeners: readonly string[];
}

/** Every model of the dump once, in its order: those first that requests find first. */
export function modelRows(dump: Dump): readonly ModelRow[] {
  const byKey = Map.groupBy(dump.models, ({ key }) => key);
  return [...byKey.values()].flatMap(([model, ...others]) =>
    model === undefined
      ? []
      : [
          rowOf(
            dump,
            model,
            [model, ...others].map(({ listener }) => listener),
          ),
        ],
  );
}

function rowOf(dump: Dump, model: DumpModel, listeners: readonly string[]): ModelRow {
  const { name, visibility, routing, targets, backend, passedOn } = model;
  const endpoints = dump.backends.find((each) => each.name === backend)?.endpoints ?? [];
  const counted = passedOn === undefined ? [...endpoints, ...standingFor(dump, backend)] : [passedOn];
  const [first] = endpoints;
  const pinned = first?.model?.pinned;
  return {
    name,
    provider: routing ?? first?.model?.provider ?? '',
    virtual: routing !== undefined,
    visibility,
    leadsTo: routing === undefined ? (pinned === undefined ? [] : [pinned]) : targets,
    ...healthOf(endpoints, passedOn),
    ...(counted.length === 0 ? nothing : numbersOf(counted)),
    lastError: [...endpoints, passedOn].findLast((each) => each?.lastError !== undefined)?.lastError ?? null,
    listeners,
  };
}

/** Targets of virtual models that fail over, whose calls are those of a model too. */
function standingFor({ backends }: Dump, backend: string | undefined): readonly DumpEndpoint[] {
  if (backend === undefined) return [];
  return backends.flatMap(({ endpoints }) => endpoints.filter(({ model }) => model?.standsFor === backend));
}

function healthOf(
  endpoints: readonly DumpEndpoint[],
  passedOn: DumpNumbers | undefined,
): Pick<ModelRow, 'health' | 'available' | 'services'> {
  const active = endpoints.filter(({ evicted }) => !evicted);
  const known = [...active, passedOn].flatMap((each) => each?.health ?? []);
  return {
    health: known.length > 0 ? Math.max(...known) : null,
    available: active.length,
    services: endpoints.length,
  };
}

type Numbers = Pick<ModelRow, 'requests' | 'pending' | 'inputTokens' | 'outputTokens' | 'cost' | 'latencyMs'>;

const nothing: Numbers = {
  requests: null,
  pending: null,
  inputTokens: null,
  outputTokens: null,
  cost: null,
  latencyMs: null,
};

/** The latency is that of those that were called, by the number of their calls. */
function numbersOf(endpoints: readonly DumpNumbers[]): Numbers {
  const sum = (read: (endpoint: DumpNumbers) => number): number =>
    endpoints.reduce((total, endpoint) => total + read(endpoint), 0);
  const requests = sum((endpoint) => endpoint.requests);
  const timed = endpoints.filter(({ latencyMs }) => latencyMs > 0);
  const calls = timed.reduce((total, endpoint) => total + endpoint.requests, 0);
  const latency = timed.reduce((total, endpoint) => total + endpoint.latencyMs * endpoint.requests, 0);
  return {
    requests,
    pending: sum((endpoint) => endpoint.pending),
    inputTokens: sum((endpoint) => endpoint.inputTokens),
    outputTokens: sum((endpoint) => endpoint.outputTokens),
    // Sums of decimal texts keep no more digits than these.
    cost: Math.round(sum((endpoint) => endpoint.cost) * 1e12) / 1e12,
    latencyMs: calls === 0 ? null : Math.round((latency / calls) * 1000) / 1000,
  };
}
