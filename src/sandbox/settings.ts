import { Behaviour } from './behaviour';

/** What the sandbox is started with. */
export interface Settings {
  /** A Postgres that has the migrations of prisma/sandbox. */
  databaseUrl: string;
  /** TCP port on 127.0.0.1; 0 takes a free one. */
  port: number;
  /** The key that callers send as X-API-Key. Only its SHA-256 is stored. */
  apiKey: string;
  /** The key of the control interface, sent as X-Sandbox-Control-Key. */
  controlKey?: string;
  /** How it behaves until the control interface says otherwise. */
  behaviour?: Behaviour;
}

const DEFAULT_PORT = 4010;
const HIGHEST_PORT = 65_535;

/** Reads the process's environment, or throws a {@link StartFailure} that names each faulty variable and never its value. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const faults: string[] = [];

  const databaseUrl = env.SANDBOX_DATABASE_URL ?? '';
  if (!/^postgres(ql)?:\/\/./.test(databaseUrl)) faults.push('SANDBOX_DATABASE_URL must be a postgresql:// address');

  const portText = env.SANDBOX_PORT || String(DEFAULT_PORT);
  const port = Number(portText);
  if (!/^\d+$/.test(portText) || port > HIGHEST_PORT)
    faults.push(`SANDBOX_PORT must be a number from 0 to ${HIGHEST_PORT}`);

  const apiKey = env.SANDBOX_API_KEY ?? '';
  if (apiKey.trim() === '') faults.push('SANDBOX_API_KEY must be set');

  if (faults.length > 0) throw new StartFailure(`sandbox cannot start: ${faults.join('; ')}`);
  return { databaseUrl, port, apiKey };
}

/** Why the sandbox did not start, as one sentence fit to be shown: it holds no key and no connection string. */
export class StartFailure extends Error {}
