import { Injectable } from '@nestjs/common';
import { AuthenticatedCall, OperationCall } from '../../../access/auth/call';
import { Owner, ownerOf, reachesWholeAccount } from '../../../access/auth/owner';
import { readSubAccountCreations } from '../../../journal/lookups/earlier-calls';
import {
  hasUnnamedTransactions,
  readOwnReferences,
  TransactionOwners,
} from '../../../journal/lookups/transaction-owners';
import { listsTransactions, namedObjectOf } from '../../../operations/catalogue/catalogue';
import { NamedObject, TransactionId } from '../../../operations/catalogue/row';
import { PrismaService } from '../../../platform/database/pools/prisma.service';
import { databaseUnavailable, Problem } from '../../../platform/errors/problem';
import { isObject } from '../../../platform/json/is-object';
import { Reader } from '../../may-pay/obstacles';
import { parseJson } from '../../upstream/answers/answer';
import { readTransaction, Transaction, readText } from '../../upstream/answers/transactions';
import { listedIn, withListed } from '../../upstream/listing/own-listing';
import { TimedAnswer } from '../../upstream/upstream-account';
import { InternalReadsService } from './internal-reads.service';

/** A transaction, batch or sub-account named by a request. */
export interface NamedId {
  kind: NamedObject['names'];
  id: string;
}

/**
 * Decides the owner of a transaction. All clients of an account share it at the upstream. Without the scope
 * `account`, a key reaches only transactions of its client's calls, and a personal key only its person's.
 */
@Injectable()
export class OwnershipService {
  constructor(
    private readonly prisma: PrismaService,
    private readonly reads: InternalReadsService,
  ) {}

  /**
   * Refuses a request that names objects of others, as if they did not exist.
   * @param input the validated body or query, or one with faults.
   * @throws Problem `object_not_found`, or the reason why the owner is unknown.
   */
  async require(call: OperationCall, input: unknown): Promise<void> {
    const named = namedIn(call, input);
    if (named === undefined || reachesWholeAccount(call.caller)) return;
    if (!(await this.owns(call, ownerOf(call), named))) throw new Problem('object_not_found');
  }

  /**
   * Returns whether the owner made an object. If the records do not name a transaction, the upstream's list
   * may, by the ID that the proxy wrote into the request. The proxy never requests an ID that may belong to
   * others.
   * @param cause the call that needs the answer.
   * @param reader of the error.
   * @throws Problem if the records or the list could not be read.
   */
  async owns(
    cause: AuthenticatedCall,
    owner: Owner,
    { kind, id }: NamedId,
    reader: Reader = 'app',
  ): Promise<boolean> {
    if (kind === 'subAccountId') {
      const answers = await readSubAccountCreations(this.prisma, owner).catch(databaseUnavailable);
      return answers.some((answer) => subAccountIdsIn(answer).includes(id));
    }
    const owners = await TransactionOwners.read(this.prisma, owner, [id]).catch(databaseUnavailable);
    if (owners.isOwn({ [kind]: id })) return true;
    // From here on, an ID of others is treated like an unknown one.
    if (!(await hasUnnamedTransactions(this.prisma, owner).catch(databaseUnavailable))) return false;
    const listed = await this.listed(cause, { kind, id }, reader);
    return (await this.own(owner, listed)).length > 0;
  }

  /**
   * Returns a listing without the transactions of others, also for its record, which its caller may read.
   * @throws Problem if the records could not be read.
   */
  async withoutOthers(call: OperationCall, timed: TimedAnswer): Promise<TimedAnswer> {
    const { operation, caller } = call;
    const { answer } = timed;
    if (answer.body === null || !listsTransactions(operation) || reachesWholeAccount(caller)) return timed;
    const listed = listedIn(answer.body).map((element) => ({ element, ...readTransaction(element) }));
    const own = new Set((await this.own(ownerOf(call), listed)).map(({ element }) => element));
    const body = withListed(answer.body, (element) => own.has(element));
    return { ...timed, answer: { ...answer, body } as TimedAnswer['answer'] };
  }

  private async own<Listed extends Transaction>(owner: Owner, listed: Listed[]): Promise<Listed[]> {
    const ids = listed.flatMap(({ upstreamRef, upstreamId }) => [upstreamRef ?? [], upstreamId ?? []].flat());
    const references = listed.flatMap(({ reference }) => reference ?? []);
    const [owners, ownReferences] = await Promise.all([
      TransactionOwners.read(this.prisma, owner, [...new Set(ids)]),
      readOwnReferences(this.prisma, owner, references),
    ]).catch(databaseUnavailable);
    return listed.filter(({ upstreamRef, upstreamId, reference }) => {
      const named = { upstreamRef, upstreamId };
      if (owners.isOwn(named)) return true;
      return ownReferences.has(reference ?? '') && !owners.isForeign(named);
    });
  }

  /**
   * Finds a transaction in the upstream's list. The read may show others' transactions, so it is not
   * recorded.
   */
  private async listed(
    cause: AuthenticatedCall,
    { kind, id }: TransactionName,
    reader: Reader,
  ): Promise<Transaction[]> {
    const found: Transaction[] = [];
    const pick = (element: unknown) => {
      const transaction = readTransaction(element);
      if (transaction[kind] === id) found.push(transaction);
      return [];
    };
    await this.reads.list(cause, pick, reader);
    return found;
  }
}

interface TransactionName extends NamedId {
  kind: TransactionId;
}

/** Returns the ID of the upstream object that a request names. Undefined without one. */
export function namedIn(
  { operation }: Pick<OperationCall, 'operation'>,
  input: unknown,
): NamedId | undefined {
  const named = namedObjectOf(operation);
  if (!named) return undefined;
  const id = (input as Record<string, unknown> | null | undefined)?.[named.in];
  return typeof id === 'string' ? { kind: named.names, id } : undefined;
}

/** Reads the IDs of the sub-account in an answer: its own, and that of its user, which transfers name. */
function subAccountIdsIn(body: Buffer): string[] {
  const envelope = parseJson(body);
  const data = isObject(envelope) ? envelope.data : undefined;
  return isObject(data) ? [readText(data.id), readText(data.uid)].filter((id) => id !== null) : [];
}
