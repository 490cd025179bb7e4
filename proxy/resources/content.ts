import { readDiscovery, type Discovery } from '../../src/config/documents/discovery.ts';
import { readKeySet } from '../../src/config/documents/key-set.ts';
import { openApiOf } from '../../src/config/documents/open-api.ts';
import type { GatewayConfig, PublicJwk, RemoteDocument } from '../../src/config/ir/index.ts';
import { assertNever } from '../../src/shared/assert-never.ts';
import type { JsonObject } from '../../src/shared/json.ts';
import { Secret } from '../../src/shared/secret.ts';

/** A fetched document on its way to the data threads; plain data. */
export interface ResourceContent {
  readonly key: string;
  readonly document: RemoteDocument;
  readonly text: string;
  /** Grows with every change of any document. */
  readonly version: number;
}

/** A document that was read. */
export type Read =
  | { readonly kind: 'keySet'; readonly keys: readonly PublicJwk[] }
  | { readonly kind: 'discovery'; readonly discovery: Discovery }
  | { readonly kind: 'openApi'; readonly openApi: JsonObject };

/** Documents of equal keys are one. */
export function keyOf(document: RemoteDocument): string {
  if (document.content === 'discovery') return `discovery ${JSON.stringify(document.issuer)} ${document.url}`;
  const metadata = document.content === 'keySet' ? document.metadata : undefined;
  const told = metadata === undefined ? '' : ` or ${JSON.stringify(metadata.issuer)} ${metadata.url}`;
  return `${document.content} ${document.url}${told}`;
}

/** A configuration may be live without it. */
export function isOptional(document: RemoteDocument): boolean {
  return document.content === 'openApi' && document.optional === true;
}

/** How messages call it. */
export function nameOf(document: RemoteDocument): string {
  return NAMES[document.content];
}

const NAMES: Readonly<Record<RemoteDocument['content'], string>> = {
  keySet: 'key set',
  discovery: 'discovery document',
  openApi: 'OpenAPI document',
};

/** Reads a document as its kind says; a text says what is wrong with it. */
export function readContent(document: RemoteDocument, text: string): Read | string {
  switch (document.content) {
    case 'keySet': {
      const read = readKeySet(text, { strict: false });
      return read.kind === 'keys' ? { kind: 'keySet', keys: read.keys } : read.message;
    }
    case 'discovery': {
      const discovery = readDiscovery(text, document.issuer);
      return typeof discovery === 'string' ? discovery : { kind: 'discovery', discovery };
    }
    case 'openApi': {
      // The control thread has made JSON of it.
      const read = openApiOf(JSON.parse(text));
      return typeof read === 'string' ? read : { kind: 'openApi', openApi: read.document };
    }
    default:
      return assertNever(document);
  }
}

/** The documents that a document leads to. */
export function ledTo(read: Read): readonly RemoteDocument[] {
  return read.kind === 'discovery' ? [{ kind: 'remote', content: 'keySet', url: read.discovery.jwksUri }] : [];
}

/** Every document that a configuration refers to itself, wherever it stands. */
export function remoteDocuments(config: GatewayConfig): ReadonlyMap<string, RemoteDocument> {
  const found = new Map<string, RemoteDocument>();
  collect(config, found);
  return found;
}

function collect(value: unknown, found: Map<string, RemoteDocument>): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, found);
  } else if (isRemote(value)) {
    const key = keyOf(value);
    // Whoever cannot do without it decides.
    if (!isOptional(value) || !found.has(key)) found.set(key, value);
  } else if (isWalked(value)) {
    for (const child of Object.values(value)) collect(child, found);
  }
}

/** Documents that others wrote are none of the configuration's own words. */
function isWalked(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || value instanceof Secret) return false;
  return !('kind' in value && value.kind === 'inline' && 'document' in value);
}

function isRemote(value: unknown): value is RemoteDocument {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    value.kind === 'remote' &&
    'content' in value &&
    'url' in value
  );
}
