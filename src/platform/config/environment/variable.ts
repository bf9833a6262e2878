import { Environment } from './environment';

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
  /** Description for operators, in Markdown. Links are relative to docs/reference. */
  about: string;
  /** The default, if the class Environment has none. */
  unset?: string;
}

/** Returns the variables of a section. A plain text is the description. */
export function inSection<Name extends keyof Environment>(
  section: Variable['section'],
  rows: Record<Name, string | Omit<Variable, 'section'>>,
): Record<Name, Variable> {
  const variables = Object.entries<string | Omit<Variable, 'section'>>(rows).map(([name, row]) => {
    return [name, { section, ...(typeof row === 'string' ? { about: row } : row) }];
  });
  return Object.fromEntries(variables) as Record<Name, Variable>;
}
