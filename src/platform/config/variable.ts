/** The sections of docs/reference/configuration.md, in the order of the page. */
export const SECTIONS = {
  process: 'Process',
  database: 'Database and log',
  upstream: 'Upstream',
  payouts: 'Payouts',
  requests: 'Requests and console',
  sign_in: 'Sign-in',
  reconciliation: 'Reconciliation and calls in doubt',
  sandbox: 'Sandbox',
} as const;

export interface Variable {
  section: keyof typeof SECTIONS;
  /** What the variable sets, for operators, in Markdown. Links are relative to docs/reference. */
  about: string;
  /** The default, if the class Environment has no value for it. */
  unset?: string;
}
