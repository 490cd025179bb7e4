import type { Exchange } from '../exchange/exchange.ts';
import type { Clock } from '../exchange/wait.ts';
import { next, type DryRun, type RequestStep, type ResponseStep } from '../policy/contract.ts';
import type { ServiceClient, Services } from '../services/contract.ts';

/** Kinds that would call something that is no policy service: an identity provider, a cloud's token endpoint. */
const CALLS_OUT: ReadonlySet<string> = new Set(['backendAuth']);

/** Services that are opened, so that references are checked, and never called. */
export class DryServices implements Services {
  readonly opened: string[] = [];
  #real: Services | null = null;

  /** What opens them, once the engine's backends are known. */
  over(real: Services): this {
    this.#real = real;
    return this;
  }

  open(ref: Parameters<Services['open']>[0]): ServiceClient {
    if (this.#real === null) throw new Error('services are opened before backends are compiled');
    const client = this.#real.open(ref);
    this.opened.push(client.name);
    return client;
  }
}

/** Puts a note in the place of policies that would call a service. */
export class DryPolicies implements DryRun {
  readonly #services: DryServices;

  constructor(services: DryServices) {
    this.#services = services;
  }

  request(policy: string, compile: () => RequestStep | null): RequestStep | null {
    const run = this.#compiled(compile);
    const target = this.#target(policy);
    if (run === null || target === null) return run;
    return (exchange) => {
      note(exchange, policy, target);
      return next;
    };
  }

  response(policy: string, compile: () => ResponseStep | null): ResponseStep | null {
    const run = this.#compiled(compile);
    const target = this.#target(policy);
    return run === null || target === null ? run : () => null;
  }

  #compiled<Step>(compile: () => Step): Step {
    this.#services.opened.length = 0;
    return compile();
  }

  #target(policy: string): string | null {
    const { opened } = this.#services;
    if (opened.length > 0) return [...new Set(opened)].join(', ');
    return CALLS_OUT.has(policy) ? 'what makes its credentials' : null;
  }
}

function note(exchange: Exchange, policy: string, target: string): void {
  exchange.trace?.emit({ type: 'policyEvent', kind: policy, details: { notAsked: target } }, 'warn');
}

/** Time that does not pass by itself: waits are over at once. */
export function dryClock(): Clock {
  let now = performance.now();
  return {
    now: () => now,
    schedule(callback, delayMs) {
      let due = true;
      queueMicrotask(() => {
        if (!due) return;
        now += Math.max(0, delayMs);
        callback();
      });
      return () => {
        due = false;
      };
    },
  };
}
