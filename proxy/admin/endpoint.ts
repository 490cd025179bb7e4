/** A request as an endpoint sees it. */
export interface EndpointRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** Reads the body; rejects when it is larger than the admin interface takes. */
  body(): Promise<Uint8Array>;
}

export type EndpointReply =
  | {
      readonly kind: 'whole';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string | Uint8Array;
    }
  /** `start` is called once the head is sent; it ends the stream itself. */
  | {
      readonly kind: 'stream';
      readonly headers: Readonly<Record<string, string>>;
      readonly start: (stream: ReplyStream) => void;
    };

/** A response that goes on; writes after the client has gone are ignored. */
export interface ReplyStream {
  /** False when the client is behind: wait for `onDrain`. */
  write(text: string): boolean;
  end(): void;
  onDrain(listener: () => void): void;
  onClose(listener: () => void): void;
}

export interface Endpoint {
  readonly path: string;
  readonly methods: readonly string[];
  /** One line for the index page. */
  readonly summary: string;
  /** Parameters as the index page shows them. */
  readonly parameters?: string | undefined;
  /** Methods that change something or cost much: refused to other web pages. */
  readonly guarded?: readonly string[] | undefined;
  handle(request: EndpointRequest): EndpointReply | Promise<EndpointReply>;
}

export function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): EndpointReply {
  return { kind: 'whole', status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, body };
}

/** Before the first configuration is live there is nothing to show. */
export function notLive(): EndpointReply {
  return text(503, 'no configuration is live yet: the first one is being prepared\n', { 'retry-after': '1' });
}

export function json(value: unknown): EndpointReply {
  const body = `${JSON.stringify(value, null, 2)}\n`;
  return { kind: 'whole', status: 200, headers: { 'content-type': 'application/json' }, body };
}
