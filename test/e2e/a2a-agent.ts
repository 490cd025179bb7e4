/** An agent made with the SDK, in both versions of the protocol and over both bindings that run on HTTP. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { AgentCard, Role, TaskState, type Message, type Part } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

const LEGACY = { enabled: true };

export interface Agent {
  readonly port: number;
  /** Paths that were asked for, in order. */
  readonly asked: readonly string[];
  close(): void;
}

/** `mount` is where it stands; `address` what its card says of itself. */
export async function startAgent(mount = '', address?: string): Promise<Agent> {
  const asked: string[] = [];
  const app = express();
  const server = createServer(app);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  const base = address ?? `http://127.0.0.1:${port}${mount}`;
  const requestHandler = agentAt(base);
  const common = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: LEGACY };
  app.use((request, _response, next) => {
    asked.push(`${request.method} ${request.url}`);
    next();
  });
  app.use(
    `${mount}/.well-known/agent-card.json`,
    agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: LEGACY }),
  );
  app.use(`${mount}/rpc`, jsonRpcHandler(common));
  app.use(`${mount}/rest`, restHandler(common));
  return {
    port,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What all bindings have in common. */
export function agentAt(base: string, more: readonly object[] = []): DefaultRequestHandler {
  const card = cardFor(base, more);
  const extended = AgentCard.fromJSON({ ...(AgentCard.toJSON(card) as object), description: 'Sells rare pets' });
  return new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    new Shopkeeper(),
    undefined,
    undefined,
    undefined,
    () => Promise.resolve(extended),
  );
}

function cardFor(base: string, more: readonly object[]): AgentCard {
  const over = (protocolBinding: string, protocolVersion: string, path: string) => ({
    url: `${base}${path}`,
    protocolBinding,
    protocolVersion,
    tenant: '',
  });
  return AgentCard.fromJSON({
    name: 'Shopkeeper',
    description: 'Sells pets',
    version: '2.0',
    supportedInterfaces: [
      over('JSONRPC', '1.0', '/rpc'),
      over('HTTP+JSON', '1.0', '/rest'),
      over('JSONRPC', '0.3', '/rpc'),
      over('HTTP+JSON', '0.3', '/rest'),
      ...more,
    ],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, extensions: [] },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'sell', name: 'sell', description: 'sells', tags: ['pets'] }],
  });
}

function text(value: string): Part {
  return { content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' };
}

export function userMessage(value: string, more: Partial<Message> = {}): Message {
  return {
    messageId: 'm1',
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [text(value)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...more,
  };
}

/** Answers `hello` with a message, works on `task`, waits for an end on `wait`, and breaks on `break`. */
class Shopkeeper implements AgentExecutor {
  readonly #waiting = new Map<string, () => void>();

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage: asked } = context;
    const [part] = asked.parts;
    const word = part?.content?.$case === 'text' ? part.content.value : '';
    const status = (state: TaskState) => ({ state, message: undefined, timestamp: '2026-01-02T03:04:05.000Z' });
    const update = (state: TaskState): void =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state), metadata: undefined }));
    if (word === 'break') throw new Error('broken');
    if (word === 'hello') {
      const reply = userMessage('good day', { messageId: 'r1', role: Role.ROLE_AGENT, contextId });
      bus.publish(AgentEvent.message(reply));
      bus.finished();
      return;
    }
    const submitted = status(TaskState.TASK_STATE_SUBMITTED);
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: submitted,
        artifacts: [],
        history: [asked],
        metadata: undefined,
      }),
    );
    update(TaskState.TASK_STATE_WORKING);
    if (word === 'wait') {
      await new Promise<void>((resolve) => this.#waiting.set(taskId, resolve));
      update(TaskState.TASK_STATE_CANCELED);
    } else {
      const artifact = {
        artifactId: 'a1',
        name: 'bill',
        description: '',
        parts: [text('12 €')],
        metadata: undefined,
        extensions: [],
      };
      bus.publish(
        AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }),
      );
      update(TaskState.TASK_STATE_COMPLETED);
    }
    bus.finished();
  }

  async cancelTask(taskId: string): Promise<void> {
    this.#waiting.get(taskId)?.();
  }
}
