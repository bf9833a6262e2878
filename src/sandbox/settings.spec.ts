import { readSettings } from './settings';

const good = { SANDBOX_DATABASE_URL: 'postgresql://u:p@localhost/sandbox', SANDBOX_API_KEY: 'key-1' };

describe('settings', () => {
  it('defaults the port to 4010 and takes 0 as any free one', () => {
    expect(readSettings(good)).toEqual({ databaseUrl: good.SANDBOX_DATABASE_URL, port: 4010, apiKey: 'key-1' });
    expect(readSettings({ ...good, SANDBOX_PORT: '0' }).port).toBe(0);
    expect(readSettings({ ...good, SANDBOX_PORT: '' }).port).toBe(4010);
  });

  it('names every faulty variable in one line and never a value', () => {
    const env = { SANDBOX_DATABASE_URL: 'mysql://secret', SANDBOX_PORT: '70000', SANDBOX_API_KEY: ' ' };
    expect(() => readSettings(env)).toThrow(
      /^sandbox cannot start: SANDBOX_DATABASE_URL [^\n]*SANDBOX_PORT [^\n]*SANDBOX_API_KEY[^\n]*$/,
    );
    expect(() => readSettings(env)).not.toThrow(/secret|70000/);
  });

  it.each(['-1', '4010x', '1e3', '3.5'])('refuses the port %s', (port) => {
    expect(() => readSettings({ ...good, SANDBOX_PORT: port })).toThrow('SANDBOX_PORT');
  });
});
