/** A call of a tool that a model asks for. */
export interface ChatToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, as far as it has come. */
  readonly arguments: string;
}

/** Tokens as the service counts them; undefined where it tells nothing. */
export interface ChatUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
}

/** What a model said, whole or as far as it has come. */
export interface ChatMessage {
  readonly model: string | undefined;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ChatToolCall[];
  /** Why it stopped, in the words of the format. */
  readonly finish: string | undefined;
  readonly usage: ChatUsage | undefined;
  /** What went wrong in the middle of a stream. */
  readonly error: string | undefined;
}

/** A message in the making: formats put into it what they read. */
export class ChatDraft {
  text = '';
  reasoning = '';
  model: string | undefined;
  finish: string | undefined;
  error: string | undefined;
  #usage: ChatUsage | undefined;
  readonly #tools = new Map<string | number, { id: string; name: string; arguments: string }>();

  /** Later numbers take the place of earlier ones. */
  count(usage: { readonly [Key in keyof ChatUsage]: number | undefined }): void {
    const told = Object.entries(usage).filter(([, value]) => value !== undefined);
    if (told.length > 0) this.#usage = { ...this.#usage, ...Object.fromEntries(told) };
  }

  /** Adds to the call that goes by `key` in the stream. */
  tool(key: string | number, part: { readonly [Key in keyof ChatToolCall]?: string | undefined }): void {
    const call = this.#tools.get(key) ?? { id: '', name: '', arguments: '' };
    this.#tools.set(key, call);
    call.id ||= part.id ?? '';
    call.name ||= part.name ?? '';
    call.arguments += part.arguments ?? '';
  }

  /** Takes the place of what has come of the call's arguments. */
  wholeArguments(key: string | number, text: string): void {
    const call = this.#tools.get(key);
    if (call !== undefined) call.arguments = text;
  }

  get message(): ChatMessage {
    const { model, text, reasoning, finish, error } = this;
    const toolCalls = [...this.#tools.values()].map((call) => ({ ...call }));
    return { model, text, reasoning, toolCalls, finish, usage: this.#usage, error };
  }

  /** Whether nothing of a message was found. */
  get isEmpty(): boolean {
    const { text, reasoning, finish, error } = this;
    return text === '' && reasoning === '' && this.#tools.size === 0 && !finish && !error && !this.#usage;
  }
}
