import { createServer, Server, ServerResponse } from 'node:http';
import { AddressInfo, createServer as createNetServer, Server as NetServer, Socket } from 'node:net';
import { Axios } from 'axios';
import { Pool } from 'undici';
import { FailureCode } from '../answers/answer';
import { ReceivedResponse, undiciAdapter } from './undici-adapter';

const NO_HEADERS = { raw: [], rawWithBody: ['Content-Type', 'application/json'] };

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
    jest.useRealTimers();
    await pool.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const get = (url: string, timeout = 5_000) =>
    new Axios({ adapter: undiciAdapter(pool, 1_000, NO_HEADERS) }).get<ReceivedResponse>(url, { timeout });

  it('gives up a request that waits for a connection past its deadline, without writing it', async () => {
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

  it('drops a request that is too late when its connection is free, and keeps the connection', async () => {
    const lastObstacle = jest.fn().mockReturnValueOnce(undefined).mockReturnValue('too_late');
    const ask = (url: string) =>
      new Axios({ adapter: undiciAdapter(pool, 1_000, NO_HEADERS) }).get(url, {
        timeout: 5_000,
        lastObstacle,
      });
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

  it('reports a written request as written, whatever follows', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    const arrival = new Promise<void>((resolve) => (onArrival = resolve));
    const held = get('/held', 50);
    await arrival;
    jest.advanceTimersByTime(50);
    await expect(held).rejects.toMatchObject({ failure: 'timeout', phase: 'waiting', written: true });
    server.prependListener('request', ({ socket }: { socket: Socket }) => socket.destroy());
    await expect(get('/torn')).rejects.toMatchObject({ failure: 'reset', phase: 'waiting', written: true });
    expect(arrived).toEqual(['/held', '/torn']);
  });

  it('reads no more than the size limit', async () => {
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

  describe('with a body that its connection does not take at once', () => {
    const BODY = Buffer.alloc(16_777_216, 'x');
    let slow: NetServer;
    let slowPool: Pool;
    let connected: Promise<Socket>;
    beforeEach(async () => {
      slow = createNetServer({ pauseOnConnect: true });
      connected = new Promise((resolve) => slow.once('connection', resolve));
      await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
      slowPool = new Pool(`http://127.0.0.1:${(slow.address() as AddressInfo).port}`);
    });
    afterEach(async () => {
      await slowPool.destroy();
      (await connected).destroy();
      slow.close();
    });

    /**
     * Lets the upstream read.
     * @returns the bytes it received until the body or the connection ended.
     */
    async function readBody(): Promise<number> {
      const socket = await connected;
      let size: number | undefined;
      return new Promise((resolve) => {
        socket.on('data', (chunk) => {
          size = size === undefined ? chunk.length - (chunk.indexOf('\r\n\r\n') + 4) : size + chunk.length;
          if (size >= BODY.length) resolve(size);
        });
        for (const event of ['end', 'error', 'close']) socket.on(event, () => resolve(size ?? 0));
        socket.resume();
      });
    }
    const post = (lastObstacle: () => FailureCode | undefined) =>
      new Axios({
        adapter: undiciAdapter(slowPool, 1_000, NO_HEADERS),
        transformRequest: [],
      }).post<ReceivedResponse>('/', BODY, {
        timeout: 10_000,
        lastObstacle,
      });

    it('holds the end of the body back if it is too late', async () => {
      const lastObstacle = jest.fn().mockReturnValueOnce(undefined).mockReturnValue('too_late');
      const late = post(lastObstacle).catch((error: unknown) => error);
      await connected;
      expect(await readBody()).toBe(BODY.length - 1);
      expect(await late).toMatchObject({ failure: 'too_late', phase: 'waiting', written: true });
    });

    it('sends the whole body otherwise', async () => {
      const sent = post(() => undefined);
      const socket = await connected;
      expect(await readBody()).toBe(BODY.length);
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ndone');
      expect((await sent).data.body.toString()).toBe('done');
    });
  });
});
