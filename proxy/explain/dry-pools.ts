import { peerOf } from '../backends/connect.ts';
import { UpstreamError, type Origin, type UpstreamPools } from '../backends/upstream.ts';
import { emptyBody } from '../exchange/body.ts';
import { Headers } from '../exchange/headers.ts';

/** The status that stands for the answer of a backend that is not called. */
const ASSUMED_STATUS = 200;

/** Pools without connections: every call is answered with an empty 200. */
export class DryPools implements UpstreamPools {
  send(origin: Origin): ReturnType<UpstreamPools['send']> {
    const peer = peerOf(origin.address);
    const response = { status: ASSUMED_STATUS, headers: new Headers(), body: emptyBody, upgraded: null, peer };
    return { response: Promise.resolve(response), cancel() {} };
  }

  openTunnel(): Promise<never> {
    return Promise.reject(new UpstreamError('cancelled', 'nothing is called'));
  }

  retainOnly(): void {}
  close(): void {}
}
