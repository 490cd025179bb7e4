import { z } from 'zod';
import { object } from '../build.ts';
import { simpleRef } from './request-mirror.ts';

/** `inferenceRouting`: an endpoint picker chooses the endpoint. */
export const inferenceRouting = object('An endpoint picker chooses the endpoint.', {
  endpointPicker: simpleRef,
  destinationMode: z.enum(['validated', 'passthrough']).default('validated'),
});
