import type { McpOAuth } from '../../../src/config/ir/index.ts';
import { messageOf } from '../../../src/shared/errors.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { clientLeft, requestTimeout, settledWithin } from '../../exchange/wait.ts';
import type { Outcome, PolicyDeps } from '../contract.ts';
import { answer, failure, preflight } from './answer.ts';
import { type OwnAddresses, publishedMetadata, type ServerMetadata } from './metadata.ts';
import { LoopGuard, ProviderMetadata } from './provider.ts';
import { Relay } from './relay.ts';
import { standsIn } from './resource.ts';

export const LOOP = 'the authorization server is this gateway itself';

/** The authorization server of a policy, on behalf of requests. */
export class AuthorizationServer {
  readonly spec: McpOAuth;
  readonly loops: LoopGuard;
  readonly relay = new Relay();
  readonly #deps: PolicyDeps;
  readonly #metadata: ProviderMetadata;
  #warned = false;

  constructor(spec: McpOAuth, deps: PolicyDeps) {
    const { metadataUrl } = spec;
    this.spec = spec;
    this.#deps = deps;
    this.loops = new LoopGuard(metadataUrl);
    this.#metadata = deps.stores.get(
      `mcp authorization server ${metadataUrl}`,
      () => new ProviderMetadata(metadataUrl, { clock: deps.clock, log: deps.log.scope('mcp') }),
    );
  }

  /** What the provider says of itself, or how the request ends. */
  metadata(exchange: Exchange): ServerMetadata | Promise<ServerMetadata | Outcome> | Outcome {
    const { current } = this.#metadata;
    if (current !== null) return current;
    const mark = this.loops.mark(exchange.request.headers.getAll('cdn-loop'));
    return mark === null ? looping() : this.#ask(exchange, mark);
  }

  /** The metadata for clients. */
  async publish(exchange: Exchange, own: OwnAddresses): Promise<Outcome> {
    if (exchange.request.method === 'OPTIONS') return preflight('GET');
    const known = await this.metadata(exchange);
    if ('kind' in known) return known;
    const published = publishedMetadata(this.spec, known, own);
    if (typeof published === 'string') return unusable(published);
    this.#tellIssuer(known);
    return answer(JSON.stringify(published), { status: 200, methods: 'GET' });
  }

  /** Once: every client asks for the metadata. */
  #tellIssuer({ document }: ServerMetadata): void {
    if (this.#warned || !standsIn(this.spec) || document['authorization_response_iss_parameter_supported'] !== true)
      return;
    this.#warned = true;
    this.#deps.log
      .scope('mcp')
      .warn(
        'the provider names itself in its answers (RFC 9207): clients that compare that with the metadata do not take the gateway for it',
        {
          issuer: this.spec.issuer,
          hint: '`resourceMetadata: {authorizationServers: [<issuer>]}` sends clients to the provider itself',
        },
      );
  }

  async #ask(exchange: Exchange, mark: Readonly<Record<string, string>>): Promise<ServerMetadata | Outcome> {
    const asking = this.#metadata.ask(mark, exchange.trace?.scoped('mcp') ?? null);
    const how = await settledWithin(exchange, asking, this.#deps.clock);
    if (how !== 'settled') {
      // Others may wait for it, and the next one will.
      asking.catch(() => {});
      return { kind: 'fail', refusal: how === 'deadline' ? requestTimeout : clientLeft };
    }
    try {
      return await asking;
    } catch (error) {
      return unusable(messageOf(error));
    }
  }
}

function unusable(detail: string): Outcome {
  const message = `no metadata of the authorization server: ${detail}`;
  return failure(message, { status: 500, reason: 'UpstreamFailure', methods: 'GET' });
}

/** RFC 5842 section 7.2. */
export function looping(): Outcome {
  return failure(LOOP, { status: 508, reason: 'MCP', methods: 'GET' });
}
