import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts';
import { anchored, type CardPlace } from './card-place.ts';

export type RewrittenCard =
  | { readonly kind: 'card'; readonly text: string; readonly urls: number }
  | { readonly kind: 'unusable'; readonly problem: string };

/** A card whose addresses lead to the gateway. Signatures go: they are of what the agent wrote. */
export function rewriteCard(text: string, place: CardPlace): RewrittenCard {
  try {
    // `as`: what `JSON.parse` gives.
    const card = JSON.parse(text) as JsonValue;
    if (!isJsonObject(card)) return unusable('the agent card is no object');
    const { supportedInterfaces, url, additionalInterfaces } = card;
    if (supportedInterfaces !== undefined && !Array.isArray(supportedInterfaces))
      return unusable('`supportedInterfaces` of the agent card is no list');
    if (supportedInterfaces === undefined && typeof url !== 'string') return unusable('the agent card has no url');
    const counter = { urls: 0 };
    const changed: JsonObject = {
      ...card,
      ...(supportedInterfaces === undefined
        ? {}
        : { supportedInterfaces: interfaces(supportedInterfaces, place, counter) }),
      ...(typeof url === 'string' ? { url: mainUrl(url, place, counter) } : {}),
      ...(Array.isArray(additionalInterfaces)
        ? { additionalInterfaces: interfaces(additionalInterfaces, place, counter) }
        : {}),
    };
    const { signatures: _, ...unsigned } = changed;
    return { kind: 'card', text: JSON.stringify(unsigned), urls: counter.urls };
  } catch (error) {
    return unusable(error instanceof SyntaxError ? 'the agent card is not JSON' : 'the agent card cannot be written');
  }
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
    const moved = typeof url === 'string' ? anchored(url, place) : null;
    if (moved === null || !isJsonObject(each)) return each;
    counter.urls++;
    return { ...each, url: moved };
  });
}

/** Clients take it for the agent, so it has to be an address of the gateway whatever it was. */
function mainUrl(url: string, place: CardPlace, counter: Counter): string {
  counter.urls++;
  const base = `${place.origin}${place.publicPath}`;
  const moved = anchored(url, place);
  return moved === null || moved === `${base}/` ? base : moved;
}
