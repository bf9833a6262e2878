import { Injectable } from '@nestjs/common';
import { Scope } from '../../operations/scopes';
import { healthOf } from '../accounts/accounts.dto';
import { UpstreamService } from '../../gateway/upstream/upstream.service';
import { Cached, CachedValue } from './cached';
import { HistoryService } from './history.service';
import { Overview, USUAL_DAYS } from './overview.dto';
import { SectionsService } from './sections.service';
import { StorageService } from '../../platform/storage/storage.service';
import { clock } from '../../platform/database/clock';

/** The least age at which a section is read again. */
const LEAST_MS = 2_000;

/** Assembles the sections that a reader may see. Each section is evaluated once for all readers. */
@Injectable()
export class OverviewService {
  private readonly inDoubt = cached(() => this.sections.inDoubt());
  private readonly seal = cached(() => this.sections.seal());
  private readonly findings = cached(() => this.sections.findings());
  private readonly lastRun = cached(() => this.sections.lastRun());
  private readonly wallets = cached(() => this.sections.wallets());
  private readonly approvals = cached(() => this.sections.approvals());
  private readonly clients = cached(() => this.sections.clients());
  private readonly stops = cached(() => this.sections.stops());

  constructor(
    private readonly sections: SectionsService,
    private readonly history: HistoryService,
    private readonly upstream: UpstreamService,
    private readonly storage: StorageService,
  ) {}

  /** @param scopes the scopes of the reader. */
  async read(scopes: ReadonlySet<Scope>, days = USUAL_DAYS): Promise<Overview> {
    let asOf = clock.now();
    const section = async <Value>(allowed: Scope[], source: { read(): Promise<CachedValue<Value>> }) => {
      if (!allowed.some((scope) => scopes.has(scope))) return null;
      const { value, at } = await source.read();
      if (at < asOf) asOf = at;
      return value;
    };
    const [history, in_doubt, seal, findings, last_run, wallets, approvals, clients, stops] = await Promise.all([
      section(['audit'], { read: () => this.history.read(days) }),
      section(['audit'], this.inDoubt),
      section(['audit'], this.seal),
      section(['reconcile'], this.findings),
      section(['reconcile'], this.lastRun),
      section(['reconcile', 'admin'], this.wallets),
      section(['approve'], this.approvals),
      section(['admin'], this.clients),
      section(['admin', 'approve', 'audit'], this.stops),
    ]);
    const upstream = this.upstream.all().map((account) => ({ account: account.name, ...healthOf(account) }));
    const read = { history, in_doubt, seal, findings, last_run, wallets, approvals, clients, stops };
    return { as_of: asOf, ...read, upstream, storage: this.storage.troubles };
  }
}

function cached<Value>(evaluate: () => Promise<Value>): Cached<Value> {
  return new Cached(evaluate, () => LEAST_MS);
}
