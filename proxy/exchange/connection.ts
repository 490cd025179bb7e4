/** Facts of one downstream connection, known before its first request. Addresses carry no brackets. */
export interface ConnectionFacts {
  readonly id: number;
  /** `bind/8080` */
  readonly bind: string;
  readonly bindPort: number;
  /** The client as told by the PROXY protocol, else the socket's peer. */
  readonly sourceAddress: string;
  readonly sourcePort: number;
  /** The socket's peer. */
  readonly rawAddress: string;
  readonly rawPort: number;
  /** The gateway's end of the socket (or the destination that the PROXY protocol named). */
  readonly destinationAddress: string;
  readonly destinationPort: number;
  readonly tls: TlsFacts | null;
  /** Server name of a TLS connection that is passed through; one that ends here has it among its TLS facts. */
  readonly serverName?: string | undefined;
}

export interface TlsFacts {
  readonly sni: string | null;
  readonly alpn: string | null;
  /** `TLSv1.3` */
  readonly version: string;
  /** Key of the listener that the handshake chose. */
  readonly listenerKey: string;
  readonly peer: PeerIdentity | null;
}

/** What a verified client certificate says. */
export interface PeerIdentity {
  /** `ns/sa` of a `spiffe://td/ns/NS/sa/SA` name. */
  readonly identity: string | null;
  readonly spiffeId: string | null;
  readonly subjectAltNames: readonly string[];
  readonly issuer: string;
  readonly subject: string;
  readonly subjectCn: string | null;
  /** PEM */
  readonly certificate: string;
}

/** Whose the requests are that the gateway makes by itself. */
export const nobody: ConnectionFacts = {
  id: 0,
  bind: '',
  bindPort: 0,
  sourceAddress: '127.0.0.1',
  sourcePort: 0,
  rawAddress: '127.0.0.1',
  rawPort: 0,
  destinationAddress: '127.0.0.1',
  destinationPort: 0,
  tls: null,
};
