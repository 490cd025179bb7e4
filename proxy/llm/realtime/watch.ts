import type { LlmFacts } from '../../exchange/llm-facts.ts';
import { type LlmUsage, soundUsage } from '../../exchange/llm-usage.ts';
import { detectedTold } from '../detect/told.ts';
import { object, parseObject, text } from '../json.ts';
import { ServerFrames } from './server-frames.ts';

/** Reads what a realtime session costs from the bytes of its server; the answers of a session add up. */
export function watchRealtime(facts: LlmFacts, limitBytes: number): (chunk: Buffer) => void {
  const frames = new ServerFrames((message) => told(message, facts), limitBytes);
  return (chunk) => frames.push(chunk);
}

function told(message: string, facts: LlmFacts): void {
  if (!message.includes('response.done') && !message.includes('session.created')) return;
  const event = parseObject(message);
  if (event?.['type'] === 'session.created') {
    facts.responseModel = text(object(event['session'])?.['model']) ?? facts.responseModel;
  }
  if (event?.['type'] !== 'response.done') return;
  const { usage } = detectedTold(event);
  if (usage !== undefined) facts.usage = added(facts.usage, soundUsage(usage));
}

function added(before: LlmUsage | null, after: LlmUsage): LlmUsage {
  if (before === null) return after;
  const sums = Object.entries(after).map(([name, value]) => {
    const had = Object.entries(before).find(([other]) => other === name)?.[1];
    return [name, typeof value === 'number' && typeof had === 'number' ? value + had : (value ?? had)];
  });
  // `as`: the same fields with the same kinds of values.
  return Object.fromEntries(sums) as LlmUsage;
}

/** The model that the query of a session names. */
export function queryModel(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? '' : (new URLSearchParams(target.slice(query + 1)).get('model') ?? '');
}

/** The same target with another model. */
export function withQueryModel(target: string, model: string): string {
  const at = target.indexOf('?');
  const pairs = at === -1 ? [] : target.slice(at + 1).split('&');
  const others = pairs.filter((pair) => pair !== '' && pair !== 'model' && !pair.startsWith('model='));
  const path = at === -1 ? target : target.slice(0, at);
  return `${path}?${[`model=${encodeURIComponent(model)}`, ...others].join('&')}`;
}
