import { rpcCodes } from '../message/codes.ts';
import type { RpcFailure } from '../message/message.ts';
import type { TargetFailure } from './contract.ts';

/** What a failure means to somebody who can only be told of errors. */
export function errorOf(failure: TargetFailure): RpcFailure {
  return failure.kind === 'rpc' || failure.kind === 'denied'
    ? failure.error
    : { code: rpcCodes.internal, message: failure.message };
}
