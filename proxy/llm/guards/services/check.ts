import type { ContentScope, Guard, Rejection } from '../../../../src/config/ir/llm.ts';
import type { JsonObject } from '../../../exchange/attributes.ts';
import { Patience } from '../../../exchange/patience.ts';
import type { Clock } from '../../../exchange/wait.ts';
import type { Check, Subject, Verdict } from '../contract.ts';
import { GivenUp, GuardFailure } from '../contract.ts';
import { wholeCall } from '../stream/whole-call.ts';
import { WindowStage } from '../stream/window-stage.ts';
import type { Answer, GuardService, Question } from './contract.ts';

/** How a guard that asks somebody is set up. */
export interface AskingGuard {
  readonly guard: Exclude<Guard, { kind: 'regex' }>;
  readonly service: GuardService;
  readonly rejection: Rejection;
  readonly scope: readonly ContentScope[];
  readonly clock: Clock;
}

/** A guard whose verdicts come from a service. */
export function serviceCheck(asking: AskingGuard): Check {
  const { guard, service, rejection, scope } = asking;
  const audit = guard.kind === 'webhook' && guard.action === 'audit';
  const failOpen = audit || (guard.kind === 'webhook' && guard.failureMode === 'failOpen');
  const check: Check = {
    kind: guard.kind,
    rejection,
    scopes: new Set(scope),
    audit,
    failOpen,
    failOpenOnStreams: failOpen || guard.kind !== 'webhook',
    judge: (subject) => judge(asking, subject),
    stage: (watch, of) => wholeCall(of, new WindowStage({ check, service, watch })),
  };
  return check;
}

async function judge({ service, scope, clock }: AskingGuard, subject: Subject): Promise<Verdict> {
  const patience = new Patience(subject.exchange, clock);
  try {
    return verdictOf(subject, await service.ask(questionOf(subject, scope, patience.signal)), scope);
  } catch (error) {
    throw patience.refusal === null ? error : new GivenUp(patience.refusal);
  } finally {
    patience.release();
  }
}

function questionOf(subject: Subject, scope: readonly ContentScope[], signal: AbortSignal): Question {
  const { exchange, phase, headers, format, body } = subject;
  const messages = phase === 'request' ? format.messages(body) : format.choices(body);
  const request = phase === 'request' ? body : null;
  return { exchange, phase, headers, signal, body: request, messages, texts: () => textsOf(subject, scope) };
}

/** Empty texts are nobody's business. */
function textsOf(subject: Subject, scope: readonly ContentScope[]): string[] {
  const texts: string[] = [];
  mapTexts(subject, scope, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

function mapTexts(
  { format, body, phase }: Subject,
  scope: readonly ContentScope[],
  map: (text: string) => string,
): JsonObject {
  const looked = (text: string, of: ContentScope): string => (text !== '' && scope.includes(of) ? map(text) : text);
  return phase === 'request' ? format.mapRequest(body, looked) : format.mapResponse(body, looked);
}

function verdictOf(subject: Subject, answer: Answer, scope: readonly ContentScope[]): Verdict {
  switch (answer.kind) {
    case 'pass':
    case 'reject':
      return answer;
    case 'texts': {
      let next = 0;
      const body = mapTexts(subject, scope, (text) => answer.texts[next++] ?? text);
      return { kind: 'mask', body, what: answer.what };
    }
    case 'messages':
      return { kind: 'mask', body: withMessages(subject, answer), what: answer.what };
  }
}

function withMessages(
  { format, body, phase }: Subject,
  { messages }: Extract<Answer, { kind: 'messages' }>,
): JsonObject {
  if (phase === 'request') return format.withMessages(body, messages);
  if (format.choices(body).length !== messages.length) throw new GuardFailure('another number of choices');
  return format.withChoices(body, messages);
}
