import { Axios } from 'axios';
import { createServer, Server, ServerResponse } from 'node:http';
import { AddressInfo, Socket } from 'node:net';
import { Pool } from 'undici';
import { Received, undiciAdapter } from './undici-adapter';

describe('undiciAdapter', () => {
  let server: Server;
  let pool: Pool;
  let arrived: string[];
  let sockets: Set<Socket>;
  let answerHeld: (() => void)[];
  let onArrival: () => void;

  beforeEach(async () => {
    [arrived, sockets, answerHeld, onArrival] = [[], new Set(), [], () => undefined];
    server = createServer(({ url = '', socket }, response: ServerResponse) => {
      arrived.push(url);
      sockets.add(socket);
      if (url === '/held') answerHeld.push(() => response.end('held'));
      else response.end('done');
      onArrival();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 1 });
  });
  afterEach(async () => {
    await pool.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const get = (url: string, timeout = 5_000) =>
    new Axios({ adapter: undiciAdapter(pool, 1_000, {}) }).get<Received>(url, { timeout });

  it('gives up a request that waits for a connection past its deadline, and never writes it', async () => {
    const arrival = new Promise<void>((resolve) => (onArrival = resolve));
    const held = get('/held');
    await arrival;
    await expect(get('/waiting', 50)).rejects.toMatchObject({
      failure: 'timeout',
      phase: 'connecting',
      written: false,
    });
    answerHeld[0]?.();
    expect((await held).data.body.toString()).toBe('held');
    await get('/next');
    expect(arrived).toEqual(['/held', '/next']);
    expect(sockets.size).toBe(1); // dropping it cost no connection
  });

  it('never writes a request that is too late when its connection is free, and keeps the connection', async () => {
    const lastObstacle = jest.fn().mockReturnValueOnce(undefined).mockReturnValue('too_late');
    const ask = (url: string) =>
      new Axios({ adapter: undiciAdapter(pool, 1_000, {}) }).get(url, { timeout: 5_000, lastObstacle });
    const arrival = new Promise<void>((resolve) => (onArrival = resolve));
    const held = ask('/held');
    await arrival;
    const late = ask('/late').catch((error: unknown) => error);
    answerHeld[0]?.();
    await held;
    expect(await late).toMatchObject({ failure: 'too_late', phase: 'connecting', written: false });
    await get('/next');
    expect(arrived).toEqual(['/held', '/next']);
    expect(sockets.size).toBe(1);
    expect(lastObstacle).toHaveBeenCalledTimes(2); // each right before it would have been written
  });

  it('reports that a written request was written, whatever follows', async () => {
    await expect(get('/held', 50)).rejects.toMatchObject({ failure: 'timeout', phase: 'waiting', written: true });
    server.prependListener('request', ({ socket }: { socket: Socket }) => socket.destroy());
    await expect(get('/torn')).rejects.toMatchObject({ failure: 'reset', phase: 'waiting', written: true });
    expect(arrived).toEqual(['/held', '/torn']);
  });

  it('reads no more than the limit', async () => {
    server.removeAllListeners('request').on('request', (_request, response: ServerResponse) => {
      response.end('x'.repeat(1_001));
    });
    await expect(get('/')).rejects.toMatchObject({ failure: 'oversized', phase: 'answering', written: true });
  });

  it('handles headers with the names of methods', async () => {
    server.removeAllListeners('request').on('request', (_request, response: ServerResponse) => {
      for (const name of ['get', 'set', 'has', 'toJSON', 'constructor', 'hasOwnProperty'])
        response.setHeader(name, 'x');
      response.end('done');
    });
    expect((await get('/')).data.body.toString()).toBe('done');
  });
});
