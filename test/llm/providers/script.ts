/** What the prompt asks a simulated provider for. */
export interface Script {
  readonly reasoning: string | null;
  /** Pieces of the text, as a stream sends them. */
  readonly pieces: readonly string[];
  readonly calls: readonly ScriptCall[];
  readonly stop: 'stop' | 'length' | 'refusal';
  /** Tokens of the input that came out of a cache. */
  readonly cachedTokens: number;
  readonly fault: Fault | null;
}

export interface ScriptCall {
  readonly name: string;
  /** JSON, as written. */
  readonly arguments: string;
}

export type Fault =
  | { readonly kind: 'error'; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  /** Nothing is answered. */
  | { readonly kind: 'stall' }
  /** A stream stops to flow after its first piece. */
  | { readonly kind: 'pause' }
  /** The connection breaks in the middle of the answer. */
  | { readonly kind: 'die' }
  /** A stream reports an error after its first piece. */
  | { readonly kind: 'streamError' }
  | { readonly kind: 'html' };

/** What a request says, in whichever format. */
export interface Asked {
  /** The text of the last turn of the user; results of tools are apart. */
  readonly prompt: string;
  /** Texts of results of tools after the last turn of the model. */
  readonly toolResults: readonly string[];
  readonly images: number;
}

/** An answer, and what it comes to in tokens. */
export interface Scripted {
  readonly script: Script;
  readonly counted: Counted;
}

export function scripted(asked: Asked): Scripted {
  const script = scriptOf(asked);
  return { script, counted: countedOf(script, asked) };
}

/**
 * Lines of the prompt that begin with `@`: `@say text`, `@call name {json}` (several are parallel), `@json {…}`,
 * `@think text`, `@count n`, `@length`, `@refuse`, `@cached n`, `@error status [header: value]…`, `@stall`, `@pause`,
 * `@die`, `@stream-error`, `@html`. Without any, the prompt is echoed, or the results of tools are told.
 */
function scriptOf({ prompt, toolResults, images }: Asked): Script {
  const lines = prompt.split('\n').filter((line) => line.startsWith('@'));
  const of = (word: string): string[] =>
    lines
      .filter((line) => line === `@${word}` || line.startsWith(`@${word} `))
      .map((line) => line.slice(word.length + 2));
  const answered = toolResults.length > 0;
  const counted = Number(of('count')[0] ?? 0);
  const words = Array.from({ length: counted }, (_, index) => `${index + 1} `);
  const said = of('say')[0] ?? of('json')[0];
  const text = said ?? (lines.length > 0 && !answered ? '' : echoed({ prompt, toolResults, images }));
  const calls = answered ? [] : of('call').map(callOf);
  const stop = of('refuse').length > 0 ? 'refusal' : of('length').length > 0 ? 'length' : 'stop';
  const fallback = calls.length === 0 && text === '' ? ['ok'] : split(text);
  return {
    reasoning: of('think')[0] ?? null,
    pieces: counted > 0 ? words : fallback,
    calls,
    stop,
    cachedTokens: Number(of('cached')[0] ?? 0),
    fault: answered ? null : faultOf(of),
  };
}

function echoed({ prompt, toolResults, images }: Asked): string {
  if (toolResults.length > 0) return `tools said: ${toolResults.join(' | ')}`;
  return images > 0 ? `echo: ${prompt} (${images} images)` : `echo: ${prompt}`;
}

function callOf(source: string): ScriptCall {
  const space = source.indexOf(' ');
  return space === -1
    ? { name: source, arguments: '' }
    : { name: source.slice(0, space), arguments: source.slice(space + 1) };
}

/** In pieces that each have a part of a word, so that joining them wrongly shows. */
function split(text: string): readonly string[] {
  return text === '' ? [] : (text.match(/[^]{1,7}/gu) ?? [text]);
}

function faultOf(of: (word: string) => string[]): Fault | null {
  const error = of('error')[0];
  if (error !== undefined) {
    const [status = '500', ...pairs] = error.split(/ (?=[\w-]+: )| /);
    const headers = error
      .slice(status.length)
      .trim()
      .split(/ (?=[\w-]+: )/)
      .flatMap((pair) => {
        const colon = pair.indexOf(': ');
        return colon === -1 ? [] : [[pair.slice(0, colon), pair.slice(colon + 2)] as const];
      });
    return { kind: 'error', status: Number(status), headers: pairs.length === 0 ? {} : Object.fromEntries(headers) };
  }
  if (of('stall').length > 0) return { kind: 'stall' };
  if (of('pause').length > 0) return { kind: 'pause' };
  if (of('die').length > 0) return { kind: 'die' };
  if (of('stream-error').length > 0) return { kind: 'streamError' };
  return of('html').length > 0 ? { kind: 'html' } : null;
}

/** Tokens as the simulated providers count them: words, and a piece of an answer is one. */
export function tokensOf(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

export interface Counted {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
}

/** `input` has the cached ones in it. */
function countedOf(script: Script, { prompt, toolResults }: Asked): Counted {
  const reasoning = script.reasoning === null ? 0 : tokensOf(script.reasoning);
  return {
    input: 10 + tokensOf(prompt) + toolResults.reduce((sum, text) => sum + tokensOf(text), 0) + script.cachedTokens,
    cached: script.cachedTokens,
    output: reasoning + script.pieces.length + 5 * script.calls.length,
    reasoning,
  };
}
