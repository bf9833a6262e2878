import { accountVariable } from '../../src/platform/config/upstream/upstream-accounts';
import { API_KEY, startSandbox, TestSandbox } from '../support/sandbox/sandbox';
import { Simulator } from '../support/simulator/server';
import { OldDatabase } from './old-database';
import { ENVIRONMENT } from './proxies';
import { NEVER_MS, TransferFault, Wave } from './schedule';
import { ScheduledAccount } from './simulated/account';

/** Accounts of the simulated upstream. Few, so that their schedules meet. */
export const SIMULATED_ACCOUNTS = ['simulated-0', 'simulated-1'];

/** The upstreams of all schedules: the sandbox for `main`, and the simulator for the other accounts. */
export class Upstream {
  /** Position of the sandbox's last request before this wave. */
  private arrivedBefore = 0;
  private listedAfterMs: Wave['listedAfterMs'] | undefined;

  private constructor(
    readonly sandbox: TestSandbox,
    private readonly simulator: Simulator,
    readonly accounts: ScheduledAccount[],
  ) {}

  static async start(database: OldDatabase): Promise<Upstream> {
    const sandbox = await startSandbox({}, database);
    const simulator = await Simulator.start(Number(ENVIRONMENT.UPSTREAM_TIMEOUT_MS));
    const accounts = SIMULATED_ACCOUNTS.map((name) => simulator.host(new ScheduledAccount(name)));
    return new Upstream(sandbox, simulator, accounts);
  }

  /** The settings of both proxies and the worker. */
  get environment() {
    const named = this.accounts.flatMap(({ name, key }) => [
      [accountVariable(name, 'BASE_URL'), this.simulator.url],
      [accountVariable(name, 'API_KEY'), key],
    ]);
    return {
      ...ENVIRONMENT,
      UPSTREAM_BASE_URL: this.sandbox.url,
      UPSTREAM_API_KEY: API_KEY,
      UPSTREAM_ACCOUNTS: SIMULATED_ACCOUNTS.join(','),
      ...(Object.fromEntries(named) as Record<string, string>),
    };
  }

  /** Begins a wave. The transactions stay, because the lists would otherwise lack known ones. */
  async begin({ magicMs, listedAfterMs, transferFault }: Wave): Promise<void> {
    for (const account of this.accounts) account.begin();
    this.arrivedBefore = (await this.sandbox.requests()).at(-1)?.seq ?? 0;
    this.listedAfterMs = listedAfterMs;
    await this.sandbox.control('patch', '/settings', { magicMs, listedAfterMs }).expect(200);
    await this.setTransferFault(transferFault);
  }

  /** @param fault undefined for none. */
  async setTransferFault(fault: TransferFault | undefined): Promise<void> {
    await this.sandbox.control('delete', '/faults').expect(204);
    for (const operation of fault ? ['POST /account/transfer', 'POST /wallets/transfer'] : []) {
      await this.sandbox.fault({ ...fault, operation });
    }
  }

  /** Returns the requests of this wave that arrived at the sandbox. */
  async sandboxRequests() {
    const after = this.arrivedBefore;
    return (await this.sandbox.control('get', '/requests').query({ after }).expect(200)).body;
  }

  /** Whether the sandbox lists transfers only after every quiet period. */
  get hidesTransfers(): boolean {
    return this.listedAfterMs?.transfer === NEVER_MS;
  }

  /** Pays from the queue, and lists what is listed within the quiet periods. */
  async endQuiet(): Promise<void> {
    for (const account of this.accounts) account.drain(false);
    const later = Object.entries(this.listedAfterMs ?? {}).map(([kind, ms]) => [
      kind,
      ms === NEVER_MS ? ms : 0,
    ]);
    const listedAfterMs = Object.fromEntries(later) as Wave['listedAfterMs'];
    await this.sandbox.control('patch', '/settings', { listedAfterMs }).expect(200);
  }

  /** Lets the simulator change its payments, and pay what still waits in its queue. */
  passTime(): void {
    for (const account of this.accounts) {
      account.drain(true);
      while (account.advance());
    }
  }

  async close(): Promise<void> {
    await this.sandbox.close();
    await this.simulator.stop();
  }
}
