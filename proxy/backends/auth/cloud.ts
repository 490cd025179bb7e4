import type { Secret } from '../../../src/shared/secret.ts';
import { CredentialError } from './failure.ts';

/** How credentials of clouds are got at: the environment of the process, files, and endpoints that are not backends. */
export interface Cloud {
  /** A variable of the environment; undefined when it is missing or empty. */
  env(name: string): string | undefined;
  /** The folder of the user that the process runs as. */
  readonly home: string;
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
    home: access.home,
    readFile: (path) => access.readFile(path),
    call: (request) => access.call(request),
    env(name) {
      const value = environment[name]?.reveal();
      return value === '' ? undefined : value;
    },
  };
}

/** The same for one credential: all of its calls together keep the limit. */
export function limited(cloud: Cloud, limitMs: number = CLOUD_TIMEOUT_MS): Cloud {
  const endsAt = performance.now() + limitMs;
  return {
    home: cloud.home,
    env: (name) => cloud.env(name),
    readFile: (path) => cloud.readFile(path),
    call: (request) => {
      const left = Math.max(1, Math.round(endsAt - performance.now()));
      return cloud.call({ ...request, timeoutMs: Math.min(request.timeoutMs, left) });
    },
  };
}

/** For configurations that are only looked at. */
export const noCloudAccess: CloudAccess = {
  home: '/',
  readFile: () => Promise.reject(new CredentialError('no file is read here')),
  call: () => Promise.reject(new CredentialError('nothing is called here')),
};
