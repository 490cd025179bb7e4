import { EventStreamCodec } from '@smithy/eventstream-codec';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

/** One message as the vendor's own encoder writes it. */
export function awsFrame(headers: Readonly<Record<string, string>>, payload: Uint8Array | string): Uint8Array {
  const named = Object.entries(headers).map(([name, value]) => [name, { type: 'string' as const, value }]);
  return codec.encode({ headers: Object.fromEntries(named), body: Buffer.from(payload) });
}

/** An event of a service. */
export function awsEvent(type: string, data: object): Uint8Array {
  return awsFrame(
    { ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' },
    JSON.stringify(data),
  );
}

/** A fault inside a stream. */
export function awsException(type: string, message: string): Uint8Array {
  return awsFrame({ ':message-type': 'exception', ':exception-type': type }, JSON.stringify({ message }));
}
