/** Settings of a connection that is idle most of the time, because it only holds a lock or listens. */
export const IDLE_CONNECTION = {
  connectionTimeoutMillis: 5_000,
  query_timeout: 5_000,
  // Without keep-alive, nothing would notice that the server is gone.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
};
