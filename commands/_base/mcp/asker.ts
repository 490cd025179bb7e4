import { InterruptedError } from '../../../src/admin/client/errors.ts';
import type { Elicitation, ElicitationAnswer } from '../../../src/mcp/connect.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts';
import type { FormOptions } from '../../../ui/form/state.ts';
import type { FormOutcome } from '../../../ui/form/open.tsx';
import type { Cli } from '../cli.ts';
import { terminalOf } from '../terminal.ts';

/** Of what is called. */
export interface About {
  readonly title: string;
  readonly description: string | undefined;
  readonly schema: JsonObject | undefined;
  /** What is done with the arguments, in a word. */
  readonly verb: string;
}

/** Asks a person at a terminal by forms, one after the other. */
export class Asker {
  readonly #cli: Cli;
  #turn: Promise<unknown> = Promise.resolve();
  /** A form is open: nothing else may write to the terminal. */
  isAsking = false;

  private constructor(cli: Cli) {
    this.#cli = cli;
  }

  /** Undefined where nobody sits: then nothing is ever asked. */
  static at(cli: Cli): Asker | undefined {
    return cli.stdin.isTTY === true && cli.stdout.isTTY === true ? new Asker(cli) : undefined;
  }

  /** The arguments, when something that is needed was not given; whoever leaves the form interrupts the command. */
  async arguments({ title, description, schema, verb }: About, given: JsonObject): Promise<JsonObject> {
    if (!lacks(schema, given)) return given;
    const message = description ?? '';
    const outcome = await this.#ask({ title, message, schema, given, verb, declinable: false }, this.#cli.signal);
    if (outcome.kind === 'send') return outcome.values;
    throw new InterruptedError();
  }

  /** What a server asks in the middle of a call. Leaving the form is an answer as well; ctrl-c ends the command. */
  async answer(elicitation: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer> {
    const { message, schema } = elicitation;
    const form = { title: 'The server asks', message, schema, given: {}, verb: 'answer', declinable: true };
    const outcome = await this.#ask(form, signal);
    switch (outcome.kind) {
      case 'send':
        return { action: 'accept', content: outcome.values };
      case 'decline':
        return { action: 'decline' };
      case 'cancel':
        return { action: 'cancel' };
      case 'interrupt':
        throw new InterruptedError();
    }
  }

  #ask(form: FormOptions, signal: AbortSignal): Promise<FormOutcome> {
    const turn = this.#turn.then(async () => {
      if (signal.aborted) return { kind: 'interrupt' } as const;
      const { openForm } = await import('../../../ui/form/open.tsx');
      this.isAsking = true;
      try {
        return await openForm({ ...form, ...terminalOf(this.#cli), signal });
      } finally {
        this.isAsking = false;
      }
    });
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

function lacks(schema: JsonObject | undefined, given: JsonObject): boolean {
  const required: JsonValue | undefined = isJsonObject(schema) ? schema['required'] : undefined;
  if (!Array.isArray(required)) return false;
  return required.some((name) => typeof name === 'string' && !Object.hasOwn(given, name));
}
