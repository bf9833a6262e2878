import { readFileSync } from 'node:fs';
import { createServer, Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import net, { AddressInfo } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';
import { Pool } from 'undici';
import { ConnectProxy } from '../../../test/support/network/connect-proxy';
import { Secret } from '../config/secrets/secret';
import { Egress } from './egress';

const { connect } = tls;

describe('Egress', () => {
  let server: Server;
  let port: number;
  let proxy: ConnectProxy;

  beforeEach(async () => {
    server = createServer((_request, response) => response.end('done'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
    proxy = await ConnectProxy.start(`http://127.0.0.1:${port}`);
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await proxy.stop();
  });

  async function reach(url: string, ...noProxy: string[]): Promise<string> {
    const egress = new Egress({ httpProxy: new Secret(proxy.url('user')), httpsProxy: undefined, noProxy });
    const response = await egress.fetch(url, {}).catch(() => undefined); // no such host
    await response?.text();
    await egress.close();
    return proxy.requests.length > 0 ? 'proxied' : 'direct';
  }

  it('gives each address of a host a third of the time to connect', async () => {
    const opened = jest.spyOn(net, 'connect');
    const pool = new Pool(`http://127.0.0.1:${port}`, { connect: new Egress().connector(3_000) });
    await (await pool.request({ path: '/', method: 'GET' })).body.dump();
    expect(opened).toHaveBeenCalledWith(expect.objectContaining({ autoSelectFamilyAttemptTimeout: 1_000 }));
    await pool.destroy();
  });

  it.each(['127.0.0.1', 'localhost'])('connects to %s directly', async (host) => {
    expect(await reach(`http://${host}:${port}`)).toBe('direct');
  });

  it('connects to other hosts through the proxy of their protocol', async () => {
    expect(await reach('http://host.test')).toBe('proxied');
    proxy.requests.length = 0;
    expect(await reach('https://host.test')).toBe('direct');
  });

  it.each(['*', 'host.test', 'other.test,.test'])('connects directly if NO_PROXY is %s', async (entries) => {
    expect(await reach('http://host.test', ...entries.split(','))).toBe('direct');
  });

  describe('to a host with TLS', () => {
    let secure: Server;
    let outside: ConnectProxy;
    const fileOf = (name: string) => readFileSync(join(__dirname, '../../../test/support/network/tls', name));

    beforeEach(async () => {
      secure = createTlsServer(
        { key: fileOf('server.key'), cert: fileOf('server.pem') },
        (_request, response) => response.end('done'),
      );
      await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
      outside = await ConnectProxy.start(urlOf('127.0.0.1'));
      // The certificate is for localhost, which has no proxy.
      jest.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions) => {
        const servername = options.servername === 'known.test' ? 'localhost' : options.servername;
        return connect({ ...options, servername, ca: fileOf('ca.pem') });
      }) as typeof connect);
    });
    afterEach(async () => {
      await outside.stop();
      secure.closeAllConnections();
      secure.close();
    });

    const urlOf = (host: string) => `https://${host}:${(secure.address() as AddressInfo).port}`;

    /** Sends requests through a pool of one connection. */
    async function send(url: string, requests = 3): Promise<string[]> {
      const httpsProxy = new Secret(outside.url('user'));
      const egress = new Egress({ httpProxy: undefined, httpsProxy, noProxy: [] });
      const pool = new Pool(url, { connections: 1, connect: egress.connector(3_000) });
      const ask = async () => (await pool.request({ path: '/', method: 'GET' })).body.text();
      const answers = Array.from({ length: requests }, ask).map((asked) =>
        asked.catch((error: { code: string }) => error.code),
      );
      const all = await Promise.all(answers);
      await pool.destroy();
      return all;
    }

    it('speaks TLS with the host through the tunnel', async () => {
      expect(await send('https://known.test')).toEqual(['done', 'done', 'done']);
      expect(outside.requests.map(({ authority }) => authority)).toEqual(['known.test:443']);
    });

    it('has a code for a certificate of another name with which undici does not begin again', async () => {
      expect(await send('https://unknown.test', 1)).toEqual(['TLS_CERT_OTHER_NAME']);
    });

    it.each(['through a tunnel', 'directly'])(
      'ends all waiting requests if its certificate has another name, %s',
      async (way) => {
        const url = way === 'directly' ? urlOf('127.0.0.1') : 'https://unknown.test';
        expect(await send(url)).toEqual(Array(3).fill('TLS_CERT_OTHER_NAME'));
      },
    );
  });
});
