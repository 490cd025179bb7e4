import { Redaction } from '../../telemetry/redaction.ts';
import { json, type Endpoint } from '../endpoint.ts';
import { configDump, type DumpFacts } from './dump.ts';

/** `/config_dump`: everything that is loaded, secrets redacted, with live endpoint numbers. */
export function configDumpEndpoint(facts: () => DumpFacts): Endpoint {
  return {
    path: '/config_dump',
    methods: ['GET'],
    summary: 'Everything that is loaded, with the live state of endpoints',
    handle: () => {
      const now = facts();
      return json(redactHeaders(configDump(now), new Redaction(now.config.process.sensitiveHeaders)));
    },
  };
}

/** Header modifiers are plain configuration, but what they set may be a credential. */
function redactHeaders(value: unknown, redaction: Redaction, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => redactHeaders(item, redaction));
  if (typeof value !== 'object' || value === null) return value;
  const inModifier = key === 'requestHeaderModifier' || key === 'responseHeaderModifier';
  return Object.fromEntries(
    Object.entries(value).map(([name, child]) => [
      name,
      inModifier && (name === 'add' || name === 'set')
        ? redactValues(child, redaction)
        : redactHeaders(child, redaction, name),
    ]),
  );
}

function redactValues(headers: unknown, redaction: Redaction): unknown {
  if (typeof headers !== 'object' || headers === null) return headers;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, redaction.header(name.toLowerCase(), String(value))]),
  );
}
