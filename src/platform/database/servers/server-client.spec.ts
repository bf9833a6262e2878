import { once } from 'node:events';
import { AddressInfo, createServer, Server } from 'node:net';
import { ServerClient } from './server-client';

/** A message of Postgres (PostgreSQL 18, 54.7): its type, its length and its content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const TERMINATED = message(
  'E',
  Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'),
);

describe('a connection that its server ends at once', () => {
  let server: Server;

  beforeEach(async () => {
    server = createServer((socket) => {
      socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, TERMINATED])));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => server.close());

  // Without a listener, its error ends this process, too.
  it('fails its statements, and does not end the process', async () => {
    const { port } = server.address() as AddressInfo;
    const client = new ServerClient({ connectionString: `postgres://reader@127.0.0.1:${port}/records` });
    await client.connect();
    await expect(client.query('SELECT 1')).rejects.toThrow('not queryable');
  });
});
