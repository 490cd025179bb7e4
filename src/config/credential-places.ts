import type { GatewayConfig } from './ir/gateway.ts';

/** Where requests carry credentials by the word of the configuration, beyond the names that everybody knows. */
export interface CredentialPlaces {
  /** Lower case. */
  readonly headers: readonly string[];
  /** Names of query parameters, decoded. */
  readonly parameters: readonly string[];
}

/** Keys of the model that hold a place of a credential. */
const PLACES: ReadonlySet<string> = new Set(['location', 'source']);
/** Keys of lists that may be long: of those who have credentials, with what is said of them. */
const CALLERS: ReadonlySet<string> = new Set(['owners', 'users']);

/** The places of all policies of a configuration, so that whatever shows a request can hide what is there. */
export function credentialPlaces(config: GatewayConfig): CredentialPlaces {
  const headers = new Set<string>();
  const parameters = new Set<string>();
  visit(config, (kind, name) => {
    if (kind === 'header') headers.add(name);
    else if (kind === 'queryParameter') parameters.add(name);
  });
  return { headers: [...headers], parameters: [...parameters] };
}

function visit(value: unknown, found: (kind: unknown, name: string) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visit(item, found);
    return;
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  for (const [key, child] of Object.entries(value)) {
    if (PLACES.has(key) && isNamed(child)) found(child.kind, child.name);
    if (!CALLERS.has(key)) visit(child, found);
  }
}

function isNamed(value: unknown): value is { readonly kind: unknown; readonly name: string } {
  return (
    typeof value === 'object' && value !== null && 'kind' in value && 'name' in value && typeof value.name === 'string'
  );
}
