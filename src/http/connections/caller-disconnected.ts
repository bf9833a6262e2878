import { FastifyReply } from 'fastify';

/** Ends the work for a caller that closed the connection. It is never answered. */
export class CallerDisconnected extends Error {
  constructor() {
    super('The caller closed the connection before it had an answer.');
  }
}

/** Returns a signal that aborts if the connection closes before the answer is complete. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = () => {
    if (!raw.writableFinished) gone.abort(new CallerDisconnected());
  };
  if (raw.closed || raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}
