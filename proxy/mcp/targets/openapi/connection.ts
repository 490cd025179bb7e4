import { isJsonObject, type JsonObject } from '../../../../src/shared/json.ts';
import type { RequestId, RpcFailure, RpcMessage, RpcRequest } from '../../message/message.ts';
import { resultFor } from '../../message/result-fields.ts';
import { eraOf, LATEST_LEGACY_VERSION, versionsOf } from '../../message/versions.ts';
import type { Calling, CallSink, Target, TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
import type { HttpCaller } from '../http-caller.ts';
import { sendCall } from './call.ts';
import type { LiveDocument } from './live-document.ts';
import type { CompiledDocument } from './plan.ts';
import { misfitResult } from './result.ts';
import { writeRequest } from './request.ts';

export interface OpenApiOptions {
  readonly name: string;
  readonly document: LiveDocument;
  /** Before the path of every operation, without a slash at its end. */
  readonly path: string;
  readonly caller: HttpCaller;
  /** Of an answer, bytes. */
  readonly maxAnswerBytes: number;
}

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const CAPABILITIES: JsonObject = { tools: { listChanged: true } };
const TOOLS_CHANGED = 'notifications/tools/list_changed';

/** A service that is described by a document, spoken to as if it were an MCP server. */
export function openApiTarget(options: OpenApiOptions): Target {
  const connection = new OpenApiConnection(options);
  // Nothing is kept between calls: every conversation is the same.
  return {
    name: options.name,
    transport: 'openapi',
    connect: () => connection,
  };
}

/** Null until it comes. */
type Document = CompiledDocument | null;

const nothingToDo: Calling = { cancel() {}, pause() {}, resume() {} };

class OpenApiConnection implements TargetConnection {
  readonly state = {};
  readonly #options: OpenApiOptions;

  constructor(options: OpenApiOptions) {
    this.#options = options;
  }

  request(message: RpcRequest, call: TargetCall, client: CallSink): Calling {
    const { id, method, params = {} } = message;
    const sink = inWordsOf(call.version, method, client);
    const document = this.#options.document.current();
    // Conversations begin without it, so that they can be told when it comes.
    if (document === null && method.startsWith('tools/')) return end(sink, notThere(this.#options));
    switch (method) {
      case 'tools/call':
        return this.#call(message, call, { sink, document });
      case 'subscriptions/listen':
        return this.#subscribe(id, params, sink);
      case 'logging/setLevel':
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return end(sink, { kind: 'unsupported', message: `${method} is nothing that an OpenAPI document can do` });
      default: {
        const result = this.#local(method, params, document);
        if (result === null) return fail(sink, id, { code: -32601, message: `Method not found: ${method}` });
        return typeof result === 'string'
          ? fail(sink, id, { code: -32602, message: result })
          : answer(sink, id, result);
      }
    }
  }

  post(): Promise<TargetFailure | null> {
    return Promise.resolve(null);
  }

  /** All that there is to say is that the document has changed. */
  listen(_call: TargetCall, sink: CallSink): Calling {
    const { document } = this.#options;
    const cancel = document.watch(() =>
      sink.onMessage({ kind: 'notification', method: TOOLS_CHANGED, params: undefined }),
    );
    sink.onOpen?.();
    return { ...nothingToDo, cancel };
  }

  close(): Promise<TargetFailure | null> {
    return Promise.resolve(null);
  }

  leave(): void {}

  /** What needs no call: a result, a text that says what is wrong with the parameters, or null for an unknown method. */
  #local(method: string, params: JsonObject, document: Document): JsonObject | string | null {
    switch (method) {
      case 'initialize':
        return { protocolVersion: agreed(params.protocolVersion), ...this.#introduction(document) };
      case 'server/discover':
        return { supportedVersions: versionsOf('modern'), ...this.#introduction(document) };
      case 'ping':
        return {};
      case 'tools/list':
        return { tools: document?.tools ?? [] };
      case 'prompts/list':
        return { prompts: [] };
      case 'prompts/get':
        return { messages: [] };
      case 'resources/list':
        return { resources: [] };
      case 'resources/templates/list':
        return { resourceTemplates: [] };
      case 'resources/read':
        return { contents: [] };
      default:
        return method.startsWith('tasks/') ? 'unknown task' : null;
    }
  }

  /** Of what can be listened to, the tools alone ever change. */
  #subscribe(id: RequestId, { notifications: asked }: JsonObject, sink: CallSink): Calling {
    const tell = (method: string, params: JsonObject): void =>
      sink.onMessage({ kind: 'notification', method, params: { ...params, _meta: { [SUBSCRIPTION_ID]: id } } });
    const wanted = isJsonObject(asked) && asked.toolsListChanged === true;
    const cancel = wanted ? this.#options.document.watch(() => tell(TOOLS_CHANGED, {})) : () => {};
    tell('notifications/subscriptions/acknowledged', { notifications: wanted ? { toolsListChanged: true } : {} });
    return { ...nothingToDo, cancel };
  }

  #introduction(document: Document): JsonObject {
    const { title, version, description } = document ?? { title: this.#options.name, version: '0' };
    const instructions = description === undefined ? {} : { instructions: description };
    return { capabilities: CAPABILITIES, serverInfo: { name: title, version }, ...instructions };
  }

  #call(
    { id, params = {} }: RpcRequest,
    call: TargetCall,
    { sink, document }: { readonly sink: CallSink; readonly document: Document },
  ): Calling {
    const { path, caller, maxAnswerBytes } = this.#options;
    const { name, arguments: given } = params;
    const plan = typeof name === 'string' ? document?.plans.get(name) : undefined;
    if (plan === undefined) return fail(sink, id, { code: -32602, message: `Unknown tool: ${String(name)}` });
    if (given !== undefined && given !== null && !isJsonObject(given))
      return fail(sink, id, { code: -32602, message: 'params.arguments is no object' });
    const written = writeRequest(plan, given ?? {}, call.headers);
    if (written.kind === 'misfit') return answer(sink, id, misfitResult(written));
    const { method, body } = written;
    const ask = {
      method,
      target: path + written.target,
      headers: call.headers,
      body,
      told: true,
      lasting: false,
      pinned: undefined,
    };
    const { version } = call;
    return sendCall(caller.send(ask, call), { id, sink, maxAnswerBytes, target: ask.target, version });
  }
}

function notThere({ name }: OpenApiOptions): TargetFailure {
  const message = `the OpenAPI document of target ${name} has not come yet`;
  return { kind: 'refused', status: 503, reason: 'MCP', message };
}

/** Results with what the generation of the client expects of them. */
function inWordsOf(version: string | null, method: string, sink: CallSink): CallSink {
  const era = eraOf(version ?? '');
  const told = (message: RpcMessage): RpcMessage =>
    message.kind === 'result' ? { ...message, result: resultFor(era, method, message.result) } : message;
  return { onMessage: (message) => sink.onMessage(told(message)), onEnd: (failure) => sink.onEnd(failure) };
}

/** The version that a client asks for, where there is one that it can have. */
function agreed(asked: unknown): string {
  return typeof asked === 'string' && versionsOf('legacy').includes(asked) ? asked : LATEST_LEGACY_VERSION;
}

function answer(sink: CallSink, id: RequestId, result: JsonObject): Calling {
  sink.onMessage({ kind: 'result', id, result });
  return end(sink, null);
}

function fail(sink: CallSink, id: RequestId, error: RpcFailure): Calling {
  sink.onMessage({ kind: 'error', id, error });
  return end(sink, null);
}

function end(sink: CallSink, failure: TargetFailure | null): Calling {
  sink.onEnd(failure);
  return nothingToDo;
}
