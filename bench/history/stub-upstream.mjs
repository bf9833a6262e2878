import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';

/** Starts an upstream for reads only. It streams a listing from a file, and returns the given wallets. */
export async function startStub(file) {
  let wallets = '[]';
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    const path = request.url?.split('?')[0];
    if (path === '/api/v0.1/account/transactions')
      createReadStream(file, { highWaterMark: 1 << 20 }).pipe(response);
    else if (path === '/api/v0.1/wallets/list') response.end(`{"status":"success","data":${wallets}}`);
    else response.end('{"status":"success","data":{"error":"not found for that id"}}');
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    setWallets: (json) => (wallets = json),
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
