import type { JsonObject } from '../../../../src/shared/json.ts';
import type { TargetFailure } from '../../targets/contract.ts';
import { nobodyThere } from '../members.ts';
import type { FanOut, Outcome } from './fan-out.ts';

export interface Answer {
  readonly target: number;
  readonly result: JsonObject;
}

/**
 * Waits for what targets make of their parts, and applies the failure mode: with `failClosed` the first failure ends the
 * whole call, with `failOpen` whoever fails is left out while somebody is left. Null when the client has been told why
 * there is nothing to merge.
 */
export function gather(
  fan: FanOut,
  parts: readonly Promise<Outcome>[],
  severe: (failure: TargetFailure) => boolean = () => false,
): Promise<readonly Answer[] | null> {
  const { failOpen } = fan.members.plan;
  return new Promise((resolve) => {
    const answers: Answer[] = [];
    const failures: TargetFailure[] = [];
    const settle = (outcome: Outcome): void => {
      if (outcome.kind === 'result') answers.push(outcome);
      else failures.push(outcome.failure);
      const fatal = outcome.kind === 'failure' && (!failOpen || severe(outcome.failure));
      if (fatal) return resolve(refuse(fan, outcome.failure));
      if (answers.length + failures.length < parts.length) return;
      if (answers.length === 0) return resolve(refuse(fan, worst(failures)));
      resolve(answers.sort((a, b) => a.target - b.target));
    };
    if (parts.length === 0) resolve(refuse(fan, worst(failures)));
    for (const part of parts) part.then(settle, (error: unknown) => resolve(refuse(fan, thrown(error))));
  });
}

function refuse(fan: FanOut, failure: TargetFailure): null {
  fan.fail(failure);
  return null;
}

/** Errors that targets answered say more than connections that failed. */
function worst(failures: readonly TargetFailure[]): TargetFailure {
  const told = failures.find((failure) => failure.kind === 'rpc');
  return told ?? failures.at(-1) ?? nobodyThere;
}

function thrown(error: unknown): TargetFailure {
  return { kind: 'broken', message: error instanceof Error ? error.message : String(error) };
}
