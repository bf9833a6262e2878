import { FastifyReply } from 'fastify';

/** Thrown to end work whose caller hung up. Never answered. */
export class CallerGone extends Error {
  constructor() {
    super('The caller closed the connection before it had an answer.');
  }
}

/**
 * Returns a signal that is aborted when the connection closes before the answer is complete, or has closed
 * already.
 */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  const leave = () => {
    if (!raw.writableFinished) gone.abort(new CallerGone());
  };
  if (raw.closed || raw.destroyed) leave();
  else raw.once('close', leave);
  return gone.signal;
}
