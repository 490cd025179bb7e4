import { type RpcMethod, ServiceError } from './contract.ts';

/** A message of the service. Throws a `ServiceError` for bytes that are none. */
export function decoded<I, O>(method: RpcMethod<I, O>, bytes: Uint8Array): O {
  try {
    return method.decode(bytes);
  } catch (error) {
    throw new ServiceError('protocol', 'the service sent a message that cannot be read', { cause: error });
  }
}
