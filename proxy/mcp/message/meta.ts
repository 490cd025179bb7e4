import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts';

/** What the modern versions say with each request, in `_meta` of its parameters. */
export const VERSION_META = 'io.modelcontextprotocol/protocolVersion';
export const CLIENT_INFO_META = 'io.modelcontextprotocol/clientInfo';
export const CLIENT_CAPABILITIES_META = 'io.modelcontextprotocol/clientCapabilities';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** What a client says of itself. */
export interface Envelope {
  readonly version: string;
  readonly clientInfo: JsonObject;
  readonly clientCapabilities: JsonObject;
}

export function metaOf(params: JsonObject | undefined): JsonObject | undefined {
  const meta = params?.['_meta'];
  return isJsonObject(meta) ? meta : undefined;
}

/** The protocol version that a message names itself; null where it names none. */
export function versionIn(method: string, params: JsonObject | undefined): string | null {
  const version = method === 'initialize' ? params?.['protocolVersion'] : metaOf(params)?.[VERSION_META];
  return typeof version === 'string' ? version : null;
}

/** The parameters with entries of `_meta` set; those that are undefined are removed, and an empty `_meta` with them. */
export function withMeta(
  params: JsonObject | undefined,
  entries: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject {
  const meta: Record<string, JsonValue> = { ...metaOf(params) };
  for (const [name, value] of Object.entries(entries)) {
    if (value === undefined) delete meta[name];
    else meta[name] = value;
  }
  if (Object.keys(meta).length > 0) return { ...params, _meta: meta };
  const { _meta: _, ...rest } = params ?? {};
  return rest;
}

/** A request as the modern versions want it. */
export function withEnvelope(params: JsonObject | undefined, envelope: Envelope): JsonObject {
  return withMeta(params, {
    [VERSION_META]: envelope.version,
    [CLIENT_INFO_META]: envelope.clientInfo,
    [CLIENT_CAPABILITIES_META]: envelope.clientCapabilities,
  });
}

/** A request as the legacy versions want it: they know nothing of the envelope. */
export function withoutEnvelope(params: JsonObject | undefined): JsonObject | undefined {
  const meta = metaOf(params);
  if (meta === undefined || !(VERSION_META in meta || CLIENT_INFO_META in meta || CLIENT_CAPABILITIES_META in meta))
    return params;
  return withMeta(params, {
    [VERSION_META]: undefined,
    [CLIENT_INFO_META]: undefined,
    [CLIENT_CAPABILITIES_META]: undefined,
  });
}

/**
 * What a legacy client offers servers to ask of it, taken out of its `initialize` or envelope: requests to the client, and
 * the extension for tasks.
 */
export function withoutClientFeatures(method: string, params: JsonObject | undefined): JsonObject | undefined {
  const offered = params?.['capabilities'];
  const own = method === 'initialize' && isJsonObject(offered) ? { ...params, capabilities: reduced(offered) } : params;
  const inMeta = metaOf(own)?.[CLIENT_CAPABILITIES_META];
  return isJsonObject(inMeta) ? withMeta(own, { [CLIENT_CAPABILITIES_META]: reduced(inMeta) }) : own;
}

function reduced(capabilities: JsonObject): JsonObject {
  const { roots: _roots, sampling: _sampling, elicitation: _elicitation, extensions, ...rest } = capabilities;
  if (!isJsonObject(extensions)) return extensions === undefined ? rest : { ...rest, extensions };
  const { [TASKS_EXTENSION]: _tasks, ...kept } = extensions;
  return Object.keys(kept).length === 0 ? rest : { ...rest, extensions: kept };
}
