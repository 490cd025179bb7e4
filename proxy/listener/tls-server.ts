import { createHash, createPrivateKey, hkdfSync, X509Certificate } from 'node:crypto';
import { createServer, type Server, type TlsOptions } from 'node:tls';

import type { FrontendPolicies, TlsServer } from '../../src/config/ir/index.ts';
import { GwError, messageOf } from '../../src/shared/errors.ts';
import { cipherList, DEFAULT_CIPHER_SUITES } from './cipher-suites.ts';

/** TLS termination of one listener, ready for handshakes. */
export interface CompiledTls {
  /** Takes raw connections through `emit('connection', socket)`; never listens itself. */
  readonly server: Server;
  /** A client certificate is required and verified. */
  readonly mutual: boolean;
  /** Changes when anything that a handshake depends on changes. */
  readonly identity: string;
}

/** X25519 first; the hybrid group last, for clients that offer nothing else. */
const DEFAULT_GROUPS = ['X25519', 'P-256', 'P-384', 'X25519MLKEM768'];
const DEFAULT_ALPN = ['h2', 'http/1.1'];
/** The gateway keeps its own deadline over reading the hello and the handshake; Node's must not come before it. */
const NODE_HANDSHAKE_SLACK_MS = 60_000;

export interface TlsServerContext {
  readonly frontend: FrontendPolicies['tls'];
  /** Listener that the certificates belong to; part of what separates its sessions from those of others. */
  readonly listenerKey: string;
  /** HTTPS listeners negotiate HTTP by ALPN; bytes behind TLS listeners are the backend's own business. */
  readonly http: boolean;
  /** Secret of the process from which session ticket keys are derived, so that every data thread takes every ticket. */
  readonly ticketSecret: Buffer;
}

/** Checks the material of a listener and builds its TLS server. Errors name the files they are about. */
export function compileTlsServer(tls: TlsServer, context: TlsServerContext): CompiledTls {
  if (tls.mode === 'dynamicCa') {
    throw new GwError('certificates minted per server name (tls.mode: dynamicCa) are not built yet', {
      code: 'GW_TLS_MODE',
      hint: 'use mode: static with the certificate and key of the names you serve',
    });
  }
  checkKeyPair(tls);
  const options = tlsOptions(tls, context);
  const identity = identityOf(context.listenerKey, options);
  try {
    const server = createServer({
      ...options,
      handshakeTimeout: context.frontend.handshakeTimeoutMs + NODE_HANDSHAKE_SLACK_MS,
      sessionIdContext: identity.slice(0, 32),
      ticketKeys: ticketKeys(context.ticketSecret, identity),
    });
    return { server, mutual: tls.root !== undefined, identity };
  } catch (error) {
    throw tlsError(`TLS of ${context.listenerKey} cannot be set up (${filesOf(tls)}): ${messageOf(error)}`, error);
  }
}

function tlsOptions(tls: TlsServer, context: TlsServerContext): TlsOptions {
  const { frontend } = context;
  const minVersion = tls.minVersion ?? frontend.minVersion ?? 'TLSv1.2';
  const maxVersion = tls.maxVersion ?? frontend.maxVersion ?? 'TLSv1.3';
  if (minVersion > maxVersion) throw tlsError(`minTLSVersion ${minVersion} is above maxTLSVersion ${maxVersion}`);
  const suites = tls.cipherSuites ?? frontend.cipherSuites ?? DEFAULT_CIPHER_SUITES;
  const groups = tls.keyExchangeGroups ?? frontend.keyExchangeGroups ?? DEFAULT_GROUPS;
  const alpn = frontend.alpn ?? (context.http ? DEFAULT_ALPN : undefined);
  return {
    cert: tls.cert.pem,
    key: tls.key.pem.reveal(),
    minVersion,
    maxVersion,
    ciphers: cipherList(suites),
    honorCipherOrder: true,
    ecdhCurve: groups.join(':'),
    ...(alpn === undefined ? {} : { ALPNProtocols: [...alpn] }),
    ...(tls.root === undefined ? {} : { ca: tls.root.pem, requestCert: true, rejectUnauthorized: true }),
  };
}

function checkKeyPair(tls: TlsServer): void {
  const certificate = parsed(`certificate in ${place(tls.cert)}`, () => new X509Certificate(tls.cert.pem));
  const key = parsed(`private key in ${place(tls.key)}`, () => createPrivateKey(tls.key.pem.reveal()));
  if (!certificate.checkPrivateKey(key)) {
    throw tlsError(`the private key in ${place(tls.key)} does not belong to the certificate in ${place(tls.cert)}`);
  }
  const { root } = tls;
  if (root !== undefined) parsed(`client CA in ${place(root)}`, () => new X509Certificate(root.pem));
}

function parsed<T>(what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw tlsError(`the ${what} cannot be read: ${messageOf(error)}`, error);
  }
}

function tlsError(message: string, cause?: unknown): GwError {
  return new GwError(message, { code: 'GW_TLS_MATERIAL', cause });
}

function place(source: { readonly file?: string | undefined }): string {
  return source.file ?? 'the configuration';
}

function filesOf(tls: TlsServer): string {
  return [tls.cert, tls.key, tls.root]
    .flatMap((source) => (source === undefined ? [] : [place(source)]))
    .filter((name, index, all) => all.indexOf(name) === index)
    .join(', ');
}

/** Covers the key through its certificate's public half, so that no secret is fed into what may be compared or shown. */
function identityOf(listenerKey: string, options: TlsOptions): string {
  const { key: _key, ...rest } = options;
  return createHash('sha256')
    .update(JSON.stringify([listenerKey, rest]))
    .digest('hex');
}

/** 48 bytes as Node wants them. Derived per identity: a ticket of one listener opens no other, nor a changed one. */
function ticketKeys(secret: Buffer, identity: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `session tickets ${identity}`, 48));
}
