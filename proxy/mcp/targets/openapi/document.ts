import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import { Components } from './components.ts';
import { checkSize } from './document-size.ts';
import { groupSchema, type Group, type Parameter, readParameters } from './parameters.ts';
import { pathPlan, serverPath } from './path-template.ts';
import type { CompiledDocument, OpenApiTool, ParameterPlan } from './plan.ts';
import { unusable } from './problem.ts';
import { type ReadBody, readRequestBody } from './request-body.ts';
import { acceptOf } from './responses.ts';
import { Schemas } from './schemas.ts';
import { toolNames } from './tool-names.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
const GROUPS: readonly Group[] = ['header', 'query', 'path'];
/** Bytes */
const MAX_TITLE = 64;
/** What methods promise (RFC 9110 section 9.2), for clients that ask people before a call. */
const HINTS: Readonly<Record<string, JsonObject>> = {
  GET: { readOnlyHint: true },
  HEAD: { readOnlyHint: true },
  OPTIONS: { readOnlyHint: true },
  TRACE: { readOnlyHint: true },
  PUT: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  DELETE: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
};

interface Readers {
  readonly components: Components;
  readonly schemas: Schemas;
  /** By operationId. */
  readonly names: ReadonlyMap<string, string>;
}

/** Makes a tool of every operation. Throws a `GwError` for a document that none can be made from as it stands. */
export function compileDocument(document: unknown): CompiledDocument {
  checkSize(document);
  // `as`: what has come through the check is JSON.
  const root = document as JsonValue;
  if (!isJsonObject(root)) throw unusable('document', 'expected an object');
  checkVersion(root);
  const components = new Components(root);
  const operations = [...operationsOf(root, components)];
  const names = toolNames(operations.flatMap(({ operation }) => textOf(operation.operationId) ?? []));
  const readers = { components, schemas: new Schemas(components), names };
  const tools = new Map<string, OpenApiTool>();
  const left: string[] = [];
  for (const { operation, ...at } of operations) {
    const tool = readOperation(operation, at, readers);
    if (typeof tool === 'string') left.push(tool);
    else if (tools.has(tool.definition.name))
      throw unusable(at.place, `another operation is called ${tool.definition.name} already`);
    else tools.set(tool.definition.name, tool);
  }
  const { title, version, description } = isJsonObject(root.info) ? root.info : {};
  return {
    title: typeof title === 'string' ? title : 'openapi',
    version: typeof version === 'string' ? version : '',
    description: typeof description === 'string' && description !== '' ? description : undefined,
    tools: [...tools.values()].map(({ definition }) => definition),
    plans: new Map([...tools].map(([name, { plan }]) => [name, plan])),
    left,
  };
}

function checkVersion({ openapi, swagger }: JsonObject): void {
  if (typeof openapi === 'string' && /^3\.[0-2](?:\.|$)/.test(openapi)) return;
  const found =
    typeof openapi === 'string' ? openapi : swagger === undefined ? 'nothing' : `swagger ${String(swagger)}`;
  throw unusable('`openapi`', `expected a version 3.x, found ${found}`);
}

interface Place {
  readonly place: string;
  readonly method: string;
  readonly path: string;
  readonly item: JsonObject;
  readonly prefix: string;
}

function* operationsOf(
  root: JsonObject,
  components: Components,
): Generator<Place & { readonly operation: JsonObject }> {
  const { paths } = root;
  if (paths === undefined) return;
  if (!isJsonObject(paths)) throw unusable('`paths`', 'expected an object');
  for (const [path, value] of Object.entries(paths)) {
    if (path.startsWith('x-')) continue;
    const item = components.resolve(value, path);
    for (const method of METHODS) {
      const operation = Object.hasOwn(item, method) ? item[method] : undefined;
      if (operation === undefined) continue;
      const place = `${method.toUpperCase()} ${path}`;
      if (!isJsonObject(operation)) throw unusable(place, 'expected an object');
      const prefix = serverPath(operation.servers ?? item.servers ?? root.servers, place);
      yield { place, method: method.toUpperCase(), path, item, prefix, operation };
    }
  }
}

/** A text says why there is no tool for it. */
function readOperation(
  operation: JsonObject,
  { place, method, path, item, prefix }: Place,
  readers: Readers,
): OpenApiTool | string {
  const { operationId, summary, description } = operation;
  const name = readers.names.get(textOf(operationId) ?? '');
  if (name === undefined)
    throw unusable(place, 'operationId is missing', 'give every operation an operationId: it is the name of its tool');
  readers.schemas.begin();
  const declared = readParameters({ path: item.parameters, operation: operation.parameters }, place, readers);
  const template = pathPlan(prefix, path, place);
  const parameters = inPath(declared, new Set(template.filter((_, index) => index % 2 === 1)));
  const inOrder = new Map(plansOf(parameters, 'path').map((each) => [each.name, each]));
  const body = readRequestBody(operation.requestBody, place, readers);
  if (body.kind === 'unwritable') return `${place} (${name}): no tool can write a body of ${body.types}`;
  return {
    definition: {
      name,
      ...(textOf(summary) === undefined ? {} : { title: cut(textOf(summary) ?? '', MAX_TITLE) }),
      description: textOf(description) ?? textOf(summary) ?? name,
      inputSchema: inputSchema(parameters, body, readers.schemas.definitions()),
      annotations: HINTS[method] ?? { readOnlyHint: false },
    },
    plan: {
      method,
      path: template.map((part, index) => (index % 2 === 1 ? (inOrder.get(part) ?? part) : part)),
      query: plansOf(parameters, 'query'),
      headers: plansOf(parameters, 'header'),
      body: body.kind === 'body' ? body.plan : null,
      accept: acceptOf(operation.responses, place, readers.components),
    },
  };
}

/** Those that the path has a place for, and those that it names although nobody has described them. */
function inPath(declared: readonly Parameter[], names: Set<string>): readonly Parameter[] {
  const used = declared.filter(({ group, plan }) => group !== 'path' || names.has(plan.name));
  for (const { group, plan } of used) if (group === 'path') names.delete(plan.name);
  const simple = { required: true, style: 'simple', explode: false } as const;
  const others = [...names].map(
    (name) => ({ group: 'path', plan: { name, ...simple }, schema: { type: 'string' } }) as const,
  );
  return [...used, ...others];
}

function plansOf(parameters: readonly Parameter[], group: Group): readonly ParameterPlan[] {
  return parameters.filter((each) => each.group === group).map(({ plan }) => plan);
}

function inputSchema(
  parameters: readonly Parameter[],
  body: ReadBody,
  definitions: JsonObject | undefined,
): JsonObject {
  const members: [string, JsonValue][] = [];
  const required: string[] = [];
  if (body.kind === 'body') {
    members.push(['body', body.schema]);
    if (body.plan.required) required.push('body');
  }
  for (const group of GROUPS) {
    const schema = groupSchema(parameters, group);
    if (schema === undefined) continue;
    members.push([group, schema]);
    if (schema.required !== undefined) required.push(group);
  }
  return {
    type: 'object',
    properties: Object.fromEntries(members),
    ...(required.length === 0 ? {} : { required }),
    ...(definitions === undefined ? {} : { $defs: definitions }),
  };
}

function textOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** At most so many bytes, ending with a whole character. */
function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= maxBytes) return text;
  let end = maxBytes;
  // Bytes that go on with a character begin with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
