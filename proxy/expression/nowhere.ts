import { Attributes } from '../exchange/attributes.ts';
import type { EvalContext } from './contract.ts';

/** For expressions that are evaluated without any connection or request. */
export const nowhere: EvalContext = {
  connection: {
    id: 0,
    bind: '',
    bindPort: 0,
    sourceAddress: '',
    sourcePort: 0,
    rawAddress: '',
    rawPort: 0,
    destinationAddress: '',
    destinationPort: 0,
    tls: null,
  },
  request: null,
  response: null,
  attributes: new Attributes(),
  progress: null,
  trace: null,
};
