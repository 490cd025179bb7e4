import { KeyFinder } from '../../../src/config/api-keys.ts';
import type { ApiKeyAuth } from '../../../src/config/ir/index.ts';
import { Secret } from '../../../src/shared/secret.ts';
import { compileLocation } from '../../credentials/location.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import { refuse } from '../../exchange/refusal.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';

const FAILURE = 'api key authentication failure';
const missing: Outcome = { kind: 'fail', refusal: refuse(401, 'APIKeyAuth', `${FAILURE}: no API Key found`) };
const nothing: JsonObject = {};
const unknown: Outcome = { kind: 'fail', refusal: refuse(401, 'APIKeyAuth', `${FAILURE}: invalid credentials`) };

/** Lets in who shows a known key, takes the key out of the request and keeps what is known of its owner. */
export function apiKey(spec: ApiKeyAuth, { source, deps }: PolicyContext): RequestStep {
  const location = compileLocation(spec.location, deps.expressions, 'apiKey location');
  const keys = new KeyFinder(spec.keys);
  const { mode } = spec;
  return (exchange) => {
    const { trace } = exchange;
    const presented = location.read(exchange);
    if (presented === null) {
      if (mode !== 'strict') trace?.skipped('api_key', 'the request has no key');
      else trace?.applied('api_key', `the request has no key (from ${source})`, 'error');
      return mode === 'strict' ? missing : next;
    }
    const owner = keys.find(presented);
    if (owner === undefined) {
      if (mode === 'permissive') trace?.skipped('api_key', 'the key is not known', 'warn');
      else trace?.applied('api_key', `the key is not known (from ${source})`, 'error');
      return mode === 'permissive' ? next : unknown;
    }
    // `metadata` is JSON, as the schema has it.
    const metadata: JsonObject = owner.metadata ?? nothing;
    const place = location.placeOf(exchange);
    location.remove(exchange);
    const { allowedModels } = owner;
    exchange.attributes.apiKey = { key: new Secret(presented), place, metadata, allowedModels };
    trace?.applied('api_key', accepted(metadata, source));
    return next;
  };
}

function accepted(metadata: JsonObject, source: string): string {
  return `accepted, with ${JSON.stringify(metadata)} (from ${source})`;
}
