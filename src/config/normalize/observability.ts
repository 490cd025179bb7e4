import { Secret } from '../../shared/secret.ts';
import type { AccessLog, FieldChanges, OtlpLog, OtlpReceiver, Tracing } from '../ir/policy/observability.ts';
import type { FrontendSpec } from '../schema/frontend.ts';
import type { ProcessSpec } from '../schema/process.ts';
import type { Context } from './context.ts';
import { Environment } from './environment.ts';
import { connectionPolicies } from './policy.ts';
import { policyService } from './policy/policy-service.ts';
import { parseServiceHost } from './service-host.ts';
import { keyValues } from './telemetry-resource.ts';

const TRACES_PATH = '/v1/traces';

type Sampling = string | boolean | number | undefined;
type ReceiverSpec = NonNullable<FrontendSpec['tracing']>;
type LogSpec = NonNullable<FrontendSpec['accessLog']>;

/** `accessLog`, or what the older keys of the process say. */
export function accessLog(context: Context, spec: FrontendSpec, process: ProcessSpec): AccessLog {
  const written = spec.accessLog ?? spec.logging;
  const old = process.logging;
  if (written !== undefined) {
    for (const key of ['filter', 'fields'] as const)
      if (old?.[key] !== undefined) conflict(context, ['config', 'logging', key], 'accessLog');
  }
  const filter = written?.filter ?? old?.filter;
  const fields = changes(written ?? old?.fields);
  return { filter, ...fields, otlp: otlpLog(context, written, { filter, fields }) };
}

function otlpLog(
  context: Context,
  written: LogSpec | undefined,
  inherited: { readonly filter: string | undefined; readonly fields: FieldChanges },
): OtlpLog | undefined {
  const spec = written?.otlp;
  if (spec === undefined) return undefined;
  const receiver = receiverOf(context, spec, 'accessLog/otlp');
  if (receiver === undefined) return undefined;
  const { add, remove } = spec.fields ?? {};
  const own = changes(spec.fields);
  const { filter, fields } = inherited;
  return {
    receiver,
    filter: spec.filter ?? filter,
    add: add === undefined ? fields.add : own.add,
    remove: remove === undefined ? fields.remove : own.remove,
  };
}

/** `tracing`, or what the older keys of the process and the environment say. */
export function tracing(context: Context, spec: FrontendSpec, process: ProcessSpec): Tracing | undefined {
  if (spec.tracing === undefined) return processTracing(context, process.tracing);
  if (process.tracing !== undefined) conflict(context, ['config', 'tracing'], 'tracing');
  const { attributes, resources, remove, filter, randomSampling, clientSampling } = spec.tracing;
  const receiver = receiverOf(context, spec.tracing, 'tracing');
  return (
    receiver && {
      receiver,
      attributes: changes({ add: attributes, remove }),
      resources: Object.entries(resources ?? {}),
      ...sampling(randomSampling, clientSampling),
      filter,
    }
  );
}

function processTracing(context: Context, spec: ProcessSpec['tracing']): Tracing | undefined {
  const settings = new Environment(context);
  const receiver = endpointReceiver(context, settings, spec);
  if (spec === undefined && receiver === undefined) return undefined;
  return {
    receiver,
    attributes: changes(spec?.fields),
    resources: [],
    ...sampling(spec?.randomSampling, spec?.clientSampling),
  };
}

function sampling(random: Sampling, client: Sampling): Pick<Tracing, 'randomSampling' | 'clientSampling'> {
  return { randomSampling: String(random ?? false), clientSampling: String(client ?? true) };
}

function changes(
  spec: { readonly add?: Record<string, string> | undefined; readonly remove?: readonly string[] | undefined } = {},
): FieldChanges {
  return { add: Object.entries(spec.add ?? {}), remove: spec.remove ?? [] };
}

function receiverOf(
  context: Context,
  spec: Pick<ReceiverSpec, 'service' | 'name' | 'port' | 'host' | 'backend' | 'policies' | 'protocol' | 'path'>,
  key: string,
): OtlpReceiver | undefined {
  const place = { path: ['frontendPolicies', ...key.split('/')], key: `frontend/${key}` };
  const policies = connectionPolicies(context, spec.policies, place);
  const service = policyService(context, { spec, policies }, place);
  return service && { service, protocol: spec.protocol, path: spec.path, headers: [] };
}

