import { z } from 'zod';
import { backendName } from './backend-ref.ts';
import { type AddIssue, exactlyOne, object, oneSpelling, withRule } from './build.ts';
import { address, checked, secret } from './marks.ts';
import { simpleBackendPolicies } from './policy-sets.ts';
import { fileInlineOrRemote, port } from './scalars.ts';

/** Kinds of servers; a target has exactly one of these keys. */
export const MCP_SERVER_KINDS = ['mcp', 'sse', 'stdio', 'openapi'] as const;

const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const NAME_TEXT =
  'expected a name of lower-case letters, digits, `-` and `.`: it stands before names of tools, from which `_` and `+` tell it apart';

const placeShape = {
  host: address(
    z
      .string({ error: () => 'expected an address such as http://localhost:8080/mcp' })
      .min(1)
      .max(1024),
  )
    .optional()
    .describe(
      'Address such as `https://host:port/path`; or `host:port`; or, next to `port` and `path`, a host name. `https` means TLS.',
    ),
  port: port.optional().describe('With `path`: port of `host`.'),
  path: address(
    z
      .string()
      .min(1)
      .max(2048)
      .regex(/^\/[!-"$-~]*$/, { error: 'expected a path that starts with `/`' }),
  )
    .optional()
    .describe('With `port`, or with `backend`: path of the server.'),
  backend: backendName.optional(),
};

/** Either an address, or a host with its parts, or a named backend. */
function placeRule({ host, port: number, path, backend }: Record<string, unknown>, add: AddIssue): void {
  if (host === undefined && backend === undefined)
    return add('the server needs exactly one of `host`, `backend`', { code: 'GW_CONFIG_MISSING' });
  if (host !== undefined && backend !== undefined)
    return add('the server takes only one of `host`, `backend`', { at: 'backend', code: 'GW_CONFIG_CONFLICT' });
  if (backend !== undefined) {
    if (number !== undefined)
      add('a `backend` has its own port', { at: 'port', code: 'GW_CONFIG_CONFLICT', hint: 'leave `port` out' });
    return undefined;
  }
  if ((number === undefined) !== (path === undefined))
    add('`port` and `path` go together, or both stand in `host`', {
      at: number === undefined ? 'path' : 'port',
      code: 'GW_CONFIG_MISSING',
    });
  return undefined;
}

const place = (description: string) => checked(withRule(object(description, placeShape), placeRule), 'mcpPlace');

const openapi = checked(
  withRule(
    object('Tools made of the operations of an HTTP service; `path` goes before the path of each.', {
      ...placeShape,
      schema: fileInlineOrRemote.describe(
        'OpenAPI 3 document, JSON or YAML: text, `{file: path}` or `{url: address}`.',
      ),
    }),
    placeRule,
  ),
  'openApiPlace',
);

const withoutNul = (what: string) =>
  z
    .string()
    .max(32_768)
    .regex(/^[^\0]*$/, { error: `expected ${what} without NUL` });

const environmentName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^=\0]+$/, { error: 'expected the name of an environment variable' });

const stdio = withRule(
  object('A program that is spoken to over its input and output; one for each session.', {
    cmd: withoutNul('a command').min(1).describe('Program, by path or by name.'),
    args: z.array(withoutNul('an argument')).max(1024).default([]),
    env: z
      .record(environmentName, secret(withoutNul('a value')))
      .default({})
      .describe("Variables of its environment, beside the gateway's own."),
    clear_env: z.boolean().optional().describe("Hide the gateway's own environment from it. Default: false."),
    clearEnv: z.boolean().optional().describe('Another spelling of `clear_env`.'),
  }),
  (keys, add) => oneSpelling(keys, add, ['clear_env', 'clearEnv']),
);

const target = withRule(
  exactlyOne(
    object(
      'A server; exactly one of mcp, sse, stdio, openapi.',
      {
        name: z
          .string()
          .min(1)
          .max(253)
          .regex(NAME, { error: NAME_TEXT })
          .describe('Unique; stands before names of tools where there are several targets.'),
        policies: simpleBackendPolicies
          .optional()
          .describe('Of the connection to the server; not for programs and named backends.'),
        mcp: place('Streamable HTTP. Default path: /mcp.').optional(),
        sse: place('The older HTTP transport. Default path: /sse.').optional(),
        stdio: stdio.optional(),
        openapi: openapi.optional(),
      },
      'McpTarget',
    ),
    'a target',
    MCP_SERVER_KINDS,
  ),
  (keys, add) => {
    if (keys['policies'] === undefined) return;
    const conflict = { at: 'policies', code: 'GW_CONFIG_CONFLICT' };
    if (keys['stdio'] !== undefined) add('a program has no connection: `policies` mean nothing for it', conflict);
    const named = MCP_SERVER_KINDS.some((kind) => field(keys[kind], 'backend') !== undefined);
    if (named) add('policies of the connection belong to the named backend', conflict);
  },
);

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

/** The keys of a backend of MCP servers, and of the section `mcp`. */
export const mcpBackendShape = {
  targets: z
    .array(target)
    .min(1)
    .max(128)
    .superRefine(uniqueNames, { when: ({ value }) => Array.isArray(value) })
    .describe('The servers.'),
  statefulMode: z
    .enum(['stateless', 'stateful'])
    .default('stateful')
    .describe('Whether clients of the older protocol versions have sessions; `stateless` treats every request alone.'),
  prefixMode: z
    .enum(['conditional', 'always', 'never'])
    .default('conditional')
    .describe('When `<target>_` goes before names of tools and prompts; `conditional`: with several targets.'),
  failureMode: z
    .enum(['failClosed', 'failOpen'])
    .default('failClosed')
    .describe('When a target fails: `failClosed` fails the whole request, `failOpen` goes on with the others.'),
  dnsRebindingProtection: z
    .boolean()
    .default(false)
    .describe('Take only requests for, and from pages of, localhost, 127.0.0.1 and [::1].'),
};

function uniqueNames(targets: readonly unknown[], context: z.RefinementCtx): void {
  const seen = new Map<string, number>();
  for (const [index, each] of targets.entries()) {
    const name = field(each, 'name');
    if (typeof name !== 'string') continue;
    const earlier = seen.get(name);
    if (earlier === undefined) seen.set(name, index);
    else
      context.addIssue({
        code: 'custom',
        message: `targets[${earlier}] is called ${JSON.stringify(name)} already`,
        path: [index, 'name'],
        params: { code: 'GW_CONFIG_CONFLICT' },
      });
  }
}

/** `mcp`: MCP servers behind one address. */
export const mcpBackend = object('MCP servers behind one address.', mcpBackendShape, 'McpBackend');

export type McpBackendSpec = z.output<typeof mcpBackend>;
export type McpTargetSpec = McpBackendSpec['targets'][number];
export type McpPlaceSpec = NonNullable<McpTargetSpec['mcp']>;
