import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';

import type { Agent, Dispatcher } from 'undici';

import type { CloudAccess, CloudRequest, CloudResponse } from './cloud.ts';
import { CredentialError } from './failure.ts';

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_FILE_BYTES = 1024 * 1024;

/** Files and endpoints as the machine has them; one per data thread. */
export class SystemCloudAccess implements CloudAccess {
  readonly home = homedir();
  #agent: Promise<Agent> | null = null;

  async readFile(path: string): Promise<string> {
    try {
      const bytes = await readFile(path);
      if (bytes.byteLength > MAX_FILE_BYTES) throw new CredentialError('a credential file is too large');
      return bytes.toString('utf8');
    } catch (error) {
      if (error instanceof CredentialError) throw error;
      throw new CredentialError('a credential file cannot be read', { cause: error });
    }
  }

  async call({ method, url, headers, body, timeoutMs }: CloudRequest): Promise<CloudResponse> {
    const { origin, pathname, search, hostname } = new URL(url);
    const options: Dispatcher.RequestOptions = {
      origin,
      path: pathname + search,
      method,
      headers: { accept: 'application/json', ...headers },
      body: body ?? null,
      signal: AbortSignal.timeout(timeoutMs),
    };
    try {
      const agent = await (this.#agent ??= openAgent());
      const response = await agent.request(options);
      return { status: response.statusCode, text: await response.body.text() };
    } catch (error) {
      throw new CredentialError(`${hostname} does not answer`, { cause: error });
    }
  }

  close(): void {
    void this.#agent?.then((agent) => agent.destroy(new Error('the gateway is shutting down')));
  }
}

/** The library is loaded by the first call: most gateways make none. */
async function openAgent(): Promise<Agent> {
  const { Agent: UndiciAgent } = await import('undici');
  return new UndiciAgent({ keepAliveTimeout: 10_000, maxResponseSize: MAX_ANSWER_BYTES, allowH2: false });
}
