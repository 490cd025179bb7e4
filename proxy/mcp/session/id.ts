import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto';

import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts';
import type { Secret } from '../../../src/shared/secret.ts';
import type { TargetState } from '../targets/contract.ts';

/** What a session id tells. */
export interface SessionFacts {
  /** Of every target of the backend, by name. */
  readonly states: ReadonlyMap<string, TargetState>;
  /** The data thread that began the session, and has it for as long as it lives; null in ids of earlier gateways. */
  readonly home: SessionOwner | null;
  /** Nobody else has what the session needs: programs, event streams. Otherwise another process may go on with it. */
  readonly bound: boolean;
  /** Whose it is: what `SessionIds.mark` makes of a client; null where anybody may use it. */
  readonly client: string | null;
}

/** One data thread of one gateway process. */
export interface SessionOwner {
  /** See `process-name.ts`. */
  readonly process: string;
  readonly thread: number;
  /** Tells a thread from the one that it was started instead of; eight hexadecimal digits. */
  readonly life: string;
}

/** Where a session is begun. */
export type Birthplace = Pick<SessionFacts, 'bound'> & {
  readonly home: SessionOwner;
  /** See `principalOf`; null for a client that nobody knows. */
  readonly principal: string | null;
};

export interface SessionIdsOptions {
  /** 64 hexadecimal digits; undefined leaves ids readable, and forgeable. */
  readonly key: Secret | undefined;
  /** Key of the backend. */
  readonly backend: string;
  /** Names, in the order of the configuration. */
  readonly targets: readonly string[];
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** More than 128 targets with long session ids need. */
const MAX_LENGTH = 64 * 2 ** 10;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
/** MCP allows visible ASCII in session ids; anything else could not stand in a header. */
const UPSTREAM_SESSION = /^[\u0021-\u007e]{1,2048}$/;
const PINNED = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]{2,45}\]):\d{1,5}$/;
/** Of a digest. What can be read can be rewritten as well, and must not help to guess keys. */
const SEALED_MARK = 22;
const READABLE_MARK = 3;
const MARK = /^[A-Za-z0-9_-]{3,43}$/;
const OWNER = /^([0-9a-f]{16})\.(\d{1,4})\.([0-9a-f]{8})$/;

/** Writes and reads the session ids of one backend. */
export class SessionIds {
  readonly #targets: readonly string[];
  readonly #key: Buffer | null;
  /** Ids of one backend do not open under another. */
  readonly #bound: Buffer;

  constructor({ key, backend, targets }: SessionIdsOptions) {
    this.#targets = targets;
    this.#key = key === undefined ? null : Buffer.from(key.reveal(), 'hex');
    this.#bound = Buffer.from(`mcp session of ${backend}`);
  }

  encode(states: ReadonlyMap<string, TargetState | null>, born: Birthplace | null): string {
    const targets = this.#targets.map((name) => {
      const state = states.get(name);
      return { t: name, s: state?.session, b: state?.pinned };
    });
    // What the targets gave makes the id unique, if they do as they should; where they gave nothing, this does.
    const unique = born === null && targets.every(({ s }) => s !== undefined);
    const home = born === null ? undefined : `${born.home.process}.${born.home.thread}.${born.home.life}`;
    const content = JSON.stringify({
      t: 'mcp',
      s: targets,
      r: unique ? undefined : randomUUID(),
      o: born?.bound === true ? home : undefined,
      h: born?.bound === false ? home : undefined,
      p: this.mark(born?.principal ?? null) ?? undefined,
    });
    return this.#key === null ? Buffer.from(content).toString('base64url') : this.#seal(content, this.#key);
  }

  /** What an id tells of a client; see `principalOf`. */
  mark(principal: string | null): string | null {
    return principal?.slice(0, this.#key === null ? READABLE_MARK : SEALED_MARK) ?? null;
  }

  /**
   * `undecodable` is no id at all. `unknown` is one of another backend, of other targets or of another key: the client has
   * to start again. Pinned addresses of ids without a key may be forged: they have to be checked against the endpoints.
   */
  decode(id: string): SessionFacts | 'undecodable' | 'unknown' {
    if (id.length > MAX_LENGTH) return 'undecodable';
    const content = this.#key === null ? readable(id) : this.#open(id, this.#key);
    if (content === 'undecodable' || content === 'unknown') return content;
    const value = parsed(content);
    if (value === null || value['t'] !== 'mcp' || !Array.isArray(value['s'])) return 'undecodable';
    const states = this.#statesOf(value['s']);
    const bound = value['o'] !== undefined;
    const home = ownerOf(bound ? value['o'] : value['h']);
    const client = markOf(value['p']);
    if (states === null || home === undefined || client === undefined) return 'unknown';
    return { states, home, bound, client };
  }

  /** Null unless the entries are those of the targets: all of them by name or, in an older form, all by their order. */
  #statesOf(entries: readonly JsonValue[]): ReadonlyMap<string, TargetState> | null {
    if (entries.length !== this.#targets.length) return null;
    const named = entries.some((entry) => isJsonObject(entry) && entry['t'] !== undefined);
    const states = new Map<string, TargetState>();
    for (const [at, entry] of entries.entries()) {
      if (!isJsonObject(entry)) return null;
      const name = named ? entry['t'] : this.#targets[at];
      const state = stateOf(entry);
      if (typeof name !== 'string' || state === null || states.has(name) || !this.#targets.includes(name)) return null;
      states.set(name, state);
    }
    return states;
  }

  #seal(content: string, key: Buffer): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(this.#bound);
    return Buffer.concat([nonce, cipher.update(content), cipher.final(), cipher.getAuthTag()]).toString('base64');
  }

  #open(id: string, key: Buffer): string | 'undecodable' | 'unknown' {
    const sealed = BASE64.test(id) ? Buffer.from(id, 'base64') : null;
    if (sealed === null || sealed.toString('base64') !== id || sealed.length <= NONCE_BYTES + TAG_BYTES)
      return 'undecodable';
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(this.#bound);
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    try {
      return Buffer.concat([opened, decipher.final()]).toString();
    } catch {
      // The tag does not fit: whether it is forged, or of another key or backend, cannot be told apart.
      return 'unknown';
    }
  }
}

function readable(id: string): string | 'undecodable' {
  const bytes = BASE64URL.test(id) ? Buffer.from(id, 'base64url') : null;
  return bytes === null || bytes.toString('base64url') !== id ? 'undecodable' : bytes.toString();
}

function parsed(content: string): JsonObject | null {
  try {
    // `as`: `JSON.parse` makes nothing else.
    const value = JSON.parse(content) as JsonValue;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function stateOf({ s: session, b: pinned }: JsonObject): TargetState | null {
  if (session !== undefined && (typeof session !== 'string' || !UPSTREAM_SESSION.test(session))) return null;
  if (pinned !== undefined && (typeof pinned !== 'string' || !PINNED.test(pinned))) return null;
  return { session, pinned };
}

/** Undefined when it is none that was written here. */
function markOf(value: JsonValue | undefined): string | null | undefined {
  if (value === undefined) return null;
  return typeof value === 'string' && MARK.test(value) ? value : undefined;
}

/** Undefined when it is none that was written here. */
function ownerOf(value: JsonValue | undefined): SessionOwner | null | undefined {
  if (value === undefined) return null;
  const parts = typeof value === 'string' ? OWNER.exec(value) : null;
  if (parts === null) return undefined;
  const [, name = '', thread = '', life = ''] = parts;
  return { process: name, thread: Number(thread), life };
}
