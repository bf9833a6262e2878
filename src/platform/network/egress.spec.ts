import { createServer, Server } from 'node:http';
import net, { AddressInfo } from 'node:net';
import { Pool } from 'undici';
import { ConnectProxy } from '../../../test/support/connect-proxy';
import { Secret } from '../config/secret';
import { Egress } from './egress';

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
    return proxy.asked.length > 0 ? 'proxied' : 'direct';
  }

  it('gives each address of a host a third of the time to connect', async () => {
    const connect = jest.spyOn(net, 'connect');
    const pool = new Pool(`http://127.0.0.1:${port}`, { connect: new Egress().connector(3_000) });
    await (await pool.request({ path: '/', method: 'GET' })).body.dump();
    expect(connect).toHaveBeenCalledWith(expect.objectContaining({ autoSelectFamilyAttemptTimeout: 1_000 }));
    await pool.destroy();
  });

  it.each(['127.0.0.1', 'localhost'])('connects to %s directly', async (host) => {
    expect(await reach(`http://${host}:${port}`)).toBe('direct');
  });

  it('connects to other hosts through the proxy of their protocol', async () => {
    expect(await reach('http://host.test')).toBe('proxied');
    proxy.asked.length = 0;
    expect(await reach('https://host.test')).toBe('direct');
  });

  it.each(['*', 'host.test', 'other.test,.test'])('connects directly if NO_PROXY is %s', async (entries) => {
    expect(await reach('http://host.test', ...entries.split(','))).toBe('direct');
  });
});
