import type { McpBecame, McpFacts, McpKind, McpSaid } from '../../../src/admin/protocol/trace-event.ts';
import type { Severity, TraceMessage } from '../../../src/admin/protocol/trace-event.ts';
import { messageOf } from '../../../src/shared/errors.ts';
import { isJsonObject, type JsonObject } from '../../../src/shared/json.ts';
import type { Recorder } from '../../telemetry/recorder.ts';
import { sessionDigest } from '../../telemetry/session-digest.ts';
import type { RequestId, RpcMessage } from '../message/message.ts';
import { writeMessage } from '../message/write.ts';
import type { CallSink, Calling, TargetFailure } from '../targets/contract.ts';

/** Who is spoken to, and how much of a message is recorded. */
export interface Side {
  /** Null for the client's own side. */
  readonly target: { readonly name: string; readonly transport: string } | null;
  readonly limitBytes: number;
  readonly version: string | null;
  /** Of the conversation, as it is when it is asked for. */
  readonly session: () => string | null;
}

/** One message, from its start to what became of it. Made only where somebody watches. */
export class MessageTrace {
  readonly #trace: Recorder;
  readonly #side: Side;
  readonly #kind: McpKind;
  readonly #message: RpcMessage | null;
  readonly #startedAt: number;
  readonly #release: () => void;
  #notifications = 0;
  #requests = 0;
  #over = false;

  /** `message` is null for streams and for ends of sessions. */
  constructor(trace: Recorder, side: Side, { kind, message }: { kind: McpKind; message: RpcMessage | null }) {
    this.#trace = trace;
    this.#side = side;
    this.#kind = kind;
    this.#message = message;
    // What is told when the client has its answer already belongs to the request too.
    this.#release = trace.hold();
    this.#startedAt = trace.now();
    const said: McpSaid = { ...this.#facts(), ...this.#recorded(message) };
    const { target } = side;
    trace.emit(
      target === null
        ? { type: 'mcpRequest', ...said }
        : { type: 'mcpCallStart', target: target.name, transport: target.transport, ...said },
    );
  }

  /** The sink with what comes noted on its way. */
  sink(sink: CallSink): CallSink {
    const noted: CallSink = {
      onMessage: (message) => {
        this.heard(message);
        sink.onMessage(message);
      },
      onEnd: (failure) => {
        this.ended(failure);
        sink.onEnd(failure);
      },
    };
    if (sink.onOpen !== undefined) noted.onOpen = () => sink.onOpen?.();
    return noted;
  }

  calling(calling: Calling): Calling {
    return {
      cancel: () => {
        calling.cancel();
        this.#became({ outcome: 'cancelled' }, 'info');
      },
      pause: () => calling.pause(),
      resume: () => calling.resume(),
    };
  }

  heard(message: RpcMessage): void {
    if (message.kind === 'notification') this.#notifications += 1;
    else if (message.kind === 'request') this.#requests += 1;
    else if (message.kind === 'error') {
      const { code, message: error } = message.error;
      this.#became({ outcome: 'error', code, error, ...this.#recorded(message) }, this.#whenRefused());
    } else if (this.#isAnswer(message.id)) {
      const isError = message.result['isError'] === true;
      const agreed = this.#method === 'initialize' ? textIn(message.result, 'protocolVersion') : null;
      const shown = {
        ...this.#recorded(message),
        ...(agreed === null ? {} : { protocolVersion: agreed }),
        ...(isError ? { isError, error: firstText(message.result) } : {}),
      };
      this.#became({ outcome: isError ? 'error' : 'result', ...shown }, isError ? 'error' : 'success');
    }
  }

  /** Nothing more comes. */
  ended(failure: TargetFailure | null): void {
    if (failure === null) this.#became({ outcome: this.#kind === 'notification' ? 'accepted' : 'ended' }, 'info');
    else if (failure.kind === 'unsupported') this.#became({ outcome: 'unsupported', error: failure.message }, 'info');
    else if (failure.kind !== 'http' && 'error' in failure) {
      const { code, message: error } = failure.error;
      this.#became({ outcome: 'error', code, error }, this.#whenRefused());
    } else this.#failed(failure);
  }

  /** The outcome of what has no answer, noted on its way. */
  async settled(outcome: Promise<TargetFailure | null>): Promise<TargetFailure | null> {
    try {
      const failure = await outcome;
      if (failure === null) this.accepted();
      else this.ended(failure);
      return failure;
    } catch (error) {
      this.ended({ kind: 'broken', message: messageOf(error) });
      throw error;
    }
  }

  /** Taken, with no answer due. */
  accepted(): void {
    this.#became({ outcome: 'accepted' }, 'info');
  }

  #failed(failure: Extract<TargetFailure, { readonly message: string }>): void {
    const status = failure.kind === 'http' || failure.kind === 'refused' ? failure.status : null;
    const code = failure.kind === 'http' ? (failure.error?.code ?? null) : null;
    // Servers need have no stream of their own.
    if (this.#kind === 'stream' && status === 405)
      this.#became({ outcome: 'unsupported', status, error: failure.message }, 'info');
    else this.#became({ outcome: 'failed', status, code, error: failure.message }, this.#whenRefused());
  }

  /** The answer to a question that is asked to find out whether it is understood. */
  #whenRefused(): Severity {
    const { target } = this.#side;
    const method = this.#method;
    if (target === null) return 'error';
    return method === 'server/discover' ? 'info' : method === 'initialize' ? 'warn' : 'error';
  }

