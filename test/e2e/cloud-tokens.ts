import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Answer, ask, type Cleanup, startGateway, upstream } from './gateway.ts';
import type { TokenEndpoint } from './token-endpoint.ts';

/** Gateways that fetch tokens of clouds for their backend, and files that they read; all goes away with `cleanup`. */
export function fetchingTokens(cleanup: Cleanup) {
  /** A backend that tells which token came. */
  async function gateway(
    auth: string,
    env: Record<string, string>,
    options: { policies?: string; route?: string; threads?: number; host?: string } = {},
  ) {
    const backend = cleanup.add(
      await upstream((request, response) => response.end(request.headers.authorization ?? 'nothing')),
    );
    const { policies = '', route = '', threads, host = '127.0.0.1' } = options;
    const running = cleanup.add(
      await startGateway(
        `
gateways: {default: {port: 80}}
routes:
- policies: {${route}}
  backends:
  - host: "${host}:${backend.port}"
    policies: {backendAuth: ${auth}${policies === '' ? '' : `, ${policies}`}}
`,
        { env: { CLOUDSDK_CONFIG: '/nowhere', ...env }, ...(threads === undefined ? {} : { threads }) },
      ),
    );
    const call = (headers: Record<string, string> = {}): Promise<Answer> => ask(running.port(80), '/', { headers });
    return { ...running, call };
  }

  function fileWith(text: string, name = 'file'): string {
    const folder = mkdtempSync(join(tmpdir(), 'cloud-'));
    cleanup.add({ close: () => rmSync(folder, { recursive: true }) });
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  }

  return { gateway, fileWith };
}

/** One call of an endpoint of tokens. */
export function asked(
  { calls }: TokenEndpoint,
  index = 0,
): { line: string; form: Record<string, string>; query: Record<string, string> } {
  const { method = '', url = '', form = [] } = calls[index] ?? {};
  const { pathname, searchParams } = new URL(url, 'http://x');
  return { line: `${method} ${pathname}`, form: Object.fromEntries(form), query: Object.fromEntries(searchParams) };
}

export const failure = (why: string): unknown[] => [500, `backend authentication failed: ${why}`];
export const ofAnswer = ({ status, body }: Answer): unknown[] => [status, body];
