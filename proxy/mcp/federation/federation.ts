import { refuse, type Refusal } from '../../exchange/refusal.ts';
import { plan, type FederationOptions, type Plan } from './plan.ts';
import { FederatedSession, type SessionParts } from './session.ts';

/** The targets of one MCP backend as one server: makes sessions with them. */
export class Federation {
  readonly plan: Plan;

  constructor(options: FederationOptions) {
    this.plan = plan(options);
  }

  /**
   * For the handshake of a client (`identify` makes the id), for a session that another thread began (`states` or `connect`, `id`), or
   * for one request alone (none of them). Nothing is sent before the first message.
   */
  open(parts: Partial<Omit<SessionParts, 'plan'>> = {}): FederatedSession | Refusal {
    if (this.plan.targets.length === 0 && !this.plan.failOpen) return refuse(503, 'MCP', 'no backends configured');
    const { states = null, id = null, identify = null, connect = null } = parts;
    return new FederatedSession({ plan: this.plan, states, id, identify, connect });
  }
}
