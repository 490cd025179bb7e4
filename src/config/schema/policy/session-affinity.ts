import { object } from '../build.ts';
import { cel } from '../scalars.ts';

/** `sessionAffinity`: equal values go to the same endpoint. */
export const sessionAffinity = object('Requests with an equal value go to the same endpoint.', { source: cel });