  #became(what: Partial<McpBecame> & Pick<McpBecame, 'outcome'>, severity: Severity): void {
    if (this.#over) return;
    this.#over = true;
    const { target } = this.#side;
    const became: McpBecame = {
      ...this.#facts(),
      code: null,
      status: null,
      error: null,
      notifications: this.#notifications,
      requests: this.#requests,
      ...what,
    };
    const event: TraceMessage =
      target === null ? { type: 'mcpResponse', ...became } : { type: 'mcpCallResult', target: target.name, ...became };
    this.#trace.emit(event, severity, this.#startedAt);
    this.#release();
  }

  get #method(): string | null {
    const message = this.#message;
    return message?.kind === 'request' || message?.kind === 'notification' ? message.method : null;
  }

  #facts(): McpFacts {
    const { version, session } = this.#side;
    const id = session();
    const message = this.#message;
    const params = message?.kind === 'request' || message?.kind === 'notification' ? message.params : undefined;
    return {
      kind: this.#kind,
      method: this.#method,
      item: itemIn(this.#method, params),
      protocolVersion: version ?? textIn(params, 'protocolVersion'),
      session: id === null ? null : sessionDigest(id),
    };
  }

  #isAnswer(id: RequestId): boolean {
    return this.#message?.kind !== 'request' || this.#message.id === id;
  }

  #recorded(message: RpcMessage | null): Pick<McpSaid, 'body' | 'truncated'> {
    if (message === null) return {};
    const bytes = Buffer.from(writeMessage(message));
    const { limitBytes } = this.#side;
    const truncated = Math.max(0, bytes.byteLength - limitBytes);
    return {
      body: bytes.subarray(0, limitBytes).toString('base64'),
      ...(truncated > 0 ? { truncated } : {}),
    };
  }
}

/** Parameters that say what a request is about. */
const SUBJECTS = ['name', 'uri', 'taskId'] as const;

function itemIn(method: string | null, params: JsonObject | undefined): string | null {
  if (method === null || params === undefined) return null;
  for (const key of SUBJECTS) {
    const value = params[key];
    if (typeof value === 'string') return value;
  }
  const { ref } = params;
  return isJsonObject(ref) ? (textIn(ref, 'name') ?? textIn(ref, 'uri')) : null;
}

function textIn(value: JsonObject | undefined, key: string): string | null {
  const text = value?.[key];
  return typeof text === 'string' ? text : null;
}

const MAX_TOLD = 500;

/** What a tool says of its failure. */
function firstText({ content }: JsonObject): string | null {
  if (!Array.isArray(content)) return null;
  for (const part of content) {
    const text = isJsonObject(part) ? part['text'] : undefined;
    if (typeof text === 'string') return text.slice(0, MAX_TOLD);
  }
  return null;
}
