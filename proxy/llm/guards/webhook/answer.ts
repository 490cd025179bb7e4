import type { JsonObject } from '../../../exchange/attributes.ts';
import { number, object, objects, text } from '../../json.ts';
import type { Phase } from '../contract.ts';
import { GuardFailure } from '../contract.ts';
import { type Answer, passed } from '../services/contract.ts';
import type { FlatMessage } from '../text/contract.ts';

/** What a webhook decided. Throws a `GuardFailure` for an answer that is no decision. */
export function webhookAnswer(status: number, body: JsonObject, asked: { phase: Phase; count: number }): Answer {
  const action = object(body['action']);
  if (action === undefined) throw new GuardFailure('the webhook tells no action');
  const answer = actionOf(action, asked);
  // A broken service says nothing good about a text.
  if (answer.kind === 'pass' && (status < 200 || status > 299))
    throw new GuardFailure(`the webhook answered with status ${status}`);
  return answer;
}

/** The kind of an action shows in its fields. */
function actionOf(action: JsonObject, { phase, count }: { phase: Phase; count: number }): Answer {
  const what = text(action['reason']) ?? 'no reason given';
  const { body } = action;
  if (body === undefined || body === null) return passed;
  if (typeof body === 'string') {
    const status = number(action['status_code']);
    if (status === undefined || !Number.isInteger(status) || status < 200 || status > 599)
      throw new GuardFailure('the webhook rejects with a status that is none');
    return { kind: 'reject', status, body, what };
  }
  const mask = object(body);
  const masked = phase === 'request' ? mask?.['messages'] : mask?.['choices'];
  if (!Array.isArray(masked)) throw new GuardFailure('the webhook masks something else than it was asked about');
  const messages = objects(masked).map((item) => messageOf(phase === 'request' ? item : object(item['message'])));
  const known = messages.filter((message) => message !== null);
  if (known.length !== masked.length) throw new GuardFailure('the webhook sent messages that are none');
  if (phase === 'response' && known.length !== count)
    throw new GuardFailure('the webhook sent another number of choices than it was asked about');
  return { kind: 'messages', messages: known, what };
}

function messageOf(message: JsonObject | undefined): FlatMessage | null {
  const role = text(message?.['role']);
  const content = text(message?.['content']);
  return role === undefined || content === undefined ? null : { role, content };
}
