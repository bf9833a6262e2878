import { FastifyAdapter } from '@nestjs/platform-fastify';
import { FastifyReply } from 'fastify';
import { heldCallHeaders, queuedCallHeaders } from '../../../http/answers/accepted-headers';
import { LedgerItem } from '../../../journal/settlement/ledger';
import { Effect } from '../../../operations/catalogue/row';
import { GATEWAY_REFUSALS } from '../../../operations/lifecycle/lifecycle';
import { UNVERIFIED_REJECTION } from '../../../operations/lifecycle/rejections';
import { ENTRIES, payoutStateOf } from '../../../operations/lifecycle/settlement';
import { Problem } from '../../../platform/errors/problem';
import { toEnvelope } from '../../../platform/errors/problem-body';
import { obstacleProblem } from '../../may-pay/obstacle-problem';
import { Answer } from '../../upstream/answers/answer';

/** A response to the app, as bytes. */
export class Reply {
  constructor(
    readonly status: number,
    readonly contentType: string,
    readonly body: Buffer,
    readonly headers: ReplyHeaders = {},
  ) {}

  /**
   * Returns the reply to a repeated request. Only a call that waits has `Retry-After`: all other answers are
   * final.
   */
  asReplay(firstCallId: string): Reply {
    const kept = this.headers.location === undefined ? {} : this.headers;
    const headers = { ...kept, 'idempotent-replayed': 'true', 'x-call-id': firstCallId } as const;
    return new Reply(this.status, this.contentType, this.body, headers);
  }
}

