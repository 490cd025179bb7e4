import { isIP } from 'node:net';

import type { ExplainQuestion } from '../../src/admin/protocol/explanation.ts';
import type { Bind, GatewayConfig, Listener } from '../../src/config/ir/index.ts';
import { exitCodes, GwError } from '../../src/shared/errors.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import { splitAuthority } from '../exchange/message.ts';
import { chooseListener } from '../listener/choose.ts';

/** The port that the request would come in on: the one asked for, that of the URL, or the only one that fits. */
export function questionBind(config: GatewayConfig, question: ExplainQuestion): Bind {
  const tls = question.scheme === 'https';
  const binds = config.binds.filter((bind) => bind.mode === 'standard');
  const port = question.port ?? splitAuthority(question.authority).port;
  const named = binds.find((bind) => bind.port === port);
  if (named !== undefined && named.protocol !== 'tcp') return named;
  if (named !== undefined) {
    throw new GwError(`port ${named.port} carries connections, not requests`, {
      code: 'GW_EXPLAIN_PORT',
      exitCode: exitCodes.usage,
      hint: 'a port of an HTTP or HTTPS listener',
    });
  }
  const ports = binds.map((bind) => bind.port).join(', ') || 'none';
  if (question.port !== undefined) {
    throw new GwError(`nothing listens on port ${question.port}`, {
      code: 'GW_EXPLAIN_PORT',
      exitCode: exitCodes.usage,
      hint: `one of the ports of the configuration: ${ports}`,
    });
  }
  const fitting = binds.filter((bind) => (bind.protocol === 'tls') === tls && bind.protocol !== 'tcp');
  const usual = fitting.find((bind) => bind.port === (tls ? 443 : 80));
  const [only, other] = fitting;
  if (usual !== undefined) return usual;
  if (only !== undefined && other === undefined) return only;
  throw new GwError(
    only === undefined
      ? `nothing listens for ${question.scheme}`
      : `several ports listen for ${question.scheme}, and the URL names none of them`,
    { code: 'GW_EXPLAIN_PORT', exitCode: exitCodes.usage, hint: `--port with one of ${ports}` },
  );
}

/** The connection that the client would have. */
export function listenerOf(bind: Bind, question: ExplainQuestion): ConnectionFacts {
  const { address, port } = sourceOf(question.source ?? '127.0.0.1');
  const sni = splitAuthority(question.authority).host;
  return {
    id: 0,
    bind: bind.key,
    bindPort: bind.port,
    sourceAddress: address,
    sourcePort: port,
    rawAddress: address,
    rawPort: port,
    destinationAddress: '127.0.0.1',
    destinationPort: bind.port,
    tls:
      bind.protocol !== 'tls'
        ? null
        : {
            sni: isIP(sni) === 0 ? sni : null,
            alpn: question.version === 'HTTP/2.0' ? 'h2' : 'http/1.1',
            version: 'TLSv1.3',
            listenerKey: handshakeListener(bind.listeners, sni)?.key ?? '',
            peer: null,
          },
  };
}

function handshakeListener(listeners: readonly Listener[], sni: string): Listener | undefined {
  return chooseListener(listeners, sni, 'tls');
}

function sourceOf(text: string): { address: string; port: number } {
  if (isIP(text) !== 0) return { address: text, port: 40_000 };
  const { host, port } = splitAuthority(text);
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) === 0) {
    throw new GwError(`"${text}" is not an address`, {
      code: 'GW_EXPLAIN_SOURCE',
      exitCode: exitCodes.usage,
      hint: '10.0.0.7 or 10.0.0.7:4000',
    });
  }
  return { address, port: port ?? 40_000 };
}
