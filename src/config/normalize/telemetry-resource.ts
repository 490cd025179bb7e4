import type { TelemetryResource } from '../ir/policy/observability.ts';
import type { Environment } from './environment.ts';

const DEFAULT_NAME = 'gwctl';

/** Variables that an orchestrator sets, and the attributes that they become. */
const PLACE = [
  ['NAMESPACE', ['service.namespace', 'k8s.namespace.name']],
  ['POD_NAME', ['k8s.pod.name']],
  ['NODE_NAME', ['k8s.node.name']],
  ['POD_IP', ['k8s.pod.ip']],
] as const;

/** Who the gateway is towards receivers of telemetry; variables of its own stand above the general list. */
export function telemetryResource(settings: Environment): TelemetryResource {
  const expected = 'k=v,k=v';
  const attributes = new Map(settings.read('OTEL_RESOURCE_ATTRIBUTES', keyValues, expected) ?? []);
  for (const [variable, names] of PLACE) {
    const value = settings.read(variable, (text) => text, 'a text');
    if (value !== undefined) for (const name of names) attributes.set(name, value);
  }
  const serviceName =
    settings.read('OTEL_SERVICE_NAME', (text) => text, 'a name') ?? attributes.get('service.name') ?? DEFAULT_NAME;
  attributes.delete('service.name');
  return { serviceName, attributes: [...attributes] };
}

/** `k=v,k=v` with percent-encoded values, as OpenTelemetry's variables are written. */
export function keyValues(text: string): readonly (readonly [string, string])[] | undefined {
  const pairs: [string, string][] = [];
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const equals = part.indexOf('=');
    const name = part.slice(0, Math.max(0, equals)).trim();
    const value = decoded(part.slice(equals + 1).trim());
    if (name === '' || value === undefined) return undefined;
    pairs.push([name, value]);
  }
  return pairs;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
