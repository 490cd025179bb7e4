import { randomBytes } from 'node:crypto';

import { nobody } from '../exchange/connection.ts';
import { Exchange } from '../exchange/exchange.ts';
import type { HttpRequest } from '../exchange/message.ts';
import type { Transport } from '../exchange/transport.ts';
import { McpRecords } from '../mcp/records/records.ts';
import { processNameOf } from '../mcp/session/process-name.ts';
import type { DataPlaneInit } from '../supervisor/data-plane.ts';
import type { McpThread } from './mcp-backend.ts';
import type { Runtime } from './runtime.ts';

/** What MCP backends are told of their data thread. */
export function mcpThreadOf(init: DataPlaneInit, runtime: () => Runtime): McpThread {
  return {
    owner: {
      process: processNameOf(init.shared.ticketSecret),
      thread: init.threadIndex,
      life: randomBytes(4).toString('hex'),
    },
    gateway: { name: 'gw', version: init.version },
    environment: process.env,
    peers: {
      count: init.threadCount,
      meet: (thread) => init.peers.meet(thread),
      onMet: (listener) => init.peers.onMet(listener),
    },
    records: new McpRecords(),
    runtime,
    unattended: (request: HttpRequest) => new Exchange(request, nobody, nowhere, null),
  };
}

const nowhere: Transport = {
  respond() {},
  informational() {},
  takeOver: () => null,
  onClientGone() {},
  closeAfterResponse() {},
};
