import { Scope } from '../../../src/operations/catalogue/scopes';

/** Sections of the overview. One scope of each list suffices to see it. */
export const SECTIONS = {
  history: ['audit'],
  in_doubt: ['audit'],
  queue: ['admin', 'audit'],
  seal: ['audit'],
  findings: ['reconcile'],
  last_run: ['reconcile'],
  wallets: ['reconcile', 'admin'],
  approvals: ['approve'],
  clients: ['admin'],
  stops: ['admin', 'approve', 'audit'],
} as const satisfies Record<string, readonly Scope[]>;
