import { request, type IncomingMessage } from 'node:http';

import { createParser } from 'eventsource-parser';

/** A reader of server-sent events that can stand still. */
export class EventReader {
  readonly events: unknown[] = [];
  readonly comments: string[] = [];
  readonly response: IncomingMessage;
  readonly ended: Promise<void>;

  private constructor(response: IncomingMessage) {
    this.response = response;
    const parser = createParser({
      onEvent: ({ data }) => void this.events.push(JSON.parse(data)),
      onComment: (comment) => void this.comments.push(comment.trim()),
    });
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => parser.feed(chunk));
    this.ended = new Promise((resolve) => {
      response.once('close', resolve);
    });
  }

  /** Resolves once the stream says that it is ready. */
  static async open(url: string, method = 'GET'): Promise<EventReader> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(url, { method, agent: false }, resolve).once('error', reject).end();
    });
    const reader = new EventReader(response);
    while (!reader.comments.includes('ready')) await new Promise((resolve) => response.once('data', resolve));
    return reader;
  }

  types(): string[] {
    return this.events.map((event) => (event as { message: { type: string } }).message.type);
  }

  close(): void {
    this.response.destroy();
  }
}