interface ReplyHeaders {
  /** URL of the outcome of a call that waits. */
  location?: string;
  'retry-after'?: number | undefined;
  'preference-applied'?: 'respond-async';
  age?: number | undefined;
  'idempotent-replayed'?: 'true';
  'x-call-id'?: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';

interface ReplyTimes {
  /** Age of a cached answer, in seconds (RFC 9111, section 5.1). */
  age?: number | undefined;
  /** Time after which a listing can confirm a plain rejection. */
  quietMs?: number;
}

/**
 * Returns the app's response for an upstream answer: the upstream's own status and bytes, or the proxy's own
 * text where those would mislead.
 */
export function toReply(
  answer: Answer,
  callId: string,
  effect: Effect,
  { age, quietMs = 0 }: ReplyTimes = {},
): Reply {
  switch (answer.kind) {
    case 'succeeded':
      return new Reply(answer.status, safeType(answer.contentType), answer.body, { age });
    case 'rejected':
      return rejected(answer.status, answer, callId, effect, 0);
    case 'not_sent':
      return proxyReply(notSent(answer), callId, effect);
    case 'unknown':
      if (answer.failure === UNVERIFIED_REJECTION)
        return rejected(answer.status, answer, callId, effect, quietMs);
      if (answer.failure === 'contradictory' && !GATEWAY_REFUSALS.includes(answer.status))
        return new Reply(answer.status, safeType(answer.contentType), answer.body);
      return proxyReply(
        new Problem('outcome_unknown', { status: answer.failure === 'timeout' ? 504 : 502 }),
        callId,
        effect,
      );
  }
}

/** Returns the response for a call that is pending approval. */
export function pendingReply(callId: string): Reply {
  const body = { status: 'pending_approval', call_id: callId };
  return new Reply(202, JSON_TYPE, Buffer.from(JSON.stringify(body)), heldCallHeaders(callId));
}

/** Returns the response for a call that is sent in its turn (RFC 7240, section 4.1). */
export function queuedReply(callId: string): Reply {
  const body = { status: 'queued', call_id: callId };
  const headers = { ...queuedCallHeaders(callId), 'preference-applied': 'respond-async' } as const;
  return new Reply(202, JSON_TYPE, Buffer.from(JSON.stringify(body)), headers);
}

/**
 * Returns the response to the repetition of a call in doubt that was later confirmed.
 * @param payouts ledger of each item. Empty if the items are no payouts.
 */
export function confirmedReply(callId: string, payouts: LedgerItem[]): Reply {
  const paid = payouts.filter(({ entry }) => ENTRIES[entry].counts).length;
  const isWhole = paid === payouts.length;
  const message = isWhole
    ? 'The payout service gave no usable answer, but later confirmed that it carried this out.'
    : 'The payout service gave no usable answer, ' +
      `but later confirmed that it carried out ${paid} of the ${payouts.length} payouts.`;
  const transactions = payouts.map(({ position, entry, amountUsd, transaction }) => ({
    position,
    state: payoutStateOf(entry, 'confirmed'),
    amount_usd: amountUsd?.toFixed() ?? null,
    upstream_ref: transaction?.upstream_ref ?? null,
    upstream_id: transaction?.upstream_id ?? null,
    batch_ref: transaction?.batch_ref ?? null,
    status: transaction?.status ?? null,
    at: transaction?.at ?? null,
  }));
  // The upstream reports a partial success in the same way.
  const data = isWhole
    ? undefined
    : { error: `${payouts.length - paid} of ${payouts.length} payouts were not paid` };
  const body = {
    status: 'success',
    message,
    call_id: callId,
    data,
    ...(payouts.length > 0 && { transactions }),
  };
  return new Reply(200, JSON_TYPE, Buffer.from(JSON.stringify(body)));
}

/** Returns a replacement for an erased upstream answer: the outcome in the proxy's own words. */
export function erasedContent(
  kind: 'succeeded' | 'rejected',
  callId: string,
): { contentType: string; body: Buffer } {
  const content =
    kind === 'rejected'
      ? toEnvelope(new Problem('answer_erased'), callId)
      : {
          status: 'success',
          message: 'The payout service carried this out. Its answer is no longer stored.',
          call_id: callId,
        };
  return { contentType: JSON_TYPE, body: Buffer.from(JSON.stringify(content)) };
}

function notSent({ failure, retryAfter }: Answer): Problem {
  if (failure === 'too_late') return new Problem('too_late');
  if (failure === 'fenced') return obstacleProblem({ kind: 'fenced' }, 'app');
  return new Problem('upstream_unreachable', retryAfter === null ? {} : { retryAfter });
}

/** Returns the response to a rejection. One of the proxy's own key must not look like one of the app's. */
function rejected(
  status: number,
  answer: Answer & { body: Buffer },
  callId: string,
  effect: Effect,
  quietMs: number,
): Reply {
  const quietSeconds = Math.ceil(quietMs / 1_000);
  if (status === 401 || status === 403)
    return proxyReply(
      new Problem('upstream_auth', { retryAfter: quietSeconds || undefined }),
      callId,
      effect,
    );
  if (status === 429) {
    const retryAfter = Math.max(answer.retryAfter ?? 1, quietSeconds);
    return proxyReply(new Problem('upstream_busy', { retryAfter }), callId, effect);
  }
  return new Reply(status, safeType(answer.contentType), answer.body);
}

/** Writes a problem in the envelope of the interface. */
function proxyReply(refusal: Problem, callId: string, effect: Effect): Reply {
  const problem = effect === 'read' ? refusal.asRead() : refusal;
  const body = Buffer.from(JSON.stringify(toEnvelope(problem, callId)));
  return new Reply(problem.status, JSON_TYPE, body, { 'retry-after': problem.retryAfter });
}

/** A page from an intermediary must not run as a page of ours, so only known headers are passed on. */
function safeType(contentType: string | null): string {
  if (contentType === null || !/^application\/json\s*(;|$)/i.test(contentType))
    return 'text/plain; charset=utf-8';
  return /^application\/json(\s*;\s*charset="?[\w-]{1,20}"?)?$/i.test(contentType)
    ? contentType
    : 'application/json';
}

/**
 * Sends a Reply unchanged. Nest would choose the status and the serialisation. An interceptor would send
 * every request through Observables, which takes a tenth of a request's time.
 */
export class ReplyAdapter extends FastifyAdapter {
  override reply(response: FastifyReply, result: unknown, status?: number) {
    if (!(result instanceof Reply)) return super.reply(response, result, status);
    void response.status(result.status).header('content-type', result.contentType);
    for (const [name, value] of Object.entries(result.headers)) {
      if (value !== undefined) void response.header(name, value);
    }
    return response.send(result.body);
  }
}
