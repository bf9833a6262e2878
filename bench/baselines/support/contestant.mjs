/**
 * What a contestant is told by its environment.
 * @param names those that it needs, such as UPSTREAM_URL; whatever is missing ends it, by name.
 */
export function settings(...names) {
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length > 0) fail(`set ${missing.join(', ')}: npm run bench does it`);
  return names.map((name) => process.env[name]);
}

/** Says where it listens, as the one line of its output. It takes requests from now on. */
export function ready(url) {
  console.log(JSON.stringify({ url }));
}

/** Listens on any free port of this machine's own, and ends when told to. */
export function listen(server) {
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  process.once('SIGTERM', () => process.exit(0));
  server.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${server.address().port}`));
}

/** As Fastify's own. Node's five seconds are over while the others have their round, and a request may meet the closing. */
export const KEEP_ALIVE_MS = 72_000;

/** Ends with one line that says why. */
export function fail(reason, code = 1) {
  console.error(reason);
  process.exit(code);
}
