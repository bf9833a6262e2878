import { createHmac } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { OperationCall } from '../../access/auth/call';
import { Caller } from '../../access/callers/caller';
import { Screened, SCREENED } from '../../journal/records/records';
import { movesValue, OperationName } from '../../operations/catalogue/catalogue';
import { Item, totalOf } from '../../operations/items/item';
import { readBounded } from '../../platform/bounded-body';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { webhookKeyOf } from '../../platform/config/secrets/webhook-key';
import { clock } from '../../platform/database/clock';
import { codeOf } from '../../platform/errors/error-code';
import { Problem } from '../../platform/errors/problem';
import { readStrictJson } from '../../platform/json/strict-json';
import { Egress } from '../../platform/network/egress';

/** A call to screen. */
interface ScreenedCall extends Pick<OperationCall, 'id' | 'operation'> {
  caller: Pick<Caller, 'clientName'>;
}

/**
 * Submits the recipients of a call to the operator's screening service before the call is written or sent.
 * Nothing is sent without an answer that allows it.
 */
@Injectable()
export class ScreeningService {
  private readonly logger = new Logger('Screening');

  constructor(
    @Inject(SETTINGS) private readonly settings: RunningConfig,
    private readonly egress: Egress,
  ) {}

  /** Whether a service is configured. */
  get isEnabled(): boolean {
    return this.settings.screeningUrl !== undefined;
  }

  /**
   * Screens a call.
   * @returns null without a configured service, or for a call without recipients.
   * @throws Problem `screening_denied` or `screening_unavailable`.
   */
  async check(call: ScreenedCall, items: Item[]): Promise<Screened | null> {
    const { screeningUrl: url, screeningSecret: secret } = this.settings;
    if (url === undefined || secret === undefined || !isScreened(call.operation, items)) return null;
    const verdict = await this.requestVerdict(url, secret.reveal(), call, items);
    if (verdict === 'deny') throw new Problem('screening_denied');
    return verdict;
  }

  private async requestVerdict(
    url: string,
    secret: string,
    call: ScreenedCall,
    items: Item[],
  ): Promise<Screened | 'deny'> {
    const body = screeningRequest(call, items);
    try {
      const response = await this.egress.fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...signedHeaders(call.id, body, secret) },
        body,
        redirect: 'manual', // recipients are sent nowhere else
        signal: AbortSignal.timeout(this.settings.screeningTimeoutMs), // covers the body
      });
      return await readVerdict(response);
    } catch (error) {
      this.logger.error(
        { call_id: call.id, reason: reasonOf(error) },
        'screening failed, the call is refused',
      );
      throw new Problem('screening_unavailable');
    }
  }
}

function isScreened(operation: OperationName, items: Item[]): boolean {
  return movesValue(operation) || items.some(({ recipientField }) => recipientField !== null);
}

function screeningRequest({ id, caller, operation }: ScreenedCall, items: Item[]): string {
  return JSON.stringify({
    call_id: id,
    client: caller.clientName,
    operation,
    total_usd: totalOf(items)?.toFixed() ?? null,
    items: items.map(({ email, phone, handle, receiver, country, amountUsd }, position) => ({
      position,
      email,
      phone,
      handle,
      receiver,
      country,
      amount_usd: amountUsd?.toFixed() ?? null,
    })),
  });
}

/** Returns the reason for a missing verdict. Never quotes the answer, which may name people. */
function reasonOf(error: unknown): string {
  if (error instanceof ScreeningError) return error.message;
  const { name, cause } = error as Error;
  return name === 'TimeoutError' ? 'timeout' : (codeOf(cause) ?? name);
}

/**
 * Returns headers that authenticate a body: `v1,` and the base64 HMAC-SHA256 of `{id}.{timestamp}.{body}`
 * (Standard Webhooks, "Signature scheme"), the scheme of the upstream's events.
 */
function signedHeaders(id: string, body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(clock.nowMs() / 1_000));
  const signature = createHmac('sha256', webhookKeyOf(secret))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

const VERDICTS = [...SCREENED, 'deny'] as const;

/** A verdict needs a few dozen bytes. */
const MAX_BYTES = 16_384;

/** An answer without a verdict. The message never quotes it. */
class ScreeningError extends Error {}

/**
 * Reads the verdict of an answer: 200, and a JSON object with one `"verdict"`. Ignores other members, which
 * may contain personal information.
 * @throws Unusable, or the error that interrupted the answer.
 */
async function readVerdict(response: Response): Promise<Screened | 'deny'> {
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new ScreeningError(`status ${response.status}`);
  }
  const bytes = await readBounded(response.body, MAX_BYTES);
  if (bytes === undefined) throw new ScreeningError('too large');
  const verdict = verdictIn(bytes.toString());
  if (verdict === undefined) throw new ScreeningError('no verdict');
  return verdict;
}

function verdictIn(text: string): Screened | 'deny' | undefined {
  try {
    const answer = readStrictJson(text) as { verdict?: unknown } | null;
    return VERDICTS.find((verdict) => verdict === answer?.verdict);
  } catch {
    return undefined;
  }
}
