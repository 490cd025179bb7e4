import { fields, newReader } from './encode.ts';

const VARINT = 0;
const BYTES = 2;
const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo';

/**
 * The pause that a gRPC service asks for in the details of its status (`google.rpc.RetryInfo`), in milliseconds; null
 * when it does not ask to be called again.
 */
export function retryInfoMs(details: Uint8Array | null): number | null {
  if (details === null) return null;
  try {
    return infoIn(details);
  } catch {
    return null; // What cannot be read asks for nothing.
  }
}

/** `google.rpc.Status`: a list of `google.protobuf.Any` in field 3. */
function infoIn(status: Uint8Array): number | null {
  let found: number | null = null;
  fields(newReader(status), (reader, field, wire) => {
    if (field !== 3 || wire !== BYTES) return false;
    let type = '';
    let value: Uint8Array = new Uint8Array();
    fields(newReader(reader.bytes()), (part, partField, partWire) => {
      if (partWire !== BYTES || partField > 2) return false;
      if (partField === 1) type = part.string();
      else value = part.bytes();
      return true;
    });
    if (type === RETRY_INFO) found = delayIn(value);
    return true;
  });
  return found;
}

/** `RetryInfo.retry_delay`, a `google.protobuf.Duration`; without one the service can be called again at any time. */
function delayIn(info: Uint8Array): number {
  let delayMs = 0;
  fields(newReader(info), (reader, field, wire) => {
    if (field !== 1 || wire !== BYTES) return false;
    fields(newReader(reader.bytes()), (part, partField, partWire) => {
      if (partWire !== VARINT) return false;
      if (partField === 1) delayMs += Number(part.int64()) * 1000;
      else if (partField === 2) delayMs += part.int32() / 1e6;
      else return false;
      return true;
    });
    return true;
  });
  return Math.max(0, delayMs);
}
