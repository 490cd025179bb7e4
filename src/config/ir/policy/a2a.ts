/** The backend is an agent: addresses in its cards become the gateway's own, and its calls are told apart. */
export type A2a = Readonly<Record<string, never>>;
