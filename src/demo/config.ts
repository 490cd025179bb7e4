import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { anthropic } from './models/anthropic.ts';
import { gemini } from './models/gemini.ts';
import { openai } from './models/openai.ts';
import type { UpstreamName } from './upstreams.ts';

export interface DemoAddresses {
  readonly port: number;
  /** Where language models are asked. */
  readonly modelPort: number;
  readonly adminAddr: string;
  readonly statsAddr: string;
  readonly readinessAddr: string;
}

/** The demo's configuration, as a user would write it. */
export function demoConfig(upstreams: Readonly<Record<UpstreamName, number>>, addresses: DemoAddresses): string {
  const host = (name: UpstreamName): string => `127.0.0.1:${upstreams[name]}`;
  return `# The configuration of gwctl demo. Everything here works in a file of your own.
config:
  adminAddr: "${addresses.adminAddr}"
  statsAddr: "${addresses.statsAddr}"
  readinessAddr: "${addresses.readinessAddr}"
  workerThreads: 1
  logging:
    level: warn
  # Dollars for a million tokens, by provider and model.
  modelCatalog:
  - inline:
      providers:
        openai: {models: {gpt-demo: {rates: {input: "2.50", output: "10"}}}}
        anthropic: {models: {claude-demo: {rates: {input: "3", output: "15"}}}}
        gcp.gemini: {models: {gemini-demo: {rates: {input: "1.25", output: "5"}}}}
gateways:
  default:
    port: ${addresses.port}
  models:
    port: ${addresses.modelPort}
backends:
- name: echo
  host: ${host('echo')}
routes:
# Most of the traffic; one request in five tries the new version.
- name: echo
  matches:
  - path: {pathPrefix: /echo}
  policies:
    requestHeaderModifier:
      set: {x-demo: "yes"}
  backends:
  - {backend: echo, weight: 4}
  - {host: "${host('canary')}", weight: 1}
# The red team always gets the new version.
- name: echo-red
  matches:
  - path: {pathPrefix: /echo}
    headers:
    - {name: x-team, value: {exact: red}}
  backends:
  - host: ${host('canary')}
# An upstream that takes its time, and a limit to the patience.
- name: slow
  matches:
  - path: {pathPrefix: /slow}
  policies:
    timeout: {requestTimeout: 1s}
  backends:
  - host: ${host('slow')}
# Two of three answers are 503: retries hide it.
- name: flaky
  matches:
  - path: {pathPrefix: /flaky}
  policies:
    retry: {attempts: 2, backoff: 50ms, codes: [503]}
  backends:
  - host: ${host('flaky')}
- name: failing
  matches:
  - path: {pathPrefix: /fail}
  backends:
  - host: ${host('failing')}
# Server-sent events, passed on as they come.
- name: stream
  matches:
  - path: {pathPrefix: /stream}
  backends:
  - host: ${host('stream')}
# The prefix is taken off before the request goes on.
- name: api
  matches:
  - path: {pathPrefix: /api/v1}
  policies:
    urlRewrite: {path: {prefix: /echo}}
  backends:
  - backend: echo
# Callers show a key; the free plan may call six times a minute, and only editors may change anything. The upstream learns
# the team and never sees the key.
- name: orders
  matches:
  - path: {pathPrefix: /orders}
  policies:
    apiKey:
      location: {header: {name: x-api-key}}
      keys:
      - {key: web-key, metadata: {team: web, plan: free, roles: [reader]}}
      - {key: reports-key, metadata: {team: reports, plan: paid, roles: [reader, editor]}}
    authorization:
      rules:
      - require: 'request.method in ["GET", "HEAD"] || "editor" in apiKey.roles'
    localRateLimit:
      conditional:
      - {condition: 'apiKey.plan == "free"', requests: 6, unit: Minutes}
    transformations:
      request: {set: {x-team: apiKey.team}}
      response: {set: {x-plan: apiKey.plan}}
  backends:
  - backend: echo
# Pages of one other site may call this one.
- name: catalog
  matches:
  - path: {pathPrefix: /catalog}
  policies:
    cors:
      allowOrigins: ["https://shop.example"]
      allowMethods: [GET]
      allowHeaders: [content-type]
      maxAge: 10m
  backends:
  - backend: echo
- name: hello
  matches:
  - path: {exact: /hello}
  policies:
    directResponse: {status: 200, body: "hello from the gateway\\n"}
- name: moved
  matches:
  - path: {exact: /old}
  policies:
    requestRedirect: {path: {full: /hello}, status: 301}
# An agent that speaks A2A. Its card leads back here, whatever address it has itself.
- name: agent
  matches:
  - path: {pathPrefix: /agent}
  policies:
    urlRewrite: {path: {prefix: /}}
  backends:
  - host: ${host('agent')}
    policies: {a2a: {}}
# Two MCP servers at /mcp, as if they were one: a service and a program. Nobody may use the tool that throws away the stock.
mcp:
  gateways: [default]
  targets:
  - name: shop
    mcp: {host: "http://${host('shop')}/mcp"}
  - name: delivery
    stdio: {cmd: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(deliveryProgram())}]}
  policies:
    mcpAuthorization:
      rules:
      - deny: mcp.tool.name == "clear_stock"
# Language models of three vendors behind one address, each asked in any vendor's format. The providers are simulated: they
# need no account, only the keys below, which no client ever sees.
llm:
  gateways: [models]
  models:
  - name: gpt-demo
    provider: openAI
    params: {baseUrl: "http://${host('openai')}/v1", apiKey: ${openai.key}}
    health: {eviction: {duration: 5s, consecutiveFailures: 1}}
  - name: claude-demo
    provider: anthropic
    params: {baseUrl: "http://${host('anthropic')}/v1", apiKey: ${anthropic.key}}
  - name: gemini-demo
    provider: gemini
    params: {baseUrl: "http://${host('gemini')}/google", apiKey: ${gemini.key}}
  virtualModels:
  # The first one as long as it is healthy, then the others.
  - name: any
    routing:
      failover:
        targets:
        - {model: gpt-demo, priority: 0}
        - {model: claude-demo, priority: 1}
        - {model: gemini-demo, priority: 2}
policies:
# A model that fails is tried no more for a while: the same request goes on to the next.
- name: {name: other-model, namespace: default}
  target: {route: {name: llm, namespace: default}}
  policy:
    retry: {attempts: 1, codes: [500, 502, 503]}
`;
}

/** The program stands beside this file, compiled or not. */
function deliveryProgram(): string {
  return fileURLToPath(new URL(`mcp/delivery${extname(import.meta.url)}`, import.meta.url));
}

/** What a newcomer may type first. */
export function demoCurls(port: number): readonly string[] {
  return [
    `curl -s http://localhost:${port}/echo -H 'x-team: red'`,
    `curl -s -i http://localhost:${port}/flaky`,
    `curl -s -i http://localhost:${port}/orders -H 'x-api-key: web-key'`,
    `curl -s -N http://localhost:${port}/stream`,
  ];
}
