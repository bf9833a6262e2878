import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { readTransaction, Transaction, transactionsIn } from '../../gateway/upstream/answers/transactions';
import { walletsIn } from '../../gateway/upstream/answers/wallets';
import {
  toOutgoing,
  listingRequest,
  batchRequest,
  transactionRequest,
  OutgoingRequest,
} from '../../gateway/upstream/transport/outgoing';
import { UpstreamAccount } from '../../gateway/upstream/upstream-account';
import { UpstreamService } from '../../gateway/upstream/upstream.service';
import { ReconciliationMetrics } from '../../http/metrics/reconciliation-metrics';
import { UnknownStatuses } from '../../journal/outcomes/unknown-statuses';
import { NewSourceRead } from '../../journal/reconciliation/reconciliations';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { Cause, ListingOptions, ReadResult, recordRead, SourceContents } from './source-read';
import { TransactionWriter, isFaulty, isWithin, insertWallets } from './transaction-writer';

type Source = Exclude<NewSourceRead['source'], 'statement'>;

/** Reads the upstream's data and keeps it as evidence. Each request is recorded before it is sent. */
@Injectable()
export class SourcesService {
  constructor(
    private readonly prisma: PrismaService,
    private readonly upstream: UpstreamService,
    private readonly metrics: ReconciliationMetrics,
    private readonly statuses: UnknownStatuses,
  ) {}

  /** Returns whether an account is configured. Otherwise it cannot be read. */
  knows(account: string): boolean {
    return this.upstream.all().some(({ name }) => name === account);
  }

  /**
   * Reads all transactions of an account, once. Callers retry an incomplete reading.
   * @param window keeps only transactions issued in [from, to), and those without a readable time.
   */
  async transactions(
    name: string,
    cause: Cause,
    window: { from: Date; to: Date } | null,
    options: ListingOptions = {},
  ): Promise<ReadResult> {
    const { onRows, signal, keepsOldest = false, source = 'transactions' } = options;
    const { keeps = ({ issuedAt }) => isWithin(window, issuedAt) } = options;
    const account = this.upstream.of(name);
    return this.read(source, account, cause, { subject: null, ...window }, async (readId) => {
      const writer = new TransactionWriter(this.prisma, readId);
      const counts = { rows: 0, faults: 0 };
      let oldest: { ordinal: number; transaction: Transaction; at: Date } | undefined;
      const take = async (elements: unknown[]) => {
        for (const element of elements) {
          const ordinal = counts.rows++;
          const transaction = readTransaction(element);
          if (isFaulty(transaction)) counts.faults++;
          this.statuses.note(transaction, null);
          const { issuedAt: at } = transaction;
          if (at && (!oldest || at < oldest.at)) oldest = { ordinal, transaction, at };
          if (keeps(transaction)) writer.add(ordinal, transaction);
        }
        await writer.flow();
        onRows?.(counts.rows);
      };
      const listing = await account.list(listingRequest(account), take, signal);
      if (keepsOldest && oldest && !isWithin(window, oldest.at))
        writer.add(oldest.ordinal, oldest.transaction);
      await writer.end();
      return { ...listing, ...counts, oldest: oldest?.at ?? null, kept: writer.kept };
    });
  }

  /** Reads the transactions of one batch. */
  async batch(account: string, cause: Cause, batchRef: string): Promise<ReadResult> {
    return this.lookUp('batch', this.upstream.of(account), cause, batchRef, batchRequest);
  }

  /** Reads one transaction by its ID. */
  async transaction(account: string, cause: Cause, upstreamId: string): Promise<ReadResult> {
    return this.lookUp('transaction', this.upstream.of(account), cause, upstreamId, transactionRequest);
  }

  /**
   * Reads the wallets of an account.
   * @param keeps whether to keep their newest entries too.
   */
  async wallets(name: string, cause: Cause, keeps: 'entries' | 'balances' = 'entries'): Promise<ReadResult> {
    const account = this.upstream.of(name);
    return this.read('wallets', account, cause, { subject: null }, async (readId) => {
      const { body, contents } = await this.ask(account, toOutgoing(account, 'GET /wallets/list', undefined));
      const listed = contents.failure === null && body ? walletsIn(body) : [];
      const wallets = listed ?? [];
      const kept = keeps === 'entries' ? wallets : wallets.map((wallet) => ({ ...wallet, entries: [] }));
      await insertWallets(this.prisma, readId, kept);
      const failure = listed ? contents.failure : UNREADABLE;
      return { ...contents, failure, rows: wallets.length, kept: wallets.length };
    });
  }

  private async lookUp(
    source: Source,
    account: UpstreamAccount,
    cause: Cause,
    subject: string,
    question: (account: UpstreamAccount, subject: string) => OutgoingRequest,
  ): Promise<ReadResult> {
    return this.read(source, account, cause, { subject }, async (readId) => {
      const { body, contents } = await this.ask(account, question(account, subject));
      const transactions = contents.failure === null && body ? transactionsIn(body) : [];
      const writer = new TransactionWriter(this.prisma, readId);
      for (const [ordinal, transaction] of transactions.entries()) {
        writer.add(ordinal, transaction);
        this.statuses.note(transaction, null);
      }
      await writer.end();
      const faults = transactions.filter(isFaulty).length;
      return { ...contents, rows: transactions.length, kept: writer.kept, faults };
    });
  }

  private async ask(
    account: UpstreamAccount,
    question: OutgoingRequest,
  ): Promise<{ body: Buffer | null; contents: SourceContents }> {
    const { answer } = await account.send(question, undefined);
    const { kind, status, body } = answer;
    const contents = {
      failure: kind === 'rejected' ? kind : answer.failure,
      httpStatus: status,
      bytes: body?.length ?? 0,
      sha256: body && createHash('sha256').update(body).digest(),
      rows: 0,
      kept: 0,
      faults: 0,
    };
    return { body, contents };
  }

  private read(
    source: Source,
    { name: account }: UpstreamAccount,
    cause: Cause,
    about: { subject: string | null; from?: Date; to?: Date },
    ask: (readId: string) => Promise<SourceContents>,
  ): Promise<ReadResult> {
    const request = { account, source, from: null, to: null, mapping: null, ...about, ...cause };
    return recordRead({ prisma: this.prisma, metrics: this.metrics }, request, ask);
  }
}

/** Failure code of a successful answer without the requested data. */
const UNREADABLE = 'unreadable';
