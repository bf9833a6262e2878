import { refusal } from '../../../../test/support/processes/refused-configuration';
import { loadConfig } from '../config';

const PROXY = 'http://user:p%40ss@proxy.example:3128';

describe('the variables of the egress proxy', () => {
  it('read none by default', () => {
    expect(loadConfig({})).toMatchObject({ httpProxy: undefined, httpsProxy: undefined, noProxy: [] });
  });

  it.each(['HTTPS_PROXY', 'https_proxy'])(
    'read the address in %s, as a secret that is not recorded',
    (name) => {
      const config = loadConfig({ [name]: PROXY, no_proxy: '.corp.example, 10.0.0.0/8' });
      expect(config.httpsProxy?.reveal()).toBe(PROXY);
      expect(config).toMatchObject({ httpProxy: undefined, noProxy: ['.corp.example', '10.0.0.0/8'] });
      expect(JSON.stringify(config)).not.toMatch(/p%40ss|proxy\.example/);
    },
  );

  it('take two spellings only with one value', () => {
    expect(loadConfig({ HTTPS_PROXY: PROXY, https_proxy: PROXY }).httpsProxy?.reveal()).toBe(PROXY);
    expect(refusal({ HTTPS_PROXY: PROXY, https_proxy: 'http://other.example' })).toBe(
      'invalid configuration: HTTPS_PROXY and https_proxy must not differ',
    );
  });

  it.each([
    'proxy.example:3128',
    'socks5://proxy.example',
    `${PROXY}/path`,
    `${PROXY}?a`,
    'http://us%er@proxy.example',
  ])('refuse %s, without quoting it', (value) => {
    expect(refusal({ HTTPS_PROXY: value })).toBe(
      'invalid configuration: HTTPS_PROXY must be an http:// or https:// address without a path, such ' +
        'as http://proxy.example.com:3128',
    );
  });

  it('refuse an exception that nothing would obey', () => {
    expect(refusal({ NO_PROXY: 'http://db.example' })).toMatch(
      /NO_PROXY must be a comma-separated list of domains/,
    );
  });
});
