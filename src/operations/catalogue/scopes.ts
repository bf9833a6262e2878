/**
 * The permissions of a key. `pay`, `write` and `read` open the interface, by an operation's effect. `account`
 * adds the operations on the whole upstream account. `audit` opens the history, `audit:pii` the people in it,
 * and the others the operators' resources.
 */
export const SCOPES = [
  'pay',
  'write',
  'read',
  'account',
  'audit',
  'audit:pii',
  'reconcile',
  'approve',
  'admin',
] as const;

/** The scopes of the interface and the other app routes. */
export const APP_SCOPES = ['pay', 'write', 'read', 'account'] as const satisfies Scope[];

export type Scope = (typeof SCOPES)[number];

export function isScope(word: string): word is Scope {
  return (SCOPES as readonly string[]).includes(word);
}

/** The scopes of end users, whatever those of their tokens and apps. They reach no transactions of others. */
export const END_USER_SCOPES = ['pay', 'write', 'read'] as const satisfies Scope[];
