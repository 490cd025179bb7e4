import type { Variable } from '../../../src/cel/compile/host.ts';
import { fromJson, JsonMap } from '../../../src/cel/value/map.ts';
import { Double, Masked, type CelMap, type Value } from '../../../src/cel/value/value.ts';
import type { Secret } from '../../../src/shared/secret.ts';
import type { Attributes, JsonObject } from '../../exchange/attributes.ts';
import type { EvalContext } from '../contract.ts';
import { lookup, view } from './view.ts';

/** JSON fields, and one more that holds a secret. */
class VerifiedMap implements CelMap {
  readonly kind = 'map';
  readonly #fields: JsonObject;
  readonly #secretName: string;
  readonly #secret: Secret;

  constructor(fields: JsonObject, secretName: string, secret: Secret) {
    this.#fields = fields;
    this.#secretName = secretName;
    this.#secret = secret;
  }

  get size(): number {
    return this.keys().length;
  }

  get weight(): number {
    return this.keys().length;
  }

  get(key: Value): Value | undefined {
    return typeof key === 'string' ? verified(this.#fields, [this.#secretName, this.#secret], key) : undefined;
  }

  keys(): readonly string[] {
    return [...new Set([...Object.keys(this.#fields), this.#secretName])];
  }
}

function verified(fields: JsonObject, [name, secret]: readonly [string, Secret], key: string): Value | undefined {
  return key === name ? new Masked(() => secret.reveal()) : jsonField(fields, key);
}

function jsonField(fields: JsonObject, key: string): Value | undefined {
  return Object.hasOwn(fields, key) ? fromJson(fields[key]) : undefined;
}

/** `jwt`: the claims, and `rawToken`. */
export const jwtVariable: Variable<EvalContext> = lookup(
  ({ attributes: { jwt } }) => (jwt === null ? null : new VerifiedMap(jwt.claims, 'rawToken', jwt.rawToken)),
  ({ attributes: { jwt } }, name) =>
    jwt === null ? undefined : verified(jwt.claims, ['rawToken', jwt.rawToken], name),
);

/** `apiKey`: the metadata of the key, and `key`. */
export const apiKeyVariable: Variable<EvalContext> = lookup(
  ({ attributes: { apiKey } }) => (apiKey === null ? null : new VerifiedMap(apiKey.metadata, 'key', apiKey.key)),
  ({ attributes: { apiKey } }, name) =>
    apiKey === null ? undefined : verified(apiKey.metadata, ['key', apiKey.key], name),
);

export const basicAuthVariable: Variable<EvalContext> = view(
  { username: ({ attributes }) => attributes.basicAuth?.username },
  { present: ({ attributes }) => attributes.basicAuth !== null },
);

/** `extauthz`, `extproc`: what those services sent along. */
export function jsonVariable(of: (attributes: Attributes) => JsonObject | null): Variable<EvalContext> {
  return lookup(
    ({ attributes }) => {
      const fields = of(attributes);
      return fields === null ? null : new JsonMap(fields);
    },
    ({ attributes }, name) => {
      const fields = of(attributes);
      return fields === null ? undefined : jsonField(fields, name);
    },
  );
}

/** `metadata`: values of expressions that transformations left. */
export const metadataVariable: Variable<EvalContext> = lookup(
  ({ attributes: { metadata } }) => (metadata === null ? null : new MetadataMap(metadata)),
  ({ attributes: { metadata } }, name) => (metadata === null ? undefined : new MetadataMap(metadata).get(name)),
);

class MetadataMap implements CelMap {
  readonly kind = 'map';
  readonly #entries: Readonly<Record<string, unknown>>;

  constructor(entries: Readonly<Record<string, unknown>>) {
    this.#entries = entries;
  }

  get size(): number {
    return this.keys().length;
  }

  get weight(): number {
    return this.keys().length;
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#entries, key)) return undefined;
    const found = this.#entries[key];
    if (typeof found === 'number' && !Number.isSafeInteger(found)) return new Double(found);
    return found as Value | undefined; // what `Expression.value` gave
  }

  keys(): readonly string[] {
    return Object.keys(this.#entries);
  }
}
