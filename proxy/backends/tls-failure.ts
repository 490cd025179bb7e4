import { messageOf, systemCodeOf } from '../../src/shared/errors.ts';
import { WRONG_NAME } from './verify-peer.ts';

const CERTIFICATE = 'certificate verification failed: ';

/** Failures with words of their own, by the codes of Node and OpenSSL. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNRESET: 'connection closed during the TLS handshake',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the backend does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the backend does not speak TLS',
  // The names themselves are for the trace (the cause), not for clients.
  ERR_TLS_CERT_ALTNAME_INVALID: `${CERTIFICATE}it was issued for another name`,
  [WRONG_NAME]: `${CERTIFICATE}it was issued for another name`,
  CERT_HAS_EXPIRED: `${CERTIFICATE}it has expired`,
  CERT_NOT_YET_VALID: `${CERTIFICATE}it is not yet valid`,
  CERT_REVOKED: `${CERTIFICATE}it is revoked`,
  // Node's own texts advise options of its command line.
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `${CERTIFICATE}it was issued by an unknown authority`,
  UNABLE_TO_GET_ISSUER_CERT: `${CERTIFICATE}it was issued by an unknown authority`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `${CERTIFICATE}it was issued by an unknown authority`,
  SELF_SIGNED_CERT_IN_CHAIN: `${CERTIFICATE}its chain ends with an unknown authority`,
  DEPTH_ZERO_SELF_SIGNED_CERT: `${CERTIFICATE}it is self-signed`,
};

/** What the other side said, by the last part of OpenSSL's code. */
const ALERTS: readonly (readonly [alert: RegExp, words: string])[] = [
  [/NO_APPLICATION_PROTOCOL$/, 'the backend accepts none of the offered protocols (ALPN)'],
  [/ALERT_PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$/, 'the backend speaks no TLS from version 1.2 on'],
  [/ALERT_CERTIFICATE_REQUIRED$/, 'the backend requires a client certificate'],
  [
    /ALERT_(BAD_CERTIFICATE|UNSUPPORTED_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|ACCESS_DENIED)$/,
    'the backend refuses the client certificate',
  ],
  [/UNRECOGNIZED_NAME$/, 'the backend does not know the name that was sent (SNI)'],
];

/** A failed handshake in words, without the names of the backend; OpenSSL's own text is left as the error's cause. */
export function handshakeFailure(error: unknown): string {
  const code = systemCodeOf(error) ?? '';
  const words = WORDS[code];
  if (words !== undefined) return words;
  return isOpenSslCode(code) ? (alertWords(code) ?? `TLS handshake failed (${code})`) : CERTIFICATE + messageOf(error);
}

/** A failure of TLS on a connection that was open; null for an error of another kind. With TLS 1.3 refusals come this late. */
export function lateTlsFailure(error: unknown): string | null {
  const code = systemCodeOf(error) ?? '';
  return isOpenSslCode(code) ? (alertWords(code) ?? `TLS failed (${code})`) : null;
}

/** The cause of a failure for the trace: codes stand for OpenSSL's texts, which name its source files. */
export function causeText(cause: unknown): string {
  const code = systemCodeOf(cause);
  const isCoded = code !== undefined && (isOpenSslCode(code) || WORDS[code]?.startsWith(CERTIFICATE) === true);
  return isCoded && code !== WRONG_NAME && code !== 'ERR_TLS_CERT_ALTNAME_INVALID' ? code : messageOf(cause);
}

function isOpenSslCode(code: string): boolean {
  return code.startsWith('ERR_SSL_');
}

function alertWords(code: string): string | undefined {
  return ALERTS.find(([alert]) => alert.test(code))?.[1];
}
