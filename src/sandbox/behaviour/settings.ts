import { integer, Rule } from '../http/rules';
import { Behaviour, defaultBehaviour, QuirkName, QUIRKS } from './behaviour';
import { EVENT_RULES, patchBehaviour, SETTING_RULES } from './behaviour-patch';

/** Settings at the start. */
export interface Settings {
  /** Address of a Postgres database with the migrations of prisma/sandbox. */
  databaseUrl: string;
  /** TCP port on 127.0.0.1. 0 takes a free one. */
  port: number;
  /** API key that callers send as X-API-Key. Only its SHA-256 is stored. */
  apiKey: string;
  /** Key of the control interface, sent as X-Sandbox-Control-Key. Default: `sandbox-control`. */
  controlKey?: string;
  /** Behaviour until the control interface changes it. */
  behaviour?: Behaviour;
  /** The service's word for its unit, in paths and field names. Default: `credit`. */
  unitName?: string;
}

export const DEFAULT_CONTROL_KEY = 'sandbox-control';
export const DEFAULT_UNIT_NAME = 'credit';
const DEFAULT_PORT = '4010';

const CONTROL_KEY: Rule = {
  // Headers carry these characters unchanged.
  holds: (value) => /^[\x21-\x7e]{8,}$/.test(value as string),
  must: '8 or more printable ASCII characters without blanks',
};
const UNIT_NAME: Rule = {
  // Other words of the service would get a second meaning.
  holds: (value) =>
    /^[a-z][a-z0-9]{1,31}$/.test(value as string) && !/^(airtime|momo|payout)s?$/.test(value as string),
  must: 'a word of 2 to 32 lower-case letters and digits other than airtime, momo and payout',
};

/**
 * Reads the settings from the environment.
 * @throws {@link StartFailure} that names each invalid variable and never its value.
 */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const faults: string[] = [];

  const databaseUrl = env.SANDBOX_DATABASE_URL ?? '';
  if (!/^postgres(ql)?:\/\/./.test(databaseUrl))
    faults.push('SANDBOX_DATABASE_URL must be a postgresql:// address');
  const apiKey = env.SANDBOX_API_KEY ?? '';
  if (apiKey.trim() === '') faults.push('SANDBOX_API_KEY must be set');

  /** Returns the variable's text. Undefined if it is not set. */
  const read = <T>(name: string, value: (text: string) => T, rule: Rule): T | undefined => {
    const text = env[name] ?? '';
    if (text === '') return undefined;
    if (!rule.holds(value(text))) faults.push(`${name} must be ${rule.must}`);
    return value(text);
  };

  const port = read('SANDBOX_PORT', wholeNumber, integer(0, 65_535)) ?? Number(DEFAULT_PORT);
  const controlKey = read('SANDBOX_CONTROL_KEY', String, CONTROL_KEY) ?? DEFAULT_CONTROL_KEY;
  const unitName = read('SANDBOX_UNIT_NAME', String, UNIT_NAME) ?? DEFAULT_UNIT_NAME;
  const feePercent = read('SANDBOX_FEE_PERCENT', decimalNumber, SETTING_RULES.feePercent);
  const unpaidExpiresAfterMs = read(
    'SANDBOX_UNPAID_EXPIRES_AFTER_MS',
    wholeNumber,
    SETTING_RULES.unpaidExpiresAfterMs,
  );
  const url = read('SANDBOX_EVENTS_URL', String, EVENT_RULES.url);
  const secret = read('SANDBOX_EVENTS_SECRET', String, EVENT_RULES.secret);
  const quirks = readQuirks(env.SANDBOX_QUIRKS ?? '', faults);

  if (faults.length > 0) throw new StartFailure(`sandbox cannot start: ${faults.join('; ')}`);
  const behaviour = defaultBehaviour();
  patchBehaviour(behaviour, {
    quirks,
    ...(feePercent !== undefined && { feePercent }),
    ...(unpaidExpiresAfterMs !== undefined && { unpaidExpiresAfterMs }),
    events: { ...(url !== undefined && { url }), ...(secret !== undefined && { secret }) },
  });
  return { databaseUrl, port, apiKey, controlKey, unitName, behaviour };
}

/** Reads a list such as `floatBalances,-errorNone`: the first on, the second off, others at their default. */
function readQuirks(text: string, faults: string[]): Partial<Record<QuirkName, boolean>> {
  const words = text.split(',').map((word) => word.trim());
  const quirks = words
    .filter((word) => word !== '')
    .map((word) => [word.replace(/^-/, ''), !word.startsWith('-')]);
  if (quirks.some(([name]) => !Object.hasOwn(QUIRKS, name as string))) {
    const known = Object.keys(QUIRKS).join(', ');
    faults.push(`SANDBOX_QUIRKS must name quirks (a leading - switches one off): ${known}`);
  }
  return Object.fromEntries(quirks) as Partial<Record<QuirkName, boolean>>;
}

function wholeNumber(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : NaN;
}

function decimalNumber(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
}

/** Reason for a failed start: one sentence without keys and connection strings. */
export class StartFailure extends Error {}
