import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { AddressInfo, connect, Server } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import fastify from 'fastify';
import { Acceptors } from './acceptors';
import { endConnectionsWhenClosing } from './connections';

const COUNT = 256;

async function serve() {
  const server = fastify({ forceCloseConnections: 'idle' });
  endConnectionsWhenClosing(server);
  const acceptors = new Acceptors(server);
  const connections: object[] = [];
  server.server.on('connection', (socket: object) => connections.push(socket));
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  let requests = 0;
  server.get('/', async () => {
    requests += 1;
    await answered;
    return 'done';
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.server.address() as AddressInfo;
  return {
    server,
    acceptors,
    connections,
    requests: () => requests,
    answer,
    port,
    url: `http://127.0.0.1:${port}/`,
  };
}

/** Opens connections while this process stands still, so the kernel has them all. */
function open(count: number, port: number): void {
  const connect = `let open = 0; for (let i = 0; i < ${count}; i += 1)
    require('net').connect(${port}, '127.0.0.1', () => (open += 1) === ${count} && process.exit(0))`;
  expect(spawnSync(process.execPath, ['-e', connect], { timeout: 60_000 }).status).toBe(0);
}

describe('the acceptors of a server', () => {
  it('accept a burst of connections in a few turns of the event loop', async () => {
    const { server, acceptors, connections, port } = await serve();
    try {
      await acceptors.start();
      open(COUNT, port);
      for (let turns = 0; turns < 4; turns += 1) await turn();
      expect(connections).toHaveLength(COUNT);
    } finally {
      await server.close();
    }
  });

  it('let a closing server answer the requests of their connections, and accept no others', async () => {
    const { server, acceptors, requests, answer, url } = await serve();
    await acceptors.start();
    const responses = Array.from({ length: 8 }, () => fetch(url));
    while (requests() < 8) await sleep(5);
    let isClosed = false;
    const closed = server.close().then(() => (isClosed = true));
    await sleep(50);
    expect(isClosed).toBe(false);
    await expect(fetch(url)).rejects.toThrow();
    answer();
    expect(await Promise.all(responses.map(async (one) => (await one).text()))).toEqual(
      Array.from({ length: 8 }, () => 'done'),
    );
    await closed;
  });

  it('leave no socket that takes connections, if a server closes while they are made', async () => {
    const { server, acceptors, port } = await serve();
    const listening = jest.spyOn(Server.prototype, 'listen');
    const started = acceptors.start();
    while (listening.mock.calls.length === 0) await turn(); // the first copy
    listening.mockRestore();
    await server.close();
    await started;
    const socket = connect(port, '127.0.0.1');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });
});
