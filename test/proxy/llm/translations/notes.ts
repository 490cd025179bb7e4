import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { Notes, TranslatedCall, Translation } from '../../../../proxy/llm/translations/contract.ts';

/** Keeps what a translation reports, a line each. */
export class KeptNotes implements Notes {
  readonly lines: string[] = [];

  dropped(path: string, why?: string): void {
    this.lines.push(why === undefined ? `- ${path}` : `- ${path} (${why})`);
  }

  renamed(path: string, to: string): void {
    this.lines.push(`${path} → ${to}`);
  }

  added(path: string): void {
    this.lines.push(`+ ${path}`);
  }
}

export function begin(
  translation: Translation,
  body: JsonObject,
  { model, notes }: { readonly model?: string; readonly notes?: Notes } = {},
): TranslatedCall {
  return translation.begin(
    body,
    {
      model: model ?? (typeof body['model'] === 'string' ? body['model'] : 'some-model'),
      streaming: body['stream'] === true,
      headers: new Headers(),
      promptCaching: null,
      guardrail: null,
      region: null,
      betas: null,
    },
    notes ?? new KeptNotes(),
  );
}
