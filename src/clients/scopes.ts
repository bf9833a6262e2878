/**
 * What a key may do. `pay`, `write` and `read` open the interface (by an operation's effect), `audit` the history,
 * `audit:pii` the people in it, the rest the operators' resources.
 */
export const SCOPES = ['pay', 'write', 'read', 'audit', 'audit:pii', 'reconcile', 'approve', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(word: string): word is Scope {
  return (SCOPES as readonly string[]).includes(word);
}
