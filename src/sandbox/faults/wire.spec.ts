import { once } from 'node:events';
import { createServer } from 'node:http';
import { AddressInfo, connect } from 'node:net';
import { resetConnection } from './wire';

describe('resetConnection', () => {
  it.each([
    ['an open', false],
    ['an ending', true],
  ])('closes %s connection', async (_state, isEnding) => {
    const server = createServer((_request, response) => {
      if (isEnding) response.socket?.end();
      resetConnection({ response });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const closed = new Promise((resolve) =>
      server.once('connection', (socket) => socket.once('close', resolve)),
    );
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    client.write('GET / HTTP/1.1\r\nHost: sandbox\r\n\r\n');
    await closed;
    client.destroy();
    server.close();
  });
});
