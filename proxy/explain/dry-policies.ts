import type { BackendAuth } from '../../src/config/ir/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { next, type DryRun, type Outcome, type RequestStep, type ResponseStep } from '../policy/contract.ts';
import type { RpcStream, ServiceClient, Services } from '../services/contract.ts';
import { policyName } from './policy-names.ts';

/** Services that are opened, so that references are checked, and never called. */
export class DryServices implements Services {
  readonly opened: string[] = [];
  /** Told when a policy would call a service. */
  onAsked: (name: string) => void = () => {};
  #real: Services | null = null;

  /** What opens them, once the engine's backends are known. */
  over(real: Services): this {
    this.#real = real;
    return this;
  }

  open(ref: Parameters<Services['open']>[0]): ServiceClient {
    if (this.#real === null) throw new Error('services are opened before backends are compiled');
    const { name } = this.#real.open(ref);
    this.opened.push(name);
    return this.#uncalled(name);
  }

  /** Calls that nobody answers: whoever asks waits, and is left waiting. */
  #uncalled(name: string): ServiceClient {
    const asked = (): Promise<never> => {
      this.onAsked(name);
      return new Promise(() => {});
    };
    return {
      name,
      http: asked,
      unary: asked,
      stream: () => {
        this.onAsked(name);
        return unheard;
      },
    };
  }
}

/** A stream whose other end never says anything. */
const unheard: RpcStream<unknown> = {
  send() {},
  end() {},
  cancel() {},
  close() {},
  full: false,
  onDrain() {},
  answerMs: null,
  pause() {},
  resume() {},
};

/** Runs policies up to the point where they would call somebody, and puts a note there. */
export class DryPolicies implements DryRun {
  readonly #services: DryServices;
  /** Policies that ask somebody. */
  readonly #asking = new Set<string>();

  constructor(services: DryServices) {
    this.#services = services;
  }

  request(policy: string, spec: unknown, compile: () => RequestStep | null): RequestStep | null {
    this.#services.opened.length = 0;
    const run = compile();
    if (run === null) return null;
    if (policy === 'backendAuth') return credentials(run, spec);
    if (this.#services.opened.length === 0) return run;
    this.#asking.add(policy);
    return this.#upToCall(policy, run);
  }

  /** The response side of a policy that asks has nobody to hear from. */
  response(policy: string, compile: () => ResponseStep | null): ResponseStep | null {
    const run = compile();
    return run === null ? null : (exchange, response) => (this.#asking.has(policy) ? null : run(exchange, response));
  }

  /** Conditions are looked at, and what has to be there for a call; the call itself is not made. */
  #upToCall(policy: string, run: RequestStep): RequestStep {
    const services = this.#services;
    return (exchange) => {
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      const { body } = exchange.request;
      let asked = false;
      services.onAsked = (name) => {
        if (asked) return;
        asked = true;
        // What the service would have sent back is not there: the request goes on as it came.
        exchange.request.body = body;
        note(exchange, policy, name);
        resolve(next);
      };
      const outcome = run(exchange);
      return outcome instanceof Promise ? Promise.race([promise, outcome]) : outcome;
    };
  }
}

/** Kinds of credentials that are made here, without a token of somebody else's. */
const OWN_CREDENTIALS: ReadonlySet<string> = new Set(['key', 'passthrough', 'jwtSign']);

function credentials(run: RequestStep, spec: unknown): RequestStep {
  // `as`: what stands under this name in the policies of a backend.
  const { main } = spec as BackendAuth;
  if (main === undefined || OWN_CREDENTIALS.has(main.kind)) return run;
  return (exchange) => {
    note(exchange, 'backendAuth', `what gives credentials of kind ${main.kind}`);
    return next;
  };
}

function note(exchange: Exchange, policy: string, target: string): void {
  exchange.trace?.emit({ type: 'policyEvent', kind: policyName(policy), details: { notAsked: target } }, 'warn');
}
