/** What the rows of the table are made of: one gateway, and whatever stands around it. */
import type { IncomingHttpHeaders, RequestListener } from 'node:http';

import { type Answer, ask, type Ask, type Cleanup, type RunningGateway, startGateway, upstream } from '../gateway.ts';

/** One place that an expression may stand at, and what happens there when it fails. */
export interface Row {
  /** As docs/cel.md names it. */
  readonly site: string;
  /** What its value may be; both as docs/cel.md tells them. */
  readonly takes: string;
  readonly effect: string;
  /** Expressions that fail there: while they are evaluated, or by the type of their value. */
  readonly failing: readonly string[];
  /** Runs a gateway with the expression at that place, and tells what can be seen from outside. */
  run(expression: string, world: World): Promise<unknown>;
  /** What is seen when it fails. */
  readonly failed: unknown;
  /** An expression that does not fail, and what is seen then. */
  readonly works: readonly [expression: string, seen: unknown];
}

/** A request as the backend got it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Backend {
  readonly port: number;
  readonly seen: Seen[];
}

export class World {
  readonly cleanup: Cleanup;

  constructor(cleanup: Cleanup) {
    this.cleanup = cleanup;
  }

  /** A backend that keeps what it gets. */
  async backend(answer: RequestListener = (_request, response) => void response.end('ok')): Promise<Backend> {
    const seen: Seen[] = [];
    const server = await upstream((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        seen.push({ method, url, headers, body });
        answer(request, response);
      });
    });
    this.cleanup.add(server);
    return { port: server.port, seen };
  }

  /** With a gateway on port 80, unless the text has gateways of its own. */
  async gateway(text: string, env?: Record<string, string>): Promise<RunningGateway> {
    const whole = text.includes('gateways:') ? text : `gateways: {default: {port: 80}}\n${text}`;
    return this.cleanup.add(await startGateway(whole, env === undefined ? {} : { env }));
  }

  /** One request through a gateway whose only route has these policies, in front of a new backend. */
  async through(policies: string, options: Ask & { readonly path?: string } = {}): Promise<Through> {
    const backend = await this.backend();
    const running = await this.gateway(
      `routes: [{policies: {${policies}}, backends: [{host: "127.0.0.1:${backend.port}"}]}]`,
    );
    const answer = await ask(running.port(80), options.path ?? '/', options);
    return { answer, running, backend, got: backend.seen[0] };
  }
}

export interface Through {
  readonly answer: Answer;
  readonly running: RunningGateway;
  readonly backend: Backend;
  /** What the backend got; undefined when nothing came. */
  readonly got: Seen | undefined;
}

/** An expression as a text of YAML. */
export function yaml(expression: string): string {
  return JSON.stringify(expression);
}

/** An evaluation that fails: nobody has a token. */
export const MISSING = 'jwt.sub';
