/**
 * Reads the environment of a contestant.
 * @param names the required variables, such as UPSTREAM_URL. If one is missing, the process ends with its
 * name.
 */
export function settings(...names) {
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length > 0) fail(`set ${missing.join(', ')}: npm run bench does it`);
  return names.map((name) => process.env[name]);
}

/** Prints the address, as the only line of output. The contestant accepts requests from now on. */
export function ready(url) {
  console.log(JSON.stringify({ url }));
}

/** Listens on any free local port, and ends on SIGTERM. */
export function listen(server) {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  process.once('SIGTERM', () => process.exit(0));
  server.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${server.address().port}`));
}

/**
 * Keep-alive timeout, as Fastify's. Node's five seconds would end during the others' rounds, and a request
 * could meet the closing connection.
 */
const KEEP_ALIVE_MS = 72_000;

/** Ends with one line that explains why. */
export function fail(reason, code = 1) {
  console.error(reason);
  process.exit(code);
}
