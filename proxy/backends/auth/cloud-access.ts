import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';

import { callDirectly } from '../../services/direct-call.ts';
import type { CloudAccess, CloudCommand, CloudRequest, CloudResponse } from './cloud.ts';
import { CredentialError } from './failure.ts';

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_FILE_BYTES = 1024 * 1024;

/** Files and endpoints as the machine has them; one per data thread. */
export class SystemCloudAccess implements CloudAccess {
  readonly home = homedir();
  readonly #closing = new AbortController();

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

  async run({ program, args, timeoutMs }: CloudCommand): Promise<string> {
    const { execFile } = await import('node:child_process');
    const options = { timeout: timeoutMs, maxBuffer: MAX_ANSWER_BYTES, signal: this.#closing.signal };
    return new Promise((resolve, reject) => {
      const child = execFile(program, args, options, (error, stdout) => {
        if (error === null) resolve(stdout);
        else reject(new CredentialError(`${program} gives no credential`, { cause: error }));
      });
      // A tool that asks questions gets no answers.
      child.stdin?.end();
    });
  }

  async call({ method, url, headers, body, timeoutMs }: CloudRequest): Promise<CloudResponse> {
    try {
      return await callDirectly({
        method,
        url,
        headers: { accept: 'application/json', ...headers },
        body,
        maxBytes: MAX_ANSWER_BYTES,
        signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)]),
      });
    } catch (error) {
      throw new CredentialError(`${new URL(url).hostname} does not answer`, { cause: error });
    }
  }

  close(): void {
    this.#closing.abort(new Error('the gateway is shutting down'));
  }
}
