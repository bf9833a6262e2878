import { loadConfig, StartError } from '../../../src/platform/config/config';

/** The minimal settings of production. */
export const PRODUCTION = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://proxy:pass%40word@db_host:5432/payouts?sslmode=require',
  UPSTREAM_BASE_URL: 'https://api.example.com/base/',
  UPSTREAM_API_KEY: 'upstream-key',
  PUBLIC_URL: 'https://payouts.example.com',
};

/** Returns the error of a start with these variables. Fails if it succeeds. */
export function refusal(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(StartError);
    return (error as Error).message;
  }
  throw new Error('the configuration was accepted');
}
