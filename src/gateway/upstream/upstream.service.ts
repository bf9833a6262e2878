import { Inject, Injectable, OnApplicationShutdown } from '@nestjs/common';
import { MetricsService } from '../../http/metrics/metrics.service';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { SecretReloadService } from '../../platform/config/secrets/secret-reload.service';
import { accountsOf, accountVariable } from '../../platform/config/upstream/upstream-accounts';
import { Problem } from '../../platform/errors/problem';
import { Egress } from '../../platform/network/egress';
import { MayPay } from '../may-pay/may-pay.service';
import { UpstreamAccount } from './upstream-account';

/** The accounts at the upstream. Each client belongs to one and reaches no other. */
@Injectable()
export class UpstreamService implements OnApplicationShutdown {
  private readonly accounts: ReadonlyMap<string, UpstreamAccount>;

  constructor(
    @Inject(SETTINGS) settings: RunningConfig,
    metrics: MetricsService,
    mayPay: MayPay,
    egress: Egress,
    reload: SecretReloadService,
  ) {
    const accounts = accountsOf(settings).map((config) => {
      const account = new UpstreamAccount(config, settings, metrics, mayPay, egress);
      reload.watch(accountVariable(config.name, 'API_KEY'), config.apiKey, (key) => account.replaceKey(key));
      return [config.name, account] as const;
    });
    this.accounts = new Map(accounts);
  }

  /** All accounts, `main` first. */
  all(): UpstreamAccount[] {
    return [...this.accounts.values()];
  }

  /**
   * Returns an account.
   * @throws Problem `account_not_configured` if this instance lacks it.
   */
  of(name: string): UpstreamAccount {
    const account = this.accounts.get(name);
    if (!account) throw new Problem('account_not_configured');
    return account;
  }

  /**
   * Removes the keys of all accounts from text other than answers. Returns the same bytes if there is none.
   */
  withoutKeys(bytes: Buffer): Buffer {
    return this.all().reduce((left, account) => account.withoutKey(left), bytes);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.all().map((account) => account.close()));
  }
}
