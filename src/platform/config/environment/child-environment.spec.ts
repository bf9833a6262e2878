import { childEnvironment } from './child-environment';

describe('childEnvironment', () => {
  it('passes on program paths and no secrets', () => {
    const before = process.env;
    process.env = {
      PATH: '/bin',
      UPSTREAM_API_KEY: 'secret',
      DATABASE_URL: 'postgresql://u:p@h/d',
      ANY: 'thing',
    };
    const environment = childEnvironment({ OWN: '1' });
    process.env = before;
    expect(environment).toEqual({ PATH: '/bin', OWN: '1' });
  });
});
