import { parseDurationMs } from '../../shared/duration.ts';
import { decodeMcp, type DumpMcp } from './decode-dump-mcp.ts';
import { policyNamesOf } from './decode-dump-route.ts';
import { asArray, asNumber, asObject, asText, isObject, variantOf, type JsonObject } from './lenient.ts';

export interface DumpBackend {
  /** `host`, `ai`, `mcp`, `dynamic`, `service`, … */
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** Where it leads, when that is one text. */
  readonly target: string;
  readonly policies: readonly string[];
  readonly endpoints: readonly DumpEndpoint[];
  /** Of MCP servers. */
  readonly mcp: DumpMcp | undefined;
}

/** What became of the calls of something. */
export interface DumpNumbers {
  /** 0..1 */
  readonly health: number | undefined;
  readonly requests: number;
  readonly latencyMs: number;
  readonly pending: number;
  readonly failures: number;
  readonly ejections: number;
  readonly lastError: string | undefined;
  /** Of language models. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Dollars */
  readonly cost: number;
}

export interface DumpEndpoint extends DumpNumbers {
  /** Key of the endpoint as the dump spells it. */
  readonly id: string;
  /** Names to fall back to when the key is empty. */
  readonly names: readonly string[];
  /** Priority group, 0 first. */
  readonly priority: number;
  readonly evicted: boolean;
  /** Milliseconds until the endpoint comes back; undefined when it is not evicted or the server does not say. */
  readonly evictedForMs: number | undefined;
  /** Set for services of language models. */
  readonly model: DumpModelService | undefined;
}

/** What a service of language models is. */
export interface DumpModelService {
  /** `openAI`, `anthropic`, …; for a custom one its identity. */
  readonly provider: string;
  /** The model that it is asked for, whatever requests name. */
  readonly pinned: string | undefined;
  /** Of a target of a virtual model: name of the backend of the model, whose calls these are too. */
  readonly standsFor: string | undefined;
}

export function decodeBackend(value: unknown): DumpBackend[] {
  const outer = asObject(value);
  const variant = variantOf(outer['backend'] ?? value);
  if (variant === undefined) return [];
  const inner = asObject(variant.value);
  const target = inner['target'];
  const groups =
    asObject(target)['providers'] ?? inner['endpoints'] ?? asObject(target)['endpoints'] ?? outer['endpoints'];
  return [
    {
      kind: variant.kind,
      name: asText(inner['name']) ?? asText(outer['name']) ?? '',
      namespace: asText(inner['namespace']) ?? asText(outer['namespace']) ?? '',
      target: asText(target) ?? asText(asObject(target)['host']) ?? '',
      policies: policyNamesOf(outer['inlinePolicies'] ?? []),
      endpoints: variant.kind === 'mcp' ? serversOf(target) : endpointsOf(groups),
      mcp: variant.kind === 'mcp' ? decodeMcp(target) : undefined,
    },
  ];
}

export function decodeService(value: unknown): DumpBackend[] {
  if (!isObject(value)) return [];
  return [
    {
      kind: 'service',
      name: asText(value['name']) ?? asText(value['hostname']) ?? '',
      namespace: asText(value['namespace']) ?? '',
      target: asText(value['hostname']) ?? '',
      policies: [],
      endpoints: endpointsOf(value['endpoints']),
      mcp: undefined,
    },
  ];
}

/** Servers of MCP by name; programs have no numbers. */
function serversOf(target: unknown): DumpEndpoint[] {
  return asArray(asObject(target)['targets']).map((server) => {
    const { name, info } = asObject(server);
    const evicted = parseDurationMs(asText(asObject(info)['evictedUntil']) ?? '') !== undefined;
    return decodeEndpoint(asText(name) ?? '', { info }, { priority: 0, evicted });
  });
}

/** One `{active, rejected}` pair for each priority group. */
function endpointsOf(value: unknown): DumpEndpoint[] {
  const groups = Array.isArray(value) ? value : [value];
  return groups.flatMap((group, priority) => {
    const { active, rejected } = asObject(group);
    return [
      ...entriesOf(active).map(([id, item]) => decodeEndpoint(id, item, { priority, evicted: false })),
      ...entriesOf(rejected).map(([id, item]) => decodeEndpoint(id, item, { priority, evicted: true })),
    ];
  });
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (Array.isArray(value)) return asArray(value).map((item) => ['', item]);
  return Object.entries(asObject(value));
}

function decodeEndpoint(id: string, value: unknown, place: { priority: number; evicted: boolean }): DumpEndpoint {
  const outer = asObject(value);
  const endpoint = asObject(outer['endpoint']);
  const info = asObject(outer['info']);
  return {
    id,
    names: [endpoint['name'], endpoint['workloadUid']].flatMap((name) => asText(name) || []),
    priority: place.priority,
    evicted: place.evicted,
    evictedForMs: parseDurationMs(asText(info['evictedUntil']) ?? ''),
    ...decodeNumbers(info),
    model: modelService(endpoint),
  };
}

/** Reads an `info`. */
export function decodeNumbers(info: JsonObject): DumpNumbers {
  const number = (...keys: readonly string[]): number => firstNumber(info, keys) ?? 0;
  return {
    health: firstNumber(info, ['health']),
    requests: number('totalRequests', 'total_requests'),
    latencyMs: number('requestLatency', 'request_latency') * 1000,
    pending: number('pendingRequests', 'pending_requests'),
    failures: number('consecutiveFailures', 'consecutive_failures'),
    ejections: number('timesEjected', 'times_ejected'),
    lastError: asText(info['lastError']) ?? asText(info['last_error']),
    inputTokens: number('inputTokens', 'input_tokens'),
    outputTokens: number('outputTokens', 'output_tokens'),
    cost: number('cost'),
  };
}

function modelService(endpoint: JsonObject): DumpModelService | undefined {
  const provider = variantOf(endpoint['provider']);
  if (provider === undefined) return undefined;
  const settings = asObject(provider.value);
  return {
    provider: asText(settings['identity']) ?? provider.kind,
    pinned: asText(settings['model']),
    standsFor: asText(endpoint['standsFor']),
  };
}

function firstNumber(info: JsonObject, keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const found = asNumber(info[key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
