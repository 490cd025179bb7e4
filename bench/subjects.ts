import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BenchCase } from './cases.ts';
import { CORES, freePort, has, pinned, startServer } from './processes.ts';
import type { Server } from './processes.ts';

const HERE = import.meta.dirname;
const PORTKEY = path.join(HERE, '..', 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js');
const GWCTL = path.join(HERE, '..', 'bin', 'gwctl.js');

/** The command line that starts the engine on a configuration file. */
export const engineCommand = (configFile: string): readonly string[] => [
  process.execPath,
  GWCTL,
  'proxy',
  'run',
  '-f',
  configFile,
];

export interface Surroundings {
  /** A folder for configuration files. */
  readonly folder: string;
  readonly upstreamPort: number;
  /** PEM files; undefined where none could be made. */
  readonly certificate: Certificate | undefined;
}

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Something that is measured. */
export interface Subject {
  readonly name: string;
  /** Why it cannot be measured here, or with this case. */
  readonly missing: (benchCase: BenchCase) => string | undefined;
  readonly start: (benchCase: BenchCase, around: Surroundings) => Promise<Server>;
  /** The requests of the case as this subject has to be asked. */
  readonly asked?: (benchCase: BenchCase, around: Surroundings) => BenchCase;
}

/** Makes a certificate for loopback with openssl, which is on nearly every machine; without it the TLS cases are left out. */
export function makeCertificate(folder: string): Certificate | undefined {
  if (!has('openssl')) return undefined;
  const certificate = { cert: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') };
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const files = ['-keyout', certificate.key, '-out', certificate.cert];
  execFileSync('openssl', ['req', '-x509', '-days', '2', ...key, ...subject, ...files], { stdio: 'ignore' });
  return certificate;
}

export const SUBJECTS: readonly Subject[] = [
  {
    name: 'direct',
    missing: (benchCase) =>
      benchCase.tls || benchCase.routes > 1 ? 'the upstream speaks plain HTTP/1.1 and has no routes' : alone(benchCase),
    start: () => startUpstream(CORES.measured),
  },
  {
    name: 'undici',
    missing: alone,
    start: (benchCase, around) => {
      const files =
        benchCase.tls && around.certificate !== undefined ? [around.certificate.cert, around.certificate.key] : [];
      return startServer(
        pinned(CORES.measured, [
          process.execPath,
          path.join(HERE, 'bare-undici.ts'),
          String(around.upstreamPort),
          ...files,
        ]),
      );
    },
  },
  {
    name: 'nginx',
    missing: (benchCase) => (has('nginx') ? alone(benchCase) : 'nginx is not installed'),
    start: startNginx,
  },
  {
    name: 'haproxy',
    missing: (benchCase) => (has('haproxy') ? alone(benchCase) : 'haproxy is not installed'),
    start: startHaproxy,
  },
  {
    name: 'gwctl',
    missing: () => (existsSync(GWCTL) ? undefined : 'bin/gwctl.js does not exist'),
    start: async (benchCase, around) => {
      const port = await freePort();
      const file = path.join(around.folder, `gwctl-${benchCase.name}.yaml`);
      writeFileSync(file, engineConfig(benchCase, around, port));
      return startServer(pinned(CORES.measured, engineCommand(file)), port);
    },
  },
  {
    // In the same rounds as the many routes: on a shared machine the cases before are too long ago to compare with.
    name: 'gwctl-1',
    missing: (benchCase) =>
      benchCase.routes > 1 ||
      benchCase.policy !== undefined ||
      benchCase.llm !== undefined ||
      benchCase.mcp !== undefined
        ? undefined
        : 'gwctl has one route in this case',
    start: async (benchCase, around) => {
      const port = await freePort();
      const file = path.join(around.folder, `gwctl-1-${benchCase.name}.yaml`);
      const { llm: _llm, mcp: _mcp, ...without } = benchCase;
      const plain = {
        ...without,
        ...(benchCase.policy && { policy: { ...benchCase.policy, policies: benchCase.policy.base } }),
      };
      writeFileSync(file, engineConfig(plain, around, port, [benchCase.routes - 1]));
      return startServer(pinned(CORES.measured, engineCommand(file)), port);
    },
  },
  {
    name: 'portkey',
    missing: ({ llm }) =>
      llm === undefined
        ? 'it serves language models only'
        : existsSync(PORTKEY)
          ? undefined
          : '@portkey-ai/gateway is not installed',
    start: async () => {
      const port = await freePort();
      const command = [
        process.execPath,
        '--import',
        path.join(HERE, 'portkey-streams.ts'),
        PORTKEY,
        '--headless',
        `--port=${port}`,
      ];
      return startServer(pinned(CORES.measured, command), port);
    },
    asked: (benchCase, { upstreamPort }) => ({
      ...benchCase,
      headers: {
        ...benchCase.headers,
        authorization: 'Bearer key',
        'x-portkey-provider': benchCase.llm?.provider === 'anthropic' ? 'anthropic' : 'openai',
        'x-portkey-custom-host': `http://127.0.0.1:${upstreamPort}/v1`,
      },
    }),
  },
];

/** Policies and language models are measured against the engine without them. */
function alone(benchCase: BenchCase): string | undefined {
  if (benchCase.llm !== undefined) return 'language models are compared with the plain route of the engine';
  if (benchCase.mcp !== undefined) return 'MCP servers are compared with the plain route of the engine';
  return benchCase.policy === undefined ? undefined : 'policies are compared with the plain route of the engine';
}

export function startUpstream(core: string | undefined): Promise<Server> {
  return startServer(pinned(core, [process.execPath, path.join(HERE, 'upstream.ts')]));
}

/** One data thread, no access log, no local servers. */
export function engineSettings(): object {
  const off = { adminAddr: 'off', statsAddr: 'off', readinessAddr: 'off' };
  return { config: { ...off, workerThreads: 1, logging: { level: 'warn' } } };
}

/** With the routes of the case, or some of them. */
export function engineConfig(
  benchCase: BenchCase,
  around: Surroundings,
  port: number,
  only: readonly number[] = Array.from({ length: benchCase.routes }, (_, index) => index),
): string {
  const certificate = benchCase.tls ? around.certificate : undefined;
  const routes = only.map((index) => ({
    name: `r${index}`,
    gateways: 'bench',
    matches: [{ path: { pathPrefix: benchCase.path.startsWith('/r/') ? `/r/${index}` : '/' } }],
    policies: benchCase.policy?.policies,
    backends: [backendOf(benchCase, around)],
  }));
  // JSON is YAML.
  return JSON.stringify(
    {
      ...engineSettings(),
      gateways: { bench: { port, ...(certificate === undefined ? {} : { tls: certificate }) } },
      routes,
    },
    null,
    1,
  );
}

function backendOf({ llm, mcp }: BenchCase, { upstreamPort }: Surroundings): object {
  const host = `127.0.0.1:${upstreamPort}`;
  if (mcp !== undefined) return { mcp: { targets: [{ name: mcp.target, mcp: { host: `http://${host}/mcp` } }] } };
  if (llm === undefined) return { host };
  const key = { backendAuth: { key: 'key' } };
  return {
    ai: { name: 'bench', provider: { [llm.provider]: {} }, hostOverride: host, pathPrefix: '/v1', policies: key },
  };
}

async function startNginx(benchCase: BenchCase, around: Surroundings): Promise<Server> {
  const port = await freePort();
  const { certificate, folder, upstreamPort } = around;
  const secure =
    benchCase.tls && certificate !== undefined
      ? {
          listen: ` ssl${benchCase.http2 ? ' http2' : ''}`,
          lines: `ssl_certificate ${certificate.cert}; ssl_certificate_key ${certificate.key};`,
        }
      : { listen: '', lines: '' };
  const buffering = benchCase.name === 'stream' ? 'proxy_buffering off;' : '';
  const locations = Array.from(
    { length: benchCase.routes },
    (_, index) => `location /r/${index}/ { proxy_pass http://upstream_pool; }`,
  );
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/nginx-${kind};`,
  );
  const config = `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr crit; ${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 4096; }
http {
  access_log off; ${temporary.join(' ')} keepalive_requests 100000000; proxy_max_temp_file_size 0;
  upstream upstream_pool { server 127.0.0.1:${upstreamPort}; keepalive 256; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port}${secure.listen}; ${secure.lines}
    proxy_http_version 1.1; proxy_set_header Connection ""; ${buffering}
    ${locations.join('\n    ')}
  }
}`;
  const file = path.join(folder, `nginx-${benchCase.name}.conf`);
  writeFileSync(file, config);
  return startServer(pinned(CORES.measured, ['nginx', '-p', folder, '-c', file]), port);
}

async function startHaproxy(benchCase: BenchCase, around: Surroundings): Promise<Server> {
  const port = await freePort();
  const { certificate, folder, upstreamPort } = around;
  let secure = '';
  if (benchCase.tls && certificate !== undefined) {
    const bundle = path.join(folder, 'haproxy.pem');
    execFileSync('/bin/sh', ['-c', 'cat "$0" "$1" > "$2"', certificate.cert, certificate.key, bundle]);
    secure = ` ssl crt ${bundle} alpn ${benchCase.http2 ? 'h2,' : ''}http/1.1`;
  }
  const rules = Array.from(
    { length: benchCase.routes },
    (_, index) => `  use_backend upstream if { path_beg /r/${index}/ }`,
  );
  const config = `
global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
frontend front
  bind 127.0.0.1:${port}${secure}
${rules.join('\n')}
backend upstream
  server one 127.0.0.1:${upstreamPort}
`;
  const file = path.join(folder, `haproxy-${benchCase.name}.cfg`);
  writeFileSync(file, config);
  return startServer(pinned(CORES.measured, ['haproxy', '-db', '-q', '-f', file]), port);
}
