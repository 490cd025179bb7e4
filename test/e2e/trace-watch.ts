/** Somebody who watches the next request through the admin interface. */
export class TraceWatch {
  readonly #response: Response;
  readonly #abort: AbortController;

  private constructor(response: Response, abort: AbortController) {
    this.#response = response;
    this.#abort = abort;
  }

  static async open(admin: string): Promise<TraceWatch> {
    const abort = new AbortController();
    const response = await fetch(`${admin}/debug/trace`, { signal: abort.signal });
    return new TraceWatch(response, abort);
  }

  /** Everything that was told of the request, up to its end. */
  async finished(): Promise<string> {
    let text = '';
    for await (const chunk of this.#response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (text.includes('requestFinished')) break;
    }
    return text;
  }

  close(): void {
    this.#abort.abort();
  }
}
