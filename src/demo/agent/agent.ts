import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { asObject, asText, isObject, type JsonObject } from '../../admin/protocol/lenient.ts';
import { card } from './card.ts';
import { planFor, rests, take, type Step, type Task } from './story.ts';
import { current, older, textOf, type Wording } from './wording.ts';

const STEP_MS = 150;
const MAX_BODY_BYTES = 256 * 1024;
/** Older ones are forgotten. */
const MAX_TASKS = 200;

const INVALID_REQUEST = -32_600;
const NO_METHOD = -32_601;
const INVALID_PARAMS = -32_602;
const NOT_JSON = -32_700;
const NO_TASK = -32_001;
const NOT_CANCELABLE = -32_002;

type Method = 'send' | 'stream' | 'get' | 'cancel';

const METHODS: Readonly<Record<string, readonly [Method, Wording]>> = {
  SendMessage: ['send', current],
  SendStreamingMessage: ['stream', current],
  GetTask: ['get', current],
  CancelTask: ['cancel', current],
  'message/send': ['send', older],
  'message/stream': ['stream', older],
  'tasks/get': ['get', older],
  'tasks/cancel': ['cancel', older],
};

interface Call {
  readonly method: Method;
  readonly wording: Wording;
  readonly params: JsonObject;
  /** Answers, whole or one event of a stream. */
  readonly reply: (body: JsonObject) => JsonObject;
  readonly response: ServerResponse;
}

/** An agent that plans tea parties, in the versions 1.0 and 0.3 of A2A over JSON-RPC. */
export function agent(): (request: IncomingMessage, response: ServerResponse) => void {
  const tasks = new Map<string, Task>();
  return (request, response) => {
    const path = (request.url ?? '/').replace(/\?.*$/s, '');
    if (/^\/\.well-known\/agent(-card)?\.json$/.test(path)) return sendJson(response, card);
    if (request.method !== 'POST') return void response.writeHead(404).end();
    // A client that goes is no longer answered.
    void read(request)
      .then((text) => answer(text, tasks, response))
      .catch(() => response.destroy());
    return undefined;
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error('too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

async function answer(text: string, tasks: Map<string, Task>, response: ServerResponse): Promise<void> {
  const asked = parsed(text);
  const reply = (body: JsonObject): JsonObject => ({ jsonrpc: '2.0', id: asked?.['id'] ?? null, ...body });
  const fail = (code: number, message: string): void => sendJson(response, reply({ error: { code, message } }));
  if (asked === undefined) return fail(NOT_JSON, 'the body is no JSON object');
  if (typeof asked['method'] !== 'string') return fail(INVALID_REQUEST, 'the request has no method');
  const known = Object.hasOwn(METHODS, asked['method']) ? METHODS[asked['method']] : undefined;
  if (known === undefined) return fail(NO_METHOD, `there is no method ${asked['method']}`);
  const [method, wording] = known;
  const call: Call = { method, wording, params: asObject(asked['params']), reply, response };
  if (method === 'get' || method === 'cancel') return look(call, tasks, fail);
  if (textOf(asObject(call.params['message'])) === '') return fail(INVALID_PARAMS, 'the message has no text');
  return converse(call, tasks, fail);
}

type Fail = (code: number, message: string) => void;

function look({ method, wording, params, reply, response }: Call, tasks: Map<string, Task>, fail: Fail): void {
  const id = asText(params['id']) ?? '';
  const task = tasks.get(id);
  if (task === undefined) return fail(NO_TASK, `there is no task ${id}`);
  if (method === 'cancel') {
    if (rests(task.state) && task.state !== 'input-required') return fail(NOT_CANCELABLE, `the task is ${task.state}`);
    take(task, { kind: 'state', state: 'canceled', text: '' });
  }
  return sendJson(response, reply({ result: wording.task(task) }));
}

async function converse(call: Call, tasks: Map<string, Task>, fail: Fail): Promise<void> {
  const { wording, params, reply, response } = call;
  const message = asObject(params['message']);
  const taskId = asText(message['taskId']) ?? '';
  const begun = taskId === '' ? undefined : tasks.get(taskId);
  if (taskId !== '' && begun === undefined) return fail(NO_TASK, `there is no task ${taskId}`);
  if (begun !== undefined && begun.state !== 'input-required')
    return fail(INVALID_PARAMS, `the task is ${begun.state}`);
  const plan = planFor(textOf(message), begun !== undefined);
  const contextId = begun?.contextId ?? (asText(message['contextId']) || crypto.randomUUID());
  if (plan.kind === 'say') {
    const result = wording.named('message', wording.message(plan.text, { id: '', contextId }));
    return call.method === 'stream'
      ? void begin(response).end(event(reply({ result })))
      : sendJson(response, reply({ result }));
  }
  const task = begun ?? remember(tasks, contextId);
  return call.method === 'stream' ? stream(call, task, plan.steps) : whole(call, task, plan.steps);
}

function remember(tasks: Map<string, Task>, contextId: string): Task {
  const task: Task = { id: crypto.randomUUID(), contextId, state: 'submitted', said: '', result: undefined };
  tasks.set(task.id, task);
  const [oldest] = tasks.keys();
  if (tasks.size > MAX_TASKS && oldest !== undefined) tasks.delete(oldest);
  return task;
}

async function whole({ wording, reply, response }: Call, task: Task, steps: readonly Step[]): Promise<void> {
  for await (const _ of worked(task, steps));
  sendJson(response, reply({ result: wording.named('task', wording.task(task)) }));
}

async function stream({ wording, reply, response }: Call, task: Task, steps: readonly Step[]): Promise<void> {
  begin(response).write(event(reply({ result: wording.named('task', wording.task(task)) })));
  for await (const step of worked(task, steps))
    response.write(event(reply({ result: wording.update(step, task, step === steps.at(-1)) })));
  response.end();
}

/** Goes on with a task whether or not somebody listens; a task that was cancelled takes no further step. */
async function* worked(task: Task, steps: readonly Step[]): AsyncGenerator<Step> {
  for (const step of steps) {
    await delay(STEP_MS);
    if (task.state === 'canceled') return;
    take(task, step);
    yield step;
  }
}

function begin(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
}

function event(body: JsonObject): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    // A client that sends no JSON is told so.
    return undefined;
  }
}

function sendJson(response: ServerResponse, body: JsonObject): void {
  const text = JSON.stringify(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
