/** What tests use of the package, which comes with the libraries of vendors and has no types of its own. */
declare module 'ws' {
  import type { EventEmitter } from 'node:events';
  import type { Server } from 'node:http';

  export class WebSocket extends EventEmitter {
    constructor(url: string);
    send(data: string): void;
    terminate(): void;
  }

  export class WebSocketServer {
    readonly clients: ReadonlySet<WebSocket>;
    constructor(options: { readonly server: Server });
    on(event: 'connection', listener: (socket: WebSocket) => void): this;
    close(): void;
  }
}
