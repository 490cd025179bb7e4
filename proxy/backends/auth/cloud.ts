import type { Secret } from '../../../src/shared/secret.ts';
import { CredentialError } from './failure.ts';

/** How credentials of clouds are got at: the environment of the process, files, and endpoints that are not backends. */
export interface Cloud {
  /** A variable of the environment; undefined when it is missing or empty. */
  env(name: string): string | undefined;
  /** The text of a file. */
  readFile(path: string): Promise<string>;
  /** One call, its answer read whole. Rejects when there is none. */
  call(request: CloudRequest): Promise<CloudResponse>;
}

export interface CloudRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  /** For the whole call. */
  readonly timeoutMs: number;
}

export interface CloudResponse {
  readonly status: number;
  readonly text: string;
}

/** Calls of one environment, without its variables. */
export type CloudAccess = Omit<Cloud, 'env'>;

/** Limit of everything that one credential takes to fetch. */
export const CLOUD_TIMEOUT_MS = 5000;

export function cloudOf(access: CloudAccess, environment: Readonly<Record<string, Secret>>): Cloud {
  return {
    readFile: (path) => access.readFile(path),
    call: (request) => access.call(request),
    env(name) {
      const value = environment[name]?.reveal();
      return value === '' ? undefined : value;
    },
  };
}

/** For configurations that are only looked at. */
export const noCloudAccess: CloudAccess = {
  readFile: () => Promise.reject(new CredentialError('no file is read here')),
  call: () => Promise.reject(new CredentialError('nothing is called here')),
};
