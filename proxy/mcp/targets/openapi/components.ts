import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import { cyclicComponents } from './cycles.ts';
import { unusable } from './problem.ts';
import { referenceOf } from './reference.ts';

/** What references in a document lead to. */
export class Components {
  /** Those that cannot be written out, as references begin with them. */
  readonly cyclic: ReadonlySet<string>;
  readonly #document: JsonObject;

  constructor(document: JsonObject) {
    this.#document = document;
    this.cyclic = cyclicComponents(document);
  }

  /** The object itself, or the one that it refers to, over any number of references. Throws for one that leads nowhere. */
  resolve(value: JsonValue | undefined, place: string): JsonObject {
    const seen = new Set<string>();
    let at = value;
    for (;;) {
      if (!isJsonObject(at)) throw unusable(place, 'expected an object');
      const reference = referenceOf(at);
      if (reference === null) return at;
      if (seen.has(reference)) throw unusable(place, `the reference ${reference} leads back to itself`);
      seen.add(reference);
      at = this.find(reference, place);
    }
  }

  /** What a reference names. Throws unless it is there. */
  find(reference: string, place: string): JsonValue {
    if (!reference.startsWith('#/components/'))
      throw unusable(place, `the reference ${reference} does not begin with #/components/`);
    let at: JsonValue | undefined = this.#document;
    for (const part of pointer(reference.slice(2), place)) at = member(at, part);
    if (at === undefined) throw unusable(place, `the reference ${reference} leads nowhere`);
    return at;
  }
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** RFC 6901 section 6. */
function pointer(text: string, place: string): readonly string[] {
  try {
    return text.split('/').map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    throw unusable(place, `the reference #/${text} is no JSON pointer`);
  }
}