/** The address in the file, or in the variables that OpenTelemetry's libraries read. */
function endpointReceiver(
  context: Context,
  settings: Environment,
  spec: ProcessSpec['tracing'],
): OtlpReceiver | undefined {
  const endpoint = endpointOf(settings, spec);
  if (endpoint === undefined) return undefined;
  const place = { path: ['config', 'tracing', 'otlpEndpoint'], key: 'config/tracing' };
  const [, address = endpoint.address, path] = URL_WITH_PATH.exec(endpoint.address) ?? [];
  const read = parseServiceHost(address);
  if (typeof read === 'string') {
    if (endpoint.variable === undefined) context.report(place.path, 'GW_CONFIG_VALUE', read);
    else settings.fail(endpoint.variable, read);
    return undefined;
  }
  const service = policyService(context, { spec: { host: address }, policies: {} }, place);
  const protocol = settings.first(
    ['OTLP_PROTOCOL', ...variables('PROTOCOL')],
    protocolOf,
    'grpc, http or http/protobuf',
  );
  const headers = settings.first(['OTLP_HEADERS', ...variables('HEADERS')], headersOf, 'k=v,k=v, or a JSON object');
  const inFile = Object.entries(spec?.headers ?? {});
  return (
    service && {
      service,
      protocol: protocol?.value ?? spec?.otlpProtocol ?? 'grpc',
      path: spec?.path ?? endpoint.pathFor(path),
      headers: (headers?.value ?? inFile).map(([name, value]) => [name.toLowerCase(), new Secret(value)] as const),
    }
  );
}

interface Endpoint {
  readonly address: string;
  /** The variable that it comes from. */
  readonly variable?: string | undefined;
  /** Where requests go, by the path of the address. */
  readonly pathFor: (path: string | undefined) => string;
}

const URL_WITH_PATH = /^(https?:\/\/[^/?#]*)(\/[\u0021-\u007e]+)$/i;

const asWritten = (path: string | undefined): string => path ?? TRACES_PATH;

function endpointOf(settings: Environment, spec: ProcessSpec['tracing']): Endpoint | undefined {
  const names = ['OTLP_ENDPOINT', ...variables('ENDPOINT')];
  const found = settings.first(names, (text) => text, 'an address');
  if (found === undefined) {
    return spec?.otlpEndpoint === undefined ? undefined : { address: spec.otlpEndpoint, pathFor: asWritten };
  }
  const { name, value } = found;
  // The general variable is a base for every signal (OpenTelemetry's specification of exporters).
  const pathFor =
    name === 'OTEL_EXPORTER_OTLP_ENDPOINT'
      ? (path: string | undefined) => `${(path ?? '').replace(/\/$/, '')}${TRACES_PATH}`
      : asWritten;
  return { address: value, variable: name, pathFor };
}

/** The variable of traces stands above the general one. */
function variables(setting: string): readonly string[] {
  return [`OTEL_EXPORTER_OTLP_TRACES_${setting}`, `OTEL_EXPORTER_OTLP_${setting}`];
}

function protocolOf(text: string): 'grpc' | 'http' | undefined {
  if (text === 'grpc') return 'grpc';
  return text === 'http' || text === 'http/protobuf' ? 'http' : undefined;
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;
// oxlint-disable-next-line no-control-regex
const HEADER_VALUE = /^[^\u0000-\u0008\u000a-\u001f\u007f]*$/;

function headersOf(text: string): readonly (readonly [string, string])[] | undefined {
  const pairs = text.startsWith('{') ? jsonPairs(text) : keyValues(text);
  return pairs?.every(([name, value]) => HEADER_NAME.test(name) && HEADER_VALUE.test(value)) === true
    ? pairs
    : undefined;
}

function jsonPairs(text: string): readonly (readonly [string, string])[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const pairs = Object.entries(parsed);
    return pairs.every((pair): pair is [string, string] => typeof pair[1] === 'string') ? pairs : undefined;
  } catch {
    return undefined;
  }
}

function conflict(context: Context, path: readonly string[], key: string): void {
  const where = `frontendPolicies.${key}`;
  context.report(path, 'GW_CONFIG_CONFLICT', `this and \`${where}\` say the same thing: use only one`, {
    hint: `move it to \`${where}\``,
    atKey: true,
  });
}
