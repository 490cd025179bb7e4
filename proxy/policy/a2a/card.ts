import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts';
import { anchored, type CardPlace } from './card-place.ts';

export type RewrittenCard =
  | { readonly kind: 'card'; readonly text: string; readonly urls: number }
  | { readonly kind: 'unusable'; readonly problem: string };

/** A card whose addresses lead to the gateway. */
export function rewriteCard(text: string, place: CardPlace): RewrittenCard {
  return rewritten(text, (document, counter) => moved(document, place, counter));
}

/** An answer of JSON-RPC whose result is a card; one that has no such result is left as it is. */
export function rewriteCardResult(text: string, place: CardPlace): RewrittenCard {
  return rewritten(text, (answer, counter) => {
    if (!isJsonObject(answer) || !isJsonObject(answer.result)) return 'the answer has no agent card';
    const result = moved(answer.result, place, counter);
    return typeof result === 'string' ? result : { ...answer, result };
  });
}

function rewritten(text: string, change: (value: JsonValue, counter: Counter) => JsonObject | string): RewrittenCard {
  const counter = { urls: 0 };
  try {
    // `as`: what `JSON.parse` gives.
    const changed = change(JSON.parse(text) as JsonValue, counter);
    if (typeof changed === 'string') return unusable(changed);
    return { kind: 'card', text: JSON.stringify(changed), urls: counter.urls };
  } catch (error) {
    return unusable(error instanceof SyntaxError ? 'the agent card is not JSON' : 'the agent card cannot be written');
  }
}

/** A text says why it is no card. Signatures go: they are of what the agent wrote. */
function moved(card: JsonValue, place: CardPlace, counter: Counter): JsonObject | string {
  if (!isJsonObject(card)) return 'the agent card is no object';
  const { supportedInterfaces, url, additionalInterfaces } = card;
  if (supportedInterfaces !== undefined && !Array.isArray(supportedInterfaces))
    return '`supportedInterfaces` of the agent card is no list';
  if (supportedInterfaces === undefined && typeof url !== 'string') return 'the agent card has no url';
  const { signatures: _, ...unsigned } = card;
  return {
    ...unsigned,
    ...(supportedInterfaces === undefined
      ? {}
      : { supportedInterfaces: interfaces(supportedInterfaces, place, counter) }),
    ...(typeof url === 'string' ? { url: mainUrl(url, place, counter) } : {}),
    ...(Array.isArray(additionalInterfaces)
      ? { additionalInterfaces: interfaces(additionalInterfaces, place, counter) }
      : {}),
  };
}

function unusable(problem: string): RewrittenCard {
  return { kind: 'unusable', problem };
}

interface Counter {
  urls: number;
}

function interfaces(list: readonly JsonValue[], place: CardPlace, counter: Counter): JsonValue {
  return list.map((each) => {
    const url = isJsonObject(each) ? each.url : undefined;
    const own = typeof url === 'string' ? anchored(url, place) : null;
    if (own === null || !isJsonObject(each)) return each;
    counter.urls++;
    return { ...each, url: own };
  });
}

/** Clients take it for the agent, so it has to be an address of the gateway whatever it was. */
function mainUrl(url: string, place: CardPlace, counter: Counter): string {
  counter.urls++;
  const base = `${place.origin}${place.publicPath}`;
  const own = anchored(url, place);
  return own === null || own === `${base}/` ? base : own;
}
