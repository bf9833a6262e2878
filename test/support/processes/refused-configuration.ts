import { loadConfig, StartError } from '../../../src/platform/config/config';

/** The least that production needs. */
export const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://proxy:pass%40word@db_host:5432/payouts?sslmode=require',
  UPSTREAM_BASE_URL: 'https://api.example.com/base/',
  UPSTREAM_API_KEY: 'upstream-key',
  PUBLIC_URL: 'https://payouts.example.com',
};

/** Returns why a start with these variables is refused. Fails if it is not. */
export function refusal(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(StartError);
    return (error as Error).message;
  }
  throw new Error('it was taken');
}
