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
  /** What a program of the path prints. Rejects when there is none, or when it fails. */
  run(command: CloudCommand): Promise<string>;
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

export interface CloudCommand {
  readonly program: string;
  readonly args: readonly string[];
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
    run: (command) => access.run(command),
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
  const within = <T extends { readonly timeoutMs: number }>(work: T): T => {
    const left = Math.max(1, Math.round(endsAt - performance.now()));
    return { ...work, timeoutMs: Math.min(work.timeoutMs, left) };
  };
  return {
    home: cloud.home,
    env: (name) => cloud.env(name),
    readFile: (path) => cloud.readFile(path),
    run: (command) => cloud.run(within(command)),
    call: (request) => cloud.call(within(request)),
  };
}

/** For configurations that are only looked at. */
export const noCloudAccess: CloudAccess = {
  home: '/',
  readFile: () => Promise.reject(new CredentialError('no file is read here')),
  run: () => Promise.reject(new CredentialError('nothing is run here')),
  call: () => Promise.reject(new CredentialError('nothing is called here')),
};
