import type { Transformation, TransformationPair, Transformations } from '../../ir/policy/transformations.ts';
import type {
  TransformationPairSpec,
  TransformationSpec,
  TransformationsSpec,
} from '../../schema/policy/transformations.ts';
import { always, mapChoice } from './conditional.ts';

export function transformations(spec: TransformationsSpec): Transformations {
  return mapChoice(spec, pair);
}

/** Those of a backend, which know no conditional form. */
export function plainTransformations(spec: TransformationPairSpec): Transformations {
  return always(pair(spec));
}

function pair({ request, response }: TransformationPairSpec): TransformationPair {
  return {
    ...(request === undefined ? {} : { request: transformation(request) }),
    ...(response === undefined ? {} : { response: transformation(response) }),
  };
}

function transformation({ metadata, add, set, ...rest }: TransformationSpec): Transformation {
  return {
    ...rest,
    metadata: Object.entries(metadata ?? {}),
    add: Object.entries(add ?? {}),
    set: Object.entries(set ?? {}),
  };
}
