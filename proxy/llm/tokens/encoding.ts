import { badRequest } from '../failure.ts';

const NONE: Set<string> = new Set();

export type EncodingName = 'cl100k_base' | 'o200k_base';

const NEWER =
  /^(?:gpt-4o|chatgpt-4o|gpt-4\.|gpt-[5-9]|gpt-oss|gpt-audio|gpt-realtime|gpt-image|chat-latest|codex-mini|o[1-9])/;
/** Models of encodings that nobody uses any more. */
const FORGOTTEN =
  /^(?:gpt-?2|text-(?:davinci|curie|babbage|ada|similarity|search)|code-|davinci$|curie|babbage$|ada$|(?:davinci|cushman)-codex)/;

/**
 * How the texts of a model become tokens; models of other vendors are estimated by the older encoding. Throws an
 * `LlmFailure` for models whose encoding is not known here.
 */
export function encodingOf(model: string): EncodingName {
  if (FORGOTTEN.test(bare(model))) throw badRequest(`tokens of the model ${model} cannot be counted`);
  return encodingFor(model);
}

/** The same for whatever a model is called. */
export function encodingFor(model: string): EncodingName {
  return NEWER.test(bare(model)) ? 'o200k_base' : 'cl100k_base';
}

function bare(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).replace(/^ft:/, '');
}

/** Counts the tokens of a text; what is written like a special token is a text like any other, as services take it. */
export type Count = (text: string) => number;

/** The tables are large: they are read when they are first used, or with a configuration that will (`preload.ts`). */
export async function loadEncoding(name: EncodingName): Promise<Count> {
  const { countTokens } =
    name === 'o200k_base'
      ? await import('gpt-tokenizer/encoding/o200k_base')
      : await import('gpt-tokenizer/encoding/cl100k_base');
  return (text) => countTokens(text, { disallowedSpecial: NONE });
}
