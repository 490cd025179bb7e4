// An agent to put behind the examples: node examples/a2a/agent.js 9000 /agents/cat
// It translates into the language of cats, over JSON-RPC and in streams, and says in its card where it believes to stand.
import http from 'node:http';

import { AgentCard, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';

const [port = '9000', mount = '/agents/cat'] = process.argv.slice(2);

const card = AgentCard.fromJSON({
  name: 'Cat',
  description: 'Translates into the language of cats.',
  version: '1.0.0',
  supportedInterfaces: [
    { url: `http://localhost:${port}${mount}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  ],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'translate', name: 'Translate', description: 'Says it as a cat would.', tags: ['cats'] }],
});

const cat = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const text = userMessage.parts.map(({ content }) => content?.value ?? '').join(' ');
    const status = (state) => ({ state, timestamp: new Date().toISOString() });
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: status(TaskState.TASK_STATE_WORKING),
        artifacts: [],
        history: [],
      }),
    );
    const said = { content: { $case: 'text', value: `${text}? Meow.` }, filename: '', mediaType: 'text/plain' };
    const artifact = { artifactId: 'translation', name: 'translation', description: '', parts: [said], extensions: [] };
    bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true }));
    bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(TaskState.TASK_STATE_COMPLETED) }));
    bus.finished();
  },
  async cancelTask() {},
};

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), cat);
const app = express();
app.use(`${mount}/.well-known/agent-card.json`, agentCardHandler({ agentCardProvider: requestHandler }));
app.use(`${mount}/rpc`, jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
http.createServer(app).listen(Number(port));
