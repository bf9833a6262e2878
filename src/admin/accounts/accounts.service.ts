import { Inject, Injectable } from '@nestjs/common';
import { UpstreamService } from '../../gateway/upstream/upstream.service';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { accountsOf, RunningAccount } from '../../platform/config/upstream/upstream-accounts';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { AccountDto, healthOf } from './accounts.dto';

/** Lists the accounts at the upstream. */
@Injectable()
export class AccountsService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly upstream: UpstreamService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /** Returns the accounts of this instance, then unknown accounts of clients. */
  async list(): Promise<AccountDto[]> {
    const counts = await this.prisma.client.groupBy({
      by: ['account'],
      _count: true,
      orderBy: { account: 'asc' },
    });
    const clients = new Map(counts.map(({ account, _count: count }) => [account, count]));
    const configured = accountsOf(this.settings);
    const known = configured.map((account) => this.known(account, clients.get(account.name) ?? 0));
    for (const { name } of configured) clients.delete(name);
    return [...known, ...[...clients].map(([name, count]) => unknownAccount(name, count))];
  }

  private known(
    { name, baseUrl, subAccount, wallet, webhookSecret }: RunningAccount,
    clients: number,
  ): AccountDto {
    return {
      name,
      configured: true,
      base_url: baseUrl,
      sub_account: subAccount ?? null,
      wallet: wallet ?? null,
      accepts_events: webhookSecret !== undefined,
      clients,
      ...healthOf(this.upstream.of(name)),
    };
  }
}

function unknownAccount(name: string, clients: number): AccountDto {
  return {
    name,
    configured: false,
    base_url: null,
    sub_account: null,
    wallet: null,
    accepts_events: false,
    clients,
    open_circuits: [],
    last_answered_at: null,
    last_failure_at: null,
  };
}
