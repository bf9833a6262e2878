import { setTimeout as sleep } from 'node:timers/promises';
import { FastifyInstance, FastifyRequest } from 'fastify';
import { holderOf } from '../../access/auth/call';
import { isOperation, rowOf } from '../../operations/catalogue/catalogue';
import { Problem } from '../../platform/errors/problem';
import { disconnectSignal } from '../connections/caller-disconnected';
import { LONG_BODY_BYTES } from '../validation/json-body';
import { FaultThrottle, LONGEST_DELAY_MS } from './fault-throttle';
import { QuotasService } from './quotas.service';

/** Limits the concurrent requests of a key, and its long bodies with faults. Call it after `receiveCalls`. */
export function limitRequests(server: FastifyInstance, quotas: QuotasService): void {
  server.addHook('onRequest', ({ call }, reply, done) => {
    if (!call.caller) return done();
    const give = quotas.take('requests', holderOf(call));
    if (isOperation(call.operation) && rowOf(call.operation).effect !== 'read') quotas.notePayment();
    reply.raw.once('close', give);
    done();
  });
  throttleFaults(server, new FaultThrottle());
}

/** Delays bodies by not reading them, so that their senders wait, too. */
function throttleFaults(server: FastifyInstance, throttle: FaultThrottle): void {
  const delayed = new WeakSet<FastifyRequest>();
  server.addHook('preParsing', (request, reply, payload, done) => {
    const keyId = keyOfLong(request);
    const delay = keyId === undefined ? 0 : throttle.delayOf(keyId);
    if (delay === 0) return done(null, payload);
    delayed.add(request);
    if (delay > LONGEST_DELAY_MS) {
      return done(new Problem('too_many_faults', { retryAfter: Math.ceil(delay / 1_000), recorded: false }));
    }
    const goOn = () => {
      request.call.sendBy += delay;
      done(null, payload);
    };
    // a disconnect is handled elsewhere
    sleep(delay, undefined, { signal: disconnectSignal(reply) }).then(goOn, goOn);
  });
  server.addHook('onSend', (request, reply, _payload, done) => {
    const keyId = keyOfLong(request);
    if (keyId !== undefined) {
      if (reply.statusCode === 400 && !request.call.opened) throttle.noteFaults(keyId, delayed.has(request));
      else if (reply.statusCode < 400) throttle.noteValid(keyId);
    }
    done();
  });
}

/** Returns the holder of a request with a long body, or one of unknown length. */
function keyOfLong({ call, headers, routeOptions }: FastifyRequest): string | undefined {
  const length = headers['content-length'];
  const isLong =
    length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > LONG_BODY_BYTES;
  return isLong && call.caller && routeOptions.config.takesCsv !== true ? holderOf(call) : undefined;
}
