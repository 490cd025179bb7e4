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

/** The model that the query of a session names; Azure's clients call it a deployment. */
export function queryModel(target: string): string {
  const query = target.indexOf('?');
  if (query === -1) return '';
  const parameters = new URLSearchParams(target.slice(query + 1));
  return parameters.get('model') ?? parameters.get('deployment') ?? '';
}

/** The same target with another model, by the name that its reader has for it. */
export function withQueryModel(target: string, model: string, name: 'model' | 'deployment' = 'model'): string {
  const at = target.indexOf('?');
  const pairs = at === -1 ? [] : target.slice(at + 1).split('&');
  const others = pairs.filter((pair) => pair !== '' && !/^(?:model|deployment)(?:=|$)/.test(pair));
  const path = at === -1 ? target : target.slice(0, at);
  return `${path}?${[`${name}=${encodeURIComponent(model)}`, ...others].join('&')}`;
}
