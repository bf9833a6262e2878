import { Inject, Injectable, Logger } from '@nestjs/common';
import { OperationCall } from '../../access/auth/call';
import { Caller } from '../../access/callers/caller';
import { Screened } from '../../journal/records';
import { movesValue, OperationName } from '../../operations/catalogue';
import { Item, totalOf } from '../../operations/item';
import { Egress } from '../../platform/network/egress';
import { Problem } from '../../platform/errors/problem';
import { codeOf } from '../../platform/errors/error-code';
import { readVerdict, Unusable } from './answer';
import { signedHeaders } from './signature';
import { RunningConfig, SETTINGS } from '../../platform/config/config';

/** A call whose recipients are screened. */
interface ScreenedCall extends Pick<OperationCall, 'id' | 'operation'> {
  caller: Pick<Caller, 'clientName'>;
}

/**
 * Asks a service of the operator about the recipients of a call, before anything of the call is written or sent. Without an
 * answer that allows it, nothing is sent.
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
   * Asks about a call.
   * @returns null if no service is configured, or the call names no recipient and pays nobody.
   * @throws Problem `screening_denied` or `screening_unavailable`.
   */
  async check(call: ScreenedCall, items: Item[]): Promise<Screened | null> {
    const { screeningUrl: url, screeningSecret: secret } = this.settings;
    if (url === undefined || secret === undefined || !isScreened(call.operation, items)) return null;
    const verdict = await this.ask(url, secret.reveal(), call, items);
    if (verdict === 'deny') throw new Problem('screening_denied');
    return verdict;
  }

  private async ask(url: string, secret: string, call: ScreenedCall, items: Item[]): Promise<Screened | 'deny'> {
    const body = questionAbout(call, items);
    try {
      const response = await this.egress.fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...signedHeaders(call.id, body, secret) },
        body,
        redirect: 'manual', // recipients are sent to nobody else
        signal: AbortSignal.timeout(this.settings.screeningTimeoutMs), // also while the answer is read
      });
      return await readVerdict(response);
    } catch (error) {
      this.logger.error({ call_id: call.id, reason: reasonOf(error) }, 'screening failed, the call is refused');
      throw new Problem('screening_unavailable');
    }
  }
}

function isScreened(operation: OperationName, items: Item[]): boolean {
  return movesValue(operation) || items.some(({ recipientField }) => recipientField !== null);
}

function questionAbout({ id, caller, operation }: ScreenedCall, items: Item[]): string {
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

/** Returns why there is no verdict. The answer may name people, so it is never quoted. */
function reasonOf(error: unknown): string {
  if (error instanceof Unusable) return error.message;
  const { name, cause } = error as Error;
  return name === 'TimeoutError' ? 'timeout' : (codeOf(cause) ?? name);
}
